package view_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
	"github.com/homing-gateway/homing/internal/store"
	"github.com/homing-gateway/homing/internal/view"
)

// From whatever id on the chain one starts, it leads back to what the person wrote; from what is above the result it leads
// on to the platform's message.
func TestTraceLeadsFromThePersonToThePlatform(t *testing.T) {
	w := newWorld(t)
	r := w.research(home)
	back := []string{"text", "turn", "delegation"}
	for name, tt := range map[string]struct {
		id    string
		kinds []string
		ids   []string
		says  []string
	}{
		"the report": {
			string(r.report), append(slices.Clone(back), "completion", "turn", "message"),
			[]string{string(r.result), string(r.delegation), string(r.asked)},
			[]string{"A message was sent to x chat 1001 as message 57, 11.0 s after the person had written “research otters”."},
		},
		"the result": {
			string(r.result), append(slices.Clone(back), "completion", "turn", "message"),
			[]string{string(r.report), string(r.told)},
			[]string{
				"What a subagent brought back on “Research otters” (completed): the agent was told", "as message 57",
				"pin " + string(r.session), "walk " + string(r.session), "the owner is " + string(r.session), "route version 1",
			},
		},
		"the delegation": {string(r.delegation), []string{"text", "completion", "message"}, []string{string(r.child), string(r.result)}, []string{"as message 57", "The person wrote: “research otters”"}},
		"the subagent":   {string(r.child), append(slices.Clone(back), "subagent", "turn", "process"), []string{string(r.process)}, []string{"A subagent began: “Research otters”"}},
		"the process": {
			string(r.process), append(slices.Clone(back), "subagent", "turn", "process", "completion"),
			[]string{string(r.ended)},
			[]string{"count otters", "exited 0", "walk " + string(r.child) + " → " + string(r.session), "kept quiet"},
		},
		"the first turn":   {string(r.asked), []string{"text", "turn", "delegation", "message", "completion", "turn", "message"}, []string{string(r.report)}, []string{"answers the message(s) event-research otters"}},
		"the conversation": {string(r.session), []string{"chat", "turn", "message"}, []string{string(r.told)}, []string{"which is in it now (route version 1)"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := view.TraceOf(w.db, strings.ToLower(tt.id[:4])+tt.id[4:])
			if err != nil {
				t.Fatal(err)
			}
			kinds, ids, text := []string{}, []string{}, got.Text()
			for _, s := range got.Steps {
				kinds, ids = append(kinds, s.Kind), append(ids, s.ID)
			}
			rest := kinds
			for _, k := range tt.kinds { // in this order
				i := slices.Index(rest, k)
				if i < 0 {
					t.Fatalf("kinds %v, want %v among them, in order", kinds, tt.kinds)
				}
				rest = rest[i+1:]
			}
			for _, x := range append(tt.ids, tt.id, string(r.session)) {
				if !slices.Contains(ids, x) {
					t.Errorf("%s is not on the chain: %v", x, ids)
				}
			}
			for _, part := range tt.says {
				if !strings.Contains(text, part) {
					t.Errorf("it lacks %q:\n%s", part, text)
				}
			}
		})
	}
}

// The times are those of the clock: when, how long after the beginning, and how long it took.
func TestTraceMeasures(t *testing.T) {
	w := newWorld(t)
	r := w.research(home)
	got, err := view.TraceOf(w.db, string(r.result))
	if err != nil {
		t.Fatal(err)
	}
	var delegation, message view.Step
	for _, s := range got.Steps {
		switch s.ID {
		case string(r.delegation):
			delegation = s
		case string(r.report):
			message = s
		}
	}
	if delegation.After != 1 || delegation.Took != 7 || message.After != 9 || message.Took != 2 {
		t.Errorf("delegation after %v s, took %v s; message after %v s, took %v s", delegation.After, delegation.Took, message.After, message.Took)
	}
	for _, line := range []string{"Friday, 2 January 2026", "15:04:01.000          0  The person wrote", "15:04:02.000     +1.0 s  Work was given to a subagent: “Research otters” (took 7.0 s)"} {
		if !strings.Contains(got.Text(), line) {
			t.Errorf("it lacks %q:\n%s", line, got.Text())
		}
	}
}

// What goes on has taken no time yet: an end is told only of what is over.
func TestTraceOfWhatGoesOn(t *testing.T) {
	w := newWorld(t)
	w.say(home, "count otters")
	w.answer(session.Chat, "", call("terminal", `{"command":"sleep 60"}`))
	got, err := view.TraceOf(w.db, string(next[machine.Tend](w, nil).Process.Action))
	if err != nil {
		t.Fatal(err)
	}
	var calls int
	for _, s := range got.Steps {
		if s.Kind == "action" {
			calls++
		}
		if !s.EndedAt.IsZero() && (s.Kind == "action" || s.Kind == "process") {
			t.Errorf("%s %s is %s and ended at %v", s.Kind, s.ID, s.State, s.EndedAt)
		}
	}
	if calls != 1 {
		t.Errorf("the trace has %d actions:\n%s", calls, got.Text())
	}
}

