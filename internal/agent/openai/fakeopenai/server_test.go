package fakeopenai_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// post asks without a client library and returns the status and the body.
func post(t *testing.T, fake *fakeopenai.Server, key, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, fake.URL()+"/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// said is the text of a plain answer.
func said(t *testing.T, fake *fakeopenai.Server, messages ...string) string {
	t.Helper()
	_, body := post(t, fake, "k", `{"model":"m","messages":[`+strings.Join(messages, ",")+`]}`)
	var got struct {
		Choices []struct {
			Message struct {
				Content   string
				ToolCalls []struct {
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || len(got.Choices) != 1 {
		t.Fatalf("%s: %v", body, err)
	}
	m := got.Choices[0].Message
	for _, c := range m.ToolCalls {
		m.Content += c.Function.Name + c.Function.Arguments
	}
	return m.Content
}

func TestRulesQueueAndScript(t *testing.T) {
	fake := fakeopenai.New()
	defer fake.Close()
	fake.Script(fakeopenai.Says("start"),
		fakeopenai.Call("terminal", map[string]any{"command": "ls"}),
		fakeopenai.Dynamic(func(a fakeopenai.Ask) fakeopenai.Answer {
			return fakeopenai.Say(a.Field("process_id") + " by " + a.Results()[0].Tool)
		}))
	notice := fake.When(fakeopenai.Notice("process", "exited 0"), fakeopenai.Say("one"), fakeopenai.Say("two"))
	fake.When(fakeopenai.All(fakeopenai.Brief("Do"), fakeopenai.Not(fakeopenai.Offers("delegate_task"))), fakeopenai.Say("child"))

	user := func(text string) string { return fmt.Sprintf(`{"role":"user","content":%q}`, text) }
	called := `{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"terminal","arguments":"{}"}}]}`
	result := `{"role":"tool","tool_call_id":"c","content":"{\"process_id\":\"proc_1\"}"}`
	exited := user("[homing:process proc_1 exited 0]\nx")
	for _, tt := range []struct {
		want     string
		messages []string
	}{
		{`terminal{"command":"ls"}`, []string{user("start it")}},
		{"proc_1 by terminal", []string{user("start it"), called, result}},
		{"one", []string{exited}},
		{"two", []string{exited}},
		{"two", []string{exited}},
		{fakeopenai.Unscripted, []string{user("[homing:process proc_1 exited 1]\nx")}},
		{"child", []string{user("Do it\n\nnow")}},
	} {
		if got := said(t, fake, tt.messages...); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.messages, got, tt.want)
		}
	}
	fake.Next(fakeopenai.Say("first"))
	if got := said(t, fake, exited); got != "first" {
		t.Errorf("got %q", got)
	}
	if notice.Hits() != 3 {
		t.Errorf("%d hits", notice.Hits())
	}
}

func TestAStreamIsWellFormed(t *testing.T) {
	fake := fakeopenai.New()
	defer fake.Close()
	gate := make(chan struct{})
	fake.Next(fakeopenai.Held(gate, fakeopenai.Reply("some text, in pieces: äöü", fakeopenai.NewCall("terminal", `not JSON`))))
	go func() {
		if _, err := fake.WaitAsks(t.Context(), 1); err == nil {
			close(gate)
		}
	}()
	status, body := post(t, fake, "k", `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"x"}]}`)
	if status != http.StatusOK || !strings.HasSuffix(body, "data: [DONE]\n\n") || !strings.Contains(body, `"prompt_tokens"`) {
		t.Errorf("%d %s", status, body)
	}
	for lines := bufio.NewScanner(strings.NewReader(body)); lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if ok && data != "[DONE]" && !json.Valid([]byte(data)) {
			t.Errorf("no JSON: %s", data)
		}
	}
}

func TestKeysAndBadRequests(t *testing.T) {
	fake := fakeopenai.New()
	defer fake.Close()
	fake.RequireKey("right")
	ask := `{"messages":[{"role":"user","content":"x"}]}`
	for _, tt := range []struct {
		key, body string
		want      int
	}{{"wrong", ask, 401}, {"right", ask, 200}, {"right", `{`, 400}, {"right", `{"messages":[]}`, 400}} {
		if got, body := post(t, fake, tt.key, tt.body); got != tt.want {
			t.Errorf("%s %s: got %d %s", tt.key, tt.body, got, body)
		}
	}
}
