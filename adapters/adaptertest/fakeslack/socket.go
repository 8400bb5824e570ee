package fakeslack

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

const (
	pingEvery  = 10 * time.Second
	maxSockets = 10
)

// event is something that the app is to be told, once it has said that it has it.
type event struct {
	kind     string // of its envelopes: events_api, slash_commands, interactive, or any other
	payload  json.RawMessage
	born     time.Time
	socket   *socket  // that it was last sent on
	ids      []string // of its envelopes; each delivery has its own
	timer    *time.Timer
	attempts int
}

// socket is one connection of Socket Mode.
type socket struct {
	conn    *websocket.Conn
	writing sync.Mutex
	leaving bool // it was asked to go: it gets no more events
	mute    bool // it is open and dead: nothing is read and nothing is written
}

// Control frames that a socket writes.
type (
	ping string
	pong string
)

// write sends a frame: a ping, a pong, or anything else as JSON.
func (k *socket) write(v any) {
	k.writing.Lock()
	defer k.writing.Unlock()
	if k.mute {
		return
	}
	deadline := time.Now().Add(10 * time.Second)
	switch v := v.(type) {
	case ping:
		_ = k.conn.WriteControl(websocket.PingMessage, []byte(v), deadline)
	case pong:
		_ = k.conn.WriteControl(websocket.PongMessage, []byte(v), deadline)
	default:
		_ = k.conn.SetWriteDeadline(deadline)
		_ = k.conn.WriteJSON(v)
	}
}

// dead tells whether the socket is open and dead.
func (k *socket) dead() bool {
	k.writing.Lock()
	defer k.writing.Unlock()
	return k.mute
}

// link makes a socket of a request that has a ticket of apps.connections.open.
func (s *Server) link(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	ticket := r.URL.Query().Get("ticket")
	good := s.tickets[ticket] && s.revoked == ""
	delete(s.tickets, ticket)
	s.mu.Unlock()
	if !good {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	k := &socket{conn: conn}
	conn.SetPingHandler(func(data string) error {
		k.write(pong(data))
		return nil
	})
	s.mu.Lock()
	s.opened++
	crowded := len(s.sockets) >= maxSockets
	if !crowded {
		s.sockets = append(s.sockets, k)
	}
	n := len(s.sockets)
	s.mu.Unlock()
	defer conn.Close()
	if crowded {
		k.write(reply{"type": "disconnect", "reason": "too_many_websockets", "debug_info": reply{"host": "fake"}})
		return
	}
	k.write(reply{
		"type": "hello", "num_connections": n, "connection_info": reply{"app_id": App},
		"debug_info": reply{"host": "fake", "build_number": 1, "approximate_connection_time": 18060},
	})
	s.mu.Lock()
	for _, e := range slices.Clone(s.owed) {
		if e.socket == nil {
			s.offer(e)
		}
	}
	s.Change()
	s.mu.Unlock()
	over := make(chan struct{})
	var pings sync.WaitGroup
	pings.Go(func() {
		t := time.NewTicker(pingEvery)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				k.write(ping("still here"))
			case <-over:
				return
			}
		}
	})
	s.listenTo(k)
	close(over)
	pings.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sockets = slices.DeleteFunc(s.sockets, func(x *socket) bool { return x == k })
	for _, e := range slices.Clone(s.owed) {
		if e.socket == k {
			s.offer(e)
		}
	}
	s.Change()
}

// listenTo takes acknowledgements until the socket falls.
func (s *Server) listenTo(k *socket) {
	for {
		var ack struct {
			Envelope string          `json:"envelope_id"`
			Payload  json.RawMessage `json:"payload"`
		}
		_, raw, err := k.conn.ReadMessage()
		if err != nil {
			return
		}
		if json.Unmarshal(raw, &ack) != nil || k.dead() {
			continue
		}
		s.mu.Lock()
		s.owed = slices.DeleteFunc(s.owed, func(e *event) bool {
			mine := slices.Contains(e.ids, ack.Envelope)
			if mine {
				e.timer.Stop()
			}
			return mine
		})
		s.Change()
		s.mu.Unlock()
	}
}

