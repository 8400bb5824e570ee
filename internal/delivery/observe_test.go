package delivery_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
)

// sightings are all that can come of a look.
func sightings() []struct {
	name string
	s    delivery.Sighting
} {
	failed := func(f chat.Fault, class chat.Class, after time.Duration) delivery.Sighting {
		return delivery.Sighting{Failure: &chat.SendError{Fault: f, Class: class, RetryAfter: after, Err: errors.New("because")}}
	}
	return []struct {
		name string
		s    delivery.Sighting
	}{
		{"found", delivery.Sighting{Found: true, Receipt: chat.Receipt{MessageID: "m1"}}},
		{"not found", delivery.Sighting{}},
		{"unreachable", failed(chat.Unreachable, "", 0)},
		{"rate limited, 7 s", failed(chat.RateLimited, "", 7*time.Second)},
		{"server error", failed(chat.ServerError, "", 0)},
		{"no answer", failed(chat.Unknown, "", 0)},
		{"refused: unauthorized", failed(chat.Refused, chat.ClassCredential, 0)},
		{"refused: chat gone", failed(chat.Refused, chat.ClassChatGone, 0)},
		{"refused: other", failed(chat.Refused, chat.ClassOther, 0)},
		{"moved", failed(chat.MovedChat, "", 0)},
	}
}

// doubtful is a message whose part in hand is asked for.
func doubtful(parts string, why delivery.Doubt) delivery.Outgoing {
	m := message(parts)
	m.Observable, m.Doubt = true, why
	return m
}

// TestObservedMatrix prints what a look makes of every doubt. // D-03 Q-14
func TestObservedMatrix(t *testing.T) {
	resend := policy
	resend.Resend = true
	changed := func(why delivery.Doubt, f func(*delivery.Outgoing)) func() delivery.Outgoing {
		return func() delivery.Outgoing { m := doubtful("sSq", why); f(&m); return m }
	}
	none := func(*delivery.Outgoing) {}
	var b strings.Builder
	for _, x := range []struct {
		name   string
		make   func() delivery.Outgoing
		policy delivery.Policy
	}{
		{"no answer came", changed(delivery.Unanswered, none), policy},
		{"no answer came, the last attempt", changed(delivery.Unanswered, func(m *delivery.Outgoing) { m.Attempts = 2 }), policy},
		{"no answer came, asked often", changed(delivery.Unanswered, func(m *delivery.Outgoing) { m.Waits = 30 }), policy},
		{"no answer came, delivery.unknown: resend", changed(delivery.Unanswered, none), resend},
		{"the daemon died", changed(delivery.Interrupted, none), policy},
		{"the daemon died, bears the mark", changed(delivery.Interrupted, func(m *delivery.Outgoing) { m.Parts[1].Marked = true }), policy},
		{"no doubt: a report that nobody waits for", changed("", none), policy},
	} {
		fmt.Fprintf(&b, "%s\n  %-24s %s\n", x.name, "", show(x.make()))
		for _, s := range sightings() {
			m := x.make()
			got := delivery.Observed(m, 1, s.s, now, x.policy)
			if show(m) != show(x.make()) {
				t.Fatalf("%s, %s: Observed changed what it was given", x.name, s.name)
			}
			if s.name == "found" && m.Doubt != "" && got.Parts[1].MessageID != "m1" {
				t.Errorf("%s: found as %q", x.name, got.Parts[1].MessageID)
			}
			fmt.Fprintf(&b, "  %-24s %s\n", s.name, show(got))
		}
		b.WriteString("\n")
	}
	golden(t, "observed.txt", b.String())
}

// Where the platform can be asked, an unknown outcome is asked for before anybody decides. // D-03 Q-14
func TestDoubts(t *testing.T) {
	m := message("sSq")
	m.Observable = true
	unknown := delivery.Outcome{Failure: &chat.SendError{Fault: chat.Unknown, Err: errors.New("timeout")}}
	asked := delivery.Next(m, 1, unknown, now, policy)
	if got, want := show(asked), "sending  [sent, sending, queued] unanswered next in 1s"; got != want {
		t.Errorf("no answer: got %s, want %s", got, want)
	}
	if again := delivery.Next(asked, 1, delivery.Outcome{}, now, policy); show(again) != show(asked) {
		t.Errorf("a late report decides: %s", show(again))
	}
	if got, want := show(delivery.Recover(m, now)), "sending  [sent, sending, queued] interrupted next in 0s"; got != want {
		t.Errorf("after a crash: got %s, want %s", got, want)
	}
	if got, want := show(delivery.Recover(asked, now)), "sending  [sent, sending, queued] unanswered next in 0s"; got != want {
		t.Errorf("a crash while it is asked for: got %s, want %s", got, want)
	}
	if got, want := show(delivery.Expire(asked, now)), "dead     [sent, unknown, dead] reason expired"; got != want {
		t.Errorf("expired: got %s, want %s", got, want)
	}
	file := message("sSq")
	file.Observable, file.File, file.Parts[1].File = true, &delivery.File{Path: "out/act_1", Name: "a.bin"}, true
	if got := delivery.Next(file, 1, unknown, now, policy); got.Doubt != "" || got.Parts[1].State != delivery.Unknown {
		t.Errorf("a file, which nobody can look for: %s", show(got))
	}
	if got := delivery.Recover(file, now); got.Doubt != "" || got.Parts[1].State != delivery.Queued || !got.Parts[1].Marked {
		t.Errorf("a file, after a crash: %s", show(got))
	}
	m.Idempotent = true
	if got, want := show(delivery.Next(m, 1, unknown, now, policy)), "queued   [sent, queued, queued] waits 1 next in 900ms"; got != want {
		t.Errorf("the platform deduplicates, too: got %s, want %s", got, want)
	}
}

// What arrived is looked for since the part was begun for the first time, and each part has a time of its own.
func TestBegunAt(t *testing.T) {
	later := now.Add(time.Hour)
	m := delivery.Begin(message("qq"), now)
	m = delivery.Next(m, 0, delivery.Outcome{Failure: &chat.SendError{Fault: chat.Unreachable}}, now, policy)
	if m = delivery.Begin(m, later); !m.BegunAt.Equal(now) {
		t.Errorf("begun again: since %s", m.BegunAt)
	}
	m = delivery.Next(m, 0, delivery.Outcome{}, later, policy)
	if m = delivery.Begin(m, later); !m.BegunAt.Equal(later) {
		t.Errorf("the next part: since %s", m.BegunAt)
	}
}
