package e2e

import (
	"slices"
	"strings"
	"testing"

	fake "github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

// contains holds that a text has all parts.
func (w *world) contains(what, text string, parts ...string) {
	w.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			w.Errorf("%s lacks %q: %q", what, part, text)
		}
	}
}

// Every command answers at once, also while a turn runs, and no command enters a transcript or reaches a model.
func TestCommands(t *testing.T) {
	w := newWorld(t, nil)
	p, at := w.direct(), w.gate("gate")
	free, home := make(chan struct{}), make(chan struct{})
	w.model.Script(fake.Says("begin"), background(at.wait()), delegate("the goal"), fake.Say("begun"))
	w.model.When(fake.Brief("the goal"), fake.Held(home, fake.Say("the summary")))
	w.model.When(fake.Says("slow"), fake.Held(free, fake.Say("at last")))
	w.model.When(fake.Notice("delegation", "the summary"), fake.Say("the report"))
	w.start()
	w.contains("/status before all", p.command("/status"), "No conversation here yet", "fake-1", "telegram up")
	w.contains("/sessions before all", p.command("/sessions"), "no conversation here yet")
	w.contains("/why before all", p.command("/why"), "No result has come here by itself yet")
	p.ask("begin", "begun")
	s := p.current()
	at.reached()
	p.say("slow")
	w.isAsked("a slow turn", fake.Says("slow"))

	w.contains("/help", p.command("/help"), "/new", "/stop", "/status", "/sessions", "/resume", "/branch", "/retry", "/undo", "/compact", "/tasks", "/undelivered", "/why", "/whoami")
	w.contains("/whoami", p.command("/whoami"), "1001", "Owner", "telegram", p.route(), "admin")
	w.contains("/status", p.command("/status"), s.ID, "turn 2 (running", "1 delegation(s), 1 process(es)", "fake-1", "telegram up")
	w.contains("/sessions", p.command("/sessions"), "1. begin", s.ID, "current")
	w.contains("/tasks", p.command("/tasks"), "del_", "sub_", "the goal", "proc_", "cat gate")
	w.contains("/undelivered", p.command("/undelivered"), "Nothing is undelivered here")
	w.contains("/resume 9", p.command("/resume 9"), "There is no number 9")
	w.contains("/resume", p.command("/resume"), "Which one?", s.ID)
	w.contains("/resume 1", p.command("/resume 1"), "that conversation already")
	w.contains("/resume of nothing", p.command("/resume ses_00000000"), "ses_00000000")
	w.contains("/nonsense", p.command("/nonsense with words"), "I don't know /nonsense", "/help")
	w.contains("/queue", p.command("/queue x"), "not available in this version")
	w.contains("!status", p.command("!status"), s.ID)
	w.contains("/STATUS", p.command("/STATUS"), s.ID)

	close(free)
	p.sees("at last")
	asks := len(w.model.Asks())
	close(home)
	p.sees("the report")
	var report queued
	w.until("the report is on record as sent", func() bool {
		i := slices.IndexFunc(w.queue("--all"), func(q queued) bool { report = q; return q.Text == "the report" && q.State == "sent" })
		return i >= 0
	})
	w.contains("/why", p.command("/why"), "what a subagent brought back on “the goal” (completed)", "what you asked for at", "“begin”",
		"proved to belong to this conversation", "sent at", "as message "+report.Parts[0].MessageID, "homing trace cmp_")
	if asks != 5 { // three by the first turn, one by the second, one by the subagent
		t.Errorf("the model was asked %d times: a command reached it", asks)
	}
	for _, a := range w.model.Asks() {
		if text := transcript(a); strings.Contains(text, "/status") || strings.Contains(text, "/help") || strings.Contains(text, "!status") || strings.Contains(text, "I don't know") {
			t.Errorf("a command is in a transcript: %q", text)
		}
	}
	p.unmoved(s)
}

// What only looks like a command goes to the agent.
func TestNoCommands(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.start()
	for _, text := range []string{"/etc/hosts is a file", "!important", "1 /status", "/2 is a half"} {
		w.answers(text, "answer to "+text)
		p.ask(text, "answer to "+text)
	}
}

// /stop ends the running turn with its command, at once; what was waiting is named, and the conversation goes on.
func TestStop(t *testing.T) {
	w := newWorld(t, settings{"display.busy_input": "queue"})
	p, at := w.direct(), w.gate("gate")
	w.model.When(fake.Says("and then"), fake.Say("goes on"))
	w.model.Script(fake.Says("run it"), foreground(at.wait()), fake.Say("never said"))
	w.start()
	p.say("run it")
	at.reached()
	s := p.current()
	p.say("waiting words")
	w.until("it waits", func() bool { return strings.Contains(p.command("/status"), "1 text(s)") })
	w.contains("/stop", p.command("/stop"), "Stopped", "waiting words")
	w.processIs("gate", "killed")
	w.contains("/stop again", p.command("/stop"), "nothing to stop")
	p.ask("and then", "goes on")
	w.hidden("never said")
	p.unmoved(s)
}

// /new stops the running turn, whose late answer is said nowhere, and names the texts that are not run; /sessions and
// /resume lead back [U-09], also after a restart.
func TestNewAndBack(t *testing.T) {
	w := newWorld(t, settings{"display.busy_input": "queue"})
	p := w.inGroup()
	free := make(chan struct{})
	w.answers("first words", "first answer")
	w.model.When(fake.All(fake.Says("back?"), knows("first words")), fake.Say("welcome back"))
	w.model.When(fake.Says("slow"), fake.Held(free, fake.Say("said too late")))
	w.start()
	p.ask("first words", "first answer")
	old := p.current()
	p.say("slow")
	w.isAsked("a slow turn", fake.Says("slow"))
	p.say("waiting words")
	w.until("it waits", func() bool { return strings.Contains(p.command("/status"), "1 text(s)") })
	w.contains("/new", p.command("/new"), "A new conversation begins", old.ID, "waiting words")
	close(free)
	w.answers("fresh words", "fresh answer")
	p.ask("fresh words", "fresh answer")
	if s := p.current(); s.RouteVersion != old.RouteVersion+1 {
		t.Errorf("the route's version went from %d to %d", old.RouteVersion, s.RouteVersion)
	}
	w.hidden("said too late")
	w.stop()
	w.start()
	w.contains("/sessions", p.command("/sessions"), "1. fresh words", "2. first words")
	w.contains("/resume", p.command("/resume 2"), old.ID, "first words")
	p.ask("back?", "welcome back")
	if s := p.current(); s.ID != old.ID {
		t.Errorf("the place is in %s, want %s", s.ID, old.ID)
	}
	if n := len(w.asked(fake.Says("waiting words"))); n != 0 {
		t.Error("a text that was not to be run was run")
	}
	other := w.in("guest", guest, 0, guest)
	if text := other.command("/resume " + old.ID); strings.Contains(text, "Back in") || p.current().ID != old.ID {
		t.Errorf("a conversation that is live in another place was resumed: %q", text)
	}
}
