package rehearsal_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/agent/rehearsal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func script(t *testing.T, text string) *rehearsal.Provider {
	t.Helper()
	p, err := rehearsal.New(rehearsal.Options{Script: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestRules(t *testing.T) {
	user := func(text string) agent.Message { return agent.Message{Role: agent.User, Text: text} }
	called := func(id, tool string) agent.Message {
		return agent.Message{Role: agent.Assistant, Calls: []agent.Call{{ID: id, Name: tool, Arguments: "{}"}}}
	}
	result := func(id, text string) agent.Message {
		return agent.Message{Role: agent.ToolRole, CallID: id, Text: text}
	}
	for _, tt := range []struct {
		name, rules string
		tools       []agent.Tool
		messages    []agent.Message
		want        string // the text, or the calls as tool(arguments) id
	}{
		{"the first rule that fits", "- {when: {says: b}, say: one}\n- {when: {says: a}, say: two}\n- {say: three}", nil, []agent.Message{user("xAx")}, "two"},
		{"one of several words", "- {when: {says: [b, a]}, say: one}", nil, []agent.Message{user("xax")}, "one"},
		{"nothing fits", "- {when: {says: b}, say: one}", nil, []agent.Message{user("x")}, "I am the rehearsal agent: no model, a script of rules, and none of them fits this."},
		{"groups", `- {when: {matches: '(\w+) (?P<b>\w+)'}, say: '{{group 0}}|{{group 1}}|{{group "b"}}'}`, nil, []agent.Message{user("x y")}, "x y|x|y"},
		{"groups of the brief", `- {when: {brief: '^Do (.+)$'}, say: '{{group 1}} of {{brief | line}}'}`, nil, []agent.Message{user("Do it"), {Role: agent.Assistant, Text: "ok"}, user("now")}, "it of Do it"},
		{"a subagent by its tools", "- {when: {who: person}, say: person}\n- {when: {who: subagent}, say: subagent}", offered("terminal"), []agent.Message{user("x")}, "subagent"},
		{"a person by the tools", "- {when: {who: subagent}, say: subagent}\n- {when: {who: person}, say: person}", offered("terminal", "delegate_task"), []agent.Message{user("x")}, "person"},
		{"nobody knows: a person", "- {when: {who: subagent}, say: subagent}\n- {when: {who: person}, say: person}", nil, []agent.Message{user("x")}, "person"},
		{"steps", "- {when: {step: 1}, say: one}\n- {when: {step: 2+}, say: more}", nil, []agent.Message{user("x"), called("a", "t"), result("a", "1"), called("b", "t"), result("b", "2")}, "more"},
		{"a turn begins at the last user message", "- {when: {step: 0}, say: none}", nil, []agent.Message{user("x"), called("a", "t"), result("a", "1"), {Role: agent.Assistant, Text: "so"}, user("y")}, "none"},
		{
			"the last result", `- {when: {result: {tool: other}}, say: other}` + "\n" + `- {when: {result: {tool: t, contains: two, matches: 'w.'}}, say: '{{result "a.1"}} {{result "n"}} {{result "none"}} {{result}}'}`, nil,
			[]agent.Message{user("x"), called("a", "t"), result("a", `{"a":["one","two"],"n":1.5}`)},
			`two 1.5  {"a":["one","two"],"n":1.5}`,
		},
		{"no rule after a result", `- {call: [{tool: t}]}`, nil, []agent.Message{user("x"), called("a", "t"), result("a", "done")}, "t answered: done"},
		{
			"calls", "- say: look\n  call:\n  - {tool: t, args: {a: '{{text}}', n: 3, f: 1.5, b: true, z: null, l: [1, '{{group 1 | shell}}'], date: 2026-01-02, open: '{{open}}x'}}\n  - {tool: u}\n  when: {matches: '(.)$'}", nil,
			[]agent.Message{user(`say "it's'`), called("call_7", "t"), result("call_7", ""), user(`say "it's'`)},
			`look|t({"a":"say \"it's'","b":true,"date":"2026-01-02","f":1.5,"l":[1,"''\\'''"],"n":3,"open":"{{x","z":null}) call_8|u({}) call_9`,
		},
		{"the newest id", `- {say: '{{last "proc"}} {{last "del"}}.'}`, nil, []agent.Message{user("proc_01AAAA"), {Role: agent.Assistant, Text: "proc_01CCCC"}, user("proc_01AAAB and proc_01BBBB")}, "proc_01BBBB ."},
		{"a notice", `- {when: {notice: process, status: 'exited \d'}, say: '{{notice "kind"}} {{notice "id"}} {{notice "status"}}: {{text}}'}`, nil, []agent.Message{user("[homing:process proc_1 exited 2]\nmachine\na\n\nb")}, "process proc_1 exited 2: a\n\nb"},
		{"a notice of another kind", `- {when: {notice: watch}, say: no}` + "\n- {say: no}", nil, []agent.Message{user("[homing:process proc_1 exited 2]\nmachine\na")}, "A notice came that the script has no rule for: process proc_1 exited 2.\n\na"},
		{"any notice, and a text", "- {when: {notice: any}, say: 'n {{notice \"id\"}}'}\n- {say: 't {{text}}'}", nil, []agent.Message{user("[homing:process proc_1 lost]\nmachine\na\nOrigin: b\n\n[homing:watch proc_2 x y]\nmachine\nc\nOrigin: d\nStarted by subagent sub_1\n\ne\n\nf")}, "n proc_1\n\nn proc_2\n\nt e\n\nf"},
		{"a marker inside a text is no notice", "- {when: {notice: any}, say: notice}\n- {say: text}", nil, []agent.Message{user("look: \n\n[homing:process proc_1 exited 2]\nx")}, "text"},
		{"what people said", `- {say: "{{first}}\n{{said}}"}`, nil, []agent.Message{user("[homing:process proc_1 lost]\nmachine"), user("a\nb"), user("[homing:watch proc_1 x]\nm\nOrigin: y\n\nc")}, "A notice came that the script has no rule for: watch proc_1 x.\n\na\nb\n1. a\n2. c"},
		{
			"a text that joins the running turn is answered beside what opened it", "- {when: {says: open}, call: [{tool: t}]}\n- {when: {says: open, result: {tool: t}}, say: opened}\n- {when: {says: join}, call: [{tool: u}]}", nil,
			[]agent.Message{user("open"), called("call_1", "t"), result("call_1", "1"), user("join")},
			"|u({}) call_2",
		},
		{
			"and at the end both are answered", "- {when: {says: open}, call: [{tool: t}]}\n- {when: {says: open, result: {tool: t}}, say: opened}\n- {when: {says: open, step: 1+}, say: still open}", nil,
			[]agent.Message{user("open"), called("call_1", "t"), result("call_1", "1"), user("join"), called("call_2", "u"), result("call_2", "2")},
			"still open\n\nI am the rehearsal agent: no model, a script of rules, and none of them fits this.",
		},
		{"an empty say", `- {say: ""}`, nil, []agent.Message{user("x")}, ""},
		{"no message", `- {say: x}`, nil, nil, "Nothing was said, so there is nothing to answer."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := script(t, "rules:\n"+tt.rules)
			request := agent.Request{Tools: tt.tools, Messages: tt.messages}
			var streamed strings.Builder
			got, err := p.Complete(t.Context(), request, func(piece string) { streamed.WriteString(piece) })
			if err != nil {
				t.Fatal(err)
			}
			parts := []string{got.Text}
			for _, c := range got.Calls {
				parts = append(parts, c.Name+"("+c.Arguments+") "+c.ID)
			}
			if diff := cmp.Diff(tt.want, strings.Join(parts, "|")); diff != "" {
				t.Error(diff)
			}
			if streamed.String() != got.Text {
				t.Errorf("streamed %q", streamed.String())
			}
			for range 5 {
				if again, err := p.Complete(t.Context(), request, nil); err != nil || !reflect.DeepEqual(got, again) {
					t.Errorf("the second time: %+v, %v", again, err)
				}
			}
		})
	}
}

func TestFailuresAreCounted(t *testing.T) {
	p := script(t, "rules:\n- {fail: {kind: rate_limited, times: 2, retry_after: 3s, message: slow down}, say: ok}\n")
	hello := agent.Request{Messages: []agent.Message{{Role: agent.User, Text: "hello"}}}
	for range 2 {
		_, err := p.Complete(t.Context(), hello, nil)
		e, ok := errors.AsType[*agent.ProviderError](err)
		if !ok || e.Failure != agent.RateLimited || e.RetryAfter != 3*time.Second || e.Error() != "model rate_limited: slow down" {
			t.Fatalf("got %#v", err)
		}
	}
	if got, err := p.Complete(t.Context(), hello, nil); err != nil || got.Text != "ok" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestAFailureWithoutAnAnswerLetsTheNextRuleSpeak(t *testing.T) {
	p := script(t, "rules:\n- {fail: {times: 1}}\n- {say: next}\n")
	hello := agent.Request{Messages: []agent.Message{{Role: agent.User, Text: "hello"}}}
	if _, err := p.Complete(t.Context(), hello, nil); agent.AsProviderError(err).Failure != agent.Unavailable {
		t.Errorf("got %v", err)
	}
	if got, err := p.Complete(t.Context(), hello, nil); err != nil || got.Text != "next" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestWaiting(t *testing.T) {
	hello := agent.Request{Messages: []agent.Message{{Role: agent.User, Text: "hello"}}}
	var waited time.Duration
	p, err := rehearsal.New(rehearsal.Options{
		Script: []byte("rules: [{wait: 90s, say: ok}]"),
		Wait:   func(_ context.Context, d time.Duration) error { waited += d; return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.Complete(t.Context(), hello, nil); err != nil || got.Text != "ok" || waited != 90*time.Second {
		t.Errorf("got %v, %v after %v", got, err, waited)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := script(t, "rules: [{wait: 90s, say: ok}]").Complete(ctx, hello, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestAScriptFromAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.yaml")
	if _, err := rehearsal.New(rehearsal.Options{Path: path}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(path, []byte("rules: [{sya: hello}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := rehearsal.New(rehearsal.Options{Path: path})
	if err == nil || !strings.HasPrefix(err.Error(), path+`:1: rules[0]: unknown key "sya" (did you mean "say"?)`) {
		t.Errorf("got %v", err)
	}
}

// A request for a summary is answered by the rules for it and by no other, however much of what people say is in it.
func TestSummaries(t *testing.T) {
	ask := func(rules string) string {
		t.Helper()
		resp, err := script(t, "rules:\n"+rules).Complete(t.Context(), agent.Request{
			Summary: true, Session: "sub_1", Messages: []agent.Message{{Role: agent.User, Text: "Person:\n[homing:process proc_1 lost]\n\nPerson:\nhello"}},
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return resp.Text
	}
	const others = "- {when: {says: hello}, say: no}\n- {when: {who: subagent}, say: no}\n- {when: {notice: any}, say: no}\n"
	if got := ask(others + "- {when: {who: summary, says: hello}, say: 'they said {{text | line}}'}"); got != "they said Person:" {
		t.Errorf("got %q", got)
	}
	if got := ask(others); !strings.Contains(got, "sums up") || !strings.Contains(got, "hello") {
		t.Errorf("without a rule: %q", got)
	}
	p := script(t, "rules:\n- {when: {who: summary}, say: summary}\n- {when: {notice: any}, say: notice}\n- {say: '{{text}}|{{first}}|{{brief}}'}")
	const summary = "[homing:summary]\nThis is a machine notice.\n\nbe\n\nfore\n[homing:end of summary]"
	for text, want := range map[string]string{
		summary + "\n\nhello": "hello|hello|hello", "brief\n\n" + summary: "brief|brief|brief", "brief\n\n" + summary + "\n\nmore": "brief\n\nmore|brief\n\nmore|brief\n\nmore",
		summary + "\n\n[homing:process proc_1 lost]\nm\nb": "notice",
	} {
		resp, err := p.Complete(t.Context(), agent.Request{Messages: []agent.Message{{Role: agent.User, Text: text}}}, nil)
		if err != nil || resp.Text != want {
			t.Errorf("%q is answered by %q, %v, want %q", text, resp.Text, err, want)
		}
	}
}
