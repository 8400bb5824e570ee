package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/session"
	"github.com/homing-gateway/homing/internal/tool"
)

// MaxCrashes is how often the daemon may die in a row at one step of a turn before the turn is given up.
const MaxCrashes = 3

// openTurn opens the session's next turn if none runs and something waits that asks for one. All that waits goes into it:
// notices first, then the people's texts in order.
func (o *Overlay) openTurn(sid id.Session) {
	s, _ := o.sessions.get(sid)
	if s.Ended() || o.lane(sid).Turn != "" {
		return
	}
	o.refill(sid)
	o.prove(sid)
	l := o.lane(sid)
	texts, _ := o.ripe(l)
	opens := len(texts) > 0
	for _, cid := range slices.Concat(l.Inbox, l.Overflow) {
		c, _ := o.completions.get(cid)
		opens = opens || c.OpensTurn()
	}
	if !opens {
		if s.Kind == session.API {
			o.rest(sid)
		}
		o.sumUp(sid)
		return
	}
	o.begin(sid, Turn{})
}

// begin opens a turn, and all that waits goes into it. A turn that asks again comes with what it takes from the one before:
// its texts stand in the transcript already.
func (o *Overlay) begin(sid id.Session, t Turn) {
	s, _ := o.sessions.get(sid)
	l := o.lane(sid)
	again := t.Texts > 0
	notices := l.Inbox
	texts, waiting := o.ripe(l)
	l.Turns++
	t.ID, t.Profile, t.Session, t.Generation, t.No = id.Turn(o.newID(id.PrefixTurn)), s.Profile, sid, s.Generation, l.Turns
	t.State, t.CreatedAt, t.UpdatedAt = TurnRunning, o.now, o.now
	l.Turn, l.Inbox, l.Texts = t.ID, nil, waiting
	if !again {
		t.From = l.Entries + 1
	} else {
		t.AskedAt = o.now
	}
	o.setLane(l)
	for _, cid := range notices {
		t = o.bind(t, cid)
	}
	t = o.take(t, texts)
	if last := o.lane(sid).LastEntry; last == EntryAssistant || last == EntrySummary || last == EntryCut && !again { // no turn begins on the agent's own words
		o.write(Entry{Session: sid, Turn: t.ID, Kind: EntryNotice, Content: reminder(o.boundTo(t))})
	}
	s.ActiveAt = o.now
	o.sessions.put(sid, s)
	o.turns.put(t.ID, t)
	cause := ""
	if len(t.Bound) > 0 {
		cause = string(t.Bound[0])
	} else if len(t.Events) > 0 {
		cause = t.Events[0]
	}
	o.note(Record{Kind: "turn", ID: string(t.ID), State: string(t.State), Session: sid, Route: s.Key, Cause: cause})
	o.emit(RunStep{t, s})
	o.refill(sid)
}

// take writes people's texts into the transcript of the turn.
func (o *Overlay) take(t Turn, texts []Text) Turn {
	for _, x := range texts {
		o.asks(t, o.write(Entry{Session: t.Session, Turn: t.ID, Kind: EntryUser, Content: x.Content, Speaker: x.Speaker, Files: x.Files}), x)
		t.Texts++
		t.AskedAt = x.At
		if x.Event != "" {
			t.Events = append(with(t.Events, x.Event), x.Events...)
		}
		if x.MessageID != "" {
			t.ReplyTo = x.MessageID
		}
	}
	return t
}

// bind gives an admitted completion to the turn. Its notice enters the transcript unless it stands there already.
func (o *Overlay) bind(t Turn, cid id.Completion) Turn {
	c, _ := o.completions.get(cid)
	c.State, c.Turn, c.UpdatedAt = delivery.Bound, t.ID, o.now
	c = o.enter(c, t.ID, t.No)
	o.completions.put(cid, c)
	t.Bound = with(t.Bound, cid)
	o.note(Record{Kind: "completion", ID: string(cid), State: string(c.State), Session: t.Session, Cause: string(t.ID)})
	return t
}

// current returns the turn that a report is about, if it is still the one.
func (o *Overlay) current(tid id.Turn, generation uint64, step int) (Turn, session.Session, error) {
	t, ok := o.turns.get(tid)
	if !ok || t.State.Ended() || t.Generation != generation || t.Step != step {
		return Turn{}, session.Session{}, ErrStale
	}
	s, presence := o.Session(t.Session)
	if presence != session.Present || s.Ended() || s.Generation != generation {
		return Turn{}, session.Session{}, ErrStale
	}
	return t, s, nil
}

