package machine_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
)

func (w *world) process(short string) (machine.Process, error) {
	p, ok := either[machine.Process](w.disk, machine.Processes, w.names.id(short))
	if !ok {
		return p, fmt.Errorf("no process %s", short)
	}
	return p, nil
}

func (w *world) started(l line) error {
	p, err := w.process(l.word(0))
	if err != nil {
		return err
	}
	w.report(machine.Started{Process: p.ID, PID: 1000 + w.names.counts["proc"], At: w.now})
	return nil
}

// ended is the end of a process: exit CODE, killed, lost, failed.
func (w *world) ended(l line) error {
	p, err := w.process(l.word(0))
	if err != nil {
		return err
	}
	r := machine.Ended{Process: p.ID, Output: l.text(""), Tail: l.text(""), EndedAt: w.now, StartedAt: p.StartedAt}
	switch l.name {
	case "exit":
		n := l.number()
		r.State, r.ExitCode = machine.ProcessExited, &n
	case "killed":
		r.State, r.Signal = machine.ProcessKilled, "SIGKILL"
	case "lost":
		r.State, r.Detail = machine.ProcessLost, l.text("the machine was rebooted")
	case "failed":
		r.State, r.Detail = machine.ProcessFailedStart, l.text("no such shell")
	}
	for _, done := range []func(machine.Effect) bool{
		func(e machine.Effect) bool { x, ok := e.(machine.Tend); return ok && x.Process.ID == p.ID },
		func(e machine.Effect) bool { x, ok := e.(machine.Kill); return ok && x.Process == p.ID },
	} {
		w.carried(done)
	}
	w.report(r)
	return nil
}

func (w *world) left(l line) error {
	p, err := w.process(l.word(0))
	if err != nil {
		return err
	}
	n := l.number()
	w.report(machine.Left{Process: p.ID, ExitCode: &n, Output: l.text(""), Ran: time.Second})
	return nil
}

func (w *world) promote(l line) error {
	p, err := w.process(l.word(0))
	if err != nil {
		return err
	}
	w.carried(func(e machine.Effect) bool { x, ok := e.(machine.Promote); return ok && x.Process == p.ID })
	w.report(machine.Promoted{Process: p.ID, Output: l.text(""), After: l.span()})
	return nil
}

// message is the one that is named, or the first that waits for a sender.
func (w *world) message(short string) (delivery.Outgoing, error) {
	mid := w.names.id(short)
	for _, e := range w.todo {
		if namePattern.MatchString(short) || strings.HasPrefix(mid, id.PrefixOutgoing) {
			break
		}
		switch e := e.(type) {
		case machine.Prepare:
			mid = string(e.Outgoing.ID)
		case machine.Transmit:
			mid = string(e.Outgoing.ID)
		case machine.Observe:
			mid = string(e.Outgoing.ID)
		}
	}
	m, ok := either[delivery.Outgoing](w.disk, machine.Outgoings, mid)
	if !ok {
		return m, fmt.Errorf("no message %s is to be sent", short)
	}
	return m, nil
}

// claim renders a message into parts and claims it.
func (w *world) claim(l line) error {
	m, err := w.message(l.word(0))
	if err != nil {
		return err
	}
	n, _ := strconv.Atoi(l.option["parts"])
	r := machine.Claim{Outgoing: m.ID, Idempotent: m.Idempotent || l.has("idempotent"), Observable: m.Observable || l.has("observable"), Anew: l.has("anew")}
	for i := range max(n, 1) {
		text := m.Text
		if n > 1 {
			text = fmt.Sprintf("%s (%d of %d)", m.Text, i+1, n)
		}
		r.Parts = append(r.Parts, delivery.Part{Text: text, Bare: text, File: i == 0 && m.File != nil})
	}
	w.carried(func(e machine.Effect) bool { x, ok := e.(machine.Prepare); return ok && x.Outgoing.ID == m.ID })
	_, _ = w.apply(r)
	return nil
}

