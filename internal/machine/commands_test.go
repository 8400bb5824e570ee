package machine_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
)

// do carries out one command of a story.
func (w *world) do(text string) error {
	l, err := parse(text)
	if err != nil {
		return err
	}
	f, ok := commands()[l.name]
	if !ok {
		return fmt.Errorf("no command %q; there are %v", l.name, slices.Sorted(maps.Keys(commands())))
	}
	return f(w, l)
}

// commands are what stories and histories are made of.
func commands() map[string]func(*world, line) error {
	return map[string]func(*world, line) error{
		// people
		"say": (*world).say, "new": (*world).command, "stop": (*world).command, "resume": (*world).command, "branch": (*world).command,
		"retry": (*world).command, "undo": (*world).command, "compact": (*world).command, "tasks": (*world).command, "selftest": (*world).command,
		"end": func(w *world, l line) error {
			_, _ = w.apply(machine.EndSession{Session: w.session(l.word(0))})
			return nil
		},
		"halt": func(w *world, l line) error {
			_, _ = w.apply(machine.StopDelegation{Delegation: id.Delegation(w.names.id(l.word(0)))})
			return nil
		},
		"kill": func(w *world, l line) error {
			_, _ = w.apply(machine.KillProcess{Process: id.Process(w.names.id(l.word(0)))})
			return nil
		},
		"requeue": (*world).requeue,
		"drop": func(w *world, l line) error {
			_, _ = w.apply(machine.Drop{ID: w.names.id(l.word(0))})
			return nil
		},
		"moved": (*world).moved, "aside": (*world).aside, "hint": (*world).hint,
		"tell": func(w *world, l line) error {
			_, _ = w.apply(machine.Say{To: places()[l.word(0)], Text: l.text(""), Cause: "operator"})
			return nil
		},
		// the model
		"answer": (*world).answer, "call": (*world).answer, "fail": (*world).fail, "done": (*world).toolDone, "sum": (*world).sum,
		// processes
		"started": (*world).started, "left": (*world).left, "promote": (*world).promote,
		"overdue": func(w *world, l line) error {
			w.report(machine.Overdue{Process: id.Process(w.names.id(l.word(0)))})
			return nil
		},
		"exit": (*world).ended, "killed": (*world).ended, "lost": (*world).ended, "failed": (*world).ended,
		// platforms
		"claim": (*world).claim, "send": (*world).send, "look": (*world).look, "preview": (*world).preview,
		"reachable": func(w *world, l line) error {
			_, _ = w.apply(machine.Reachable{Account: places()[l.word(0)].Account})
			return nil
		},
		// who follows a self-test
		"examined": func(w *world, l line) error {
			d := id.Delegation(w.names.id(l.word(0)))
			w.carried(func(e machine.Effect) bool { x, ok := e.(machine.Examine); return ok && x.Delegation.ID == d })
			w.report(machine.Examined{Delegation: d, Text: l.text("the report")})
			return nil
		},
		"fetched": (*world).fetched, "discarded": (*world).discarded,
		// the daemon
		"crash":   func(w *world, _ line) error { w.crash(); return nil },
		"reopen":  func(w *world, _ line) error { w.reopen(); return nil },
		"restore": func(w *world, _ line) error { w.restore(); return nil },
		"unreadable": func(w *world, l line) error {
			w.unreadable = append(w.unreadable, w.session(l.word(0)))
			w.crash()
			return nil
		},
		"full":   func(w *world, _ line) error { w.full = 1; return nil },
		"tick":   func(w *world, l line) error { w.tick(l.span()); return nil },
		"back":   func(w *world, l line) error { w.now = w.now.Add(-l.span()); return nil },
		"again":  (*world).again,
		"policy": (*world).setPolicy,
		"api":    (*world).api,
		// looking
		"dump": (*world).dump, "transcript": (*world).showTranscript, "force": (*world).showForce, "undelivered": (*world).undelivered,
	}
}

func (w *world) session(short string) id.Session { return id.Session(w.names.id(short)) }

