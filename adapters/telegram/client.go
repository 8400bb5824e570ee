package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	idleTimeout = 20 * time.Second // shorter than any server's, so that a send never meets a connection that just ends
	maxAnswer   = 64 << 20
	maxWords    = 200 // bytes of a foreign answer that go into an error
)

// client makes calls of the Bot API: one attempt each, and an error that says how far it came. It is the HTTP client
// under the library and of the poll loop.
type client struct {
	http   *http.Client
	token  string
	secret string // the part of the token behind the colon
}

// newClient makes a client with connections of its own.
func newClient(o Options) *client {
	dial := o.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: o.DialTimeout, KeepAlive: 15 * time.Second}).DialContext
	}
	_, secret, _ := strings.Cut(o.Token, ":")
	if len(secret) < 8 { // not a real one; alone it would be found in every text
		secret = o.Token
	}
	// HTTP/1.1 only: a call then has a connection to itself, and a dead connection takes nothing else with it.
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &client{
		token: o.Token, secret: secret,
		http: &http.Client{
			Transport: &http.Transport{
				Proxy:               http.ProxyFromEnvironment,
				DialContext:         dial,
				TLSHandshakeTimeout: o.DialTimeout,
				MaxIdleConnsPerHost: 4,
				IdleConnTimeout:     idleTimeout,
				Protocols:           protocols,
			},
			// The token is in the path: it goes nowhere else.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// netError is a call without an answer.
type netError struct {
	sent bool // the request may have arrived
	err  error
}

func (e *netError) Error() string { return e.err.Error() }
func (e *netError) Unwrap() error { return e.err }

// apiError is an answer that says no.
type apiError struct {
	code       int
	words      string // Telegram's description, or the beginning of a foreign answer
	retryAfter time.Duration
	movedTo    int64
	foreign    bool // not from the Bot API: a proxy, a gateway, a captive portal
}

func (e *apiError) Error() string { return e.words }

// answer is what the Bot API says.
type answer struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result,omitempty"`
	Code        int             `json:"error_code,omitempty"`
	Description string          `json:"description,omitempty"`
	Parameters  struct {
		RetryAfter int   `json:"retry_after"`
		MovedTo    int64 `json:"migrate_to_chat_id"`
	} `json:"parameters,omitzero"`
}

// Do is the library's way to make a call. Only an answer that says yes comes back as a response.
func (c *client) Do(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	_ = req.Body.Close()
	if err != nil {
		return nil, &netError{err: fmt.Errorf("encode the request: %w", c.clean(err))}
	}
	result, err := c.exchange(req, body)
	if err != nil {
		return nil, err
	}
	// Of a message we need its number. The library fails on kinds of content that it does not know yet, such as in the
	// message that ours replies to, and would make a failure of a success.
	var message struct {
		ID int64 `json:"message_id"`
	}
	if json.Unmarshal(result, &message) == nil && message.ID != 0 {
		result = fmt.Appendf(nil, `{"message_id":%d}`, message.ID)
	}
	text := fmt.Appendf(nil, `{"ok":true,"result":%s}`, result)
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(text))}, nil
}

// call makes a call with parameters as JSON.
func (c *client) call(ctx context.Context, base, method string, params any) (json.RawMessage, error) {
	body, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/bot"+c.token+"/"+method, nil)
	if err != nil {
		return nil, &netError{err: c.clean(err)}
	}
	req.Header.Set("Content-Type", "application/json")
	return c.exchange(req, body)
}

// exchange sends one request and reads its answer.
//
// The body is held in memory and can be had again, so that the transport may repeat the request in the one case in which
// that is safe by itself: on a connection that turns out dead before a byte was written. In all other cases it does not
// repeat a POST. What is left: without a connection, or with a body that could not be written to its end, the server has
// no complete request, and nothing was sent. Once the request went out, no error proves anything: it may have arrived.
func (c *client) exchange(req *http.Request, body []byte) (json.RawMessage, error) {
	return c.exchangeBody(req, int64(len(body)), func() io.Reader { return bytes.NewReader(body) })
}

// exchangeBody is exchange with a body of a size that is read anew for each repetition.
func (c *client) exchangeBody(req *http.Request, size int64, body func() io.Reader) (json.RawMessage, error) {
	var sent atomic.Bool
	trace := &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }, // from here on, bytes may flow
		WroteRequest: func(i httptrace.WroteRequestInfo) {
			if i.Err != nil {
				sent.Store(false)
			}
		},
		GetConn: func(string) { sent.Store(false) }, // a repetition begins with nothing sent, too
	}
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), trace))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(body()), nil }
	req.Body, _ = req.GetBody()
	req.ContentLength = size
	if size == 0 {
		req.Body = http.NoBody
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, &netError{sent: sent.Load(), err: c.clean(err)}
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil && resp.StatusCode == http.StatusOK {
		return nil, &netError{sent: true, err: fmt.Errorf("read the answer: %w", c.clean(err))}
	}
	return c.judge(resp, text)
}

// judge tells yes from no.
func (c *client) judge(resp *http.Response, text []byte) (json.RawMessage, error) {
	var a answer
	err := json.Unmarshal(text, &a)
	switch {
	case err == nil && a.OK:
		return a.Result, nil
	case err == nil && (a.Code != 0 || a.Description != ""):
		e := &apiError{code: a.Code, words: c.words(a.Description), movedTo: a.Parameters.MovedTo}
		if e.code == 0 {
			e.code = resp.StatusCode
		}
		e.retryAfter = retryAfter(a.Parameters.RetryAfter, resp.Header)
		return nil, e
	case resp.StatusCode == http.StatusOK:
		return nil, &netError{sent: true, err: fmt.Errorf("an answer that is none: %s", c.words(string(text)))}
	}
	words := resp.Status + ": " + c.words(string(text))
	return nil, &apiError{code: resp.StatusCode, words: words, retryAfter: retryAfter(0, resp.Header), foreign: true}
}

func retryAfter(seconds int, h http.Header) time.Duration {
	if seconds <= 0 {
		seconds, _ = strconv.Atoi(h.Get("Retry-After"))
	}
	return time.Duration(max(seconds, 1)) * time.Second
}

// words is what a text of others may contribute to an error: masked first, lest a cut leave half of the token, and short.
func (c *client) words(s string) string {
	s = c.mask(strings.TrimSpace(s))
	if len(s) > maxWords {
		s = strings.ToValidUTF8(s[:maxWords], "") + "…"
	}
	return s
}

// clean takes the address out of an error, and the token out of whatever else it says.
func (c *client) clean(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if text := err.Error(); c.mask(text) != text {
		return errors.New(c.mask(text))
	}
	return err
}

// mask hides the token in a text, also where it was escaped for an address.
func (c *client) mask(s string) string {
	return strings.NewReplacer(c.token, "***", url.PathEscape(c.token), "***", url.QueryEscape(c.token), "***", c.secret, "***").Replace(s)
}
