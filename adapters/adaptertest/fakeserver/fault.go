package fakeserver

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// Faults are what goes wrong on request. F is a fake's own kind of fault: which calls it strikes, and what happens then. A
// fake embeds them.
type Faults[F any] struct {
	mu   sync.Mutex
	list []*counted[F]
}

type counted[F any] struct {
	fault      F
	seen, hits int
}

// Add puts a fault into force.
func (f *Faults[F]) Add(fault F) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, &counted[F]{fault: fault})
}

// Clear ends all faults.
func (f *Faults[F]) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = nil
}

// Find returns the fault that strikes a call. match tells whether a fault is for the call, how many such calls go well before
// it begins, and how often it strikes; 0: until Clear.
func (f *Faults[F]) Find(match func(F) (matches bool, skip, times int)) (fault F, strikes bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.list {
		matches, skip, times := match(c.fault)
		if !matches || times > 0 && c.hits == times {
			continue
		}
		if c.seen++; c.seen > skip {
			c.hits++
			return c.fault, true
		}
	}
	return fault, false
}

// Mishap is what happens to a call on whatever platform, first Delay and then one of the others.
type Mishap struct {
	Delay   time.Duration
	Stored  bool // the call takes effect before it is refused, cut or left hanging
	Hang    bool // there is never an answer
	Drop    bool // the connection is cut without one
	Refuses bool // the platform says no, in its own words
}

// Strike plays a mishap around a call. refuse means that the platform's refusal is to be written, over that no answer may be
// written any more; neither, that the call goes on as usual.
func (s *Server) Strike(w http.ResponseWriter, r *http.Request, m Mishap, call func()) (refuse, over bool) {
	s.Pause(r.Context(), m.Delay)
	if !m.Refuses && !m.Drop && !m.Hang {
		return false, false
	}
	if m.Stored {
		call()
	}
	if m.Hang {
		s.Pause(r.Context(), 24*time.Hour)
	}
	if m.Hang || m.Drop {
		CutOff(w)
		return false, true
	}
	return true, false
}

// Pause waits, but not longer than the client or the server is there.
func (s *Server) Pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	case <-s.Gone():
	}
}

// CutOff ends the connection with a reset.
func CutOff(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}
