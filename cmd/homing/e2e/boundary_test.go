package e2e

import (
	"strings"
	"testing"

	fake "github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

// fresh begins a new conversation and says something in it.
func (p *place) fresh() (old, now session) {
	p.Helper()
	old = p.current()
	if text := p.command("/new"); !strings.Contains(text, old.ID) {
		p.Errorf("/new does not say how to come back: %q", text)
	}
	p.answers(p.word("fresh"), p.word("freshanswer"))
	p.ask(p.word("fresh"), p.word("freshanswer"))
	return old, p.current()
}

// untouched holds that a conversation consists of what fresh said in it.
func (p *place) untouched(now session) {
	p.Helper()
	s := read[session](p.world, "sessions", "show", now.ID)
	if len(s.Entries) != 2 || s.Entries[0].Kind != "user" || s.Entries[1].Kind != "assistant" {
		p.Errorf("the new conversation holds more than was said in it: %+v", s.Entries)
	}
}

// [C-03]: after /new the end of an old process enters no conversation. It is kept with the old one, shown to the operator
// and the person with its reason, brought back by nothing but the person, and told once then.
func TestNewDuringAProcess(t *testing.T) {
	w := newWorld(t, nil)
	p, at := w.direct(), w.gate("gate")
	w.start()
	w.model.Script(fake.Says("run it"), background(at.then("echo over")), fake.Say("it runs"))
	w.model.When(fake.All(fake.Notice("process", "over"), knows("run it")), fake.Say("told late"))
	p.ask("run it", "it runs")
	old, now := p.fresh()
	at.open()
	kept := w.dead("completion", "boundary")
	if kept.Kind != "process" || kept.Session != "" && kept.Session != old.ID {
		t.Errorf("kept: %+v", kept)
	}
	if text := p.command("/undelivered"); !strings.Contains(text, kept.ID) || !strings.Contains(text, old.ID) {
		t.Errorf("/undelivered: %q", text)
	}
	if text := p.command("/status"); !strings.Contains(text, "Undelivered: 1") {
		t.Errorf("/status: %q", text)
	}
	w.fails(1, "--to", "queue", "retry", kept.ID)
	w.never("the notice reaches a model", func() bool { return len(w.asked(knows("[homing:process"))) > 0 })
	p.untouched(now)

	p.say("/resume " + old.ID)
	p.sees("told late")
	p.once("told late")
	if text := p.command("/undelivered"); text != "Nothing is undelivered here." {
		t.Errorf("/undelivered: %q", text)
	}
	if p.current().ID != old.ID {
		t.Error("/resume did not go back")
	}
}

// /new during a delegation interrupts the subagent. What it had is kept, listed, and told once its person is back.
func TestNewDuringADelegation(t *testing.T) {
	w := newWorld(t, nil)
	p, at := w.inTopic(), w.gate("gate")
	w.start()
	w.model.Script(fake.Says("delegate it"), delegate("the goal"), fake.Say("it is delegated"))
	w.model.Script(fake.Brief("the goal"), foreground(at.wait()), fake.Say("the summary"))
	w.model.When(fake.All(fake.Notice("delegation", "interrupted"), knows("delegate it")), fake.Say("told late"))
	p.ask("delegate it", "it is delegated")
	at.reached()
	old, now := p.fresh()
	kept := w.dead("completion", "boundary")
	if d := read[[]delegation](w, "delegations", "ls"); len(d) != 1 || d[0].State != "interrupted" || kept.Subject != d[0].ID || kept.Kind != "delegation" {
		t.Errorf("delegations: %+v, kept: %+v", d, kept)
	}
	w.processIs("gate", "killed")
	if text := p.command("/undelivered"); !strings.Contains(text, kept.ID) || !strings.Contains(text, old.ID) {
		t.Errorf("/undelivered: %q", text)
	}
	w.never("the notice reaches a model", func() bool { return len(w.asked(knows("[homing:delegation"))) > 0 })
	p.untouched(now)
	p.say("/resume 2")
	p.sees("told late")
	p.once("told late")
	if p.current().ID != old.ID {
		t.Error("/resume did not go back")
	}
}

// A dead letter goes where an operator says, and is told there once.
func TestRetryOfAKeptResult(t *testing.T) {
	w := newWorld(t, nil)
	p, at := w.direct(), w.gate("gate")
	w.start()
	w.model.Script(fake.Says("run it"), background(at.then("echo over")), fake.Say("it runs"))
	w.model.When(fake.Notice("process", "over"), fake.Say("told elsewhere"))
	p.ask("run it", "it runs")
	p.fresh()
	at.open()
	kept := w.dead("completion", "boundary")
	there := w.in("guest", guest, 0, guest)
	w.answers("guest here", "welcome")
	there.ask("guest here", "welcome")
	w.do("queue", "retry", kept.ID, "--to", "telegram:1002")
	there.sees("told elsewhere")
	there.once("told elsewhere")
	w.until("nothing is left in the queue", func() bool { return len(w.queue()) == 0 })
}

// sessions end is a boundary as well: the next message opens a new conversation, and a subagent's run is not ended so.
func TestSessionsEnd(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.start()
	stay := make(chan struct{})
	w.model.Script(fake.Says("delegate it"), delegate("the goal"), fake.Say("it is delegated"))
	w.model.When(fake.Brief("the goal"), fake.Held(stay, fake.Say("the summary")))
	w.model.When(fake.All(fake.Says("again"), fake.Not(knows("delegate it"))), fake.Say("who are you?"))
	p.ask("delegate it", "it is delegated")
	old := p.current()
	child := read[[]delegation](w, "delegations", "ls")[0].Subagents[0].SubagentID
	w.fails(1, "delegations stop", "sessions", "end", child)
	w.do("sessions", "end", old.ID[:12])
	w.fails(1, "ended already", "sessions", "end", old.ID)
	if s := read[session](w, "sessions", "show", old.ID); s.State != "ended" || s.EndReason != "user_exit" || s.EndedAt == "" {
		t.Errorf("the session: %+v", s.object)
	}
	close(stay)
	w.dead("completion", "boundary")
	p.ask("again", "who are you?")
	if p.current().ID == old.ID {
		t.Error("the ended conversation lives")
	}
	w.hidden("the summary")
}
