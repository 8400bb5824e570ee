package machine

import (
	"time"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/id"
)

// Preview is the message in which a person can watch a turn at work: what the model has written so far, and the tools in
// use. A turn has at most one. It is on record before it is sent; the answer is put into it or comes as a new message, and
// then it is taken back.
type Preview struct {
	Turn      id.Turn      `json:"turn"`
	To        chat.Address `json:"to"`
	MessageID string       `json:"message_id,omitempty"` // none: it is being sent
	SentAt    time.Time    `json:"sent_at,omitzero"`
	AskedAt   time.Time    `json:"asked_at,omitzero"` // of the answer: when the person last wrote
	// Spent tells that the answer is not to be put there: other messages stand below, or a change may still be on its way.
	Spent   bool        `json:"spent,omitempty"`
	Answer  id.Outgoing `json:"answer,omitempty"`  // the message that takes its place
	Leaving bool        `json:"leaving,omitempty"` // it is to be taken back
}

// RingAfter is how long after the person's text the answer may still be put into the preview, which is silent. Later the
// person may be looking elsewhere: a message of its own makes the phone ring.
const RingAfter = 10 * time.Second

// Holds tells whether the answer may be put into the preview.
func (p Preview) Holds(now time.Time) bool {
	return !p.Spent && !p.SentAt.Before(p.AskedAt) && now.Sub(p.AskedAt) <= RingAfter
}

// showing takes note that the preview of a running turn is about to be sent.
func (o *Overlay) showing(r Showing) (Answer, error) {
	t, there := o.turns.get(r.Turn)
	if _, shown := o.previews.get(r.Turn); !there || shown || t.Generation != r.Generation {
		return Answer{}, ErrStale
	}
	o.previews.put(r.Turn, Preview{Turn: r.Turn, To: o.inward(r.To)})
	return Answer{}, nil
}

// shown takes note of what became of the preview: it is there, or it was not sent.
func (o *Overlay) shown(r Shown) (Answer, error) {
	p, ok := o.previews.get(r.Turn)
	switch {
	case !ok || p.MessageID != "":
		return Answer{}, ErrStale
	case r.MessageID == "":
		o.previews.del(r.Turn)
		return Answer{}, nil
	}
	queue, _ := o.chats.get(chatOf(p.To))
	p.MessageID, p.SentAt, p.Spent = r.MessageID, o.now, p.Spent || len(queue) > 0
	o.previews.put(r.Turn, p)
	if p.Leaving {
		o.retract(p)
	}
	return Answer{}, nil
}

// astray takes note that nobody knows when the last change of a preview arrives: the answer is not put there.
func (o *Overlay) astray(r Astray) (Answer, error) {
	p, ok := o.previews.get(r.Turn)
	if !ok || p.Spent {
		return Answer{}, ErrStale
	}
	p.Spent = true
	o.previews.put(r.Turn, p)
	return Answer{}, nil
}

// retracted takes note that a preview is gone, or cannot be taken back.
func (o *Overlay) retracted(r Retracted) (Answer, error) {
	if p, ok := o.previews.get(r.Turn); !ok || !p.Leaving {
		return Answer{}, ErrStale
	}
	o.previews.del(r.Turn)
	return Answer{}, nil
}

// pass takes note that a message of ours comes to stand below the previews in its chat, but for one that it answers.
func (o *Overlay) pass(to chat.Address, answers id.Turn) {
	if o.previews.empty() {
		return
	}
	for _, tid := range o.previews.all() {
		if p, _ := o.previews.get(tid); tid != answers && p.Answer == "" && !p.Spent && chatOf(p.To) == chatOf(to) {
			p.Spent = true
			o.previews.put(tid, p)
		}
	}
}

// yield lets the answer of an ending turn take the place of its preview.
func (o *Overlay) yield(t Turn, answer id.Outgoing) {
	p, ok := o.previews.get(t.ID)
	if !ok {
		return
	}
	if p.AskedAt, p.Answer = t.AskedAt, answer; answer == "" || p.MessageID == "" {
		o.retract(p)
		return
	}
	o.previews.put(p.Turn, p)
}

// retract has a preview taken back, as soon as its message is known.
func (o *Overlay) retract(p Preview) {
	p.Leaving = true
	o.previews.put(p.Turn, p)
	if p.MessageID != "" {
		p.To = o.outward(p.To)
		o.emit(Retract{p})
	}
}

// waiting is the preview whose place a message takes.
func (o *Overlay) waiting(turn id.Turn, answer id.Outgoing) (Preview, bool) {
	p, ok := o.previews.get(turn)
	return p, ok && p.Answer == answer && !p.Leaving
}
