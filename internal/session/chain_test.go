package session_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/session"
)

// TestResolveRandomChains compares Resolve with a model on chains of up to 40 sessions with rings, gaps, unreadable rows
// and ends of all kinds at any hop. The model first lists the whole chain and then looks for the first thing on it that
// decides.
func TestResolveRandomChains(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, pin := randomChain(t)
		got, want := session.Resolve(v, pin), model(v, pin)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("got  %+v\nwant %+v", got, want)
		}
		if again := session.Resolve(v, pin); fmt.Sprint(again) != fmt.Sprint(got) {
			t.Fatalf("the same question has two answers: %+v, %+v", got, again)
		}
		if got.Outcome != session.Deliver {
			return
		}
		owner, presence := v.Session(got.Owner)
		if presence != session.Present || owner.Ended() || !owner.HumanFacing() { // rule 1
			t.Fatalf("delivers to %+v", owner)
		}
		for _, h := range got.Path {
			if s, _ := v.Session(h.Session); s.EndReason.UserBoundary() { // rule 4
				t.Fatalf("crosses the boundary of %s", h.Session)
			}
		}
		if !got.Holds(v) {
			t.Fatalf("a fresh proof does not hold: %+v", got)
		}
	})
}

// randomChain draws sessions that were delegated by each other, and a route for their place.
func randomChain(t *rapid.T) (*view, id.Session) {
	n := rapid.IntRange(0, 40).Draw(t, "length")
	name := func(i int) id.Session { return id.Session(fmt.Sprintf("sub_%02d", i)) }
	v := newView()
	for i := range n {
		s := child(name(i), name(i+1))
		s.Epoch = uint64(i)
		switch rapid.IntRange(0, 30).Draw(t, "oddity") {
		case 1:
			continue // a gap
		case 2:
			v.corrupt[s.ID] = true
		case 3:
			s.DelegateFrom = name(rapid.IntRange(0, n).Draw(t, "to"))
		case 4:
			s.DelegateFrom = ""
		case 5:
			s.Kind, s.Key = session.Chat, dm
		case 6:
			s.Kind, s.Key, s.DelegateFrom = session.Chat, dm, ""
		case 7, 8, 9:
			s = ended(s, rapid.SampledFrom(session.EndReasons()).Draw(t, "end"), rapid.Uint64Range(0, 6).Draw(t, "left"))
		}
		v.sessions[s.ID] = s
	}
	top := person(name(n))
	if rapid.IntRange(0, 5).Draw(t, "api") == 1 {
		top.Kind, top.Key = session.API, ""
	}
	if rapid.IntRange(0, 2).Draw(t, "ended") == 1 {
		top = ended(top, rapid.SampledFrom(session.EndReasons()).Draw(t, "end"), rapid.Uint64Range(0, 6).Draw(t, "left"))
	}
	v.sessions[top.ID] = top
	next := person("ses_next")
	v.sessions[next.ID] = next
	current := rapid.SampledFrom([]id.Session{top.ID, top.ID, next.ID, "", name(0), "ses_nobody"}).Draw(t, "current")
	v.route(dm, current, 9, rapid.Uint64Range(0, 9).Draw(t, "boundary"))
	return v, name(rapid.IntRange(0, n).Draw(t, "pin"))
}

// model decides as the table at Resolve reads, the slow way.
func model(v *view, pin id.Session) session.Verdict {
	var chain []session.Session // everything that a walk without limits would see, up to the first repetition
	for at := pin; ; {
		s, presence := v.Session(at)
		if presence != session.Present || slices.ContainsFunc(chain, func(x session.Session) bool { return x.ID == at }) {
			chain = append(chain, session.Session{ID: at, Epoch: 1 << 40}) // where the walk breaks off
			break
		}
		if chain = append(chain, s); s.DelegateFrom == "" {
			break
		}
		at = s.DelegateFrom
	}
	var path []session.Hop
	for hops, s := range chain {
		if s.Epoch == 1<<40 {
			switch _, presence := v.Session(s.ID); presence {
			case session.Missing:
				return session.Verdict{Outcome: session.Terminal, Reason: session.OwnerMissing, At: s.ID, Path: path}
			case session.Corrupt:
				return session.Verdict{Outcome: session.Terminal, Reason: session.OwnerCorrupt, At: s.ID, Path: path}
			case session.Present:
			}
			return session.Verdict{Outcome: session.Terminal, Reason: session.Cycle, At: s.ID, Path: path}
		}
		if hops == 17 {
			return session.Verdict{Outcome: session.Terminal, Reason: session.TooDeep, At: s.ID, Path: path}
		}
		path = append(path, session.Hop{Session: s.ID, Epoch: s.Epoch})
		if slices.Contains([]session.EndReason{"session_reset", "session_switch", "user_exit"}, s.EndReason) {
			return session.Verdict{Outcome: session.Terminal, Reason: session.Boundary, At: s.ID, End: s.EndReason, Path: path}
		}
	}
	last := chain[len(chain)-1]
	r := v.routes[last.Key]
	switch {
	case last.Kind == session.Subagent:
		return session.Verdict{Outcome: session.Terminal, Reason: session.NoProvenance, At: last.ID, Path: path}
	case last.EndReason == "" && last.Kind == session.API:
		return session.Verdict{Outcome: session.Deliver, Owner: last.ID, Path: path}
	case last.EndReason == "" && r.Current == last.ID:
		return session.Verdict{Outcome: session.Deliver, Owner: last.ID, Path: path, Key: r.Key, Version: r.Version}
	case last.EndReason == "":
		return session.Verdict{Outcome: session.Terminal, Reason: session.PlaceTaken, At: last.ID, Path: path}
	}
	toPlace := last.EndReason == "idle" || last.EndReason == "branched"
	if !toPlace || r.Current == "" || r.BoundaryAt > last.LeftAt {
		return session.Verdict{Outcome: session.Terminal, Reason: session.Boundary, At: last.ID, End: last.EndReason, Path: path}
	}
	next, presence := v.Session(r.Current)
	if presence != session.Present || next.EndReason != "" || next.Kind == session.Subagent || next.DelegateFrom != "" {
		return session.Verdict{Outcome: session.Terminal, Reason: session.PlaceTaken, At: last.ID, End: last.EndReason, Path: path}
	}
	path = append(path, session.Hop{Session: next.ID, Epoch: next.Epoch})
	return session.Verdict{Outcome: session.Deliver, Owner: next.ID, Path: path, Key: r.Key, Version: r.Version}
}

// Sixteen marks are followed, and not one more.
func TestResolveDepth(t *testing.T) {
	for marks := range 20 {
		v := newView(person("ses_P")).route(dm, "ses_P", 1, 0)
		pin := id.Session("ses_P")
		for i := range marks {
			k := child(id.Session(fmt.Sprintf("sub_%d", i)), pin)
			v.sessions[k.ID], pin = k, k.ID
		}
		got := session.Resolve(v, pin)
		if want := map[bool]session.Outcome{true: session.Deliver, false: session.Terminal}[marks <= session.MaxHops]; got.Outcome != want {
			t.Errorf("%d marks: %s (%s)", marks, got.Outcome, got.Reason)
		}
	}
}
