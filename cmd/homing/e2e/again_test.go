package e2e

import (
	"strings"
	"testing"

	fake "github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

// /branch goes on in a copy: the branch knows what was said and gets what ends later, its agent looks after what still
// runs, and the old conversation is found again as it was, also after a crash.
func TestBranch(t *testing.T) {
	w := newWorld(t, nil)
	p, at := w.direct(), w.gate("gate")
	w.model.Script(fake.Says("run it"), background(at.then("echo over")), fake.Say("it runs"))
	w.model.Script(fake.All(fake.Says("does it?"), knows("run it")), manage("poll", ""), fake.Say("it does"))
	w.model.When(fake.All(fake.Notice("process", "over"), knows("does it?")), fake.Say("told in the branch"))
	w.model.When(fake.All(fake.Says("back?"), knows("run it"), fake.Not(knows("does it?"))), fake.Say("nothing but the old"))
	w.start()
	w.contains("/branch before all", p.command("/branch"), "nothing to branch from")
	p.ask("run it", "it runs")
	old := p.current()
	at.reached()
	w.contains("/branch", p.command("/branch"), "branch", old.ID)
	branch := p.current()
	if branch.ID == old.ID || branch.Parent != old.ID {
		t.Errorf("the branch of %s is %s, parent %q", old.ID, branch.ID, branch.Parent)
	}
	if s := read[session](w, "sessions", "show", old.ID); s.State != "ended" || s.EndReason != "branched" {
		t.Errorf("the old one is %s, %q", s.State, s.EndReason)
	}
	w.contains("/sessions", p.command("/sessions"), "run it (branch)", branch.ID, old.ID)
	w.contains("/status", p.command("/status"), branch.ID, "1 process(es)")
	p.ask("does it?", "it does")
	w.kill()
	w.start()
	at.open()
	p.sees("told in the branch")
	p.once("told in the branch")
	w.contains("/resume", p.command("/resume "+old.ID), old.ID)
	p.ask("back?", "nothing but the old")
	w.until("nothing is left in the queue", func() bool { return len(w.queue()) == 0 })
}

// /branch during a turn: it stops and says nothing more, and the text that waited is answered in the branch.
func TestBranchDuringATurn(t *testing.T) {
	w := newWorld(t, settings{"display.busy_input": "queue"})
	p := w.inGroup()
	free := make(chan struct{})
	w.model.When(fake.Says("slow"), fake.Held(free, fake.Say("said too late")))
	w.answers("waiting words", "answered in the branch")
	w.start()
	p.say("slow")
	w.isAsked("a slow turn", fake.Says("slow"))
	p.say("waiting words")
	w.until("it waits", func() bool { return strings.Contains(p.command("/status"), "1 text(s)") })
	w.contains("/branch", p.command("/branch"), "is stopped")
	p.sees("answered in the branch")
	close(free)
	w.hidden("said too late")
	p.once("answered in the branch")
}

// /retry asks the same text again, and the model does not know of its first answer; /undo takes an exchange out of its
// mind. Nothing is erased, and what is told is told in words.
func TestRetryAndUndo(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.answers("my name is Ada", "hello Ada")
	w.model.When(fake.All(fake.Says("a poem"), fake.Not(knows("first poem"))), fake.Say("the first poem"), fake.Say("the second poem"))
	w.model.When(fake.All(fake.Says("what do you know?"), knows("Ada"), fake.Not(knows("poem"))), fake.Say("your name"))
	w.model.When(fake.All(fake.Says("and now?"), fake.Not(knows("Ada"))), fake.Say("I know nobody"))
	w.start()
	w.contains("/retry before all", p.command("/retry"), "nothing to ask again")
	w.contains("/undo before all", p.command("/undo"), "nothing to undo")
	p.ask("my name is Ada", "hello Ada")
	p.ask("a poem", "the first poem")
	w.contains("/retry", p.command("/retry"), "Asked again", "a poem")
	p.sees("the second poem")
	p.once("the first poem")
	w.contains("/undo", p.command("/undo"), "Undone", "a poem")
	p.ask("what do you know?", "your name")
	w.contains("/undo", p.command("/undo"), "what do you know?")
	w.kill()
	w.start()
	w.contains("/undo", p.command("/undo"), "my name is Ada")
	p.ask("and now?", "I know nobody")
	w.contains("sessions show", w.do("sessions", "show", p.current().ID), "the first poem", "(set aside)", "/undo:")
	var aside, force []string
	for _, e := range read[session](w, "sessions", "show", p.current().ID).Entries {
		switch {
		case e.SetAside:
			aside = append(aside, e.Content)
		case e.Kind != "cut":
			force = append(force, e.Content)
		}
	}
	if got := strings.Join(force, "|"); got != "and now?|I know nobody" {
		t.Errorf("in force is %q", got)
	}
	if len(aside) != 7 { // three exchanges, one with two answers
		t.Errorf("set aside are %q", aside)
	}
}

// /retry during a turn stops it first; its late answer is said nowhere.
func TestRetryDuringATurn(t *testing.T) {
	w := newWorld(t, nil)
	p := w.inTopic()
	free := make(chan struct{})
	w.model.When(fake.Says("slow"), fake.Held(free, fake.Say("said too late")), fake.Say("in time"))
	w.start()
	p.say("slow")
	w.isAsked("a slow turn", fake.Says("slow"))
	w.contains("/retry", p.command("/retry"), "Asked again", "slow")
	p.sees("in time")
	close(free)
	w.hidden("said too late")
	p.once("in time")
}

// session.idle_reset: who comes back after the silence is told why the agent does not remember, before it answers; what
// still ran is told in the new conversation, and the old one is found again.
func TestIdleReset(t *testing.T) {
	w := newWorld(t, settings{"session.idle_reset": "1ms"}) // over before its person can say anything
	p, at := w.direct(), w.gate("gate")
	w.model.Script(fake.Says("run it"), background(at.then("echo over")), fake.Say("it runs"))
	w.model.When(fake.All(fake.Says("good morning"), fake.Not(knows("run it"))), fake.Say("who are you?"))
	w.model.When(fake.All(fake.Notice("process", "over"), knows("good morning")), fake.Say("told to who is there"))
	w.model.When(fake.All(fake.Says("back?"), knows("run it")), fake.Say("as before"))
	w.start()
	p.ask("run it", "it runs")
	old := p.current()
	at.reached()
	w.contains("what comes first", p.command("good morning"), "A new conversation begins", "session.idle_reset is ", old.ID)
	p.sees("who are you?")
	if s := read[session](w, "sessions", "show", old.ID); s.EndReason != "idle" || p.current().Parent != old.ID {
		t.Errorf("the old one ended by %q, the new one goes on from %q", s.EndReason, p.current().Parent)
	}
	at.open()
	p.sees("told to who is there")
	p.once("told to who is there")
	w.stop()
	w.config["session.idle_reset"] = "1h"
	w.configure()
	w.start()
	w.contains("/resume", p.command("/resume "+old.ID), "Back in")
	p.ask("back?", "as before")
}
