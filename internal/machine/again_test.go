package machine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/machine"
)

// What a cut sets aside: the agent's words and calls, with texts the people's as well; never a notice, nor what came later.
func TestInForce(t *testing.T) {
	entry := func(kind machine.EntryKind, completion string) machine.Entry {
		e := machine.Entry{Kind: kind}
		if completion != "" {
			e.Completion = "cmp_1"
		}
		return e
	}
	transcript := func(cuts ...machine.Entry) (out []machine.Entry) {
		out = []machine.Entry{
			entry(machine.EntrySummary, ""), entry(machine.EntryUser, ""), entry(machine.EntryAssistant, ""), // 1 to 3
			entry(machine.EntryUser, ""), entry(machine.EntryAssistant, ""), entry(machine.EntryTool, ""), // 4 to 6
			entry(machine.EntryNotice, "told"), entry(machine.EntryNotice, ""), entry(machine.EntryAssistant, ""), // 7 to 9
		}
		for _, c := range cuts {
			c.Kind = machine.EntryCut
			out = append(out, c, entry(machine.EntryUser, ""), entry(machine.EntryAssistant, "")) // 10 to 12, 13 to 15
		}
		for i := range out {
			out[i].Seq = uint64(i + 1)
		}
		return out
	}
	for name, tt := range map[string]struct {
		cuts []machine.Entry
		want string
	}{
		"none":                {nil, "1 2 3 4 5 6 7 8 9"},
		"retry":               {[]machine.Entry{{From: 4}}, "1 2 3 4 7 11 12"},
		"undo":                {[]machine.Entry{{From: 4, Texts: true}}, "1 2 3 7 11 12"},
		"undo of all":         {[]machine.Entry{{From: 2, Texts: true}}, "1 7 11 12"},
		"retry, then undo":    {[]machine.Entry{{From: 4}, {From: 11, Texts: true}}, "1 2 3 4 7 14 15"},
		"undo, and again":     {[]machine.Entry{{From: 4, Texts: true}, {From: 2, Texts: true}}, "1 7 14 15"},
		"nothing is left out": {[]machine.Entry{{From: 10, Texts: true}}, "1 2 3 4 5 6 7 8 9 11 12"},
	} {
		var got []string
		for _, e := range machine.InForce(transcript(tt.cuts...)) {
			got = append(got, fmt.Sprint(e.Seq))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %v, want %s", name, got, tt.want)
		}
	}
}

// /undo goes back as far as is remembered, and no farther.
func TestUndoGoesBack(t *testing.T) {
	u := newUnit(t)
	for i := range machine.MaxAsked + 2 {
		_, effects := u.do(message(fmt.Sprintf("words %d", i)))
		person, _ := steps(effects)
		u.do(answered(person, "yes"))
	}
	m := message("/undo")
	m.Command = &machine.Command{Name: machine.CommandUndo}
	for i := range machine.MaxAsked {
		if a, _ := u.do(m); !strings.Contains(a.Text, fmt.Sprintf("“words %d”", machine.MaxAsked+1-i)) {
			t.Errorf("undone is %q", a.Text)
		}
	}
	if a, _ := u.do(m); !strings.Contains(a.Text, "nothing to undo") {
		t.Errorf("undone is %q", a.Text)
	}
}

// Work that an exchange has started is not stopped by taking the exchange back; its person is told so.
func TestUndoTellsWhatGoesOn(t *testing.T) {
	for _, name := range []string{machine.CommandUndo, machine.CommandRetry} {
		u := newUnit(t)
		_, effects := u.do(message("look"))
		person, _ := steps(effects)
		_, effects = u.do(answered(person, "", agent.Call{ID: "c", Name: "delegate_task", Arguments: `{"goal":"look"}`}))
		person, child := steps(effects)
		u.do(answered(person, "On it."))
		m := message("/" + name)
		m.Command = &machine.Command{Name: name}
		if a, _ := u.do(m); !strings.Contains(a.Text, "“look”") || !strings.Contains(a.Text, "goes on") {
			t.Errorf("/%s says %q", name, a.Text)
		}
		u.do(answered(child, "found")) // its turn is still the current one
	}
}

// Who stopped nothing changes nothing: what a retried turn still reports is stale.
func TestRetriedTurnIsOver(t *testing.T) {
	u := newUnit(t)
	_, effects := u.do(message("first"))
	old, _ := steps(effects)
	second := message("second")
	u.do(second)
	m := message("/retry")
	m.Command = &machine.Command{Name: machine.CommandRetry}
	a, effects := u.do(m)
	again, _ := steps(effects)
	if again == nil || again.Turn.ID == old.Turn.ID || again.Turn.Texts != 2 || again.Turn.ReplyTo != "9" || !strings.Contains(a.Text, "“first”") {
		t.Fatalf("asked again: %+v, %q", again, a.Text)
	}
	o := u.st.Overlay()
	if _, err := o.Apply(u.at.Add(time.Second), answered(old, "late")); err == nil {
		t.Error("the answer of the old run is taken")
	}
}
