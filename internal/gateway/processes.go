package gateway

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/process"
	"github.com/homing-gateway/homing/internal/tool"
)

// tailLimit bounds the last lines that a receipt or a notice shows, in bytes.
const tailLimit = 1500

// procTable knows the processes that this life of the daemon looks after.
type procTable struct {
	mu   sync.Mutex
	live map[id.Process]*tended
}

type tended struct {
	promote chan struct{} // a person wrote: let the foreground go
	ended   chan struct{} // closed when the process is over
}

func (t *procTable) begin(p id.Process) (*tended, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.live == nil {
		t.live = map[id.Process]*tended{}
	}
	if x, ok := t.live[p]; ok {
		return x, false
	}
	x := &tended{promote: make(chan struct{}, 1), ended: make(chan struct{})}
	t.live[p] = x
	return x, true
}

func (t *procTable) end(p id.Process) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if x, ok := t.live[p]; ok {
		close(x.ended)
		delete(t.live, p)
	}
}

// over returns a channel that is closed when the process is over, or nil when nobody looks after it.
func (t *procTable) over(p id.Process) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if x, ok := t.live[p]; ok {
		return x.ended
	}
	return nil
}

func (t *procTable) nudge(p id.Process) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if x, ok := t.live[p]; ok {
		select {
		case x.promote <- struct{}{}:
		default:
		}
	}
}

// tend sees to it that a process runs under its supervisor, at most once, and reports how it goes. A drain waits for the
// foreground commands of people's turns.
func (g *Gateway) tend(p machine.Process) {
	if g.draining.Load() {
		return // it is started, or found again, at the next start
	}
	x, fresh := g.procs.begin(p.ID)
	if !fresh {
		return
	}
	release := func() {}
	if !p.Background && !p.StartedBy.IsSubagent() {
		g.hand.add(1)
		release = sync.OnceFunc(g.hand.done)
	}
	if !g.tasks.begin(func() {
		defer release()
		defer g.procs.end(p.ID)
		g.look(p, x, release)
	}) {
		g.procs.end(p.ID)
		release()
	}
}

// look follows one process from its start to its end.
func (g *Gateway) look(p machine.Process, x *tended, release func()) {
	ctx := g.work
	log := g.log.With(zap.String("process", string(p.ID)))
	proc, gone := g.find(ctx, p)
	if ctx.Err() != nil {
		return // it is started, or found again, at the next start
	}
	if gone != nil {
		log.Warn("process did not run", zap.String("state", string(gone.State)), zap.String("detail", gone.Detail))
		g.report(ctx, *gone)
		return
	}
	started, err := proc.Started(ctx)
	switch {
	case err == nil:
		g.report(ctx, machine.Started{Process: p.ID, PID: started.Leader.PID, At: started.At})
	case ctx.Err() != nil:
		return
	}
	var foreground sync.WaitGroup
	if !p.Background && err == nil {
		foreground.Go(func() {
			defer release()
			g.foreground(ctx, p, proc, started.At, x)
		})
	}
	exit, err := proc.Leader(ctx)
	if err == nil && exit.LeftRunning && exit.State != process.Killed && exit.State != process.Lost {
		out := g.output(proc)
		g.report(ctx, machine.Left{
			Process: p.ID, ExitCode: exit.Code, Signal: exit.Signal, Output: out.Text, Truncated: out.Truncated, Ran: time.Since(started.At),
		})
		exit, err = proc.Wait(ctx)
	}
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		log.Error("process not followed", zap.Error(err))
		exit = process.Exit{State: process.Lost, Reason: err.Error(), EndedAt: time.Now()}
	}
	g.report(ctx, endOf(p.ID, exit, g.output(proc)))
	g.procs.end(p.ID)
	foreground.Wait()
}

