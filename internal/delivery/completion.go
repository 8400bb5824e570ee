// Package delivery holds the pure rules of what is owed: completions, which are owed to a conversation, and outgoing
// messages, which are owed to a place on a platform. Each rule takes the value as it is and what happened, and returns the
// value as it is to be.
//
// There is no I/O, no clock and no queue here: the machine keeps the values, the senders make the attempts.
package delivery

import (
	"time"

	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/session"
)

// Kind says what a completion tells of.
type Kind string

// The kinds of completions.
const (
	Delegation Kind = "delegation"
	Process    Kind = "process"
	Watch      Kind = "watch"
)

// CompletionState is a state of the drawing in docs/states.md.
type CompletionState string

// The states of a completion, and who moves it on.
const (
	Pending  CompletionState = "pending"  // the machine, as soon as the owner's inbox has room
	Admitted CompletionState = "admitted" // the owner's next turn
	Bound    CompletionState = "bound"    // the end of that turn, also after a crash
	Done     CompletionState = "done"     // nobody
	Dead     CompletionState = "dead"     // a person: resume the conversation, or retry
)

// The ways in which a completion is done.
const (
	DoneAnswered    = "answered"    // its turn came to its end
	DoneEntered     = "entered"     // it stands in the transcript and asked for no turn
	DoneReceipt     = "receipt"     // its place got a receipt, nothing more was asked for
	DoneSuppressed  = "suppressed"  // a child's process, and its owner does not want to hear of those
	DoneConsumed    = "consumed"    // the agent had seen the end already
	DoneInterrupted = "interrupted" // a person stopped the turn that had it
	DoneDropped     = "dropped"     // a person dropped the dead letter
)

// The reasons of dead letters beside those of a terminal verdict.
const (
	ReasonExpired     = "expired"
	ReasonTurnFailed  = "turn_failed"
	ReasonQuarantined = "quarantined"
	ReasonAttempts    = "attempts"
	ReasonRefused     = "refused"
	ReasonRestored    = "restored"
)

// Completion is the durable fact that something which was started earlier ended. It belongs to the session that Resolve
// finds from the pin; it never names a chat.
type Completion struct {
	ID      id.Completion   `json:"id"`
	Profile string          `json:"profile"`
	Kind    Kind            `json:"kind"`
	Subject string          `json:"subject"` // del_… or proc_…: one fact makes one completion
	Status  string          `json:"status"`  // as in the marker line: "completed", "exited 0", "killed"
	State   CompletionState `json:"state"`
	Reason  string          `json:"reason,omitempty"` // of dead and done

	Pin     id.Session      `json:"pin"`
	Verdict session.Verdict `json:"verdict,omitzero"` // the walk as it was last made: the proof, or why not
	Owner   id.Session      `json:"owner,omitempty"`
	Turn    id.Turn         `json:"turn,omitempty"` // that bound it
	// Kept is the ended conversation that a boundary left it with: a person who resumes that brings it back.
	Kept id.Session `json:"kept,omitempty"`

	Origin   id.Turn `json:"origin,omitempty"`    // the turn that started the work
	OriginNo int     `json:"origin_no,omitempty"` // the number, in the owner's conversation, of the turn from which the work comes
	// Child is set when a subagent started it and did not hand it off.
	Child *Attribution `json:"child,omitempty"`
	// Hidden tells that its owner did not want to hear of such when it happened. That is decided once, and final.
	Hidden bool `json:"hidden,omitempty"`
	// Notify is false for what asks for a receipt only.
	Notify bool `json:"notify"`
	// Quiet opens no turn of its own: it rides along with the next one.
	Quiet bool `json:"quiet,omitempty"`
	// Rehearsal tells that it is of a self-test: its place sees a receipt, and the agent hears nothing of it.
	Rehearsal bool   `json:"rehearsal,omitempty"`
	Notice    string `json:"notice"`            // the body of the notice, without marker and origin
	Summary   string `json:"summary,omitempty"` // of a delegation: what its children said, for a person's eyes
	Receipt   string `json:"receipt,omitempty"` // the receipt for the chat, as long as one is to be sent
	// Message is the receipt that was queued.
	Message id.Outgoing `json:"message,omitempty"`
	// Entered names the sessions in whose transcripts it stands: it enters each at most once.
	Entered []id.Session `json:"entered,omitempty"`

	CreatedAt    time.Time `json:"created_at"`
	UpdatedAt    time.Time `json:"updated_at"`
	PendingSince time.Time `json:"pending_since"` // expiry counts from here
}

// Attribution names the subagent that started something.
type Attribution struct {
	Subagent   id.Session    `json:"subagent"`
	Delegation id.Delegation `json:"delegation"`
	Goal       string        `json:"goal"`
}

// OpensTurn tells whether the owner is to be woken for it.
func (c Completion) OpensTurn() bool { return !c.Quiet && c.Notify }

// Owing is what the machine does with a completion that is pending.
type Owing string

// What is done with a pending completion.
const (
	OweNothing  Owing = "suppress" // done, kept for the trace
	OweReceipt  Owing = "receipt"  // a receipt in the owner's place, and done
	OweSurfaced Owing = "surfaced" // a receipt at once, and a quiet entry in the owner's transcript
	OweNotice   Owing = "notice"   // into the owner's inbox
	OweLater    Owing = "later"    // for free
	OweNever    Owing = "never"    // a dead letter
)

// Judge decides on a pending completion. What is hidden owes nothing, whoever its owner is; a delegation never is. What is
// of a self-test owes its place a receipt, and nothing once its person has left: it is nobody's work.
func Judge(c Completion, v session.Verdict) Owing {
	switch {
	case c.Hidden && c.Kind != Delegation:
		return OweNothing
	case v.Outcome == session.Retry:
		return OweLater
	case c.Rehearsal && v.Outcome == session.Deliver:
		return OweReceipt
	case c.Rehearsal:
		return OweNothing
	case v.Outcome != session.Deliver:
		return OweNever
	case c.Kind == Delegation:
		return OweNotice
	case c.Child != nil:
		return OweSurfaced
	case !c.Notify:
		return OweReceipt
	}
	return OweNotice
}

// Settle returns the completion as done.
func (c Completion) Settle(how string, now time.Time) Completion {
	c.State, c.Reason, c.Kept, c.UpdatedAt = Done, how, "", now
	return c
}

// Bury returns the completion as a dead letter. With a boundary it is kept with the conversation that ended.
func (c Completion) Bury(reason string, kept id.Session, now time.Time) Completion {
	c.State, c.Reason, c.Kept, c.UpdatedAt = Dead, reason, kept, now
	return c
}

// Revive makes a dead or bound completion pending again; its time counts from now.
func (c Completion) Revive(now time.Time) Completion {
	c.State, c.Reason, c.Kept, c.Turn, c.Owner = Pending, "", "", "", ""
	c.UpdatedAt, c.PendingSince = now, now
	return c
}
