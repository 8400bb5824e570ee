package gateway

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/store"
)

// AccountOptions is one account with who may use it.
type AccountOptions struct {
	Adapter chat.Adapter
	Access  Access
	// Claim takes the credential for this gateway before it is used; nil: nobody else can have it. It is called until it
	// succeeds; its errors are those of an adapter's Run.
	Claim func() error
	// Learn makes the adapter of an account whose id is not known yet, because only the platform can tell it. It is called
	// until it succeeds; its errors are those of an adapter's Run. Only without an Adapter.
	Learn func(ctx context.Context) (chat.Adapter, error)
	// Account is the account without its id; with Learn.
	Account chat.Account
}

// account is the account, without an id where that is not known yet.
func (o AccountOptions) account() chat.Account {
	if o.Adapter != nil {
		return o.Adapter.Describe().Account
	}
	return o.Account
}

// Platform is what the account is on.
func (o AccountOptions) Platform() chat.Platform { return o.account().Platform }

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

// pausedLook is how often a paused account is looked at besides when it is resumed.
const pausedLook = time.Hour

// The pauses between two attempts to receive.
const (
	minPause = 500 * time.Millisecond
	maxPause = 30 * time.Second
	// parkTime is for what only a person can mend: hammering would get the address banned.
	parkTime = 10 * time.Minute
)

// account supervises one account: it receives for as long as the gateway runs, comes back by itself from what can heal,
// and waits for a person with what cannot. Others are never affected.
type account struct {
	g       *Gateway
	adapter chat.Adapter // nil until it is learned
	claim   func() error // nil: nobody else can have the credential, or it is ours
	learn   func(context.Context) (chat.Adapter, error)
	info    chat.Info
	access  Access
	log     *zap.Logger
	edits   paces
	again   chan struct{} // has a token when a pause between two attempts is to end

	historian chat.Historian // nil: the platform cannot be asked for what was missed

	mu      sync.Mutex
	cut     context.CancelFunc // of the Run in hand
	paused  bool               // by a person
	past    knowledge
	status  AccountStatus
	cursor  string
	success time.Time // of any call
	parked  bool      // nothing can be sent until the account is up again
	held    []machine.Effect
	bots    map[string]botQuota // by chat and thread
}

func newAccount(g *Gateway, o AccountOptions, at machine.Position) *account {
	a := &account{
		again: make(chan struct{}, 1),
		g:     g, claim: o.Claim, parked: o.Claim != nil, learn: o.Learn, access: o.Access, log: g.log.With(zap.String("platform", string(o.Platform()))),
		status: AccountStatus{Account: o.account(), State: Connecting, Cause: chat.CauseUnreachable, Since: time.Now()},
	}
	if o.Adapter != nil {
		a.serve(o.Adapter, at)
	}
	return a
}

// serve gives the account its adapter. Nobody but its supervisor knows it before.
func (a *account) serve(adapter chat.Adapter, at machine.Position) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.adapter, a.info, a.cursor = adapter, adapter.Describe(), at.Cursor
	a.historian, _ = adapter.(chat.Historian)
	a.past = knowledge{known: at.Known}
	a.status.Account = a.info.Account
	a.log = a.log.With(zap.String("account", a.info.Account.ID))
}

// lookup finds the account that serves an address.
func (g *Gateway) lookup(of chat.Account) (*account, bool) {
	g.joining.Lock()
	defer g.joining.Unlock()
	a, ok := g.accounts[of]
	return a, ok
}

// named finds the account that a pause is for. One that was paused before it was learned has no id in that pause.
func (g *Gateway) named(of chat.Account) (*account, bool) {
	i := slices.IndexFunc(g.all, func(a *account) bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		is := a.status.Account
		if of.ID == "" {
			is.ID = ""
		}
		return is == of
	})
	if i < 0 {
		return nil, false
	}
	return g.all[i], true
}

// Serves tells whether what waits for an account may go out. One that was not learned yet may be any account of its platform.
func (g *Gateway) Serves(of chat.Account) bool {
	return slices.ContainsFunc(g.all, func(a *account) bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		is := a.status.Account
		return is == of || is.ID == "" && is.Profile == of.Profile && is.Platform == of.Platform
	})
}

