package gateway

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/machine"
)

// pausedLook is how often a paused account is looked at besides when it is resumed.
const pausedLook = time.Hour

// The pauses between two attempts to receive.
const (
	minPause = 500 * time.Millisecond
	maxPause = 30 * time.Second
	// parkTime is for what only a person can mend: hammering would get the address banned.
	parkTime = 10 * time.Minute
)

// supervise receives until ctx ends.
func (a *account) supervise(ctx context.Context) {
	pause := minPause
	for ctx.Err() == nil {
		began := time.Now()
		run, serves := a.begin(ctx)
		if !serves {
			a.idle(ctx, pausedLook)
			continue
		}
		err := a.receive(run)
		if ctx.Err() != nil {
			return
		}
		if run.Err() != nil { // paused, or the machine has slept
			pause = minPause
			continue
		}
		if time.Since(began) > maxPause {
			pause = minPause
		}
		if errors.Is(err, machine.ErrNoSpace) || errors.Is(err, machine.ErrStopped) { // ours, not the platform's
			a.log.Error("events are not taken", zap.Error(err))
			a.idle(ctx, maxPause)
			continue
		}
		failure, ok := errors.AsType[*chat.RunError](err)
		if !ok {
			failure = &chat.RunError{Cause: chat.CauseUnreachable, Err: err}
		}
		wait := max(pause+rand.N(pause/2), failure.After)
		if failure.Cause != chat.CauseUnreachable {
			wait = max(wait, 5*time.Second) // hammering cannot help
		}
		if failure.Park {
			wait = max(wait, parkTime)
		}
		pause = min(2*pause, maxPause)
		a.down(failure, wait)
		a.idle(ctx, wait)
	}
}

// begin begins a Run; serves tells whether there is to be one.
func (a *account) begin(ctx context.Context) (run context.Context, serves bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case <-a.again: // what asked for this attempt
	default:
	}
	if a.cut != nil {
		a.cut()
	}
	run, a.cut = context.WithCancel(ctx)
	return run, !a.paused
}

// idle waits between two attempts, unless somebody wants one at once.
func (a *account) idle(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-a.again:
	case <-ctx.Done():
	}
}

// reconnect lets the account connect anew, now.
func (a *account) reconnect() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.status.State == Up {
		a.status.State, a.status.Cause, a.status.Since = Connecting, chat.CauseUnreachable, time.Now()
	}
	a.anew()
}

// anew ends the Run in hand, or the pause after it. The caller holds the lock.
func (a *account) anew() {
	if a.cut != nil {
		a.cut()
	}
	select {
	case a.again <- struct{}{}:
	default:
	}
}

// own claims the credential, if that is still to be done.
func (a *account) own() error {
	a.mu.Lock()
	claim := a.claim
	a.mu.Unlock()
	if claim == nil {
		return nil
	}
	if err := claim(); err != nil {
		return err
	}
	a.mu.Lock()
	a.claim = nil
	a.mu.Unlock()
	a.unpark()
	return nil
}

// receive is one Run of the adapter. An account that is not known yet is learned first. Once the platform has answered, what
// was missed before is asked for.
func (a *account) receive(ctx context.Context) error {
	if err := a.own(); err != nil {
		return err
	}
	if a.adapter == nil {
		adapter, err := a.learn(ctx)
		if err == nil {
			err = a.g.join(a, adapter)
		}
		if err != nil {
			return err
		}
	}
	a.mu.Lock()
	cursor := a.cursor
	a.past.behind()
	a.mu.Unlock()
	up := a.up
	if a.historian != nil {
		asking, stop := context.WithCancel(ctx)
		var past sync.WaitGroup
		defer past.Wait()
		defer stop()
		var once sync.Once
		up = func() {
			a.up()
			once.Do(func() { past.Go(func() { a.catchUp(asking) }) })
		}
	}
	return a.adapter.Run(ctx, cursor, a.admit, up)
}

// rest waits; false when ctx ended first.
func rest(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// up is told by the adapter that the platform has answered.
func (a *account) up() {
	a.mu.Lock()
	if a.paused { // an answer that was on its way
		a.mu.Unlock()
		return
	}
	a.success = time.Now()
	again := a.status.State != Up
	if again {
		a.status.State, a.status.Cause, a.status.Remedy, a.status.Since = Up, "", "", a.success
	}
	a.mu.Unlock()
	a.unpark()
	if again {
		a.log.Info("account is up")
		if m, ok := a.adapter.(chat.Menu); ok {
			a.g.tasks.begin(func() {
				if err := m.SetMenu(a.g.work, menu()); err != nil && a.g.work.Err() == nil {
					a.log.Warn("command menu not set", zap.Error(err))
				}
			})
		}
		a.g.tasks.begin(func() { a.g.report(a.g.work, machine.Reachable{Account: a.info.Account}) })
	}
}

// absent tells that nobody is there to take messages: they wait until up is called.
func (a *account) absent() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.parked = true
}

// down notes why receiving ended.
func (a *account) down(e *chat.RunError, wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.paused {
		return
	}
	state := Degraded
	switch {
	case e.Park || e.Cause != chat.CauseUnreachable:
		state = Parked
		a.parked = e.Cause == chat.CauseBadCredential || e.Cause == chat.CauseTokenInUse
	case a.status.State == Connecting:
		state = Connecting
	}
	text := ""
	if e.Err != nil {
		text = e.Err.Error()
	}
	if a.status.State != state || a.status.Cause != e.Cause || a.status.LastError == "" {
		a.status.Since = time.Now()
		fields := []zap.Field{zap.String("state", string(state)), zap.String("cause", string(e.Cause)), zap.Duration("again_in", wait), zap.Error(e.Err)}
		if e.Remedy != "" {
			fields = append(fields, zap.String("remedy", e.Remedy))
		}
		a.log.Warn("account is not up", fields...)
	} else {
		a.log.Debug("account is still not up", zap.String("cause", string(e.Cause)), zap.Error(e.Err))
	}
	a.status.State, a.status.Cause, a.status.Remedy, a.status.LastError = state, e.Cause, e.Remedy, text
}