// What scripts read stays: one object, these names.
func TestTraceAsJSON(t *testing.T) {
	w := newWorld(t)
	r := w.research(home)
	got, err := view.TraceOf(w.db, string(r.result))
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := json.Unmarshal(b, &object); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"id", "state", "profile", "kind", "created_at", "updated_at", "summary", "steps"} {
		if object[name] == nil {
			t.Errorf("the object lacks %s: %s", name, b)
		}
	}
	names := map[string]bool{}
	for _, s := range object["steps"].([]any) {
		for name := range s.(map[string]any) {
			names[name] = true
		}
	}
	for _, name := range []string{"id", "kind", "state", "title", "at", "ended_at", "after_seconds", "took_seconds", "why", "causes"} {
		if !names[name] {
			t.Errorf("no step has %s", name)
		}
	}
	if object["id"] != string(r.result) || object["state"] != "done: answered" || object["kind"] != "completion" || object["profile"] != "default" {
		t.Errorf("the object is about %v, a %v of %v: %v", object["id"], object["kind"], object["profile"], object["state"])
	}
}

// A result that came too late says so, where it stopped and how to get it back.
func TestTraceOfWhatCameTooLate(t *testing.T) {
	w := newWorld(t)
	got := w.say(home, "run it")
	p := w.background(session.Chat, "make")
	w.answer(session.Chat, "It runs.")
	w.send("1")
	w.command(home, machine.CommandNew, "")
	w.exits(p)
	record, _, _ := store.Get[machine.Process](w.db, machine.Processes, string(p))
	trace, err := view.TraceOf(w.db, string(record.Completion))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"not delivered: its conversation had been ended by its person", "/resume " + string(got.Session), "stopped at " + string(got.Session), "session_reset: its person began a new one with /new",
	} {
		if !strings.Contains(trace.Text(), part) {
			t.Errorf("it lacks %q:\n%s", part, trace.Text())
		}
	}
}

// A text that was asked again is on the chain of the second answer too.
func TestTraceOfWhatWasAskedAgain(t *testing.T) {
	w := newWorld(t)
	w.say(home, "what is it?")
	w.answer(session.Chat, "I don't know.")
	w.send("1")
	w.command(home, machine.CommandRetry, "")
	w.answer(session.Chat, "An otter.")
	report := w.send("2")
	trace, err := view.TraceOf(w.db, string(report))
	if err != nil || !strings.Contains(trace.Text(), "The person wrote: “what is it?”") {
		t.Errorf("%v\n%s", err, trace.Text())
	}
}

func TestTraceOfNothing(t *testing.T) {
	w := newWorld(t)
	if _, err := view.TraceOf(w.db, "cmp_01ARZ3NDEKTSV4RRFFQ69G5FAV"); !errors.Is(err, view.ErrNotFound) {
		t.Errorf("%v, want ErrNotFound", err)
	}
	if _, err := view.TraceOf(w.db, "nonsense"); err == nil || errors.Is(err, view.ErrNotFound) {
		t.Errorf("%v: it is to say what an id is", err)
	}
}

