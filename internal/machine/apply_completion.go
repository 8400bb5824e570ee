package machine

import (
	"slices"

	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/session"
)

// route finds out whose a pending completion is and does what is owed: into the owner's inbox, a receipt, nothing, or a
// dead letter. It reads routes and never moves one.
func (o *Overlay) route(c delivery.Completion) {
	c.Verdict = session.Resolve(o, c.Pin)
	c.UpdatedAt = o.now
	switch delivery.Judge(c, c.Verdict) {
	case delivery.OweNothing:
		o.settle(c, delivery.DoneSuppressed)
	case delivery.OweNever:
		kept := id.Session("")
		if c.Verdict.Reason == session.Boundary {
			kept = c.Verdict.At
		}
		o.bury(c, string(c.Verdict.Reason), kept)
	case delivery.OweLater: // cannot be: a machine decides nothing before its state is whole
		o.completions.put(c.ID, c)
	case delivery.OweReceipt:
		o.settle(o.receipt(c), delivery.DoneReceipt)
	case delivery.OweSurfaced:
		c = o.receipt(c)
		c.Quiet = true
		o.admit(c)
	case delivery.OweNotice:
		o.admit(c)
	}
}

// admit puts a completion into its owner's inbox, in the step that proved the owner. When that is full it waits, for free
// and in order. A turn opens if none runs and this one asks for it.
func (o *Overlay) admit(c delivery.Completion) {
	c.Owner = c.Verdict.Owner
	l := o.lane(c.Owner)
	s, _ := o.sessions.get(c.Owner)
	c.Quiet = c.Quiet || s.Kind == session.API // its client opens the turns
	l.Came = c.ID
	why := ""
	if len(l.Inbox) < max(o.policy(c.Profile).InboxLimit, 1) && len(l.Overflow) == 0 {
		c.State = delivery.Admitted
		l.Inbox = with(l.Inbox, c.ID)
	} else {
		why = "the inbox is full"
		l.Overflow = with(l.Overflow, c.ID)
	}
	o.completions.put(c.ID, c)
	o.setLane(l)
	o.tell(c, why)
	if c.OpensTurn() || s.Kind == session.API {
		o.wake(c.Owner)
	}
}

// rest makes entries of what came to an API session while no turn runs there: nobody but its client opens one.
func (o *Overlay) rest(sid id.Session) {
	for {
		l := o.lane(sid)
		came := l.Inbox
		if len(came) == 0 {
			return
		}
		l.Inbox = nil
		o.setLane(l)
		for _, cid := range came {
			c, _ := o.completions.get(cid)
			o.settle(o.enter(c, "", l.Turns), delivery.DoneEntered)
		}
		o.refill(sid)
	}
}

// enter writes the notice of a completion into its owner's transcript, unless it stands there already.
func (o *Overlay) enter(c delivery.Completion, turn id.Turn, no int) delivery.Completion {
	if slices.Contains(c.Entered, c.Owner) {
		return c
	}
	c.Entered = with(c.Entered, c.Owner)
	before := slices.ContainsFunc(c.Verdict.Path, func(h session.Hop) bool {
		s, _ := o.sessions.get(h.Session)
		return s.EndReason == session.Idle
	})
	o.write(Entry{Session: c.Owner, Turn: turn, Kind: EntryNotice, Content: notice(c, before, no, o.now), Completion: c.ID})
	return c
}

// wake lets the session's next turn open at the end of this step, if none runs by then.
func (o *Overlay) wake(sid id.Session) { o.woken = with(o.woken, sid) }

// receipt sends the line about a completion to its owner's place, once.
func (o *Overlay) receipt(c delivery.Completion) delivery.Completion {
	s, ok := o.sessions.get(c.Verdict.Owner)
	if ok && s.Kind == session.Chat && c.Receipt != "" {
		c.Message = o.say(s.Key.Address(), c.Receipt, "", string(c.ID), s.ID, "")
		if !c.Rehearsal {
			l := o.lane(s.ID)
			l.Came = c.ID
			o.setLane(l)
		}
	}
	c.Owner, c.Receipt = c.Verdict.Owner, ""
	return c
}

// refill looks again at what waited for room in the session's inbox.
func (o *Overlay) refill(sid id.Session) {
	l := o.lane(sid)
	waiting := l.Overflow
	if len(waiting) == 0 {
		return
	}
	l.Overflow = nil
	o.setLane(l)
	for _, cid := range waiting {
		c, _ := o.completions.get(cid)
		o.route(c)
	}
}

// prove looks again at what the session was admitted: what is not its own any more, because something that the proof
// names has moved, goes where it belongs now.
func (o *Overlay) prove(sid id.Session) {
	l := o.lane(sid)
	var own []id.Completion
	var moved []delivery.Completion
	for _, cid := range l.Inbox {
		c, _ := o.completions.get(cid)
		if !c.Verdict.Holds(o) {
			c.Verdict = session.Resolve(o, c.Pin)
			if c.Verdict.Outcome != session.Deliver || c.Verdict.Owner != sid {
				c.State = delivery.Pending
				moved = append(moved, c)
				continue
			}
			o.completions.put(cid, c)
		}
		own = append(own, cid)
	}
	if len(moved) == 0 {
		return
	}
	l.Inbox = own
	o.setLane(l)
	for _, c := range moved {
		o.route(c)
	}
}

// settle ends a completion as done.
func (o *Overlay) settle(c delivery.Completion, how string) {
	c = c.Settle(how, o.now)
	o.completions.del(c.ID)
	o.archive(Completions, string(c.ID), c)
	o.tell(c, how)
}

// bury parks a completion as a dead letter, with the conversation that it is kept with, if any.
func (o *Overlay) bury(c delivery.Completion, reason string, kept id.Session) {
	c = c.Bury(reason, kept, o.now)
	o.completions.put(c.ID, c)
	if kept != "" {
		l := o.lane(kept)
		l.Kept = with(l.Kept, c.ID)
		o.setLane(l)
	}
	o.tell(c, reason)
}

// revive makes what a boundary left with a conversation pending again, once its person is back.
func (o *Overlay) revive(sid id.Session) {
	l := o.lane(sid)
	kept := l.Kept
	l.Kept = nil
	o.setLane(l)
	for _, cid := range kept {
		c, _ := o.completions.get(cid)
		o.route(c.Revive(o.now))
	}
}

// tell writes a completion's transition into the journal.
func (o *Overlay) tell(c delivery.Completion, why string) {
	if c.Verdict.Outcome == session.Terminal && why == "" {
		why = string(c.Verdict.Reason)
	}
	r := Record{Kind: "completion", ID: string(c.ID), State: string(c.State), Session: c.Owner, Route: c.Verdict.Key, Cause: c.Subject, Why: why}
	if c.State == delivery.Done || c.State == delivery.Dead {
		r.Of = string(c.Kind)
	}
	o.note(r)
}
