package gateway

import (
	"maps"
	"time"
)

// Two bots that answer each other would never end. Other bots are answered only where they mention us, and at most botTurns
// times in botWindow in one chat; after that there is silence for botSilence.
const (
	botTurns   = 20
	botWindow  = 5 * time.Minute
	botSilence = 10 * time.Minute
)

// botQuota is what other bots have had of one chat.
type botQuota struct {
	heard []time.Time // no more than botTurns, the oldest first
	until time.Time   // silence
}

// take tells whether a bot is answered now, and counts it.
func (q botQuota) take(now time.Time) (botQuota, bool) {
	if now.Before(q.until) {
		return q, false
	}
	heard := make([]time.Time, 0, botTurns)
	for _, t := range q.heard {
		if age := now.Sub(t); age >= 0 && age < botWindow {
			heard = append(heard, t)
		}
	}
	if len(heard) == botTurns {
		return botQuota{until: now.Add(botSilence)}, false
	}
	return botQuota{heard: append(heard, now)}, true
}

// over tells whether nothing of it counts any more.
func (q botQuota) over(now time.Time) bool {
	return !now.Before(q.until) && (len(q.heard) == 0 || now.Sub(q.heard[len(q.heard)-1]) >= botWindow)
}

// hearsBot decides on what another bot said to us in a chat.
func (a *account) hearsBot(chat string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.bots == nil {
		a.bots = map[string]botQuota{}
	}
	maps.DeleteFunc(a.bots, func(_ string, q botQuota) bool { return q.over(now) })
	q, heard := a.bots[chat].take(now)
	a.bots[chat] = q
	return heard
}
