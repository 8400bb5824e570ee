package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Role is who speaks in a message of a request.
type Role string

// The roles. The system prompt has a field of its own.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is one message of a request. A request is legal for strict providers: roles alternate, and every call of an
// assistant message is answered by a tool message before anything else is said.
type Message struct {
	Role   Role
	Text   string
	Calls  []Call // assistant: the tools it calls
	CallID string // tool: the call that it answers
	Name   string // tool: the tool's name
	// Images are shown with a message of a user. A provider that cannot show them says so in the message's place.
	Images []Image
}

// Image is a picture: PNG, JPEG, GIF or WebP.
type Image struct {
	MIME string
	Data []byte
}

// Call is one tool call as the model wrote it. Arguments may be anything, also no JSON at all.
type Call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Tool is what a model is told of a tool.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments object
}

// Request is one step's question to a model.
type Request struct {
	Model    string
	System   string
	Messages []Message
	Tools    []Tool
	// Session names the conversation, for providers that keep something per conversation. It is not sent to servers.
	Session string
	// Summary tells that the message is a record to be summed up, not a conversation to go on with. It is not sent to servers.
	Summary bool
}

// Response is the model's whole answer. Neither text nor calls is a legal, empty answer.
type Response struct {
	Text         string
	Calls        []Call
	Truncated    bool // the model reached its limit of tokens
	InputTokens  int
	OutputTokens int
}

// Provider asks a model. Complete makes one attempt and blocks until the whole answer is there, ctx ends, or it fails with
// a *ProviderError. onText is called with each piece of the answer's text as it comes, from the calling goroutine; it may
// be nil. It may be called from many goroutines. A stream that breaks off is an error, never a short answer.
type Provider interface {
	Complete(ctx context.Context, r Request, onText func(piece string)) (Response, error)
}

// Failure says how a turn goes on after a failed attempt.
type Failure string

// The failures.
const (
	// Unavailable: no connection, a time-out, a stream cut, or a 5xx. The turn waits and asks again, without end.
	Unavailable Failure = "unavailable"
	// RateLimited: the same, after ProviderError.RetryAfter.
	RateLimited Failure = "rate_limited"
	// Refused: the request itself is refused (400, 404, 413, 422 ...). The turn fails, and its person is told.
	Refused Failure = "refused"
	// TooLong: the same, because the request is longer than the model takes. A shorter one may be taken.
	TooLong Failure = "too_long"
	// Credential: the key is not accepted (401, 403). The turn fails, and its person is told.
	Credential Failure = "credential"
)

// ProviderError is a failed attempt. Its text may be shown to people: it holds no key and at most some 300 characters.
type ProviderError struct {
	Failure    Failure
	RetryAfter time.Duration // 0: the server named none
	Err        error
}

func (e *ProviderError) Error() string { return fmt.Sprintf("model %s: %v", e.Failure, e.Err) }

// Unwrap returns the cause.
func (e *ProviderError) Unwrap() error { return e.Err }

// AsProviderError returns err as a *ProviderError. An error of another type counts as Unavailable.
func AsProviderError(err error) *ProviderError {
	if e, ok := errors.AsType[*ProviderError](err); ok {
		return e
	}
	return &ProviderError{Failure: Unavailable, Err: err}
}
