package gateway

import (
	"slices"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/store"
)

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
