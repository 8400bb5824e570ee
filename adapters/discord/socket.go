package discord

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

const (
	writeTimeout = 5 * time.Second
	// longestBeat bounds heartbeats, pongs and close frames. An identify is far longer.
	longestBeat = 200
	// closeResumable is a close code after which Discord keeps the session.
	closeResumable = 4000
)

// socket is the connection under the library's session, in plain text. The library reads and writes on it without a
// deadline, and identifies at once by itself when Discord ends a session; here is where both can be helped.
type socket struct {
	net.Conn
	opening atomic.Bool // the library's Open has not returned yet
	tail    []byte      // of what was read meanwhile
	writes  atomic.Int32
	invalid atomic.Bool    // Discord has ended the session
	heard   atomic.Int64   // when something last came, in Unix nanoseconds
	beat    chan time.Time // when something was written that is to be answered; holds the last
	speaks  func()         // before the identify or resume goes out
}

func newSocket(c net.Conn) *socket {
	s := &socket{Conn: c, beat: make(chan time.Time, 1)}
	s.opening.Store(true)
	return s
}

// errAsked is a gateway that asks for a new connection before it has said anything else.
var errAsked = errors.New("the gateway asks for a reconnect")

// askedToReconnect is the payload that asks for that. Within a text its quotes would be escaped.
var askedToReconnect = regexp.MustCompile(`"op"\s*:\s*7\s*[,}]`)

// Read keeps from the library what it cannot stand while it opens a connection: asked to reconnect, it would wait for a
// lock that it holds itself.
func (s *socket) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	if n > 0 {
		s.heard.Store(time.Now().UnixNano())
	}
	if s.opening.Load() {
		s.tail = append(s.tail, p[:n]...)
		if askedToReconnect.Match(s.tail) {
			_ = s.Close()
			return 0, errAsked
		}
		s.tail = s.tail[max(len(s.tail)-32, 0):]
	}
	return n, err
}

// Write lets two long writes pass: the request for a WebSocket, and the identify or resume. A further one is an identify
// that Discord did not get the pause for that it wants; the connection ends instead, and the next one resumes or begins
// anew. From then on a failure closes the connection and is not told to the library: it would close its session from two
// goroutines, and its reader notices anyway.
func (s *socket) Write(p []byte) (int, error) {
	n := s.writes.Add(1)
	switch {
	case n == 2:
		s.speaks()
	case n > 2 && p[0]&0x0f != websocket.CloseMessage && p[0]&0x0f != websocket.PongMessage: // those need no answer
		if len(p) > longestBeat {
			s.invalid.Store(true)
			_ = s.Close()
			if s.opening.Load() {
				return 0, errInvalid
			}
			return len(p), nil
		}
		select { // nobody but the writer puts something in
		case <-s.beat:
		default:
		}
		s.beat <- time.Now()
	}
	err := s.SetWriteDeadline(time.Now().Add(writeTimeout))
	if err == nil {
		_, err = s.Conn.Write(p)
	}
	switch {
	case err == nil:
	case s.opening.Load():
		return 0, err
	default:
		_ = s.Close()
	}
	return len(p), nil
}

// heardSince tells whether something has come since t.
func (s *socket) heardSince(t time.Time) bool { return s.heard.Load() >= t.UnixNano() }

// hangUp closes the connection with a code. The library writes whole frames, so that one more fits between them.
func (s *socket) hangUp(code int) {
	frame := []byte{0x88, 0x82, 0, 0, 0, 0, 0, 0} // final, close; masked, two bytes
	mask := rand.Uint32()
	binary.BigEndian.PutUint32(frame[2:], mask)
	binary.BigEndian.PutUint16(frame[6:], uint16(code)^uint16(mask>>16))
	_ = s.SetWriteDeadline(time.Now().Add(writeTimeout))
	_, _ = s.Conn.Write(frame)
	_ = s.Close()
}

// dialer connects for the library. Each connection is told to keep before it is used.
func (o Options) dialer(ctx func() context.Context, keep func(*socket)) *websocket.Dialer {
	plain := func(_ context.Context, network, addr string) (net.Conn, error) {
		c, err := o.Dial(ctx(), network, addr)
		return kept(c, err, keep)
	}
	secret := func(_ context.Context, network, addr string) (net.Conn, error) {
		c, err := o.dialTLS(ctx(), network, addr)
		return kept(c, err, keep)
	}
	return &websocket.Dialer{NetDialContext: plain, NetDialTLSContext: secret}
}

func kept(c net.Conn, err error, keep func(*socket)) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	s := newSocket(c)
	keep(s)
	return s, nil
}

// dialTLS connects to a server behind TLS, by the proxy that the environment names.
func (o Options) dialTLS(ctx context.Context, network, addr string) (net.Conn, error) {
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: "https", Host: addr}})
	if err != nil {
		return nil, err
	}
	var c net.Conn
	if proxy == nil {
		c, err = o.Dial(ctx, network, addr)
	} else {
		c, err = o.dialProxy(ctx, network, proxy, addr)
	}
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		host = addr
	}
	t := tls.Client(c, &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}})
	ctx, cancel := context.WithTimeout(ctx, o.DialTimeout)
	defer cancel()
	if err := t.HandshakeContext(ctx); err != nil {
		_ = c.Close()
		return nil, err
	}
	return t, nil
}

// dialProxy asks a proxy for a connection.
func (o Options) dialProxy(ctx context.Context, network string, proxy *url.URL, addr string) (net.Conn, error) {
	if proxy.Scheme != "http" {
		return nil, errors.New("the gateway can be reached through http proxies only")
	}
	port := proxy.Port()
	if port == "" {
		port = "80"
	}
	c, err := o.Dial(ctx, network, net.JoinHostPort(proxy.Hostname(), port))
	if err != nil {
		return nil, fmt.Errorf("connect to the proxy: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: addr}, Host: addr, Header: http.Header{}}
	if u := proxy.User; u != nil {
		password, _ := u.Password()
		req.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password)))
	}
	if err := req.Write(c); err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("ask the proxy: %w", err)
	}
	// Nothing follows the answer before we speak, so that nothing is left in the reader.
	resp, err := http.ReadResponse(bufio.NewReader(c), req) //nolint:bodyclose // it has none
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New(resp.Status)
	}
	if err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("ask the proxy: %w", err)
	}
	return c, nil
}
