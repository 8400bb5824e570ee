package session_test

import (
	"testing"

	"github.com/homing-gateway/homing/internal/session"
)

// TestEndReasons is the table of end reasons in docs/states.md: every reason fills every column.
func TestEndReasons(t *testing.T) {
	type row struct {
		boundary    bool
		completions session.Destination
		interrupts  bool
		next        session.NextMessage
		ofChild     bool
	}
	want := map[session.EndReason]row{
		"session_reset":  {true, session.Nowhere, true, session.ByTarget, false},
		"session_switch": {true, session.Nowhere, false, session.ByTarget, false},
		"user_exit":      {true, session.Nowhere, true, session.ByNew, false},
		"branched":       {false, session.ToPlace, false, session.ByTarget, false},
		"idle":           {false, session.ToPlace, false, session.ByNew, false},
		"completed":      {false, session.ToParent, true, session.NeverHere, true},
		"failed":         {false, session.ToParent, true, session.NeverHere, true},
		"interrupted":    {false, session.ToParent, true, session.NeverHere, true},
		"stalled":        {false, session.ToParent, true, session.NeverHere, true},
	}
	if len(session.EndReasons()) != len(want) {
		t.Errorf("there are %d reasons, the table has %d", len(session.EndReasons()), len(want))
	}
	for _, r := range session.EndReasons() {
		got := row{r.UserBoundary(), r.Completions(), r.InterruptsChildren(), r.Next(), r.OfChild()}
		if got != want[r] {
			t.Errorf("%s: got %+v, want %+v", r, got, want[r])
		}
		if got.completions == "" || got.next == "" {
			t.Errorf("%s leaves a column empty: %+v", r, got)
		}
	}
	// An end that nobody knows is no boundary that could be crossed, and leads nowhere.
	for _, r := range []session.EndReason{"", "vanished"} {
		if r.UserBoundary() || r.Completions() != session.Nowhere || r.InterruptsChildren() || r.OfChild() {
			t.Errorf("%q means something", r)
		}
	}
}