// taker finds the account that an effect is for. Where it has not been learned yet, the effect waits for it.
func (g *Gateway) taker(of chat.Account, e machine.Effect) (*account, bool) {
	g.joining.Lock()
	defer g.joining.Unlock()
	a, ok := g.accounts[of]
	if !ok {
		g.early[of] = append(g.early[of], e)
	}
	return a, ok
}

// join lets an account that was learned take part, and what waited for it go on. It bears its name before its pause is looked
// up, so that one that is just being given finds it.
func (g *Gateway) join(a *account, adapter chat.Adapter) error {
	of := adapter.Describe().Account
	a.mu.Lock()
	a.status.Account = of
	a.mu.Unlock()
	at, _, err := store.Get[machine.Position](g.o.Store, machine.Positions, of.String())
	if err != nil {
		return err
	}
	_, paused, err := store.Get[machine.Pause](g.o.Store, machine.Pauses, of.String())
	if err != nil {
		return err
	}
	a.serve(adapter, at)
	if paused {
		a.pause(true)
	}
	g.joining.Lock()
	g.accounts[of] = a
	early := g.early[of]
	delete(g.early, of)
	g.joining.Unlock()
	for _, e := range early {
		g.hand.add(1)
		g.carryOut(e)
	}
	return nil
}

// Accounts tells how the accounts stand.
func (g *Gateway) Accounts() []AccountStatus {
	out := make([]AccountStatus, 0, len(g.all))
	for _, a := range g.all {
		a.mu.Lock()
		if a.status.Account != g.console.info.Account {
			out = append(out, a.status)
		}
		a.mu.Unlock()
	}
	return out
}

// supervise receives until ctx ends.
func (a *account) supervise(ctx context.Context) {
	pause := minPause
	for ctx.Err() == nil {
		began := time.Now()
		run, serves := a.begin(ctx)
		if !serves {
			a.rest(ctx, pausedLook)
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
			a.rest(ctx, maxPause)
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
		a.rest(ctx, wait)
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

// rest waits between two attempts, unless somebody wants one at once.
func (a *account) rest(ctx context.Context, d time.Duration) {
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

// pause lets the account rest, as a person asked, or go on. Messages wait meanwhile, and no attempt is spent.
func (a *account) pause(paused bool) {
	for _, e := range a.setPaused(paused) {
		a.g.hand.add(1)
		a.g.carryOut(e)
	}
}

// setPaused takes note of it and returns the messages that need not wait any more.
func (a *account) setPaused(paused bool) (held []machine.Effect) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.paused == paused {
		return nil
	}
	a.paused, a.parked = paused, paused
	a.status.State, a.status.Cause, a.status.Remedy, a.status.Since = Connecting, chat.CauseUnreachable, "", time.Now()
	if paused {
		name := a.status.Account.Platform
		a.status.State, a.status.Cause = Parked, chat.CausePaused
		a.status.Remedy = fmt.Sprintf("An admin paused it. `/platform resume %s` in another chat, or homing chat \"/platform resume %s\" on this machine, resumes it.", name, name)
	}
	a.log.Info("account is paused or resumed", zap.Bool("paused", paused))
	a.anew()
	if !paused {
		held, a.held = a.held, nil
	}
	return held
}

// isPaused tells whether a person lets the account rest.
func (a *account) isPaused() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.paused
}

// receive is one Run of the adapter. An account that is not known yet is learned first. Once the platform has answered, what
// was missed before is asked for.
func (a *account) receive(ctx context.Context) error {
	if a.claim != nil {
		if err := a.claim(); err != nil {
			return err
		}
		a.claim = nil
		a.unpark()
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

// unpark lets messages go out again, unless a person lets the account rest.
func (a *account) unpark() {
	a.mu.Lock()
	if a.paused {
		a.mu.Unlock()
		return
	}
	a.parked = false
	held := a.held
	a.held = nil
	a.mu.Unlock()
	for _, e := range held {
		a.g.hand.add(1)
		a.g.carryOut(e)
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

// takes tells whether a message may be sent or asked for now; what may not be is kept until the account is up.
func (a *account) takes(e machine.Effect) bool {
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

// upSince is when the account came up; now, where it has not yet.
func (a *account) upSince() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.status.State == Up {
		return a.status.Since
	}
	return time.Now()
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
