package fakeslack

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Fault is a misbehaviour on request. It strikes the calls that match it: the zero value of Method, Channel and Contains
// matches all.
type Fault struct {
	Method   string
	Channel  string
	Contains string // in the text of the message, or the comment of a file
	Skip     int    // matching calls that go well before it begins
	Times    int    // how often it strikes, 0: until Clear

	// What happens, first Delay and then one of the others. With none of them the call goes on as usual.
	Delay      time.Duration
	Error      string // {"ok":false} with this error and the status 200, as Slack refuses
	Needed     string // with Error: the scope that is missing
	Status     int    // another status; 429 comes with RetryAfter
	RetryAfter int    // seconds
	Drop       bool   // the connection is cut without an answer
	Hang       bool   // there is never an answer
	Redirect   string // of "upload" and "download", which are no methods: sent to that address instead
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
func (s *Server) fault(method string, p url.Values) *Fault {
	channel, text := p.Get("channel")+p.Get("channel_id"), p.Get("text")+p.Get("initial_comment")+p.Get("blocks")
	for _, f := range s.faults {
		if f.Method != "" && f.Method != method || f.Channel != "" && f.Channel != channel ||
			!strings.Contains(text, f.Contains) || f.Times > 0 && f.hits == f.Times {
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
func (s *Server) strike(w http.ResponseWriter, r *http.Request, f *Fault, call func() reply) (a reply, over bool) {
	if f == nil {
		return call(), false
	}
	s.pause(r.Context(), f.Delay)
	if f.Error == "" && f.Status == 0 && !f.Drop && !f.Hang {
		return call(), false
	}
	if f.Stored {
		call()
	}
	switch {
	case f.Hang:
		s.pause(r.Context(), 24*time.Hour)
		cutOff(w)
	case f.Drop:
		cutOff(w)
	case f.Status != 0:
		if f.RetryAfter > 0 {
			w.Header().Set("Retry-After", fmt.Sprint(f.RetryAfter))
		}
		w.WriteHeader(f.Status)
		if f.Status == http.StatusTooManyRequests {
			_, _ = fmt.Fprint(w, `{"ok":false,"error":"ratelimited"}`)
		} else {
			_, _ = fmt.Fprint(w, "<html>upstream error</html>")
		}
	default:
		a = refuse(f.Error)
		if f.Needed != "" {
			a["needed"], a["provided"] = f.Needed, "chat:write"
		}
		return a, false
	}
	return nil, true
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
