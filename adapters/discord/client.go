package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"
)

const (
	apiVersion  = "/v9/"           // the library's
	idleTimeout = 20 * time.Second // shorter than any server's, so that a send never meets a connection that just ends
	maxAnswer   = 16 << 20
	maxWords    = 200 // bytes of a foreign answer that go into an error
)

// client makes calls of the REST API: one attempt each, and an error that says how far it came.
type client struct {
	library   *discordgo.Session // makes the requests
	transport *http.Transport
	base      string
	token     string
	limits    limits
}

func newClient(o Options) (*client, error) {
	library, err := o.session()
	if err != nil {
		return nil, err
	}
	// HTTP/1.1 only: a call then has a connection to itself, and a dead connection takes nothing else with it.
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &client{
		library: library, base: o.APIURL + apiVersion, token: o.Token,
		transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: o.Dial, TLSHandshakeTimeout: o.DialTimeout,
			MaxIdleConnsPerHost: 4, IdleConnTimeout: idleTimeout, Protocols: protocols,
		},
	}, nil
}

func (c *client) close() { c.transport.CloseIdleConnections() }

// netError is a call without an answer.
type netError struct {
	sent bool // the request may have arrived
	err  error
}

func (e *netError) Error() string { return e.err.Error() }
func (e *netError) Unwrap() error { return e.err }

// apiError is an answer that says no.
type apiError struct {
	status     int
	code       int    // Discord's own; 0: none
	words      string // Discord's message, or the beginning of a foreign answer
	fields     string // what is wrong with which field, as JSON
	retryAfter time.Duration
	foreign    bool // not from Discord: a proxy, a captive portal
}

func (e *apiError) Error() string {
	if e.code != 0 {
		return fmt.Sprintf("%s (HTTP %d, code %d)", e.words, e.status, e.code)
	}
	return fmt.Sprintf("%s (HTTP %d)", e.words, e.status)
}

// call makes one call and gives what was answered. bucket names what Discord counts together: the call without the ids of
// messages. A call whose bucket is known to be empty is not made: Discord bans who goes on calling.
func (c *client) call(ctx context.Context, method, path, bucket string, body any) ([]byte, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return nil, &netError{err: err}
		}
	}
	return c.request(ctx, method, path, bucket, text)
}

// request makes a call with a body in JSON, nil for none. more may change the request.
func (c *client) request(ctx context.Context, method, path, bucket string, text []byte, more ...discordgo.RequestOption) ([]byte, error) {
	if wait := c.limits.wait(bucket, time.Now()); wait > 0 {
		return nil, &apiError{status: http.StatusTooManyRequests, words: "the rate limit is used up", retryAfter: wait}
	}
	e := &exchange{transport: c.transport}
	// The library keeps a lock for each rate limit and waits under it, whatever the context says. A call gets a lock of
	// its own.
	free := discordgo.NewRatelimiter().LockBucket("")
	options := append([]discordgo.RequestOption{
		discordgo.WithContext(e.traced(ctx)), discordgo.WithRetryOnRatelimit(false), discordgo.WithRestRetries(0),
		discordgo.WithClient(&http.Client{
			Transport:     e, // and the token goes nowhere else:
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}),
	}, more...)
	_, err := c.library.RequestWithLockedBucket(method, c.base+path, "application/json", text, free, 0, options...)
	if e.answer == nil {
		if err == nil {
			err = errors.New("no answer")
		}
		return nil, &netError{sent: e.sent.Load(), err: c.clean(err)}
	}
	c.limits.note(bucket, e.answer, time.Now())
	return c.judge(e.answer, e.body, e.broken)
}

// exchange is the transport of one call. It keeps what was answered: the library's errors do not tell it all.
type exchange struct {
	transport http.RoundTripper
	sent      atomic.Bool
	answer    *http.Response
	body      []byte
	broken    error // the answer's body could not be read to its end
}

// traced notes how far the request came. Without a connection, or with a body that could not be written to its end, the
// server has no complete request. Once the request went out, no error proves anything: it may have arrived.
func (e *exchange) traced(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { e.sent.Store(false) }, // a repetition begins with nothing sent, too
		GotConn: func(httptrace.GotConnInfo) { e.sent.Store(true) },
		WroteRequest: func(i httptrace.WroteRequestInfo) {
			if i.Err != nil {
				e.sent.Store(false)
			}
		},
	})
}

// RoundTrip makes the request and reads the answer.
func (e *exchange) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := e.transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	e.body, e.broken = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	_ = resp.Body.Close()
	e.answer = resp
	resp.Body = io.NopCloser(bytes.NewReader(e.body))
	return resp, nil
}

// judge tells yes from no.
func (c *client) judge(resp *http.Response, body []byte, broken error) ([]byte, error) {
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		switch {
		case broken != nil:
			return nil, &netError{sent: true, err: fmt.Errorf("read the answer: %w", c.clean(broken))}
		case resp.StatusCode != http.StatusNoContent && !json.Valid(body):
			return nil, &netError{sent: true, err: fmt.Errorf("an answer that is none: %s", c.words(string(body)))}
		}
		return body, nil
	}
	var a struct {
		Message    *string         `json:"message"`
		Code       int             `json:"code"`
		Errors     json.RawMessage `json:"errors"`
		RetryAfter float64         `json:"retry_after"`
	}
	e := &apiError{status: resp.StatusCode}
	if json.Unmarshal(body, &a) == nil && a.Message != nil {
		e.code, e.words, e.fields = a.Code, c.words(*a.Message), c.words(string(a.Errors))
	} else {
		e.foreign, e.words = true, c.words(string(body))
	}
	if e.retryAfter = time.Duration(a.RetryAfter * float64(time.Second)); e.retryAfter <= 0 {
		seconds, _ := strconv.ParseFloat(resp.Header.Get("Retry-After"), 64)
		e.retryAfter = max(time.Duration(seconds*float64(time.Second)), time.Second)
	}
	return nil, e
}

// words is what a text of others may contribute to an error: masked first, lest a cut leave half of the token, and short.
func (c *client) words(s string) string {
	s = c.mask(strings.TrimSpace(s))
	if len(s) > maxWords {
		s = strings.ToValidUTF8(s[:maxWords], "") + "…"
	}
	return s
}

// clean takes the address out of an error (an interaction's has a secret in it), and the token out of whatever else it says.
func (c *client) clean(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if text := err.Error(); c.mask(text) != text {
		return errors.New(c.mask(text))
	}
	return err
}

func (c *client) mask(s string) string { return strings.ReplaceAll(s, c.token, "***") }
