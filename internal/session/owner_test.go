package session_test

import (
	"slices"
	"testing"

	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/session"
)

// TestResolve is the whole decision table of ownership. // C-01
func TestResolve(t *testing.T) {
	deliver := func(owner id.Session, path ...id.Session) want {
		return want{outcome: session.Deliver, owner: owner, path: path}
	}
	terminal := func(reason session.Reason, at id.Session, path ...id.Session) want {
		return want{outcome: session.Terminal, reason: reason, at: at, path: path}
	}
	api := session.Session{ID: "ses_A", Kind: session.API}
	unmarked := session.Session{ID: "sub_K", Kind: session.Subagent}
	for name, tt := range map[string]struct {
		view *view
		pin  id.Session
		want want
	}{
		"not loaded": {&view{notLoaded: true}, "ses_P", want{outcome: session.Retry}},

		"the person's own":   {newView(person("ses_P")).route(dm, "ses_P", 4, 0), "ses_P", deliver("ses_P", "ses_P")},
		"a child's":          {newView(person("ses_P"), child("sub_K", "ses_P")).route(dm, "ses_P", 4, 0), "sub_K", deliver("ses_P", "sub_K", "ses_P")},
		"a grandchild's":     {newView(person("ses_P"), child("sub_K", "ses_P"), child("sub_L", "sub_K")).route(dm, "ses_P", 4, 0), "sub_L", deliver("ses_P", "sub_L", "sub_K", "ses_P")},
		"an API session's":   {newView(api), "ses_A", deliver("ses_A", "ses_A")},
		"an API's child's":   {newView(api, child("sub_K", "ses_A")), "sub_K", deliver("ses_A", "sub_K", "ses_A")},
		"of a marked person": {newView(person("ses_P"), session.Session{ID: "ses_Q", Kind: session.Chat, Key: dm, DelegateFrom: "ses_P"}).route(dm, "ses_P", 4, 0), "ses_Q", deliver("ses_P", "ses_Q", "ses_P")},

		"nobody":                    {newView(), "ses_P", terminal(session.OwnerMissing, "ses_P")},
		"no pin":                    {newView(), "", terminal(session.OwnerMissing, "")},
		"the parent is missing":     {newView(child("sub_K", "ses_P")), "sub_K", terminal(session.OwnerMissing, "ses_P", "sub_K")},
		"the parent is unreadable":  {corrupted(newView(child("sub_K", "ses_P")), "ses_P"), "sub_K", terminal(session.OwnerCorrupt, "ses_P", "sub_K")},
		"the pin is unreadable":     {corrupted(newView(), "ses_P"), "ses_P", terminal(session.OwnerCorrupt, "ses_P")},
		"its own parent":            {newView(child("sub_K", "sub_K")), "sub_K", terminal(session.Cycle, "sub_K", "sub_K")},
		"a ring":                    {newView(child("sub_K", "sub_L"), child("sub_L", "sub_K")), "sub_K", terminal(session.Cycle, "sub_K", "sub_K", "sub_L")},
		"a subagent without a mark": {newView(unmarked), "sub_K", terminal(session.NoProvenance, "sub_K", "sub_K")},
		"of a child without a mark": {newView(unmarked, child("sub_L", "sub_K")), "sub_L", terminal(session.NoProvenance, "sub_K", "sub_L", "sub_K")},
		"the place names another":   {newView(person("ses_P"), person("ses_Q")).route(dm, "ses_Q", 4, 0), "ses_P", terminal(session.PlaceTaken, "ses_P", "ses_P")},
		"the place names nobody":    {newView(person("ses_P")).route(dm, "", 4, 0), "ses_P", terminal(session.PlaceTaken, "ses_P", "ses_P")},
		"the place has no route":    {newView(person("ses_P")), "ses_P", terminal(session.PlaceTaken, "ses_P", "ses_P")},
		"the route names the child": {newView(person("ses_P"), child("sub_K", "ses_P")).route(dm, "sub_K", 4, 0), "sub_K", terminal(session.PlaceTaken, "ses_P", "sub_K", "ses_P")},
		"idle, and the child took it": {
			newView(ended(person("ses_P"), session.Idle, 4), child("sub_K", "ses_P")).route(dm, "sub_K", 4, 0), "ses_P",
			terminal(session.PlaceTaken, "ses_P", "ses_P"),
		},

		"idle, to who is there now":         {newView(ended(person("ses_P"), session.Idle, 4), person("ses_Q")).route(dm, "ses_Q", 4, 0), "ses_P", deliver("ses_Q", "ses_P", "ses_Q")},
		"idle, a boundary before":           {newView(ended(person("ses_P"), session.Idle, 4), person("ses_Q")).route(dm, "ses_Q", 4, 4), "ses_P", deliver("ses_Q", "ses_P", "ses_Q")},
		"idle twice":                        {newView(ended(person("ses_P"), session.Idle, 4), ended(person("ses_Q"), session.Idle, 5), person("ses_R")).route(dm, "ses_R", 6, 0), "ses_P", deliver("ses_R", "ses_P", "ses_R")},
		"branched":                          {newView(ended(person("ses_P"), session.Branched, 4), person("ses_Q")).route(dm, "ses_Q", 4, 0), "ses_P", deliver("ses_Q", "ses_P", "ses_Q")},
		"idle, and the person left since":   {newView(ended(person("ses_P"), session.Idle, 4), person("ses_Q")).route(dm, "ses_Q", 5, 5), "ses_P", terminal(session.Boundary, "ses_P", "ses_P")},
		"idle, and the place is empty":      {newView(ended(person("ses_P"), session.Idle, 4)).route(dm, "", 5, 4), "ses_P", terminal(session.Boundary, "ses_P", "ses_P")},
		"idle, and there is no route":       {newView(ended(person("ses_P"), session.Idle, 4)), "ses_P", terminal(session.Boundary, "ses_P", "ses_P")},
		"idle, and the next one ended":      {newView(ended(person("ses_P"), session.Idle, 4), ended(person("ses_Q"), session.Idle, 5)).route(dm, "ses_Q", 4, 0), "ses_P", terminal(session.PlaceTaken, "ses_P", "ses_P")},
		"an API session that went idle":     {newView(ended(api, session.Idle, 0)), "ses_A", terminal(session.Boundary, "ses_A", "ses_A")},
		"a person's session that completed": {newView(ended(person("ses_P"), session.Completed, 4), person("ses_Q")).route(dm, "ses_Q", 4, 0), "ses_P", terminal(session.Boundary, "ses_P", "ses_P")},
		"an end that nobody knows":          {newView(ended(person("ses_P"), "vanished", 4), person("ses_Q")).route(dm, "ses_Q", 4, 0), "ses_P", terminal(session.Boundary, "ses_P", "ses_P")},
	} {
		t.Run(name, func(t *testing.T) {
			tt.want.check(t, session.Resolve(tt.view, tt.pin))
		})
	}
}