// again says how long after an attempt an event that was not acknowledged is sent again: at once (which takes the time in
// which an acknowledgement may come), after a minute, after five.
func again(attempts int) time.Duration {
	return []time.Duration{3 * time.Second, 3 * time.Second, time.Minute, 5 * time.Minute}[min(attempts, 3)]
}

// kept is after how long an event that nobody took is given up.
const kept = 7 * time.Minute

// Deliver tells the app something in an envelope of a kind, whatever its payload is: also one that nobody can decode.
func (s *Server) Deliver(kind string, payload any) {
	raw, err := json.Marshal(payload)
	if err != nil {
		panic(err) // a test's own fault
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deliver(kind, raw)
}

// deliver is Deliver for who holds the lock.
func (s *Server) deliver(kind string, raw json.RawMessage) {
	e := &event{kind: kind, payload: raw, born: time.Now()}
	s.owed, s.last = append(s.owed, e), e
	e.timer = time.AfterFunc(24*time.Hour, func() { s.overdue(e) })
	s.offer(e)
	s.Change()
}

// Again delivers the last event once more, as after an acknowledgement that was lost.
func (s *Server) Again() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.last; e != nil {
		s.deliver(e.kind, e.payload)
	}
}

// offer sends an event on the newest socket, under a new envelope id. Without a socket it waits. The caller holds the lock.
func (s *Server) offer(e *event) {
	e.socket = nil
	for _, k := range slices.Backward(s.sockets) {
		if !k.leaving {
			e.socket = k
			break
		}
	}
	e.timer.Reset(again(e.attempts))
	if e.socket == nil {
		return
	}
	id := s.id("env-")
	e.ids = append(e.ids, id)
	envelope := reply{
		"envelope_id": id, "type": e.kind, "payload": e.payload, "accepts_response_payload": e.kind != "events_api",
	}
	if e.kind == "events_api" {
		envelope["retry_attempt"], envelope["retry_reason"] = e.attempts, ""
		if e.attempts > 0 {
			envelope["retry_reason"] = "timeout"
		}
	}
	e.attempts++
	e.socket.write(envelope)
}

// overdue is the time at which an event should have been acknowledged.
func (s *Server) overdue(e *event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.owed, e) {
		return
	}
	if time.Since(e.born) > kept {
		s.owed = slices.DeleteFunc(s.owed, func(x *event) bool { return x == e })
		s.lost++
		s.Change()
		return
	}
	s.offer(e)
}

// Owed is how many events wait for an acknowledgement, and Lost how many were given up.
func (s *Server) Owed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.owed)
}

// Lost is how many events were given up.
func (s *Server) Lost() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

// Forgive gives up what waits for an acknowledgement, as if it had been said before the app was there.
func (s *Server) Forgive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.owed {
		e.timer.Stop()
	}
	s.owed = nil
}

// Sockets is how many sockets are open, and how many there were.
func (s *Server) Sockets() (open, ever int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sockets), s.opened
}

// Disconnect asks every socket to go, for a reason, and cuts it after that time. A socket that is asked for a refresh gets
// events until another one is there.
func (s *Server) Disconnect(reason string, after time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.sockets {
		k.write(reply{"type": "disconnect", "reason": reason, "debug_info": reply{"host": "fake"}})
		k.leaving = reason != "refresh_requested"
		time.AfterFunc(after, func() { _ = k.conn.Close() })
	}
	s.Change()
}

// Cut ends every socket without a word.
func (s *Server) Cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.sockets {
		_ = k.conn.UnderlyingConn().Close()
	}
}

// Deafen lets every socket be open and dead.
func (s *Server) Deafen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.sockets {
		k.writing.Lock()
		k.mute = true
		k.writing.Unlock()
	}
}
