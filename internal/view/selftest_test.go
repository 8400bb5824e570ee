package view_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
	"github.com/homing-gateway/homing/internal/view"
)

// selftest orders a self-test and plays its subagent: three commands, of which one ends, one is handed over and one is left.
func (w *world) selftest() (did id.Delegation, handed id.Process) {
	w.Helper()
	w.say(home, "hello")
	w.answer(session.Chat, "Hello!")
	w.send("1")
	w.do(machine.Receive{Account: home.Account, Message: &chat.Message{Address: home}, Command: &machine.Command{Name: machine.CommandSelftest}})
	did = next[machine.Examine](w, nil).Delegation.ID
	w.send("2")
	handed = w.background(session.Subagent, "sleep 2")
	w.answer(session.Subagent, "", call("process_manage", `{"action":"handoff","process_id":%q,"data":"a part of it"}`, handed))
	left := w.background(session.Subagent, "sleep 30")
	ended := w.background(session.Subagent, "sleep 0.3")
	w.exits(ended)
	w.send("3")
	w.answer(session.Subagent, "I go home.")
	w.send("4")
	w.do(machine.Ended{Process: left, State: machine.ProcessKilled, Signal: "SIGTERM", EndedAt: w.now})
	return did, handed
}

func (w *world) played() view.Selftest {
	w.Helper()
	did, handed := w.selftest()
	w.over(did, false)
	w.exits(handed)
	w.over(did, false)
	w.send("5")
	w.over(did, true)
	return w.evidence(did)
}

func (w *world) over(did id.Delegation, want bool) {
	w.Helper()
	if over, err := view.SelftestOver(w.db, did); err != nil || over != want {
		w.Errorf("over: %t, %v", over, err)
	}
}

func (w *world) evidence(did id.Delegation) view.Selftest {
	w.Helper()
	s, err := view.SelftestOf(w.db, did)
	if err != nil {
		w.Fatal(err)
	}
	return s
}

func TestSelftestThatHolds(t *testing.T) {
	w := newWorld(t)
	w.history(w.now.Add(-time.Hour), 50, 1)
	s := w.played()
	text, held := s.Text()
	if !held || !strings.HasPrefix(text, "Self-test: all 9 checks held, in 19.0 s.") || strings.Count(text, "✓") != 9 || strings.Contains(text, "✗") {
		t.Error(text)
	}
	for _, part := range []string{"told once as message 3", "told once as message 4", "told once as message 5", "came home after the subagent had gone", string(s.Conversation.ID), "version 1 before, 1 now"} {
		if !strings.Contains(text, part) {
			t.Errorf("it lacks %q:\n%s", part, text)
		}
	}
}

