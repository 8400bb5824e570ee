package fakediscord

import (
	"net/http"
	"strings"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest/fakeserver"
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
}

// fault finds what strikes a call.
func (s *Server) fault(c Call) *Fault {
	f, strikes := s.Find(func(f Fault) (bool, int, int) {
		return (f.Name == "" || f.Name == c.Name) && (f.Channel == "" || f.Channel == c.Channel) && strings.Contains(c.Content, f.Contains), f.Skip, f.Times
	})
	if !strikes {
		return nil
	}
	return &f
}

// strike plays a fault around a call; over means that no answer may be written any more.
func (s *Server) strike(w http.ResponseWriter, r *http.Request, f *Fault, run func() answer) (a answer, over bool) {
	if f == nil {
		return run(), false
	}
	refuses, over := s.Strike(w, r, fakeserver.Mishap{Delay: f.Delay, Stored: f.Stored, Hang: f.Hang, Drop: f.Drop, Refuses: f.Status != 0}, func() { run() })
	switch {
	case over:
		return answer{}, true
	case !refuses:
		return run(), false
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
