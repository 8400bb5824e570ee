package machine

import (
	"slices"
	"time"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/tool"
)

// Lane is what waits at a session: its running turn, its inbox, its people's texts, its running work. One turn at a time.
type Lane struct {
	Session   id.Session      `json:"session"`
	Turn      id.Turn         `json:"turn,omitempty"`       // running, or none
	Last      id.Turn         `json:"last,omitempty"`       // the latest that ended
	Came      id.Completion   `json:"came,omitempty"`       // the latest that came here
	Turns     int             `json:"turns"`                // opened so far
	Entries   uint64          `json:"entries"`              // length of the transcript
	LastEntry EntryKind       `json:"last_entry,omitempty"` // the kind of the last one
	Texts     []Text          `json:"texts,omitempty"`      // of people, in order
	Inbox     []id.Completion `json:"inbox,omitempty"`      // admitted
	// Overflow waits for room in the inbox, Kept for a person who resumes the conversation.
	Overflow    []id.Completion `json:"overflow,omitempty"`
	Kept        []id.Completion `json:"kept,omitempty"`
	Delegations []id.Delegation `json:"delegations,omitempty"` // running
	Processes   []id.Process    `json:"processes,omitempty"`   // running, owned by this session
	// HandedOff and Unread are what a subagent's result tells of its processes.
	HandedOff []id.Process `json:"handed_off,omitempty"`
	Unread    int          `json:"unread,omitempty"`
	// Asked are the latest exchanges of the transcript that began with a person's text, for /retry and /undo.
	Asked []Asked `json:"asked,omitempty"`
	// Compact is a person's /compact that is not carried out yet; Summaries counts the compactions so far.
	Compact   *CompactAsked `json:"compact,omitempty"`
	Summaries int           `json:"summaries,omitempty"`
	// Discard are files that nothing refers to any more and that are not removed yet.
	Discard []string `json:"discard,omitempty"`
	SpokeTo bool     `json:"spoke_to,omitempty"` // its person knows that nobody listens to voice messages
}

// CompactAsked is a person who waits for the conversation to be summed up.
type CompactAsked struct {
	ReplyTo string `json:"reply_to,omitempty"`
}

// MaxAsked is how many exchanges /undo can go back.
const MaxAsked = 10

// Asked is an exchange: from a person's text on.
type Asked struct {
	From    uint64 `json:"from"`  // the entry of its first text
	Texts   int    `json:"texts"` // of people, in its turn
	ReplyTo string `json:"reply_to,omitempty"`
	Words   string `json:"words"` // the first of them, shortened
}

// Text is a person's text that waits for a turn.
type Text struct {
	Content   string    `json:"content"`
	Speaker   string    `json:"speaker,omitempty"` // in a shared place
	Person    string    `json:"person,omitempty"`
	MessageID string    `json:"message_id,omitempty"`
	Event     string    `json:"event,omitempty"`
	Steer     bool      `json:"steer,omitempty"` // may join the running turn at its next step
	At        time.Time `json:"at"`
	Files     []File    `json:"files,omitempty"`
	Album     string    `json:"album,omitempty"`
	Events    []string  `json:"events,omitempty"` // of the album's other messages
	Until     time.Time `json:"until,omitzero"`   // no turn takes it before
}

// TurnState is a state of a turn.
type TurnState string

// The states of a turn.
const (
	TurnRunning     TurnState = "running"
	TurnWaiting     TurnState = "waiting_for_environment"
	TurnDelegated   TurnState = "delegated"
	TurnRecovering  TurnState = "recovering"
	TurnCompleted   TurnState = "completed"
	TurnFailed      TurnState = "failed"
	TurnInterrupted TurnState = "interrupted"
	TurnQuarantined TurnState = "quarantined"
)

// Ended tells whether the turn is over.
func (s TurnState) Ended() bool {
	return s == TurnCompleted || s == TurnFailed || s == TurnInterrupted || s == TurnQuarantined
}

