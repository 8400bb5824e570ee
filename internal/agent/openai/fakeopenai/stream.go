package fakeopenai

import (
	"fmt"
	"io"
	"net/http"
	"time"
	"unicode/utf8"
)

// StreamStep is one thing that happens in a streamed answer. It returns false when the stream ends with it.
type StreamStep func(*Exchange) bool

// Raw writes text as it is.
func Raw(text string) StreamStep {
	return func(x *Exchange) bool {
		_, err := io.WriteString(x.w, text)
		return err == nil
	}
}

// Event writes one event with that JSON.
func Event(json string) StreamStep { return Raw("data: " + json + "\n\n") }

// Delta writes a chunk with that delta.
func Delta(delta map[string]any) StreamStep { return chunk(delta, nil) }

// Text writes a piece of the answer's text.
func Text(piece string) StreamStep { return Delta(map[string]any{"content": piece}) }

// CallDelta writes a piece of tool calls, as the server spells it.
func CallDelta(calls ...map[string]any) StreamStep { return Delta(map[string]any{"tool_calls": calls}) }

// Finish writes the chunk with the reason for the end.
func Finish(reason string) StreamStep { return chunk(map[string]any{}, reason) }

// Done writes the token counts, when they were asked for, and [DONE].
func Done() StreamStep {
	return func(x *Exchange) bool {
		if x.Ask.IncludeUsage {
			last := map[string]any{"id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 1, "model": x.Ask.Model, "choices": []any{}, "usage": x.usage(40)}
			if !Event(toJSON(last))(x) {
				return false
			}
		}
		return Raw("data: [DONE]\n\n")(x)
	}
}

// Comment writes what keeps a connection alive and says nothing.
func Comment() StreamStep { return Raw(": keep-alive\n\n") }

// Pause waits.
func Pause(d time.Duration) StreamStep { return func(x *Exchange) bool { return x.pause(d) } }

// Stall never goes on.
func Stall() StreamStep { return func(x *Exchange) bool { return x.wait(nil) } }

// Cut breaks the connection off.
func Cut() StreamStep {
	return func(x *Exchange) bool {
		x.flush()
		panic(http.ErrAbortHandler)
	}
}

// Pieces are the steps of a whole answer but its [DONE]: the role, the text in pieces, each call's name and then its
// arguments in pieces, and the finish.
func Pieces(text string, calls ...ToolCall) []StreamStep {
	steps := []StreamStep{Delta(map[string]any{"role": "assistant", "content": ""})}
	for _, p := range cut(text, 12) {
		steps = append(steps, Text(p))
	}
	finish := "stop"
	for i, c := range calls {
		finish = "tool_calls"
		steps = append(steps, CallDelta(map[string]any{"index": i, "id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": ""}}))
		for _, p := range cut(c.Arguments, 9) {
			steps = append(steps, CallDelta(map[string]any{"index": i, "function": map[string]any{"arguments": p}}))
		}
	}
	return append(steps, Finish(finish))
}

func chunk(delta map[string]any, finish any) StreamStep {
	return func(x *Exchange) bool {
		return Event(toJSON(map[string]any{
			"id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 1, "model": x.Ask.Model,
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
		}))(x)
	}
}

// cut splits text between characters, into a bounded number of pieces of at least size bytes.
func cut(text string, size int) []string {
	size = max(size, len(text)/200)
	var out []string
	for len(text) > size {
		n := size
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		out = append(out, text[:n])
		text = text[n:]
	}
	if text != "" {
		out = append(out, text)
	}
	return out
}

// String describes a call for a test's message.
func (c ToolCall) String() string { return fmt.Sprintf("%s(%s) as %s", c.Name, c.Arguments, c.ID) }
