// Package fakediscord is a Discord that tests talk to: the part of the REST API and of the gateway that Homing uses, with
// the limits, refusals, session rules and close codes of the real one, people who say things, and faults on request.
// Everything belongs to a Server; any number of them live side by side. It is reached over HTTP and WebSocket only, so that
// real client libraries and the real binary can be tested against it.
//
// It knows nothing of Homing, and it asserts nothing: it behaves, and records.
package fakediscord

import (
	"strconv"
	"sync"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest/fakeserver"
)

// Server is one Discord with one application and its bot. It is an http.Handler; Listen and Serve are for those who need
// a network.
type Server struct {
	*fakeserver.Server
	fakeserver.Faults[Fault]

	token string
	bot   User
	mu    sync.Mutex

	serial   int64
	users    map[string]User
	guilds   map[string]*guild
	channels map[string]*channel
	posts    map[string]*post
	nonces   map[string]string // channel and nonce: the message
	acts     map[string]*Interaction
	commands []map[string]any
	calls    []Call
	buckets  map[string]*bucket
	limit    int // of a bucket within window; 0: none is in force
	window   time.Duration
	flags    int // of the application
	files    map[string]File
	host     string // in the addresses of files; empty: addr

	gateway
}

// User is a person or a bot.
type User struct {
	ID   string
	Name string
	Bot  bool
}

// Call is one recorded call of the REST API.
type Call struct {
	At      time.Time
	Name    string // such as "POST messages", "GET gateway/bot": the method and the end of the path, without ids
	Channel string
	Content string
	Body    map[string]any
	Files   int // that came with it

	Credential string // the header that holds the token

	Status int // of the answer; 0: none was given
}

// bucket counts the calls of one rate limit.
type bucket struct {
	left  int
	reset time.Time
}

// New makes a server for the bot of a token. It does not listen yet.
func New(token, botID, botName string) *Server {
	s := &Server{
		token: token, bot: User{ID: botID, Name: botName, Bot: true},
		users: map[string]User{}, guilds: map[string]*guild{}, channels: map[string]*channel{}, posts: map[string]*post{},
		nonces: map[string]string{}, acts: map[string]*Interaction{}, buckets: map[string]*bucket{}, flags: flagContent, files: map[string]File{},
		gateway: gateway{
			sessions: map[string]*session{}, sockets: map[*socket]bool{}, interval: 41250 * time.Millisecond, budget: 1000,
		},
	}
	s.Server = fakeserver.New(s)
	s.users[botID] = s.bot
	return s
}

// URL is where the API is, without a version.
func (s *Server) URL() string {
	return "http://" + s.Addr() + "/api"
}

// Down refuses connections from now on and cuts those that exist, sockets as well. What was said stays, and so do the sessions.
func (s *Server) Down() {
	s.Server.Down()
	s.Cut()
}

// Close ends the server.
func (s *Server) Close() { s.Down() }

// epoch is when Discord's ids begin to count, in milliseconds.
const epoch = 1420070400000

// id makes a fresh id, which holds its time. The caller holds the lock.
func (s *Server) id() string {
	s.serial++
	return strconv.FormatInt((time.Now().UnixMilli()-epoch)<<22|s.serial&0x3fffff, 10)
}

func number(s string) int64 { n, _ := strconv.ParseInt(s, 10, 64); return n }

// Calls gives the calls of a name so far, all of them for "".
func (s *Server) Calls(name string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Call
	for _, c := range s.calls {
		if name == "" || c.Name == name {
			out = append(out, c)
		}
	}
	return out
}

// Limit puts a rate limit into force: so many calls of one kind in one channel within a window. 0 ends it.
func (s *Server) Limit(calls int, window time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit, s.window, s.buckets = calls, window, map[string]*bucket{}
}

// Flags of an application: it may read the contents of messages.
const flagContent = 1 << 18

// ContentIntent says whether the application's page has the message content intent switched on. Without it an identify
// that asks for it is refused.
func (s *Server) ContentIntent(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flags = 0
	if on {
		s.flags = flagContent
	}
}
