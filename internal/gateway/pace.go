package gateway

import (
	"sync"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
)

// editPace is the least time between two changes in a chat, on every platform: Telegram takes 20 messages a minute in a group,
// Slack some 50 changes a minute in all.
func editPace(to chat.Address) time.Duration {
	if to.Type == chat.Direct {
		return 1500 * time.Millisecond
	}
	return 3 * time.Second
}

// paces knows when a message in a chat may be changed again: not more often than the platform bears, and not before the
// end of a wait that it asked for. That is for one account; chats are named by their ids on the platform.
type paces struct {
	mu   sync.Mutex
	next map[string]time.Time
	held map[string]time.Time // waits that the platform asked for
}

// manyPaces is how many chats are remembered before those are forgotten that need not wait any more.
const manyPaces = 256

// take makes the next change in a chat, at now, if it may be made; else it returns after how long it may.
func (p *paces) take(chat string, now time.Time, pace time.Duration) (wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if wait = p.wait(chat, now); wait > 0 {
		return wait
	}
	if p.next == nil {
		p.next = map[string]time.Time{}
	}
	if len(p.next) >= manyPaces {
		for c, at := range p.next {
			if !at.After(now) {
				delete(p.next, c)
			}
		}
	}
	p.next[chat] = now.Add(pace)
	return 0
}

// until is after how long the next change in a chat may be made.
func (p *paces) until(chat string, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wait(chat, now)
}

func (p *paces) wait(chat string, now time.Time) time.Duration {
	return max(p.next[chat].Sub(now), p.held[chat].Sub(now), 0)
}

// hold lets nothing be changed in a chat for as long as the platform asked.
func (p *paces) hold(chat string, now time.Time, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c, at := range p.held {
		if !at.After(now) {
			delete(p.held, c)
		}
	}
	if p.held == nil {
		p.held = map[string]time.Time{}
	}
	if at := now.Add(d); at.After(p.held[chat]) {
		p.held[chat] = at
	}
}

// isHeld tells whether the platform asked for a wait in a chat that is not over.
func (p *paces) isHeld(chat string, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held[chat].After(now)
}
