package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/session"
	"github.com/homing-gateway/homing/internal/tool"
)

// MaxHandoffs is how many running processes a subagent may leave to the conversation that it works for.
const MaxHandoffs = 3

// DefaultWait is how long process_manage wait waits when the call does not say.
const DefaultWait = 60 * time.Second

// proceed starts the next tool call of the turn's step, one after the other, or ends the step. A call that is answered at
// once leads straight to the next.
func (o *Overlay) proceed(tid id.Turn) {
	for {
		t, ok := o.turns.get(tid)
		if !ok {
			return // a call ended its own turn
		}
		next := id.Action("")
		for _, aid := range t.Actions {
			a, _ := o.actions.get(aid)
			if a.State == ActionRunning {
				return
			}
			if a.State == ActionIntended {
				next = aid
				break
			}
		}
		if next == "" {
			o.boundary(t)
			return
		}
		a, _ := o.actions.get(next)
		a.State, a.UpdatedAt = ActionRunning, o.now
		o.actions.put(next, a)
		if result, failed := o.start(a); result != "" {
			o.resolve(next, result, failed)
		}
	}
}

// start begins a tool call. It returns the result of one that is answered at once, or nothing.
func (o *Overlay) start(a Action) (result string, failed bool) {
	s, _ := o.sessions.get(a.Session)
	switch a.Call.Name {
	case tool.Terminal:
		return o.startTerminal(a, s)
	case tool.ProcessManage:
		return o.startManage(a, s)
	case tool.DelegateTask:
		if s.Depth < o.policy(s.Profile).MaxSpawnDepth {
			return o.startDelegate(a, s)
		}
	case tool.SendFile:
		if s.Depth == 0 || s.Depth < o.policy(s.Profile).MaxSpawnDepth {
			return o.startSend(a, s, false)
		}
	case tool.ReadFile, tool.WriteFile, tool.EditFile, tool.SearchFiles:
		o.emit(RunTool{Action: a})
		return "", false
	}
	names := make([]string, 0, 3)
	for _, t := range tool.Offer(s.Depth, o.policy(s.Profile).MaxSpawnDepth) {
		names = append(names, t.Name)
	}
	return tool.Error(tool.KindUnknownTool, fmt.Sprintf("there is no tool %q here; there are: %s", a.Call.Name, strings.Join(names, ", "))), true
}

// resolve stores the result of a call as the ledger and the transcript have it. It does not go on to the next call.
func (o *Overlay) resolve(aid id.Action, result string, failed bool) {
	a, ok := o.actions.get(aid)
	if !ok || a.State != ActionRunning {
		return
	}
	a.State, a.Result, a.UpdatedAt = ActionDone, result, o.now
	if failed {
		a.State = ActionFailed
	}
	o.actions.put(aid, a)
	o.write(Entry{Session: a.Session, Turn: a.Turn, Kind: EntryTool, CallID: a.Call.ID, Tool: a.Call.Name, Content: result})
	o.note(Record{Kind: "action", ID: string(aid), State: string(a.State), Session: a.Session, Cause: string(a.Turn), Why: a.Call.Name})
}

// toolDone takes the result of a call that was carried out outside.
func (o *Overlay) toolDone(r ToolDone) (Answer, error) {
	a, ok := o.actions.get(r.Action)
	if !ok || a.State != ActionRunning {
		return Answer{}, ErrStale
	}
	if p, ok := o.processes.get(a.Process); ok {
		if p.Waiter == a.ID {
			p.Waiter = ""
		}
		if r.Consumes == p.ID { // also when its end has not been reported to us yet
			p.Seen = true
			if p.Child != nil && p.Completion != "" { // its own agent has seen what it had missed
				l := o.lane(p.StartedBy)
				l.Unread = max(0, l.Unread-1)
				o.setLane(l)
			}
			o.consume(p)
		}
		o.processes.put(p.ID, p)
	}
	if r.Send != nil {
		r.Result, r.Failed = o.sendFile(a, *r.Send)
	}
	if to, ok := o.chatFor(a.Session); ok && r.Tell != "" {
		o.say(to.address, r.Tell, "", string(a.Turn), to.session, a.Turn)
		o.pass(to.address, "")
	}
	o.resolve(r.Action, r.Result, r.Failed)
	o.proceed(a.Turn)
	return Answer{}, nil
}