// Turn is one run of the agent in a session.
type Turn struct {
	ID         id.Turn         `json:"id"`
	Profile    string          `json:"profile"`
	Session    id.Session      `json:"session"`
	Generation uint64          `json:"generation"`
	No         int             `json:"no"` // of the session's turns
	State      TurnState       `json:"state"`
	Step       int             `json:"step"`
	Calls      int             `json:"calls"` // answers of the model so far
	Actions    []id.Action     `json:"actions,omitempty"`
	Bound      []id.Completion `json:"bound,omitempty"`
	From       uint64          `json:"from,omitempty"`    // the entry of the transcript that it began with
	Texts      int             `json:"texts,omitempty"`   // of people, that it answers
	Events     []string        `json:"events,omitempty"`  // the platforms' ids of those
	AskedAt    time.Time       `json:"asked_at,omitzero"` // when the latest of them was taken
	ReplyTo    string          `json:"reply_to,omitempty"`
	Crashes    int             `json:"crashes,omitempty"` // of the daemon in a row at this step
	Waits      int             `json:"waits,omitempty"`
	NextAt     time.Time       `json:"next_at,omitzero"`
	Detail     string          `json:"detail,omitempty"`
	Reason     string          `json:"reason,omitempty"`
	Outgoing   []id.Outgoing   `json:"outgoing,omitempty"`
	Processes  []id.Process    `json:"processes,omitempty"`
	Delegated  []id.Delegation `json:"delegated,omitempty"`
	CreatedAt  time.Time       `json:"created_at"`
	UpdatedAt  time.Time       `json:"updated_at"`
	EndedAt    time.Time       `json:"ended_at,omitzero"`
}

// ActionState is a state of a tool call in the ledger.
type ActionState string

// The states of an action. Its intent is durable before anything is done.
const (
	ActionIntended    ActionState = "intended"
	ActionRunning     ActionState = "running"
	ActionDone        ActionState = "done"
	ActionFailed      ActionState = "failed"
	ActionInterrupted ActionState = "interrupted"
)

// Ended tells whether the action is over.
func (s ActionState) Ended() bool {
	return s == ActionDone || s == ActionFailed || s == ActionInterrupted
}

// Action is one tool call.
type Action struct {
	ID         id.Action     `json:"id"`
	Profile    string        `json:"profile"`
	Turn       id.Turn       `json:"turn"`
	Session    id.Session    `json:"session"`
	Step       int           `json:"step"`
	Call       agent.Call    `json:"call"`
	State      ActionState   `json:"state"`
	Process    id.Process    `json:"process,omitempty"`
	Delegation id.Delegation `json:"delegation,omitempty"`
	Result     string        `json:"result,omitempty"`
	CreatedAt  time.Time     `json:"created_at"`
	UpdatedAt  time.Time     `json:"updated_at"`
}

// ProcessState is a state of a process.
type ProcessState string

// The states of a process.
const (
	ProcessStarting    ProcessState = "starting" // intended: nothing may have run yet
	ProcessRunning     ProcessState = "running"
	ProcessExited      ProcessState = "exited"
	ProcessKilled      ProcessState = "killed"
	ProcessLost        ProcessState = "lost"
	ProcessFailedStart ProcessState = "failed_start"
)

// Ended tells whether the process is over.
func (s ProcessState) Ended() bool { return s != ProcessStarting && s != ProcessRunning }

// Process is a command under its supervisor.
type Process struct {
	ID        id.Process   `json:"id"`
	Profile   string       `json:"profile"`
	State     ProcessState `json:"state"`
	Command   string       `json:"command"`
	Workdir   string       `json:"workdir,omitempty"`
	Owner     id.Session   `json:"owner"`      // whose it is now
	StartedBy id.Session   `json:"started_by"` // who started it
	Pin       id.Session   `json:"pin"`        // where the walk to its owner begins
	Turn      id.Turn      `json:"turn"`
	TurnNo    int          `json:"turn_no"` // of the person's turn from which the work comes
	// Action is the call that waits for its start or its end in the foreground; Waiter is a later call (wait, kill) that
	// claims the exit.
	Action     id.Action             `json:"action,omitempty"`
	Waiter     id.Action             `json:"waiter,omitempty"`
	Background bool                  `json:"background"`
	Notify     bool                  `json:"notify"`
	Timeout    time.Duration         `json:"timeout,omitempty"`
	Child      *delivery.Attribution `json:"child,omitempty"` // started by a subagent and not handed off
	HandedOff  string                `json:"handed_off,omitempty"`
	Purpose    string                `json:"purpose,omitempty"`
	Kill       string                `json:"kill,omitempty"`      // a kill is wanted, and why
	Mute       bool                  `json:"mute,omitempty"`      // its end makes no completion
	Rehearsal  bool                  `json:"rehearsal,omitempty"` // of a self-test
	// Promoted and LeftRunning tell how a foreground command became a background process.
	Promoted    time.Duration `json:"promoted,omitempty"`
	LeftRunning bool          `json:"left_running,omitempty"`
	Seen        bool          `json:"seen,omitempty"` // the agent has seen the end
	Completion  id.Completion `json:"completion,omitempty"`
	ExitCode    *int          `json:"exit_code,omitempty"`
	Signal      string        `json:"signal,omitempty"`
	Detail      string        `json:"detail,omitempty"`
	PID         int           `json:"pid,omitempty"`
	Tail        string        `json:"tail,omitempty"`
	CreatedAt   time.Time     `json:"created_at"`
	StartedAt   time.Time     `json:"started_at,omitzero"`
	EndedAt     time.Time     `json:"ended_at,omitzero"`
	UpdatedAt   time.Time     `json:"updated_at"`
}

