package gateway

import (
	"context"
	"fmt"
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

// account supervises one account: it receives for as long as the gateway runs, comes back by itself from what can heal,
// and waits for a person with what cannot. Others are never affected.
type account struct {
	g       *Gateway
	adapter chat.Adapter // nil until it is learned
	learn   func(context.Context) (chat.Adapter, error)
	info    chat.Info
	access  Access
	log     *zap.Logger
	edits   paces
	again   chan struct{} // has a token when a pause between two attempts is to end

	historian chat.Historian // nil: the platform cannot be asked for what was missed

	mu      sync.Mutex
	claim   func() error       // nil: nobody else can have the credential, or it is ours
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

// pause lets the account rest, as a person asked, or go on. Messages wait meanwhile, and no attempt is spent.
func (a *account) pause(paused bool) {
	if a.setPaused(paused); !paused {
		a.unpark()
	}
}

// setPaused takes note of it.
func (a *account) setPaused(paused bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.paused == paused {
		return
	}
	a.paused, a.parked = paused, true
	a.status.State, a.status.Cause, a.status.Remedy, a.status.Since = Connecting, chat.CauseUnreachable, "", time.Now()
	if paused {
		name := a.status.Account.Platform
		a.status.State, a.status.Cause = Parked, chat.CausePaused
		a.status.Remedy = fmt.Sprintf("An admin paused it. `/platform resume %s` in another chat, or homing chat \"/platform resume %s\" on this machine, resumes it.", name, name)
	}
	a.log.Info("account is paused or resumed", zap.Bool("paused", paused))
	a.anew()
}

// isPaused tells whether a person lets the account rest.
func (a *account) isPaused() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.paused
}

// unpark lets messages go out again, unless a person lets the account rest or its credential is somebody else's.
func (a *account) unpark() {
	a.mu.Lock()
	if a.paused || a.claim != nil {
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
