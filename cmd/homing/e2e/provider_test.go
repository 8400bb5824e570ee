package e2e

import (
	"testing"
	"time"

	fake "github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

// A model that has no time, fails, or breaks off is asked again; nobody is told, and the answer comes once.
func TestModelThatHeals(t *testing.T) {
	for name, first := range map[string]fake.Answer{
		"429":          fake.Fail(429, "slow down", "Retry-After", "1"),
		"500":          fake.Fail(500, "out of order"),
		"a cut stream": fake.Stream(fake.Text("half of an ans"), fake.Cut()),
		"no bytes":     fake.Drop(),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			p := w.direct()
			w.start()
			w.model.When(fake.Says("hello"), first, fake.Say("the whole answer"))
			began := time.Now()
			p.say("hello")
			p.sees("the whole answer")
			p.once("the whole answer")
			p.times("half of", 0)
			if time.Since(began) < time.Second {
				t.Error("the model was not given the time that it asked for")
			}
			if n := len(w.asked(fake.Says("hello"))); n != 2 {
				t.Errorf("asked %d times, want twice", n)
			}
		})
	}
}

// A model that will never take the request ends the turn, in words; the conversation goes on. What a delegation brought is
// not lost by it.
func TestModelThatRefuses(t *testing.T) {
	for name, answer := range map[string]fake.Answer{
		"400": fake.Fail(400, "this model does not like you"),
		"401": fake.Fail(401, "this model does not like you"),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			p := w.direct()
			w.start()
			w.answers("once more", "better now")
			w.model.When(fake.Says("hello"), answer)
			w.model.Script(fake.Says("delegate it"), delegate("the goal"), fake.Say("it is delegated"))
			w.model.When(fake.Brief("the goal"), fake.Say("the summary"))
			w.model.When(fake.Notice("delegation", "the summary"), answer)
			p.ask("hello", "does not like you")
			if n := len(w.asked(fake.Says("hello"))); n != 1 {
				t.Errorf("asked %d times, want once", n)
			}
			p.ask("once more", "better now")
			p.say("delegate it")
			p.sees("the summary")
			p.once("the summary")
			w.dead("completion", "turn_failed")
		})
	}
}

// A model that is away costs nothing: what waits for it is answered when it is back, also after a restart.
func TestModelIsAway(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.start()
	w.model.When(fake.Says("hello"), fake.Fail(503, "away"), fake.Fail(503, "away"), fake.Say("back again"))
	p.say("hello")
	w.until("it was asked", func() bool { return len(w.asked(fake.Says("hello"))) == 1 })
	w.kill()
	w.start()
	p.sees("back again")
	p.once("back again")
}

// A turn ends after its limit of model calls, in words.
func TestMaxIterations(t *testing.T) {
	w := newWorld(t, settings{"agent.max_iterations": 3})
	p := w.direct()
	w.start()
	w.answers("and now?", "done with it")
	w.model.When(fake.Says("for ever"), foreground("true"))
	p.ask("for ever", "I stopped after 3 model calls")
	if n := len(w.asked(fake.Says("for ever"))); n != 3 {
		t.Errorf("%d model calls, want 3", n)
	}
	p.ask("and now?", "done with it")
}