// event is a message of a person on its way in.
func (w *world) event(l line) (machine.Receive, error) {
	a, ok := places()[l.word(0)]
	if !ok {
		return machine.Receive{}, fmt.Errorf("no place %q", l.word(0))
	}
	w.events++
	name := "e" + strconv.Itoa(w.events)
	if again, ok := l.option["event"]; ok {
		name = again
	}
	return machine.Receive{
		Account: a.Account, Event: name, Cursor: "after-" + name, Keying: w.keying, Shared: a.Type != chat.Direct,
		Message: &chat.Message{Address: a, PersonName: a.Person, ID: "m-" + name, Addressed: true, SentAt: w.now},
	}, nil
}

func (w *world) say(l line) error {
	r, err := w.event(l)
	if err != nil {
		return err
	}
	r.Message.Text, r.Steer, r.OnlyIfPart = l.text("…"), l.has("steer"), l.has("if-part")
	if files, ok := l.option["files"]; ok {
		r.Files, r.Message.Album, r.OnlyIfAlbum = sent(files), l.option["album"], l.has("if-album")
		r.Message.Text = l.text("")
	}
	if l.has("unnamed") {
		r.Event = ""
	}
	w.report(r)
	return nil
}

func (w *world) command(l line) error {
	r, err := w.event(l)
	if err != nil {
		return err
	}
	r.Command = &machine.Command{Name: l.name, Target: w.session(l.word(1)), Any: l.has("any")}
	if l.name == machine.CommandTasks {
		r.Command.Target, r.Command.Task = "", w.names.id(l.word(1))
	}
	r.Message.Text = "/" + l.name
	w.report(r)
	return nil
}

func (w *world) moved(l line) error {
	a := places()[l.word(0)]
	w.events++
	w.report(machine.Receive{
		Account: a.Account, Event: "e" + strconv.Itoa(w.events),
		Moved: &chat.Moved{Account: a.Account, From: l.word(1), To: l.word(2), ToType: a.Type},
	})
	return nil
}

// aside is an event that an adapter could not decode.
func (w *world) aside(l line) error {
	r, err := w.event(l)
	r.Message, r.Aside = nil, &chat.Aside{Raw: []byte(`{"odd":true}`), Reason: l.text("odd")}
	w.report(r)
	return err
}

// hint is a message that is answered at once, without the agent.
func (w *world) hint(l line) error {
	r, err := w.event(l)
	r.Reply = l.text("…")
	w.report(r)
	return err
}

func (w *world) requeue(l line) error {
	r := machine.Requeue{ID: w.names.id(l.word(0)), Keying: w.keying}
	if to, ok := l.option["to"]; ok {
		a := places()[to]
		if profile, ok := l.option["profile"]; ok {
			a.Profile = profile
		}
		r.To = &a
	}
	_, _ = w.apply(r)
	return nil
}

// turnOf is the running turn of a session, or any turn by its own name.
func (w *world) turnOf(short string) (machine.Turn, error) {
	if t, ok := either[machine.Turn](w.disk, machine.Turns, w.names.id(short)); ok {
		return t, nil
	}
	if t := w.disk.turn(w.session(short)); t.ID != "" {
		return t, nil
	}
	return machine.Turn{}, fmt.Errorf("no turn runs in %s", short)
}

// answer is the model's answer: a text, tool calls, or both.
func (w *world) answer(l line) error {
	t, err := w.turnOf(l.word(0))
	if err != nil {
		return err
	}
	r := machine.Answered{Turn: t.ID, Generation: t.Generation, Step: t.Step, Text: l.text("")}
	for i, x := range l.words[1:] {
		if !x.quoted {
			r.Calls = callsOf(w, l.words[1+i:])
			break
		}
	}
	if step, ok := l.option["step"]; ok {
		r.Step, _ = strconv.Atoi(step)
	}
	w.asked(t.ID, r.Step)
	w.report(r)
	return nil
}

func (w *world) asked(t id.Turn, step int) {
	w.carried(func(e machine.Effect) bool {
		s, ok := e.(machine.RunStep)
		return ok && s.Turn.ID == t && s.Turn.Step == step
	})
}

func (w *world) fail(l line) error {
	t, err := w.turnOf(l.word(0))
	if err != nil {
		return err
	}
	failure := map[string]agent.Failure{
		"unavailable": agent.Unavailable, "limited": agent.RateLimited, "refused": agent.Refused, "too_long": agent.TooLong, "credential": agent.Credential,
	}[l.word(1)]
	w.asked(t.ID, t.Step)
	w.report(machine.Unanswered{
		Turn: t.ID, Generation: t.Generation, Step: t.Step, Failure: failure, After: l.span(), Text: l.text("the model said no"),
	})
	return nil
}

