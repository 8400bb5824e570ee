package e2e

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
	fake "github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

// A person who writes while the model still thinks waits neither for the wait nor for the command that it then asks for.
func TestTextBeforeTheCall(t *testing.T) {
	for name, second := range map[string]fake.Answer{
		"wait": fake.Dynamic(func(a fake.Ask) fake.Answer {
			return fake.Call("process_manage", args{"action": "wait", "process_id": a.Field("process_id"), "timeout": 600})
		}),
		"foreground": foreground("sleep 30"),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			p := w.direct()
			w.start()
			free := make(chan struct{})
			w.model.When(fake.Says("stop that"), fake.Say("I hear you"))
			w.model.Script(fake.Says("begin"), background("sleep 100"), fake.Held(free, second), fake.Say("late"))
			p.say("begin")
			w.isAsked("the second step", fake.All(fake.Says("begin"), fake.Step(1)))
			p.say("stop that")
			w.until("the text is taken", func() bool { return w.tg.Waiting() == 0 })
			close(free)
			p.sees("I hear you")
		})
	}
}

// A refused --session says so, says nothing to anybody else, and fails.
func TestChatWithARefusedSession(t *testing.T) {
	w := newWorld(t, nil)
	w.start()
	w.answers("hello", "hi there")
	p := w.direct()
	p.ask("hello", "hi there")
	for _, id := range []string{p.current().ID, "ses_ZZZZZZZZ", "nonsense"} {
		if r := w.run("chat", "--session", id, "the secret"); r.code != 1 || r.err == "" {
			t.Errorf("--session %s: %+v", id, r)
		}
	}
	if asked := w.asked(fake.Says("the secret")); len(asked) != 0 {
		t.Errorf("it was said to %d conversations", len(asked))
	}
}

// The grace of a drain is the whole grace, whatever hangs.
func TestDrainEndsInTime(t *testing.T) {
	w := newWorld(t, settings{"drain": "500ms", "delivery.send_timeout": "1m"})
	p := w.direct()
	w.start()
	w.answers("hello", "hi there")
	w.tg.Add(faketelegram.Fault{Method: "sendMessage", Hang: true, Times: 1})
	p.say("hello")
	w.until("a send hangs", func() bool { return len(w.tg.Calls("sendMessage")) > 0 })
	began := time.Now()
	w.signal(syscall.SIGTERM)
	if code := w.exit(); code != 76 || time.Since(began) > 10*time.Second {
		t.Errorf("ended with %d after %s", code, time.Since(began))
	}
	w.start()
	p.sees("hi there")
}

// Two signals are an operator in a hurry and no crash: a turn survives any number of them.
func TestHurryIsNoCrash(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.start()
	free := make(chan struct{})
	w.model.When(fake.Says("slow"), fake.Held(free, fake.Say("at last")))
	p.say("slow")
	for i := range 3 {
		w.until("the turn runs", func() bool { return len(w.asked(fake.Says("slow"))) == i+1 })
		w.signal(syscall.SIGTERM)
		w.until("it drains", func() bool { return strings.Count(w.log(), "gateway drains") == i+1 })
		w.signal(syscall.SIGTERM)
		if code := w.exit(); code != 76 {
			t.Errorf("exit code %d", code)
		}
		w.start()
	}
	close(free)
	p.sees("at last")
}

// What the agent puts in the place of its workspace's notes stops nobody.
func TestOddNotes(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.start()
	w.model.Script(fake.Says("make a pipe"), foreground("mkfifo AGENTS.md"), fake.Say("made"))
	w.model.Script(fake.Says("make it huge"), foreground("rm AGENTS.md; truncate -s 2G AGENTS.md"), fake.Say("grown"))
	p.ask("make a pipe", "made")
	p.ask("make it huge", "grown")
	w.answers("hello", "hi there")
	p.ask("hello", "hi there")
}

// P-01: a command that ends and leaves something running says so, and what it left is a process like any other.
func TestLeftRunning(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.start()
	w.model.Script(fake.Says("leave"), foreground("(sleep 1; echo the rest) & echo begun"), fake.Say("left it"))
	w.model.When(fake.Notice("process", "the rest"), fake.Say("all of it is done"))
	p.say("leave")
	ask := w.isAsked("the result", fake.All(fake.Says("leave"), fake.AfterStep(1)))
	if result := ask.LastResult(); !strings.Contains(result, `"left_running":true`) || !strings.Contains(result, "proc_") {
		t.Errorf("the result is %s", result)
	}
	p.sees("left it")
	p.sees("all of it is done")
}

// A model that is away is told of after a while, and holds up neither a command nor a one-shot chat.
func TestAbsentModelIsToldOf(t *testing.T) {
	w := newWorld(t, settings{"agent.base_url": "http://127.0.0.1:1/v1"})
	p := w.direct()
	w.start()
	p.say("hello")
	if r := w.run("chat", "hello from here"); r.code != 0 || !strings.Contains(r.out, "does not answer") {
		t.Errorf("homing chat: %+v", r)
	}
	if r := w.run("chat", "/status"); r.code != 0 || !strings.Contains(r.out, "waiting_for_environment") {
		t.Errorf("homing chat /status: %+v", r)
	}
	p.sees("does not answer")
	if text := p.command("/stop"); !strings.Contains(text, "Stopped") {
		t.Errorf("/stop: %s", text)
	}
}
