package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/homing-gateway/homing/internal/agent"
)

// noSchema is sent for a tool that takes no arguments.
const noSchema = `{"type":"object","properties":{}}`

func (p *Provider) request(r agent.Request) goopenai.ChatCompletionRequest {
	body := goopenai.ChatCompletionRequest{Model: r.Model}
	if body.Model == "" {
		body.Model = p.model
	}
	if r.System != "" {
		body.Messages = append(body.Messages, goopenai.ChatCompletionMessage{Role: goopenai.ChatMessageRoleSystem, Content: r.System})
	}
	for _, m := range r.Messages {
		body.Messages = append(body.Messages, message(m))
	}
	for _, t := range r.Tools {
		schema := t.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(noSchema)
		}
		body.Tools = append(body.Tools, goopenai.Tool{
			Type:     goopenai.ToolTypeFunction,
			Function: &goopenai.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: schema},
		})
	}
	return body
}

// withoutImages is a request that says in words that images are left out; false when it has none.
func withoutImages(r agent.Request) (agent.Request, bool) {
	had := false
	messages := make([]agent.Message, len(r.Messages))
	for i, m := range r.Messages {
		if n := len(m.Images); n > 0 {
			had, m.Images = true, nil
			m.Text += fmt.Sprintf("\n\n(%d image(s) could not be shown to you: the model server did not take them.)", n)
		}
		messages[i] = m
	}
	r.Messages = messages
	return r, had
}

func message(m agent.Message) goopenai.ChatCompletionMessage {
	out := goopenai.ChatCompletionMessage{Role: string(m.Role), Content: m.Text}
	switch {
	case len(m.Images) > 0:
		out.Content = ""
		if m.Text != "" {
			out.MultiContent = append(out.MultiContent, goopenai.ChatMessagePart{Type: goopenai.ChatMessagePartTypeText, Text: m.Text})
		}
		for _, i := range m.Images {
			url := "data:" + i.MIME + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
			out.MultiContent = append(out.MultiContent, goopenai.ChatMessagePart{
				Type: goopenai.ChatMessagePartTypeImageURL, ImageURL: &goopenai.ChatMessageImageURL{URL: url},
			})
		}
	case m.Role == agent.ToolRole:
		out.ToolCallID = m.CallID // a name is not in the protocol, and strict servers refuse it
	case len(m.Calls) > 0:
		for _, c := range m.Calls {
			out.ToolCalls = append(out.ToolCalls, toolCall(c))
		}
	case m.Text == "" && m.Role == agent.Assistant:
		out.Content = "(no answer)" // several servers refuse an empty assistant message for ever after
	case m.Text == "":
		out.Content = "(empty message)"
	}
	return out
}

func toolCall(c agent.Call) goopenai.ToolCall {
	if c.Name == "" {
		c.Name = "unknown"
	}
	return goopenai.ToolCall{
		ID: c.ID, Type: goopenai.ToolTypeFunction,
		Function: goopenai.FunctionCall{Name: c.Name, Arguments: arguments(c.Arguments)},
	}
}

// arguments spells a call's arguments for the history. OpenAI takes any text, but vLLM, SGLang, llama.cpp and Ollama parse
// it and refuse whatever is no JSON object, with 400 or even 500, and then the conversation is stuck: every later request
// repeats the broken call. So what is no object goes inside one, and the model still reads what it wrote.
func arguments(text string) string {
	if text == "" {
		return "{}"
	}
	trimmed := bytes.TrimSpace([]byte(text))
	if len(trimmed) > 0 && trimmed[0] == '{' && json.Valid(trimmed) {
		return text
	}
	wrapped, _ := json.Marshal(map[string]string{"invalid_arguments": text}) // a map of strings always marshals
	return string(wrapped)
}

// spellContent names the content of messages that have none: the library leaves the key out, which strict servers refuse.
// A call without text has null there, as OpenAI writes it; an empty tool result is the empty string. A quote inside a JSON
// string is always escaped, so these texts cannot be met within one.
func spellContent(body []byte) []byte {
	body = bytes.ReplaceAll(body, []byte(`{"role":"assistant","tool_calls":[`), []byte(`{"role":"assistant","content":null,"tool_calls":[`))
	return bytes.ReplaceAll(body, []byte(`{"role":"tool","tool_call_id":`), []byte(`{"role":"tool","content":"","tool_call_id":`))
}
