package rehearsal_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/agent/rehearsal"
)

func TestScriptFaultsNameTheirLine(t *testing.T) {
	for _, tt := range []struct{ name, script, want string }{
		{"no YAML", "rules:\n  - say: [", `s.yaml:2: did not find expected node content`},
		{"nothing in it", "# only a comment\n", `s.yaml:1: a script needs rules`},
		{"no rules", "fallback: x\n", `s.yaml:1: a script needs rules`},
		{"a list", "- say: x\n", `s.yaml:1: the script: keys with values are expected here`},
		{"unknown keys", "rules:\n- say: x\n  wehn: {}\n- say: y\n  when:\n    syas: z\n", "s.yaml:3: rules[0]: unknown key \"wehn\" (did you mean \"when\"?)\ns.yaml:6: rules[1].when: unknown key \"syas\" (did you mean \"says\"?)"},
		{"a key that is there twice", "rules:\n- say: x\n  say: y\n", `s.yaml:3: rules[0]: say is there twice`},
		{"a bad regexp", "rules:\n- say: x\n  when: {matches: '(a'}\n", "s.yaml:3: rules[0].when.matches: error parsing regexp: missing closing ): `(a`"},
		{"no answer", "rules:\n- name: x\n", `s.yaml:2: rules[0]: a rule needs say, call or fail`},
		{"a rule that is none", "rules:\n- x\n", `s.yaml:2: rules[0]: keys with values are expected here`},
		{"nobody", "rules:\n- {say: x, when: {who: robot}}\n", `s.yaml:2: rules[0].when.who: "robot" is none of person, subagent, summary`},
		{"an unknown notice", "rules:\n- {say: x, when: {notice: proces}}\n", `s.yaml:2: rules[0].when.notice: "proces" is none of delegation, process, watch, any (did you mean "process"?)`},
		{"a status of nothing", "rules:\n- {say: x, when: {status: a}}\n", `s.yaml:2: rules[0].when: status and origin are of a notice, and there is no notice here`},
		{"a step", "rules:\n- {say: x, when: {step: -1}}\n", `s.yaml:2: rules[0].when.step: a number of tool results is expected here, such as 0, 2 or 3+`},
		{"a duration", "rules:\n- {say: x, wait: 3}\n", `s.yaml:2: rules[0].wait: a duration is expected here, such as 300ms or 2s`},
		{"a failure", "rules:\n- {fail: {kind: broken, times: 0}}\n", "s.yaml:2: rules[0].fail.kind: \"broken\" is none of unavailable, rate_limited, refused, too_long, credential\ns.yaml:2: rules[0].fail.times: a number from 1 up; without it the rule always fails"},
		{"an unknown tool", "rules:\n- call:\n  - {tool: terminl}\n", `s.yaml:3: rules[0].call[0].tool: unknown tool "terminl" (did you mean "terminal"?)`},
		{"no tool", "rules:\n- call:\n  - {args: {}}\n", `s.yaml:3: rules[0].call[0]: a call needs a tool`},
		{"arguments", "rules:\n- call:\n  - {tool: terminal, args: [x]}\n", `s.yaml:3: rules[0].call[0].args: names with values are expected here`},
		{"an argument twice", "rules:\n- call:\n  - tool: terminal\n    args:\n      a: 1\n      a: 2\n", `s.yaml:6: rules[0].call[0].args: a is there twice`},
		{"an alias", "rules:\n- call:\n  - tool: terminal\n    args: {a: &x 1, b: *x}\n", `s.yaml:4: rules[0].call[0].args.b: anchors and aliases are not used in scripts`},
		{"an unknown name", "rules:\n- say: '{{rseult}}'\n", `s.yaml:2: rules[0].say: unknown name "rseult" in {{rseult}} (did you mean "result"?)`},
		{"an unknown filter", "rules:\n- say: '{{text | html}}'\n", `s.yaml:2: rules[0].say: unknown filter "html" in {{text | html}}; there are shell and line`},
		{"an open brace", "rules:\n- say: 'a {{text'\n", `s.yaml:2: rules[0].say: "{{text" is not closed by }}`},
		{"no expression", "rules:\n- say: '{{ 3 }}'\n", `s.yaml:2: rules[0].say: cannot read {{ 3 }}`},
		{"a wrong argument", "rules:\n- say: '{{last}}'\n", `s.yaml:2: rules[0].say: wrong argument in {{last}}`},
		{"a group too many", "rules:\n- say: '{{group 2}}'\n  when: {matches: '(a)'}\n", `s.yaml:2: rules[0].say: the rule's regular expressions have no such group: {{group 2}}`},
		{"a group in an argument", "rules:\n- call:\n  - tool: terminal\n    args: {a: ['{{group \"x\"}}']}\n", `s.yaml:4: rules[0].call[0].args.a[0]: the rule's regular expressions have no such group: {{group x}}`},
		{"a notice in the fallback", "rules: [{say: x}]\nfallback: '{{notice \"id\"}}'\n", `s.yaml:2: fallback: {{notice …}} is for rules whose when names a notice`},
		{"a part that no notice has", "rules:\n- {say: '{{notice \"age\"}}', when: {notice: any}}\n", `s.yaml:2: rules[0].say: a notice has kind, id, status and origin, not "age"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := rehearsal.New(rehearsal.Options{Script: []byte(tt.script), Path: "s.yaml", Tools: []string{"terminal"}})
			if err == nil {
				t.Fatal("it was taken")
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzScript looks for scripts that break the loader, or a loaded script that breaks on a request.
func FuzzScript(f *testing.F) {
	f.Add(rehearsal.Demo(), "research otters")
	f.Add("rules:\n- {when: {notice: any, status: a}, say: '{{notice \"id\"}}{{text | line}}'}\n", "[homing:process proc_1 a]\nm\nb\nOrigin: c\n\nd")
	f.Add("rules: [{call: [{tool: t, args: {a: [1, 2.5, .inf, ~, yes, '{{group 1 | shell}}']}}], when: {matches: '(.)'}}]", "x")
	f.Add("rules: [{say: *a, when: &a {says: [b]}}]", "x")
	f.Fuzz(func(t *testing.T, script, text string) {
		p, err := rehearsal.New(rehearsal.Options{Script: []byte(script), Path: "s.yaml"})
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				if line == "" {
					t.Errorf("an empty line in %q", err)
				}
			}
			return
		}
		_, _ = p.Complete(t.Context(), agent.Request{Messages: []agent.Message{
			{Role: agent.User, Text: text},
			{Role: agent.Assistant, Calls: []agent.Call{{ID: "call_1", Name: "terminal", Arguments: text}}},
			{Role: agent.ToolRole, CallID: "call_1", Text: text},
		}}, nil)
		_, _ = p.Complete(t.Context(), agent.Request{Messages: []agent.Message{{Role: agent.User, Text: text}}}, nil)
	})
}
