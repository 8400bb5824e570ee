package discord

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// limits is what Discord's answers say about how soon it may be called again.
type limits struct {
	mu     sync.Mutex
	global time.Time            // nothing before
	closed map[string]time.Time // of a bucket that is empty: when it is full again
}

// wait tells how long a bucket may not be used.
func (l *limits) wait(bucket string, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	until := l.closed[bucket]
	if l.global.After(until) {
		until = l.global
	}
	return until.Sub(now)
}

// note takes what an answer says. What is over is forgotten.
func (l *limits) note(bucket string, resp *http.Response, now time.Time) {
	h := resp.Header
	after, err := strconv.ParseFloat(h.Get("X-RateLimit-Reset-After"), 64)
	if resp.StatusCode == http.StatusTooManyRequests && h.Get("X-RateLimit-Global") != "" {
		if seconds, bad := strconv.ParseFloat(h.Get("Retry-After"), 64); err != nil && bad == nil {
			after, err = seconds, nil
		}
		if err == nil {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.global = now.Add(time.Duration(after * float64(time.Second)))
		}
		return
	}
	if err != nil || h.Get("X-RateLimit-Remaining") != "0" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed == nil {
		l.closed = map[string]time.Time{}
	}
	for k, until := range l.closed {
		if !until.After(now) {
			delete(l.closed, k)
		}
	}
	l.closed[bucket] = now.Add(time.Duration(after * float64(time.Second)))
}
