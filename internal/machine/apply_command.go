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

// The names of commands that change something.
const (
	CommandNew    = "new"
	CommandStop   = "stop"
	CommandResume = "resume"
)

// command carries out a person's word to the gateway, at once, also while a turn runs. It answers in the same step.
func (o *Overlay) command(key chat.Key, m chat.Message, c Command) (Answer, error) {
	var text string
	sid := id.Session("")
	switch c.Name {
	case CommandNew:
		sid, text = o.newConversation(key)
	case CommandStop:
		sid, text = o.stop(key)
	case CommandResume:
		sid, text = o.resumeConversation(key, c)
	default:
		text = fmt.Sprintf("There is no command /%s.", c.Name)
	}
	o.say(m.Address, text, replyTo(m), "", sid, "")
	return Answer{Session: sid, Text: text}, nil
}

func (o *Overlay) newConversation(key chat.Key) (id.Session, string) {
	r, _ := o.routes.get(key)
	r.Key = key
	fresh := o.fresh(key)
	if r.Current == "" {
		s := o.conversation(key)
		return s.ID, "A new conversation begins."
	}
	dropped := o.switchTo(r, &fresh, session.Reset)
	text := "A new conversation begins. The old one is kept: /resume " + string(r.Current)
	return fresh.ID, withDropped(text, dropped)
}

func (o *Overlay) stop(key chat.Key) (id.Session, string) {
	r, ok := o.routes.get(key)
	if !ok || r.Current == "" {
		return "", "There is nothing to stop."
	}
	s, _ := o.sessions.get(r.Current)
	l := o.lane(s.ID)
	dropped := l.Texts
	l.Texts = nil
	o.setLane(l)
	s.Generation++
	o.sessions.put(s.ID, s)
	const why = "stopped by a person"
	var untold []string
	t, busy := o.turns.get(l.Turn)
	if busy { // first of all, so that the end of what it waits for moves it no more
		for _, c := range o.interrupt(t, why) {
			o.settle(c, delivery.DoneInterrupted)
			untold = append(untold, fmt.Sprintf("%s %s %s", c.Kind, c.Subject, c.Status))
		}
		// The next turn is not to take up what was stopped.
		o.write(Entry{Session: s.ID, Turn: t.ID, Kind: EntryAssistant, Content: "(Stopped by the person.)"})
	}
	n := o.stopChildren(s.ID, true, why)
	o.note(Record{Kind: "command", ID: CommandStop, Session: s.ID, Route: key})
	text := "There is nothing to stop."
	switch {
	case busy && n > 0:
		text = "Stopped, and the delegated work with it."
	case busy:
		text = "Stopped."
	case n > 0:
		text = "The delegated work is stopped."
	}
	if len(untold) > 0 {
		text += "\nNot told any more: " + strings.Join(untold, "; ")
	}
	text = withDropped(text, dropped)
	for _, pid := range o.lane(s.ID).Processes {
		if p, _ := o.processes.get(pid); p.Background && p.Kill == "" {
			return s.ID, text + "\nBackground processes go on; /tasks lists them."
		}
	}
	return s.ID, text
}

func (o *Overlay) resumeConversation(key chat.Key, c Command) (id.Session, string) {
	s, presence := o.Session(c.Target)
	r, _ := o.routes.get(key)
	r.Key = key
	if presence != session.Present || s.Profile != key.Address().Profile {
		return r.Current, fmt.Sprintf("There is no conversation %s here. /sessions lists them.", c.Target)
	}
	if _, err := session.AsConversation(s); err != nil {
		return r.Current, "That is not a conversation with a person: it cannot be resumed."
	}
	if s.ID == r.Current {
		return s.ID, "This is that conversation already."
	}
	if s.Key != key && !c.Any {
		return r.Current, fmt.Sprintf("There is no conversation %s here. /sessions lists them.", c.Target)
	}
	if other, ok := o.routes.get(s.Key); ok && s.Key != key && other.Current == s.ID {
		return r.Current, fmt.Sprintf("That conversation is live in another place (%s).", s.Key)
	}
	kept := len(o.lane(s.ID).Kept)
	dropped := o.switchTo(r, &s, session.Switched)
	text := "Back in the conversation " + string(s.ID)
	if s.Title != "" {
		text += " — " + s.Title
	}
	text += "."
	if kept > 0 {
		text += fmt.Sprintf(" %d result(s) came while it was closed; they follow.", kept)
	}
	return s.ID, withDropped(text, dropped)
}

