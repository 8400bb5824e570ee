package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/session"
)

// compact takes a person's wish that the conversation is summed up. The model is asked at once when none of its turns runs,
// else at the running one's next step. What came of it is said when it is done.
func (o *Overlay) compact(key chat.Key, replyTo string) (id.Session, string) {
	r, _ := o.routes.get(key)
	sid := r.Current
	l := o.lane(sid)
	if _, presence := o.Session(sid); presence != session.Present || l.Entries == 0 {
		return sid, "There is nothing to sum up here: nothing has been said yet."
	}
	text := "I sum the conversation up. What was said last stays as it is."
	switch {
	case l.Turn != "":
		text = "I sum the conversation up at the next step of what I am doing."
	case l.Compact != nil:
		text = "The conversation is being summed up."
	}
	if l.Compact == nil {
		l.Compact = &CompactAsked{ReplyTo: replyTo}
		o.setLane(l)
		o.note(Record{Kind: "command", ID: CommandCompact, Session: sid, Route: key})
		o.sumUp(sid)
	}
	return sid, text
}

// sumUp asks for the summary that a person waits for, where no turn runs that does it at its next step, or is about to.
func (o *Overlay) sumUp(sid id.Session) {
	l := o.lane(sid)
	s, presence := o.Session(sid)
	asked := func(e Effect) bool { c, ok := e.(Compact); return ok && c.Session.ID == sid }
	if l.Compact == nil || l.Turn != "" || presence != session.Present || slices.Contains(o.woken, sid) || slices.ContainsFunc(o.effects, asked) {
		return
	}
	o.emit(Compact{s})
}

// dropCompact forgets a /compact that is not carried out yet, and tells whether there was one.
func (o *Overlay) dropCompact(sid id.Session) bool {
	l := o.lane(sid)
	if l.Compact == nil {
		return false
	}
	l.Compact = nil
	o.setLane(l)
	if l.Turn == "" {
		o.emit(Cancel{Session: sid})
	}
	return true
}

// compacted puts a summary in the place of what it was made from, unless the conversation has moved since: then it tells of
// what is not so any more. A summary that is no gain is refused.
func (o *Overlay) compacted(r Compacted) (Answer, error) {
	s, presence := o.Session(r.Session)
	l := o.lane(r.Session)
	if presence != session.Present || s.Ended() || s.Generation != r.Generation || l.Turn != r.Turn {
		return Answer{}, ErrStale
	}
	asked := l.Compact
	if r.Failed != "" { // whatever was said meanwhile: who waits is told
		if asked == nil {
			return Answer{}, ErrStale
		}
		l.Compact = nil
		o.setLane(l)
		o.say(s.Key.Address(), r.Failed, asked.ReplyTo, "", s.ID, "")
		return Answer{Session: s.ID}, nil
	}
	if l.Entries != r.Entries {
		return Answer{}, ErrStale
	}
	if t, _ := o.turns.get(l.Turn); len(t.Actions) > 0 {
		return Answer{}, ErrStale // its step is answered: calls are open
	}
	if strings.TrimSpace(r.Text) == "" || r.After >= r.Before || r.From > r.Entries {
		return refuse("a summary of session %s that is no gain", s.ID)
	}
	o.write(Entry{Session: s.ID, Turn: r.Turn, Kind: EntrySummary, Content: r.Text, From: r.From, Keep: r.Keep})
	l = o.lane(s.ID)
	l.Compact, l.Summaries = nil, l.Summaries+1
	o.setLane(l)
	o.note(Record{
		Kind: "session", ID: string(s.ID), State: "compacted", Session: s.ID, Route: s.Key, Cause: string(r.Turn),
		Why: fmt.Sprintf("%d entries, from about %d tokens to %d", r.Count, r.Before, r.After),
	})
	if asked != nil {
		o.say(s.Key.Address(), fmt.Sprintf("Summed up: %d entries, from about %d tokens to %d. They are kept, but the agent knows only the summary.",
			r.Count, r.Before, r.After), asked.ReplyTo, "", s.ID, "")
	}
	return Answer{Session: s.ID}, nil
}