// answered takes the model's answer to a step: the end of the turn, or the tool calls of the next one.
func (o *Overlay) answered(r Answered) (Answer, error) {
	t, s, err := o.current(r.Turn, r.Generation, r.Step)
	if err != nil || len(t.Actions) > 0 { // the answer of this step is there already
		return Answer{}, ErrStale
	}
	t.Calls++
	t.Crashes, t.Waits, t.Detail, t.NextAt, t.State, t.UpdatedAt = 0, 0, "", time.Time{}, TurnRunning, o.now
	o.write(Entry{Session: s.ID, Turn: t.ID, Kind: EntryAssistant, Content: r.Text, Calls: r.Calls, Request: r.Tokens})
	if len(r.Calls) == 0 {
		o.finish(t, TurnCompleted, r.Text, "")
		return Answer{}, nil
	}
	limit := o.policy(s.Profile).MaxIterations
	if s.Kind == session.Subagent {
		limit = o.policy(s.Profile).ChildIterations
	}
	if s.Rehearsal { // a script comes to its end by itself
		limit = 0
	}
	if limit > 0 && t.Calls >= limit {
		for _, c := range r.Calls {
			o.write(Entry{
				Session: s.ID, Turn: t.ID, Kind: EntryTool, CallID: c.ID, Tool: c.Name,
				Content: tool.Error(tool.KindLimit, "not run: the turn has reached its limit of model calls"),
			})
		}
		o.finish(t, TurnFailed, "", fmt.Sprintf("I stopped after %d model calls without coming to an end.", t.Calls))
		return Answer{}, nil
	}
	for _, c := range r.Calls {
		a := Action{
			ID: id.Action(o.newID(id.PrefixAction)), Profile: t.Profile, Turn: t.ID, Session: s.ID, Step: t.Step, Call: c,
			State: ActionIntended, CreatedAt: o.now, UpdatedAt: o.now,
		}
		o.actions.put(a.ID, a)
		t.Actions = with(t.Actions, a.ID)
		o.note(Record{Kind: "action", ID: string(a.ID), State: string(a.State), Session: s.ID, Cause: string(t.ID), Why: c.Name})
	}
	o.turns.put(t.ID, t)
	o.proceed(t.ID)
	return Answer{}, nil
}

// unanswered takes a failed attempt: the turn waits for the model, or fails when waiting can't help.
func (o *Overlay) unanswered(r Unanswered) (Answer, error) {
	t, s, err := o.current(r.Turn, r.Generation, r.Step)
	if err != nil || len(t.Actions) > 0 || t.State == TurnWaiting { // this attempt was told already
		return Answer{}, ErrStale
	}
	if r.Failure == agent.Refused || r.Failure == agent.Credential {
		o.finish(t, TurnFailed, "", "The model did not take this: "+r.Text)
		return Answer{}, nil
	}
	if r.Failure == agent.TooLong {
		o.finish(t, TurnFailed, "", "The conversation is longer than the model takes, and could not be summed up: /new begins anew, /undo takes the last exchange back. "+
			"The operator can set agent.context_tokens to what the model takes. It said: "+r.Text)
		return Answer{}, nil
	}
	t.Waits++
	wait := r.After
	if wait <= 0 {
		wait = min(time.Second<<min(t.Waits-1, 6), time.Minute)
	}
	t.State, t.Detail, t.NextAt, t.UpdatedAt, t.Crashes = TurnWaiting, r.Text, o.now.Add(wait), o.now, 0
	o.turns.put(t.ID, t)
	o.note(Record{Kind: "turn", ID: string(t.ID), State: string(t.State), Session: s.ID, Why: r.Text})
	o.emit(Wake{t.NextAt, string(t.ID)})
	if t.Waits == WaitsTold && t.Texts > 0 && s.Kind == session.Chat {
		o.say(s.Key.Address(), fmt.Sprintf("⚠ The model does not answer (%s). Your message waits, and I go on asking; /stop gives it up.", r.Text), "", string(t.ID), s.ID, t.ID)
		o.pass(s.Key.Address(), "")
	}
	return Answer{}, nil
}