// sum is the model's summary of a conversation; with "failed" it made none.
func (w *world) sum(l line) error {
	sid := w.session(l.word(0))
	lane, s := w.disk.lane(sid), w.disk.session(sid)
	w.carried(func(e machine.Effect) bool { c, ok := e.(machine.Compact); return ok && c.Session.ID == sid })
	r := machine.Compacted{Session: sid, Generation: s.Generation, Turn: lane.Turn, Entries: lane.Entries}
	tail, _ := strconv.Atoi(l.option["tail"])
	force := machine.InForce(w.disk.transcript(sid))
	c, ok := machine.PlanCompaction(force, func(c id.Completion) bool {
		_, lives := get[delivery.Completion](w.disk, machine.Completions, string(c))
		return lives
	}, machine.Limits{Tail: tail})
	switch {
	case l.has("failed"):
		r.Failed = l.text("not summed up")
	case !ok:
		r.Failed = "nothing to sum up"
	default:
		r.From, r.Keep, r.Count, r.Text, r.Before = c.From, c.Keep, c.Count, l.text("in short"), machine.TokensOf(force)
		r.After = r.Before - c.Aside + machine.Entry{Content: r.Text}.Tokens()
	}
	w.report(r)
	return nil
}

// toolDone is the result of a call that only reads or waits; with "seen" the agent sees the end of the process in it.
func (w *world) toolDone(l line) error {
	a, ok := either[machine.Action](w.disk, machine.Actions, w.names.id(l.word(0)))
	if !ok {
		return fmt.Errorf("no action %s", l.word(0))
	}
	r := machine.ToolDone{Action: a.ID, Result: l.text(`{"status":"still_running"}`)}
	if sendsFile(a) && !l.has("refused") {
		r = copied(a)
	}
	if l.has("seen") {
		r.Consumes = a.Process
	}
	w.carried(func(e machine.Effect) bool { x, ok := e.(machine.RunTool); return ok && x.Action.ID == a.ID })
	w.report(r)
	return nil
}

// again repeats the n-th last report that was accepted. Nothing may come of it.
func (w *world) again(l line) error {
	n := len(w.reports) - max(l.number(), 1)
	if n < 0 {
		return nil
	}
	switch r := w.reports[n].(type) {
	case machine.Unanswered:
		return nil // the next attempt may fail in the same words
	case machine.Showing, machine.Shown:
		return nil // so may the next attempt at a preview
	case machine.Receive:
		if r.Event == "" {
			return nil
		}
	}
	if a, err := w.apply(w.reports[n]); err == nil && !a.Duplicate {
		return fmt.Errorf("%w: %T is taken twice", errBroken, w.reports[n])
	}
	return nil
}

func (w *world) setPolicy(l line) error {
	for k, v := range l.option {
		n, _ := strconv.Atoi(v)
		switch k {
		case "surface":
			w.policy.SurfaceChildProcesses = v == "on"
		case "inbox":
			w.policy.InboxLimit = n
		case "children":
			w.policy.MaxChildren = n
		case "depth":
			w.policy.MaxSpawnDepth = n
		case "iterations":
			w.policy.MaxIterations = n
		case "child-iterations":
			w.policy.ChildIterations = n
		case "processes":
			w.policy.MaxProcesses = n
		case "attempts":
			w.policy.Delivery.MaxAttempts = n
		case "unknown":
			w.policy.Delivery.Resend = v == "resend"
		case "summary":
			w.policy.MaxSummaryChars = n
		case "receipts":
			w.policy.Receipts = machine.ReceiptMode(v)
		case "expire":
			w.policy.ExpireAfter, _ = time.ParseDuration(v)
		case "idle":
			w.policy.IdleReset, _ = time.ParseDuration(v)
		case "per-person":
			w.keying = chat.Keying{PerPersonInGroups: v == "on", PerPersonInThreads: v == "on"}
		default:
			return fmt.Errorf("no policy %q", k)
		}
	}
	return nil
}
