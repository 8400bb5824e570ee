package fakediscord

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// The intents that count here.
const (
	intentGuilds         = 1 << 0
	intentGuildMessages  = 1 << 9
	intentDirectMessages = 1 << 12
	intentContent        = 1 << 15
)

// concurrency is how long after an identify the next one is allowed.
const concurrency = 5 * time.Second

// gateway is the part of the server that sockets are connected to. Server.mu guards it.
type gateway struct {
	sessions map[string]*session
	sockets  map[*socket]bool
	interval time.Duration
	budget   int // identifies that are left
	last     time.Time
	refusal  int  // close code for whoever identifies or resumes
	silent   bool // new sockets are accepted and told nothing
	forgets  bool // sessions cannot be resumed
	revoked  bool // the token is valid no longer
	first    []any
	stats    Stats
}

// Stats counts what clients did.
type Stats struct {
	Connects, Identifies, Resumes, Heartbeats int
	Intents                                   int
	Live                                      int   // sessions with a socket
	Closes                                    []int // close codes that clients sent; 1006: none
}

type session struct {
	id      string
	intents int
	seq     int64
	log     []map[string]any
	socket  *socket
}

type socket struct {
	conn  *websocket.Conn
	out   chan any
	done  chan struct{}
	once  sync.Once
	code  int // set before done is closed; 0: cut without a close frame
	dumb  bool
	sess  *session
	quits bool // we close it
}

// Gateway gives the counters.
func (s *Server) Gateway() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stats
	st.Closes = slices.Clone(st.Closes)
	for _, x := range s.sessions {
		if x.socket != nil {
			st.Live++
		}
	}
	return st
}

func (s *Server) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	s.Change()
}

// Budget sets how many identifies are left today.
func (s *Server) Budget(n int) { s.set(func() { s.budget = n }) }

// Refuse closes the socket of whoever identifies or resumes with a code, 0: no longer.
func (s *Server) Refuse(code int) { s.set(func() { s.refusal = code }) }

// Revoke makes the token one that is not valid, and hangs up; or valid again.
func (s *Server) Revoke(on bool) {
	s.set(func() { s.revoked = on })
	if on {
		s.Hang(4004)
	}
}

// Silent accepts new sockets and tells them nothing.
func (s *Server) Silent(on bool) { s.set(func() { s.silent = on }) }

// Forget lets sessions be such that cannot be resumed, from the next attempt on.
func (s *Server) Forget() { s.set(func() { s.forgets = true; s.sessions = map[string]*session{} }) }

// First is sent before anything else to whoever resumes next.
func (s *Server) First(payloads ...any) { s.set(func() { s.first = payloads }) }

// Zombies makes the open sockets deaf and dumb; they stay open.
func (s *Server) Zombies() {
	s.set(func() {
		for c := range s.sockets {
			c.dumb = true
		}
	})
}

// Send sends a payload on every socket, as it is.
func (s *Server) Send(payload any) {
	s.set(func() {
		for c := range s.sockets {
			c.send(payload)
		}
	})
}

// Reconnect asks every client to reconnect.
func (s *Server) Reconnect() { s.Send(map[string]any{"op": 7, "d": nil}) }

// Invalidate tells every client that its session is over, or may be resumed.
func (s *Server) Invalidate(resumable bool) {
	if !resumable {
		s.set(func() { s.sessions = map[string]*session{} })
	}
	s.Send(map[string]any{"op": 9, "d": resumable})
}

// Hang closes every socket with a code.
func (s *Server) Hang(code int) {
	s.set(func() {
		for c := range s.sockets {
			c.end(code)
		}
	})
}

// Cut cuts every socket without a word.
func (s *Server) Cut() { s.Hang(0) }

// Dispatch sends an event to every session.
func (s *Server) Dispatch(event string, data any) { s.set(func() { s.dispatch(event, 0, data) }) }

// door tells where the gateway is, and how often one may still go in.
func (s *Server) door(host string, limits bool) map[string]any {
	out := map[string]any{"url": "ws://" + host + "/gateway"}
	if limits {
		out["shards"] = 1
		out["session_start_limit"] = map[string]any{"total": 1000, "remaining": max(s.budget, 0), "reset_after": 3_600_000, "max_concurrency": 1}
	}
	return out
}

func (c *socket) send(v any) {
	if c.dumb {
		return
	}
	select {
	case c.out <- v:
	case <-c.done:
	default: // far more than a client can be behind
		c.end(0)
	}
}

// end closes the socket. The caller holds the lock.
func (c *socket) end(code int) {
	c.once.Do(func() { c.code, c.quits = code, true; close(c.done) })
}

func (s *Server) dispatch(event string, intent int, data any) {
	s.dispatchTo(event, intent, func(int) any { return data })
}

// dispatchTo sends an event to the sessions that want it, and keeps it for a resume. The caller holds the lock.
func (s *Server) dispatchTo(event string, intent int, data func(intents int) any) {
	for _, x := range s.sessions {
		if intent == 0 || x.intents&intent != 0 {
			x.event(event, data(x.intents))
		}
	}
}

func (x *session) event(name string, data any) {
	x.seq++
	p := map[string]any{"op": 0, "t": name, "s": x.seq, "d": data}
	x.log = append(x.log, p)
	if x.socket != nil {
		x.socket.send(p)
	}
}

