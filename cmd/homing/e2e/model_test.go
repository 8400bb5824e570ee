package e2e

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	fake "github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

type args map[string]any

// background starts a command in the background.
func background(command string) fake.Answer {
	return fake.Call("terminal", args{"command": command, "background": true})
}

// foreground runs a command and waits for it.
func foreground(command string) fake.Answer { return fake.Call("terminal", args{"command": command}) }

// delegate gives a goal to a subagent.
func delegate(goal string) fake.Answer { return fake.Call("delegate_task", args{"goal": goal}) }

// manage does something with the process that was started last.
func manage(action, data string) fake.Answer {
	return fake.Dynamic(func(a fake.Ask) fake.Answer {
		return fake.Call("process_manage", args{"action": action, "process_id": a.Field("process_id"), "data": data})
	})
}

// transcript is all that a request holds beside the system prompt.
func transcript(a fake.Ask) string {
	var b strings.Builder
	for _, m := range a.Messages {
		if m.Role != "system" {
			b.WriteString(m.Text + "\n")
			for _, c := range m.Calls {
				b.WriteString(c.Arguments + "\n")
			}
		}
	}
	return b.String()
}

// knows matches requests whose transcript holds all the words.
func knows(words ...string) fake.Match {
	return func(a fake.Ask) bool {
		for _, x := range words {
			if !strings.Contains(transcript(a), x) {
				return false
			}
		}
		return true
	}
}

// asked are the requests so far that match.
func (w *world) asked(m fake.Match) []fake.Ask {
	var out []fake.Ask
	for _, a := range w.model.Asks() {
		if m(a) {
			out = append(out, a)
		}
	}
	return out
}

// isAsked waits for a request that matches, and returns the first.
func (w *world) isAsked(what string, m fake.Match) fake.Ask {
	w.Helper()
	w.until("the model is asked: "+what, func() bool { return len(w.asked(m)) > 0 })
	return w.asked(m)[0]
}

// answers scripts a plain answer to a text.
func (w *world) answers(text, answer string) { w.model.When(fake.Says(text), fake.Say(answer)) }

// gate is a FIFO in the workspace, on which a command waits until the test opens it.
type gate struct {
	w    *world
	name string
	held *os.File
}

func (w *world) gate(name string) *gate {
	w.Helper()
	if err := syscall.Mkfifo(w.workspace(name), 0o600); err != nil {
		w.Fatal(err)
	}
	return &gate{w: w, name: name}
}

// wait is the command that waits.
func (g *gate) wait() string { return fmt.Sprintf("cat %s >/dev/null", g.name) }

// then is the command that waits and then does more.
func (g *gate) then(more string) string { return g.wait() + "; " + more }

// reached waits until a command stands before the gate.
func (g *gate) reached() {
	g.w.Helper()
	g.w.until("a command waits for "+g.name, func() bool {
		f, err := os.OpenFile(g.w.workspace(g.name), os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return false
		}
		g.held = f
		g.w.Cleanup(func() { _ = f.Close() }) // and not before: a file that nobody knows is closed
		return true
	})
}

// open lets the command go on.
func (g *gate) open() {
	g.w.Helper()
	if g.held == nil {
		g.reached()
	}
	_ = g.held.Close()
	g.held = nil
}
