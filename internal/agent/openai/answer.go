package openai

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"

	"github.com/homing-gateway/homing/internal/agent"
)

// event is a chunk of a stream, or a whole answer. It is read loosely: servers differ in what they leave out and in types.
type event struct {
	Choices []struct {
		Index        int             `json:"index"`
		Delta        *part           `json:"delta"`
		Message      *part           `json:"message"`
		FinishReason json.RawMessage `json:"finish_reason"`
	} `json:"choices"`
	Usage json.RawMessage `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type part struct {
	Content   json.RawMessage `json:"content"`
	Refusal   json.RawMessage `json:"refusal"`
	ToolCalls []callPart      `json:"tool_calls"`
}

type callPart struct {
	Index    *int            `json:"index"`
	ID       json.RawMessage `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// answer is put together from events.
type answer struct {
	onText  func(string)
	started bool   // a choice was seen
	finish  string // why the model stopped; empty: it has not
	text    strings.Builder
	calls   []*callSoFar
	in, out int
}

type callSoFar struct {
	index     int // as the server numbers it; -1: it does not
	id, name  string
	arguments strings.Builder
}

// add takes one event. A complaint is an error that the server reports inside its answer.
func (a *answer) add(raw []byte) (*complaint, error) {
	var e event
	if err := json.Unmarshal(raw, &e); err != nil {
		return nil, err
	}
	if isSet(e.Error) {
		c := readComplaint(raw)
		return &c, nil
	}
	a.count(e.Usage)
	for _, c := range e.Choices {
		if c.Index != 0 {
			continue
		}
		a.started = true
		for _, p := range []*part{c.Delta, c.Message} {
			if p != nil {
				a.say(content(p.Content))
				a.say(loose(p.Refusal))
				for _, call := range p.ToolCalls {
					a.call(call)
				}
			}
		}
		if reason := strings.ToLower(loose(c.FinishReason)); reason != "" {
			a.finish = reason
		}
	}
	return nil, nil
}

func (a *answer) say(piece string) {
	if piece == "" {
		return
	}
	a.text.WriteString(piece)
	if a.onText != nil {
		a.onText(piece)
	}
}

// call adds a piece of a tool call, or a whole one, to the call that it belongs to.
func (a *answer) call(p callPart) {
	id, arguments := loose(p.ID), loose(p.Function.Arguments)
	c := a.open(p, id)
	if c == nil {
		c = &callSoFar{index: -1, id: id}
		if p.Index != nil {
			c.index = *p.Index
		}
		a.calls = append(a.calls, c)
	}
	if c.id == "" {
		c.id = id
	}
	if c.name == "" {
		c.name = p.Function.Name // some servers repeat it with every piece
	}
	c.arguments.WriteString(arguments)
}

// open returns the call that the piece goes on with, nil when it begins another one.
func (a *answer) open(p callPart, id string) *callSoFar {
	for _, c := range slices.Backward(a.calls) {

		switch {
		case p.Index != nil && c.index != *p.Index:
			continue
		case id != "" && c.id == id:
			return c
		case p.Function.Name == "":
			return c // a piece of arguments only, whatever its id
		case id != "" && c.id != "":
			continue // whole calls, all numbered 0
		case json.Valid([]byte(c.arguments.String())):
			continue // the call before is complete, and this one has a name of its own
		}
		return c
	}
	return nil
}

func (a *answer) count(raw json.RawMessage) {
	var u struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	}
	if isSet(raw) && json.Unmarshal(raw, &u) == nil && u.Prompt+u.Completion > 0 {
		a.in, a.out = u.Prompt, u.Completion
	}
}

func (a *answer) empty() bool { return a.text.Len() == 0 && len(a.calls) == 0 }

// response is the whole answer. Every call has an id that no other call of the answer has.
func (a *answer) response() agent.Response {
	r := agent.Response{Text: a.text.String(), Truncated: a.finish == "length", InputTokens: a.in, OutputTokens: a.out}
	seen := map[string]bool{}
	for _, c := range a.calls {
		if c.name == "" && c.arguments.Len() == 0 {
			continue
		}
		if c.id == "" || seen[c.id] {
			c.id = "call_" + rand.Text()
		}
		seen[c.id] = true
		call := agent.Call{ID: c.id, Name: c.name, Arguments: c.arguments.String()}
		if call.Arguments == "" {
			call.Arguments = "{}" // how many servers write a call without arguments
		}
		r.Calls = append(r.Calls, call)
	}
	return r
}

func isSet(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// loose reads a text that some servers write as another type: that type's JSON is the text then.
func loose(raw json.RawMessage) string {
	if !isSet(raw) {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var flat bytes.Buffer
	if json.Compact(&flat, raw) != nil {
		return string(raw)
	}
	return flat.String()
}

// content reads a message's content: a text, or a list of parts of which the texts count.
func content(raw json.RawMessage) string {
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &parts) != nil {
		return loose(raw)
	}
	var text strings.Builder
	for _, p := range parts {
		if p.Type == "text" || p.Type == "output_text" {
			text.WriteString(p.Text)
		}
	}
	return text.String()
}
