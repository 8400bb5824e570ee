package gateway

import "time"

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

// hearsBot decides on what another bot said to us in a chat. What is remembered is bounded by the chats in which bots talk,
// and forgotten with the daemon.
func (a *account) hearsBot(chat string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.bots == nil {
		a.bots = map[string]botQuota{}
	}
	q, heard := a.bots[chat].take(now)
	a.bots[chat] = q
	return heard
}
