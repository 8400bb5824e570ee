package fakeopenai

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// NewInMemory starts a server without a port: only the client that it returns reaches it. Inside a synctest bubble such a
// server lives on the test's clock.
func NewInMemory() (*Server, *http.Client) {
	l := &memory{conns: make(chan net.Conn), closed: make(chan struct{})}
	return serve(l), &http.Client{Transport: &http.Transport{DialContext: l.dial}}
}

// memory is a listener for connections that are pipes.
type memory struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (m *memory) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case m.conns <- theirs:
		return ours, nil
	case <-m.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

func (m *memory) Addr() net.Addr { return memoryAddr{} }

type memoryAddr struct{}

func (memoryAddr) Network() string { return "memory" }
func (memoryAddr) String() string  { return "fake.invalid" }
