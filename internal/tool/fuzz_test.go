package tool_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/homing-gateway/homing/internal/tool"
)

// FuzzParse: whatever a model writes as arguments of a tool is understood, or told in words that name the tool. What was
// understood says the same when it is written down and read again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		``, `null`, `{}`, `[]`, `{"command":"make","background":true,"timeout":1.5,"watch_patterns":["a"],"notify":null}`, `{"action":"wait","process_id":"proc_1","timeout":0}`,
		`{"goal":"g","output_schema":{"type":"object"},"tasks":[{"goal":"a","group":"x"},{}]}`, `{"path":"a","offset":-1,"limit":9223372036854775807}`,
		`{"path":"a","content":""}`, `{"path":"a","old":"\ud800","new":"\u0000","all":true}`, `{"pattern":"(","glob":"**"}`, `{"command":"a"} {}`, `{"timeout":1e400}`, `{"timeout":`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, arguments string) {
		parsed[tool.TerminalArgs](t, tool.Terminal, arguments)
		parsed[tool.ProcessArgs](t, tool.ProcessManage, arguments)
		parsed[tool.DelegateArgs](t, tool.DelegateTask, arguments)
		parsed[tool.ReadArgs](t, tool.ReadFile, arguments)
		parsed[tool.WriteArgs](t, tool.WriteFile, arguments)
		parsed[tool.EditArgs](t, tool.EditFile, arguments)
		parsed[tool.SearchArgs](t, tool.SearchFiles, arguments)
	})
}

func parsed[T any](t *testing.T, name, arguments string) {
	t.Helper()
	var first, second T
	if err := tool.Parse(name, arguments, &first); err != nil {
		if e, ok := errors.AsType[*tool.ArgumentError](err); !ok || len(e.Text) < len(name) {
			t.Fatalf("%s %q: %v", name, arguments, err)
		}
		return
	}
	once, err := json.Marshal(first)
	if err == nil {
		err = tool.Parse(name, string(once), &second)
	}
	if err != nil {
		t.Fatalf("%s %q is understood as %s, and that is refused: %v", name, arguments, once, err)
	}
	if twice, err := json.Marshal(second); err != nil || string(twice) != string(once) {
		t.Fatalf("%s %q is understood as %s, and that as %s (%v)", name, arguments, once, twice, err)
	}
}
