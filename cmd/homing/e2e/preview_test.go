package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
	fake "github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
	"github.com/homing-gateway/homing/internal/machine"
)

// grows streams a text: its beginning at once, and the rest after a time.
func grows(beginning, rest string, after time.Duration) fake.Answer {
	return fake.Stream(fake.Text(beginning), fake.Pause(after), fake.Text(rest), fake.Finish("stop"), fake.Done())
}

// growing waits until a message is seen in the place that holds the text and is not whole.
func (p *place) growing(text string) faketelegram.Message {
	p.Helper()
	var found faketelegram.Message
	p.until("a preview with "+text, func() bool {
		for _, m := range p.messages() {
			if strings.Contains(m.Text, text) && strings.Contains(m.Text, "…") {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

// [U-04] [D-20] An answer grows in place: one message, that begins without a word of it, and ends as the answer.
func TestAnswerGrows(t *testing.T) {
	w := newWorld(t, nil)
	for _, p := range []*place{w.direct(), w.inGroup(), w.inTopic()} {
		w.model.When(fake.Says(p.word("ask")), grows("the beginning ", p.word("end"), 3*time.Second))
	}
	w.start()
	for _, p := range []*place{w.direct(), w.inGroup(), w.inTopic()} {
		asked := time.Now()
		p.say(p.word("ask"))
		preview := p.growing("the beginning")
		if preview.First != "…" || !preview.Silent {
			t.Errorf("%s: the preview came as %q, silent %t", p.name, preview.First, preview.Silent)
		}
		p.until("the answer stands alone", func() bool { return p.seen() == "the beginning "+p.word("end") })
		// At the pace of a busy machine the answer may be late, and rings then.
		if m := p.messages(); m[0].ID != preview.ID && time.Since(asked) < machine.RingAfter {
			t.Errorf("%s: seen %+v", p.name, m)
		}
	}
}

// [U-04] An answer that took long is a new message, with a sound, and the preview goes.
func TestLongAnswerRings(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.model.When(fake.Says("ask"), grows("the beginning ", "the end", 11*time.Second))
	w.start()
	p.say("ask")
	preview := p.growing("the beginning")
	p.until("the answer stands alone", func() bool { return p.seen() == "the beginning the end" })
	if m := p.messages()[0]; m.ID == preview.ID || m.Silent || m.Edits != 0 || m.Text != "the beginning the end" {
		t.Errorf("%+v", m)
	}
}

// The daemon is killed at every step in the life of a preview. The answer is there once, whole, whether it is put into the
// preview or comes as a new message, and nothing of it stands anywhere else. At worst a lone sign that something was about
// to be written is left.
func TestPreviewKilledAnywhere(t *testing.T) {
	for _, c := range []struct {
		name  string
		takes time.Duration
		at    []string
	}{
		{"in place", 2 * time.Second, []string{
			"showing.before", "showing.after", "shown.before", "shown.after", "answered.before", "answered.after",
			"claim.before", "claim.after", "send_done.before", "send_done.after",
		}},
		{"as a new message", 11 * time.Second, []string{
			"answered.before", "answered.after", "claim.before", "send_done.after", "retracted.before", "retracted.after",
		}},
	} {
		for _, point := range c.at {
			t.Run(c.name+"/"+point, func(t *testing.T) {
				w := newWorld(t, nil)
				p := w.direct()
				w.model.When(fake.Says("ask"), grows("the beginning ", "the end", c.takes))
				w.startToDieAt(point)
				p.say("ask")
				w.until("the daemon was killed", func() bool { return w.daemon.deaths == 1 })
				p.until("the answer stands alone", func() bool {
					var rest []string
					for _, m := range p.messages() {
						if m.Text != "…" {
							rest = append(rest, m.Text)
						}
					}
					return len(rest) == 1 && rest[0] == "the beginning the end" && len(w.queue()) == 0
				})
				w.never("anything more is said", func() bool { return len(p.messages()) > 2 })
				p.once("the end")
				orphans := len(p.messages()) - 1
				if may := point == "showing.after" || point == "shown.before"; orphans > 0 && !may {
					t.Errorf("left behind: %+v", p.messages())
				}
			})
		}
	}
}

// A daemon that is killed while a preview stands goes on in it, or takes it back, also when the model says something else
// then.
func TestKilledWhileItGrows(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.model.When(fake.Says("ask"), grows("half of one answer ", "never", time.Hour), grows("another answer", "", 0))
	w.start()
	p.say("ask")
	p.growing("half of one answer")
	w.kill()
	w.start()
	p.until("the answer stands alone", func() bool { return p.seen() == "another answer" })
}

// A stream that breaks off is no answer; what it had said is seen as a preview at most.
func TestStreamCut(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.model.When(fake.Says("ask"), fake.Stream(fake.Text("half of it "), fake.Pause(2*time.Second), fake.Cut()), fake.Say("all of it"))
	w.start()
	p.say("ask")
	p.growing("half of it")
	p.until("the answer stands alone", func() bool { return p.seen() == "all of it" })
}

// What may come to mean silence is not seen before it cannot any more, and a turn that no person asked for not before its
// end.
func TestSilenceIsNotPreviewed(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.model.Script(fake.Says("run it"), background("echo figures"), fake.Say("it runs"))
	w.model.When(fake.Notice("process", "figures"), grows("[SILENT]", "", 3*time.Second))
	w.model.When(fake.Says("loud"), fake.Stream(fake.Text("NO_REP"), fake.Pause(3*time.Second), fake.Text("TILES here"), fake.Finish("stop"), fake.Done()))
	w.start()
	p.ask("run it", "it runs")
	w.isAsked("the process's end", fake.Notice("process", "figures"))
	p.until("the quiet turn is over", func() bool {
		for _, m := range p.messages() {
			if m.Text != "it runs" {
				t.Fatalf("seen: %q", m.Text)
			}
		}
		return strings.Contains(strings.ReplaceAll(w.do("status", "--json"), " ", ""), `"turns_running":0`)
	})
	p.say("loud")
	p.until("the answer", func() bool {
		seen := p.seen()
		if strings.HasSuffix(seen, "NO_REP …") || strings.Contains(seen, "SIL") {
			t.Fatalf("seen: %q", seen)
		}
		return strings.Contains(seen, "NO_REPTILES here")
	})
}

// [U-03] The tools at work are told of within five seconds, with their time, in one message, which goes with the answer; it
// is not left behind by a crash.
func TestToolsAtWork(t *testing.T) {
	w := newWorld(t, nil)
	p, at := w.direct(), w.gate("gate")
	w.model.Script(fake.Says("work"), foreground(at.wait()), fake.Say("done"))
	w.start()
	p.say("work")
	began := time.Now()
	p.until("the tool is named", func() bool { return strings.Contains(p.seen(), "⚙ terminal ·") })
	if d := time.Since(began); d > 5*time.Second {
		t.Errorf("it took %s", d)
	}
	w.kill()
	w.start()
	at.open()
	p.until("the answer stands alone", func() bool { return p.seen() == "done" })
}

// [U-02] A text that comes during a turn is marked as seen at once.
func TestWaitingTextIsMarked(t *testing.T) {
	for _, mode := range []string{"steer", "queue"} {
		t.Run(mode, func(t *testing.T) {
			w := newWorld(t, settings{"display.busy_input": mode})
			p := w.direct()
			free := make(chan struct{})
			w.model.When(fake.Says("slow"), fake.Held(free, fake.Say("slow answer")))
			w.answers("second", "second answer")
			w.start()
			p.say("slow")
			w.isAsked("a slow turn", fake.Says("slow"))
			message, _ := w.tg.Say(faketelegram.Post{Chat: p.chat, From: p.person, Text: "second"})
			w.until("the mark", func() bool { return w.tg.Post(p.chat, message).Reaction == "👀" })
			close(free)
			p.sees("slow answer")
			p.sees("second answer")
		})
	}
}

// With streaming and progress off nothing is seen but answers, and none is changed.
func TestNoSignsOfLife(t *testing.T) {
	w := newWorld(t, settings{"display.streaming": false, "display.tool_progress": "off"})
	p := w.direct()
	w.model.Script(fake.Says("work"), foreground("sleep 3"), grows("the beginning ", "the end", 2*time.Second))
	w.start()
	p.say("work")
	p.sees("the end")
	if m := p.messages(); len(m) != 1 || m[0].Edits != 0 || m[0].First != "the beginning the end" {
		t.Errorf("%+v", m)
	}
}
