package machine

import (
	"slices"
	"time"

	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/session"
	"github.com/homing-gateway/homing/internal/tool"
)

// recover is the first request of a life. After a crash it counts the attempt of what was being run, before it is run
// again; it gives every message that was in mid-send its label; it expires what has waited too long; and it asks for
// everything that remains to be done. On a store that was restored from a copy it parks what was under way instead.
func (o *Overlay) recover() (Answer, error) {
	before := len(o.effects)
	crashed := o.meta.Commit > 1 && !o.meta.Clean
	o.meta.Clean = false
	switch {
	case o.meta.Restored:
		o.park()
	case crashed:
		o.note(Record{Kind: "daemon", State: "recovering", Why: "the last one did not end in order"})
		for _, t := range o.inHand() {
			o.countCrash(t)
		}
	default:
		o.note(Record{Kind: "daemon", State: "started"})
	}
	for _, tid := range o.turns.all() {
		t, _ := o.turns.get(tid)
		if _, presence := o.Session(t.Session); presence != session.Present {
			o.lose(t)
		}
	}
	for _, mid := range o.outgoing.all() {
		if m, _ := o.outgoing.get(mid); m.State == delivery.Sending {
			o.step(delivery.Recover(m, o.now))
		}
	}
	for _, tid := range o.previews.all() {
		if p, _ := o.previews.get(tid); p.MessageID == "" { // whether it is there nobody knows; nothing of the answer is in it
			o.previews.del(tid)
		}
	}
	o.expire()
	o.effects = o.effects[:before] // nothing runs yet: what is to be done follows from the state alone
	o.outstanding()
	o.prune()
	return Answer{}, nil
}

// lose ends the turn of a session whose record cannot be read: nobody can go on with it. Of a subagent, its delegation does
// not know how it ended.
func (o *Overlay) lose(t Turn) {
	const why = "the record of its session cannot be read"
	for _, c := range o.interrupt(t, why) {
		o.bury(c, string(session.OwnerCorrupt), "")
	}
	o.prove(t.Session)
	for _, did := range o.delegations.all() {
		d, _ := o.delegations.get(did)
		i := slices.IndexFunc(d.Children, func(c Child) bool { return c.Session == t.Session && c.State == DelegationRunning })
		if i >= 0 {
			o.reported(did, i, DelegationUnknown, tool.Report{
				Error: why, ExitReason: string(DelegationUnknown), ModelCalls: t.Calls, Orphaned: o.orphans(o.lane(t.Session)),
			})
		}
	}
}

// inHand lists the turns whose step was being run by the daemon itself. A command under its supervisor, a delegation or a
// model that does not answer is not at fault when the daemon dies.
func (o *Overlay) inHand() (list []Turn) {
	for _, tid := range o.turns.all() {
		t, _ := o.turns.get(tid)
		if (t.State == TurnRunning || t.State == TurnRecovering) && !o.underSupervisor(t) {
			list = append(list, t)
		}
	}
	return list
}

// countCrash counts a crash against the step of a turn, before it is run again.
func (o *Overlay) countCrash(t Turn) {
	t.Crashes++
	t.State, t.UpdatedAt = TurnRecovering, o.now
	o.turns.put(t.ID, t)
	if t.Crashes < MaxCrashes {
		return
	}
	for _, aid := range t.Actions {
		if a, _ := o.actions.get(aid); a.State == ActionRunning || a.State == ActionIntended {
			o.abandon(a)
			a.State = ActionRunning
			o.actions.put(aid, a)
			o.resolve(aid, tool.Error(tool.KindUnknown, "the gateway crashed while this was carried out"), true)
		}
	}
	t, _ = o.turns.get(t.ID)
	o.finish(t, TurnQuarantined, "", "I gave this up: the gateway crashed three times in a row while working on it.")
}

// underSupervisor tells whether the turn's step is in the hands of a supervisor or of subagents.
func (o *Overlay) underSupervisor(t Turn) bool {
	for _, aid := range t.Actions {
		a, _ := o.actions.get(aid)
		if a.State == ActionRunning && (a.Process != "" || a.Delegation != "") {
			return true
		}
	}
	return false
}

// expire parks what has waited longer than delivery.expire_after. It is done at a start: while the daemon runs, a busy
// owner's inbox does not expire.
func (o *Overlay) expire() {
	late := func(since time.Time, profile string) bool {
		after := o.policy(profile).ExpireAfter
		return after > 0 && o.now.Sub(since) > after
	}
	for _, cid := range o.completions.all() {
		c, _ := o.completions.get(cid)
		if (c.State != delivery.Admitted && c.State != delivery.Pending) || !late(c.PendingSince, c.Profile) {
			continue
		}
		l := o.lane(c.Owner)
		l.Inbox, l.Overflow = without(l.Inbox, cid), without(l.Overflow, cid)
		o.setLane(l)
		o.bury(c, delivery.ReasonExpired, "")
	}
	for _, mid := range o.outgoing.all() {
		if m, _ := o.outgoing.get(mid); (m.State == delivery.Queued || m.Doubt != "") && late(m.QueuedAt, m.Profile) {
			o.step(delivery.Expire(m, o.now))
		}
	}
}

// outstanding asks for everything that remains to be done, as it follows from the state alone.
func (o *Overlay) outstanding() {
	o.sweep()
	for _, pid := range o.processes.all() {
		p, _ := o.processes.get(pid)
		if p.State.Ended() {
			continue
		}
		o.emit(Tend{p})
		if p.Kill != "" {
			o.emit(Kill{p.ID, p.Kill})
		}
	}
	for _, tid := range o.turns.all() {
		t, _ := o.turns.get(tid)
		s, _ := o.sessions.get(t.Session)
		if o.personWaits(t.Session) {
			o.nudge(tid)
		}
		acting := false
		for _, aid := range t.Actions {
			a, _ := o.actions.get(aid)
			if a.State != ActionRunning {
				continue
			}
			acting = true
			switch {
			case a.Call.Name == tool.ProcessManage:
				o.repeat(a)
			case a.Call.Name == tool.SendFile:
				if result, failed := o.startSend(a, s, true); result != "" {
					o.resolve(aid, result, failed)
					o.proceed(tid)
				}
			case tool.OnFiles(a.Call.Name):
				o.emit(RunTool{Action: a, Again: true})
			}
		}
		switch {
		case acting:
		case t.State == TurnWaiting:
			o.emit(Wake{t.NextAt, string(tid)})
		default:
			o.emit(RunStep{t, s})
		}
	}
	for _, sid := range o.lanes.all() {
		o.sumUp(sid)
		o.outstandingFiles(sid)
	}
	for _, k := range o.chats.all() {
		o.schedule(k)
	}
	for _, tid := range o.previews.all() {
		if p, _ := o.previews.get(tid); p.Leaving {
			o.retract(p)
		}
	}
	for _, did := range o.delegations.all() {
		if d, _ := o.delegations.get(did); untold(d) {
			o.emit(Examine{d})
		}
	}
}

// repeat asks again for a call about a process that only reads or waits. How long it may wait counts from its beginning.
func (o *Overlay) repeat(a Action) {
	p, ok := o.processes.get(a.Process)
	if !ok || p.Waiter == a.ID && p.Kill != "" {
		return // its end answers the call
	}
	var args tool.ProcessArgs
	if tool.Parse(a.Call.Name, a.Call.Arguments, &args) != nil {
		return
	}
	o.emit(RunTool{Action: a, Process: p, Timeout: o.patience(args, a.Session) - o.now.Sub(a.CreatedAt)})
}
