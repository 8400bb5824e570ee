package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/homing-gateway/homing/adapters/attempt"
)

// client makes calls of the Bot API. It is the HTTP client under the library and of the poll loop.
type client struct {
	*attempt.Client
	token string
}

// newClient makes a client with connections of its own. The token is in the path of every call.
func newClient(o Options) *client {
	_, secret, _ := strings.Cut(o.Token, ":")
	return &client{attempt.New(o.Dial, o.DialTimeout, attempt.Hide([]string{o.Token}, secret)), o.Token}
}

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
		return nil, &attempt.Error{Err: fmt.Errorf("encode the request: %w", c.Clean(err))}
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
		return nil, &attempt.Error{Err: c.Clean(err)}
	}
	req.Header.Set("Content-Type", "application/json")
	return c.exchange(req, body)
}

// exchange makes a call with a body.
func (c *client) exchange(req *http.Request, body []byte) (json.RawMessage, error) {
	return c.exchangeBody(req, int64(len(body)), func() io.Reader { return bytes.NewReader(body) })
}

// exchangeBody is exchange with a body of a size that is read anew for each repetition.
func (c *client) exchangeBody(req *http.Request, size int64, body func() io.Reader) (json.RawMessage, error) {
	a, err := c.Once(req, size, body)
	if err != nil {
		return nil, err
	}
	return c.judge(a)
}

// judge tells yes from no.
func (c *client) judge(says attempt.Answer) (json.RawMessage, error) {
	var a answer
	err := json.Unmarshal(says.Text, &a)
	switch {
	case err == nil && a.OK:
		return a.Result, nil
	case err == nil && (a.Code != 0 || a.Description != ""):
		e := &apiError{code: a.Code, words: c.Words(a.Description), movedTo: a.Parameters.MovedTo, retryAfter: attempt.RetryAfter(says.Header)}
		if e.code == 0 {
			e.code = says.Code
		}
		if a.Parameters.RetryAfter > 0 {
			e.retryAfter = time.Duration(a.Parameters.RetryAfter) * time.Second
		}
		return nil, e
	case says.Code == http.StatusOK:
		return nil, &attempt.Error{Sent: true, Err: fmt.Errorf("an answer that is none: %s", c.Words(string(says.Text)))}
	}
	words := says.Status + ": " + c.Words(string(says.Text))
	return nil, &apiError{code: says.Code, words: words, retryAfter: attempt.RetryAfter(says.Header), foreign: true}
}
