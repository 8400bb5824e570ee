package machine_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
)

// TestHistories plays random histories: people, models, processes and platforms that do what they like, reports that come
// twice, clocks that jump, disks that are full, and crashes between any two steps. All rules hold after each step; and
// when everything that is outstanding is carried out at last, nothing is stuck. A history that fails is printed as the
// commands of a story.
func TestHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory()
		for range rapid.IntRange(1, 120).Draw(t, "length") {
			if h.step(t); h.w.broken != nil {
				break
			}
		}
		lines := h.lines
		if err := h.settle(); err != nil {
			lines, err = shortest(lines, err)
			t.Fatalf("%v\n\n%s", err, strings.Join(lines, "\n"))
		}
	})
}

// history is a random story.
type history struct {
	w     *world
	lines []string
	texts int
	out   outside
}

func newHistory() *history {
	w := newWorld()
	w.check = newRules(w).check
	w.quiet = true
	w.policy.InboxLimit, w.policy.MaxChildren, w.policy.MaxProcesses = 2, 3, 8
	return &history{w: w, out: outside{}}
}

func (h *history) do(format string, a ...any) {
	line := fmt.Sprintf(format, a...)
	h.lines = append(h.lines, line)
	if err := h.w.do(line); err != nil && h.w.broken == nil {
		h.w.broken = fmt.Errorf("%s: %w", line, err)
	}
	h.w.nameAll()
}

// step draws one thing that can happen now. What stands first is what a shorter history is tried with.
func (h *history) step(t *rapid.T) {
	kinds := []struct {
		weight int
		lines  []string
	}{
		{4, h.people()},
		{8, h.models()},
		{5, h.processes()},
		{4, h.platforms()},
		{1, h.operators()},
		{1, h.trouble()},
	}
	var pool [][]string
	for _, k := range kinds {
		for range k.weight {
			if len(k.lines) > 0 {
				pool = append(pool, k.lines)
			}
		}
	}
	lines := pool[rapid.IntRange(0, len(pool)-1).Draw(t, "kind")]
	h.do("%s", lines[rapid.IntRange(0, len(lines)-1).Draw(t, "line")])
}

func (h *history) text() string {
	h.texts++
	return fmt.Sprintf(`"text %d"`, h.texts)
}

func (h *history) name(id any) string { return h.w.names.of(fmt.Sprint(id)) }

// people say something, begin anew, stop, and go back to what they had left.
func (h *history) people() []string {
	spots := []string{"dm", "dm2", "group", "topic7", "topic9"}
	var lines []string
	for i, p := range spots {
		lines = append(lines, "say "+p+" "+h.text())
		if i > 1 {
			continue // most happens in two places
		}
		lines = append(lines, "say "+p+" "+h.text(), "say "+p+" "+h.text()+" steer", "new "+p, "stop "+p)
		for _, s := range all[session.Session](h.w.disk, machine.Sessions) {
			if at := s.Key.Address(); at.Chat == places()[p].Chat && at.Thread == "" {
				lines = append(lines, fmt.Sprintf("resume %s %s", p, h.name(s.ID)))
			} else if s.Kind == session.Subagent || i == 0 {
				lines = append(lines, fmt.Sprintf("resume %s %s any", p, h.name(s.ID)))
			}
		}
	}
	return lines
}

// models answer what they were asked, or fail.
func (h *history) models() []string {
	var lines []string
	for _, e := range h.w.todo {
		switch e := e.(type) {
		case machine.RunStep:
			t, live := get[machine.Turn](h.w.disk, machine.Turns, string(e.Turn.ID))
			if !live || t.Step != e.Turn.Step || t.Generation != e.Turn.Generation {
				lines = append(lines, fmt.Sprintf(`answer %s "late" step=%d`, h.name(e.Turn.ID), e.Turn.Step))
				continue
			}
			s := h.name(t.Session)
			lines = append(lines, fmt.Sprintf(`answer %s "said"`, s), fmt.Sprintf(`answer %s "[SILENT]"`, s), "answer "+s)
			for _, call := range h.calls(t) {
				lines = append(lines, fmt.Sprintf("call %s %s", s, call))
			}
			for _, f := range []string{"unavailable", "limited 7s", "refused", "credential"} {
				lines = append(lines, fmt.Sprintf("fail %s %s", s, f))
			}
		case machine.RunTool:
			a := h.name(e.Action.ID)
			lines = append(lines, "done "+a)
			if p, _ := either[machine.Process](h.w.disk, machine.Processes, string(e.Process.ID)); h.out[p.ID] == over || p.State.Ended() {
				lines = append(lines, "done "+a+" seen")
			}
		}
	}
	return lines
}

