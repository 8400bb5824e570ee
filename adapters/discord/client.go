package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/homing-gateway/homing/adapters/attempt"
)

const (
	apiVersion = "/v9/" // the library's
)

// client makes calls of the REST API: one attempt each, and an error that says how far it came.
type client struct {
	*attempt.Client
	library *discordgo.Session // makes the requests
	base    string
	limits  limits
}

func newClient(o Options) (*client, error) {
	library, err := o.session()
	if err != nil {
		return nil, err
	}
	return &client{Client: attempt.New(o.Dial, o.DialTimeout, attempt.Hide([]string{o.Token})), library: library, base: o.APIURL + apiVersion}, nil
}

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
			return nil, &attempt.Error{Err: err}
		}
	}
	return c.request(ctx, method, path, bucket, text)
}

// request makes a call with a body in JSON, nil for none. more may change the request.
func (c *client) request(ctx context.Context, method, path, bucket string, text []byte, more ...discordgo.RequestOption) ([]byte, error) {
	if wait := c.limits.wait(bucket, time.Now()); wait > 0 {
		return nil, &apiError{status: http.StatusTooManyRequests, words: "the rate limit is used up", retryAfter: wait}
	}
	e := &exchange{transport: c.Client}
	// The library keeps a lock for each rate limit and waits under it, whatever the context says. A call gets a lock of
	// its own.
	free := discordgo.NewRatelimiter().LockBucket("")
	options := append([]discordgo.RequestOption{
		discordgo.WithContext(e.reach.Trace(ctx)), discordgo.WithRetryOnRatelimit(false), discordgo.WithRestRetries(0),
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
		return nil, &attempt.Error{Sent: e.reach.Sent(), Err: c.Clean(err)}
	}
	c.limits.note(bucket, e.answer, time.Now())
	return c.judge(e.answer, e.body, e.broken)
}

// exchange is the transport of one call. It keeps what was answered: the library's errors do not tell it all.
type exchange struct {
	transport http.RoundTripper
	reach     attempt.Reach
	answer    *http.Response
	body      []byte
	broken    error // the answer's body could not be read to its end
}

// RoundTrip makes the request and reads the answer.
func (e *exchange) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := e.transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	e.body, e.broken = attempt.Read(resp)
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
			return nil, &attempt.Error{Sent: true, Err: fmt.Errorf("read the answer: %w", c.Clean(broken))}
		case resp.StatusCode != http.StatusNoContent && !json.Valid(body):
			return nil, &attempt.Error{Sent: true, Err: fmt.Errorf("an answer that is none: %s", c.Words(string(body)))}
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
		e.code, e.words, e.fields = a.Code, c.Words(*a.Message), c.Words(string(a.Errors))
	} else {
		e.foreign, e.words = true, c.Words(string(body))
	}
	if e.retryAfter = time.Duration(a.RetryAfter * float64(time.Second)); e.retryAfter <= 0 {
		e.retryAfter = attempt.RetryAfter(resp.Header)
	}
	return nil, e
}
