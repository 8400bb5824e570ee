package faketelegram

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest/fakeserver"
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
}

// fault finds what strikes a call.
func (s *Server) fault(method string, p map[string]string) *Fault {
	f, strikes := s.Find(func(f Fault) (bool, int, int) {
		return (f.Method == "" || strings.EqualFold(f.Method, method)) && (f.Chat == 0 || f.Chat == number(p["chat_id"])) && strings.Contains(p["text"], f.Contains), f.Skip, f.Times
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
	refuses, over := s.Strike(w, r, fakeserver.Mishap{Delay: f.Delay, Stored: f.Stored, Hang: f.Hang, Drop: f.Drop, Refuses: f.Status != 0}, func() { call() })
	switch {
	case over:
		return reply{}, true
	case !refuses:
		return call(), false
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
