package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
)

// say queues a text for a place, behind what its chat waits for already. It returns nothing for an empty text.
func (o *Overlay) say(to chat.Address, text, replyTo, cause string, sid id.Session, turn id.Turn) id.Outgoing {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	m := delivery.Outgoing{
		ID: id.Outgoing(o.newID(id.PrefixOutgoing)), Profile: to.Profile, To: o.inward(to), Session: sid, Turn: turn, Cause: cause, Text: text,
		ReplyTo: replyTo, State: delivery.Queued, CreatedAt: o.now, UpdatedAt: o.now, QueuedAt: o.now, NextAt: o.now,
	}
	o.enqueue(m)
	return m.ID
}

func (o *Overlay) enqueue(m delivery.Outgoing) {
	m.Order = o.meta.Seq
	o.outgoing.put(m.ID, m)
	k := chatOf(m.To)
	queue, _ := o.chats.get(k)
	o.chats.put(k, with(queue, m.ID))
	o.mention(m, "")
	o.pass(m.To, m.Turn)
	if len(queue) == 0 {
		o.schedule(k)
	}
}

// schedule sees to the first message of a chat: it is prepared, or asked for, when it is due, or its time is awaited.
func (o *Overlay) schedule(k string) {
	queue, _ := o.chats.get(k)
	if len(queue) == 0 {
		return
	}
	m, _ := o.outgoing.get(queue[0])
	switch {
	case m.State != delivery.Queued && m.Doubt == "":
	case m.NextAt.After(o.now):
		o.emit(Wake{m.NextAt, string(m.ID)})
	case m.Doubt != "":
		o.emit(Observe{o.addressed(m), m.Current()})
	default:
		o.emit(Prepare{o.addressed(m)})
	}
}

// addressed is the message as it is to go out: at the chat's present id.
func (o *Overlay) addressed(m delivery.Outgoing) delivery.Outgoing {
	m.To = o.outward(m.To)
	return m
}

// claim marks the next part of a message as being sent, durably, before anything is sent.
func (o *Overlay) claim(r Claim) (Answer, error) {
	m, ok := o.outgoing.get(r.Outgoing)
	queue, _ := o.chats.get(chatOf(m.To))
	if !ok || m.State != delivery.Queued || len(queue) == 0 || queue[0] != m.ID {
		return Answer{}, ErrStale
	}
	if m.NextAt.After(o.now) { // not yet: the clock was put back, or this was asked for before
		o.schedule(chatOf(m.To))
		return Answer{}, ErrStale
	}
	m.Idempotent, m.Observable = r.Idempotent, r.Observable
	if len(m.Parts) == 0 {
		m.Parts = slices.Clone(r.Parts)
		for i := range m.Parts {
			m.Parts[i].State, m.Parts[i].Marked = delivery.Queued, m.Doubtful && !m.Idempotent
		}
	}
	if m.Parts[0].State == delivery.Queued { // decided anew each time: the answer may have waited until the phone has to ring
		into := ""
		if p, ok := o.waiting(m.Turn, m.ID); ok && !r.Anew && p.Holds(o.now) {
			into = p.MessageID
		}
		if m.Parts[0].Edits != into {
			m.Parts = slices.Clone(m.Parts)
			m.Parts[0].Edits = into
		}
	}
	m = delivery.Begin(m, o.now)
	o.step(m)
	return Answer{Outgoing: m.ID}, nil
}

// sendDone takes the outcome of an attempt and decides on the next one.
func (o *Overlay) sendDone(r SendDone) (Answer, error) {
	m, ok := o.outgoing.get(r.Outgoing)
	if !ok || m.State != delivery.Sending || m.Doubt != "" || r.Part != m.Current() || r.Try != m.Tries {
		return Answer{}, ErrStale
	}
	if f := r.Outcome.Failure; f != nil && f.Fault == chat.MovedChat {
		o.moved(m.To.Account, m.To.Chat, f.MovedTo)
	}
	o.goOn(delivery.Next(m, r.Part, r.Outcome, o.now, o.policy(m.Profile).Delivery))
	return Answer{}, nil
}

