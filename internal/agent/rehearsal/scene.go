package rehearsal

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/homing-gateway/homing/internal/agent"
)

// scene is a request as the rules look at it.
type scene struct {
	request  agent.Request
	subagent bool
	inputs   []input  // what came into the turn: its notices, and the texts of people
	people   []string // what people said in this conversation, oldest first
	brief    string   // the first user-role message
	nextCall int
	size     int // characters, for a guess at tokens
}

// input is one thing to be answered: a machine notice, or the texts of people (for a subagent: its brief).
type input struct {
	notice  *notice
	text    string          // of a notice: its content alone
	results []agent.Message // the tool results that were given since
}

func newScene(r agent.Request) *scene {
	s := &scene{request: r, subagent: isSubagent(r), nextCall: 1, size: len(r.System)}
	if r.Summary && len(r.Messages) > 0 { // a record is one thing, whatever is in it
		record := r.Messages[len(r.Messages)-1].Text
		s.inputs, s.brief, s.size = []input{{text: record}}, record, s.size+len(record)
		return s
	}
	for i, m := range r.Messages {
		s.size += len(m.Text)
		switch m.Role {
		case agent.User:
			m.Text = withoutSummary(m.Text)
			if s.brief == "" {
				s.brief = m.Text
			}
			if i == 0 || r.Messages[i-1].Role != agent.ToolRole {
				s.inputs = nil // a new turn; what comes right after a tool result joins the running one
			}
			s.hear(split(m.Text))
		case agent.Assistant:
			for _, c := range m.Calls {
				s.size += len(c.Arguments)
				if n, err := strconv.Atoi(strings.TrimPrefix(c.ID, "call_")); err == nil && n >= s.nextCall {
					s.nextCall = n + 1
				}
			}
		case agent.ToolRole:
			if m.Name == "" {
				m.Name = nameOf(r.Messages[:i], m.CallID)
			}
			for j := range s.inputs {
				s.inputs[j].results = append(s.inputs[j].results, m)
			}
		}
	}
	return s
}

func (s *scene) hear(inputs []input) {
	s.inputs = append(s.inputs, inputs...)
	for _, in := range inputs {
		if in.notice == nil {
			s.people = append(s.people, in.text)
		}
	}
}

// isSubagent tells by the session's id, and where there is none by the tools: a leaf child cannot delegate.
func isSubagent(r agent.Request) bool {
	if r.Session != "" {
		return strings.HasPrefix(r.Session, "sub_")
	}
	for _, t := range r.Tools {
		if t.Name == "delegate_task" {
			return false
		}
	}
	return len(r.Tools) > 0
}

func nameOf(messages []agent.Message, callID string) string {
	for _, message := range slices.Backward(messages) {
		for _, c := range message.Calls {
			if c.ID == callID {
				return c.Name
			}
		}
	}
	return ""
}

// last is the newest tool result since the input; ok is false when there is none.
func (in input) last() (m agent.Message, ok bool) {
	if len(in.results) == 0 {
		return agent.Message{}, false
	}
	return in.results[len(in.results)-1], true
}

// text is what is said to one input when no tool is called.
func (s *scene) text(l line) string {
	if l.rule != nil {
		return l.rule.say.render(s, l)
	}
	if s.request.Summary {
		return "The rehearsal agent sums up, without a model. The conversation began: " + shorten(strings.Join(strings.Fields(l.input.text), " "))
	}
	if n := l.input.notice; n != nil {
		return strings.TrimSpace(fmt.Sprintf("A notice came that the script has no rule for: %s %s %s.\n\n%s", n.kind, n.id, n.status, l.input.text))
	}
	if last, ok := l.input.last(); ok {
		return fmt.Sprintf("%s answered: %s", last.Name, shorten(last.Text))
	}
	return ""
}

// calls are the tool calls of a line. Their ids go on counting from those in the request.
func (s *scene) calls(l line) []agent.Call {
	out := make([]agent.Call, 0, len(l.rule.calls))
	for i, c := range l.rule.calls {
		arguments, err := json.Marshal(fill(c.args, s, l))
		if err != nil {
			arguments = []byte("{}") // a script's values always marshal
		}
		out = append(out, agent.Call{ID: fmt.Sprintf("call_%d", s.nextCall+i), Name: c.tool, Arguments: string(arguments)})
	}
	return out
}

// fill renders the templates inside a call's arguments.
func fill(v any, s *scene, l line) any {
	switch v := v.(type) {
	case template:
		return v.render(s, l)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = fill(v[i], s, l)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key := range v {
			out[key] = fill(v[key], s, l)
		}
		return out
	}
	return v
}

// lastID is the newest id of a kind in the conversation, such as proc_….
func (s *scene) lastID(kind string) string {
	id := regexp.MustCompile(`\b` + regexp.QuoteMeta(kind) + `_[0-9A-Za-z]{6,}`)
	for _, m := range slices.Backward(s.request.Messages) {

		if m.Role == agent.Assistant {
			continue // what was said or asked for is no evidence
		}
		if found := id.FindAllString(m.Text, -1); len(found) > 0 {
			return found[len(found)-1]
		}
	}
	return ""
}

// field is a part of a JSON text, named by keys and numbers with dots between.
func field(text, path string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return ""
	}
	for key := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[key]
		case []any:
			n, err := strconv.Atoi(key)
			if err != nil || n < 0 || n >= len(in) {
				return ""
			}
			v = in[n]
		default:
			return ""
		}
	}
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	out, _ := json.Marshal(v) // it came from JSON
	return string(out)
}

func shorten(text string) string {
	const most = 300
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
