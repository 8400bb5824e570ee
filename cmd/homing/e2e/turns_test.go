package e2e

import (
	"strings"
	"testing"
	"time"

	fake "github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

// An answer that says nothing is said in words; a turn that nobody asked for may be silent, but a delegation's result is
// never kept back.
func TestSilence(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.start()
	w.model.Script(fake.Says("run it"), background("echo figures"), fake.Say("it runs"))
	w.model.When(fake.Says("say nothing"), fake.Say(""))
	p.ask("say nothing", "without saying anything")
	w.model.When(fake.Notice("process", "figures"), fake.Say("[SILENT]"))
	p.ask("run it", "it runs")
	w.isAsked("the process's end", fake.Notice("process", "figures"))
	w.model.Script(fake.Says("delegate it"), delegate("the goal"), fake.Say("it is delegated"))
	w.model.When(fake.Brief("the goal"), fake.Say("the summary"))
	w.model.When(fake.Notice("delegation", "the summary"), fake.Say("NO_REPLY"))
	p.say("delegate it")
	p.sees("the summary")
	p.once("the summary")
	w.hidden("SILENT")
	w.hidden("NO_REPLY")
	w.hidden("figures")
}

// A process of the conversation that is not to be told of gives a receipt and no turn.
func TestReceipts(t *testing.T) {
	for mode, want := range map[string]string{"concise": "✖ echo figures; exit 3 exited 3", "result": "\nfigures", "error": "exited 3", "off": ""} {
		t.Run(mode, func(t *testing.T) {
			w := newWorld(t, settings{"display.background_process_notifications": mode})
			p := w.direct()
			w.start()
			quiet := args{"command": "echo figures; exit 3", "background": true, "notify": false}
			w.model.Script(fake.Says("run it"), fake.Call("terminal", quiet), fake.Say("it runs"))
			p.ask("run it", "it runs")
			w.processIs("figures", "exited")
			if want != "" {
				p.sees(want)
				p.once("exited 3")
			}
			w.never("a turn opens", func() bool { return len(w.asked(fake.Notice("process"))) > 0 })
			if want == "" && len(p.messages()) != 1 {
				t.Errorf("seen: %q", p.seen())
			}
		})
	}
}

// A time-out shorter than the promotion kills a foreground command and says so; a person's text lets one go on in the
// background at once.
func TestForegroundCommands(t *testing.T) {
	w := newWorld(t, nil)
	p, at := w.direct(), w.gate("gate")
	w.start()
	w.model.Script(fake.Says("hurry"), fake.Call("terminal", args{"command": "echo begun; sleep 30", "timeout": 0.3}), fake.Dynamic(func(a fake.Ask) fake.Answer {
		return fake.Say("result: " + a.LastResult())
	}))
	p.ask("hurry", "result: ")
	if seen := p.seen(); !strings.Contains(seen, `"status":"timeout"`) || !strings.Contains(seen, `"exit_code":null`) || !strings.Contains(seen, "begun") {
		t.Errorf("seen: %q", seen)
	}
	w.model.When(fake.All(fake.Says("never mind"), knows("promoted_after_seconds")), fake.Say("it goes on without me"))
	w.model.Script(fake.Says("take your time"), foreground(at.then("echo figures")))
	w.model.When(fake.Notice("process", "figures"), fake.Say("the figures are there"))
	p.say("take your time")
	at.reached()
	began := time.Now()
	p.ask("never mind", "it goes on without me")
	if time.Since(began) > 10*time.Second {
		t.Error("the text waited for the command")
	}
	at.open()
	p.sees("the figures are there")
}
