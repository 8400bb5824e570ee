// Package session holds the pure rules of conversations: what a session and a route are, how a session ends, who owns
// what finished later (Resolve), and how a place is switched to another conversation (Switch).
//
// Everything here is a function on values. There is no I/O, no clock, no log and no state; whoever calls decides when, and
// the machine alone writes what comes out.
package session

import (
	"time"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/id"
)

// Kind says who is at the other end of a session.
type Kind string

// The kinds of sessions. A console is a chat place like any other.
const (
	Chat     Kind = "chat"
	API      Kind = "api"
	Subagent Kind = "subagent"
)

// Session is one conversation, or one subagent's run. It is a value: a change makes a new one.
type Session struct {
	ID      id.Session `json:"id"`
	Profile string     `json:"profile"`
	Kind    Kind       `json:"kind"`
	// Key is the place of a chat session. It stays with the session after the place went on to another conversation.
	Key chat.Key `json:"key,omitempty"`
	// DelegateFrom is the mark `model_config._delegate_from`: the session that delegated this one. It is the only
	// relation between sessions that ownership follows.
	DelegateFrom id.Session    `json:"delegate_from,omitempty"`
	Delegation   id.Delegation `json:"delegation,omitempty"`
	Depth        int           `json:"depth,omitempty"` // 0: human-facing; a child is one deeper than its parent
	// Epoch grows by one at every end and every reopening, so that a proof can tell that nothing has moved.
	Epoch uint64 `json:"epoch"`
	// Generation is the run generation: it grows when a person stops or leaves the conversation, and what an older run
	// still reports changes nothing.
	Generation uint64 `json:"generation"`
	// LeftAt is the version that the place's route got when this session stopped being current.
	LeftAt uint64 `json:"left_at,omitempty"`
	// Parent is the conversation of the same place that this one goes on from: it was branched, or had fallen idle. It is
	// no mark of ownership; see Line.
	Parent id.Session `json:"parent,omitempty"`
	// Rehearsal marks a subagent's run that a script plays, for a self-test: no model is asked.
	Rehearsal bool      `json:"rehearsal,omitempty"`
	Title     string    `json:"title,omitempty"` // first words of the person, or a subagent's goal
	CreatedAt time.Time `json:"created_at"`
	ActiveAt  time.Time `json:"active_at"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	EndReason EndReason `json:"end_reason,omitempty"`
}

// Ended tells whether the session has ended and was not reopened.
func (s Session) Ended() bool { return s.EndReason != "" }

// HumanFacing tells whether a person or an API client talks to the session: it bears no mark of a delegation.
func (s Session) HumanFacing() bool { return s.Kind != Subagent && s.DelegateFrom == "" }

// End returns the session as ended. Ending an ended session changes nothing: the first reason stands.
func (s Session) End(reason EndReason, now time.Time) Session {
	if s.Ended() {
		return s
	}
	s.EndReason, s.EndedAt = reason, now
	s.Epoch++
	return s
}

// Route says which conversation a place is in. Version grows by one at every change of Current.
type Route struct {
	Key     chat.Key   `json:"key"`
	Current id.Session `json:"current,omitempty"`
	Version uint64     `json:"version"`
	// BoundaryAt is the version of the last change that a person's leaving made.
	BoundaryAt uint64    `json:"boundary_at,omitempty"`
	UpdatedAt  time.Time `json:"updated_at"`
}

// View is what the rules read. Lookups are answered from memory and change nothing.
type View interface {
	// Loaded is false until all sessions and routes are there: before that, nothing is decided.
	Loaded() bool
	// Session returns a session; Missing or Corrupt say why there is none.
	Session(id.Session) (Session, Presence)
	// Route returns the route of a place.
	Route(chat.Key) (Route, bool)
}

// Presence says whether a record is there and readable.
type Presence uint8

// The answers of a lookup.
const (
	Missing Presence = iota
	Corrupt
	Present
)
