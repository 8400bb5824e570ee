package machine_test

import (
	"fmt"
	"slices"

	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
)

// completions: done, dead or waiting, and in exactly the list that the state names.
func (r *rules) completions(s step) error {
	where := map[id.Completion][]string{}
	note := func(list []id.Completion, name string) {
		for _, c := range list {
			where[c] = append(where[c], name)
		}
	}
	for _, l := range all[machine.Lane](s.after, machine.Lanes) {
		note(l.Inbox, "inbox "+string(l.Session))
		note(l.Overflow, "overflow "+string(l.Session))
		note(l.Kept, "kept "+string(l.Session))
	}
	for _, t := range all[machine.Turn](s.after, machine.Turns) {
		note(t.Bound, "bound "+string(t.ID))
	}
	live := all[delivery.Completion](s.after, machine.Completions)
	for _, c := range live {
		var want []string
		switch c.State {
		case delivery.Admitted:
			want = []string{"inbox " + string(c.Owner)}
		case delivery.Pending:
			want = []string{"overflow " + string(c.Owner)}
		case delivery.Bound:
			want = []string{"bound " + string(c.Turn)}
		case delivery.Dead:
			if c.Kept != "" {
				want = []string{"kept " + string(c.Kept)}
			}
			if c.Reason == "" {
				return fmt.Errorf("%s is dead without a reason", c.ID)
			}
		default:
			return fmt.Errorf("%s is %s and still in hand", c.ID, c.State)
		}
		if !slices.Equal(where[c.ID], want) {
			return fmt.Errorf("%s is %s and in %v, want %v", c.ID, c.State, where[c.ID], want)
		}
		if _, twice := s.after[machine.Completions.Done()][string(c.ID)]; twice {
			return fmt.Errorf("%s is over and in hand", c.ID)
		}
		if c.OpensTurn() && c.State == delivery.Pending && s.after.lane(c.Owner).Turn == "" && !stoppedLately(s, c.Owner) {
			return fmt.Errorf("%s waits for room in %s, where no turn runs", c.ID, c.Owner)
		}
		delete(where, c.ID)
	}
	for cid, lists := range where {
		return fmt.Errorf("%v name %s, which is not in hand", lists, cid)
	}
	for _, c := range all[delivery.Completion](s.after, machine.Completions.Done()) {
		if c.State != delivery.Done || c.Reason == "" {
			return fmt.Errorf("%s is over as %s (%s)", c.ID, c.State, c.Reason)
		}
	}
	return nil
}

// stoppedLately: after /stop what was admitted waits for the next turn.
func stoppedLately(s step, sid id.Session) bool {
	l := s.after.lane(sid)
	t, _ := either[machine.Turn](s.after, machine.Turns, string(l.Last))
	return t.State == machine.TurnInterrupted
}

// facts: a process or delegation that ended was told of once, as the result of a call or as a completion.
func (r *rules) facts(s step) error {
	about := map[string]int{}
	for _, t := range []machine.Table{machine.Completions, machine.Completions.Done()} {
		for _, c := range all[delivery.Completion](s.after, t) {
			if about[c.Subject]++; about[c.Subject] > 1 {
				return fmt.Errorf("%s has two completions", c.Subject)
			}
		}
	}
	for _, t := range []machine.Table{machine.Delegations, machine.Delegations.Done()} {
		for _, d := range all[machine.Delegation](s.after, t) {
			want := 0
			if d.State != machine.DelegationRunning && d.Completion != "" {
				want = 1
			}
			if n := about[string(d.ID)]; n != want {
				return fmt.Errorf("%s is %s and has %d completions, want %d", d.ID, d.State, n, want)
			}
			if d.State != machine.DelegationRunning && d.Completion == "" && !d.Told && d.Background {
				return fmt.Errorf("%s ended and nobody is told", d.ID)
			}
		}
	}
	for _, p := range all[machine.Process](s.after, machine.Processes) {
		n := about[string(p.ID)]
		switch silent := p.Seen || p.Mute; {
		case !p.State.Ended() && n > 0:
			return fmt.Errorf("%s runs and has a completion", p.ID)
		case p.State.Ended() && p.Background && !silent && p.State != machine.ProcessFailedStart && n != 1:
			return fmt.Errorf("%s ended in the background and has %d completions", p.ID, n)
		case p.State.Ended() && p.Mute && n > 0:
			return fmt.Errorf("%s is mute and has a completion", p.ID)
		}
	}
	return nil
}

