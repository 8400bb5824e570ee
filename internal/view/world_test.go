package view_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
	"github.com/homing-gateway/homing/internal/store"
)

// world is the real machine on a real store, with a clock that the test owns, and somebody who does what is asked for only
// when the test says so.
type world struct {
	testing.TB
	db     *store.DB
	state  *machine.State
	policy machine.Policy
	now    time.Time
	todo   []machine.Effect
	lines  uint64 // of the journal that were made up
}

func newWorld(t testing.TB) *world {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "homing.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	w := &world{
		TB: t, db: db, now: time.Date(2026, 1, 2, 15, 4, 0, 0, time.Local),
		policy: machine.Policy{
			InboxLimit: 10, MaxIterations: 10, ChildIterations: 10, MaxChildren: 5, MaxSpawnDepth: 1, MaxProcesses: 5, MaxSummaryChars: 1000,
			Receipts: machine.ReceiptConcise, Delivery: delivery.Policy{MaxAttempts: 3, MinBackoff: time.Second, MaxBackoff: time.Minute},
		},
	}
	w.state = machine.NewState(func(string) machine.Policy { return w.policy }, id.NewSource(nil))
	return w
}

var home = chat.Address{Account: chat.Account{Profile: "default", Platform: "x", ID: "1"}, Type: chat.Direct, Chat: "1001", Person: "1001"}

func keyOf(a chat.Address) chat.Key { return chat.KeyOf(a, chat.Keying{}) }

// do takes one request through the machine and commits what comes of it, a second after the one before.
func (w *world) do(r machine.Request) machine.Answer {
	w.Helper()
	w.now = w.now.Add(time.Second)
	o := w.state.Overlay()
	a, err := o.Apply(w.now, r)
	if err != nil {
		w.Fatalf("%T: %v", r, err)
	}
	if err := w.db.Commit(o.Changes()); err != nil {
		w.Fatal(err)
	}
	o.Fold()
	for _, e := range o.Effects() {
		w.todo = append(w.todo, e.Effect)
	}
	return a
}

// next takes the first effect of a kind that fits off what is to be done.
func next[E machine.Effect](w *world, fits func(E) bool) E {
	w.Helper()
	for i, e := range w.todo {
		if x, ok := e.(E); ok && (fits == nil || fits(x)) {
			w.todo = append(w.todo[:i:i], w.todo[i+1:]...)
			return x
		}
	}
	var none E
	w.Fatalf("no %T is asked for: %v", none, w.todo)
	return none
}

func (w *world) say(a chat.Address, text string) machine.Answer {
	w.Helper()
	return w.do(machine.Receive{Account: a.Account, Event: "event-" + text, Message: &chat.Message{Address: a, ID: "7", Text: text}})
}

func (w *world) command(a chat.Address, name string, target id.Session) {
	w.Helper()
	w.do(machine.Receive{Account: a.Account, Message: &chat.Message{Address: a}, Command: &machine.Command{Name: name, Target: target}})
	w.send("cmd")
}

// answer is the model's answer in a session of that kind.
func (w *world) answer(kind session.Kind, text string, calls ...agent.Call) {
	w.Helper()
	s := next(w, func(s machine.RunStep) bool { return s.Session.Kind == kind })
	w.do(machine.Answered{Turn: s.Turn.ID, Generation: s.Turn.Generation, Step: s.Turn.Step, Text: text, Calls: calls})
}

func call(tool, arguments string, a ...any) agent.Call {
	return agent.Call{ID: "c", Name: tool, Arguments: fmt.Sprintf(arguments, a...)}
}

// send sends the message that is next, which gets that id on the platform.
func (w *world) send(platformID string) id.Outgoing {
	w.Helper()
	m := next[machine.Prepare](w, nil).Outgoing
	w.do(machine.Claim{Outgoing: m.ID, Parts: []delivery.Part{{Text: m.Text, Bare: m.Text}}})
	x := next[machine.Transmit](w, nil)
	w.do(machine.SendDone{Outgoing: m.ID, Part: x.Part, Try: x.Outgoing.Tries, Outcome: delivery.Outcome{Receipt: chat.Receipt{MessageID: platformID}}})
	return m.ID
}

// background starts a process in a session of that kind and returns it.
func (w *world) background(kind session.Kind, command string) id.Process {
	w.Helper()
	w.answer(kind, "", call("terminal", `{"command":%q,"background":true}`, command))
	p := next[machine.Tend](w, nil).Process.ID
	w.do(machine.Started{Process: p, PID: 1, At: w.now})
	return p
}

func (w *world) exits(p id.Process) {
	w.Helper()
	code := 0
	w.do(machine.Ended{Process: p, State: machine.ProcessExited, ExitCode: &code, Output: "done", EndedAt: w.now})
}

// research plays a whole errand: asked for, delegated, a process that ends while the subagent works, the report as message 57.
type research struct {
	session, child      id.Session
	asked, worked, told id.Turn
	delegation          id.Delegation
	process             id.Process
	ended, result       id.Completion
	report              id.Outgoing
}

func (w *world) research(a chat.Address) (r research) {
	w.Helper()
	got := w.say(a, "research otters")
	r.session, r.asked = got.Session, got.Turn
	w.answer(session.Chat, "", call("delegate_task", `{"goal":"Research otters"}`))
	w.answer(session.Chat, "A subagent is on it.")
	w.send("56")
	r.process = w.background(session.Subagent, "count otters")
	w.exits(r.process)
	w.answer(session.Subagent, "There are 12 otters.")
	w.answer(session.Chat, "I hear there are 12 otters.")
	r.report = w.send("57")
	m, _, _ := store.Get[delivery.Outgoing](w.db, machine.Outgoings, string(r.report))
	t, _, _ := store.Get[machine.Turn](w.db, machine.Turns, string(m.Turn))
	r.told, r.result = t.ID, t.Bound[0]
	c, _, _ := store.Get[delivery.Completion](w.db, machine.Completions, string(r.result))
	r.delegation = id.Delegation(c.Subject)
	d, _, _ := store.Get[machine.Delegation](w.db, machine.Delegations, c.Subject)
	r.child = d.Children[0].Session
	p, _, _ := store.Get[machine.Process](w.db, machine.Processes, string(r.process))
	r.ended, r.worked = p.Completion, p.Turn
	return r
}
