package session_test

import (
	"time"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/session"
)

// view is a handful of sessions and routes.
type view struct {
	notLoaded bool
	sessions  map[id.Session]session.Session
	corrupt   map[id.Session]bool
	routes    map[chat.Key]session.Route
}

func (v *view) Loaded() bool { return !v.notLoaded }

func (v *view) Session(k id.Session) (session.Session, session.Presence) {
	if v.corrupt[k] {
		return session.Session{}, session.Corrupt
	}
	if s, ok := v.sessions[k]; ok {
		return s, session.Present
	}
	return session.Session{}, session.Missing
}

func (v *view) Route(k chat.Key) (session.Route, bool) {
	r, ok := v.routes[k]
	return r, ok
}

func newView(sessions ...session.Session) *view {
	v := &view{sessions: map[id.Session]session.Session{}, corrupt: map[id.Session]bool{}, routes: map[chat.Key]session.Route{}}
	for _, s := range sessions {
		v.sessions[s.ID] = s
	}
	return v
}

// route makes the place's route name a session.
func (v *view) route(k chat.Key, current id.Session, version, boundaryAt uint64) *view {
	v.routes[k] = session.Route{Key: k, Current: current, Version: version, BoundaryAt: boundaryAt}
	return v
}

var (
	dm  = chat.KeyOf(address("1"), chat.Keying{})
	now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
)

func address(c string) chat.Address {
	return chat.Address{Account: chat.Account{Profile: "default", Platform: "fake", ID: "bot"}, Type: chat.Direct, Chat: c, Person: c}
}

// person is a live conversation in the place dm.
func person(name id.Session) session.Session {
	return session.Session{ID: name, Kind: session.Chat, Key: dm, Epoch: 3}
}

// child is a subagent's run, delegated by another session.
func child(name, of id.Session) session.Session {
	return session.Session{ID: name, Kind: session.Subagent, DelegateFrom: of, Epoch: 1}
}

// ended is the session with an end.
func ended(s session.Session, reason session.EndReason, leftAt uint64) session.Session {
	s = s.End(reason, now)
	s.LeftAt = leftAt
	return s
}
