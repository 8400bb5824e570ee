package machine

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrNoSpace is what a commit wraps when the disk is full: the batch is refused whole, nothing is acknowledged, and the
// machine goes on. Every other error of a commit ends it.
var ErrNoSpace = errors.New("no space left for the store")

// ErrStopped is what a request gets that comes after the machine has ended.
var ErrStopped = errors.New("the gateway is stopping")

// maxBatch bounds a batch, so that the first of many does not wait for all of them.
const maxBatch = 1024

// Out receives what a commit made durable: the effects in their order, and the journal. It is called by the writer's
// goroutine and must not block.
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

// New makes a machine on a loaded state. commit writes a batch in one transaction and returns once it is durable. now is
// the wall clock.
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

// Run is the writer. It takes what has queued, decides on it, commits it, and only then lets answers and effects out. It
// returns nil when ctx ends, after the batch in hand, and an error when a commit failed: then the state on disk is the
// last one that was committed, and the process is to end.
func (m *Machine) Run(ctx context.Context) error {
	defer close(m.ended)
	batch := make([]submission, 0, maxBatch)
	replies := make([]reply, maxBatch)
	for {
		batch = batch[:0]
		select {
		case <-ctx.Done():
			return nil
		case s := <-m.queue:
			batch = append(batch, s)
		}
	more:
		for len(batch) < maxBatch {
			select {
			case s := <-m.queue:
				batch = append(batch, s)
			default:
				break more
			}
		}
		o := m.state.Overlay()
		for i, s := range batch {
			replies[i].answer, replies[i].err = o.Apply(m.now(), s.request)
		}
		if changes := o.Changes(); changes != nil {
			err := m.write(batch, changes)
			if errors.Is(err, ErrNoSpace) {
				for _, s := range batch {
					s.reply <- reply{err: err}
				}
				continue
			}
			if err != nil {
				return fmt.Errorf("commit batch %d: %w", o.Commit(), err)
			}
		}
		o.Fold()
		m.out(o.Effects(), o.journal)
		for i, s := range batch {
			s.reply <- replies[i]
		}
	}
}

// write commits a batch, between the points at which a test may let the process die.
func (m *Machine) write(batch []submission, changes []Change) error {
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