// DelegationState is the state of a delegation: running, or the state of its worst child.
type DelegationState string

// The states of a delegation, from good to bad.
const (
	DelegationRunning     DelegationState = "running"
	DelegationCompleted   DelegationState = "completed"
	DelegationInterrupted DelegationState = "interrupted"
	DelegationTimeout     DelegationState = "timeout"
	DelegationStalled     DelegationState = "stalled"
	DelegationFailed      DelegationState = "failed"
	DelegationUnknown     DelegationState = "unknown"
	DelegationQuarantined DelegationState = "quarantined"
)

// Delegation is work given to subagents by one tool call.
type Delegation struct {
	ID         id.Delegation   `json:"id"`
	Profile    string          `json:"profile"`
	State      DelegationState `json:"state"`
	Session    id.Session      `json:"session"` // that delegated
	Turn       id.Turn         `json:"turn"`
	TurnNo     int             `json:"turn_no"` // of the person's turn from which the work comes
	Action     id.Action       `json:"action"`
	Background bool            `json:"background"`
	Told       bool            `json:"told,omitempty"`     // its end was the answer of a tool call
	Quiet      bool            `json:"quiet,omitempty"`    // a person stopped it: the result wakes nobody
	Selftest   *Selftest       `json:"selftest,omitempty"` // no work: a person put the gateway to the test
	Children   []Child         `json:"children"`
	Completion id.Completion   `json:"completion,omitempty"`
	CreatedAt  time.Time       `json:"created_at"`
	UpdatedAt  time.Time       `json:"updated_at"`
	EndedAt    time.Time       `json:"ended_at,omitzero"`
}

// Selftest is how things stood when a self-test began, and the report that ended it.
type Selftest struct {
	To      chat.Address `json:"to"` // where it was ordered
	ReplyTo string       `json:"reply_to,omitempty"`
	Key     chat.Key     `json:"key"`
	Version uint64       `json:"version"`          // of the place's route
	Epoch   uint64       `json:"epoch"`            // of its conversation
	Report  id.Outgoing  `json:"report,omitempty"` // none: it is not over
}

// Child is one subagent of a delegation with its result.
type Child struct {
	Session id.Session      `json:"session"`
	Goal    string          `json:"goal"`
	State   DelegationState `json:"state"`
	Report  *tool.Report    `json:"report,omitempty"`
}

// EntryKind is the kind of a transcript entry.
type EntryKind string

// The kinds of transcript entries.
const (
	EntryUser      EntryKind = "user"
	EntryAssistant EntryKind = "assistant"
	EntryTool      EntryKind = "tool"
	EntryNotice    EntryKind = "notice"
	EntrySummary   EntryKind = "summary" // stands for what it sets aside
	EntryCut       EntryKind = "cut"     // sets earlier entries aside; the model never gets it
)

// Entry is one entry of a transcript. Entries are only ever appended.
type Entry struct {
	Session    id.Session    `json:"session"`
	Seq        uint64        `json:"seq"` // from 1
	Turn       id.Turn       `json:"turn"`
	Kind       EntryKind     `json:"kind"`
	Content    string        `json:"content"`
	Speaker    string        `json:"speaker,omitempty"`
	Calls      []agent.Call  `json:"calls,omitempty"`
	CallID     string        `json:"call_id,omitempty"`
	Tool       string        `json:"tool,omitempty"`
	Completion id.Completion `json:"completion,omitempty"`
	From       uint64        `json:"from,omitempty"`  // of a cut: the first entry that it may set aside; of a summary: the first that stays
	Texts      bool          `json:"texts,omitempty"` // of a cut: people's texts as well
	Keep       []uint64      `json:"keep,omitempty"`  // of a summary: entries before From that stay as well
	// Request is, of an answer, how many tokens the request took that it answers, as the provider counted; 0: it did not say.
	Request int       `json:"request,omitempty"`
	At      time.Time `json:"at"`
	Files   []File    `json:"files,omitempty"` // of a person, as they came
}

