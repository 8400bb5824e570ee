package machine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
)

// unit is a machine that is driven request by request, for what a story would hide in its length.
type unit struct {
	t  *testing.T
	st *machine.State
	at time.Time
}

func newUnit(t *testing.T) *unit {
	policy := machine.Policy{InboxLimit: 10, MaxIterations: 10, ChildIterations: 10, MaxChildren: 5, MaxSpawnDepth: 1, MaxProcesses: 5, MaxSummaryChars: 1000}
	return &unit{t, machine.NewState(func(string) machine.Policy { return policy }, id.NewSource(nil)), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func (u *unit) do(r machine.Request) (machine.Answer, []machine.Effect) {
	u.t.Helper()
	u.at = u.at.Add(time.Second)
	o := u.st.Overlay()
	a, err := o.Apply(u.at, r)
	if err != nil {
		u.t.Fatalf("%T: %v", r, err)
	}
	o.Changes()
	o.Fold()
	var effects []machine.Effect
	for _, e := range o.Effects() {
		effects = append(effects, e.Effect)
	}
	return a, effects
}

func message(text string) machine.Receive {
	to := chat.Address{Account: chat.Account{Profile: "default", Platform: "x", ID: "1"}, Type: chat.Thread, Chat: "-5", Thread: "7", Person: "1001"}
	return machine.Receive{Account: to.Account, Message: &chat.Message{Address: to, ID: "9", Text: text}}
}

// steps lists the model calls that effects ask for, by session kind.
func steps(effects []machine.Effect) (person, child *machine.RunStep) {
	for _, e := range effects {
		if s, ok := e.(machine.RunStep); ok {
			if s.Session.ID.IsSubagent() {
				child = &s
			} else {
				person = &s
			}
		}
	}
	return person, child
}

func answered(s *machine.RunStep, text string, calls ...agent.Call) machine.Answered {
	return machine.Answered{Turn: s.Turn.ID, Generation: s.Turn.Generation, Step: s.Turn.Step, Text: text, Calls: calls}
}

func texts(effects []machine.Effect) (out []string) {
	for _, e := range effects {
		if p, ok := e.(machine.Prepare); ok {
			out = append(out, p.Outgoing.Text)
		}
	}
	return out
}

// Where the agent took no part and nobody meant it, neither a command nor a message that can't be taken gets a word.
func TestNothingIsSaidWhereNobodyAsked(t *testing.T) {
	u := newUnit(t)
	for _, r := range []machine.Receive{
		{Command: &machine.Command{Name: machine.CommandNew}}, {Command: &machine.Command{Name: machine.CommandStop}}, {Reply: "I can't take this along yet"}, {},
	} {
		m := message("!new")
		m.Command, m.Reply, m.OnlyIfPart = r.Command, r.Reply, true
		if _, effects := u.do(m); len(effects) != 0 {
			t.Errorf("%+v is answered: %T", r, effects[0])
		}
	}
	if _, effects := u.do(message("hello")); len(effects) != 1 {
		t.Error("a message that is meant for the agent is not taken")
	}
}

// A result that shares its turn with a person's text is told, also when the model has nothing to say.
func TestResultIsNeverSilence(t *testing.T) {
	for _, silence := range []string{"", "  ", "[SILENT]", "NO_REPLY"} {
		u := newUnit(t)
		_, effects := u.do(message("research it"))
		person, _ := steps(effects)
		_, effects = u.do(answered(person, "", agent.Call{ID: "c", Name: "delegate_task", Arguments: `{"goal":"look"}`}))
		person, child := steps(effects)
		u.do(message("and another thing")) // waits: the turn runs
		u.do(answered(child, "found it"))  // waits as well
		_, effects = u.do(answered(person, "On it."))
		person, _ = steps(effects)
		if person == nil {
			t.Fatal("what waits opens no turn")
		}
		first := effectsOf[machine.Prepare](effects)[0].Outgoing
		u.do(answered(person, silence))
		_, effects = u.do(machine.Claim{Outgoing: first.ID, Parts: []delivery.Part{{Text: "x", Bare: "x"}}})
		_, effects = u.do(machine.SendDone{Outgoing: first.ID, Try: effectsOf[machine.Transmit](effects)[0].Outgoing.Tries})
		if got := texts(effects); len(got) != 1 || got[0] != "found it" {
			t.Errorf("after %q the person sees %q, want the result", silence, got)
		}
	}
}

func effectsOf[E machine.Effect](effects []machine.Effect) (out []E) {
	for _, e := range effects {
		if x, ok := e.(E); ok {
			out = append(out, x)
		}
	}
	return out
}

// An operator who ends a conversation is told which texts are not run any more.
func TestEndNamesWhatIsNotRun(t *testing.T) {
	u := newUnit(t)
	a, _ := u.do(message("first"))
	u.do(message("second, which waits"))
	a, _ = u.do(machine.EndSession{Session: a.Session})
	if !strings.Contains(a.Text, "second, which waits") {
		t.Errorf("the answer is %q", a.Text)
	}
}

// A person who writes while a step still has commands to run waits for none of them.
func TestPersonIsNotKeptWaitingByTheRestOfAStep(t *testing.T) {
	u := newUnit(t)
	_, effects := u.do(message("build and wait"))
	person, _ := steps(effects)
	_, effects = u.do(answered(person, "", agent.Call{ID: "a", Name: "terminal", Arguments: `{"command":"make"}`},
		agent.Call{ID: "b", Name: "terminal", Arguments: `{"command":"sleep 600"}`}))
	first := effectsOf[machine.Tend](effects)[0].Process
	u.do(machine.Started{Process: first.ID, PID: 1, At: u.at})
	m := message("how far are you?")
	m.Steer = true
	if _, effects = u.do(m); len(effectsOf[machine.Promote](effects)) != 1 {
		t.Fatal("the running command is not let go")
	}
	_, effects = u.do(machine.Promoted{Process: first.ID, After: time.Second})
	second := effectsOf[machine.Tend](effects)
	if p := effectsOf[machine.Promote](effects); len(second) != 1 || len(p) != 1 || p[0].Process != second[0].Process.ID {
		t.Error("the step's next command keeps the person waiting")
	}
}

// A message comes to stand below a preview whose own batch is still on its way to the disk: the answer is not put there.
func TestPreviewOfTheBatchInFlight(t *testing.T) {
	u := newUnit(t)
	_, effects := u.do(message("hello"))
	turn := effects[0].(machine.RunStep).Turn
	writing := u.st.Overlay()
	if _, err := writing.Apply(u.at, machine.Showing{Turn: turn.ID, Generation: turn.Generation, To: message("").Message.Address}); err != nil {
		t.Fatal(err)
	}
	writing.Changes()
	next := writing.Next()
	if _, err := next.Apply(u.at, machine.Say{To: message("").Message.Address, Text: "by the way", Cause: "operator"}); err != nil {
		t.Fatal(err)
	}
	writing.Fold()
	for _, c := range next.Changes() {
		if p, ok := c.Value.(*machine.Preview); ok && p.Spent {
			return
		}
	}
	t.Error("the answer would be put above the message")
}