// observed takes what the platform said to the question whether a part had arrived.
func (o *Overlay) observed(r Observed) (Answer, error) {
	m, ok := o.outgoing.get(r.Outgoing)
	if !ok || m.Doubt == "" || r.Part != m.Current() || r.Try != m.Tries || r.Look != m.Waits {
		return Answer{}, ErrStale
	}
	o.goOn(delivery.Observed(m, r.Part, r.Sighting, o.now, o.policy(m.Profile).Delivery))
	return Answer{}, nil
}

// goOn stores a message after its part in hand came to something, and begins what is due.
func (o *Overlay) goOn(m delivery.Outgoing) {
	if m.State == delivery.Queued && !m.NextAt.After(o.now) {
		m = delivery.Begin(m, o.now) // the next part, or the same one in another form: no need to ask again
	}
	o.step(m)
}

// step stores a message after a decision and sees to what follows from it.
func (o *Overlay) step(m delivery.Outgoing) {
	k := chatOf(m.To)
	if m.State == delivery.Sent {
		o.outgoing.del(m.ID)
		o.archive(Outgoings, string(m.ID), m)
		o.letGo(m)
	} else {
		o.outgoing.put(m.ID, m)
	}
	if p, ok := o.waiting(m.Turn, m.ID); ok && len(m.Parts) > 0 && m.Parts[0].State == delivery.Sent && m.Parts[0].MessageID == p.MessageID {
		o.previews.del(p.Turn) // it is the answer now
	} else if ok && (m.Finished() || len(m.Parts) > 0 && m.Parts[0].State == delivery.Sent) {
		o.retract(p)
	}
	o.mention(m, m.Reason)
	switch {
	case m.Finished():
		queue, _ := o.chats.get(k)
		if queue = without(queue, m.ID); len(queue) == 0 {
			o.chats.del(k)
		} else {
			o.chats.put(k, queue)
		}
		o.schedule(k)
	case m.Doubt != "":
		o.schedule(k)
	case m.State == delivery.Sending:
		o.emit(Transmit{o.addressed(m), m.Current()})
	default:
		o.emit(Wake{m.NextAt, string(m.ID)})
	}
}

// mention writes a message's transition into the journal.
func (o *Overlay) mention(m delivery.Outgoing, why string) {
	if why == "" {
		why = m.Detail
	}
	r := Record{Kind: "outgoing", ID: string(m.ID), State: string(m.State), Session: m.Session, Cause: m.Cause, Why: why}
	if m.Finished() {
		r.Of, r.Since = string(m.To.Platform), m.QueuedAt
	}
	o.note(r)
}

// due takes the coming of a time that was awaited.
func (o *Overlay) due(r Due) (Answer, error) {
	switch {
	case r.ID == duePrune:
		o.prune()
	case strings.HasPrefix(r.ID, id.PrefixSession):
		o.dueText(id.Session(r.ID))
	case strings.HasPrefix(r.ID, id.PrefixTurn):
		t, ok := o.turns.get(id.Turn(r.ID))
		if !ok || t.State != TurnWaiting {
			return Answer{}, ErrStale
		}
		if t.NextAt.After(o.now) { // not yet: the clock was put back
			o.emit(Wake{t.NextAt, string(t.ID)})
			return Answer{}, nil
		}
		t.State, t.UpdatedAt = TurnRunning, o.now
		t = o.join(t)
		o.turns.put(t.ID, t)
		s, _ := o.sessions.get(t.Session)
		o.emit(RunStep{t, s})
	case strings.HasPrefix(r.ID, id.PrefixOutgoing):
		m, ok := o.outgoing.get(id.Outgoing(r.ID))
		queue, _ := o.chats.get(chatOf(m.To))
		if !ok || len(queue) == 0 || queue[0] != m.ID {
			return Answer{}, ErrStale
		}
		o.schedule(chatOf(m.To))
	}
	return Answer{}, nil
}

