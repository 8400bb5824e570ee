package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
	"github.com/homing-gateway/homing/internal/store"
)

// payload is what each cycle makes durable, in bytes.
const payload = 512

// depth is how many marks of a delegation the walk from the pin to the owner follows.
const depth = 3

// product is Homing's own machine on its own store: the code that the daemon runs, from the request to the disk.
//
// Its cycle is the way of one routed completion, journal included. A process ends with 512 bytes of output: its owner is
// proved along three marks, the completion is admitted, its notice enters the transcript, and a turn binds it. All that is
// one durable step, which is waited for; the cycle is over when the turn is told to run. The turn's end (the model's answer,
// a transcript entry, the completion done) is a durable step as well; as in the daemon, whoever reports the next end of a
// process does not wait for it.
type product struct {
	m      *machine.Machine
	db     *store.DB
	commit func([]machine.Change) error
	cancel context.CancelFunc
	ended  chan error
	agents sync.WaitGroup
	talks  []*talk
	of     map[id.Session]*talk
	wait   bool // callers wait for the turn's end as well
}

// talk is one conversation with processes that are going to end.
type talk struct {
	owner, pin id.Session
	processes  []id.Process
	next       atomic.Int64
	steps      chan machine.RunStep
	claimed    chan struct{} // one for each completion that a turn has bound
}

