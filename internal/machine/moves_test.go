package machine_test

import (
	"fmt"

	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
)

// people say something, begin anew, branch, stop, take back, ask again, and go back to what they had left.
func (h *history) people() [][]string {
	var says, files, commands, resumes []string
	for i, p := range []string{"dm", "dm2", "group", "topic7", "topic9"} {
		says = append(says, "say "+p+" "+h.text(), "say "+p+" "+h.text()+" steer")
		if i > 1 {
			continue // most happens in two places
		}
		says = append(says, "say "+p+" "+h.text(), "say "+p+" "+h.text()+" steer")
		files = append(files, "say "+p+" files=photo steer", "say "+p+" "+h.text()+" files=document", "say "+p+" "+h.text()+" files=voice,photo!",
			"say "+p+" "+h.text()+" files=photo album=a", "say "+p+" files=photo album=a steer")
		commands = append(commands, "new "+p, "stop "+p, "branch "+p, "branch "+p, "retry "+p, "undo "+p, "compact "+p, "selftest "+p)
		for _, s := range all[session.Session](h.w.disk, machine.Sessions) {
			if at := s.Key.Address(); at.Chat == places()[p].Chat && at.Thread == "" {
				resumes = append(resumes, fmt.Sprintf("resume %s %s", p, h.name(s.ID)))
			} else {
				resumes = append(resumes, fmt.Sprintf("resume %s %s any", p, h.name(s.ID)))
			}
		}
	}
	return [][]string{says, says, files, commands, resumes}
}

// models answer what they were asked, or fail.
func (h *history) models() (acts [][]string) {
	for _, e := range h.w.todo {
		switch e := e.(type) {
		case machine.RunStep:
			t, live := get[machine.Turn](h.w.disk, machine.Turns, string(e.Turn.ID))
			if !live || t.Step != e.Turn.Step {
				acts = append(acts, []string{fmt.Sprintf(`answer %s "late" step=%d`, h.name(e.Turn.ID), e.Turn.Step)})
				continue
			}
			s := h.name(t.Session)
			acts = append(acts, []string{fmt.Sprintf(`answer %s "said"`, s), fmt.Sprintf(`answer %s "[SILENT]"`, s), "answer " + s, "again 1"})
			for _, calls := range [][]string{h.commands(t), h.commands(t), h.delegations(t), h.delegations(t), h.controls(t), h.controls(t)} {
				var lines []string
				for _, c := range calls {
					lines = append(lines, fmt.Sprintf("call %s %s", s, c))
				}
				acts = append(acts, lines)
			}
			var fails []string
			for _, f := range []string{"unavailable", "limited 7s", "refused", "too_long", "credential"} {
				fails = append(fails, fmt.Sprintf("fail %s %s", s, f))
			}
			acts = append(acts, fails, h.summaries(t.Session))
		case machine.Compact:
			acts = append(acts, h.summaries(e.Session.ID))
		case machine.Examine:
			acts = append(acts, []string{"examined " + h.name(e.Delegation.ID)})
		case machine.RunTool:
			a := h.name(e.Action.ID)
			acts = append(acts, []string{"done " + a})
			if p, _ := either[machine.Process](h.w.disk, machine.Processes, string(e.Process.ID)); p.State.Ended() || h.tended(p.ID) {
				acts = append(acts, []string{"done " + a + " seen"})
			}
		}
	}
	return acts
}

// summaries are made of a conversation: more or less of it stays, or none is made.
func (h *history) summaries(sid id.Session) (lines []string) {
	for _, tail := range []int{0, 20, 60, 200} {
		lines = append(lines, fmt.Sprintf(`sum %s "s" tail=%d`, h.name(sid), tail))
	}
	return append(lines, fmt.Sprintf("sum %s failed", h.name(sid)))
}

// commands are those that a model may run.
func (h *history) commands(machine.Turn) []string {
	const fg, bg, mute = `terminal {"command":"make"}`, `terminal {"command":"serve","background":true}`, `terminal {"command":"log","background":true,"notify":false}`
	return []string{bg, fg, mute, bg + " " + fg, bg + " " + bg + " " + mute, `terminal {"command":""}`, `fly {}`, `send_file {"path":"report.txt","caption":"c"}`, `send_file {"path":"a"} ` + fg}
}

// delegations are those that a model may order.
func (h *history) delegations(t machine.Turn) []string {
	const sync, async = `delegate_task {"goal":"g","background":false}`, `delegate_task {"goal":"g"}`
	calls := []string{
		async, sync, `delegate_task {"tasks":[{"goal":"a"},{"goal":"b"}]}`, sync + ` terminal {"command":"serve","background":true}`,
		sync + " " + sync, `delegate_task {"goal":""}`, `delegate_task {"action":"list"}`,
	}
	for _, d := range h.w.disk.lane(t.Session).Delegations {
		x, _ := get[machine.Delegation](h.w.disk, machine.Delegations, string(d))
		calls = append(calls, fmt.Sprintf(`delegate_task {"action":"stop","delegation_id":"%s"}`, h.name(d)),
			fmt.Sprintf(`delegate_task {"action":"stop","subagent_id":"%s"}`, h.name(x.Children[0].Session)))
	}
	return calls
}

// controls are what a model may do with its processes.
func (h *history) controls(t machine.Turn) []string {
	calls := []string{`process_manage {"action":"list"}`}
	for _, p := range all[machine.Process](h.w.disk, machine.Processes) {
		if p.StartedBy != t.Session && p.Owner != t.Session {
			continue
		}
		for _, action := range []string{"wait", "kill", "log", "poll", "handoff", "handoff"} {
			calls = append(calls, fmt.Sprintf(`process_manage {"action":"%s","process_id":"%s","data":"it"}`, action, h.name(p.ID)))
		}
	}
	return calls
}

// operators end conversations, stop delegations, kill processes, and deal with dead letters.
func (h *history) operators() [][]string {
	var ends, halts, kills, letters []string
	for _, s := range all[session.Session](h.w.disk, machine.Sessions) {
		ends = append(ends, "end "+h.name(s.ID))
	}
	for _, d := range all[machine.Delegation](h.w.disk, machine.Delegations) {
		halts = append(halts, "halt "+h.name(d.ID))
	}
	for _, p := range all[machine.Process](h.w.disk, machine.Processes) {
		kills = append(kills, "kill "+h.name(p.ID))
	}
	for _, c := range all[delivery.Completion](h.w.disk, machine.Completions) {
		n := h.name(c.ID)
		letters = append(letters, "requeue "+n, "drop "+n, "requeue "+n+" to=dm", "requeue "+n+" to=topic9")
	}
	for _, m := range all[delivery.Outgoing](h.w.disk, machine.Outgoings) {
		n := h.name(m.ID)
		letters = append(letters, "requeue "+n, "drop "+n, "requeue "+n+" to=dm2")
	}
	return [][]string{ends, halts, kills, letters, letters}
}

// trouble comes in all forms.
func (h *history) trouble() [][]string {
	return [][]string{
		{"tick 1s", "tick 10s", "tick 45s", "tick 2h"},
		{"crash"},
		{"crash", "reopen", "restore"},
		{"full"},
		{"again 1", "again 2", "again 3", "say dm " + h.text() + " event=e1", "new dm event=e2"},
		{"back 90s", "back 3h"},
		{
			"policy surface=on", "policy surface=on", "policy surface=off", "policy inbox=1", "policy inbox=3", "policy iterations=3",
			"policy iterations=90", "policy unknown=resend", "policy unknown=hold", "policy expire=30m", "policy idle=1h", "policy idle=30s",
			"policy idle=0",
		},
	}
}