// want is what is expected of a verdict.
type want struct {
	outcome session.Outcome
	owner   id.Session
	reason  session.Reason
	at      id.Session
	path    []id.Session
}

func (w want) check(t *testing.T, got session.Verdict) {
	t.Helper()
	var path []id.Session
	for _, h := range got.Path {
		path = append(path, h.Session)
	}
	if got.Outcome != w.outcome || got.Owner != w.owner || got.Reason != w.reason || got.At != w.at || !slices.Equal(path, w.path) {
		t.Errorf("got %s, owner %q, reason %q at %q, path %v\nwant %+v", got.Outcome, got.Owner, got.Reason, got.At, path, w)
	}
}

func corrupted(v *view, k id.Session) *view {
	v.corrupt[k] = true
	return v
}

// Every reason for an end, at the pin, at its parent, and at the person: a boundary is terminal wherever it stands; any
// other end of a child is passed; any other end of a person's session leads to whoever is in the place.
func TestResolveEveryEndAtEveryHop(t *testing.T) {
	for _, reason := range session.EndReasons() {
		for hop := range 3 {
			chain := []session.Session{child("sub_L", "sub_K"), child("sub_K", "ses_P"), person("ses_P")}
			chain[hop] = ended(chain[hop], reason, 4)
			v := newView(append(chain, person("ses_Q"))...).route(dm, "ses_P", 4, 0)
			if hop == 2 {
				v.route(dm, "ses_Q", 4, 0)
			}
			got := session.Resolve(v, "sub_L")
			switch {
			case reason.UserBoundary():
				if got.Outcome != session.Terminal || got.Reason != session.Boundary || got.At != chain[hop].ID || got.End != reason {
					t.Errorf("%s at hop %d: %+v", reason, hop, got)
				}
			case hop < 2:
				if got.Outcome != session.Deliver || got.Owner != "ses_P" || len(got.Path) != 3 {
					t.Errorf("%s at hop %d: %+v", reason, hop, got)
				}
			case reason.Completions() == session.ToPlace:
				if got.Outcome != session.Deliver || got.Owner != "ses_Q" || len(got.Path) != 4 {
					t.Errorf("%s at hop %d: %+v", reason, hop, got)
				}
			default:
				if got.Outcome != session.Terminal || got.Reason != session.Boundary {
					t.Errorf("%s at hop %d: %+v", reason, hop, got)
				}
			}
		}
	}
}

