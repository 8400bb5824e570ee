package fakeslack

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest/fakeserver"
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
}

// fault finds what strikes a call.
func (s *Server) fault(method string, p url.Values) *Fault {
	channel, text := p.Get("channel")+p.Get("channel_id"), p.Get("text")+p.Get("initial_comment")+p.Get("blocks")
	f, strikes := s.Find(func(f Fault) (bool, int, int) {
		return (f.Method == "" || f.Method == method) && (f.Channel == "" || f.Channel == channel) && strings.Contains(text, f.Contains), f.Skip, f.Times
	})
	if !strikes {
		return nil
	}
	return &f
}

// strike plays a fault around a call; over means that no answer may be written any more.
func (s *Server) strike(w http.ResponseWriter, r *http.Request, f *Fault, call func() reply) (a reply, over bool) {
	if f == nil {
		return call(), false
	}
	refuses, over := s.Strike(w, r, fakeserver.Mishap{
		Delay: f.Delay, Stored: f.Stored, Hang: f.Hang, Drop: f.Drop, Refuses: f.Error != "" || f.Status != 0,
	}, func() { call() })
	switch {
	case over:
	case !refuses:
		return call(), false
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
