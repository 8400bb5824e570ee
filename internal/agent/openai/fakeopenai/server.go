package fakeopenai

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Unscripted is the text of the answer to a request that no rule knows.
const Unscripted = "UNSCRIPTED"

// Server is one fake server.
type Server struct {
	http     *http.Server
	listener net.Listener
	closed   chan struct{} // releases answers that hang
	serving  sync.WaitGroup

	mu      sync.Mutex
	key     string
	next    []Answer
	rules   []*Rule
	asks    []Ask
	calls   int           // numbers tool calls
	arrived chan struct{} // closed and replaced at every request
}

// New starts a server on a loopback port. Close it.
func New() *Server {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic("fakeopenai: " + err.Error()) // as httptest does
	}
	return serve(listener)
}

func serve(listener net.Listener) *Server {
	s := &Server{listener: listener, closed: make(chan struct{}), arrived: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.complete)
	mux.HandleFunc("GET /v1/models", s.models)
	s.http = &http.Server{Handler: mux, ErrorLog: log.New(io.Discard, "", 0)}
	s.serving.Go(func() { _ = s.http.Serve(listener) })
	return s
}

// URL is the base URL, with the version's path.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/v1" }

// Close ends all answers and waits until none is being given.
func (s *Server) Close() {
	close(s.closed)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = s.http.Shutdown(ctx)
	_ = s.http.Close()
	s.serving.Wait()
}

// RequireKey makes the server refuse requests with another key. Before the first call it takes any.
func (s *Server) RequireKey(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = key
}

// Next queues answers for the next requests, whatever they ask. They go before all rules.
func (s *Server) Next(answers ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = append(s.next, answers...)
}

// When adds a rule: requests that match get the answers one after the other, and then the last one again and again. Rules
// are tried in the order in which they were added.
func (s *Server) When(m Match, answers ...Answer) *Rule {
	r := &Rule{match: m, answers: answers}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = append(s.rules, r)
	return r
}

// Script adds a rule per step of a turn: the first answers when no tool result was given yet, the second after one result,
// and so on; the last one also after more. It is how a turn is told when requests may be repeated.
func (s *Server) Script(m Match, steps ...Answer) {
	for i, a := range steps {
		at := Step(i)
		if i == len(steps)-1 {
			at = AfterStep(i)
		}
		s.When(All(m, at), a)
	}
}

// Asks is what was asked so far.
func (s *Server) Asks() []Ask {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Ask(nil), s.asks...)
}

// WaitAsks waits until n requests have come, and returns them.
func (s *Server) WaitAsks(ctx context.Context, n int) ([]Ask, error) {
	for {
		s.mu.Lock()
		asks, arrived := append([]Ask(nil), s.asks...), s.arrived
		s.mu.Unlock()
		if len(asks) >= n {
			return asks, nil
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return asks, fmt.Errorf("%d of %d requests came: %w", len(asks), n, ctx.Err())
		}
	}
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{
		map[string]any{"id": "fake-1", "object": "model", "created": 1, "owned_by": "fake"},
	}})
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	ask, err := readAsk(r, body)
	if err != nil {
		writeError(w, http.StatusBadRequest, "We could not parse the JSON body of your request: "+err.Error())
		return
	}
	answer := s.take(ask)
	answer(&Exchange{Ask: ask, w: w, r: r, server: s})
}

// take records the request and chooses its answer.
func (s *Server) take(ask Ask) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asks = append(s.asks, ask)
	close(s.arrived)
	s.arrived = make(chan struct{})
	if s.key != "" && ask.Key != s.key {
		return Fail(http.StatusUnauthorized, "Incorrect API key provided: "+ask.Key+".")
	}
	if len(s.next) > 0 {
		a := s.next[0]
		s.next = s.next[1:]
		return a
	}
	for _, rule := range s.rules {
		if rule.match(ask) {
			return rule.take()
		}
	}
	return Say(Unscripted)
}

func (s *Server) callID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	return fmt.Sprintf("call_fake%04d", s.calls)
}

func bearer(h http.Header) string { return strings.TrimPrefix(h.Get("Authorization"), "Bearer ") }