// calls are the tool calls that a model may make in a turn.
func (h *history) calls(t machine.Turn) []string {
	const fg, bg, mute = `terminal {"command":"make"}`, `terminal {"command":"serve","background":true}`, `terminal {"command":"log","background":true,"notify":false}`
	calls := []string{
		bg, fg, mute, bg + " " + fg, `terminal {"command":""}`, `fly {}`,
		`delegate_task {"goal":"g"}`, `delegate_task {"goal":"g","background":false}`, `delegate_task {"goal":"g"}`,
		`delegate_task {"tasks":[{"goal":"a"},{"goal":"b"}]}`, `delegate_task {"goal":"g","background":false} ` + bg,
		`delegate_task {"goal":"g","background":false} delegate_task {"goal":"h"}`, `delegate_task {"goal":""}`,
		`process_manage {"action":"list"}`,
	}
	for _, p := range all[machine.Process](h.w.disk, machine.Processes) {
		if p.StartedBy != t.Session && p.Owner != t.Session {
			continue
		}
		for _, action := range []string{"wait", "kill", "log", "poll", "handoff"} {
			calls = append(calls, fmt.Sprintf(`process_manage {"action":"%s","process_id":"%s","data":"it"}`, action, h.name(p.ID)))
		}
	}
	for _, d := range h.w.disk.lane(t.Session).Delegations {
		calls = append(calls, fmt.Sprintf(`delegate_task {"action":"stop","delegation_id":"%s"}`, h.name(d)))
		x, _ := get[machine.Delegation](h.w.disk, machine.Delegations, string(d))
		calls = append(calls, fmt.Sprintf(`delegate_task {"action":"stop","subagent_id":"%s"}`, h.name(x.Children[0].Session)))
	}
	return calls
}

// operators end conversations, stop delegations, kill processes, and deal with dead letters.
func (h *history) operators() []string {
	var lines []string
	for _, s := range all[session.Session](h.w.disk, machine.Sessions) {
		lines = append(lines, "end "+h.name(s.ID))
	}
	for _, d := range all[machine.Delegation](h.w.disk, machine.Delegations) {
		lines = append(lines, "halt "+h.name(d.ID))
	}
	for _, p := range all[machine.Process](h.w.disk, machine.Processes) {
		lines = append(lines, "kill "+h.name(p.ID))
	}
	for _, c := range all[delivery.Completion](h.w.disk, machine.Completions) {
		lines = append(lines, "requeue "+h.name(c.ID), "drop "+h.name(c.ID), "requeue "+h.name(c.ID)+" to=dm", "requeue "+h.name(c.ID)+" to=topic9")
	}
	for _, m := range all[delivery.Outgoing](h.w.disk, machine.Outgoings) {
		lines = append(lines, "requeue "+h.name(m.ID), "drop "+h.name(m.ID), "requeue "+h.name(m.ID)+" to=dm2")
	}
	return lines
}

// trouble comes in all forms.
func (h *history) trouble() []string {
	return []string{
		"tick 1s", "again 1", "again 2", "again 3", "crash", "reopen", "full", "crash", "tick 45s", "tick 2h", "back 90s", "back 3h",
		"policy surface=on", "policy surface=off", "policy inbox=1", "policy inbox=3", "policy iterations=3", "policy iterations=90",
		"policy unknown=resend", "policy unknown=hold", "policy expire=30m", "say dm " + h.text() + " event=e1", "new dm event=e2",
	}
}

// kindsOf is for reading what a history was made of.
func kindsOf(lines []string) string {
	n := map[string]int{}
	for _, l := range lines {
		name, _, _ := strings.Cut(l, " ")
		n[name]++
	}
	var out []string
	for _, k := range slices.Sorted(maps.Keys(n)) {
		out = append(out, fmt.Sprintf("%s %d", k, n[k]))
	}
	return strings.Join(out, ", ")
}