// The evidence of what the product exists to rule out, one piece after the other: the check that it is about fails, names
// what to look at, and no other does unless the piece is evidence for it too. // C-01
func TestSelftestThatDoesNotHold(t *testing.T) {
	of := func(s *view.Selftest, kind delivery.Kind) *delivery.Completion {
		i := slices.IndexFunc(s.Completions, func(c delivery.Completion) bool { return c.Kind == kind })
		return &s.Completions[i]
	}
	told := func(s *view.Selftest, c *delivery.Completion) *delivery.Outgoing {
		return &s.Messages[slices.IndexFunc(s.Messages, func(m delivery.Outgoing) bool { return m.Cause == string(c.ID) })]
	}
	process := func(s *view.Selftest, command string) *machine.Process {
		return &s.Processes[slices.IndexFunc(s.Processes, func(p machine.Process) bool { return p.Command == command })]
	}
	for name, tt := range map[string]struct {
		breaks func(s *view.Selftest)
		fails  []string
		look   func(s view.Selftest) string
	}{
		"a takeover: the place is in the subagent": {
			func(s *view.Selftest) { s.Route.Current = s.Children[0].ID },
			[]string{"the place is in your conversation", "never had the place"},
			func(s view.Selftest) string { return string(s.Delegation.Session) },
		},
		"a takeover that ended the conversation": {
			func(s *view.Selftest) {
				s.Route.Current, s.Route.Version = s.Children[0].ID, s.Route.Version+1
				s.Conversation = s.Conversation.End(session.Switched, time.Now())
			}, []string{"the place is in your conversation", "route was not touched", "your conversation lives", "never had the place"}, nil,
		},
		"a takeover that was undone":                 {func(s *view.Selftest) { s.Route.Version += 2 }, []string{"route was not touched"}, nil},
		"a conversation that was ended and reopened": {func(s *view.Selftest) { s.Conversation.Epoch += 2 }, []string{"your conversation lives"}, nil},
		"a subagent with a place":                    {func(s *view.Selftest) { s.Children[0].Key = s.Route.Key }, []string{"never had the place"}, func(s view.Selftest) string { return string(s.Children[0].ID) }},
		"a subagent without a mark":                  {func(s *view.Selftest) { s.Children[0].DelegateFrom = "" }, []string{"never had the place"}, nil},
		"a result of the subagent's own": {
			func(s *view.Selftest) {
				c := of(s, delivery.Delegation)
				c.Owner, c.Verdict.Owner = s.Children[0].ID, s.Children[0].ID
			},
			[]string{"the subagent's result"},
			func(s view.Selftest) string { return string(of(&s, delivery.Delegation).ID) },
		},
		"a result that nobody owns": {
			func(s *view.Selftest) {
				c := of(s, delivery.Delegation)
				c.Owner, c.Verdict = "", session.Verdict{Outcome: session.Terminal, Reason: session.PlaceTaken}
			}, []string{"the subagent's result"}, nil,
		},
		"a result that was dropped": {func(s *view.Selftest) { of(s, delivery.Delegation).Reason = delivery.DoneSuppressed }, []string{"the subagent's result"}, nil},
		"a result that is there twice": {
			func(s *view.Selftest) { s.Completions = append(s.Completions, *of(s, delivery.Delegation)) },
			[]string{"the subagent's result"},
			func(s view.Selftest) string { return string(s.Delegation.ID) },
		},
		"a result that is not there": {
			func(s *view.Selftest) {
				s.Completions = slices.DeleteFunc(s.Completions, func(c delivery.Completion) bool { return c.Kind == delivery.Delegation })
			}, []string{"the subagent's result"}, nil,
		},
		"a result that was told twice": {func(s *view.Selftest) { s.Messages = append(s.Messages, *told(s, of(s, delivery.Delegation))) }, []string{"the subagent's result"}, nil},
		"a result that was told elsewhere": {
			func(s *view.Selftest) { told(s, of(s, delivery.Delegation)).To.Chat = "666" },
			[]string{"the subagent's result"},
			func(s view.Selftest) string { return string(told(&s, of(&s, delivery.Delegation)).ID) },
		},
		"a message that was refused":          {func(s *view.Selftest) { told(s, of(s, delivery.Delegation)).State = delivery.Buried }, []string{"the subagent's result"}, nil},
		"a proof by another route":            {func(s *view.Selftest) { of(s, delivery.Delegation).Verdict.Version++ }, []string{"the subagent's result"}, nil},
		"a walk that went astray":             {func(s *view.Selftest) { of(s, delivery.Process).Verdict.Path = nil }, []string{"ended while the subagent worked"}, nil},
		"a turn of the agent":                 {func(s *view.Selftest) { of(s, delivery.Delegation).Turn = "trn_1" }, []string{"heard nothing"}, nil},
		"a line in the transcript":            {func(s *view.Selftest) { of(s, delivery.Delegation).Entered = []id.Session{"ses_1"} }, []string{"heard nothing"}, nil},
		"a command that was lost":             {func(s *view.Selftest) { process(s, "sleep 0.3").State = machine.ProcessLost }, []string{"ended while the subagent worked"}, nil},
		"a command that was not handed over":  {func(s *view.Selftest) { process(s, "sleep 2").Owner = s.Children[0].ID }, []string{"handed over"}, func(s view.Selftest) string { return string(process(&s, "sleep 2").ID) }},
		"an orphan that lives":                {func(s *view.Selftest) { process(s, "sleep 30").State = machine.ProcessExited }, []string{"left behind"}, func(s view.Selftest) string { return string(process(&s, "sleep 30").ID) }},
		"an orphan that is not named":         {func(s *view.Selftest) { s.Delegation.Children[0].Report.Orphaned = nil }, []string{"left behind"}, nil},
		"an orphan that reports to the owner": {func(s *view.Selftest) { of(s, delivery.Process).Subject = string(process(s, "sleep 30").ID) }, []string{"left behind", "came home"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newWorld(t).played()
			tt.breaks(&s)
			var failed []view.Check
			for _, c := range s.Checks() {
				if !c.Held {
					failed = append(failed, c)
				}
			}
			if len(failed) != len(tt.fails) {
				t.Errorf("%d checks fail, want %d: %+v", len(failed), len(tt.fails), failed)
			}
			for _, want := range tt.fails {
				if !slices.ContainsFunc(failed, func(c view.Check) bool { return strings.Contains(c.What, want) && c.Look != "" && c.Evidence != "" }) {
					t.Errorf("%q does not fail: %+v", want, failed)
				}
			}
			text, held := s.Text()
			if held || !strings.Contains(text, "do NOT hold") || strings.Count(text, "✗") != len(tt.fails) {
				t.Error(text)
			}
			if tt.look != nil && !strings.Contains(text, "— look at `homing trace "+tt.look(s)+"`") {
				t.Errorf("it does not say to look at %s:\n%s", tt.look(s), text)
			}
		})
	}
}

