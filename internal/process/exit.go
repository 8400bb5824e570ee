package process

import "time"

// State is where a process stands. Every state but Running is final.
type State string

const (
	// Running says that the supervisor lives and has not recorded an end; the command may not have been executed yet.
	Running State = "running"
	// Exited says that the command ended by itself: Code, or Signal when a signal that nobody asked us for ended it.
	Exited State = "exited"
	// Killed says that the command's group was ended on request; Reason is the reason given with it.
	Killed State = "killed"
	// Lost says that the supervisor was gone without a record (or the machine was restarted), so nobody knows how the
	// command ended. What was left of its group has been killed.
	Lost State = "lost"
	// FailedStart says that nothing ran: the shell or the workdir could not be used, or the supervisor never came so far.
	FailedStart State = "failed_start"
)

// Exit tells how a process ended, or with Running how far it is.
type Exit struct {
	ID    string `json:"id"`
	State State  `json:"state"`
	// Code is the leader's exit code; nil when it has none: still running, ended by a signal, lost, never started. A
	// Killed process has one when its shell caught the signal, or had ended before what it left running was killed.
	Code *int `json:"exit_code"`
	// Signal names the signal that ended the leader, such as "SIGKILL".
	Signal string `json:"signal,omitempty"`
	// Reason says in words why it was killed, lost or not started.
	Reason string `json:"reason,omitempty"`
	// StartedAt is zero when nothing ran. EndedAt of a Lost process is when the loss was noticed.
	StartedAt time.Time `json:"started_at,omitzero"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	// LeftRunning says that the leader ended before other members of its group.
	LeftRunning bool `json:"left_running,omitempty"`
	// Escaped lists descendants that had left the group and were alive at the end; they were neither waited for nor
	// killed. At most 16 are named, EscapedTotal counts all.
	Escaped      []Escapee `json:"escaped,omitempty"`
	EscapedTotal int       `json:"escaped_total,omitempty"`
	// Output counts the output's bytes.
	Output Totals `json:"output"`
}

// Escapee is a descendant that left the command's group.
type Escapee struct {
	PID  int    `json:"pid"`
	Name string `json:"name"`
}

// Totals counts bytes of output: all that the command wrote, and what of it is kept.
type Totals struct {
	Total int64 `json:"total"`
	Kept  int64 `json:"kept"`
	// Error says why output that should have been kept was not, such as a full disk. The command was not held up.
	Error string `json:"error,omitempty"`
}

// Identity is one process, told from a later one of the same number by its start time.
type Identity struct {
	PID int `json:"pid"`
	// StartTicks is the start time in clock ticks since boot, as in /proc/PID/stat.
	StartTicks uint64 `json:"start_ticks"`
}

// Started is the evidence of a start, on disk before the command was executed.
type Started struct {
	Supervisor Identity `json:"supervisor"`
	// Leader is the shell, whose number is also the group's. It is zero when the supervisor was lost in the very moment
	// of the start.
	Leader Identity `json:"leader,omitzero"`
	// BootID and PIDNamespace say in which life of which machine or container the numbers above mean anything.
	BootID       string    `json:"boot_id"`
	PIDNamespace string    `json:"pid_namespace,omitempty"`
	At           time.Time `json:"at"`
}
