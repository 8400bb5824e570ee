package machine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/machine"
)

// summary is one of all but the last entry of a conversation.
func summary(s *machine.RunStep, turn bool, entries uint64) machine.Compacted {
	r := machine.Compacted{
		Session: s.Session.ID, Generation: s.Session.Generation, Entries: entries, From: entries, Text: "in short", Before: 100, After: 10,
	}
	if turn {
		r.Turn = s.Turn.ID
	}
	return r
}

func person(name string) machine.Receive {
	m := message("/" + name)
	m.Command = &machine.Command{Name: name}
	return m
}

// A summary of what is not so any more is stale, one that is no gain is refused; neither changes anything.
func TestCompactedMeetsTheConversationItWasMadeFrom(t *testing.T) {
	call := agent.Call{ID: "c", Name: "terminal", Arguments: `{"command":"make"}`}
	for name, tt := range map[string]struct {
		then    func(*unit, *machine.RunStep) // what happened meanwhile
		busy    bool
		change  func(*machine.Compacted)
		refused bool
	}{
		"said meanwhile":        {then: func(u *unit, _ *machine.RunStep) { u.do(message("more")) }},
		"undone meanwhile":      {then: func(u *unit, _ *machine.RunStep) { u.do(person(machine.CommandUndo)) }},
		"stopped meanwhile":     {then: func(u *unit, _ *machine.RunStep) { u.do(person(machine.CommandStop)) }},
		"left meanwhile":        {then: func(u *unit, _ *machine.RunStep) { u.do(person(machine.CommandNew)) }},
		"branched meanwhile":    {then: func(u *unit, _ *machine.RunStep) { u.do(person(machine.CommandBranch)) }},
		"summed up meanwhile":   {then: func(u *unit, s *machine.RunStep) { u.do(summary(s, false, 2)) }},
		"the turn was stopped":  {busy: true, then: func(u *unit, _ *machine.RunStep) { u.do(person(machine.CommandStop)) }},
		"the turn is another":   {busy: true, change: func(c *machine.Compacted) { c.Turn = "trn_another" }},
		"the step was answered": {busy: true, then: func(u *unit, s *machine.RunStep) { u.do(answered(s, "yes")) }},
		"its calls are open":    {busy: true, then: func(u *unit, s *machine.RunStep) { u.do(answered(s, "", call)) }, change: func(c *machine.Compacted) { c.Entries++ }},
		"of what has ended": {
			then:   func(u *unit, s *machine.RunStep) { u.do(machine.EndSession{Session: s.Session.ID}) },
			change: func(c *machine.Compacted) { c.Generation++ },
		},
		"no session":              {change: func(c *machine.Compacted) { c.Session = "ses_nothing" }},
		"nobody waits to be told": {change: func(c *machine.Compacted) { c.Failed = "why" }},
		"an empty summary":        {change: func(c *machine.Compacted) { c.Text = " \n" }, refused: true},
		"one that is no shorter":  {change: func(c *machine.Compacted) { c.After = c.Before }, refused: true},
		"one of everything":       {change: func(c *machine.Compacted) { c.From = c.Entries + 1 }, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUnit(t)
			_, effects := u.do(message("one"))
			s, _ := steps(effects)
			r := summary(s, true, 1)
			if !tt.busy {
				u.do(answered(s, "1"))
				r = summary(s, false, 2)
			}
			if tt.then != nil {
				tt.then(u, s)
			}
			if tt.change != nil {
				tt.change(&r)
			}
			o := u.st.Overlay()
			_, err := o.Apply(u.at, r)
			_, refused := errors.AsType[*machine.Refusal](err)
			if refused != tt.refused || !refused && !errors.Is(err, machine.ErrStale) {
				t.Errorf("it comes to %v", err)
			}
			if o.Changes() != nil {
				t.Error("it changes something")
			}
		})
	}
}

// A summary during a turn is an entry of the turn and moves nothing of it: the answer to its step is taken.
func TestTurnGoesOnAfterItsSummary(t *testing.T) {
	u := newUnit(t)
	_, effects := u.do(message("one"))
	s, _ := steps(effects)
	if _, effects = u.do(summary(s, true, 1)); len(effects) != 0 {
		t.Errorf("somebody who did not ask is told: %T", effects[0])
	}
	if _, effects = u.do(answered(s, "1")); len(texts(effects)) != 1 {
		t.Error("the answer is not taken")
	}
}

// A model that finds the conversation too long ends the turn, with words that say what to do.
func TestTooLongSaysWhatToDo(t *testing.T) {
	u := newUnit(t)
	_, effects := u.do(message("one"))
	s, _ := steps(effects)
	_, effects = u.do(machine.Unanswered{Turn: s.Turn.ID, Generation: s.Turn.Generation, Failure: agent.TooLong, Text: "8192 tokens at most"})
	if got := texts(effects); len(got) != 1 {
		t.Errorf("said: %q", got)
	} else {
		for _, part := range []string{"longer than the model takes", "/new", "agent.context_tokens", "8192 tokens at most"} {
			if !strings.Contains(got[0], part) {
				t.Errorf("%q lacks %q", got[0], part)
			}
		}
	}
}
