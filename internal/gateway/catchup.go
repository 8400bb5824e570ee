package gateway

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
	"github.com/homing-gateway/homing/internal/store"
)

const (
	// historyLimit is how much of one chat is taken along after downtime.
	historyLimit = 50
	// historySlack is by how much events of two chats may come in another order than they were written in.
	historySlack = 10 * time.Second
	// maxDirect is of how many people direct chats are asked for that nobody has written in yet.
	maxDirect = 20
)

// knowledge is how much of an account's past is stored, where the platform can be asked for it. It grows with every event,
// but only while nothing before it is missing: else a crash in between would make us forget what is still to be asked for.
type knowledge struct {
	known  time.Time // by the platform's clock: all that was written until then in the account's places is stored
	whole  bool      // nothing is missing since then
	latest time.Time // of what came while something was
}

// behind: the account was down, and something may have been missed.
func (k *knowledge) behind() { k.whole = false }

// hears takes the time of an event that is about to be stored, and gives the time until which all is stored with it; zero
// while that is not known.
func (k *knowledge) hears(at time.Time) time.Time {
	if at.After(k.latest) {
		k.latest = at
	}
	if !k.whole {
		return time.Time{}
	}
	return k.latest
}

// caughtUp: nothing is missing any more. It gives the time until which all is stored.
func (k *knowledge) caughtUp() time.Time {
	k.whole = true
	if k.latest.After(k.known) {
		k.known = k.latest
	}
	return k.known
}

// begins: the account is up for the first time ever. What was written before is nothing that was missed.
func (k *knowledge) begins(now time.Time) {
	if k.known.IsZero() {
		k.known = now
	}
}

// since is from when on something may be missing and is not too old; zero: there is nothing to ask for.
func (k *knowledge) since(now time.Time, age time.Duration) time.Time {
	if k.known.IsZero() || age <= 0 {
		return time.Time{}
	}
	if from, oldest := k.known.Add(-historySlack), now.Add(-age); from.After(oldest) {
		return from
	}
	return now.Add(-age)
}

// reaches gives the time until which all is stored once this event is; zero where the platform cannot be asked for more,
// or while something is missing.
func (a *account) reaches(e chat.Event) time.Time {
	if a.historian == nil || e.Message == nil {
		return time.Time{}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.past.hears(e.Message.SentAt)
}

// catchUp asks for what people wrote while the account was down, in every place where the agent has talked with somebody,
// and takes it as if it came now. What fails for a time is asked again for as long as the account is up.
func (a *account) catchUp(ctx context.Context) {
	a.mu.Lock()
	since := a.past.since(time.Now(), a.g.profile(a.info.Account.Profile).CatchUp)
	a.past.begins(time.Now())
	a.mu.Unlock()
	var places []chat.Address
	if !since.IsZero() {
		var err error
		if places, err = a.places(); err != nil {
			a.log.Error("places not read", zap.Error(err))
			return
		}
	}
	for pause := time.Second; len(places) > 0; pause = min(2*pause, maxPause) {
		var again []chat.Address
		for _, p := range places {
			err := a.historian.History(ctx, p, since, historyLimit, a.admit)
			if ctx.Err() != nil {
				return
			}
			if err == nil {
				continue
			}
			fault, told := errors.AsType[*chat.SendError](err)
			if told && fault.Fault == chat.Refused {
				a.log.Debug("a place has no history for us", zap.String("chat", p.Chat), zap.String("thread", p.Thread), zap.Error(err))
				continue
			}
			if told {
				pause = max(pause, fault.RetryAfter)
			}
			a.log.Info("history not read yet", zap.String("chat", p.Chat), zap.String("thread", p.Thread), zap.Error(err))
			again = append(again, p)
		}
		if places = again; len(places) > 0 && !rest(ctx, pause) {
			return
		}
	}
	a.mu.Lock()
	known := a.past.caughtUp()
	a.mu.Unlock()
	if !known.IsZero() {
		if _, err := a.g.Submit(ctx, machine.Receive{Account: a.info.Account, Known: known}); err != nil && ctx.Err() == nil {
			a.log.Error("how far events are known was not stored", zap.Error(err))
		}
	}
}

// places lists where the agent has talked with somebody, and where a conversation may begin at any time: the channels
// around its threads, and the direct chats of those who may talk to it by name.
func (a *account) places() ([]chat.Address, error) {
	routes, err := store.Each(a.g.o.Store, machine.Routes, a.info.Account.String()+":", func(session.Route) bool { return true })
	if err != nil {
		return nil, err
	}
	var out []chat.Address
	add := func(p chat.Address) {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	for _, r := range routes {
		p := r.Key.Address()
		p.Person = ""
		add(p)
		if p.Type == chat.Thread {
			p.Type, p.Thread = chat.Channel, ""
			add(p)
		}
	}
	for i, person := range slices.Concat(a.access.AllowedUsers, a.access.Admins) {
		if i == maxDirect {
			break
		}
		add(chat.Address{Account: a.info.Account, Type: chat.Direct, Person: person})
	}
	return out, nil
}