// connect serves one socket.
func (s *Server) connect(w http.ResponseWriter, r *http.Request) {
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	conn.SetCloseHandler(func(int, string) error { return nil })
	c := &socket{conn: conn, out: make(chan any, 1<<12), done: make(chan struct{})}
	s.set(func() {
		s.sockets[c] = true
		s.stats.Connects++
		c.dumb = s.silent
		c.send(map[string]any{"op": 10, "d": map[string]any{"heartbeat_interval": s.interval.Milliseconds()}})
	})
	var writer sync.WaitGroup
	writer.Go(c.write)
	for {
		var p struct {
			Op int             `json:"op"`
			D  json.RawMessage `json:"d"`
		}
		if err = conn.ReadJSON(&p); err != nil {
			break
		}
		s.set(func() { s.handle(c, p.Op, p.D) })
	}
	s.set(func() { s.leave(c, err) })
	writer.Wait()
}

func (c *socket) write() {
	defer func() { _ = c.conn.Close() }()
	for {
		select {
		case v := <-c.out:
			if c.conn.WriteJSON(v) != nil {
				return
			}
		case <-c.done:
			if c.code != 0 {
				_ = c.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(c.code, ""), time.Now().Add(time.Second))
			}
			return
		}
	}
}

// leave notes that a socket is gone. A session whose client said goodbye is over.
func (s *Server) leave(c *socket, err error) {
	delete(s.sockets, c)
	code := websocket.CloseAbnormalClosure
	if e, ok := err.(*websocket.CloseError); ok { //nolint:errorlint // gorilla never wraps it
		code = e.Code
	}
	if !c.quits {
		s.stats.Closes = append(s.stats.Closes, code)
	}
	if x := c.sess; x != nil && x.socket == c {
		x.socket = nil
		if !c.quits && (code == websocket.CloseNormalClosure || code == websocket.CloseGoingAway) {
			delete(s.sessions, x.id)
		}
	}
	c.end(0)
}

// handle takes one payload of a client. The caller holds the lock.
func (s *Server) handle(c *socket, op int, d json.RawMessage) {
	var in struct {
		Token   string `json:"token"`
		Intents int    `json:"intents"`
		Session string `json:"session_id"`
		Seq     int64  `json:"seq"`
	}
	_ = json.Unmarshal(d, &in)
	switch {
	case c.dumb:
	case op == 1:
		s.stats.Heartbeats++
		c.send(map[string]any{"op": 11})
	case op != 2 && op != 6 && c.sess == nil:
		c.end(4003)
	case op == 2 && c.sess != nil:
		c.end(4005)
	case op != 2 && op != 6:
	case s.revoked, strings.TrimPrefix(in.Token, "Bot ") != s.token:
		s.attempt(op)
		c.end(4004)
	case s.refusal != 0:
		s.attempt(op)
		c.end(s.refusal)
	case op == 2:
		s.identify(c, in.Intents)
	default:
		s.resume(c, in.Session, in.Seq)
	}
}

func (s *Server) attempt(op int) {
	if op == 2 {
		s.stats.Identifies++
		s.budget--
		s.last = time.Now()
	} else {
		s.stats.Resumes++
	}
}

func (s *Server) identify(c *socket, intents int) {
	hasty := !s.last.IsZero() && time.Since(s.last) < concurrency
	s.attempt(2)
	s.stats.Intents = intents
	switch {
	case intents&intentContent != 0 && s.flags&flagContent == 0:
		c.end(4014)
		return
	case hasty, s.budget < 0:
		c.send(map[string]any{"op": 9, "d": false})
		return
	}
	x := &session{id: "session-" + s.id(), intents: intents, socket: c}
	c.sess = x
	s.sessions[x.id] = x
	guilds := []any{}
	for id := range s.guilds {
		guilds = append(guilds, map[string]any{"id": id, "unavailable": true})
	}
	x.event("READY", map[string]any{
		"v": 9, "user": s.bot.wire(), "guilds": guilds, "session_id": x.id, "resume_gateway_url": "ws://" + s.Addr() + "/gateway",
		"application": map[string]any{"id": s.bot.ID, "flags": s.flags},
	})
	if intents&intentGuilds == 0 {
		return
	}
	for id, g := range s.guilds {
		channels, threads := []any{}, []any{}
		for _, ch := range s.channels {
			switch {
			case ch.guild != id || ch.hidden || ch.archived:
			case ch.thread():
				threads = append(threads, s.wireChannel(ch))
			default:
				wire := s.wireChannel(ch)
				delete(wire, "guild_id") // it is not in there
				channels = append(channels, wire)
			}
		}
		x.event("GUILD_CREATE", map[string]any{
			"id": id, "name": g.name, "owner_id": "1", "channels": channels, "threads": threads, "members": []any{}, "emojis": []any{},
			"roles": []any{map[string]any{"id": id, "name": "@everyone"}, map[string]any{"id": "9" + id, "name": s.bot.Name, "tags": map[string]any{"bot_id": s.bot.ID}}},
		})
	}
}

func (s *Server) resume(c *socket, id string, seq int64) {
	s.attempt(6)
	x := s.sessions[id]
	for _, p := range s.first {
		c.send(p)
	}
	s.first = nil
	switch {
	case x == nil || s.forgets:
		s.forgets = false
		c.send(map[string]any{"op": 9, "d": false})
		return
	case seq > x.seq:
		c.end(4007)
		return
	case x.socket != nil:
		x.socket.end(4009)
	}
	x.socket, c.sess = c, x
	for _, p := range x.log {
		if p["s"].(int64) > seq {
			c.send(p)
		}
	}
	x.event("RESUMED", map[string]any{})
}
