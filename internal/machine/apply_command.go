package machine

import (
	"errors"
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
	CommandNew     = "new"
	CommandStop    = "stop"
	CommandResume  = "resume"
	CommandBranch  = "branch"
	CommandRetry   = "retry"
	CommandUndo    = "undo"
	CommandCompact = "compact"
	CommandTasks   = "tasks"

	CommandSelftest = "selftest"
	CommandPlatform = "platform"
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
	case CommandBranch:
		sid, text = o.branch(key)
	case CommandRetry:
		sid, text = o.retry(key)
	case CommandUndo:
		sid, text = o.undo(key)
	case CommandCompact:
		sid, text = o.compact(key, replyTo(m))
	case CommandSelftest:
		sid, text = o.selftest(key, m)
	case CommandTasks:
		text = o.stopTask(c.Task)
	case CommandPlatform:
		text = o.pausePlatform(c, m.Address.Person)
	default:
		text = fmt.Sprintf("There is no command /%s.", c.Name)
	}
	o.say(m.Address, text, replyTo(m), "", sid, "")
	return Answer{Session: sid, Text: text}, nil
}

// stopTask stops delegated work or a process, as a person asked.
func (o *Overlay) stopTask(task string) string {
	stop := func() (Answer, error) { return o.stopDelegation(StopDelegation{id.Delegation(task)}) }
	if strings.HasPrefix(task, id.PrefixProcess) {
		stop = func() (Answer, error) { return o.killProcess(KillProcess{id.Process(task)}) }
	}
	a, err := stop()
	if no, ok := errors.AsType[*Refusal](err); ok {
		return no.Text
	}
	return a.Text
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
	r, _ := o.routes.get(key)
	if _, presence := o.Session(r.Current); presence != session.Present {
		return r.Current, "There is nothing to stop."
	}
	sid := r.Current
	const why = "stopped by a person"
	dropped := o.dropTexts(sid)
	o.discard(sid, dropped)
	t, had := o.halt(sid, why)
	var untold []string
	for _, c := range had {
		o.settle(c, delivery.DoneInterrupted)
		untold = append(untold, fmt.Sprintf("%s %s %s", c.Kind, c.Subject, c.Status))
	}
	busy := t.ID != ""
	if busy { // the next turn is not to take up what was stopped
		o.write(Entry{Session: sid, Turn: t.ID, Kind: EntryAssistant, Content: "(Stopped by the person.)"})
	}
	n, goesOn := 0, false
	for _, of := range session.Line(o, sid) {
		n += o.stopChildren(of, true, why)
		for _, pid := range o.lane(of).Processes {
			p, _ := o.processes.get(pid)
			goesOn = goesOn || p.Background && p.Kill == ""
		}
	}
	o.note(Record{Kind: "command", ID: CommandStop, Session: sid, Route: key})
	text := "There is nothing to stop."
	summing := o.dropCompact(sid)
	switch {
	case busy && n > 0:
		text = "Stopped, and the delegated work with it."
	case busy:
		text = "Stopped."
	case n > 0:
		text = "The delegated work is stopped."
	case summing:
		text = "Stopped."
	}
	if summing {
		text += "\nThe conversation is not summed up; /compact asks for it again."
	}
	if len(untold) > 0 {
		text += "\nNot told any more: " + strings.Join(untold, "; ")
	}
	text = withDropped(text, dropped)
	if goesOn {
		text += "\nBackground processes go on; /tasks lists them."
	}
	return sid, text
}

// dropTexts takes the texts that wait in a session: they are not run.
func (o *Overlay) dropTexts(sid id.Session) []Text {
	l := o.lane(sid)
	dropped := l.Texts
	l.Texts = nil
	o.setLane(l)
	return dropped
}

// halt stops what runs in a session for good: what its run still reports changes nothing. It returns the turn that was
// stopped, if one ran, and what that had bound; the caller decides on that. Halt before anything that the turn waits for
// ends, so that it is moved no more.
func (o *Overlay) halt(sid id.Session, why string) (Turn, []delivery.Completion) {
	s, _ := o.sessions.get(sid)
	s.Generation++
	o.sessions.put(sid, s)
	t, busy := o.turns.get(o.lane(sid).Turn)
	if !busy {
		return Turn{}, nil
	}
	return t, o.interrupt(t, why)
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
		names = append(names, "“"+firstWords(t.words())+"”")
	}
	return text + "\nNot run any more: " + strings.Join(names, ", ")
}

// switchTo is SwitchSession: the only way in which a place goes from one conversation to another. It ends the current
// session with the reason, stops its turn, keeps or passes on what it had, interrupts its children where the reason says
// so, and makes `to` current (none: the place is empty). It returns the people's texts that are not run; where no person
// left, they go to `to`.
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
	line := session.Line(o, r.Current)
	next, left, came := session.Switch(r, l, conv, reason, o.now)
	o.routes.put(next.Key, next)
	if left != nil {
		o.sessions.put(left.ID, *left)
	}
	if came != nil {
		o.seat(*came)
	}
	o.note(Record{Kind: "route", ID: string(next.Key), State: "switched", Session: next.Current, Route: next.Key, Cause: string(r.Current), Why: string(reason)})
	var dropped []Text
	if left != nil {
		dropped = o.leave(*left, line, reason)
	}
	if came == nil {
		return dropped
	}
	o.revive(came.ID)
	if len(dropped) > 0 && !reason.UserBoundary() {
		cl := o.lane(came.ID)
		cl.Texts = dropped
		o.setLane(cl)
		o.outstandingFiles(came.ID)
		o.wake(came.ID)
		return nil
	}
	return dropped
}

// leave settles what an ended human-facing session still had: after a boundary it is kept with it, else it goes where it
// belongs now. line names the sessions whose running work was its own.
func (o *Overlay) leave(s session.Session, line []id.Session, reason session.EndReason) []Text {
	why := "its person left the conversation"
	if !reason.UserBoundary() {
		why = "the conversation goes on in another session"
	}
	var had []delivery.Completion
	if t, ok := o.turns.get(o.lane(s.ID).Turn); ok { // first of all, so that the end of what it waits for moves it no more
		had = o.interrupt(t, why)
		if len(had) == 0 { // who comes back is not to be answered what was left; what had been bound is told then
			o.write(Entry{Session: s.ID, Turn: t.ID, Kind: EntryAssistant, Content: "(Stopped: " + why + ".)"})
		}
	}
	dropped := o.dropTexts(s.ID)
	if reason.UserBoundary() {
		o.discard(s.ID, dropped)
	}
	if asked := o.lane(s.ID).Compact; o.dropCompact(s.ID) {
		o.say(s.Key.Address(), "The conversation that was left is not summed up.", asked.ReplyTo, "", s.ID, "")
	}
	l := o.lane(s.ID)
	for _, cid := range slices.Concat(l.Inbox, l.Overflow) {
		c, _ := o.completions.get(cid)
		had = append(had, c)
	}
	l.Inbox, l.Overflow = nil, nil
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
		for _, of := range line {
			o.stopChildren(of, false, why)
		}
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
		dropped = o.leave(s, []id.Session{s.ID}, session.UserExit)
	}
	return Answer{Session: s.ID, Text: withDropped(fmt.Sprintf("Session %s has ended.", s.ID), dropped)}, nil
}
