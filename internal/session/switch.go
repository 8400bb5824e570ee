package session

import (
	"errors"
	"time"
)

// Conversation is a session that may hold a place. It can't be made of a subagent's run: that is what keeps a child out of
// its person's seat, whatever the callers do.
type Conversation struct{ s Session }

// ErrNoConversation is what AsConversation returns.
var ErrNoConversation = errors.New("this session cannot be the conversation of a place")

// AsConversation admits human-facing chat sessions and refuses subagents and API sessions.
func AsConversation(s Session) (Conversation, error) {
	if s.Kind != Chat || !s.HumanFacing() || s.ID.IsSubagent() {
		return Conversation{}, ErrNoConversation
	}
	return Conversation{s}, nil
}

// Session returns the session as it stands.
func (c Conversation) Session() Session { return c.s }

// Switch makes `to` the conversation of the place and ends the one that is there, with the reason. leaver is nil when the
// place is empty; to is nil when nobody follows. It returns the route with its next version, the leaver as ended, with its
// run generation raised so that a run of it publishes nothing more, and the comer, reopened if it had ended.
//
// It is the only function that changes an existing route. Callers: a person's command, and the next message's step.
func Switch(r Route, leaver *Session, to *Conversation, reason EndReason, now time.Time) (Route, *Session, *Session) {
	r.Version++
	r.UpdatedAt = now
	r.Current = ""
	if reason.UserBoundary() {
		r.BoundaryAt = r.Version
	}
	var left, came *Session
	if leaver != nil {
		l := leaver.End(reason, now)
		l.LeftAt = r.Version
		l.Generation++
		left = &l
	}
	if to != nil {
		c := to.s
		c.Key = r.Key
		c.ActiveAt = now
		if c.Ended() {
			c.EndReason, c.EndedAt, c.LeftAt = "", time.Time{}, 0
			c.Epoch++
		}
		r.Current = c.ID
		came = &c
	}
	return r, left, came
}

// Open gives a place that has no conversation its first or next one.
func Open(r Route, to Conversation, now time.Time) (Route, Session) {
	r.Version++
	r.UpdatedAt = now
	r.Current = to.s.ID
	s := to.s
	s.Key = r.Key
	return r, s
}
