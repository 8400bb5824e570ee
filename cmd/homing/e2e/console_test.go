package e2e

import (
	"strings"
	"testing"

	fake "github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

// homing chat says a message and prints its answer; what was said meanwhile comes first, once.
func TestConsole(t *testing.T) {
	w := newWorld(t, nil)
	w.model.Script(fake.Says("delegate it"), delegate("the goal"), fake.Say("it is delegated"))
	home := make(chan struct{})
	w.model.When(fake.Brief("the goal"), fake.Held(home, fake.Say("the summary")))
	report := w.model.When(fake.Notice("delegation", "the summary"), fake.Say("the report"))
	w.model.When(fake.All(fake.Says("and now?"), knows("delegate it")), fake.Say("the answer"))
	w.start()
	if out := w.do("chat", "delegate", "it"); out != "it is delegated\n" {
		t.Errorf("printed: %q", out)
	}
	close(home)
	w.until("the result opens a turn although nobody reads", func() bool { return report.Hits() == 1 })
	w.until("the report waits for a terminal", func() bool {
		q := w.queue()
		return len(q) == 1 && strings.Contains(q[0].Text, "the report")
	})
	if out := w.do("chat", "and now?"); out != "the report\nthe answer\n" {
		t.Errorf("printed: %q", out)
	}
	if q := w.queue(); len(q) != 0 {
		t.Errorf("left in the queue: %+v", q)
	}
	w.hidden("the report")
}

// Without a message homing chat reads its input line by line; each answer comes before the next line is said. Commands work
// there too, and --session goes back to another conversation.
func TestConsoleOverInput(t *testing.T) {
	w := newWorld(t, nil)
	p := w.console()
	w.answers("one", "answer one")
	w.model.When(fake.All(fake.Says("two"), knows("one")), fake.Say("answer two"))
	w.model.When(fake.All(fake.Says("three"), fake.Not(knows("one"))), fake.Say("answer three"))
	w.model.When(fake.All(fake.Says("four"), knows("one")), fake.Say("answer four"))
	w.start()
	if r := w.input("one\n\ntwo\n", "chat"); r.code != 0 || r.out != "answer one\nanswer two\n" {
		t.Errorf("code %d, printed: %q", r.code, r.out)
	}
	old := p.current()
	r := w.input("/new\nthree\n/nonsense\n", "chat")
	w.contains("the dialogue", r.out, "A new conversation begins", "answer three", "I don't know /nonsense")
	r = w.input("", "chat", "--session", old.ID, "four")
	w.contains("the dialogue", r.out, "Back in the conversation "+old.ID, "answer four")
	if r.code != 0 || p.current().ID != old.ID {
		t.Errorf("code %d, the console is in %s", r.code, p.current().ID)
	}
}

// A command whose outcome comes later is waited for like an answer: its report is the last thing that is printed.
func TestConsoleWaitsForTheOutcome(t *testing.T) {
	w := newWorld(t, nil)
	p, free := w.console(), make(chan struct{})
	w.model.When(fake.Summary(), fake.Held(free, fake.Say("they talked")))
	w.start()
	r := w.input("", "chat", "/selftest")
	w.contains("the self-test", r.out, "The self-test begins", "Self-test: all ")
	p.chatter(0, 3)
	printed := make(chan result)
	go func() { printed <- w.input("", "chat", "/compact") }()
	w.isAsked("a summary", fake.Summary())
	w.contains("/status", w.do("chat", "/status"), "is being summed up")
	close(free)
	r = <-printed
	w.contains("the summary", r.out, "I sum the conversation up", "Summed up: ")
}

// A daemon that dies under a terminal says so with the code for "no daemon"; what was said is kept and answered, and the
// answer is the first thing that the next terminal shows.
func TestConsoleOutlivesTheDaemon(t *testing.T) {
	w := newWorld(t, nil)
	w.answers("hello", "the answer")
	w.answers("again", "once more")
	w.startToDieAt("answered.after")
	w.fails(68, "what was said is kept", "chat", "hello")
	w.exit()
	w.fails(68, "no daemon is running", "chat", "nobody hears this")
	w.start()
	w.until("the answer is ready", func() bool { return len(w.queue()) == 1 })
	out := w.do("chat", "again")
	if strings.Count(out, "the answer") != 1 || !strings.HasSuffix(out, "once more\n") {
		t.Errorf("printed: %q", out)
	}
	if n := len(w.asked(fake.Says("hello"))); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}
