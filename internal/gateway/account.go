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

// AccountOptions is one account with who may use it.
type AccountOptions struct {
	Adapter chat.Adapter
	Access  Access
}

// AccountState is how an account stands, in the words of `homing status`.
type AccountState string

// The states of an account.
const (
	Connecting AccountState = "connecting"
	Up         AccountState = "up"
	Degraded   AccountState = "degraded"
	Parked     AccountState = "parked"
)

// AccountStatus is what is told of an account.
type AccountStatus struct {
	Account     chat.Account
	State       AccountState
	Cause       chat.Cause
	Remedy      string
	Since       time.Time
	LastInbound time.Time
	LastError   string
}

// healthSpan is how long after a success an account counts as working.
const healthSpan = time.Minute

// The pauses between two attempts to receive.
const (
	minPause = 500 * time.Millisecond
	maxPause = 30 * time.Second
)

// account supervises one account: it receives for as long as the gateway runs, comes back by itself from what can heal,
// and waits for a person with what cannot. Others are never affected.
type account struct {
	g       *Gateway
	adapter chat.Adapter
	info    chat.Info
	access  Access
	log     *zap.Logger
	edits   paces

	mu      sync.Mutex
	status  AccountStatus
	cursor  string
	success time.Time // of any call
	parked  bool      // nothing can be sent until the account is up again
	held    []machine.Prepare
}

func newAccount(g *Gateway, o AccountOptions, cursor string) *account {
	info := o.Adapter.Describe()
	return &account{
		g: g, adapter: o.Adapter, info: info, access: o.Access, cursor: cursor,
		log:    g.log.With(zap.String("platform", string(info.Account.Platform)), zap.String("account", info.Account.ID)),
		status: AccountStatus{Account: info.Account, State: Connecting, Cause: chat.CauseUnreachable, Since: time.Now()},
	}
}

// Accounts tells how the accounts stand.
func (g *Gateway) Accounts() []AccountStatus {
	out := make([]AccountStatus, 0, len(g.accounts))
	for _, a := range g.accounts {
		if a.info.Account == g.console.info.Account {
			continue
		}
		a.mu.Lock()
		out = append(out, a.status)
		a.mu.Unlock()
	}
	return out
}

// supervise receives until ctx ends.
func (a *account) supervise(ctx context.Context) {
	pause := minPause
	for ctx.Err() == nil {
		began := time.Now()
		a.mu.Lock()
		cursor := a.cursor
		a.mu.Unlock()
		err := a.adapter.Run(ctx, cursor, a.admit, a.up)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > maxPause {
			pause = minPause
		}
		if errors.Is(err, machine.ErrNoSpace) || errors.Is(err, machine.ErrStopped) { // ours, not the platform's
			a.log.Error("events are not taken", zap.Error(err))
			if !rest(ctx, maxPause) {
				return
			}
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
		pause = min(2*pause, maxPause)
		a.down(failure, wait)
		if failure.Cause == chat.CauseBadCredential {
			wait = 10 * time.Minute // hammering with it would get the address banned
		}
		if !rest(ctx, wait) {
			return
		}
	}
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
	a.success = time.Now()
	again := a.status.State != Up
	if again {
		a.status.State, a.status.Cause, a.status.Remedy, a.status.Since = Up, "", "", a.success
	}
	a.parked = false
	held := a.held
	a.held = nil
	a.mu.Unlock()
	for _, e := range held {
		a.g.inHand(func() { a.g.prepare(e) })
	}
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
	state := Degraded
	switch {
	case e.Park || e.Cause != chat.CauseUnreachable:
		state = Parked
		a.parked = e.Cause == chat.CauseBadCredential
	case a.status.State == Connecting:
		state = Connecting
	}
	text := ""
	if e.Err != nil {
		text = e.Err.Error()
	}
	if a.status.State != state || a.status.Cause != e.Cause || a.status.LastError == "" {
		a.status.Since = time.Now()
		a.log.Warn("account is not up", zap.String("state", string(state)), zap.String("cause", string(e.Cause)),
			zap.String("remedy", e.Remedy), zap.Duration("again_in", wait), zap.Error(e.Err))
	} else {
		a.log.Debug("account is still not up", zap.String("cause", string(e.Cause)), zap.Error(e.Err))
	}
	a.status.State, a.status.Cause, a.status.Remedy, a.status.LastError = state, e.Cause, e.Remedy, text
}

// takes tells whether a message may be sent now; one that may not is kept until the account is up.
func (a *account) takes(e machine.Prepare) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.parked {
		a.held = append(a.held, e)
		return false
	}
	return true
}

func (a *account) succeeded() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.success = time.Now()
}

// healthy tells whether other calls of the account succeed.
func (a *account) healthy() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Since(a.success) < healthSpan
}

// sendFailed notes what a send tells about the account as a whole.
func (a *account) sendFailed(f *chat.SendError) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.status.LastError = f.Error()
}