// consume settles a notice that the agent does not need any more: it has just seen the end itself.
func (o *Overlay) consume(p Process) {
	c, ok := o.completions.get(p.Completion)
	if l := o.lane(c.Owner); ok && (slices.Contains(l.Inbox, c.ID) || slices.Contains(l.Overflow, c.ID)) {
		l.Inbox, l.Overflow = without(l.Inbox, c.ID), without(l.Overflow, c.ID)
		o.setLane(l)
		o.settle(c, delivery.DoneConsumed)
	}
}

func (o *Overlay) startTerminal(a Action, s session.Session) (string, bool) {
	var args tool.TerminalArgs
	if err := tool.Parse(a.Call.Name, a.Call.Arguments, &args); err != nil {
		return tool.Error(tool.KindArguments, err.Error()), true
	}
	policy := o.policy(s.Profile)
	switch {
	case strings.TrimSpace(args.Command) == "":
		return tool.Error(tool.KindArguments, "command is missing: give the command line to run"), true
	case len(args.WatchPatterns) > 0:
		return tool.Error(tool.KindNotBuilt, "watch_patterns is not available yet: use process_manage log or wait to look for text"), true
	case args.Timeout < 0:
		return tool.Error(tool.KindArguments, "timeout must not be negative: leave it out for none"), true
	}
	running := 0
	for _, p := range o.processes.all() {
		if x, _ := o.processes.get(p); !x.State.Ended() && x.Profile == s.Profile {
			running++
		}
	}
	if running >= policy.MaxProcesses {
		return tool.Error(tool.KindLimit, fmt.Sprintf("%d processes are running, which is the limit: wait for one or kill one first", running)), true
	}
	t, _ := o.turns.get(a.Turn)
	p := Process{
		ID: id.Process(o.newID(id.PrefixProcess)), Profile: s.Profile, State: ProcessStarting, Command: args.Command, Workdir: args.Workdir,
		Owner: s.ID, StartedBy: s.ID, Pin: s.ID, Turn: a.Turn, TurnNo: o.ordered(s, t), Action: a.ID, Background: args.Background,
		Notify:  s.Kind != session.Subagent && (args.Notify == nil || *args.Notify),
		Timeout: tool.Duration(args.Timeout), Rehearsal: s.Rehearsal, CreatedAt: o.now, UpdatedAt: o.now,
	}
	if s.Kind == session.Subagent {
		p.Child = &delivery.Attribution{Subagent: s.ID, Delegation: s.Delegation, Goal: s.Title}
	}
	if p.Background {
		p.Timeout = 0
	}
	a.Process = p.ID
	o.actions.put(a.ID, a)
	o.processes.put(p.ID, p)
	t.Processes = with(t.Processes, p.ID)
	o.turns.put(t.ID, t)
	l := o.lane(s.ID)
	l.Processes = with(l.Processes, p.ID)
	o.setLane(l)
	o.note(Record{Kind: "process", ID: string(p.ID), State: string(p.State), Session: s.ID, Cause: string(a.ID), Why: oneLine(p.Command, 120)})
	o.emit(Tend{p})
	if !p.Background && o.personWaits(s.ID) {
		o.emit(Promote{p.ID}) // somebody wrote already: it goes on in the background from its start
	}
	return "", false
}

// personWaits tells whether a person's text waits to join the session's running turn.
func (o *Overlay) personWaits(s id.Session) bool {
	texts, _ := o.ripe(o.lane(s))
	return slices.ContainsFunc(texts, func(x Text) bool { return x.Steer })
}

func (o *Overlay) startManage(a Action, s session.Session) (string, bool) {
	var args tool.ProcessArgs
	if err := tool.Parse(a.Call.Name, a.Call.Arguments, &args); err != nil {
		return tool.Error(tool.KindArguments, err.Error()), true
	}
	switch args.Action {
	case tool.ProcessList:
		return o.listProcesses(s), false
	case tool.ProcessPoll, tool.ProcessLog, tool.ProcessWait, tool.ProcessKill, tool.ProcessHandoff:
	case tool.ProcessWrite, tool.ProcessSubmit, tool.ProcessClose:
		return tool.Error(tool.KindNotBuilt, "writing to a process is not available yet: give the command its input in the command line"), true
	default:
		return tool.Error(tool.KindArguments, fmt.Sprintf("action %q is none of list, poll, log, wait, kill, handoff", args.Action)), true
	}
	p, ok := o.processes.get(id.Process(args.ProcessID))
	if ok && p.Owner != s.ID && p.StartedBy == s.ID {
		return tool.Error(tool.KindState, "you have handed this process off: the conversation that you work for looks after it now"), true
	}
	if !ok || !slices.Contains(session.Line(o, s.ID), p.Owner) {
		return tool.Error(tool.KindNotFound, fmt.Sprintf("no process %q of yours: use action list", args.ProcessID)), true
	}
	wait := o.patience(args, s.ID)
	a.Process = p.ID
	o.actions.put(a.ID, a)
	switch args.Action {
	case tool.ProcessHandoff:
		return o.handoff(a, s, p, args.Data)
	case tool.ProcessKill:
		if !p.State.Ended() {
			p.Waiter = a.ID
			o.kill(p, "by its agent")
			return "", false
		}
	case tool.ProcessWait:
		if !p.State.Ended() {
			if p.Waiter != "" {
				return tool.Error(tool.KindState, "another call waits for this process already"), true
			}
			p.Waiter = a.ID
			o.processes.put(p.ID, p)
		}
	}
	o.emit(RunTool{Action: a, Process: p, Timeout: wait})
	return "", false
}

