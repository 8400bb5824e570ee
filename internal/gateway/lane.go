package gateway

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
)

// stepTable knows what is being carried out for which turn, so that it can be stopped.
type stepTable struct {
	mu      sync.Mutex
	turns   map[id.Turn]*step
	actions map[id.Action]chan struct{}
	resting map[id.Session]*context.CancelFunc // what makes summaries where no turn runs
}

// step is a turn as far as this life of the daemon works on it.
type step struct {
	cancel     context.CancelFunc // of the model call in hand
	stopTyping context.CancelFunc
	child      bool
	unsummed   bool // the model failed at a summary: it is not asked for one again by itself in this turn
}

func (t *stepTable) of(turn id.Turn) *step {
	if t.turns == nil {
		t.turns = map[id.Turn]*step{}
	}
	s, ok := t.turns[turn]
	if !ok {
		s = &step{}
		t.turns[turn] = s
	}
	return s
}

// begin registers a model call of a turn.
func (t *stepTable) begin(turn id.Turn, child bool, cancel context.CancelFunc) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.of(turn)
	s.cancel, s.child = cancel, child
}

// rest registers what makes a summary of a session in which no turn runs; what did so before is stopped. over ends it.
func (t *stepTable) rest(parent context.Context, s id.Session) (ctx context.Context, over func()) {
	t.disturb(s)
	ctx, cancel := context.WithCancel(parent)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.resting == nil {
		t.resting = map[id.Session]*context.CancelFunc{}
	}
	t.resting[s] = &cancel
	return ctx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		cancel()
		if t.resting[s] == &cancel {
			delete(t.resting, s)
		}
	}
}

// disturb stops what makes a summary of a session: a turn begins, which does it itself, or nobody waits for it any more.
func (t *stepTable) disturb(s id.Session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if cancel, ok := t.resting[s]; ok {
		(*cancel)()
		delete(t.resting, s)
	}
}

// leaveUnsummed takes note that a turn goes on with its conversation as it is.
func (t *stepTable) leaveUnsummed(turn id.Turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of(turn).unsummed = true
}

// unsummed tells whether a turn goes on with its conversation as it is.
func (t *stepTable) unsummed(turn id.Turn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, ok := t.turns[turn]
	return ok && s.unsummed
}

// typing registers the typing sign of a turn; false when it has one.
func (t *stepTable) typing(turn id.Turn, cancel context.CancelFunc) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.of(turn)
	if s.stopTyping != nil {
		return false
	}
	s.stopTyping = cancel
	return true
}

// stopTyping ends the sign of a turn that waits; its next step shows it again.
func (t *stepTable) stopTyping(turn id.Turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s, ok := t.turns[turn]; ok && s.stopTyping != nil {
		s.stopTyping()
		s.stopTyping = nil
	}
}

// cancel stops the model call of a turn.
func (t *stepTable) cancel(turn id.Turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s, ok := t.turns[turn]; ok && s.cancel != nil {
		s.cancel()
	}
}

// settled forgets a turn that is over.
func (t *stepTable) settled(turn id.Turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s, ok := t.turns[turn]; ok {
		if s.stopTyping != nil {
			s.stopTyping()
		}
		if s.cancel != nil {
			s.cancel()
		}
		delete(t.turns, turn)
	}
}

// stopChildren stops the model calls of subagents: at a drain they are not waited for, and go on from their last step.
func (t *stepTable) stopChildren() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.turns {
		if s.child && s.cancel != nil {
			s.cancel()
		}
	}
}

// releasable registers a wait that a person's text may release.
func (t *stepTable) releasable(a id.Action) chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.actions == nil {
		t.actions = map[id.Action]chan struct{}{}
	}
	c := make(chan struct{}, 1)
	t.actions[a] = c
	return c
}

func (t *stepTable) release(a id.Action) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c, ok := t.actions[a]; ok {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

func (t *stepTable) released(a id.Action) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.actions, a)
}

