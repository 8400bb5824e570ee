package fakediscord

import (
	"context"
	"net"
	"net/http"
	"strings"
	"time"
)

// Fault is a misbehaviour of the REST API on request. It strikes the calls that match it: the zero value of Name, Channel
// and Contains matches all.
type Fault struct {
	Name     string // as in Call
	Channel  string
	Contains string // in the content of the message
	Skip     int    // matching calls that go well before it begins
	Times    int    // how often it strikes, 0: until Clear

	// What happens, first Delay and then one of the others. With none of them the call goes on as usual.
	Delay      time.Duration
	Status     int    // refusal with this status
	Code       int    // Discord's own code of the refusal
	Message    string // of the refusal
	Errors     any    // of the refusal: what is wrong with which field
	RetryAfter float64
	Global     bool   // with 429: for the whole bot
	Body       string // with Status: this body instead of Discord's JSON
	Drop       bool   // the connection is cut without an answer
	Hang       bool   // there is never an answer
	Redirect   string // of "GET attachment": sent to that address instead
	Stored     bool   // the call takes effect before it is refused, cut or left hanging

	seen, hits int // guarded by Server.mu
}

// Add puts a fault into force.
func (s *Server) Add(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &f)
}

// Clear ends all faults.
func (s *Server) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// fault finds what strikes a call. The caller holds the lock.
func (s *Server) fault(c Call) *Fault {
	for _, f := range s.faults {
		if f.Name != "" && f.Name != c.Name || f.Channel != "" && f.Channel != c.Channel || !strings.Contains(c.Content, f.Contains) ||
			f.Times > 0 && f.hits == f.Times {
			continue
		}
		if f.seen++; f.seen > f.Skip {
			f.hits++
			return f
		}
	}
	return nil
}

// strike plays a fault around a call; over means that no answer may be written any more.
func (s *Server) strike(w http.ResponseWriter, r *http.Request, f *Fault, run func() answer) (a answer, over bool) {
	if f == nil {
		return run(), false
	}
	s.pause(r.Context(), f.Delay)
	if f.Status == 0 && !f.Drop && !f.Hang {
		return run(), false
	}
	if f.Stored {
		run()
	}
	switch {
	case f.Hang:
		s.pause(r.Context(), 24*time.Hour)
		cutOff(w)
		return answer{}, true
	case f.Drop:
		cutOff(w)
		return answer{}, true
	case f.Body != "":
		w.WriteHeader(f.Status)
		_, _ = w.Write([]byte(f.Body))
		return answer{}, true
	case f.Status == http.StatusTooManyRequests:
		return limited(f.RetryAfter, f.Global), false
	}
	a = refuse(f.Status, f.Code, f.Message)
	a.errors = f.Errors
	return a, false
}

// pause waits, but not longer than the client or the server is there.
func (s *Server) pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	s.mu.Lock()
	quit := s.quit
	s.mu.Unlock()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	case <-quit:
	}
}

// cutOff ends the connection with a reset.
func cutOff(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}
