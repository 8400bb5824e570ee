// Package faketelegram is a Telegram that tests talk to: the part of the Bot API that Homing uses, with the limits,
// refusals and long-poll rules of the real one, people who say things, and faults on request. Everything belongs to a
// Server; any number of them live side by side. It is reached over HTTP only, so that real client libraries and the real
// binary can be tested against it.
//
// It knows nothing of Homing, and it asserts nothing: it behaves, and records.
package faketelegram

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest/fakeserver"
)

// Server is one Telegram with one bot. It is an http.Handler; Listen and Serve are for those who need a network.
type Server struct {
	*fakeserver.Server
	fakeserver.Faults[Fault]

	token    string
	bot      User
	mu       sync.Mutex
	users    map[int64]User
	chats    map[int64]*room
	said     []update // all that were ever queued
	queue    []update
	lastID   int64
	confirm  int64
	polling  chan struct{} // of the poll that waits; closed to end it
	webhook  string
	revoked  bool
	presses  []Pressed
	commands []Command
	calls    []Call
	files    []*stored
}

// User is a person or a bot.
type User struct {
	ID       int64  `json:"id"`
	IsBot    bool   `json:"is_bot"`
	Name     string `json:"first_name"`
	Username string `json:"username,omitempty"`
	Topics   bool   `json:"has_topics_enabled,omitempty"` // getMe: private chats have topics
}

// Call is one recorded API call.
type Call struct {
	At     time.Time
	Method string
	Params map[string]string
	Status int // of the answer; 0: none was given
}

// Command is a line of the command menu.
type Command struct {
	Command     string `json:"command"`
	Description string `json:"description"`
}

type reply struct {
	OK          bool   `json:"ok"`
	Result      any    `json:"result,omitempty"`
	ErrorCode   int    `json:"error_code,omitempty"`
	Description string `json:"description,omitempty"`
	Parameters  *hints `json:"parameters,omitempty"`
}

type hints struct {
	RetryAfter int   `json:"retry_after,omitempty"`
	MigrateTo  int64 `json:"migrate_to_chat_id,omitempty"`
}

func result(v any) reply { return reply{OK: true, Result: v} }

func refuse(code int, format string, args ...any) reply {
	return reply{ErrorCode: code, Description: fmt.Sprintf(format, args...)}
}

// New makes a server for the bot of a token, whose id is the number before the colon. It does not listen yet.
func New(token, username string) *Server {
	id, _ := strconv.ParseInt(strings.SplitN(token, ":", 2)[0], 10, 64)
	s := &Server{
		token: token, bot: User{ID: id, IsBot: true, Name: username, Username: username},
		users: map[int64]User{}, chats: map[int64]*room{}, lastID: 7000,
	}
	s.Server = fakeserver.New(s)
	return s
}

// URL is where the Bot API is.
func (s *Server) URL() string {
	return "http://" + s.Addr()
}

// Revoke lets the token be valid no longer, or again. A poll that waits ends with that.
func (s *Server) Revoke(revoked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revoked = revoked
	s.Change()
}

// Close ends the server.
func (s *Server) Close() { s.Down() }

// ServeHTTP answers one API call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if path, ok := strings.CutPrefix(r.URL.Path, "/file/bot"+s.token+"/"); ok {
		s.download(w, r, path)
		return
	}
	token, method, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/bot"), "/")
	params, err := form(r)
	if err != nil {
		return // the client went away in mid-request
	}
	s.mu.Lock()
	s.calls = append(s.calls, Call{At: time.Now(), Method: method, Params: params})
	if !ok || token != s.token || s.revoked {
		s.calls[len(s.calls)-1].Status = http.StatusUnauthorized
		s.Change()
		s.mu.Unlock()
		write(w, refuse(http.StatusUnauthorized, "Unauthorized"))
		return
	}
	n, fault := len(s.calls)-1, s.fault(method, params)
	s.Change()
	s.mu.Unlock()
	answer, over := s.strike(w, r, fault, func() reply { return s.call(r.Context(), method, params) })
	if over {
		return
	}
	s.mu.Lock()
	s.calls[n].Status = http.StatusOK
	if !answer.OK {
		s.calls[n].Status = answer.ErrorCode
	}
	s.Change()
	s.mu.Unlock()
	write(w, answer)
}

// form reads the parameters of a call in any of the forms that the Bot API takes.
func form(r *http.Request) (map[string]string, error) {
	defer func() { _, _ = io.Copy(io.Discard, r.Body) }() // only then does the server notice that a client goes away
	out := map[string]string{}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch kind {
	case "application/json":
		var fields map[string]json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&fields); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		for k, raw := range fields {
			var text string
			if json.Unmarshal(raw, &text) != nil {
				text = string(raw)
			}
			out[k] = text
		}
		return out, nil
	case "multipart/form-data":
		if err := r.ParseMultipartForm(8 << 20); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
	default:
		if err := r.ParseForm(); err != nil {
			return nil, err
		}
	}
	for k, v := range r.Form {
		out[k] = v[0]
	}
	if r.MultipartForm == nil {
		return out, nil
	}
	defer func() { _ = r.MultipartForm.RemoveAll() }()
	for k, v := range r.MultipartForm.File { // a file is a parameter like any other, and its name one besides
		f, err := v[0].Open()
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(f)
		_ = f.Close()
		if err != nil {
			return nil, err
		}
		out[k], out[k+".name"] = string(content), v[0].Filename
	}
	return out, nil
}

func number(s string) int64 { n, _ := strconv.ParseInt(s, 10, 64); return n }

func write(w http.ResponseWriter, a reply) {
	w.Header().Set("Content-Type", "application/json")
	if !a.OK {
		w.WriteHeader(a.ErrorCode)
	}
	_ = json.NewEncoder(w).Encode(a)
}

// Calls gives the calls of a method so far, all of them for "".
func (s *Server) Calls(method string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Call
	for _, c := range s.calls {
		if method == "" || strings.EqualFold(c.Method, method) {
			out = append(out, c)
		}
	}
	return out
}