// runStep asks the model for the next step of a turn. While the gateway drains no new step begins: the turn goes on from
// here at the next start.
func (g *Gateway) runStep(e machine.RunStep) {
	if g.draining.Load() {
		return
	}
	g.typing(e)
	g.steps.disturb(e.Session.ID)
	g.watch(e)
	ctx, cancel := context.WithCancel(g.work)
	g.steps.begin(e.Turn.ID, e.Session.Kind == session.Subagent, cancel)
	g.inHand(func() {
		defer cancel()
		g.ask(ctx, e)
	})
}

func (g *Gateway) ask(ctx context.Context, e machine.RunStep) {
	log := g.log.With(zap.String("session", string(e.Session.ID)), zap.String("turn", string(e.Turn.ID)))
	t, err := g.fit(ctx, e.Session.ID)
	if err == nil && t.provider == nil {
		err = &agent.ProviderError{Failure: agent.Refused, Err: errors.New("nothing here plays self-tests")}
	}
	var response agent.Response
	began := time.Now()
	v := g.previews.of(e.Turn.ID)
	v.begin()
	if err == nil {
		response, err = t.provider.Complete(ctx, t.request, v.write)
	}
	if err != nil && ctx.Err() == nil && agent.AsProviderError(err).Failure == agent.TooLong {
		if t, err = g.shorten(ctx, t, err); err == nil {
			response, err = t.provider.Complete(ctx, t.request, v.write)
		}
	}
	if ctx.Err() != nil {
		return // stopped: what it would have said is of no use to anyone
	}
	v.rest()
	if err != nil {
		failure := agent.AsProviderError(err)
		log.Warn("model failed", zap.String("failure", string(failure.Failure)), zap.Error(failure.Err))
		text := "it cannot be reached"
		if failure.Err != nil {
			text = failure.Err.Error()
		}
		g.steps.stopTyping(e.Turn.ID)
		g.report(g.work, machine.Unanswered{
			Turn: e.Turn.ID, Generation: e.Turn.Generation, Step: e.Turn.Step, Failure: failure.Failure, After: failure.RetryAfter, Text: text,
		})
		v.resume()
		return
	}
	log.Debug("model answered", zap.Duration("after", time.Since(began)), zap.Int("calls", len(response.Calls)),
		zap.Int("input_tokens", response.InputTokens), zap.Int("output_tokens", response.OutputTokens))
	if response.Truncated && len(response.Calls) == 0 {
		response.Text = strings.TrimSpace(response.Text + "\n\n⚠ The answer was cut: the model reached its limit of tokens.")
	}
	g.report(g.work, machine.Answered{
		Turn: e.Turn.ID, Generation: e.Turn.Generation, Step: e.Turn.Step, Text: response.Text, Calls: response.Calls, Tokens: response.InputTokens,
	})
	v.resume()
}

// typing shows that we are writing for as long as the turn runs. Its failure never changes a turn.
func (g *Gateway) typing(e machine.RunStep) {
	if e.Session.Kind != session.Chat {
		return
	}
	to := e.Session.Key.Address()
	a, ok := g.lookup(to.Account)
	if !ok {
		return
	}
	typer, ok := a.adapter.(chat.Typer)
	if !ok {
		return
	}
	ctx, cancel := context.WithCancel(g.work)
	if !g.steps.typing(e.Turn.ID, cancel) {
		cancel()
		return
	}
	g.tasks.begin(func() {
		defer cancel()
		for {
			wait := typer.TypingLasts() * 4 / 5
			if a.isPaused() {
				return
			}
			if err := typer.Typing(ctx, to); err != nil && ctx.Err() == nil {
				f := chat.AsSendError(err)
				g.log.Debug("typing sign failed", zap.Error(err))
				if f.Fault == chat.Refused { // it would be each time
					return
				}
				wait = max(wait, f.RetryAfter)
			}
			if !rest(ctx, wait) {
				return
			}
		}
	})
}
