// Package fakeserver is what the fakes of platforms have in common: an HTTP server that goes down and comes back at its
// address, that tests can wait for, and whose calls go wrong on request. It knows no platform.
package fakeserver

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server is the part of a fake that is on the network; a fake embeds it. Its lock is its own: a fake may call it while it
// holds that of its state.
type Server struct {
	handler http.Handler

	mu      sync.Mutex
	changed chan struct{} // closed and replaced with every change
	web     *http.Server
	addr    string
	down    chan struct{} // closed when the server goes down
}

// New makes a server that does not listen yet.
func New(h http.Handler) *Server {
	return &Server{handler: h, changed: make(chan struct{}), down: make(chan struct{})}
}

// Listen serves on a free port of the loopback interface.
func (s *Server) Listen() error { return s.listen("127.0.0.1:0") }

func (s *Server) listen(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	s.Serve(l)
	return nil
}

// Serve serves on l, which it closes when it goes down.
func (s *Server) Serve(l net.Listener) {
	web := &http.Server{Handler: s.handler, ReadHeaderTimeout: time.Minute}
	s.mu.Lock()
	s.web, s.addr, s.down = web, l.Addr().String(), make(chan struct{})
	s.mu.Unlock()
	go func() { _ = web.Serve(l) }() // ends with Down
}

// Addr is where it serves, or served.
func (s *Server) Addr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addr
}

// Down refuses connections from now on and cuts those that exist, but for those that were taken over.
func (s *Server) Down() {
	s.mu.Lock()
	web, down := s.web, s.down
	s.web = nil
	s.mu.Unlock()
	if web != nil {
		close(down)
		_ = web.Close()
	}
}

// Up listens at the same address again.
func (s *Server) Up() error { return s.listen(s.Addr()) }

// Gone is closed when the server goes down.
func (s *Server) Gone() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.down
}

// Until waits until ok holds; it is asked again after every change. ok may call any method of the fake.
func (s *Server) Until(ctx context.Context, ok func() bool) error {
	for {
		changed := s.Changes()
		if ok() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Changes is closed at the next change.
func (s *Server) Changes() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// Change wakes everybody who waits.
func (s *Server) Change() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}