// send makes one attempt at the next part of a message, claiming it first if need be.
func (w *world) send(l line) error {
	m, err := w.message(l.word(0))
	if err != nil {
		return err
	}
	if m.State == delivery.Queued {
		if err := w.claim(l); err != nil {
			return err
		}
		m, _ = either[delivery.Outgoing](w.disk, machine.Outgoings, string(m.ID))
	}
	r := machine.SendDone{Outgoing: m.ID, Part: m.Current(), Try: m.Tries}
	r.Outcome.Healthy = l.has("healthy")
	f := &chat.SendError{RetryAfter: l.span()}
	switch {
	case l.has("ok"):
		f = nil
		r.Outcome.Receipt = chat.Receipt{MessageID: fmt.Sprintf("%s.%d", w.names.of(string(m.ID)), m.Current())}
		if i := m.Current(); i >= 0 && m.Parts[i].Edits != "" {
			r.Outcome.Receipt.MessageID = m.Parts[i].Edits
		}
	case l.has("429"):
		f.Fault = chat.RateLimited
	case l.has("unreachable"):
		f.Fault = chat.Unreachable
	case l.has("500"):
		f.Fault = chat.ServerError
	case l.has("unknown"):
		f.Fault = chat.Unknown
	case l.has("moved"):
		f.Fault, f.MovedTo = chat.MovedChat, l.after("moved")
	case l.has("refused"):
		f.Fault, f.Class = chat.Refused, chat.Class(l.after("refused"))
	default:
		return fmt.Errorf("send with what outcome?")
	}
	r.Outcome.Failure = f
	w.carried(func(e machine.Effect) bool {
		x, ok := e.(machine.Transmit)
		return ok && x.Outgoing.ID == m.ID && x.Part == r.Part
	})
	w.report(r)
	return nil
}

// preview tells how the preview of a turn gets on: begins, stands as ID, fails, strays, is gone.
func (w *world) preview(l line) error {
	t, err := w.turnOf(l.word(0))
	if err != nil {
		return err
	}
	switch l.word(1) {
	case "begins":
		w.report(machine.Showing{Turn: t.ID, Generation: t.Generation, To: w.disk.session(t.Session).Key.Address()})
	case "stands":
		w.report(machine.Shown{Turn: t.ID, MessageID: "preview-" + w.names.of(string(t.ID))})
	case "fails":
		w.report(machine.Shown{Turn: t.ID})
	case "strays":
		w.report(machine.Astray{Turn: t.ID})
	case "gone":
		w.carried(func(e machine.Effect) bool { x, ok := e.(machine.Retract); return ok && x.Preview.Turn == t.ID })
		w.report(machine.Retracted{Turn: t.ID})
	default:
		return fmt.Errorf("the preview does what?")
	}
	return nil
}

// look asks the platform whether a part arrived.
func (w *world) look(l line) error {
	m, err := w.message(l.word(0))
	if err != nil {
		return err
	}
	r := machine.Observed{Outgoing: m.ID, Part: m.Current(), Try: m.Tries, Look: m.Waits}
	switch {
	case l.has("found"):
		r.Sighting.Found, r.Sighting.Receipt = true, chat.Receipt{MessageID: fmt.Sprintf("%s.%d", w.names.of(string(m.ID)), m.Current())}
	case l.has("missing"):
	case l.has("unreachable"):
		r.Sighting.Failure = &chat.SendError{Fault: chat.Unreachable}
	case l.has("refused"):
		r.Sighting.Failure = &chat.SendError{Fault: chat.Refused, Class: chat.ClassOther}
	default:
		return fmt.Errorf("look with what outcome?")
	}
	w.carried(func(e machine.Effect) bool {
		x, ok := e.(machine.Observe)
		return ok && x.Outgoing.ID == m.ID && x.Part == r.Part
	})
	w.report(r)
	return nil
}

// api puts a session of the HTTP interface with a running turn on the disk, as an earlier life would have left it, and
// starts anew.
func (w *world) api(_ line) error {
	ids := id.NewSource(rand.NewChaCha8([32]byte{'a', 'p', 'i'}))
	s := session.Session{
		ID: id.Session(ids.New(id.PrefixSession, w.now)), Profile: "default", Kind: session.API, CreatedAt: w.now, ActiveAt: w.now,
	}
	t := machine.Turn{
		ID: id.Turn(ids.New(id.PrefixTurn, w.now)), Profile: "default", Session: s.ID, No: 1, State: machine.TurnRunning, Texts: 1,
	}
	e := machine.Entry{Session: s.ID, Seq: 1, Turn: t.ID, Kind: machine.EntryUser, Content: "hello from a client"}
	l := machine.Lane{Session: s.ID, Turn: t.ID, Turns: 1, Entries: 1, LastEntry: machine.EntryUser}
	left := step{request: machine.Recover{}, before: w.disk.clone(), after: w.disk, changes: []machine.Change{
		{Table: machine.Sessions, Key: string(s.ID), Value: s},
		{Table: machine.Turns, Key: string(t.ID), Value: t},
		{Table: machine.Lanes, Key: string(s.ID), Value: l},
		{Table: machine.Entries, Key: machine.EntryKey(s.ID, 1), Value: e},
	}}
	w.disk.write(left.changes)
	if err := w.check(left); err != nil {
		return err
	}
	w.printf("session %s of the API, turn %s", w.names.of(string(s.ID)), w.names.of(string(t.ID)))
	w.reopen()
	return nil
}
