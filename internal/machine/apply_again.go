package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/session"
)

// branchMark ends the title of a branch.
const branchMark = " (branch)"

// branch lets the conversation go on in a new session that begins with a copy of the transcript so far. No person leaves:
// what waits, what comes later and what still runs is the branch's.
func (o *Overlay) branch(key chat.Key) (id.Session, string) {
	r, _ := o.routes.get(key)
	old, presence := o.Session(r.Current)
	if presence != session.Present || o.lane(old.ID).Entries == 0 {
		return r.Current, "There is nothing to branch from: nothing has been said here yet."
	}
	fresh := o.fresh(key)
	fresh.Parent = old.ID
	fresh.Title = strings.TrimSuffix(old.Title, branchMark) + branchMark
	busy := o.lane(old.ID).Turn != ""
	o.switchTo(r, &fresh, session.Branched)
	o.copyTranscript(old.ID, fresh.ID)
	text := fmt.Sprintf("The conversation goes on in a branch that knows all of it: %s. ", fresh.ID)
	if busy {
		text += "What was being answered is stopped. "
	}
	return fresh.ID, text + "The old one stays as it is: /resume " + string(old.ID)
}

// retry asks the last person's text again: what the agent said and did since is set aside, and a new turn begins on the
// text as it stands in the transcript. What the stopped turn had bound belongs to the new one.
func (o *Overlay) retry(key chat.Key) (id.Session, string) {
	r, _ := o.routes.get(key)
	asked := o.lane(r.Current).Asked
	if _, presence := o.Session(r.Current); presence != session.Present || len(asked) == 0 {
		return r.Current, "There is nothing to ask again here."
	}
	sid, last := r.Current, asked[len(asked)-1]
	_, had := o.halt(sid, "asked again by a person")
	o.write(Entry{Session: sid, Kind: EntryCut, From: last.From, Content: "/retry: what the agent said and did since the text is set aside"})
	for _, c := range had {
		c.State, c.Turn = delivery.Pending, ""
		o.route(c)
	}
	o.note(Record{Kind: "command", ID: CommandRetry, Session: sid, Route: key})
	o.refill(sid)
	o.prove(sid)
	o.begin(sid, Turn{Texts: last.Texts, ReplyTo: last.ReplyTo, From: last.From})
	return sid, "Asked again: " + last.String() + o.goesOn(sid)
}

// undo sets the last exchange aside: the person's text and everything after it, a running turn and waiting texts included.
// What was started goes on, and notices that were told stay.
func (o *Overlay) undo(key chat.Key) (id.Session, string) {
	r, _ := o.routes.get(key)
	asked := o.lane(r.Current).Asked
	if _, presence := o.Session(r.Current); presence != session.Present || len(asked) == 0 {
		return r.Current, "There is nothing to undo here."
	}
	sid, last := r.Current, asked[len(asked)-1]
	dropped := o.dropTexts(sid)
	o.discard(sid, dropped)
	t, had := o.halt(sid, "undone by a person")
	for _, c := range had {
		o.settle(c, delivery.DoneInterrupted)
	}
	o.write(Entry{Session: sid, Kind: EntryCut, From: last.From, Texts: true, Content: "/undo: what people and the agent said and did is set aside"})
	l := o.lane(sid)
	l.Asked = slices.Clone(asked[:len(asked)-1])
	o.setLane(l)
	o.note(Record{Kind: "command", ID: CommandUndo, Session: sid, Route: key})
	if t.ID != "" {
		o.wake(sid) // for what came while it ran
	}
	text := "Undone: " + last.String() + ", and all that was said after it. The agent does not know of it any more; what it has done is not taken back."
	return sid, withDropped(text+o.goesOn(sid), dropped)
}

// String names an exchange for people.
func (a Asked) String() string {
	if a.Texts > 1 {
		return fmt.Sprintf("“%s” (and %d more)", a.Words, a.Texts-1)
	}
	return "“" + a.Words + "”"
}

// goesOn says that work which was started earlier is not stopped.
func (o *Overlay) goesOn(sid id.Session) string {
	for _, of := range session.Line(o, sid) {
		l := o.lane(of)
		wanted := func(p id.Process) bool { x, _ := o.processes.get(p); return x.Kill == "" }
		if len(l.Delegations) > 0 || slices.ContainsFunc(l.Processes, wanted) {
			return "\nWhat was started goes on: /tasks shows it, /stop ends delegated work."
		}
	}
	return ""
}

// asks remembers that a person's text, the entry seq, was taken into a turn.
func (o *Overlay) asks(t Turn, seq uint64, x Text) {
	if s, _ := o.sessions.get(t.Session); s.Kind != session.Chat {
		return // nobody can say /retry there
	}
	l := o.lane(t.Session)
	l.Asked = slices.Clone(l.Asked)
	if n := len(l.Asked); t.Texts == 0 || n == 0 {
		l.Asked = append(l.Asked[max(0, n-MaxAsked+1):], Asked{From: seq, Words: firstWords(x.words())})
	}
	last := &l.Asked[len(l.Asked)-1]
	last.Texts++
	if x.MessageID != "" {
		last.ReplyTo = x.MessageID
	}
	o.setLane(l)
}
