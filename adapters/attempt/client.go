package attempt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
)

const (
	idleTimeout = 20 * time.Second // shorter than any server's, so that a call never meets a connection that just ends
	maxAnswer   = 64 << 20         // bytes
)

// Error is a call without an answer.
type Error struct {
	Sent bool // the request may have arrived
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Fault is what it means for a message.
func (e *Error) Fault() *chat.SendError {
	if e.Sent {
		return &chat.SendError{Fault: chat.Unknown, Err: e}
	}
	return &chat.SendError{Fault: chat.Unreachable, Err: e}
}

// Dial makes a connection; nil where the usual way will do.
type Dial func(ctx context.Context, network, addr string) (net.Conn, error)

// Dialer is the usual way: within a time, and with a word now and then on a connection that is quiet.
func Dialer(within time.Duration) Dial {
	return (&net.Dialer{Timeout: within, KeepAlive: 15 * time.Second}).DialContext
}

// Client makes calls over connections of its own.
type Client struct {
	Secrets
	transport *http.Transport
}

// New makes a client. handshake bounds how long a TLS handshake takes, and without a dial of its own how long a connection.
func New(dial Dial, handshake time.Duration, hide Secrets) *Client {
	if dial == nil {
		dial = Dialer(handshake)
	}
	// HTTP/1.1 only: a call then has a connection to itself, and a dead connection takes nothing else with it.
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &Client{hide, &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dial, TLSHandshakeTimeout: handshake,
		MaxIdleConnsPerHost: 4, IdleConnTimeout: idleTimeout, Protocols: protocols,
	}}
}

// Close ends the connections that are idle.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// RoundTrip makes one request and follows no redirect: a credential goes nowhere else.
func (c *Client) RoundTrip(req *http.Request) (*http.Response, error) {
	return c.transport.RoundTrip(req)
}

// Answer is what a request was answered, whatever it says.
type Answer struct {
	Code   int
	Status string // the code with its words
	Header http.Header
	Text   []byte
}

// Once sends one request and reads its answer. body gives a body of that size from its beginning. The error is an *Error.
//
// The body can be had again, so that the transport may repeat the request in the one case in which that is safe by itself: on
// a connection that turns out dead before a byte was written. In all other cases it does not repeat a POST. What is left:
// without a connection, or with a body that could not be written to its end, the server has no complete request, and nothing
// was sent. Once the request went out, no error proves anything: it may have arrived.
func (c *Client) Once(req *http.Request, size int64, body func() io.Reader) (Answer, error) {
	var reach Reach
	req = req.WithContext(reach.Trace(req.Context()))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(body()), nil }
	req.Body, _ = req.GetBody()
	if req.ContentLength = size; size == 0 {
		req.Body = http.NoBody
	}
	resp, err := c.RoundTrip(req)
	if err != nil {
		return Answer{}, &Error{reach.Sent(), c.Clean(err)}
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := Read(resp)
	if err != nil && resp.StatusCode == http.StatusOK {
		return Answer{}, &Error{true, fmt.Errorf("read the answer: %w", c.Clean(err))}
	}
	return Answer{resp.StatusCode, resp.Status, resp.Header, text}, nil
}

// Read reads an answer, as far as one can be of use.
func Read(resp *http.Response) ([]byte, error) {
	return io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
}

// Reach notes how far a request came.
type Reach struct{ sent atomic.Bool }

// Trace is a context for the request.
func (r *Reach) Trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { r.sent.Store(false) },               // a repetition begins with nothing sent, too
		GotConn: func(httptrace.GotConnInfo) { r.sent.Store(true) }, // from here on, bytes may flow
		WroteRequest: func(i httptrace.WroteRequestInfo) {
			if i.Err != nil {
				r.sent.Store(false)
			}
		},
	})
}

// Sent tells whether the request may have arrived.
func (r *Reach) Sent() bool { return r.sent.Load() }

// RetryAfter is the wait that an answer asks for; without one, the least that is polite.
func RetryAfter(h http.Header) time.Duration {
	seconds, _ := strconv.ParseFloat(h.Get("Retry-After"), 64)
	return max(time.Duration(seconds*float64(time.Second)), time.Second)
}

// Download gives the body of an answer to w, unless judge refuses the answer: then its error is returned. Other errors say
// that the file could not be had this time.
func (c *Client) Download(req *http.Request, w io.Writer, judge func(*http.Response) error) error {
	resp, err := c.RoundTrip(req)
	if err != nil {
		return &chat.SendError{Fault: chat.Unreachable, Err: c.Clean(err)}
	}
	defer func() { _ = resp.Body.Close() }()
	if err := judge(resp); err != nil {
		return err
	}
	if _, err := io.Copy(w, resp.Body); err != nil { // where it is w's, the core knows
		return &chat.SendError{Fault: chat.Unreachable, Err: fmt.Errorf("read the file: %w", c.Clean(err))}
	}
	return nil
}

// Refused is the fault of a file that cannot be had, or not be sent.
func Refused(class chat.Class, why string) *chat.SendError {
	return &chat.SendError{Fault: chat.Refused, Class: class, Err: errors.New(why)}
}

// Deadline bounds a call whose context has no deadline.
func Deadline(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}