// find opens the process, or starts it when nothing was started for its intent yet. gone says why nothing runs.
func (g *Gateway) find(ctx context.Context, p machine.Process) (proc *process.Process, gone *machine.Ended) {
	ended := func(state machine.ProcessState, why string) *machine.Ended {
		return &machine.Ended{Process: p.ID, State: state, Detail: why, EndedAt: time.Now()}
	}
	proc, err := g.o.Processes.Open(string(p.ID))
	switch {
	case err == nil:
		return proc, nil
	case !errors.Is(err, process.ErrNotFound):
		return nil, ended(machine.ProcessLost, err.Error())
	case p.State == machine.ProcessRunning:
		return nil, ended(machine.ProcessLost, "its folder is gone")
	case p.Kill != "":
		return nil, ended(machine.ProcessKilled, "it was not started any more")
	}
	prof := g.profile(p.Profile)
	proc, err = g.o.Processes.Start(ctx, process.Spec{
		ID: string(p.ID), Command: p.Command, Shell: prof.Shell, Workdir: workdir(prof.Workspace, p.Workdir),
		Env: process.Environment(g.o.Environ, prof.EnvPassthrough), OutputLimit: prof.OutputLimit, KillGrace: prof.KillGrace,
	})
	if err != nil && ctx.Err() == nil {
		return nil, ended(machine.ProcessFailedStart, err.Error())
	}
	return proc, nil
}

// workdir is where a command runs: in the workspace, unless the call says otherwise.
func workdir(workspace, wanted string) string {
	switch {
	case wanted == "":
		return workspace
	case filepath.IsAbs(wanted):
		return filepath.Clean(wanted)
	}
	return filepath.Join(workspace, wanted)
}

// foreground holds the limits of a foreground command: its time-out, the time after which it goes on in the background,
// and a person's text that lets it go on at once.
func (g *Gateway) foreground(ctx context.Context, p machine.Process, proc *process.Process, began time.Time, x *tended) {
	limit := g.profile(p.Profile).PromoteAfter
	kill := p.Timeout > 0 && (limit <= 0 || p.Timeout <= limit)
	if kill {
		limit = p.Timeout
	}
	var timer <-chan time.Time
	if limit > 0 {
		t := time.NewTimer(time.Until(began.Add(limit)))
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-timer:
		if kill {
			g.report(ctx, machine.Overdue{Process: p.ID})
			return
		}
	case <-x.promote:
	case <-x.ended:
		return
	case <-ctx.Done():
		return
	}
	out := g.output(proc)
	g.report(ctx, machine.Promoted{Process: p.ID, Output: out.Text, Truncated: out.Truncated, After: time.Since(began)})
}

func (g *Gateway) output(proc *process.Process) process.Output {
	out, err := proc.Output()
	if err != nil {
		g.log.Warn("output not read", zap.String("process", proc.ID()), zap.Error(err))
		return process.Output{Text: "(the output could not be read)"}
	}
	return out
}

// endOf is the report of an end.
func endOf(p id.Process, e process.Exit, out process.Output) machine.Ended {
	var notes []string
	if e.Reason != "" && e.State != process.Killed {
		notes = append(notes, e.Reason)
	}
	if e.EscapedTotal > 0 {
		notes = append(notes, "Something that it started left its group and goes on without supervision.")
	}
	return machine.Ended{
		Process: p, State: machine.ProcessState(e.State), ExitCode: e.Code, Signal: e.Signal, Detail: strings.Join(notes, " "),
		Output: out.Text, Truncated: out.Truncated, Tail: lastLines(out.Text), StartedAt: e.StartedAt, EndedAt: e.EndedAt,
	}
}

// lastLines is the end of an output, whole lines where possible.
func lastLines(text string) string {
	text = strings.TrimRight(text, "\n")
	if len(text) <= tailLimit {
		return text
	}
	text = text[len(text)-tailLimit:]
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	return strings.ToValidUTF8(text, "")
}

// kill carries out a kill that is wanted. A process that was not started yet is killed once it reports that it runs.
func (g *Gateway) kill(e machine.Kill) {
	proc, err := g.o.Processes.Open(string(e.Process))
	if errors.Is(err, process.ErrNotFound) {
		return
	}
	if err == nil {
		err = proc.Kill(g.work, e.Reason)
	}
	if err != nil && g.work.Err() == nil {
		g.log.Error("process not killed", zap.String("process", string(e.Process)), zap.Error(err))
	}
}