// reachable makes due what waited for an account.
func (o *Overlay) reachable(r Reachable) (Answer, error) {
	for _, k := range o.chats.all() {
		queue, _ := o.chats.get(k)
		m, _ := o.outgoing.get(queue[0])
		if m.To.Account == r.Account && (m.State == delivery.Queued || m.Doubt != "") && m.Unreached && m.NextAt.After(o.now) {
			m.NextAt = o.now
			o.outgoing.put(m.ID, m)
			o.schedule(k)
		}
	}
	return Answer{}, nil
}

// requeue tries a dead letter again, as a person asked.
func (o *Overlay) requeue(r Requeue) (Answer, error) {
	if r.To != nil {
		to := o.inward(*r.To)
		r.To = &to
	}
	if m, ok := o.outgoing.get(id.Outgoing(r.ID)); ok {
		switch {
		case !m.Finished():
			return refuse("message %s is still on its way (%s)", m.ID, m.State)
		case r.To != nil && r.To.Profile != m.Profile:
			return refuse("message %s belongs to profile %s: it cannot go to %s", m.ID, m.Profile, r.To.Profile)
		}
		m = delivery.Retry(m, r.To, o.now)
		o.enqueue(m)
		return Answer{Outgoing: m.ID, Text: fmt.Sprintf("Message %s is queued again.", m.ID)}, nil
	}
	c, ok := o.completions.get(id.Completion(r.ID))
	switch {
	case !ok:
		return refuse("there is no dead letter %s", r.ID)
	case c.State != delivery.Dead:
		return refuse("completion %s is not dead (%s)", c.ID, c.State)
	case r.To != nil && r.To.Profile != c.Profile:
		return refuse("completion %s belongs to profile %s: it cannot go to %s", c.ID, c.Profile, r.To.Profile)
	case r.To == nil && c.Kept != "":
		return refuse("completion %s came after its conversation had ended. Resume that (/resume %s), or say where it is to go with --to", c.ID, c.Kept)
	}
	if c.Kept != "" {
		l := o.lane(c.Kept)
		l.Kept = without(l.Kept, c.ID)
		o.setLane(l)
	}
	if r.To != nil { // a person decides whose it is now
		c.Pin = o.conversation(chat.KeyOf(*r.To, r.Keying)).ID
	}
	o.route(c.Revive(o.now))
	return Answer{Text: fmt.Sprintf("Completion %s is pending again.", c.ID)}, nil
}

// drop gives a dead letter up, or a message that waits, as a person asked. What is being sent comes to its outcome first.
func (o *Overlay) drop(r Drop) (Answer, error) {
	if m, ok := o.outgoing.get(id.Outgoing(r.ID)); ok {
		switch {
		case m.Finished():
			m.Reason, m.UpdatedAt = delivery.DoneDropped, o.now
			o.mention(m, m.Reason)
		case m.State == delivery.Sending && m.Doubt == "":
			return refuse("message %s is being sent this moment: try again when that has come to something (homing queue show %s)", m.ID, m.ID)
		default:
			m = delivery.Drop(m, o.now)
			o.step(m) // the next one of its chat is no longer behind it
		}
		o.outgoing.del(m.ID)
		o.archive(Outgoings, string(m.ID), m)
		o.letGo(m)
		return Answer{Text: fmt.Sprintf("Message %s is dropped.", m.ID)}, nil
	}
	c, ok := o.completions.get(id.Completion(r.ID))
	if !ok || c.State != delivery.Dead {
		return refuse("there is no dead letter %s", r.ID)
	}
	if c.Kept != "" {
		l := o.lane(c.Kept)
		l.Kept = without(l.Kept, c.ID)
		o.setLane(l)
	}
	o.settle(c, delivery.DoneDropped)
	return Answer{Text: fmt.Sprintf("Completion %s is dropped.", c.ID)}, nil
}