// The work of a conversation is its own and that of those before it in its place, as far as no person left in between.
func TestLine(t *testing.T) {
	follows := func(k, parent id.Session) session.Session { s := person(k); s.Parent = parent; return s }
	line := func(v *view, at id.Session, want ...id.Session) {
		t.Helper()
		if got := session.Line(v, at); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	v := newView(ended(person("ses_P"), session.Idle, 4), ended(follows("ses_Q", "ses_P"), session.Branched, 5), follows("ses_R", "ses_Q")).route(dm, "ses_R", 5, 3)
	line(v, "ses_R", "ses_R", "ses_Q", "ses_P")
	line(v, "ses_Q", "ses_Q")
	line(v, "ses_nobody", "ses_nobody")
	line(v.route(dm, "ses_R", 7, 5), "ses_R", "ses_R", "ses_Q") // its person left P's successor, and came back
	line(v.route(dm, "ses_R", 7, 6), "ses_R", "ses_R")
	v.sessions["ses_P"] = person("ses_P") // reopened
	line(v.route(dm, "ses_R", 7, 0), "ses_R", "ses_R", "ses_Q")
	v.sessions["ses_Q"] = ended(follows("ses_Q", "ses_R"), session.Branched, 5) // a ring
	line(v, "ses_R", "ses_R", "ses_Q")
}

// A proof stands while nothing that it names has moved: each session by its epoch, the place by its version.
func TestHolds(t *testing.T) {
	fresh := func() *view {
		return newView(person("ses_P"), child("sub_K", "ses_P"), person("ses_X")).route(dm, "ses_P", 4, 0).route("other", "ses_X", 1, 0)
	}
	proof := session.Resolve(fresh(), "sub_K")
	for name, tt := range map[string]struct {
		move  func(*view)
		holds bool
	}{
		"nothing moved":      {func(*view) {}, true},
		"another place":      {func(v *view) { v.route("other", "", 2, 2) }, true},
		"the child ended":    {func(v *view) { v.sessions["sub_K"] = ended(v.sessions["sub_K"], session.Completed, 0) }, false},
		"the person left":    {func(v *view) { v.sessions["ses_P"] = ended(v.sessions["ses_P"], session.Reset, 5) }, false},
		"the place moved":    {func(v *view) { v.route(dm, "ses_P", 5, 0) }, false},
		"the place is gone":  {func(v *view) { delete(v.routes, dm) }, false},
		"a session is gone":  {func(v *view) { delete(v.sessions, "sub_K") }, false},
		"one is unreadable":  {func(v *view) { v.corrupt["ses_P"] = true }, false},
		"another of no part": {func(v *view) { delete(v.sessions, "ses_X") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			v := fresh()
			tt.move(v)
			if got := proof.Holds(v); got != tt.holds {
				t.Errorf("holds: %t, want %t", got, tt.holds)
			}
		})
	}
	for _, v := range []session.Verdict{{}, {Outcome: session.Retry}, {Outcome: session.Terminal, Reason: session.Boundary}} {
		if v.Holds(fresh()) {
			t.Errorf("%+v proves nothing", v)
		}
	}
}
