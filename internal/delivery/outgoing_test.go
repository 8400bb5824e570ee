package delivery_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
)

func TestBegin(t *testing.T) {
	for parts, want := range map[string]string{
		"q":   "sending  [sending]",
		"sq":  "sending  [sent, sending]",
		"uqq": "sending  [unknown, sending, queued]",
		"":    "sent     []",
		"su":  "unknown  [sent, unknown]",
		"sd":  "dead     [sent, dead]",
	} {
		m := delivery.Begin(message(parts), now)
		if got := show(m); got != want {
			t.Errorf("%q: got %s, want %s", parts, got, want)
		}
		if begun := m.State == delivery.Sending; begun != (m.Tries == 1) {
			t.Errorf("%q: %d tries", parts, m.Tries)
		}
	}
}

// In mid-send when the daemon died. // Q-14
func TestRecover(t *testing.T) {
	for name, tt := range map[string]struct {
		parts  string
		change func(*delivery.Outgoing)
		want   string
	}{
		"goes once more, marked":        {"sSq", func(*delivery.Outgoing) {}, "queued   [sent, queued marked, queued] next in 0s"},
		"is asked again under its key":  {"sSq", func(m *delivery.Outgoing) { m.Idempotent = true }, "queued   [sent, queued, queued] next in 0s"},
		"a second time it is held":      {"S", func(m *delivery.Outgoing) { m.Parts[0].Marked = true }, "unknown  [unknown marked]"},
		"held, and the rest goes on":    {"Sq", func(m *delivery.Outgoing) { m.Parts[0].Marked = true }, "queued   [unknown marked, queued] next in 0s"},
		"a dedup'd mark is no matter":   {"S", func(m *delivery.Outgoing) { m.Parts[0].Marked, m.Idempotent = true, true }, "queued   [queued marked] next in 0s"},
		"queued: nothing had been done": {"q", func(*delivery.Outgoing) {}, "queued   [queued]"},
	} {
		m := message(tt.parts)
		tt.change(&m)
		if got := show(delivery.Recover(m, now)); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
}

func TestRetry(t *testing.T) {
	m := message("sudd")
	m.State, m.Reason, m.Class, m.Detail, m.Attempts, m.Waits, m.ReplyTo = delivery.Buried, "attempts", "x", "y", 5, 6, "m7"
	same := delivery.Retry(m, nil, now)
	if got, want := show(same), "queued   [sent, queued marked, queued, queued] next in 0s"; got != want {
		t.Errorf("to the same place: got %s, want %s", got, want)
	}
	if same.ReplyTo != "m7" || same.QueuedAt != now || same.Class != "" || same.Detail != "" {
		t.Errorf("to the same place: %+v", same)
	}
	if again := delivery.Retry(m, &m.To, now); !cmp.Equal(again, same) {
		t.Errorf("the same place by name: %s", show(again))
	}
	m.Idempotent = true
	if got, want := show(delivery.Retry(m, nil, now)), "queued   [sent, queued, queued, queued] next in 0s"; got != want {
		t.Errorf("where repeats are told apart: got %s, want %s", got, want)
	}
	to := chat.Address{Chat: "other"}
	if other := delivery.Retry(m, &to, now); other.To != to || other.ReplyTo != "" || len(other.Parts) != 0 {
		t.Errorf("to another place: %+v", other)
	}
}

func TestExpire(t *testing.T) {
	for parts, want := range map[string]string{
		"q": "dead     [dead] reason expired", "sqq": "dead     [sent, dead, dead] reason expired", "": "dead     [] reason expired",
		"uq": "dead     [unknown, dead] reason expired",
	} {
		if got := show(delivery.Expire(message(parts), now)); got != want {
			t.Errorf("%q: got %s, want %s", parts, got, want)
		}
	}
}

// What goes out: the markup or the bare text, with the mark before it. A gone thread is named in words.
func TestBody(t *testing.T) {
	m := message("S")
	for _, tt := range []struct {
		plain, marked bool
		want          string
	}{{false, false, "*0*"}, {true, false, "0"}, {false, true, delivery.RecoveryMark + "\n*0*"}, {true, true, delivery.RecoveryMark + "\n0"}} {
		m.Parts[0].Plain, m.Parts[0].Marked = tt.plain, tt.marked
		if text, plain := m.Body(0); text != tt.want || plain != tt.plain {
			t.Errorf("%+v: %q, plain %t", tt, text, plain)
		}
	}
	p := policy
	p.ToParent = true
	gone := delivery.Outcome{Failure: &chat.SendError{Fault: chat.Refused, Class: chat.ClassThreadGone}}
	m = delivery.Next(message("S"), 0, gone, now, p)
	if text, _ := m.Body(0); !strings.Contains(text, "topic 7") || !strings.HasSuffix(text, "*0*") || m.To.Type != chat.Group || m.To.Chat != "c" {
		t.Errorf("%q to %+v", text, m.To)
	}
}

// Parts have keys of their own, the same at every attempt.
func TestKey(t *testing.T) {
	m := message(strings.Repeat("q", 700))
	seen := map[string]bool{}
	for i := range 26 * 26 {
		k := m.Key(i)
		if seen[k] || k != m.Key(i) || !strings.HasPrefix(k, "out_1") {
			t.Fatalf("part %d has the key %q", i, k)
		}
		seen[k] = true
	}
}

// The pause doubles up to the greatest, is spread by up to a quarter, and is the same for the same message.
func TestBackoff(t *testing.T) {
	down := delivery.Outcome{Failure: &chat.SendError{Fault: chat.Unreachable}}
	for _, name := range []string{"out_1", "out_2", "out_3", "out_4"} {
		m := message("S")
		for tries := 1; tries < 70; tries++ {
			m.ID, m.Waits, m.Parts[0].State = "x", tries-1, delivery.Sending
			got := delivery.Next(m, 0, down, now, policy).NextAt.Sub(now)
			full := time.Minute
			if tries < 7 {
				full = min(full, time.Second<<(tries-1))
			}
			if got > full || got < full*3/4 {
				t.Errorf("%s, try %d: %s, want three quarters of %s to all of it", name, tries, got, full)
			}
			if again := delivery.Next(m, 0, down, now, policy).NextAt.Sub(now); again != got {
				t.Errorf("%s, try %d: %s, and then %s", name, tries, got, again)
			}
		}
	}
}
