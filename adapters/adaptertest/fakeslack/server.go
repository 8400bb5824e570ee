// Package fakeslack is a Slack that tests talk to: the part of the Web API and of Socket Mode that Homing uses, with the
// limits, refusals and redeliveries of the real one, people who say things, and faults on request. Everything belongs to a
// Server; any number of them live side by side. It is reached over HTTP and WebSockets only, so that real client libraries
// and the real binary can be tested against it.
//
// It knows nothing of Homing, and it asserts nothing: it behaves, and records. What it does follows docs.slack.dev: the
// methods' pages, "Using Socket Mode", "Message metadata" and "Block Kit".
package fakeslack

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest/fakeserver"
)

// The one workspace and the bot in it.
const (
	Team    = "T0HOMING"
	App     = "A0HOMING"
	BotUser = "U0HOMING"
	Bot     = "B0HOMING"
)

// Server is one Slack with one app in one workspace. It is an http.Handler; Listen and Serve are for those who need a network.
type Server struct {
	*fakeserver.Server
	fakeserver.Faults[Fault]

	botToken, appToken string

	mu       sync.Mutex
	users    map[string]User
	channels map[string]*Channel
	lastTS   int64 // microseconds
	count    int   // of ids
	calls    []Call
	files    []*stored
	host     string // in the addresses of files; empty: addr
	revoked  string // the error that every call gets; empty: the tokens are valid
	scopes   string // of the bot token

	tickets map[string]bool
	sockets []*socket // the oldest first
	opened  int
	owed    []*event
	last    *event
	lost    int
}

// User is a person or a bot.
type User struct {
	ID, Name string
	BotID    string // of a bot
}

// Call is one recorded API call.
type Call struct {
	At     time.Time
	Method string
	Params url.Values
	Error  string // of the answer; empty when it said yes or nothing
}

// reply is the body of an answer.
type reply map[string]any

func refuse(code string) reply { return reply{"ok": false, "error": code} }

func (r reply) ok() bool { return r["ok"] == true }

// New makes a server whose app has these tokens. It does not listen yet.
func New(botToken, appToken string) *Server {
	s := &Server{
		botToken: botToken, appToken: appToken,
		users: map[string]User{}, channels: map[string]*Channel{}, tickets: map[string]bool{},
		scopes: "app_mentions:read,channels:history,channels:read,chat:write,commands,files:read,files:write,groups:history,im:history,im:write,mpim:history,users:read",
	}
	s.Server = fakeserver.New(s)
	s.users[BotUser] = User{ID: BotUser, Name: "homing", BotID: Bot}
	return s
}

// URL is where the Web API is.
func (s *Server) URL() string {
	return "http://" + s.Addr() + "/api"
}

// Down refuses connections from now on and cuts those that exist, sockets as well. What was said stays.
func (s *Server) Down() {
	s.Server.Down()
	s.Cut()
}

// Close ends the server.
func (s *Server) Close() {
	s.Down()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.owed {
		e.timer.Stop()
	}
}

// Revoke lets every call be refused with this error, such as "token_revoked", and cuts the sockets; "" ends that.
func (s *Server) Revoke(code string) {
	s.mu.Lock()
	s.revoked = code
	s.Change()
	s.mu.Unlock()
	if code != "" {
		s.Cut()
	}
}

// Scopes sets what the bot token may do, as the header of auth.test tells it.
func (s *Server) Scopes(list string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scopes = list
}

// id makes an id. The caller holds the lock.
func (s *Server) id(prefix string) string {
	s.count++
	return fmt.Sprintf("%s%06d", prefix, s.count)
}

// ServeHTTP answers one API call, or opens a socket.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/link" {
		s.link(w, r)
		return
	}
	if strings.HasPrefix(r.URL.Path, "/files-pri/") || strings.HasPrefix(r.URL.Path, "/upload/") {
		s.transfer(w, r)
		return
	}
	params, err := form(r)
	if err != nil {
		return // the client went away in mid-request
	}
	method, isCall := strings.CutPrefix(r.URL.Path, "/api/")
	if !isCall { // a response URL
		_, _ = io.WriteString(w, "ok")
		return
	}
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if token == "" {
		token = params.Get("token")
	}
	params.Del("token")
	s.mu.Lock()
	s.calls = append(s.calls, Call{At: time.Now(), Method: method, Params: params})
	n, fault := len(s.calls)-1, s.fault(method, params)
	s.Change()
	s.mu.Unlock()
	answer, over := s.strike(w, r, fault, func() reply { return s.call(method, token, params) })
	if over {
		return
	}
	s.mu.Lock()
	if !answer.ok() {
		s.calls[n].Error, _ = answer["error"].(string)
	}
	if method == "auth.test" {
		w.Header().Set("X-OAuth-Scopes", s.scopes)
	}
	s.Change()
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(answer)
}

// form reads the parameters of a call, which come as a form or as JSON.
func form(r *http.Request) (url.Values, error) {
	defer func() { _, _ = io.Copy(io.Discard, r.Body) }() // only then does the server notice that a client goes away
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != "application/json" {
		if err := r.ParseForm(); err != nil {
			return nil, err
		}
		return r.Form, nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	out := url.Values{}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(body, &fields)
	for k, raw := range fields {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		out.Set(k, text)
	}
	return out, nil
}

// Calls gives the calls of a method so far, all of them for "".
func (s *Server) Calls(method string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Call
	for _, c := range s.calls {
		if method == "" || c.Method == method {
			out = append(out, c)
		}
	}
	return out
}
