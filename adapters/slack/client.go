package slack

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
)

const (
	idleTimeout = 20 * time.Second // shorter than any server's, so that a send never meets a connection that just ends
	maxAnswer   = 64 << 20
	maxWords    = 200 // bytes of a foreign answer that go into an error
)

// client makes calls of the Web API: one attempt each, and an error that says how far it came. It is the HTTP client under
// the library.
type client struct {
	http    *http.Client
	api     string
	token   string
	secrets *strings.Replacer
}

// newClient makes a client with connections of its own.
func newClient(o Options) *client {
	var hide []string
	for _, token := range []string{o.BotToken, o.AppToken} {
		_, secret, _ := strings.Cut(token, "-")
		hide = append(hide, token, "***", url.QueryEscape(token), "***")
		if len(secret) >= 8 { // a shorter one would be found in every text
			hide = append(hide, secret, "***")
		}
	}
	// HTTP/1.1 only: a call then has a connection to itself, and a dead connection takes nothing else with it.
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &client{
		api: o.APIURL, token: o.BotToken, secrets: strings.NewReplacer(hide...),
		http: &http.Client{
			Transport: &http.Transport{
				Proxy:               http.ProxyFromEnvironment,
				DialContext:         o.Dial,
				TLSHandshakeTimeout: o.DialTimeout,
				MaxIdleConnsPerHost: 4,
				IdleConnTimeout:     idleTimeout,
				Protocols:           protocols,
			},
			// The token goes nowhere else.
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
	code       string // Slack's name of the error; empty: the answer is not from the Web API
	status     int
	needed     string // the scope that is missing
	words      string
	retryAfter time.Duration
}

func (e *apiError) Error() string { return e.words }

// Do is the library's way to make a call. Only an answer that says yes comes back as a response.
func (c *client) Do(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		body, err = io.ReadAll(req.Body)
		_ = req.Body.Close()
		if err != nil {
			return nil, &netError{err: fmt.Errorf("encode the request: %w", c.clean(err))}
		}
	}
	text, header, err := c.exchange(req, body)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(bytes.NewReader(text))}, nil
}

// call makes a call whose answer the library would take apart more strictly than we need it.
func (c *client) call(ctx context.Context, method string, params url.Values, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.api+"/"+method, http.NoBody)
	if err != nil {
		return &netError{err: c.clean(err)}
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer "+c.token)
	text, _, err := c.exchange(req, []byte(params.Encode()))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", method, c.clean(err))
	}
	return nil
}

// exchange sends one request and reads its answer.
//
// The body can be had again, so that the transport may repeat the request in the one case in which
// that is safe by itself: on a connection that turns out dead before a byte was written. In all other cases it does not
// repeat a POST. What is left: without a connection, or with a body that could not be written to its end, the server has
// no complete request, and nothing was sent. Once the request went out, no error proves anything: it may have arrived.
func (c *client) exchange(req *http.Request, body []byte) ([]byte, http.Header, error) {
	a, err := c.transmit(req, int64(len(body)), func() io.Reader { return bytes.NewReader(body) })
	if err != nil {
		return nil, nil, err
	}
	return a.text, a.header, c.judge(a)
}

// answer is what a request was answered, whatever it says.
type answer struct {
	code   int
	status string // the code with its words
	header http.Header
	text   []byte
}

// transmit is exchange without a judgement of the answer. body gives a body of that size from its beginning.
func (c *client) transmit(req *http.Request, size int64, body func() io.Reader) (answer, error) {
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
	if req.ContentLength = size; size == 0 {
		req.Body = http.NoBody
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, &netError{sent: sent.Load(), err: c.clean(err)}
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil && resp.StatusCode == http.StatusOK {
		return answer{}, &netError{sent: true, err: fmt.Errorf("read the answer: %w", c.clean(err))}
	}
	return answer{resp.StatusCode, resp.Status, resp.Header, text}, nil
}

// judge tells yes from no. Slack says no with the status 200, too: the body decides.
func (c *client) judge(a answer) error {
	var says struct {
		OK       *bool  `json:"ok"`
		Error    string `json:"error"`
		Needed   string `json:"needed"`
		Provided string `json:"provided"`
		Metadata struct {
			Messages []string `json:"messages"`
		} `json:"response_metadata"`
	}
	err := json.Unmarshal(a.text, &says)
	switch {
	case err == nil && says.OK != nil && *says.OK && a.code == http.StatusOK:
		return nil
	case err == nil && says.OK != nil && !*says.OK && says.Error != "":
		words := says.Error
		if says.Needed != "" {
			words += " (needed: " + says.Needed + ")"
		}
		if len(says.Metadata.Messages) > 0 {
			words += ": " + strings.Join(says.Metadata.Messages, "; ")
		}
		return &apiError{code: says.Error, status: a.code, needed: says.Needed, words: c.words(words), retryAfter: retryAfter(a.header)}
	case a.code == http.StatusOK:
		return &netError{sent: true, err: fmt.Errorf("an answer that is none: %s", c.words(string(a.text)))}
	}
	return &apiError{status: a.code, words: a.status + ": " + c.words(string(a.text)), retryAfter: retryAfter(a.header)}
}

func retryAfter(h http.Header) time.Duration {
	seconds, _ := strconv.Atoi(h.Get("Retry-After"))
	return time.Duration(max(seconds, 1)) * time.Second
}

// words is what a text of others may contribute to an error: masked first, lest a cut leave half of a token, and short.
func (c *client) words(s string) string {
	s = c.mask(strings.TrimSpace(s))
	if len(s) > maxWords {
		s = strings.ToValidUTF8(s[:maxWords], "") + "…"
	}
	return s
}

// clean takes the address out of an error, and the tokens out of whatever else it says.
func (c *client) clean(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if text := err.Error(); c.mask(text) != text {
		return errors.New(c.mask(text))
	}
	return err
}

// mask hides the tokens in a text.
func (c *client) mask(s string) string { return c.secrets.Replace(s) }
