package faketelegram

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// Fault is a misbehaviour on request. It strikes the calls that match it: the zero value of Method, Chat and Contains
// matches all.
type Fault struct {
	Method   string
	Chat     int64
	Contains string // in the text of the message
	Skip     int    // matching calls that go well before it begins
	Times    int    // how often it strikes, 0: until Clear

	// What happens, first Delay and then one of the others. With none of them the call goes on as usual.
	Delay       time.Duration
	Status      int    // refusal with this code
	Description string // of the refusal
	RetryAfter  int    // seconds, of the refusal
	Body        string // with Status: this body instead of Telegram's JSON
	Drop        bool   // the connection is cut without an answer
	Hang        bool   // there is never an answer
	Stored      bool   // the call takes effect before it is refused, cut or left hanging

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
func (s *Server) fault(method string, p map[string]string) *Fault {
	for _, f := range s.faults {
		if f.Method != "" && !strings.EqualFold(f.Method, method) || f.Chat != 0 && f.Chat != number(p["chat_id"]) ||
			!strings.Contains(p["text"], f.Contains) || f.Times > 0 && f.hits == f.Times {
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
	if f.Status == 0 && !f.Drop && !f.Hang {
		return call(), false
	}
	if f.Stored {
		call()
	}
	switch {
	case f.Hang:
		s.pause(r.Context(), 24*time.Hour)
		cutOff(w)
		return reply{}, true
	case f.Drop:
		cutOff(w)
		return reply{}, true
	case f.Body != "":
		w.WriteHeader(f.Status)
		_, _ = fmt.Fprint(w, f.Body)
		return reply{}, true
	}
	a = refuse(f.Status, "%s", f.Description)
	if f.RetryAfter > 0 {
		a.Parameters = &hints{RetryAfter: f.RetryAfter}
	}
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
