package machine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// ErrNoSpace is what a commit wraps when the disk is full: the batch is refused whole, nothing is acknowledged, and the
// machine goes on. Every other error of a commit ends it.
var ErrNoSpace = errors.New("no space left for the store")

// ErrStopped is what a request gets that comes after the machine has ended.
var ErrStopped = errors.New("the gateway is stopping")

// maxBatch bounds a batch, so that the first of many does not wait for all of them.
const maxBatch = 1024

// leading is how many requests a commit waits for when none is under way: the next ones are decided on while it is written.
const leading = 128

// Out receives what a commit made durable: the effects in their order, and the journal, which is the machine's own again once
// Out has returned. It is called for one commit after the other, before anybody is answered, and must not block.
type Out func(effects []Issued, journal []Record)

// Machine is the one writer. Everybody else submits requests.
type Machine struct {
	state  *State
	commit func([]Change) error
	out    Out
	now    func() time.Time
	queue  chan submission
	ended  chan struct{}
}

type submission struct {
	request Request
	reply   chan reply
}

type reply struct {
	answer Answer
	err    error
}

// New makes a machine on a loaded state. commit writes a batch and returns once it is durable; it keeps nothing
// of what it got. now is the wall clock.
func New(state *State, commit func([]Change) error, out Out, now func() time.Time) *Machine {
	return &Machine{state: state, commit: commit, out: out, now: now, queue: make(chan submission, maxBatch), ended: make(chan struct{})}
}

// Submit hands in a request and waits until it is durable, or refused. After ctx ends the request may still take effect.
func (m *Machine) Submit(ctx context.Context, r Request) (Answer, error) {
	s := submission{r, make(chan reply, 1)}
	select {
	case m.queue <- s:
	case <-m.ended:
		return Answer{}, ErrStopped
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	}
	select {
	case got := <-s.reply:
		return got.answer, got.err
	case <-m.ended:
		select { // it may have been answered in the last batch
		case got := <-s.reply:
			return got.answer, got.err
		default:
			return Answer{}, ErrStopped
		}
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	}
}

// Run is the writer. It takes what has queued, decides on it, commits it, and only then lets answers and effects out. While a
// batch is on its way to the disk the next one is decided upon it, and waits for it: one that is refused takes the next one with it.
// It returns nil when ctx ends, after the batches in hand, and an error when a commit failed: then the state on disk is the
// last one that was committed, and the process is to end.
func (m *Machine) Run(ctx context.Context) error {
	defer close(m.ended)
	next := &batch{overlay: m.state.Overlay()}
	var writing, over *batch
	written := make(chan error, 1)
	for ending := false; ; {
		queue, end := m.queue, ctx.Done()
		if ending || len(next.taken) == maxBatch {
			queue = nil
		}
		if ending {
			end = nil
		}
		if writing == nil && (ending || len(next.taken) > 0) {
			if !ending {
				m.fill(next)
			}
			if len(next.taken) == 0 {
				return nil
			}
			m.launch(next, written)
			writing, next = next, next.follow(over)
			over = nil
			continue
		}
		select {
		case <-end:
			ending = true
		case s := <-queue:
			m.take(next, s)
		case err := <-written:
			switch {
			case errors.Is(err, ErrNoSpace):
				writing.refuse(err)
				next.refuse(err) // it was decided upon what does not come about
				next = &batch{overlay: m.state.Overlay()}
			case err != nil:
				return fmt.Errorf("commit batch %d: %w", writing.overlay.Commit(), err)
			default:
				writing.overlay.Fold()
				over = writing
			}
			writing = nil
		}
	}
}

// batch is what was decided together.
type batch struct {
	overlay *Overlay
	taken   []submission
	replies []reply
}

// take decides on a request.
func (m *Machine) take(b *batch, s submission) {
	answer, err := b.overlay.Apply(m.now(), s.request)
	b.taken, b.replies = append(b.taken, s), append(b.replies, reply{answer, err})
}

// fill takes what has queued, and what those hand in who are about to: there is no better time for it than before a commit.
func (m *Machine) fill(b *batch) {
	for yielded := false; len(b.taken) < leading; {
		select {
		case s := <-m.queue:
			m.take(b, s)
			yielded = false
		default:
			if yielded {
				return
			}
			runtime.Gosched()
			yielded = true
		}
	}
}

// launch closes a batch and lets it be written. written gets what came of it, after those who wait for the batch.
func (m *Machine) launch(b *batch, written chan<- error) {
	changes := b.overlay.Changes()
	go func() { // Run waits for it
		err := m.write(b.taken, changes)
		if err == nil {
			m.out(b.overlay.Effects(), b.overlay.journal)
			for i, s := range b.taken {
				s.reply <- b.replies[i]
			}
		}
		written <- err
	}()
}

// follow begins the batch that comes after a closed one, in the room of one that is over; nil: there is none.
func (b *batch) follow(over *batch) *batch {
	next := &batch{overlay: b.overlay.Next()}
	if over != nil {
		next.overlay.recycle(over.overlay)
		next.taken, next.replies = empty(over.taken), empty(over.replies)
	}
	return next
}

// refuse answers everybody in the batch with an error.
func (b *batch) refuse(err error) {
	for _, s := range b.taken {
		s.reply <- reply{err: err}
	}
}

// write commits a batch, between the points at which a test may let the process die. One that only read needs no commit.
func (m *Machine) write(batch []submission, changes []Change) error {
	if changes == nil {
		return nil
	}
	for _, s := range batch {
		faultPoint(s.request, "before")
	}
	if err := m.commit(changes); err != nil {
		return err
	}
	for _, s := range batch {
		faultPoint(s.request, "after")
	}
	return nil
}
