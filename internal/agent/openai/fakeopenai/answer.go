package fakeopenai

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Exchange is a request that is being answered.
type Exchange struct {
	Ask Ask

	w      http.ResponseWriter
	r      *http.Request
	server *Server
	began  bool // the stream's head is written
}

// Answer answers one request. It may be used for any number of them, at the same time.
type Answer func(*Exchange)

// Say answers with a text: streamed, when a stream was asked for.
func Say(text string) Answer { return Reply(text) }

// Call answers with one tool call. args is marshalled to JSON; a string is taken as it is, JSON or not.
func Call(tool string, args any) Answer { return Reply("", NewCall(tool, args)) }

// NewCall makes a call for Reply. It is numbered when it is answered with.
func NewCall(tool string, args any) ToolCall {
	text, ok := args.(string)
	if !ok {
		text = toJSON(args)
	}
	return ToolCall{Name: tool, Arguments: text}
}

// Reply answers with a text and calls.
func Reply(text string, calls ...ToolCall) Answer {
	return func(x *Exchange) {
		calls := x.number(calls)
		if !x.Ask.Stream {
			x.document(text, calls)
			return
		}
		x.play(append(Pieces(text, calls...), Done()))
	}
}

// Plain answers with a JSON document, also when a stream was asked for, as some servers do.
func Plain(text string, calls ...ToolCall) Answer {
	return func(x *Exchange) { x.document(text, x.number(calls)) }
}

// Dynamic lets f choose the answer.
func Dynamic(f func(Ask) Answer) Answer { return func(x *Exchange) { f(x.Ask)(x) } }

// Held answers when gate is closed.
func Held(gate <-chan struct{}, a Answer) Answer {
	return func(x *Exchange) {
		if x.wait(gate) {
			a(x)
		}
	}
}

// After answers after a time.
func After(d time.Duration, a Answer) Answer {
	return func(x *Exchange) {
		if x.pause(d) {
			a(x)
		}
	}
}

// Hang never answers.
func Hang() Answer { return func(x *Exchange) { x.wait(nil) } }

// Abandoned never answers, and closes gone when the client has given it up.
func Abandoned(gone chan<- struct{}) Answer {
	return func(x *Exchange) {
		if x.wait(nil); x.r.Context().Err() != nil {
			close(gone)
		}
	}
}

// Drop cuts the connection without a byte.
func Drop() Answer { return func(*Exchange) { panic(http.ErrAbortHandler) } }

// Fail answers with an error as OpenAI writes it. header are names and values in turn, such as "Retry-After", "3".
func Fail(status int, message string, header ...string) Answer {
	return FailAs(status, "fake_error", message, header...)
}

// FailAs is Fail with a code, such as insufficient_quota.
func FailAs(status int, code, message string, header ...string) Answer {
	return Page(status, "application/json", toJSON(map[string]any{"error": map[string]any{
		"message": message, "type": code, "param": nil, "code": code,
	}}), header...)
}

// TooLong refuses the request as longer than the model takes, as OpenAI writes it.
func TooLong() Answer {
	return FailAs(http.StatusBadRequest, "context_length_exceeded", "This model's maximum context length is 8192 tokens. Please reduce the length of the messages.")
}

// Page answers with any body.
func Page(status int, contentType, body string, header ...string) Answer {
	return func(x *Exchange) {
		x.w.Header().Set("Content-Type", contentType)
		for i := 0; i+1 < len(header); i += 2 {
			x.w.Header().Set(header[i], header[i+1])
		}
		x.w.WriteHeader(status)
		_, _ = io.WriteString(x.w, body)
	}
}

// Stream answers with a stream of these steps and nothing else: what is not among them (a finish, [DONE]) is not sent.
func Stream(steps ...StreamStep) Answer { return func(x *Exchange) { x.play(steps) } }

func (x *Exchange) play(steps []StreamStep) {
	if !x.began {
		x.began = true
		x.w.Header().Set("Content-Type", "text/event-stream")
		x.w.WriteHeader(http.StatusOK)
		x.flush()
	}
	for _, step := range steps {
		if !step(x) {
			return
		}
		x.flush()
	}
}

func (x *Exchange) flush() { _ = http.NewResponseController(x.w).Flush() }

// wait waits for gate; false when the client or the server went away first.
func (x *Exchange) wait(gate <-chan struct{}) bool {
	select {
	case <-gate:
		return true
	case <-x.r.Context().Done():
	case <-x.server.closed:
	}
	return false
}

func (x *Exchange) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-x.r.Context().Done():
	case <-x.server.closed:
	}
	return false
}

func (x *Exchange) number(calls []ToolCall) []ToolCall {
	out := append([]ToolCall(nil), calls...)
	for i := range out {
		if out[i].ID == "" {
			out[i].ID = x.server.callID()
		}
	}
	return out
}

// document answers with a whole completion.
func (x *Exchange) document(text string, calls []ToolCall) {
	message := map[string]any{"role": "assistant", "content": text}
	finish := "stop"
	if len(calls) > 0 {
		finish = "tool_calls"
		if text == "" {
			message["content"] = nil
		}
		list := []any{}
		for _, c := range calls {
			list = append(list, map[string]any{"id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": c.Arguments}})
		}
		message["tool_calls"] = list
	}
	writeJSON(x.w, http.StatusOK, map[string]any{
		"id": "chatcmpl-fake", "object": "chat.completion", "created": 1, "model": x.Ask.Model, "usage": x.usage(len(text)),
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}},
	})
}

func (x *Exchange) usage(length int) map[string]any {
	in, out := len(x.Ask.Body)/4, length/4+1
	return map[string]any{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out}
}

func writeError(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "param": nil, "code": nil}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, toJSON(v))
}

func toJSON(v any) string {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("fakeopenai: %v", err)) // a test gave something that is no JSON
	}
	return strings.TrimSpace(out.String())
}