// runTool carries out a tool call that only reads, or waits.
func (g *Gateway) runTool(e machine.RunTool, released <-chan struct{}) {
	if e.Action.Call.Name == tool.SendFile {
		g.report(g.work, g.copyFile(e))
		return
	}
	if tool.OnFiles(e.Action.Call.Name) {
		g.report(g.work, g.fileTool(e))
		return
	}
	var args tool.ProcessArgs
	if err := tool.Parse(e.Action.Call.Name, e.Action.Call.Arguments, &args); err != nil {
		g.report(g.work, machine.ToolDone{Action: e.Action.ID, Result: tool.Error(tool.KindArguments, err.Error()), Failed: true})
		return
	}
	proc, err := g.o.Processes.Open(string(e.Process.ID))
	if err != nil {
		g.report(g.work, machine.ToolDone{
			Action: e.Action.ID, Failed: true,
			Result: tool.Error(tool.KindState, "the process has not been started, or its output is gone: try action list"),
		})
		return
	}
	done := machine.ToolDone{Action: e.Action.ID}
	switch args.Action {
	case tool.ProcessLog:
		limit := min(args.Limit, 64<<10)
		if limit <= 0 {
			limit = 16_000
		}
		exit, err := proc.Poll() // first: what is read after the end is all there is
		over := err == nil && exit.State != process.Running
		page, err := proc.ReadLog(args.Offset, int(limit))
		if err != nil {
			done.Result, done.Failed = tool.Error(tool.KindFailed, "the output could not be read: "+err.Error()), true
			break
		}
		if page.End && over {
			done.Consumes = e.Process.ID
		}
		done.Result = tool.JSON(tool.Logged{
			ProcessID: string(e.Process.ID), Output: page.Text, Offset: page.Offset, Total: page.Total, End: page.End && over,
		})
	case tool.ProcessWait:
		if !g.wait(e, released) {
			return // its end answers the call, or the daemon stops
		}
		done.Result, done.Consumes = g.poll(proc, e.Process.ID, true)
	case tool.ProcessKill: // of one that has ended already
		done.Result, done.Consumes = g.poll(proc, e.Process.ID, false)
	default:
		done.Result, _ = g.poll(proc, e.Process.ID, false)
	}
	g.report(g.work, done)
}

// wait waits until the time is over or a person wrote. It returns false when there is nothing left to report.
func (g *Gateway) wait(e machine.RunTool, released <-chan struct{}) bool {
	if e.Process.State.Ended() {
		return true
	}
	over := g.procs.over(e.Process.ID)
	if over == nil {
		return true
	}
	t := time.NewTimer(e.Timeout)
	defer t.Stop()
	select {
	case <-t.C:
	case <-released:
	case <-over:
		return false
	case <-g.work.Done():
		return false
	}
	return true
}

// poll is how a process stands now. The end of one that has ended is seen by whoever reads this.
func (g *Gateway) poll(proc *process.Process, pid id.Process, waited bool) (result string, consumes id.Process) {
	exit, err := proc.Poll()
	if err != nil {
		return tool.Error(tool.KindFailed, "the process could not be looked at: "+err.Error()), ""
	}
	out := g.output(proc)
	end := exit.EndedAt
	if end.IsZero() {
		end = time.Now()
	}
	polled := tool.Polled{
		ProcessID: string(pid), State: string(exit.State), ExitCode: exit.Code, Signal: exit.Signal, Output: out.Text, Truncated: out.Truncated,
	}
	if !exit.StartedAt.IsZero() {
		polled.RunningSeconds = tool.Seconds(end.Sub(exit.StartedAt))
	}
	switch {
	case exit.State != process.Running:
		consumes = pid
	case waited:
		polled.Status = "still_running"
	}
	if exit.State == process.Running {
		polled.ExitCode = nil
	}
	return tool.JSON(polled), consumes
}
