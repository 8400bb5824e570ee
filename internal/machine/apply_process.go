package machine

import (
	"fmt"
	"time"

	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/tool"
)

// ProcessLife is how long an ended process stays within reach of process_manage.
const ProcessLife = 24 * time.Hour

// started takes the word of a supervisor that the command runs.
func (o *Overlay) started(r Started) (Answer, error) {
	p, ok := o.processes.get(r.Process)
	if !ok || p.State != ProcessStarting {
		return Answer{}, ErrStale
	}
	p.State, p.PID, p.StartedAt, p.UpdatedAt = ProcessRunning, r.PID, r.At, o.now
	action := id.Action("")
	if p.Background {
		action, p.Action = p.Action, ""
	}
	o.processes.put(p.ID, p)
	o.note(Record{Kind: "process", ID: string(p.ID), State: string(p.State), Session: p.Owner})
	if p.Kill != "" {
		o.emit(Kill{p.ID, p.Kill})
	}
	if action != "" {
		o.resolve(action, tool.JSON(tool.Started{ProcessID: string(p.ID), Status: "running", Notify: p.Notify}), false)
		o.resume(action)
	}
	return Answer{}, nil
}

// resume goes on with the turn of an action that was just answered.
func (o *Overlay) resume(aid id.Action) {
	if a, ok := o.actions.get(aid); ok {
		o.proceed(a.Turn)
	}
}

// promoted moves a foreground command to the background: its owner is on record before the tool returns.
func (o *Overlay) promoted(r Promoted) (Answer, error) {
	p, ok := o.processes.get(r.Process)
	if !ok || p.State.Ended() || p.Background || p.Action == "" || p.Kill != "" { // one that is killed ends presently
		return Answer{}, ErrStale
	}
	action := p.Action
	p.Background, p.Action, p.Promoted, p.Timeout, p.UpdatedAt = true, "", r.After, 0, o.now
	o.processes.put(p.ID, p)
	o.note(Record{Kind: "process", ID: string(p.ID), State: "promoted", Session: p.Owner, Cause: string(action)})
	note := "The command goes on in the background; you will be told when it ends. Do not run it again."
	if !p.Notify {
		note = "The command goes on in the background; wait for it with process_manage, kill it, or hand it off. Do not run it again."
	}
	o.resolve(action, tool.JSON(tool.Promoted{
		Started:              tool.Started{ProcessID: string(p.ID), Status: "running", Notify: p.Notify},
		PromotedAfterSeconds: tool.Seconds(r.After), Output: r.Output, Truncated: r.Truncated, Note: note,
	}), false)
	o.resume(action)
	return Answer{}, nil
}

// overdue kills a foreground command that has reached its time-out.
func (o *Overlay) overdue(r Overdue) (Answer, error) {
	p, ok := o.processes.get(r.Process)
	if !ok || p.State.Ended() || p.Background || p.Action == "" || p.Kill != "" {
		return Answer{}, ErrStale
	}
	o.kill(p, killTimeout)
	return Answer{}, nil
}

const killTimeout = "it reached its time-out"

// kill makes a kill wanted. The wish is durable before it is carried out, and is issued again after a crash.
func (o *Overlay) kill(p Process, why string) {
	if p.Kill == "" {
		p.Kill = why
	}
	p.UpdatedAt = o.now
	o.processes.put(p.ID, p)
	o.note(Record{Kind: "process", ID: string(p.ID), State: "kill", Session: p.Owner, Why: why})
	o.emit(Kill{p.ID, p.Kill})
}

// killProcess is a person's wish to end a process.
func (o *Overlay) killProcess(r KillProcess) (Answer, error) {
	p, ok := o.processes.get(r.Process)
	switch {
	case !ok:
		return refuse("there is no process %s", r.Process)
	case p.State.Ended():
		return refuse("process %s has ended already (%s)", p.ID, statusOf(p))
	}
	o.kill(p, "by a person")
	return Answer{Text: fmt.Sprintf("Process %s is being killed.", p.ID)}, nil
}

