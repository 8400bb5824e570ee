package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/agent/openai"
	"github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

const key = "sk-rehearsed/0123456789+abcdef"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start returns a fake server and a provider that asks it. silence is the provider's RequestTimeout.
func start(t *testing.T, silence time.Duration) (*fakeopenai.Server, *openai.Provider) {
	t.Helper()
	fake := fakeopenai.New()
	t.Cleanup(fake.Close)
	p := openai.New(openai.Options{BaseURL: fake.URL(), APIKey: key, Model: "m-1", RequestTimeout: silence})
	t.Cleanup(p.Close)
	return fake, p
}

func question(text string) agent.Request {
	return agent.Request{System: "be brief", Messages: []agent.Message{{Role: agent.User, Text: text}}}
}

// wantFailure checks an error's kind, and that it can be shown.
func wantFailure(t *testing.T, err error, want agent.Failure) *agent.ProviderError {
	t.Helper()
	e, ok := errors.AsType[*agent.ProviderError](err)
	if !ok {
		t.Fatalf("got %v, want a ProviderError", err)
	}
	if e.Failure != want {
		t.Errorf("failure: got %v (%v), want %v", e.Failure, e, want)
	}
	if text := e.Error(); strings.Contains(text, key) || len(text) > 400 {
		t.Errorf("this cannot be shown: %s", text)
	}
	return e
}

func TestTheStreamedTextComesInPieces(t *testing.T) {
	fake, p := start(t, 0)
	want := "Bonjour, le monde: ça va? 你好，世界。"
	fake.Next(fakeopenai.Say(want))
	var pieces []string
	got, err := p.Complete(t.Context(), question("hello"), func(piece string) { pieces = append(pieces, piece) })
	if err != nil {
		t.Fatal(err)
	}
	if got.Text != want || len(got.Calls) != 0 || got.InputTokens == 0 || got.OutputTokens == 0 {
		t.Errorf("got %+v", got)
	}
	if strings.Join(pieces, "") != want || len(pieces) < 3 {
		t.Errorf("pieces: %q", pieces)
	}
	ask := fake.Asks()[0]
	if !ask.Stream || !ask.IncludeUsage || ask.Key != key || ask.Model != "m-1" {
		t.Errorf("asked: stream %v, usage %v, model %q", ask.Stream, ask.IncludeUsage, ask.Model)
	}
}