// /why says in words for everybody what came, what it was asked by, whose it is and how it was sent.
func TestWhy(t *testing.T) {
	for name, tt := range map[string]struct {
		play func(*world)
		want []string
	}{
		"nothing came": {func(w *world) { w.say(home, "hello") }, []string{"No result has come here by itself yet."}},
		"a report": {func(w *world) { w.research(home) }, []string{
			"The last result here is what a subagent brought back on “Research otters” (completed). It was there at 15:04, 2 min ago.",
			"It comes from what you asked for at 15:04: “research otters”",
			"It was proved to belong to this conversation: the work was started in it, and the place had not moved on when it came.",
			"It was sent at 15:04 as message 57.",
			"Every step of it: homing trace CMP",
		}},
		"after a new beginning it is still the last": {func(w *world) { w.research(home); w.command(home, machine.CommandNew, "") }, []string{"“Research otters”", "as message 57"}},
		"in a branch":  {func(w *world) { w.research(home); w.command(home, machine.CommandBranch, "") }, []string{"“Research otters”", "as message 57"}},
		"on the agent": {func(w *world) { p := begun(w); w.exits(p) }, []string{"the end of the command “make” (exited 0)", "“build it”", "The agent is at it right now"}},
		"in the inbox": {func(w *world) { p := begun(w); w.say(home, "and now?"); w.exits(p) }, []string{"The agent is busy"}},
		"silence":      {func(w *world) { p := begun(w); w.exits(p); w.answer(session.Chat, "[SILENT]") }, []string{"had nothing to say about it"}},
		"on its way":   {func(w *world) { p := begun(w); w.exits(p); w.answer(session.Chat, "Built.") }, []string{"Its message waits to be sent."}},
		"a failed turn": {func(w *world) {
			p := begun(w)
			w.exits(p)
			w.policy.MaxIterations = 1
			w.answer(session.Chat, "", call("terminal", `{"command":"x"}`))
			w.send("9")
		}, []string{"as message 9"}},
		"a receipt": {func(w *world) {
			w.say(home, "build it")
			w.answer(session.Chat, "", call("terminal", `{"command":"make","background":true,"notify":false}`))
			p := next[machine.Tend](w, nil).Process.ID
			w.do(machine.Started{Process: p, At: w.now})
			w.answer(session.Chat, "It runs.")
			w.send("1")
			w.exits(p)
			w.send("2")
		}, []string{"“make” (exited 0)", "“build it”", "It was sent at 15:04 as message 2."}},
		"a subagent's process, shown": {func(w *world) { w.policy.SurfaceChildProcesses = true; child(w, false) }, []string{
			"“make” (exited 0)", "“build it”", "a subagent that worked for it started the work", "as message 3",
		}},
		"a process that was handed off": {func(w *world) { child(w, true); w.answer(session.Chat, "Built."); w.send("4") }, []string{
			"“make” (exited 0)", "“build it”", "started the command and handed it over", "as message 4",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			tt.play(w)
			got, err := view.WhyText(w.db, keyOf(home), w.now.Add(2*time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range tt.want {
				if part = strings.TrimSuffix(part, "CMP"); !strings.Contains(got, part) {
					t.Errorf("it lacks %q:\n%s", part, got)
				}
			}
		})
	}
}

// begun has a process run in the background, and its conversation silent.
func begun(w *world) (p id.Process) {
	w.say(home, "build it")
	p = w.background(session.Chat, "make")
	w.answer(session.Chat, "It runs.")
	w.send("1")
	return p
}

// child has a subagent start a process that ends while it works, or after it was handed off.
func child(w *world, handoff bool) {
	w.say(home, "build it")
	w.answer(session.Chat, "", call("delegate_task", `{"goal":"Build it"}`))
	w.answer(session.Chat, "It is delegated.")
	w.send("1")
	p := w.background(session.Subagent, "make")
	if handoff {
		w.answer(session.Subagent, "", call("process_manage", `{"action":"handoff","process_id":%q,"data":"the build"}`, p))
		w.answer(session.Subagent, "It builds.")
		w.answer(session.Chat, "It builds, I hear.")
		w.send("2")
		w.exits(p)
		return
	}
	w.exits(p)
	w.send("3")
}

// reasons lists why something is parked, or how it is done with.
func reasons() []string {
	return []string{
		string(session.OwnerMissing), string(session.OwnerCorrupt), string(session.Cycle), string(session.TooDeep), string(session.Boundary),
		string(session.NoProvenance), string(session.PlaceTaken), delivery.ReasonExpired, delivery.ReasonTurnFailed, delivery.ReasonQuarantined,
		delivery.ReasonAttempts, delivery.ReasonRefused, delivery.ReasonRestored, delivery.DoneAnswered, delivery.DoneEntered, delivery.DoneReceipt,
		delivery.DoneSuppressed, delivery.DoneConsumed, delivery.DoneInterrupted, delivery.DoneDropped,
	}
}

// Every reason and every end that there is can be said in words.
func TestReasonsAreSaidInWords(t *testing.T) {
	for _, reason := range reasons() {
		if words := view.ReasonWords(reason); words == reason || !strings.Contains(words, " ") {
			t.Errorf("%s is said as %q", reason, words)
		}
	}
	for _, reason := range session.EndReasons() {
		if words := view.EndWords(reason); words == string(reason) || !strings.Contains(words, " ") {
			t.Errorf("%s is said as %q", reason, words)
		}
	}
}

// A place lists its own conversations, and for an admin the newest that are not live elsewhere.
func TestSessionsOfAPlace(t *testing.T) {
	w := newWorld(t)
	there := home
	there.Chat, there.Person = "1002", "1002"
	begin := func(at chat.Address, text string) string {
		s := w.say(at, text).Session
		w.answer(session.Chat, "yes")
		w.send("1")
		return string(s)
	}
	first := begin(home, "first")
	w.command(home, machine.CommandNew, "")
	second := begin(home, "second")
	old := begin(there, "old of another place")
	w.command(there, machine.CommandNew, "")
	begin(there, "live elsewhere")
	list := func(admin bool) (ids []string) {
		got, err := view.SessionsOf(w.db, keyOf(home), admin)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range got {
			ids = append(ids, string(s.ID))
		}
		return ids
	}
	if d := cmp.Diff([]string{second, first}, list(false)); d != "" {
		t.Errorf("its own: %s", d)
	}
	if d := cmp.Diff([]string{old, second, first}, list(true)); d != "" {
		t.Errorf("an admin's: %s", d)
	}
	w.do(machine.Receive{Account: home.Account, Message: &chat.Message{Address: home}, Command: &machine.Command{Name: machine.CommandResume, Target: id.Session(old), Any: true}})
	w.send("x")
	if d := cmp.Diff([]string{old, second, first}, list(false)); d != "" {
		t.Errorf("after a conversation was brought here: %s", d)
	}
	if got, err := view.SessionsOf(w.db, keyOf(there), false); err != nil || len(got) != 1 {
		t.Errorf("it is still listed where it was: %v, %v", got, err)
	}
}