// left takes the end of a command that leaves something in its group running: the call returns, the rest goes on.
func (o *Overlay) left(r Left) (Answer, error) {
	p, ok := o.processes.get(r.Process)
	if !ok || p.State.Ended() || p.LeftRunning {
		return Answer{}, ErrStale
	}
	p.LeftRunning, p.ExitCode, p.Signal, p.UpdatedAt = true, r.ExitCode, r.Signal, o.now
	if p.State == ProcessStarting {
		p.State, p.StartedAt = ProcessRunning, o.now.Add(-r.Ran)
		if p.Kill != "" {
			o.emit(Kill{p.ID, p.Kill})
		}
	}
	action := p.Action
	foreground := !p.Background
	if foreground && p.Kill != "" { // its end comes presently, and answers the call
		o.processes.put(p.ID, p)
		return Answer{}, nil
	}
	p.Background, p.Action, p.Timeout = true, "", 0
	o.processes.put(p.ID, p)
	o.note(Record{Kind: "process", ID: string(p.ID), State: "left_running", Session: p.Owner})
	if action == "" {
		return Answer{}, nil
	}
	result := tool.JSON(tool.Started{ProcessID: string(p.ID), Status: "running", Notify: p.Notify})
	if foreground {
		result = tool.JSON(tool.Ran{
			ExitCode: r.ExitCode, Signal: r.Signal, Output: r.Output, Truncated: r.Truncated, DurationSeconds: tool.Seconds(r.Ran),
			LeftRunning: true, ProcessID: string(p.ID), Note: "the command ended, but something that it started still runs as a background process",
		})
	}
	o.resolve(action, result, false)
	o.resume(action)
	return Answer{}, nil
}

// ended takes the end of a process: the result of the call that waits for it, or a completion, in the very same step.
func (o *Overlay) ended(r Ended) (Answer, error) {
	p, ok := o.processes.get(r.Process)
	if !ok || p.State.Ended() {
		return Answer{}, ErrStale
	}
	fast := p.State == ProcessStarting && p.Background // it ended before anyone was told that it runs
	p.State, p.Signal, p.Detail, p.Tail = r.State, r.Signal, r.Detail, r.Tail
	p.EndedAt, p.UpdatedAt = r.EndedAt, o.now
	if r.ExitCode != nil {
		p.ExitCode = r.ExitCode
	}
	if !r.StartedAt.IsZero() {
		p.StartedAt = r.StartedAt
	}
	l := o.lane(p.Owner)
	l.Processes = without(l.Processes, p.ID)
	o.setLane(l)
	action, waiter := p.Action, p.Waiter
	p.Action, p.Waiter = "", ""
	p.Seen = p.Seen || waiter != "" || action != "" && !p.Background
	o.processes.put(p.ID, p)
	o.note(Record{Kind: "process", ID: string(p.ID), State: string(p.State), Session: p.Owner, Why: statusOf(p)})

	told := p.Seen
	if action != "" {
		result, failed := o.callResult(p, r, fast)
		told = told || failed
		o.resolve(action, result, failed)
	}
	if waiter != "" {
		o.resolve(waiter, tool.JSON(tool.Polled{
			ProcessID: string(p.ID), State: string(p.State), ExitCode: p.ExitCode, Signal: p.Signal, Output: r.Output, Truncated: r.Truncated,
			RunningSeconds: tool.Seconds(o.ran(p)),
		}), false)
	}
	if !told && !p.Mute {
		o.completeProcess(p, r.Output, r.Truncated)
	}
	for _, aid := range []id.Action{action, waiter} {
		if aid != "" {
			o.resume(aid)
		}
	}
	return Answer{}, nil
}

