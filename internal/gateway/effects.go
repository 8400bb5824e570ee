package gateway

import (
	"context"
	"sync"
	"time"

	"github.com/homing-gateway/homing/internal/machine"
)

// effectQueue is unbounded: the writer never waits for those who carry out, and what it holds is bounded by what is
// outstanding in the state.
type effectQueue struct {
	mu    sync.Mutex
	items []machine.Effect
	more  chan struct{} // has a token when there may be items
}

func newEffectQueue() *effectQueue { return &effectQueue{more: make(chan struct{}, 1)} }

func (q *effectQueue) put(effects []machine.Issued) {
	if len(effects) == 0 {
		return
	}
	q.mu.Lock()
	for _, e := range effects {
		q.items = append(q.items, e.Effect)
	}
	q.mu.Unlock()
	select {
	case q.more <- struct{}{}:
	default:
	}
}

func (q *effectQueue) take() []machine.Effect {
	q.mu.Lock()
	defer q.mu.Unlock()
	items := q.items
	q.items = nil
	return items
}

// committed receives from the writer what a commit made durable.
func (g *Gateway) committed(effects []machine.Issued, journal []machine.Record) {
	g.hand.add(len(effects))
	g.effects.put(effects)
	if len(journal) > 0 {
		g.previews.take(journal)
		if g.o.Journal != nil {
			g.o.Journal(journal)
		}
		g.watchers.Range(func(k, _ any) bool {
			k.(*Watch).wake()
			return true
		})
	}
}

// dispatch carries effects out, in order as far as order matters: each is begun before the next one is looked at.
func (g *Gateway) dispatch(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.effects.more:
		}
		for _, e := range g.effects.take() {
			g.carryOut(e)
		}
	}
}

// carryOut begins one effect. What a drain waits for is in hand until it is over; the rest is over at once.
func (g *Gateway) carryOut(e machine.Effect) {
	switch e := e.(type) {
	case machine.RunStep:
		g.runStep(e)
	case machine.Compact: // not waited for by a drain: it is asked for again at the next start
		ctx, over := g.steps.rest(g.work, e.Session.ID) // before the next effect, which may be its end
		if !g.tasks.begin(func() { defer over(); g.compactAtRest(ctx, e) }) {
			over()
		}
	case machine.Kill:
		g.inHand(func() { g.kill(e) })
	case machine.Prepare:
		g.inHand(func() { g.prepare(e) })
	case machine.Transmit:
		g.inHand(func() { g.transmit(e) })
	case machine.PauseAccount:
		if a, ok := g.named(e.Account); ok {
			a.pause(e.Pause)
		}
	case machine.Retract:
		g.tasks.begin(func() { g.retract(e) })
	case machine.Observe:
		g.inHand(func() { g.observe(e) })
	case machine.RunTool:
		released := g.steps.releasable(e.Action.ID) // before the next effect, which may be its release
		if !g.tasks.begin(func() { defer g.steps.released(e.Action.ID); g.runTool(e, released) }) {
			g.steps.released(e.Action.ID)
		}
	case machine.Fetch:
		g.fetch(e)
	case machine.Discard:
		g.discard(e)
	case machine.Sweep:
		g.sweep(e)
	case machine.Tend:
		g.tend(e.Process)
	case machine.Promote:
		g.procs.nudge(e.Process)
	case machine.Release:
		g.steps.release(e.Action)
	case machine.Cancel:
		if e.Turn == "" {
			g.steps.disturb(e.Session)
		}
		g.steps.cancel(e.Turn)
	case machine.Settled:
		g.steps.settled(e.Turn.ID)
		g.previews.settled(e.Turn.ID)
	case machine.Wake:
		g.wake(e)
	case machine.Examine:
		g.examine(e)
	}
	g.hand.done()
}

// inHand runs f as something that a drain waits for.
func (g *Gateway) inHand(f func()) {
	g.hand.add(1)
	if !g.tasks.begin(func() { defer g.hand.done(); f() }) {
		g.hand.done()
	}
}

// wake submits Due when its time has come. The state knows what is due: a wake that is lost with the daemon is asked for
// again at the next start.
func (g *Gateway) wake(e machine.Wake) {
	g.tasks.begin(func() {
		t := time.NewTimer(time.Until(e.At))
		defer t.Stop()
		select {
		case <-t.C:
			g.report(g.work, machine.Due{ID: e.ID})
		case <-g.work.Done():
		}
	})
}

// Watch follows the journal: C has a token when something was committed since the last look.
type Watch struct{ C chan struct{} }

func (w *Watch) wake() {
	select {
	case w.C <- struct{}{}:
	default:
	}
}

// Follow begins to follow the journal; stop ends it.
func (g *Gateway) Follow() (w *Watch, stop func()) {
	w = &Watch{C: make(chan struct{}, 1)}
	g.watchers.Store(w, nil)
	return w, func() { g.watchers.Delete(w) }
}
