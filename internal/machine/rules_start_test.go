package machine_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/machine"
)

// start: after a Recover every live process is tended, every turn has exactly one way on, every chat its first message
// looked after; and nothing is asked for twice. // rule 10
func (r *rules) start(s step) error {
	if _, ok := s.request.(machine.Recover); !ok || s.lost || len(s.effects) == 0 {
		return nil
	}
	asked := map[string]int{}
	for _, e := range s.effects {
		switch e := e.Effect.(type) {
		case machine.Tend:
			asked["tend "+string(e.Process.ID)]++
		case machine.Kill:
			asked["kill "+string(e.Process)]++
		case machine.RunStep:
			asked["go on with "+string(e.Turn.ID)]++
		case machine.Compact:
			asked["sum up "+string(e.Session.ID)]++
		case machine.RunTool:
			asked["go on with "+string(e.Action.Turn)]++
		case machine.Prepare:
			m, _ := get[delivery.Outgoing](s.after, machine.Outgoings, string(e.Outgoing.ID))
			asked["send to "+chatOf(m.To)]++
		case machine.Observe:
			m, _ := get[delivery.Outgoing](s.after, machine.Outgoings, string(e.Outgoing.ID))
			asked["send to "+chatOf(m.To)]++
		case machine.Examine:
			asked["examine "+string(e.Delegation.ID)]++
		case machine.Fetch:
			asked["fetch "+e.File.Path]++
		case machine.Discard:
			asked["discard for "+string(e.Session)]++
		case machine.Sweep:
			asked["sweep"]++
			if err := sweeps(s.after, e); err != nil {
				return err
			}
		case machine.Retract:
			asked["take back the preview of "+string(e.Preview.Turn)]++
		case machine.Promote, machine.Release, machine.Settled:
		case machine.Wake:
			if m, ok := get[delivery.Outgoing](s.after, machine.Outgoings, e.ID); ok {
				asked["send to "+chatOf(m.To)]++
			} else if e.ID != "prune" {
				asked["go on with "+e.ID]++
			}
		default:
			return fmt.Errorf("a start asks for %T", e)
		}
	}
	want := map[string]int{"sweep": 1}
	for _, p := range all[machine.Process](s.after, machine.Processes) {
		if p.State.Ended() {
			continue
		}
		want["tend "+string(p.ID)] = 1
		if p.Kill != "" {
			want["kill "+string(p.ID)] = 1
		}
	}
	for _, t := range all[machine.Turn](s.after, machine.Turns) {
		if !heldElsewhere(s.after, t) {
			want["go on with "+string(t.ID)] = 1
		}
	}
	for _, l := range all[machine.Lane](s.after, machine.Lanes) {
		if l.Compact != nil && l.Turn == "" && !slices.Contains(r.w.unreadable, l.Session) {
			want["sum up "+string(l.Session)] = 1
		}
		if len(l.Discard) > 0 {
			want["discard for "+string(l.Session)] = 1
		}
		if slices.Contains(r.w.unreadable, l.Session) {
			continue
		}
		for _, t := range l.Texts {
			if !t.Until.IsZero() {
				want["go on with "+string(l.Session)] = 1
			}
			for _, f := range t.Files {
				if f.State == machine.FileOwed {
					want["fetch "+f.Path] = 1
				}
			}
		}
	}
	for _, p := range all[machine.Preview](s.after, machine.Previews) {
		if p.Leaving {
			want["take back the preview of "+string(p.Turn)] = 1
		}
	}
	for _, d := range all[machine.Delegation](s.after, machine.Delegations) {
		if d.Selftest != nil && d.Selftest.Report == "" {
			want["examine "+string(d.ID)] = 1
		}
	}
	for _, m := range all[delivery.Outgoing](s.after, machine.Outgoings) {
		if !m.Finished() {
			want["send to "+chatOf(m.To)] = 1
		}
	}
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if asked[k] != 1 {
			return fmt.Errorf("%s: asked for %d times", k, asked[k])
		}
		delete(asked, k)
	}
	for k := range asked {
		return fmt.Errorf("%s: nobody owes that", k)
	}
	return nil
}

// heldElsewhere: the turn waits for a command, which is tended, or for subagents, which have turns of their own.
func heldElsewhere(d disk, t machine.Turn) bool {
	for _, aid := range t.Actions {
		a, _ := get[machine.Action](d, machine.Actions, string(aid))
		if a.State != machine.ActionRunning {
			continue
		}
		p, waits := get[machine.Process](d, machine.Processes, string(a.Process))
		x, delegated := get[machine.Delegation](d, machine.Delegations, string(a.Delegation))
		return waits && (p.Action == a.ID || p.Waiter == a.ID && p.Kill != "") || delegated && x.Action == a.ID
	}
	return false
}