// withDropped names the texts that are not run any more.
func withDropped(text string, dropped []Text) string {
	if len(dropped) == 0 {
		return text
	}
	names := make([]string, 0, len(dropped))
	for _, t := range dropped {
		names = append(names, "“"+firstWords(t.Content)+"”")
	}
	return text + "\nNot run any more: " + strings.Join(names, ", ")
}

// switchTo is SwitchSession: the only way in which a place goes from one conversation to another. It ends the current
// session with the reason, stops its turn, keeps or passes on what it had, interrupts its children where the reason says
// so, and makes `to` current (none: the place is empty). It returns the people's texts that are not run.
func (o *Overlay) switchTo(r session.Route, to *session.Session, reason session.EndReason) []Text {
	leaver, had := o.sessions.get(r.Current)
	var conv *session.Conversation
	if to != nil {
		c, err := session.AsConversation(*to)
		if err != nil { // every caller has asked before
			panic(fmt.Sprintf("switch %s to %s: %v", r.Key, to.ID, err))
		}
		conv = &c
	}
	var l *session.Session
	if had {
		l = &leaver
	}
	next, left, came := session.Switch(r, l, conv, reason, o.now)
	o.routes.put(next.Key, next)
	if left != nil {
		o.sessions.put(left.ID, *left)
	}
	if came != nil {
		o.sessions.put(came.ID, *came)
	}
	o.note(Record{Kind: "route", ID: string(next.Key), State: "switched", Session: next.Current, Route: next.Key, Cause: string(r.Current), Why: string(reason)})
	var dropped []Text
	if left != nil {
		dropped = o.leave(*left, reason)
	}
	if came != nil {
		o.revive(came.ID)
	}
	return dropped
}

// leave settles what an ended human-facing session still had: after a boundary it is kept with it.
func (o *Overlay) leave(s session.Session, reason session.EndReason) []Text {
	why := "its person left the conversation"
	var had []delivery.Completion
	if t, ok := o.turns.get(o.lane(s.ID).Turn); ok { // first of all, so that the end of what it waits for moves it no more
		had = o.interrupt(t, why)
		if len(had) == 0 { // who comes back is not to be answered what was left; what had been bound is told then
			o.write(Entry{Session: s.ID, Turn: t.ID, Kind: EntryAssistant, Content: "(Stopped: " + why + ".)"})
		}
	}
	l := o.lane(s.ID)
	dropped := l.Texts
	for _, cid := range slices.Concat(l.Inbox, l.Overflow) {
		c, _ := o.completions.get(cid)
		had = append(had, c)
	}
	l.Texts, l.Inbox, l.Overflow = nil, nil, nil
	o.setLane(l)
	for _, c := range had {
		if reason.UserBoundary() {
			o.bury(c, string(session.Boundary), s.ID)
		} else {
			c.State, c.Turn = delivery.Pending, ""
			o.route(c)
		}
	}
	if reason.InterruptsChildren() {
		o.stopChildren(s.ID, false, why)
	}
	return dropped
}

// endSession ends a conversation for good, as a client or an operator asked.
func (o *Overlay) endSession(r EndSession) (Answer, error) {
	s, presence := o.Session(r.Session)
	switch {
	case presence != session.Present:
		return refuse("there is no session %s", r.Session)
	case !s.HumanFacing():
		return refuse("%s is a subagent's run: stop its delegation instead (homing delegations stop %s)", s.ID, s.Delegation)
	case s.Ended():
		return refuse("session %s has ended already (%s)", s.ID, s.EndReason)
	}
	var dropped []Text
	if route, ok := o.routes.get(s.Key); ok && route.Current == s.ID {
		dropped = o.switchTo(route, nil, session.UserExit)
	} else {
		s = s.End(session.UserExit, o.now)
		s.Generation++
		o.sessions.put(s.ID, s)
		dropped = o.leave(s, session.UserExit)
	}
	return Answer{Session: s.ID, Text: withDropped(fmt.Sprintf("Session %s has ended.", s.ID), dropped)}, nil
}