// callResult is the result of the call that started a process and still waited when it ended.
func (o *Overlay) callResult(p Process, r Ended, fast bool) (result string, failed bool) {
	switch {
	case p.State == ProcessFailedStart:
		return tool.Error(tool.KindFailed, "the command did not start: "+r.Detail), true
	case fast:
		return tool.JSON(tool.Started{ProcessID: string(p.ID), Status: "running", Notify: p.Notify}), false
	case p.State == ProcessLost:
		return tool.Error(tool.KindUnknown, "the command was lost while it ran ("+r.Detail+"): look what it has done before you run it again"), true
	}
	ran := tool.Ran{
		ExitCode: p.ExitCode, Signal: p.Signal, Output: r.Output, Truncated: r.Truncated, DurationSeconds: tool.Seconds(o.ran(p)), Note: r.Detail,
	}
	if p.Kill == killTimeout {
		ran.Status, ran.ExitCode = "timeout", nil
	}
	return tool.JSON(ran), false
}

// completeProcess makes the completion of a process that ended in the background.
func (o *Overlay) completeProcess(p Process, output string, truncated bool) {
	s, _ := o.sessions.get(p.StartedBy)
	if p.Child != nil && !s.Ended() { // its own agent may still look, and is told what it missed
		l := o.lane(p.StartedBy)
		l.Unread++
		o.setLane(l)
	}
	receipts := o.policy(p.Profile).Receipts
	if p.Rehearsal { // it is what its person looks at
		receipts = ReceiptConcise
	}
	c := delivery.Completion{
		ID: id.Completion(o.newID(id.PrefixCompletion)), Profile: p.Profile, Kind: delivery.Process, Subject: string(p.ID), Status: statusOf(p),
		State: delivery.Pending, Pin: p.Pin, Origin: p.Turn, OriginNo: p.TurnNo, Child: p.Child, Notify: p.Notify,
		Hidden: p.Child != nil && !p.Rehearsal && !o.policy(p.Profile).SurfaceChildProcesses, Rehearsal: p.Rehearsal,
		Notice: processNotice(p, output, truncated), Receipt: receipt(p, receipts),
		CreatedAt: o.now, UpdatedAt: o.now, PendingSince: o.now,
	}
	p.Completion = c.ID
	o.processes.put(p.ID, p)
	o.route(c)
}

// orphans kills what a child leaves running, neither waited for nor handed off, and names it. What is being killed already
// is no orphan.
func (o *Overlay) orphans(l Lane) []string {
	names := []string{}
	for _, pid := range l.Processes {
		p, _ := o.processes.get(pid)
		if p.Kill == "" {
			names = append(names, string(pid))
		}
		p.Mute = true
		o.kill(p, "its subagent ended and had neither waited for it nor handed it off")
	}
	return names
}

// stopChildren interrupts the running delegations of a session and tells how many there were.
func (o *Overlay) stopChildren(sid id.Session, quiet bool, why string) int {
	n := 0
	for _, did := range o.lane(sid).Delegations {
		if d, ok := o.delegations.get(did); ok && d.State == DelegationRunning {
			d.Quiet = d.Quiet || quiet
			o.delegations.put(did, d)
			o.interruptDelegation(did, why)
			n++
		}
	}
	return n
}

// prune moves what ended long ago out of reach, and forgets events that no platform delivers again.
func (o *Overlay) prune() {
	for _, pid := range o.processes.all() {
		if p, _ := o.processes.get(pid); p.State.Ended() && o.now.Sub(p.UpdatedAt) > ProcessLife {
			o.processes.del(pid)
			o.archive(Processes, string(pid), p)
		}
	}
	for _, did := range o.delegations.all() {
		if d, _ := o.delegations.get(did); d.State != DelegationRunning && !untold(d) && o.now.Sub(d.UpdatedAt) > ProcessLife {
			o.delegations.del(did)
			o.archive(Delegations, string(did), d)
		}
	}
	for _, k := range o.marks.all() {
		if m, _ := o.marks.get(k); o.now.Sub(m.At) > MarkLife {
			o.marks.del(k)
		}
	}
	o.emit(Wake{o.now.Add(time.Hour), duePrune})
}

const duePrune = "prune"
