package machine_test

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/machine"
)

// tell writes what a step did: the transitions, what entered transcripts, and what is asked for.
func (w *world) tell(s step, journal []machine.Record) {
	var refusal *machine.Refusal
	switch {
	case errors.As(s.err, &refusal):
		w.printf("refused: %s", w.names.shorten(refusal.Text))
	case s.err != nil:
		w.printf("%v", s.err)
	case s.answer.Duplicate:
		w.printf("taken before")
	case s.answer.Text != "":
		w.printf("answer: %s", w.flat(s.answer.Text))
	}
	if s.lost {
		return
	}
	for _, r := range journal {
		w.tellRecord(r)
	}
	for _, c := range s.changes {
		if e, ok := c.Value.(machine.Entry); ok {
			w.tellEntry(e)
		}
	}
	for _, e := range s.effects {
		w.tellEffect(e.Effect)
	}
}

func (w *world) tellRecord(r machine.Record) {
	switch r.Kind {
	case "message", "action", "command":
		return // the transcript and the answer show it
	}
	line := r.Kind + " " + r.ID + " " + r.State
	if r.Session != "" && string(r.Session) != r.ID {
		line += " in " + string(r.Session)
	}
	if r.Kind == "route" && r.Cause != "" {
		line += " after " + r.Cause
	}
	if r.Why != "" {
		line += " (" + r.Why + ")"
	}
	w.printf("%s", w.flat(line))
}

func (w *world) tellEntry(e machine.Entry) {
	who := string(e.Kind)
	if e.Tool != "" {
		who = "tool " + e.Tool
	}
	if e.Speaker != "" {
		who += " " + e.Speaker
	}
	text := w.flat(e.Said("media"))
	for _, c := range e.Calls {
		text += fmt.Sprintf(" [%s %s]", c.Name, w.flat(c.Arguments))
	}
	w.printf("  %s | %s: %s", w.names.of(string(e.Session)), who, strings.TrimSpace(text))
}

func (w *world) tellEffect(e machine.Effect) {
	switch e := e.(type) {
	case machine.RunStep:
		w.printf("→ ask the model: %s step %d of %s", w.names.of(string(e.Turn.ID)), e.Turn.Step, w.names.of(string(e.Session.ID)))
	case machine.Compact:
		w.printf("→ sum up %s", w.names.of(string(e.Session.ID)))
	case machine.RunTool:
		w.printf("→ carry out %s: %s, at most %s", w.names.of(string(e.Action.ID)), w.flat(e.Action.Call.Arguments), e.Timeout)
	case machine.Tend:
		w.printf("→ tend %s: %s", w.names.of(string(e.Process.ID)), e.Process.Command)
	case machine.Kill:
		w.printf("→ kill %s: %s", w.names.of(string(e.Process)), e.Reason)
	case machine.Promote:
		w.printf("→ promote %s", w.names.of(string(e.Process)))
	case machine.Release:
		w.printf("→ release %s", w.names.of(string(e.Action)))
	case machine.Prepare:
		w.printf("→ prepare %s for %s: %s", w.names.of(string(e.Outgoing.ID)), placeOf(e.Outgoing.To), w.flat(e.Outgoing.Text))
	case machine.Transmit:
		text, _ := e.Outgoing.Body(e.Part)
		if e.Outgoing.Parts[e.Part].File {
			text = "[file " + e.Outgoing.File.Name + "] " + text
		}
		if edits := e.Outgoing.Parts[e.Part].Edits; edits != "" {
			w.printf("→ put %s part %d into %s in %s: %s", w.names.of(string(e.Outgoing.ID)), e.Part, edits, placeOf(e.Outgoing.To), w.flat(text))
			break
		}
		w.printf("→ send %s part %d to %s: %s", w.names.of(string(e.Outgoing.ID)), e.Part, placeOf(e.Outgoing.To), w.flat(text))
	case machine.Retract:
		w.printf("→ take back %s in %s", e.Preview.MessageID, placeOf(e.Preview.To))
	case machine.Observe:
		w.printf("→ look for %s part %d in %s", w.names.of(string(e.Outgoing.ID)), e.Part, placeOf(e.Outgoing.To))
	case machine.Examine:
		w.printf("→ examine %s", w.names.of(string(e.Delegation.ID)))
	case machine.Fetch:
		w.printf("→ fetch %s of %s: %s", w.names.shorten(e.File.Path), w.names.of(string(e.Session)), e.File.Label())
	case machine.Discard:
		w.printf("→ remove %s", w.names.shorten(strings.Join(e.Paths, " ")))
	case machine.Cancel:
		w.printf("→ cancel %s", w.names.of(string(e.Turn)))
	case machine.Wake:
		if e.ID != "prune" {
			w.printf("→ wake %s in %s", w.names.of(e.ID), e.At.Sub(w.now).Round(time.Millisecond))
		}
	}
}

// flat is a text on one line, with short names.
func (w *world) flat(text string) string {
	return strings.ReplaceAll(w.names.shorten(strings.TrimSpace(text)), "\n", " ⏎ ")
}

// placeOf names an address as the stories do.
func placeOf(a chat.Address) string {
	for name, p := range places() {
		p.Person, a.Person = "", ""
		if p == a && !strings.Contains(name, "/u") {
			return name
		}
	}
	return strings.TrimSuffix("chat "+a.Chat+" "+a.Thread, " ")
}

func callsOf(w *world, tokens []token) []agent.Call {
	var calls []agent.Call
	for i := 0; i < len(tokens); i++ {
		w.calls++
		c := agent.Call{ID: fmt.Sprintf("call-%d", w.calls), Name: tokens[i].text}
		if i+1 < len(tokens) && tokens[i+1].json {
			c.Arguments = w.names.expand(tokens[i+1].text)
			i++
		}
		calls = append(calls, c)
	}
	return calls
}
