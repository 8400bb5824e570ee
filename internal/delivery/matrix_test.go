package delivery_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
)

var update = flag.Bool("update", false, "write the golden files anew")

var (
	now    = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	policy = delivery.Policy{MaxAttempts: 3, MinBackoff: time.Second, MaxBackoff: time.Minute}
)

// message is one with parts in the states that the letters name: q(ueued), S(ending), s(ent), u(nknown), d(ead).
func message(parts string) delivery.Outgoing {
	m := delivery.Outgoing{ID: "out_1", Text: "text", State: delivery.Queued}
	m.To = chat.Address{Type: chat.Thread, Chat: "c", Thread: "7"}
	for i, c := range parts {
		state := map[rune]delivery.MessageState{
			'q': delivery.Queued, 'S': delivery.Sending, 's': delivery.Sent, 'u': delivery.Unknown, 'd': delivery.Buried,
		}[c]
		if state == delivery.Sending {
			m.State = state
		}
		m.Parts = append(m.Parts, delivery.Part{Text: fmt.Sprintf("*%d*", i), Bare: fmt.Sprint(i), State: state})
	}
	return m
}

// show is a message in one line.
func show(m delivery.Outgoing) string {
	var parts []string
	for _, p := range m.Parts {
		s := string(p.State)
		if p.Plain {
			s += " plain"
		}
		if p.Marked {
			s += " marked"
		}
		if p.File {
			s += " file"
		}
		if p.Edits != "" {
			s += " edits"
		}
		parts = append(parts, s)
	}
	line := fmt.Sprintf("%-8s [%s]", m.State, strings.Join(parts, ", "))
	if m.Reason != "" {
		line += " reason " + m.Reason
	}
	if m.Attempts > 0 {
		line += fmt.Sprintf(" attempts %d", m.Attempts)
	}
	if m.Waits > 0 {
		line += fmt.Sprintf(" waits %d", m.Waits)
	}
	if m.Doubt != "" {
		line += " " + string(m.Doubt)
	}
	if !m.NextAt.IsZero() {
		line += fmt.Sprintf(" next in %s", m.NextAt.Sub(now).Round(100*time.Millisecond))
	}
	if m.Unreached {
		line += " unreached"
	}
	if m.To.Thread == "" {
		line += " without thread"
	}
	return line
}

// outcomes are all that can come of an attempt.
func outcomes() []struct {
	name string
	o    delivery.Outcome
} {
	failed := func(f chat.Fault, class chat.Class, after time.Duration, healthy bool) delivery.Outcome {
		return delivery.Outcome{Healthy: healthy, Failure: &chat.SendError{Fault: f, Class: class, RetryAfter: after, Err: errors.New("because")}}
	}
	return []struct {
		name string
		o    delivery.Outcome
	}{
		{"sent", delivery.Outcome{Receipt: chat.Receipt{MessageID: "m1"}}},
		{"unreachable", failed(chat.Unreachable, "", 0, false)},
		{"rate limited, 7 s", failed(chat.RateLimited, "", 7*time.Second, true)},
		{"rate limited, no time", failed(chat.RateLimited, "", 0, true)},
		{"server error, account works", failed(chat.ServerError, "", 0, true)},
		{"server error, account does not", failed(chat.ServerError, "", 0, false)},
		{"moved", failed(chat.MovedChat, "", 0, true)},
		{"refused: markup", failed(chat.Refused, chat.ClassMarkup, 0, true)},
		{"refused: thread gone", failed(chat.Refused, chat.ClassThreadGone, 0, true)},
		{"refused: chat gone", failed(chat.Refused, chat.ClassChatGone, 0, true)},
		{"refused: blocked", failed(chat.Refused, chat.ClassBlocked, 0, true)},
		{"refused: too long", failed(chat.Refused, chat.ClassTooLong, 0, true)},
		{"refused: unauthorized", failed(chat.Refused, chat.ClassCredential, 0, true)},
		{"refused: other", failed(chat.Refused, chat.ClassOther, 0, true)},
		{"unknown", failed(chat.Unknown, "", 0, true)},
		{"a fault nobody knows", failed("odd", "", 0, true)},
	}
}