// openProduct opens a store in dir with so many conversations, each with so many running processes. queued completions wait
// in the inboxes of other conversations all the while.
func openProduct(dir string, talks, each, queued int) (*product, error) {
	db, err := store.Open(filepath.Join(dir, "homing.db"))
	if err != nil {
		return nil, err
	}
	policy := machine.Policy{InboxLimit: 100, MaxIterations: 250, SurfaceChildProcesses: true, Delivery: delivery.Policy{MaxAttempts: 8, MinBackoff: time.Second, MaxBackoff: time.Minute}}
	ids := id.NewSource(nil)
	state := machine.NewState(func(string) machine.Policy { return policy }, ids)
	p := &product{db: db, commit: db.Commit, ended: make(chan error, 1), of: map[id.Session]*talk{}}
	s := seed{ids: ids, now: time.Now(), put: state.Load, db: db}
	for i := range talks {
		t := &talk{steps: make(chan machine.RunStep, 1), claimed: make(chan struct{}, 1024)}
		t.owner, t.pin = s.family(i)
		p.talks, p.of[t.owner] = append(p.talks, t), t
	}
	for range each { // in turns: ids grow with time, and so do the ends of what runs
		for _, t := range p.talks {
			t.processes = append(t.processes, s.process(t.owner, t.pin))
		}
	}
	s.backlog(queued)
	if err := s.flush(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	p.m = machine.New(state, func(c []machine.Change) error { return p.commit(c) }, p.effects, time.Now)
	go func() { p.ended <- p.m.Run(ctx) }() // ends with close
	for _, t := range p.talks {
		p.agents.Go(func() { p.agent(ctx, t) })
	}
	return p, nil
}

func (p *product) close() error {
	p.cancel()
	p.agents.Wait()
	return errors.Join(<-p.ended, p.db.Close())
}

func (p *product) effects(effects []machine.Issued, _ []machine.Record) {
	for _, e := range effects {
		if e, ok := e.Effect.(machine.RunStep); ok {
			p.of[e.Session.ID].steps <- e
		}
	}
}

// agent is a conversation's model: it has nothing to say.
func (p *product) agent(ctx context.Context, t *talk) {
	for {
		select {
		case <-ctx.Done():
			return
		case step := <-t.steps:
			if !p.wait {
				t.claim(len(step.Turn.Bound))
			}
			if _, err := p.m.Submit(ctx, machine.Answered{Turn: step.Turn.ID, Generation: step.Turn.Generation, Step: step.Turn.Step, Text: "[SILENT]"}); err != nil && ctx.Err() == nil {
				panic(fmt.Sprintf("end a turn: %v", err))
			}
			if p.wait {
				t.claim(len(step.Turn.Bound))
			}
		}
	}
}

func (t *talk) claim(n int) {
	for range n {
		t.claimed <- struct{}{}
	}
}

var output = strings.Repeat("all went well so far; ", payload/22+1)[:payload]

// cycle is one routed completion. It tells whether the caller has another process left.
func (p *product) cycle(ctx context.Context, caller int) (bool, error) {
	t := p.talks[caller%len(p.talks)]
	i := int(t.next.Add(1)) - 1
	if i >= len(t.processes) {
		return false, nil
	}
	zero := 0
	if _, err := p.m.Submit(ctx, machine.Ended{Process: t.processes[i], State: machine.ProcessExited, ExitCode: &zero, Output: output, Tail: output[:80], EndedAt: time.Now()}); err != nil {
		return false, fmt.Errorf("end of a process: %w", err)
	}
	<-t.claimed
	return true, nil
}

// seed writes what a store holds before the measurement begins.
type seed struct {
	ids     *id.Source
	now     time.Time
	put     func(machine.Change)
	db      *store.DB
	pending []machine.Change
	err     error
}

func (s *seed) add(t machine.Table, key string, v any) {
	c := machine.Change{Table: t, Key: key, Value: v}
	s.put(c)
	s.pending = append(s.pending, c)
	if len(s.pending) == 1000 {
		s.err = errors.Join(s.err, s.flush())
	}
}

func (s *seed) flush() error {
	err := errors.Join(s.err, s.db.Commit(s.pending))
	s.pending = nil
	return err
}

// family is a conversation and a line of subagents below it.
func (s *seed) family(n int) (owner, pin id.Session) {
	place := chat.Address{Account: chat.Account{Profile: "default", Platform: "x", ID: "1"}, Type: chat.Direct, Chat: strconv.Itoa(n), Person: "7"}
	key := chat.KeyOf(place, chat.Keying{})
	owner = id.Session(s.ids.New(id.PrefixSession, s.now))
	s.add(machine.Sessions, string(owner), session.Session{ID: owner, Profile: "default", Kind: session.Chat, Key: key, Title: "a question", CreatedAt: s.now, ActiveAt: s.now})
	s.add(machine.Routes, string(key), session.Route{Key: key, Current: owner, Version: 1, UpdatedAt: s.now})
	s.add(machine.Lanes, string(owner), machine.Lane{Session: owner, Turns: 1, Entries: 2, LastEntry: machine.EntryAssistant})
	pin = owner
	for d := range depth {
		child := id.Session(s.ids.New(id.PrefixSubagent, s.now))
		s.add(machine.Sessions, string(child), session.Session{ID: child, Profile: "default", Kind: session.Subagent, DelegateFrom: pin, Depth: d + 1, CreatedAt: s.now, ActiveAt: s.now, EndedAt: s.now, EndReason: session.Completed})
		pin = child
	}
	return owner, pin
}

func (s *seed) process(owner, pin id.Session) id.Process {
	p := machine.Process{
		ID: id.Process(s.ids.New(id.PrefixProcess, s.now)), Profile: "default", State: machine.ProcessRunning, Command: "make all", Owner: owner, StartedBy: pin, Pin: pin,
		Turn: id.Turn(s.ids.New(id.PrefixTurn, s.now)), TurnNo: 1, Background: true, Notify: true, PID: 4711, CreatedAt: s.now, StartedAt: s.now, UpdatedAt: s.now,
	}
	s.add(machine.Processes, string(p.ID), p)
	return p.ID
}

// backlog lets completions wait in the inboxes of conversations that are busy.
func (s *seed) backlog(n int) {
	const inbox = 100
	for i := 0; i < n; i += inbox {
		owner, pin := s.family(1_000_000 + i)
		l := machine.Lane{Session: owner, Turns: 2, Entries: 2, LastEntry: machine.EntryUser, Turn: id.Turn(s.ids.New(id.PrefixTurn, s.now))}
		for range min(inbox, n-i) {
			c := delivery.Completion{
				ID: id.Completion(s.ids.New(id.PrefixCompletion, s.now)), Profile: "default", Kind: delivery.Process, Subject: s.ids.New(id.PrefixProcess, s.now), Status: "exited 0",
				State: delivery.Admitted, Pin: pin, Owner: owner, Notify: true, Notice: output, CreatedAt: s.now, UpdatedAt: s.now, PendingSince: s.now,
			}
			l.Inbox = append(l.Inbox, c.ID)
			s.add(machine.Completions, string(c.ID), c)
		}
		s.add(machine.Lanes, string(owner), l)
		s.add(machine.Turns, string(l.Turn), machine.Turn{ID: l.Turn, Profile: "default", Session: owner, No: 2, State: machine.TurnRunning, CreatedAt: s.now, UpdatedAt: s.now})
	}
}

// measure lets the callers go round until the time is over, or one of them has nothing left to do.
func (p program) measure(cycle func(ctx context.Context, caller int) (bool, error)) (r result, err error) {
	ctx := context.Background()
	var n atomic.Int64
	var over atomic.Bool
	var wg sync.WaitGroup
	failed := make(chan error, p.Callers)
	cpuBefore, began := ownCPU(), time.Now()
	for c := range p.Callers {
		wg.Go(func() {
			for !over.Load() {
				more, err := cycle(ctx, c)
				if err != nil {
					failed <- err
				}
				if err != nil || !more || time.Since(began) > p.For {
					over.Store(true)
				}
				if more && err == nil {
					n.Add(1)
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(began).Seconds()
	select {
	case err = <-failed:
	default:
	}
	count := float64(max(n.Load(), 1))
	return result{Rate: count / took, Cycles: count, CPU: float64((ownCPU() - cpuBefore).Microseconds()) / count}, err
}