// patience is how long a call may wait: as long as it says, and not at all once a person waits.
func (o *Overlay) patience(args tool.ProcessArgs, s id.Session) time.Duration {
	switch {
	case o.personWaits(s):
		return 0
	case args.Timeout == nil:
		return DefaultWait
	}
	return tool.Duration(*args.Timeout)
}

// listProcesses is the result of process_manage list.
func (o *Overlay) listProcesses(s session.Session) string {
	list, line := []tool.Listed{}, session.Line(o, s.ID)
	for _, pid := range o.processes.all() {
		p, _ := o.processes.get(pid)
		if p.StartedBy != s.ID && (p.Rehearsal || !slices.Contains(line, p.Owner)) {
			continue // not its own, or of a self-test, of which its agent does not know
		}
		list = append(list, tool.Listed{
			ProcessID: string(p.ID), State: string(p.State), Command: p.Command, ExitCode: p.ExitCode, Notify: p.Notify,
			StartedBy: string(p.StartedBy), RunningSeconds: tool.Seconds(o.ran(p)),
		})
	}
	return tool.JSON(map[string]any{"processes": list})
}

// ran is how long a process has been running, or ran.
func (o *Overlay) ran(p Process) time.Duration {
	switch {
	case p.StartedAt.IsZero():
		return 0
	case p.EndedAt.IsZero():
		return o.now.Sub(p.StartedAt)
	}
	return p.EndedAt.Sub(p.StartedAt)
}

// handoff gives a child's running process to the conversation that the child works for: owner, pin, and the wish to be
// told change in one step. The process's end and a handoff are two requests to one machine: the first wins.
func (o *Overlay) handoff(a Action, s session.Session, p Process, purpose string) (string, bool) {
	l := o.lane(s.ID)
	switch {
	case s.Kind != session.Subagent:
		return tool.Error(tool.KindState, "this process is yours already: you are told when it ends; handoff is for subagents"), true
	case p.State != ProcessRunning || p.Kill != "" || p.Seen:
		return tool.Error(tool.KindState, fmt.Sprintf("this process does not run any more (%s): tell about it in your summary", p.State)), true
	case strings.TrimSpace(purpose) == "":
		return tool.Error(tool.KindArguments, "data is missing: say in one sentence what the process is for"), true
	case len(l.HandedOff) >= MaxHandoffs:
		return tool.Error(tool.KindLimit, fmt.Sprintf("%d processes are handed off, which is the limit: wait for this one or kill it", MaxHandoffs)), true
	}
	v := session.Resolve(o, s.ID)
	owner := v.Owner
	if v.Reason == session.Boundary && v.End == session.Switched {
		owner = v.At // its person went on elsewhere and may come back: the end is kept there
	} else if v.Outcome != session.Deliver {
		return tool.Error(tool.KindState, "nobody is left to hand it to: the conversation has ended. Wait for the process or kill it"), true
	}
	l.HandedOff = with(l.HandedOff, p.ID)
	l.Processes = without(l.Processes, p.ID)
	o.setLane(l)
	ol := o.lane(owner)
	ol.Processes = with(ol.Processes, p.ID)
	o.setLane(ol)
	p.Owner, p.Pin, p.Child, p.Notify, p.Background = owner, owner, nil, true, true
	p.HandedOff, p.Purpose, p.Waiter, p.UpdatedAt = string(s.ID), strings.TrimSpace(purpose), "", o.now
	o.processes.put(p.ID, p)
	o.note(Record{Kind: "process", ID: string(p.ID), State: "handed_off", Session: owner, Cause: string(a.ID), Why: p.Purpose})
	return tool.JSON(tool.HandedOff{Status: "handed_off", ProcessID: string(p.ID), Owner: string(owner)}), false
}
