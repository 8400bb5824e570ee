package example_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest"
)

// server is the platform: it behaves, and knows nothing of the adapter.
type server struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced with every change
	events  []event       // every delivery that there has to be
	numbers int64
	acked   map[int64]bool
	posts   int
	seen    map[string][]adaptertest.Seen // by chat
	byKey   map[string]string             // ids of messages
	sends   int
	trouble adaptertest.Trouble
	revoked bool
	gone    map[string]string // the error by chat
}

type event struct {
	number int64
	line   map[string]any
}

func newServer(l net.Listener) *server {
	s := &server{
		changed: make(chan struct{}), acked: map[int64]bool{}, seen: map[string][]adaptertest.Seen{}, byKey: map[string]string{}, gone: map[string]string{},
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(c)
		}
	}()
	return s
}

func (s *server) wake() { close(s.changed); s.changed = make(chan struct{}) }

// push owes the bot an event.
func (s *server) push(line map[string]any) {
	s.numbers++
	line["event"] = s.numbers
	s.events = append(s.events, event{s.numbers, line})
	s.wake()
}

func (s *server) serve(c net.Conn) {
	defer c.Close()
	lines := bufio.NewScanner(c)
	if !lines.Scan() {
		return
	}
	var r struct{ Receive, Send, Text, Key, Token string }
	if json.Unmarshal(lines.Bytes(), &r) != nil {
		return
	}
	if r.Receive == "" {
		s.answer(c, r.Send, r.Text, r.Key, r.Token)
		return
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for lines.Scan() {
			var a struct{ Ack int64 }
			_ = json.Unmarshal(lines.Bytes(), &a)
			s.mu.Lock()
			s.acked[a.Ack] = true
			s.mu.Unlock()
		}
	}()
	s.deliver(json.NewEncoder(c), r.Receive, gone)
	c.Close()
	<-gone
}

// deliver writes what the bot has not acknowledged, and what comes, until the connection is gone.
func (s *server) deliver(out *json.Encoder, token string, gone chan struct{}) {
	ping := time.NewTicker(30 * time.Second)
	defer ping.Stop()
	welcome := false
	for next := 0; ; {
		s.mu.Lock()
		var due []event
		for ; next < len(s.events); next++ {
			if e := s.events[next]; !s.acked[e.number] {
				due = append(due, e)
			}
		}
		changed, valid := s.changed, token == secret && !s.revoked
		s.mu.Unlock()
		if !valid {
			_ = out.Encode(map[string]string{"error": "token"})
			return
		}
		if !welcome {
			welcome = true
			_ = out.Encode(map[string]string{"kind": "welcome"})
		}
		for _, e := range due {
			if out.Encode(e.line) != nil {
				return
			}
		}
		select {
		case <-changed:
		case <-ping.C:
			_ = out.Encode(map[string]string{"kind": "ping"})
		case <-gone:
			return
		}
	}
}

// answer takes one message, or says why not.
func (s *server) answer(c net.Conn, chat, text, key, token string) {
	say := func(answer map[string]any) { _ = json.NewEncoder(c).Encode(answer) }
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sends++
	switch {
	case token != secret || s.revoked:
		say(map[string]any{"error": "token"})
	case s.trouble == adaptertest.Busy:
		say(map[string]any{"error": "wait", "seconds": int(adaptertest.Wait.Seconds())})
	case s.trouble == adaptertest.Broken:
		say(map[string]any{"error": "server"})
	case s.gone[chat] != "":
		say(map[string]any{"error": s.gone[chat]})
	case len(text) > 500:
		say(map[string]any{"error": "too long"})
	case s.trouble == adaptertest.CutBefore:
	default:
		id := s.byKey[key]
		if id == "" {
			s.posts++
			id = fmt.Sprint(s.posts)
			s.byKey[key] = id
			s.seen[chat] = append(s.seen[chat], adaptertest.Seen{ID: id, Text: text})
		}
		switch s.trouble {
		case adaptertest.CutAfter:
		case adaptertest.Silent:
			s.mu.Unlock()
			_, _ = c.Read(make([]byte, 1)) // until the client goes
			s.mu.Lock()
		default:
			say(map[string]any{"id": id})
		}
	}
}

func (s *server) copyOf(chat string) []adaptertest.Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen[chat])
}
