package fakeopenai

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Ask is one request to the model.
type Ask struct {
	Model        string
	Stream       bool
	IncludeUsage bool
	Messages     []Message
	Tools        []string
	Key          string
	Header       http.Header
	Body         []byte
}

// Message is one message of a request.
type Message struct {
	Role    string
	Text    string
	NoText  bool // content is null
	CallID  string
	Tool    string // of a result: the name of the tool that was called
	Calls   []ToolCall
	Content json.RawMessage // as it was sent; nil when it was left out
	Images  []string        // addresses of the images in it
}

// parts reads a content that is a list.
func (m *Message) parts() {
	var list []struct {
		Text  string
		Image struct{ URL string } `json:"image_url"`
	}
	_ = json.Unmarshal(m.Content, &list)
	for _, p := range list {
		m.Text += p.Text
		if p.Image.URL != "" {
			m.Images = append(m.Images, p.Image.URL)
		}
	}
}

// ToolCall is a call that the model makes, or made.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string
}

func readAsk(r *http.Request, body []byte) (Ask, error) {
	var in struct {
		Model         string
		Stream        bool
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
		Messages []struct {
			Role       string
			Content    json.RawMessage
			ToolCallID string `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		Tools []struct{ Function struct{ Name string } }
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Ask{}, err
	}
	if len(in.Messages) == 0 {
		return Ask{}, errors.New("messages is empty")
	}
	ask := Ask{
		Model: in.Model, Stream: in.Stream, IncludeUsage: in.StreamOptions.IncludeUsage,
		Key: bearer(r.Header), Header: r.Header.Clone(), Body: body,
	}
	names := map[string]string{}
	for _, m := range in.Messages {
		out := Message{Role: m.Role, Content: m.Content, CallID: m.ToolCallID, Tool: names[m.ToolCallID], NoText: string(m.Content) == "null"}
		if json.Unmarshal(m.Content, &out.Text) != nil {
			out.parts()
		}
		for _, c := range m.ToolCalls {
			out.Calls = append(out.Calls, ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
			names[c.ID] = c.Function.Name
		}
		ask.Messages = append(ask.Messages, out)
	}
	for _, t := range in.Tools {
		ask.Tools = append(ask.Tools, t.Function.Name)
	}
	return ask, nil
}

// System is the system prompt.
func (a Ask) System() string { return a.find("system", false) }

// Brief is the first user message: a subagent's brief.
func (a Ask) Brief() string { return a.find("user", false) }

// Said is the last user message: what opened the turn.
func (a Ask) Said() string { return a.find("user", true) }

func (a Ask) find(role string, last bool) string {
	text := ""
	for _, m := range a.Messages {
		if m.Role == role {
			if text = m.Text; !last {
				break
			}
		}
	}
	return text
}

// Results are the tool results since the turn began.
func (a Ask) Results() []Message {
	var out []Message
	for _, m := range slices.Backward(a.Messages) {
		if m.Role == "user" {
			break
		}
		if m.Role == "tool" {
			out = append(out, m)
		}
	}
	slices.Reverse(out)
	return out
}

// LastResult is the text of the last tool result of the turn.
func (a Ask) LastResult() string {
	if r := a.Results(); len(r) > 0 {
		return r[len(r)-1].Text
	}
	return ""
}

// Field is a top-level field of the newest tool result that has it, as text: how a script uses an id that it was given.
func (a Ask) Field(name string) string {
	for _, m := range slices.Backward(a.Messages) {
		var fields map[string]json.RawMessage
		if m.Role != "tool" || json.Unmarshal([]byte(m.Text), &fields) != nil || fields[name] == nil {
			continue
		}
		var text string
		if json.Unmarshal(fields[name], &text) != nil {
			text = string(fields[name])
		}
		return text
	}
	return ""
}

// Match tells whether a rule is for a request.
type Match func(Ask) bool

// Rule is a match with its answers.
type Rule struct {
	match   Match
	answers []Answer

	mu   sync.Mutex
	hits int
}

// Hits is how often the rule has answered.
func (r *Rule) Hits() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hits
}

func (r *Rule) take() Answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hits++
	if len(r.answers) == 0 {
		return Say(Unscripted)
	}
	return r.answers[min(r.hits, len(r.answers))-1]
}

// Anything matches every request.
func Anything() Match { return func(Ask) bool { return true } }

// Says matches when the turn was opened by a text that contains part.
func Says(part string) Match { return func(a Ask) bool { return strings.Contains(a.Said(), part) } }

// Brief matches requests of the subagent whose brief begins with goal.
func Brief(goal string) Match { return func(a Ask) bool { return strings.HasPrefix(a.Brief(), goal) } }

// Notice matches when the turn was opened by a machine notice of the kind that contains all parts.
func Notice(kind string, parts ...string) Match {
	return func(a Ask) bool {
		text := a.Said()
		if !strings.HasPrefix(text, "[homing:") || !strings.Contains("\n"+text, "\n[homing:"+kind+" ") {
			return false
		}
		return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(text, p) })
	}
}

// Step matches when n tool results were given since the turn began.
func Step(n int) Match { return func(a Ask) bool { return len(a.Results()) == n } }

// AfterStep matches when at least n tool results were given since the turn began.
func AfterStep(n int) Match { return func(a Ask) bool { return len(a.Results()) >= n } }

// Result matches when the last tool result of the turn contains part.
func Result(part string) Match {
	return func(a Ask) bool { return len(a.Results()) > 0 && strings.Contains(a.LastResult(), part) }
}

// Summary matches requests for a summary of a conversation: they offer no tool, and what they hold is a record. Rules that
// look for words would find them there as well, so the rule for summaries goes first.
func Summary() Match {
	return func(a Ask) bool { return len(a.Tools) == 0 && strings.Contains(a.System(), "summary") }
}

// Offers matches requests that offer the tool to the model.
func Offers(tool string) Match { return func(a Ask) bool { return slices.Contains(a.Tools, tool) } }

// All matches when all do.
func All(ms ...Match) Match {
	return func(a Ask) bool { return !slices.ContainsFunc(ms, func(m Match) bool { return !m(a) }) }
}

// Either matches when one does.
func Either(ms ...Match) Match {
	return func(a Ask) bool { return slices.ContainsFunc(ms, func(m Match) bool { return m(a) }) }
}

// Not matches when m does not.
func Not(m Match) Match { return func(a Ask) bool { return !m(a) } }