// TestNextMatrix prints what Next makes of every state and every outcome. // D-01 D-03 D-05 D-15
func TestNextMatrix(t *testing.T) {
	changed := func(f func(*delivery.Outgoing)) func(string) delivery.Outgoing {
		return func(parts string) delivery.Outgoing { m := message(parts); f(&m); return m }
	}
	part := func(f func(*delivery.Part)) func(string) delivery.Outgoing {
		return changed(func(m *delivery.Outgoing) { f(&m.Parts[m.Current()]) })
	}
	file := changed(func(m *delivery.Outgoing) {
		m.File, m.Parts[0].File = &delivery.File{Path: "out/act_1", Name: "a.bin"}, true
	})
	resend, toParent := policy, policy
	resend.Resend, toParent.ToParent = true, true
	var b strings.Builder
	for _, x := range []struct {
		name   string
		make   func(string) delivery.Outgoing
		parts  string
		policy delivery.Policy
	}{
		{"one part, being sent", message, "S", policy},
		{"the middle one of three parts", message, "sSq", policy},
		{"the last part, one before it unknown", message, "usS", policy},
		{"a part in plain text already", part(func(p *delivery.Part) { p.Plain = true }), "S", policy},
		{"the last attempt", changed(func(m *delivery.Outgoing) { m.Attempts = 2 }), "S", policy},
		{"many waits", changed(func(m *delivery.Outgoing) { m.Waits = 30 }), "S", policy},
		{"to a thread, delivery.dead_thread: parent", message, "sSq", toParent},
		{"to a chat, delivery.dead_thread: parent", changed(func(m *delivery.Outgoing) { m.To.Thread = "" }), "S", toParent},
		{"delivery.unknown: resend", message, "Sq", resend},
		{"delivery.unknown: resend, bears the mark", part(func(p *delivery.Part) { p.Marked = true }), "Sq", resend},
		{"the platform deduplicates", changed(func(m *delivery.Outgoing) { m.Idempotent = true }), "Sq", policy},
		{"a file", file, "Sq", policy},
		{"a file, delivery.unknown: resend", file, "Sq", resend},
		{"an edit", part(func(p *delivery.Part) { p.Edits = "m0" }), "Sq", policy},
		{"an edit, delivery.unknown: resend", part(func(p *delivery.Part) { p.Edits = "m0" }), "Sq", resend},
		{"an edit in plain text already", part(func(p *delivery.Part) { p.Edits, p.Plain = "m0", true }), "S", policy},
		{"the platform can be asked", changed(func(m *delivery.Outgoing) { m.Observable = true }), "Sq", policy},
		{"queued: a report that nobody waits for", message, "q", policy},
		{"sent: a report that comes twice", message, "s", policy},
	} {
		m := x.make(x.parts)
		fmt.Fprintf(&b, "%s\n  %-32s %s\n", x.name, "", show(m))
		for _, o := range outcomes() {
			i := max(m.Current(), 0)
			got := delivery.Next(m, i, o.o, now, x.policy)
			if show(m) != show(x.make(x.parts)) {
				t.Fatalf("%s, %s: Next changed what it was given", x.name, o.name)
			}
			fmt.Fprintf(&b, "  %-32s %s\n", o.name, show(got))
		}
		b.WriteString("\n")
	}
	golden(t, "next.txt", b.String())
}

// What takes the place of a file says why, keeps its caption, and is plain text. D-27
func TestD27WithoutItsFile(t *testing.T) {
	m := message("S")
	m.File, m.Parts[0].File = &delivery.File{Name: "a.bin"}, true
	got := delivery.Next(m, 0, delivery.Outcome{Failure: &chat.SendError{Fault: chat.Refused, Class: chat.ClassTooLong, Err: errors.New("too big")}}, now, policy)
	if text, plain := got.Body(0); text != "⚠ I could not send the file a.bin: too big\n0" || !plain || got.Parts[0].File || m.Parts[0].Text != "*0*" {
		t.Errorf("%q, plain %t", text, plain)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs: run with -update and read the difference\n%s", path, got)
	}
}
