package machine

import (
	"time"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
)

// Request is something that happened or is asked for. It is data; Apply decides what comes of it.
type Request interface{ request() }

// Receive tells that a platform delivered an event. It is answered once the event is durable.
type Receive struct {
	Account chat.Account
	Event   string // duplicate key; empty: none
	Cursor  string
	// Known, by the platform's clock: all that was written until then is stored with this. Zero: that is not known.
	Known time.Time
	// Message is nil for an event that only moves the cursor: uninteresting, denied, or not addressed to us.
	Message *chat.Message
	Files   []File // of the message; one with a Problem is not fetched
	Keying  chat.Keying
	// OnlyIfPart takes the message only where the agent has taken part before (a thread without a mention).
	OnlyIfPart bool
	// OnlyIfAlbum takes it only as a piece of an album that is waited for: people address us in one piece.
	OnlyIfAlbum bool
	Steer       bool          // a running turn may take it at its next step
	Shared      bool          // several people talk here: the text bears its speaker's name
	Command     *Command      // instead of a text for the agent
	Reply       string        // a text to answer at once, without the agent
	Buttons     []chat.Button // under the reply
	Moved       *chat.Moved
	Aside       *chat.Aside
}

// Command is a person's word to the gateway that changes something.
type Command struct {
	Name   string // one of the Command… constants
	Target id.Session
	Task   string // of CommandTasks: the id of what is to be stopped
	Any    bool   // may resume a conversation of another place
	// Account is whose service is to rest (Pause) or to go on.
	Account chat.Account
	Pause   bool
	Text    string
}

// Answered tells that the model answered a step.
type Answered struct {
	Turn       id.Turn
	Generation uint64
	Step       int
	Text       string
	Calls      []agent.Call
	Tokens     int // of the request, as the provider counted; 0: it did not say
}

// Unanswered tells that an attempt at a step failed.
type Unanswered struct {
	Turn       id.Turn
	Generation uint64
	Step       int
	Failure    agent.Failure
	After      time.Duration // the server asked to wait that long
	Text       string        // for people
}

// Compacted tells that the model has summed up the beginning of a transcript; or, where a person waits for that, that nothing
// came of it.
type Compacted struct {
	Session    id.Session
	Generation uint64
	Turn       id.Turn // that runs; none: the session rests
	Entries    uint64  // of the transcript, when it was read
	From       uint64  // the first entry that stays as it is
	Keep       []uint64
	Text       string // the summary
	Count      int    // entries that it stands for
	Before     int    // tokens of the conversation, estimated
	After      int
	Failed     string // why nothing came of it, for people; empty: it came to a summary
}

// ToolDone tells that a tool call was carried out.
type ToolDone struct {
	Action   id.Action
	Result   string
	Failed   bool
	Consumes id.Process // the agent sees the end of this process in the result
	// Send is the copy that send_file has made: it is queued, and the result says so. Tell is for the person it was for.
	Send *delivery.File
	Tell string
}

// Started tells that the command of a process runs.
type Started struct {
	Process id.Process
	PID     int
	At      time.Time
}

// Left tells that the leader of a process ended and something in its group goes on.
type Left struct {
	Process   id.Process
	ExitCode  *int
	Signal    string
	Output    string
	Truncated bool
	Ran       time.Duration
}

// Ended tells that a process is over.
type Ended struct {
	Process   id.Process
	State     ProcessState
	ExitCode  *int
	Signal    string
	Detail    string // what is to be known beyond the code: a reboot, escaped descendants, why it did not start
	Output    string // bounded
	Truncated bool
	Tail      string // its last lines
	StartedAt time.Time
	EndedAt   time.Time
}

// Promoted tells that the foreground command has run long enough, or a person wrote.
type Promoted struct {
	Process   id.Process
	Output    string
	Truncated bool
	After     time.Duration
}

// Overdue tells that the foreground command has reached its time-out.
type Overdue struct{ Process id.Process }

// Claim tells that a sender is about to send the message; Parts as rendered, if it had none.
type Claim struct {
	Outgoing   id.Outgoing
	Parts      []delivery.Part
	Idempotent bool
	Anew       bool // not in the place of its turn's preview: something else stands below that
	Observable bool
}

// Showing tells that the preview of a turn is about to be sent.
type Showing struct {
	Turn       id.Turn
	Generation uint64
	To         chat.Address
}

// Shown tells that the preview was sent; without MessageID, that it was not.
type Shown struct {
	Turn      id.Turn
	MessageID string
}

// Astray tells that a change of the preview was given up that may still arrive.
type Astray struct{ Turn id.Turn }

// Retracted tells that the preview is gone, or cannot be taken back.
type Retracted struct{ Turn id.Turn }

// SendDone tells that an attempt came to its end.
type SendDone struct {
	Outgoing id.Outgoing
	Part     int
	Try      int // Outgoing.Tries as the Transmit had it
	Outcome  delivery.Outcome
}

// Fetched tells what came of a Fetch: the file is there, or it failed for good.
type Fetched struct {
	Session id.Session
	Path    string
	Size    int64
	Problem string // for people; empty: it is there
}

// Discarded tells that files are removed.
type Discarded struct {
	Session id.Session
	Paths   []string
}

// Observed tells what came of a look for a part whose outcome is not known.
type Observed struct {
	Outgoing id.Outgoing
	Part     int
	Try      int // Outgoing.Tries as the Observe had it
	Look     int // Outgoing.Waits as the Observe had it: a look that came to nothing is followed by another one
	Sighting delivery.Sighting
}

// Due tells that the time of a Wake has come.
type Due struct{ ID string }

// Reachable tells that an account works again: what waited for it is due.
type Reachable struct{ Account chat.Account }

// Say sends a text to a place, as an operator or a command asked.
type Say struct {
	To      chat.Address
	Text    string
	Cause   string
	Session id.Session
}

// EndSession is a person or client who ends a conversation for good.
type EndSession struct{ Session id.Session }

// StopDelegation is a person who stops a delegation.
type StopDelegation struct{ Delegation id.Delegation }

// KillProcess is a person who kills a process.
type KillProcess struct{ Process id.Process }

// Requeue is a person who wants a dead letter tried again.
type Requeue struct {
	ID     string
	To     *chat.Address // another place, or nil
	Keying chat.Keying
}

// Drop is a person who gives a dead letter up.
type Drop struct{ ID string }

// Examined tells what a self-test came to. Its person is told, and what is left of it ends.
type Examined struct {
	Delegation id.Delegation
	Text       string
}

// Recover tells that the daemon starts. It is the first request of a life.
type Recover struct{}

// Shutdown tells that the daemon ends in order. It is the last request of a life.
type Shutdown struct{}

func (Receive) request()        {}
func (Answered) request()       {}
func (Unanswered) request()     {}
func (Compacted) request()      {}
func (ToolDone) request()       {}
func (Started) request()        {}
func (Left) request()           {}
func (Ended) request()          {}
func (Promoted) request()       {}
func (Overdue) request()        {}
func (Claim) request()          {}
func (SendDone) request()       {}
func (Fetched) request()        {}
func (Discarded) request()      {}
func (Showing) request()        {}
func (Shown) request()          {}
func (Astray) request()         {}
func (Retracted) request()      {}
func (Observed) request()       {}
func (Due) request()            {}
func (Reachable) request()      {}
func (Say) request()            {}
func (EndSession) request()     {}
func (StopDelegation) request() {}
func (KillProcess) request()    {}
func (Requeue) request()        {}
func (Drop) request()           {}
func (Examined) request()       {}
func (Recover) request()        {}
func (Shutdown) request()       {}
