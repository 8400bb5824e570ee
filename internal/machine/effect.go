package machine

import (
	"time"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/session"
)

// Effect is something to be done. It is carried out only after the commit of the batch that asked for it, and may be asked
// for again after a restart: who carries it out makes sure that doing it twice is doing it once.
type Effect interface{ effect() }

// Issued is an effect with the number of the commit that made it durable.
type Issued struct {
	Commit uint64
	Effect Effect
}

// RunStep asks the model for the next step of a turn.
type RunStep struct {
	Turn    Turn
	Session session.Session
}

// Compact asks for a summary of a session's conversation, for its person, while no turn runs in it.
type Compact struct{ Session session.Session }

// RunTool carries out a tool call: one on files, or one that looks after a process.
type RunTool struct {
	Action  Action
	Process Process      // the process it is about, if it is about one
	To      chat.Address // send_file: the chat, as the platform knows it
	Again   bool         // it may have been carried out already, before a crash
	Timeout time.Duration
}

// Tend sees to it that a process runs under its supervisor (at most once) and reports how it goes.
type Tend struct{ Process Process }

// Kill ends a process. Repeating it does no harm.
type Kill struct {
	Process id.Process
	Reason  string
}

// Promote lets a foreground command go on in the background now.
type Promote struct{ Process id.Process }

// Release lets a wait return now.
type Release struct{ Action id.Action }

// Prepare renders a message that is first in its chat and due, if it has no parts yet, and claims it.
type Prepare struct{ Outgoing delivery.Outgoing }

// Transmit sends the next part of a claimed message, once.
type Transmit struct {
	Outgoing delivery.Outgoing
	Part     int
}

// Fetch brings a file that a person sent to its place below the media folder. Where it is there already, nothing is fetched.
type Fetch struct {
	Session id.Session
	Account chat.Account
	File    File
}

// Discard removes files below the media folder.
type Discard struct {
	Session id.Session // that hears of it
	Paths   []string
}

// Sweep removes copies of what was to be sent, all but these: nobody sends the others any more.
type Sweep struct{ Keep []string }

// Retract takes the preview of a turn back. Repeating it does no harm.
type Retract struct{ Preview Preview }

// PauseAccount lets an account rest until it is resumed, or go on.
type PauseAccount struct {
	Account chat.Account
	Pause   bool
}

// Observe asks the platform whether a part arrived whose outcome is not known.
type Observe struct {
	Outgoing delivery.Outgoing
	Part     int
}

// Cancel stops what runs for a turn, or without one the summary that is being made of the session: it is of no use any more.
type Cancel struct {
	Turn    id.Turn
	Session id.Session
}

// Wake submits Due for the id at that time.
type Wake struct {
	At time.Time
	ID string
}

// Examine follows a self-test until it is over and reports what held.
type Examine struct{ Delegation Delegation }

// Settled tells that a turn is over.
type Settled struct {
	Turn    Turn
	Session session.Session
}

func (RunStep) effect()      {}
func (Compact) effect()      {}
func (RunTool) effect()      {}
func (Tend) effect()         {}
func (Kill) effect()         {}
func (Promote) effect()      {}
func (Release) effect()      {}
func (Prepare) effect()      {}
func (Transmit) effect()     {}
func (Fetch) effect()        {}
func (Discard) effect()      {}
func (Sweep) effect()        {}
func (Cancel) effect()       {}
func (Wake) effect()         {}
func (Examine) effect()      {}
func (Settled) effect()      {}
func (PauseAccount) effect() {}
func (Retract) effect()      {}
func (Observe) effect()      {}