// WaitsTold is after how many failed attempts at one step a person who waits is told that the model does not answer: with
// the growing pauses between them that is some ten seconds.
const WaitsTold = 4

// boundary is the end of a step: what may join the turn joins it, and the model is asked again.
func (o *Overlay) boundary(t Turn) {
	for _, aid := range t.Actions {
		if a, ok := o.actions.get(aid); ok {
			o.archive(Actions, string(aid), a)
			o.actions.del(aid)
		}
	}
	t.Actions = nil
	t.Step++
	t.State, t.Crashes, t.UpdatedAt = TurnRunning, 0, o.now
	t = o.join(t)
	o.turns.put(t.ID, t)
	s, _ := o.sessions.get(t.Session)
	o.emit(RunStep{t, s})
}

// join takes what may enter a running turn between two steps: notices that ask for no turn, and texts that steer.
func (o *Overlay) join(t Turn) Turn {
	o.prove(t.Session)
	l := o.lane(t.Session)
	var quiet, loud []id.Completion
	for _, cid := range l.Inbox {
		if c, _ := o.completions.get(cid); c.Quiet {
			quiet = append(quiet, cid)
		} else {
			loud = append(loud, cid)
		}
	}
	var steering, queued []Text
	ripe, waiting := o.ripe(l)
	for _, x := range ripe {
		if x.Steer {
			steering = append(steering, x)
		} else {
			queued = append(queued, x)
		}
	}
	l.Inbox, l.Texts = loud, slices.Concat(queued, waiting)
	o.setLane(l)
	for _, cid := range quiet {
		t = o.bind(t, cid)
	}
	return o.take(t, steering)
}

// nudge lets a person's text in: a foreground command goes on in the background, a wait returns.
func (o *Overlay) nudge(tid id.Turn) {
	t, _ := o.turns.get(tid)
	for _, aid := range t.Actions {
		a, _ := o.actions.get(aid)
		if a.State != ActionRunning || a.Process == "" {
			continue
		}
		switch a.Call.Name {
		case tool.Terminal:
			if p, ok := o.processes.get(a.Process); ok && !p.Background {
				o.emit(Promote{a.Process})
			}
		case tool.ProcessManage:
			o.emit(Release{aid})
		}
	}
}

// finish ends a turn: what it had bound is settled, its answer goes out, and the next turn opens if something waits.
// why is for people: it says what went wrong.
func (o *Overlay) finish(t Turn, state TurnState, text, why string) {
	s, _ := o.sessions.get(t.Session)
	t.State, t.Reason, t.EndedAt, t.UpdatedAt, t.NextAt = state, why, o.now, o.now, time.Time{}
	bound := o.boundTo(t)
	for _, c := range bound {
		switch state {
		case TurnFailed:
			o.bury(c, delivery.ReasonTurnFailed, "")
		case TurnQuarantined:
			o.bury(c, delivery.ReasonQuarantined, "")
		default:
			o.settle(c, delivery.DoneAnswered)
		}
	}
	if s.Kind == session.Subagent {
		o.close(t)
		o.endChild(s, t, state, text, why)
		return
	}
	if why != "" { // what went wrong was said in this conversation: the next turn is not to take it up again
		o.write(Entry{Session: s.ID, Turn: t.ID, Kind: EntryAssistant, Content: "⚠ " + why})
	}
	// An API client reads the transcript; everybody else is sent the answer.
	if answer := answerOf(t, bound, state, text, why); answer != "" && s.Kind == session.Chat {
		to := s.Key.Address()
		reply := ""
		if to.Type != chat.Direct {
			reply = t.ReplyTo
		}
		m := o.say(to, answer, reply, string(t.ID), s.ID, t.ID)
		t.Outgoing = with(t.Outgoing, m)
		o.yield(t, m)
	}
	o.close(t)
	o.wake(s.ID)
}

// answerOf is what the chat sees of a turn that ended.
func answerOf(t Turn, bound []delivery.Completion, state TurnState, text, why string) string {
	var results []string
	for _, c := range bound {
		if c.Kind == delivery.Delegation {
			results = append(results, c.Summary)
		}
	}
	switch {
	case state == TurnFailed || state == TurnQuarantined:
		return strings.Join(append([]string{"⚠ " + why}, results...), "\n\n")
	case len(results) > 0 && silent(text): // a result is never silence, whoever else was in the turn
		return strings.Join(results, "\n\n")
	case t.Texts > 0 && strings.TrimSpace(text) == "":
		return "(The agent ended its turn without saying anything.)"
	case t.Texts == 0 && silent(text):
		return ""
	}
	return text
}

