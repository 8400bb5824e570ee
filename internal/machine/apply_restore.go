package machine

import (
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/session"
)

// park is the first decision on a store that was restored from a copy. What was under way when the copy was made may have
// come to its end since, and nobody can tell: nothing of it is done again by itself. Messages are unknown, turns and
// delegations end where they stand, what turns had bound is among the dead letters, and texts that waited are not run. Each
// conversation that had something under way is told so, in words of its own.
func (o *Overlay) park() {
	of := o.meta.At.UTC().Format("2006-01-02 15:04 MST")
	why := "the store was restored from a copy of " + of
	o.meta.Restored = false
	o.note(Record{Kind: "daemon", State: "restored", Why: why})
	for _, tid := range o.previews.all() { // one may be the answer by now: none is touched
		o.previews.del(tid)
	}
	for _, mid := range o.outgoing.all() {
		if m, _ := o.outgoing.get(mid); !m.Finished() {
			o.step(delivery.Park(m, o.now))
		}
	}
	for _, sid := range o.lanes.all() {
		if s, presence := o.Session(sid); presence == session.Present && s.HumanFacing() {
			o.parkSession(s, why)
		}
	}
	for _, did := range o.delegations.all() { // of sessions whose records cannot be read
		if d, _ := o.delegations.get(did); d.State == DelegationRunning {
			d.Quiet = true
			o.delegations.put(did, d)
			o.interruptDelegation(did, why)
		}
	}
	for _, pid := range o.processes.all() { // one that runs or ended is found again, one that is not there is never started
		if p, _ := o.processes.get(pid); p.State == ProcessStarting && p.Kill == "" {
			o.kill(p, why)
		}
	}
}

// parkSession ends what a conversation had under way.
func (o *Overlay) parkSession(s session.Session, why string) {
	l := o.lane(s.ID)
	dropped := l.Texts
	l.Texts = nil
	o.setLane(l)
	o.discard(s.ID, dropped)
	t, busy := o.turns.get(l.Turn)
	if busy { // first of all, so that the end of what it waits for moves it no more
		s.Generation++
		o.sessions.put(s.ID, s)
		for _, c := range o.interrupt(t, why) {
			o.bury(c, delivery.ReasonRestored, "")
		}
		o.write(Entry{Session: s.ID, Turn: t.ID, Kind: EntryAssistant, Content: "(Stopped: " + why + ".)"})
	}
	n := o.stopChildren(s.ID, true, why)
	if s.Kind == session.API { // what came to it makes entries; its client opens the turns
		o.wake(s.ID)
	}
	if s.Ended() || s.Kind != session.Chat || !busy && n == 0 && len(dropped) == 0 {
		return
	}
	text := "⚠ I was set back: " + why + ". What I was doing then is stopped. Look what came of it before you ask for it again."
	o.say(s.Key.Address(), withDropped(text, dropped), "", "", s.ID, "")
}
