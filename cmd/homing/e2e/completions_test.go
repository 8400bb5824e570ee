package e2e

import (
	"fmt"
	"strings"
	"testing"

	fake "github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

// [C-06]: the owner is busy when its subagent ends. The result waits without any attempt, goes into the next turn, and is
// never given up.
func TestOwnerIsBusy(t *testing.T) {
	w := newWorld(t, nil)
	p, at := w.direct(), w.gate("gate")
	w.start()
	w.model.Script(fake.Says("delegate it"), delegate("the goal"), fake.Say("it is delegated"))
	home := make(chan struct{})
	w.model.When(fake.Brief("the goal"), fake.Held(home, fake.Say("the summary")))
	w.model.Script(fake.Says("something long"), foreground(at.wait()), fake.Say("the long one is done"))
	w.model.When(fake.Notice("delegation", "the summary"), fake.Say("the report"))
	p.ask("delegate it", "it is delegated")
	p.say("something long")
	at.reached()
	close(home)
	var waiting []queued
	w.until("the result waits", func() bool { waiting = w.queue(); return len(waiting) == 1 && waiting[0].State == "admitted" })
	if c := waiting[0]; c.Attempts != 0 || c.Owner != p.current().ID || c.Route != p.route() || c.Queue != "completion" || c.Created == "" || c.Updated == "" || c.Profile != "default" {
		t.Errorf("it waits as %+v", c)
	}
	w.never("a busy owner is told", func() bool { return strings.Contains(p.seen(), "the report") })
	at.open()
	p.sees("the report")
	p.once("the report")
	if seen := p.seen(); strings.Index(seen, "the long one is done") > strings.Index(seen, "the report") {
		t.Errorf("the report overtook the turn: %q", seen)
	}
}

// [C-08] [C-19]: what was ordered in one topic is told there, as plain text of the turn, wherever its person talks by then.
func TestTopicOfTheOrder(t *testing.T) {
	w := newWorld(t, nil)
	seven, nine := w.inTopic(), w.in("nine", forum, 9, owner)
	w.start()
	w.model.Script(fake.Says("delegate it"), delegate("the goal"), fake.Say("it is delegated"))
	home := make(chan struct{})
	w.model.When(fake.Brief("the goal"), fake.Held(home, fake.Say("the summary")))
	w.model.When(fake.Notice("delegation", "the summary"), fake.Say("the report"))
	w.answers("and here?", "nothing new")
	seven.ask("delegate it", "it is delegated")
	before := seven.current()
	nine.ask("and here?", "nothing new")
	close(home)
	seven.sees("the report")
	seven.once("the report")
	seven.unmoved(before)
}

// [C-11]: three subagents of one call come back as one result, and the person is told once.
func TestFanOut(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.start()
	var tasks []args
	for i := range 3 {
		goal := fmt.Sprintf("goal %d", i)
		tasks = append(tasks, args{"goal": goal})
		w.model.When(fake.Brief(goal), fake.Say(fmt.Sprintf("summary %d", i)))
	}
	w.model.Script(fake.Says("all of it"), fake.Call("delegate_task", args{"tasks": tasks}), fake.Say("they are at work"))
	w.model.When(fake.Notice("delegation", "summary 0", "summary 1", "summary 2"), fake.Say("the report"))
	p.say("all of it")
	p.sees("the report")
	w.never("a second turn opens", func() bool { return len(w.asked(fake.Notice("delegation"))) != 1 })
	p.once("the report")
	if d := read[[]delegation](w, "delegations", "ls"); len(d) != 1 || len(d[0].Subagents) != 3 || d[0].State != "completed" {
		t.Errorf("delegations: %+v", d)
	}
	if text := w.asked(fake.Notice("delegation"))[0].Said(); strings.Count(text, "summary ") != 3 {
		t.Errorf("the notice: %q", text)
	}
}

// [C-12]: the owner's own process ends while a subagent works on something else. The subagent hears nothing of it; the
// owner does, once.
func TestChildHearsNothingOfTheParent(t *testing.T) {
	w := newWorld(t, nil)
	p, at := w.direct(), w.gate("gate")
	w.start()
	home := make(chan struct{})
	w.model.Script(fake.Says("both"), background(at.then("echo figures")), delegate("another subject"), fake.Say("both run"))
	w.model.Script(fake.Brief("another subject"), fake.Held(home, foreground("true")), fake.Say("the summary"))
	w.model.When(fake.Notice("process", "figures"), fake.Say("the figures are there"))
	w.model.When(fake.Notice("delegation", "the summary"), fake.Say("the report"))
	p.ask("both", "both run")
	at.open()
	p.sees("the figures are there")
	close(home)
	p.sees("the report")
	p.once("the report")
	p.once("the figures are there")
	for _, a := range w.asked(fake.Brief("another subject")) {
		if text := transcript(a); strings.Contains(text, "figures") || strings.Contains(text, "homing:process") {
			t.Errorf("the subagent heard of it: %q", text)
		}
	}
}

// [C-17] [C-23]: a message during a delegation, here of another person in the same topic, is answered at once and detaches
// nothing. Only /stop ends the subagent, and that is told quietly with the next message.
func TestMessagesDuringADelegation(t *testing.T) {
	w := newWorld(t, nil)
	p, other := w.inTopic(), w.in("topic", forum, 7, guest)
	w.start()
	home, stay := make(chan struct{}), make(chan struct{})
	defer close(stay)
	w.model.Script(fake.Says("delegate one"), delegate("goal one"), fake.Say("one is delegated"))
	w.model.Script(fake.Says("delegate two"), delegate("goal two"), fake.Say("two is delegated"))
	w.model.When(fake.Brief("goal one"), fake.Held(home, fake.Say("summary one")))
	w.model.When(fake.Brief("goal two"), fake.Held(stay, fake.Say("summary two")))
	w.model.When(fake.Notice("delegation", "summary one"), fake.Say("report one"))
	w.answers("how late is it?", "noon")
	p.ask("delegate one", "one is delegated")
	other.ask("how late is it?", "noon")
	if d := read[[]delegation](w, "delegations", "ls"); d[0].State != "running" {
		t.Errorf("the delegation is %s", d[0].State)
	}
	if a := w.asked(fake.Says("how late is it?"))[0]; !strings.Contains(a.Said(), "Guest: ") || !knows("delegate one")(a) {
		t.Errorf("the other person's message came as %q", transcript(a))
	}
	close(home)
	p.sees("report one")
	p.once("report one")

	p.ask("delegate two", "two is delegated")
	if text := p.command("/stop"); !strings.Contains(text, "delegated work") {
		t.Errorf("/stop: %q", text)
	}
	w.until("the second delegation is interrupted", func() bool { return read[[]delegation](w, "delegations", "ls")[1].State == "interrupted" })
	w.never("the end of what was stopped opens a turn", func() bool { return len(w.asked(fake.Notice("delegation", "interrupted"))) > 0 })
	w.model.When(fake.All(fake.Says("what now?"), fake.Notice("delegation", "interrupted")), fake.Say("it was stopped"))
	p.ask("what now?", "it was stopped")
	w.hidden("summary two")
}

// [C-20]: a result stands in the transcript as a notice, neither as a person's nor as the agent's words.
func TestSpeakerOfAResult(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.start()
	w.model.Script(fake.Says("delegate it"), delegate("the goal"), fake.Say("it is delegated"))
	w.model.When(fake.Brief("the goal"), fake.Say("the summary"))
	w.model.When(fake.Notice("delegation", "the summary"), fake.Say("the report"))
	p.say("delegate it")
	p.sees("the report")
	d := read[[]delegation](w, "delegations", "ls")[0]
	var kinds []string
	for _, e := range read[session](w, "sessions", "show", p.current().ID).Entries {
		kinds = append(kinds, e.Kind)
		if strings.Contains(e.Content, "the summary") && (e.Kind != "notice" || !strings.HasPrefix(e.Content, "[homing:delegation "+d.ID+" completed]\nThis is a machine notice")) {
			t.Errorf("the result stands there as %s: %q", e.Kind, e.Content)
		}
	}
	if got := strings.Join(kinds, " "); got != "user assistant tool assistant notice assistant" {
		t.Errorf("the transcript: %s", got)
	}
}

// [C-25]: turns of one person in several places overlap; each answer leaves through the place of its own message.
func TestOverlappingPlaces(t *testing.T) {
	w := newWorld(t, nil)
	w.start()
	all := []*place{w.direct(), w.inGroup(), w.inTopic(), w.in("nine", forum, 9, owner)}
	const rounds = 4
	for round := range rounds {
		free := make(chan struct{})
		for _, p := range all {
			ask := p.word(fmt.Sprint("ask", round))
			w.model.When(fake.Says(ask), fake.Held(free, fake.Say(p.word(fmt.Sprint("answer", round)))))
			p.say(ask)
		}
		w.until("all turns run", func() bool { return len(w.model.Asks()) == (round+1)*len(all) })
		close(free)
		for _, p := range all {
			p.sees(p.word(fmt.Sprint("answer", round)))
		}
	}
	for _, p := range all {
		for round := range rounds {
			p.once(p.word(fmt.Sprint("answer", round)))
		}
	}
}