// cuts tells whether a cut sets an earlier entry aside: what the agent said and did from From on, and with Texts what
// people said. Notices and summaries stay: what they tell has happened, whoever's words are taken back. A reminder of a
// notice goes with the answer to it.
func (e Entry) cuts(x Entry) bool {
	switch x.Kind {
	case EntryAssistant, EntryTool:
		return x.Seq >= e.From
	case EntryUser:
		return x.Seq >= e.From && e.Texts
	case EntryNotice:
		return x.Seq >= e.From && x.Completion == ""
	}
	return false
}

// covers tells whether a summary stands for an earlier entry: an earlier summary, or what stood before From and is not kept.
func (e Entry) covers(x Entry) bool {
	return x.Kind == EntrySummary || x.Seq < e.From && !slices.Contains(e.Keep, x.Seq)
}

// liftedBy tells whether a cut takes back the summary: the summary tells of entries that the cut sets aside. What it stood
// for is in force again then, but for those.
func (e Entry) liftedBy(cut Entry) bool { return cut.Kind == EntryCut && cut.From < e.From }

// InForce returns what the model gets of a whole transcript: all entries but cuts, what they set aside, and what summaries
// stand for. A summary comes before the first entry that it leaves as it was; what it keeps of earlier ones comes before it.
func InForce(entries []Entry) []Entry {
	out := make([]Entry, 0, len(entries))
	for i, e := range entries {
		switch {
		case e.Kind == EntryCut:
			out = slices.DeleteFunc(out, e.cuts)
		case e.Kind != EntrySummary:
			out = append(out, e)
		case !slices.ContainsFunc(entries[i+1:], e.liftedBy):
			out = slices.DeleteFunc(out, e.covers)
			at := slices.IndexFunc(out, func(x Entry) bool { return x.Seq >= e.From })
			if at < 0 {
				at = len(out)
			}
			out = slices.Insert(out, at, e)
		}
	}
	return out
}

// Copy is a change of the table of entries: the first entries of one transcript become those of another one, which has
// none yet. They keep their numbers. The store carries it out when it writes their batch.
type Copy struct {
	From, To id.Session
	Through  uint64 // the last entry
}

// Record is one line of the journal: a transition with its cause.
type Record struct {
	Seq     uint64     `json:"seq"`
	Commit  uint64     `json:"commit"`
	At      time.Time  `json:"at"`
	Kind    string     `json:"kind"`         // "turn", "completion", "route", ...
	ID      string     `json:"id,omitempty"` // what it is about
	State   string     `json:"state,omitempty"`
	Session id.Session `json:"session,omitempty"`
	Route   chat.Key   `json:"route,omitempty"`
	Cause   string     `json:"cause,omitempty"` // the id that caused it
	Why     string     `json:"why,omitempty"`
	// Of is the kind of a completion or the platform of a message, and Since is when what ends here began: a turn, or the
	// wait of a message. Both stand where something comes to its end, so that ends can be counted without reading on.
	Of    string    `json:"of,omitempty"`
	Since time.Time `json:"since,omitzero"`
}

// Mark remembers an event of a platform that was taken.
type Mark struct {
	Event string    `json:"event"`
	At    time.Time `json:"at"`
}

// Position is how far an account's events are stored.
type Position struct {
	Account string    `json:"account"`
	Cursor  string    `json:"cursor"`
	At      time.Time `json:"at"`
	Known   time.Time `json:"known,omitzero"` // by the platform's clock: all that was written until then is stored
}

// Alias says that a chat has a new id on its platform.
type Alias struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// SetAside is an event that could not be decoded.
type SetAside struct {
	Account string    `json:"account"`
	Event   string    `json:"event"`
	Raw     string    `json:"raw"`
	Reason  string    `json:"reason"`
	At      time.Time `json:"at"`
}

// Meta is what the store says of itself.
type Meta struct {
	Seq    uint64    `json:"seq"`    // of the journal
	Commit uint64    `json:"commit"` // of the last batch
	Clean  bool      `json:"clean"`  // the daemon ended in order
	At     time.Time `json:"at"`
	// Restored tells that the store is a copy, and that what went on after it was made is not known. The next start takes
	// notice of it, once.
	Restored bool `json:"restored,omitempty"`
}
