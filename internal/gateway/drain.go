package gateway

import (
	"context"
	"errors"
	"sync"
)

// ErrHardStop says that the grace was over before everything had come to a durable point. Nothing is lost by it.
var ErrHardStop = errors.New("the grace for draining is over")

// inHand counts what a drain waits for: effects that are not carried out yet, and foreground commands of people's turns.
// What follows from an effect is counted before the effect itself is over, so that the count is zero only when nothing is
// left.
type inHand struct {
	mu   sync.Mutex
	n    int
	zero chan struct{} // set by a waiter; closed at zero
}

func (h *inHand) add(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.n += n
}

func (h *inHand) done() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.n--; h.n == 0 && h.zero != nil {
		close(h.zero)
		h.zero = nil
	}
}

// wait returns when the count is zero, or with ctx's error.
func (h *inHand) wait(ctx context.Context) error {
	h.mu.Lock()
	if h.n == 0 {
		h.mu.Unlock()
		return nil
	}
	zero := make(chan struct{})
	h.zero = zero
	h.mu.Unlock()
	select {
	case <-zero:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tasks are the goroutines that carry out effects. Once closed, none begins.
type tasks struct {
	mu     sync.Mutex
	closed bool
	group  sync.WaitGroup
}

// begin runs f in a goroutine of its own; false when it is too late for that.
func (t *tasks) begin(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.group.Go(f)
	return true
}

// close lets no task begin any more and waits for those that run.
func (t *tasks) close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.group.Wait()
}

// drain waits for model calls and foreground commands of people's turns, and for answers that are ready to go out. No new
// step begins. Subagents and background processes are not waited for: they go on from their last durable step.
func (g *Gateway) drain(hard context.Context) error {
	g.intake.Lock() // what is being taken is taken whole
	g.draining.Store(true)
	g.intake.Unlock()
	g.steps.stopChildren()
	if g.hand.wait(hard) != nil {
		return ErrHardStop
	}
	return nil
}
