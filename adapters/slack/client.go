package slack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/homing-gateway/homing/adapters/attempt"
)

// client makes calls of the Web API. It is the HTTP client under the library.
type client struct {
	*attempt.Client
	api   string
	token string
}

// newClient makes a client with connections of its own.
func newClient(o Options) *client {
	var parts []string
	for _, token := range []string{o.BotToken, o.AppToken} {
		_, secret, _ := strings.Cut(token, "-")
		parts = append(parts, secret)
	}
	return &client{attempt.New(o.Dial, o.DialTimeout, attempt.Hide([]string{o.BotToken, o.AppToken}, parts...)), o.APIURL, o.BotToken}
}

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
			return nil, &attempt.Error{Err: fmt.Errorf("encode the request: %w", c.Clean(err))}
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
		return &attempt.Error{Err: c.Clean(err)}
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer "+c.token)
	text, _, err := c.exchange(req, []byte(params.Encode()))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", method, c.Clean(err))
	}
	return nil
}

// exchange makes a call with a body.
func (c *client) exchange(req *http.Request, body []byte) ([]byte, http.Header, error) {
	a, err := c.Once(req, int64(len(body)), func() io.Reader { return bytes.NewReader(body) })
	if err != nil {
		return nil, nil, err
	}
	return a.Text, a.Header, c.judge(a)
}

// judge tells yes from no. Slack says no with the status 200, too: the body decides.
func (c *client) judge(a attempt.Answer) error {
	var says struct {
		OK       *bool  `json:"ok"`
		Error    string `json:"error"`
		Needed   string `json:"needed"`
		Provided string `json:"provided"`
		Metadata struct {
			Messages []string `json:"messages"`
		} `json:"response_metadata"`
	}
	err := json.Unmarshal(a.Text, &says)
	switch {
	case err == nil && says.OK != nil && *says.OK && a.Code == http.StatusOK:
		return nil
	case err == nil && says.OK != nil && !*says.OK && says.Error != "":
		words := says.Error
		if says.Needed != "" {
			words += " (needed: " + says.Needed + ")"
		}
		if len(says.Metadata.Messages) > 0 {
			words += ": " + strings.Join(says.Metadata.Messages, "; ")
		}
		return &apiError{code: says.Error, status: a.Code, needed: says.Needed, words: c.Words(words), retryAfter: attempt.RetryAfter(a.Header)}
	case a.Code == http.StatusOK:
		return &attempt.Error{Sent: true, Err: fmt.Errorf("an answer that is none: %s", c.Words(string(a.Text)))}
	}
	return &apiError{status: a.Code, words: a.Status + ": " + c.Words(string(a.Text)), retryAfter: attempt.RetryAfter(a.Header)}
}