func TestAnswersOfManyKindsOfServers(t *testing.T) {
	done := func(steps ...fakeopenai.StreamStep) fakeopenai.Answer {
		return fakeopenai.Stream(append(steps, fakeopenai.Raw("data: [DONE]\n\n"))...)
	}
	function := func(name, arguments string) map[string]any {
		return map[string]any{"name": name, "arguments": arguments}
	}
	two := []agent.Call{{ID: "a", Name: "terminal", Arguments: `{"command":"ls"}`}, {ID: "b", Name: "terminal", Arguments: `{"command":"pwd"}`}}
	for _, tt := range []struct {
		name   string
		answer fakeopenai.Answer
		want   agent.Response
		anyID  bool
	}{
		{
			name:   "text and calls in pieces",
			answer: fakeopenai.Reply("Let me look.", fakeopenai.ToolCall{ID: "a", Name: "terminal", Arguments: two[0].Arguments}, fakeopenai.ToolCall{ID: "b", Name: "terminal", Arguments: two[1].Arguments}),
			want:   agent.Response{Text: "Let me look.", Calls: two},
		},
		{
			name:   "a JSON document in answer to a stream request",
			answer: fakeopenai.Plain("hi", fakeopenai.ToolCall{ID: "a", Name: "terminal", Arguments: two[0].Arguments}),
			want:   agent.Response{Text: "hi", Calls: two[:1]},
		},
		{
			name: "an indented document with content parts and arguments as an object",
			answer: fakeopenai.Page(200, "text/plain", "\n{\n \"choices\": [\n  {\"message\": {\"content\": [{\"type\":\"thinking\",\"text\":\"hm\"},{\"type\":\"text\",\"text\":\"hi\"}],"+
				"\n \"tool_calls\": [{\"function\": {\"name\": \"terminal\", \"arguments\": {\"command\": \"ls\"}}}]}}]}\n"),
			want: agent.Response{Text: "hi", Calls: []agent.Call{{Name: "terminal", Arguments: `{"command":"ls"}`}}}, anyID: true,
		},
		{
			name: "whole calls at once, all with index 0",
			answer: done(fakeopenai.CallDelta(map[string]any{"index": 0, "id": "a", "function": function("terminal", two[0].Arguments)}),
				fakeopenai.CallDelta(map[string]any{"index": 0, "id": "b", "function": function("terminal", two[1].Arguments)})),
			want: agent.Response{Calls: two},
		},
		{
			name: "whole calls without index",
			answer: done(fakeopenai.CallDelta(map[string]any{"id": "a", "function": function("terminal", two[0].Arguments)},
				map[string]any{"id": "b", "function": function("terminal", two[1].Arguments)})),
			want: agent.Response{Calls: two},
		},
		{
			name: "neither index nor id",
			answer: done(fakeopenai.CallDelta(map[string]any{"function": function("terminal", two[0].Arguments)}),
				fakeopenai.CallDelta(map[string]any{"function": function("terminal", two[1].Arguments)})),
			want: agent.Response{Calls: two}, anyID: true,
		},
		{
			name: "pieces that repeat id and name",
			answer: done(fakeopenai.CallDelta(map[string]any{"index": 0, "id": "a", "function": function("terminal", `{"comm`)}),
				fakeopenai.CallDelta(map[string]any{"index": 0, "id": "a", "function": function("terminal", `and":"ls"}`)})),
			want: agent.Response{Calls: two[:1]},
		},
		{
			name: "pieces without id interleaved by index",
			answer: done(fakeopenai.CallDelta(map[string]any{"index": 0, "id": "a", "function": function("terminal", `{"comm`)}, map[string]any{"index": 1, "id": "b", "function": function("terminal", `{"comm`)}),
				fakeopenai.CallDelta(map[string]any{"index": 1, "function": function("", `and":"pwd"}`)}, map[string]any{"index": 0, "function": function("", `and":"ls"}`)})),
			want: agent.Response{Calls: two},
		},
		{
			name: "the same id twice",
			answer: done(fakeopenai.CallDelta(map[string]any{"index": 0, "id": "a", "function": function("terminal", two[0].Arguments)}),
				fakeopenai.CallDelta(map[string]any{"index": 1, "id": "a", "function": function("terminal", two[1].Arguments)})),
			want: agent.Response{Calls: two}, anyID: true,
		},
		{
			name:   "arguments that are no JSON pass through, and none at all is an empty object",
			answer: done(fakeopenai.CallDelta(map[string]any{"index": 0, "id": "a", "function": function("terminal", `{"command": ls`)}, map[string]any{"index": 1, "id": "b", "function": function("list", "")})),
			want:   agent.Response{Calls: []agent.Call{{ID: "a", Name: "terminal", Arguments: `{"command": ls`}, {ID: "b", Name: "list", Arguments: "{}"}}},
		},
		{
			name:   "empty choices first, comments between, a refusal as text, usage without a request for it",
			answer: done(fakeopenai.Event(`{"choices":[],"prompt_filter_results":[]}`), fakeopenai.Comment(), fakeopenai.Raw("event: message\n"), fakeopenai.Event(`{"choices":[{"delta":{"refusal":"No."}}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`)),
			want:   agent.Response{Text: "No.", InputTokens: 3, OutputTokens: 1},
		},
		{
			name:   "a finish in capitals, and no [DONE]",
			answer: fakeopenai.Stream(fakeopenai.Text("hi"), fakeopenai.Finish("STOP")),
			want:   agent.Response{Text: "hi"},
		},
		{
			name:   "[DONE] without a finish, no blank after the colon, no newline at the end",
			answer: fakeopenai.Stream(fakeopenai.Raw(`data:{"choices":[{"delta":{"content":"hi"},"finish_reason":null}]}` + "\r\n\r\ndata:[DONE]")),
			want:   agent.Response{Text: "hi"},
		},
		{
			name:   "cut after the finish",
			answer: fakeopenai.Stream(fakeopenai.Text("hi"), fakeopenai.Finish("stop"), fakeopenai.Cut()),
			want:   agent.Response{Text: "hi"},
		},
		{
			name:   "the token limit cuts the answer: that is told",
			answer: done(fakeopenai.Text("and then"), fakeopenai.Finish("length")),
			want:   agent.Response{Text: "and then", Truncated: true},
		},
		{
			name:   "an empty answer",
			answer: done(fakeopenai.Finish("stop")),
			want:   agent.Response{},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fake, p := start(t, 0)
			fake.Next(tt.answer)
			got, err := p.Complete(t.Context(), question("go"), nil)
			if err != nil {
				t.Fatal(err)
			}
			if tt.want.InputTokens == 0 {
				got.InputTokens, got.OutputTokens = 0, 0
			}
			tt.want.Calls = slices.Clone(tt.want.Calls)
			ids := map[string]bool{}
			for i := range got.Calls {
				if ids[got.Calls[i].ID] || got.Calls[i].ID == "" {
					t.Errorf("id of call %d: %q", i, got.Calls[i].ID)
				}
				ids[got.Calls[i].ID] = true
				if tt.anyID {
					got.Calls[i].ID = ""
					tt.want.Calls[i].ID = ""
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheRequestIsSpelledForStrictServers(t *testing.T) {
	fake, p := start(t, 0)
	fake.When(fakeopenai.Anything(), fakeopenai.Say("ok"))
	_, err := p.Complete(t.Context(), agent.Request{
		Model: "m-2", System: "be brief", Session: "ses_01",
		Messages: []agent.Message{
			{Role: agent.User, Text: `say {"role":"assistant","tool_calls":[ and <b>`},
			{Role: agent.Assistant, Calls: []agent.Call{
				{ID: "a", Name: "terminal", Arguments: `{"command":"ls"}`},
				{ID: "b", Name: "terminal", Arguments: `{"command": ls`},
				{ID: "c", Name: "terminal", Arguments: `["ls"]`},
				{ID: "d", Name: "list"},
			}},
			{Role: agent.ToolRole, CallID: "a", Name: "terminal", Text: ""},
			{Role: agent.ToolRole, CallID: "b", Name: "terminal", Text: "no JSON"},
			{Role: agent.ToolRole, CallID: "c", Name: "terminal", Text: "no object"},
			{Role: agent.ToolRole, CallID: "d", Name: "list", Text: "[]"},
			{Role: agent.Assistant, Text: ""},
			{Role: agent.User, Text: "go on"},
			{Role: agent.Assistant, Text: "Looking.", Calls: []agent.Call{{ID: "e", Name: "list", Arguments: "{}"}}},
			{Role: agent.ToolRole, CallID: "e", Name: "list", Text: "[]"},
		},
		Tools: []agent.Tool{
			{Name: "terminal", Description: "runs", Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}}}`)},
			{Name: "list"},
		},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal(fake.Asks()[0].Body, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(`{
		"model": "m-2", "stream": true, "stream_options": {"include_usage": true},
		"messages": [
			{"role": "system", "content": "be brief"},
			{"role": "user", "content": "say {\"role\":\"assistant\",\"tool_calls\":[ and <b>"},
			{"role": "assistant", "content": null, "tool_calls": [
				{"id": "a", "type": "function", "function": {"name": "terminal", "arguments": "{\"command\":\"ls\"}"}},
				{"id": "b", "type": "function", "function": {"name": "terminal", "arguments": "{\"invalid_arguments\":\"{\\\"command\\\": ls\"}"}},
				{"id": "c", "type": "function", "function": {"name": "terminal", "arguments": "{\"invalid_arguments\":\"[\\\"ls\\\"]\"}"}},
				{"id": "d", "type": "function", "function": {"name": "list", "arguments": "{}"}}
			]},
			{"role": "tool", "content": "", "tool_call_id": "a"},
			{"role": "tool", "content": "no JSON", "tool_call_id": "b"},
			{"role": "tool", "content": "no object", "tool_call_id": "c"},
			{"role": "tool", "content": "[]", "tool_call_id": "d"},
			{"role": "assistant", "content": "(no answer)"},
			{"role": "user", "content": "go on"},
			{"role": "assistant", "content": "Looking.", "tool_calls": [{"id": "e", "type": "function", "function": {"name": "list", "arguments": "{}"}}]},
			{"role": "tool", "content": "[]", "tool_call_id": "e"}
		],
		"tools": [
			{"type": "function", "function": {"name": "terminal", "description": "runs", "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}}},
			{"type": "function", "function": {"name": "list", "parameters": {"type": "object", "properties": {}}}}
		]
	}`), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAServerWithoutStreamOptionsIsAskedWithoutThemFromThenOn(t *testing.T) {
	fake, p := start(t, 0)
	fake.When(func(a fakeopenai.Ask) bool { return a.IncludeUsage }, fakeopenai.Fail(http.StatusBadRequest, "Unrecognized request argument supplied: stream_options"))
	fake.When(fakeopenai.Anything(), fakeopenai.Say("ok"))
	for range 2 {
		if got, err := p.Complete(t.Context(), question("hello"), nil); err != nil || got.Text != "ok" {
			t.Fatalf("got %+v, %v", got, err)
		}
	}
	if n := len(fake.Asks()); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
}

func TestManyAtOnce(t *testing.T) {
	fake, p := start(t, time.Minute)
	fake.When(func(a fakeopenai.Ask) bool { return a.IncludeUsage }, fakeopenai.Fail(http.StatusBadRequest, "unknown field stream_options"))
	fake.When(fakeopenai.Anything(), fakeopenai.Dynamic(func(a fakeopenai.Ask) fakeopenai.Answer { return fakeopenai.Say("to " + a.Said()) }))
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			text := strconv.Itoa(i)
			if got, err := p.Complete(t.Context(), question(text), nil); err != nil || got.Text != "to "+text {
				t.Errorf("%s: got %+v, %v", text, got, err)
			}
		})
	}
	wg.Wait()
}

func TestToolsGoToModelsThatTakeThemOnlyWithoutReasoning(t *testing.T) {
	fake, p := start(t, 0)
	fake.When(fakeopenai.Anything(), fakeopenai.Say("ok"))
	r := question("hello")
	r.Model, r.Tools = "gpt-6-sol", []agent.Tool{{Name: "terminal"}}
	if _, err := p.Complete(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	if body := string(fake.Asks()[0].Body); !strings.Contains(body, `"reasoning_effort":"none"`) {
		t.Error(body)
	}
}

func TestAServerThatStopsTalkingIsUnavailable(t *testing.T) {
	for name, answer := range map[string]fakeopenai.Answer{
		"before the first byte":  fakeopenai.Hang(),
		"before the first event": fakeopenai.Stream(fakeopenai.Stall()),
		"between tokens":         fakeopenai.Stream(fakeopenai.Text("one"), fakeopenai.Stall()),
	} {
		t.Run(name, func(t *testing.T) {
			fake, p := start(t, 60*time.Millisecond)
			fake.Next(answer)
			_, err := p.Complete(t.Context(), question("hello"), nil)
			if e := wantFailure(t, err, agent.Unavailable); !strings.Contains(e.Error(), "60ms") {
				t.Error(e)
			}
		})
	}
}

func TestCancellingReturnsAtOnce(t *testing.T) {
	for name, answer := range map[string]fakeopenai.Answer{
		"before the first byte": fakeopenai.Hang(),
		"between tokens":        fakeopenai.Stream(fakeopenai.Text("one"), fakeopenai.Stall()),
	} {
		t.Run(name, func(t *testing.T) {
			fake, p := start(t, time.Minute)
			fake.Next(answer)
			ctx, cancel := context.WithCancel(t.Context())
			result := make(chan error, 1)
			go func() {
				_, err := p.Complete(ctx, question("hello"), nil)
				result <- err
			}()
			if _, err := fake.WaitAsks(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			cancel()
			select {
			case err := <-result:
				if !errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
			case <-time.After(5 * time.Second):
				t.Fatal("it did not return")
			}
		})
	}
}
