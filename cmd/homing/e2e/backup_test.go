package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	fake "github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

// A copy is made while an answer waits for Telegram and a turn runs; both come to their end after it. On the restored
// store neither is done again: the answer is unknown until a person decides, the turn is stopped and its person told.
func TestRestoreRepeatsNothing(t *testing.T) {
	w := newWorld(t, settings{"delivery.min_backoff": "1m", "delivery.max_backoff": "1m"})
	p, other := w.direct(), w.in("guest", guest, 0, guest)
	answer, slow := make(chan struct{}), make(chan struct{})
	w.model.When(fake.Says("hello"), fake.Held(answer, fake.Say("the answer")))
	w.model.When(fake.Says("slow"), fake.Held(slow, fake.Say("at last")))
	w.answers("later", "the later answer")
	w.answers("again", "here I am")
	w.start()
	p.say("hello")
	other.say("slow")
	w.isAsked("the turn", fake.Says("hello"))
	w.isAsked("the other turn", fake.Says("slow"))
	w.tg.Down()
	close(answer)
	w.until("the answer waits", func() bool {
		q := w.queue()
		return len(q) == 1 && q[0].State == "queued" && q[0].Detail != ""
	})
	file := filepath.Join(w.dir, "copy.db")
	w.do("backup", file)
	w.telegramIsBack()
	p.sees("the answer")
	close(slow)
	other.sees("at last")
	p.ask("later", "the later answer")
	w.fails(69, "another gateway holds", "restore", file)
	w.stop()

	w.contains("restore", w.do("restore", file), "is the store as of", "before-restore")
	w.start()
	other.sees("I was set back")
	other.once("I was set back")
	var held []queued
	w.until("the word about it is on record as sent", func() bool { held = w.queue(); return len(held) == 1 })
	if held[0].State != "unknown" || held[0].Reason != "restored" || !strings.Contains(held[0].Text, "the answer") {
		t.Fatalf("the queue after the restore: %+v", held)
	}
	w.never("anything is done again", func() bool {
		return len(w.asked(fake.Says("slow"))) != 1 || len(w.asked(fake.Says("hello"))) != 1 || len(w.asked(fake.Says("later"))) != 1
	})
	p.once("the answer")
	other.once("at last")
	p.once("the later answer")
	other.ask("again", "here I am")
	w.do("queue", "retry", held[0].ID)
	p.sees("may be a duplicate")
	p.times("the answer", 2)
	w.kill()
	w.start() // a crash after the restore is a crash like others
	w.never("it is told once more", func() bool { return strings.Count(other.seen(), "I was set back") != 1 })
}

// A command that the copy knows as running is found again where its folder is there, with its true end; where it is not, it
// is lost, and not run again.
func TestRestoreRunsNoCommandAgain(t *testing.T) {
	for name, keep := range map[string]bool{"folder there": true, "folder gone": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			p, at := w.direct(), w.gate("gate")
			w.model.Script(fake.Says("run it"), background("echo ran >>"+w.workspace("runs")+"; "+at.then("exit 7")), fake.Say("it runs"))
			w.model.When(fake.Notice("process", "exited 7]"), fake.Say("it ended with 7"))
			w.model.When(fake.Notice("process", "lost]"), fake.Say("it is lost"))
			w.start()
			p.ask("run it", "it runs")
			at.reached()
			file := filepath.Join(w.dir, "copy.db")
			w.do("backup", file)
			at.open()
			p.sees("it ended with 7")
			w.stop()
			if !keep {
				if err := os.RemoveAll(filepath.Join(w.data(), "processes")); err != nil {
					t.Fatal(err)
				}
			}
			w.do("restore", file)
			w.start()
			if keep {
				w.until("it is told with its true end", func() bool { return strings.Count(p.seen(), "it ended with 7") == 2 })
			} else {
				p.sees("it is lost")
			}
			if b, err := os.ReadFile(w.workspace("runs")); err != nil || string(b) != "ran\n" {
				t.Errorf("it ran as %q, %v", b, err)
			}
		})
	}
}

// An export has the calls with their arguments and which result answers which.
func TestExport(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.model.Script(fake.Says("run it"), foreground("echo figures"), fake.Say("done"))
	w.start()
	p.ask("run it", "done")
	type document struct {
		object
		Entries []struct {
			ID, Kind, Content, Tool string
			CallID                  string `json:"call_id"`
			Calls                   []struct{ ID, Name, Arguments string }
		}
	}
	is := p.current()
	got := read[document](w, "sessions", "export", is.ID[:14])
	if got.ID != is.ID || got.Route != p.route() || len(got.Entries) != 4 {
		t.Fatalf("exported: %+v", got)
	}
	call, result := got.Entries[1], got.Entries[2]
	if len(call.Calls) != 1 || call.Calls[0].Name != "terminal" || !strings.Contains(call.Calls[0].Arguments, `"echo figures"`) || call.Calls[0].ID != result.CallID ||
		result.Tool != "terminal" || !strings.Contains(result.Content, "figures") || got.Entries[3].Content != "done" {
		t.Errorf("the call: %+v, its result: %+v", call, result)
	}
	running := w.do("sessions", "export", is.ID)
	w.stop()
	if stopped := w.do("sessions", "export", is.ID); stopped != running {
		t.Errorf("while no daemon runs it is another one:\n%s\n%s", stopped, running)
	}
	w.fails(1, "", "sessions", "export", "out_01AAAAAAAA")
}