// running: lanes name what runs, exactly, and a process that was handed off is its new owner's.
func (r *rules) running(s step) error {
	processes, delegations := map[id.Session][]string{}, map[id.Session][]string{}
	for _, p := range all[machine.Process](s.after, machine.Processes) {
		owner := s.after.session(p.Owner)
		if !p.State.Ended() {
			processes[p.Owner] = append(processes[p.Owner], string(p.ID))
		}
		switch {
		case p.HandedOff != "" && (!owner.HumanFacing() || p.Child != nil || p.Pin != p.Owner):
			return fmt.Errorf("%s was handed off to %s, pin %s", p.ID, p.Owner, p.Pin)
		case p.HandedOff == "" && (p.Owner != p.StartedBy || p.Pin != p.StartedBy):
			return fmt.Errorf("%s of %s belongs to %s, pin %s", p.ID, p.StartedBy, p.Owner, p.Pin)
		case !p.State.Ended() && owner.Kind == session.Subagent && owner.Ended() && p.Kill == "":
			return fmt.Errorf("%s goes on, and its subagent has ended", p.ID)
		}
	}
	for _, d := range all[machine.Delegation](s.after, machine.Delegations) {
		if d.State != machine.DelegationRunning {
			continue
		}
		delegations[d.Session] = append(delegations[d.Session], string(d.ID))
		for _, c := range d.Children {
			x := s.after.session(c.Session)
			if x.DelegateFrom != d.Session || (c.State == machine.DelegationRunning) == x.Ended() {
				return fmt.Errorf("%s of %s: %s, ended %t", c.Session, d.ID, c.State, x.Ended())
			}
			if c.State == machine.DelegationRunning && s.after.lane(c.Session).Turn == "" {
				return fmt.Errorf("%s has not ended and no turn runs", c.Session)
			}
		}
	}
	for _, l := range all[machine.Lane](s.after, machine.Lanes) {
		if !same(l.Processes, processes[l.Session]) {
			return fmt.Errorf("the lane of %s names %v, running are %v", l.Session, l.Processes, processes[l.Session])
		}
		if !same(l.Delegations, delegations[l.Session]) {
			return fmt.Errorf("the lane of %s names %v, running are %v", l.Session, l.Delegations, delegations[l.Session])
		}
	}
	return nil
}

// same compares as sets.
func same[T ~string](a []T, b []string) bool {
	list := make([]string, 0, len(a))
	for _, x := range a {
		list = append(list, string(x))
	}
	slices.Sort(list)
	b = slices.Clone(b)
	slices.Sort(b)
	return slices.Equal(list, b)
}

// crossing: what enters a transcript belongs to that conversation, and what was sent of a completion went to its place.
func (r *rules) crossing(s step) error {
	if s.lost {
		return nil
	}
	for _, c := range s.changes {
		e, ok := c.Value.(machine.Entry)
		if !ok || e.Kind != machine.EntryNotice || e.Completion == "" {
			continue
		}
		x, ok := either[delivery.Completion](s.after, machine.Completions, string(e.Completion))
		owner := ownerOf(s.after, x.Pin)
		switch {
		case !ok:
			return fmt.Errorf("an entry of %s tells of %s, which is not there", e.Session, e.Completion)
		case owner.ID != e.Session:
			return fmt.Errorf("%s belongs to %s and entered %s", e.Completion, owner.ID, e.Session)
		case s.after.session(e.Session).Ended():
			return fmt.Errorf("%s entered %s, which has ended", e.Completion, e.Session)
		}
	}
	for _, m := range newMessages(s) {
		x, ok := either[delivery.Completion](s.after, machine.Completions, m.Cause)
		if ok && s.after.session(ownerOf(s.after, x.Pin).ID).Key.Address() != m.To {
			return fmt.Errorf("the receipt of %s went to %v", m.Cause, m.To)
		}
		if t, ok := either[machine.Turn](s.after, machine.Turns, m.Cause); ok && ownerOf(s.after, t.Session).Key.Address() != m.To {
			return fmt.Errorf("the answer of %s went to %v", m.Cause, m.To)
		}
	}
	return nil
}

// newMessages are those that a step queued for the first time.
func newMessages(s step) (list []delivery.Outgoing) {
	for _, c := range s.changes {
		m, ok := c.Value.(delivery.Outgoing)
		if _, was := either[delivery.Outgoing](s.before, machine.Outgoings, c.Key); ok && !was {
			list = append(list, m)
		}
	}
	return list
}