// silences are the texts of an agent that has nothing to say.
func silences() []string { return []string{"", "[SILENT]", "NO_REPLY", "HEARTBEAT_OK"} }

// silent tells whether a turn that no person asked for has nothing to say.
func silent(text string) bool { return slices.Contains(silences(), strings.TrimSpace(text)) }

// MaySilence tells whether a text that is still being written may come to mean that the agent has nothing to say.
func MaySilence(text string) bool {
	text = strings.TrimSpace(text)
	return slices.ContainsFunc(silences(), func(s string) bool { return strings.HasPrefix(s, text) })
}

// close takes an ended turn out of what lives.
func (o *Overlay) close(t Turn) {
	for _, aid := range t.Actions {
		if a, ok := o.actions.get(aid); ok {
			o.archive(Actions, string(aid), a)
			o.actions.del(aid)
		}
	}
	if p, ok := o.previews.get(t.ID); ok && p.Answer == "" && !p.Leaving {
		o.retract(p)
	}
	l := o.lane(t.Session)
	l.Turn, l.Last = "", t.ID
	o.setLane(l)
	o.turns.del(t.ID)
	o.archive(Turns, string(t.ID), t)
	s, there := o.sessions.get(t.Session)
	if there { // silence counts from here
		s = o.active(s)
	}
	o.note(Record{Kind: "turn", ID: string(t.ID), State: string(t.State), Session: t.Session, Route: s.Key, Why: t.Reason, Since: t.CreatedAt})
	o.emit(Settled{t, s})
}

// interrupt stops a running turn: a person stopped it or left its conversation, or its parent ended. It returns what the
// turn had bound; the caller decides on that.
func (o *Overlay) interrupt(t Turn, why string) []delivery.Completion {
	for _, aid := range t.Actions {
		a, ok := o.actions.get(aid)
		if !ok || a.State == ActionDone || a.State == ActionFailed {
			continue
		}
		a.State, a.UpdatedAt = ActionInterrupted, o.now
		a.Result = tool.Error(tool.KindInterrupted, why)
		if p, ok := o.processes.get(a.Process); ok && p.Action == aid && p.Background { // it goes on, and was merely not confirmed yet
			a.State, a.Result = ActionDone, tool.JSON(tool.Started{ProcessID: string(p.ID), Status: "running", Notify: p.Notify})
		}
		o.abandon(a)
		o.actions.put(aid, a)
		o.write(Entry{Session: t.Session, Turn: t.ID, Kind: EntryTool, CallID: a.Call.ID, Tool: a.Call.Name, Content: a.Result})
	}
	t.State, t.Reason, t.EndedAt, t.UpdatedAt = TurnInterrupted, why, o.now, o.now
	o.close(t)
	o.emit(Cancel{t.ID, t.Session})
	return o.boundTo(t)
}

// boundTo returns the completions that a turn has bound.
func (o *Overlay) boundTo(t Turn) []delivery.Completion {
	bound := make([]delivery.Completion, 0, len(t.Bound))
	for _, cid := range t.Bound {
		c, _ := o.completions.get(cid)
		bound = append(bound, c)
	}
	return bound
}

// abandon lets go of what an action was doing: a foreground command is killed, one that was begun in the background goes on,
// a wait ends, a delegation that was waited for goes on by itself.
func (o *Overlay) abandon(a Action) {
	if p, ok := o.processes.get(a.Process); ok && !p.State.Ended() {
		switch {
		case p.Action == a.ID && !p.Background:
			p.Action, p.Mute = "", true
			o.kill(p, "interrupted")
		case p.Action == a.ID:
			p.Action = ""
			o.processes.put(p.ID, p)
		case p.Waiter == a.ID:
			p.Waiter = ""
			o.processes.put(p.ID, p)
		}
	}
	if d, ok := o.delegations.get(a.Delegation); ok && d.State == DelegationRunning {
		d.Background, d.Action = true, ""
		o.delegations.put(d.ID, d)
	}
}
