package adaptertest

import (
	"context"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// Network is a network in memory with one server on it, whatever address is dialled. Everything that waits on it waits in
// a way that the clock of a bubble understands, and what is written is buffered, as by a kernel.
type Network struct {
	mu     sync.Mutex
	queue  chan net.Conn
	closed chan struct{} // by Close
	manner Manner
	links  map[*link]bool
	dials  int
}

// Manner is what becomes of new connections.
type Manner int

// The manners.
const (
	Accepts  Manner = iota
	Refuses         // nobody listens
	Ignores         // an attempt to connect is never answered
	Swallows        // the connection is made and carries nothing
)

// NewNetwork makes a network without a server.
func NewNetwork() *Network {
	return &Network{queue: make(chan net.Conn, 1<<10), closed: make(chan struct{}), links: map[*link]bool{}}
}

// Listen is the server's side. The network has one server; a second one takes part in its connections.
func (n *Network) Listen() net.Listener { return &listener{net: n, closed: make(chan struct{})} }

// Dial is the client's side, in the form that clients want it.
func (n *Network) Dial(ctx context.Context, network, _ string) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	refused := &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	n.mu.Lock()
	n.dials++
	manner := n.manner
	n.mu.Unlock()
	if manner == Ignores {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-n.closed:
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	select {
	case <-n.closed:
		return nil, refused
	default:
	}
	if manner == Refuses {
		return nil, refused
	}
	l := &link{net: n, stalled: manner == Swallows}
	here, there := &end{link: l, changed: make(chan struct{})}, &end{link: l, changed: make(chan struct{})}
	here.peer, there.peer = there, here
	l.ends = [2]*end{here, there}
	n.links[l] = true
	n.queue <- there
	return here, nil
}

// Behave sets what becomes of new connections. Those that exist live on.
func (n *Network) Behave(m Manner) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.manner = m
}

// Cut resets every connection that exists.
func (n *Network) Cut() {
	for _, l := range n.open() {
		l.reset()
	}
}

// Stall lets every connection that exists look alive and carry nothing any more. New ones are well.
func (n *Network) Stall() {
	for _, l := range n.open() {
		l.mu.Lock()
		l.stalled = true
		l.mu.Unlock()
	}
}

// Dials is how often somebody tried to connect.
func (n *Network) Dials() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dials
}

// Close ends the network: connections are cut, and nobody gets a new one.
func (n *Network) Close() {
	n.mu.Lock()
	select {
	case <-n.closed:
	default:
		close(n.closed)
	}
	n.mu.Unlock()
	n.Cut()
}

func (n *Network) open() []*link {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []*link
	for l := range n.links {
		out = append(out, l)
	}
	return out
}

type listener struct {
	net    *Network
	once   sync.Once
	closed chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.net.queue:
		return c, nil
	case <-l.closed:
	case <-l.net.closed:
	}
	return nil, net.ErrClosed
}

func (l *listener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *listener) Addr() net.Addr { return address{} }

// link is a connection with its two ends.
type link struct {
	net     *Network
	mu      sync.Mutex
	ends    [2]*end
	stalled bool
	cut     bool
}

func (l *link) reset() {
	l.mu.Lock()
	l.cut = true
	for _, e := range l.ends {
		e.wake()
	}
	l.mu.Unlock()
	l.forget()
}

func (l *link) forget() {
	l.net.mu.Lock()
	defer l.net.mu.Unlock()
	delete(l.net.links, l)
}

// end is one side of a link. Its fields are guarded by the link's lock.
type end struct {
	link            *link
	peer            *end
	waiting         []byte // what the peer wrote and nobody has read
	closed          bool
	readBy, writeBy time.Time
	changed         chan struct{} // closed and replaced with every change
}

func (e *end) wake() {
	close(e.changed)
	e.changed = make(chan struct{})
}

func (e *end) Read(p []byte) (int, error) {
	for {
		n, changed, by, err := e.take(p)
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
		if by.IsZero() {
			<-changed
			continue
		}
		t := time.NewTimer(time.Until(by))
		select {
		case <-changed:
		case <-t.C:
		}
		t.Stop()
	}
}

// take reads what is there; with nothing there it says what to wait for.
func (e *end) take(p []byte) (n int, changed chan struct{}, by time.Time, err error) {
	e.link.mu.Lock()
	defer e.link.mu.Unlock()
	switch {
	case e.closed:
		err = net.ErrClosed
	case e.link.cut:
		err = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	case late(e.readBy):
		err = os.ErrDeadlineExceeded
	case e.link.stalled:
	case len(e.waiting) > 0:
		n = copy(p, e.waiting)
		e.waiting = e.waiting[n:]
	case e.peer.closed:
		err = io.EOF
	}
	return n, e.changed, e.readBy, err
}

func (e *end) Write(p []byte) (int, error) {
	e.link.mu.Lock()
	defer e.link.mu.Unlock()
	switch {
	case e.closed:
		return 0, net.ErrClosed
	case late(e.writeBy):
		return 0, os.ErrDeadlineExceeded
	case e.link.cut || e.peer.closed && !e.link.stalled:
		return 0, &net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", syscall.EPIPE)}
	case !e.link.stalled:
		e.peer.waiting = append(e.peer.waiting, p...)
		e.peer.wake()
	}
	return len(p), nil
}

func (e *end) Close() error {
	e.link.mu.Lock()
	e.closed = true
	e.wake()
	e.peer.wake()
	both := e.peer.closed
	e.link.mu.Unlock()
	if both {
		e.link.forget()
	}
	return nil
}

func (e *end) LocalAddr() net.Addr  { return address{} }
func (e *end) RemoteAddr() net.Addr { return address{} }

func (e *end) SetDeadline(t time.Time) error      { return e.limit(&e.readBy, &e.writeBy, t) }
func (e *end) SetReadDeadline(t time.Time) error  { return e.limit(&e.readBy, &e.readBy, t) }
func (e *end) SetWriteDeadline(t time.Time) error { return e.limit(&e.writeBy, &e.writeBy, t) }

func (e *end) limit(a, b *time.Time, t time.Time) error {
	e.link.mu.Lock()
	defer e.link.mu.Unlock()
	*a, *b = t, t
	e.wake()
	return nil
}

func late(by time.Time) bool { return !by.IsZero() && !time.Now().Before(by) }

// address is the only one that there is.
type address struct{}

func (address) Network() string { return "tcp" }
func (address) String() string  { return "127.0.0.1:80" }
