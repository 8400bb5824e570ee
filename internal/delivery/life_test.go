package delivery_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/homing-gateway/homing/internal/delivery"
)

// TestLives leads messages through random outcomes, crashes and second thoughts of people. Never are two parts on their
// way, what was sent stays sent, an attempt counts only where the message is at fault, and every life comes to an end.
func TestLives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := policy
		p.Resend, p.ToParent = rapid.Bool().Draw(t, "resend"), rapid.Bool().Draw(t, "to parent")
		m := message("qqq"[:rapid.IntRange(0, 3).Draw(t, "parts")])
		m.Idempotent, m.Observable = rapid.Bool().Draw(t, "idempotent"), rapid.Bool().Draw(t, "observable")
		now := now
		for range rapid.IntRange(0, 60).Draw(t, "length") {
			was := m
			now = now.Add(time.Second)
			switch rapid.IntRange(0, 12).Draw(t, "what") {
			case 10:
				if !m.Finished() {
					m = delivery.Park(m, now)
				}
			case 0:
				m = delivery.Recover(m, now)
			case 1:
				if m.State == delivery.Unknown || m.State == delivery.Buried {
					m = delivery.Retry(m, nil, now)
				}
			case 2:
				if m.State == delivery.Queued || m.Doubt != "" {
					m = delivery.Expire(m, now)
				}
			case 11, 12:
				all := sightings()
				x := all[rapid.IntRange(0, len(all)-1).Draw(t, "sighting")]
				m = delivery.Observed(m, m.Current(), x.s, now, p)
				if costs := m.Attempts > was.Attempts; costs != (x.name == "not found" && was.Doubt == delivery.Unanswered) {
					t.Fatalf("%s costs an attempt: %t", x.name, costs)
				}
			case 3, 4, 5, 6:
				all := outcomes()
				x := all[rapid.IntRange(0, len(all)-1).Draw(t, "outcome")]
				m = delivery.Next(m, m.Current(), x.o, now, p)
				costs := m.Attempts > was.Attempts
				fault := x.o.Failure != nil && (x.o.Failure.Fault == "server_error" && x.o.Healthy || x.o.Failure.Fault == "refused" || x.o.Failure.Fault == "moved")
				if costs && !fault {
					t.Fatalf("%s costs an attempt", x.name)
				}
			default:
				if m.State == delivery.Queued {
					m = delivery.Begin(m, now)
				}
			}
			sound(t, was, m, p)
		}
		for range 40 { // everything works now
			if m.Finished() {
				return
			}
			switch {
			case m.State == delivery.Queued:
				m = delivery.Begin(m, now)
			case m.Doubt != "":
				m = delivery.Observed(m, m.Current(), delivery.Sighting{Found: true}, now, p)
			default:
				m = delivery.Next(m, m.Current(), delivery.Outcome{}, now, p)
			}
		}
		t.Fatalf("it does not come to an end: %s", show(m))
	})
}

func sound(t *rapid.T, was, m delivery.Outgoing, p delivery.Policy) {
	sending, open := 0, 0
	for i, x := range m.Parts {
		if x.State == delivery.Sending {
			sending++
		}
		if x.State == delivery.Queued || x.State == delivery.Sending {
			open++
		}
		if before := was.Parts[i]; before.State == delivery.Sent && x != before {
			t.Fatalf("part %d was sent and changed: %+v", i, x)
		}
		if before := was.Parts[i]; before.State == delivery.Unknown && x.State != delivery.Unknown && !x.Marked && !m.Idempotent {
			t.Fatalf("part %d may have arrived and bears no mark", i)
		}
	}
	switch {
	case sending > 1, (sending == 1) != (m.State == delivery.Sending):
		t.Fatalf("%d parts are on their way: %s", sending, show(m))
	case m.Finished() && open > 0:
		t.Fatalf("it is over with open parts: %s", show(m))
	case m.State == delivery.Queued && len(m.Parts) > 0 && open == 0:
		t.Fatalf("it is queued and nothing is left to send: %s", show(m))
	case m.State == delivery.Buried && m.Reason == "":
		t.Fatalf("it is dead without a reason: %s", show(m))
	case m.Doubt != "" && (m.State != delivery.Sending || !m.Observable):
		t.Fatalf("a doubt that nobody can resolve: %s", show(m))
	case m.Attempts > p.MaxAttempts:
		t.Fatalf("%d attempts", m.Attempts)
	case m.State == delivery.Queued && m.NextAt.Sub(m.UpdatedAt) > max(p.MaxBackoff, 7*time.Second):
		t.Fatalf("it waits too long: %s", show(m))
	}
}