// What a person cuts short, and what does not come to its end, is said to be unfinished and not to be wrong.
func TestSelftestThatIsNotFinished(t *testing.T) {
	for name, tt := range map[string]struct {
		play func(w *world) id.Delegation
		want string
	}{
		"the person begins anew": {func(w *world) id.Delegation {
			did, _ := w.selftest()
			w.command(home, machine.CommandNew, "")
			w.over(did, true)
			return did
		}, "not finished: the conversation was left meanwhile (its person began a new one with /new)"},
		"the person stops it": {func(w *world) id.Delegation {
			w.do(machine.Receive{Account: home.Account, Message: &chat.Message{Address: home}, Command: &machine.Command{Name: machine.CommandSelftest}})
			did := next[machine.Examine](w, nil).Delegation.ID
			w.send("1")
			w.do(machine.Receive{Account: home.Account, Message: &chat.Message{Address: home}, Command: &machine.Command{Name: machine.CommandStop}})
			w.over(did, true)
			return did
		}, "not finished: stopped by a person"},
		"the time is over": {func(w *world) id.Delegation { did, _ := w.selftest(); w.over(did, false); return did }, "not finished: 8 of 9 checks held; what stands at … had not come to its end"},
		"nothing is played yet": {func(w *world) id.Delegation {
			w.do(machine.Receive{Account: home.Account, Message: &chat.Message{Address: home}, Command: &machine.Command{Name: machine.CommandSelftest}})
			did := next[machine.Examine](w, nil).Delegation.ID
			w.over(did, false)
			return did
		}, "not finished: 4 of 9 checks held"},
		"a command is not played": {func(w *world) id.Delegation {
			w.do(machine.Receive{Account: home.Account, Message: &chat.Message{Address: home}, Command: &machine.Command{Name: machine.CommandSelftest}})
			did := next[machine.Examine](w, nil).Delegation.ID
			w.answer(session.Subagent, "I could start nothing.")
			w.send("1")
			w.send("2")
			w.over(did, true)
			return did
		}, "not finished: 6 of 9 checks held"},
		"the platform is away": {func(w *world) id.Delegation {
			did, handed := w.selftest()
			w.exits(handed)
			w.over(did, false)
			return did
		}, "not finished: 8 of 9 checks held"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			did := tt.play(w)
			text, held := w.evidence(did).Text()
			if held || !strings.Contains(text, tt.want) {
				t.Error(text)
			}
		})
	}
}
