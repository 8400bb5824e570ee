package tool_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/homing-gateway/homing/internal/tool"
)

// What models get wrong most is forgiven when its meaning is plain; the rest is told in words that they can act on.
func TestParse(t *testing.T) {
	for _, tt := range []struct {
		arguments string
		wants     string // in the error; empty: none
	}{
		{`{"command":"make"}`, ""},
		{` {"command":"make","background":null,"notify":null,"timeout":null,"watch_patterns":null} `, ""},
		{``, ""},
		{`  `, ""},
		{`null`, ""},
		{`{"command":"make"`, "breaks off"},
		{`{"command":7}`, `"command" must not be a number`},
		{`{"cmd":"make"}`, `unknown field "cmd"`},
		{`{"command":"make"} {}`, "go on after"},
		{`{"command":"make"}, and then`, "go on after"},
		{`["make"]`, "array"},
		{`make`, "invalid character"},
	} {
		var args tool.TerminalArgs
		err := tool.Parse(tool.Terminal, tt.arguments, &args)
		switch {
		case tt.wants == "" && err != nil:
			t.Errorf("%s: %v", tt.arguments, err)
		case tt.wants != "" && (err == nil || !strings.Contains(err.Error(), tt.wants) || !strings.Contains(err.Error(), "Send one JSON object")):
			t.Errorf("%s: %v, want it to speak of %q", tt.arguments, err, tt.wants)
		}
	}
	var args tool.DelegateArgs
	if err := tool.Parse(tool.DelegateTask, `{"goal":7}`, &args); err == nil || strings.Contains(err.Error(), "Task.") {
		t.Errorf("our own types show: %v", err)
	}
}

func TestAll(t *testing.T) {
	var one, many tool.DelegateArgs
	for arguments, args := range map[string]*tool.DelegateArgs{`{"goal":"a","context":"c"}`: &one, `{"goal":"x","tasks":[{"goal":"a"},{"goal":"b"}]}`: &many} {
		if err := tool.Parse(tool.DelegateTask, arguments, args); err != nil {
			t.Fatal(err)
		}
	}
	if got := one.All(); len(got) != 1 || got[0].Goal != "a" || got[0].Context != "c" {
		t.Errorf("one: %+v", got)
	}
	if got := many.All(); len(got) != 2 || got[1].Goal != "b" {
		t.Errorf("many: %+v", got)
	}
}

// A leaf cannot delegate; every schema is an object that a provider takes.
func TestOffer(t *testing.T) {
	for depth, want := range map[int]int{0: 8, 1: 8, 2: 6, 3: 6} {
		offer := tool.Offer(depth, 2)
		if len(offer) != want {
			t.Errorf("depth %d: %d tools, want %d", depth, len(offer), want)
		}
		for _, x := range offer {
			var schema struct {
				Type       string
				Properties map[string]json.RawMessage
				Required   []string
			}
			if err := json.Unmarshal(x.Schema, &schema); err != nil || schema.Type != "object" || len(schema.Properties) == 0 || x.Description == "" {
				t.Errorf("%s: %v, %+v", x.Name, err, schema)
			}
			for _, r := range schema.Required {
				if _, ok := schema.Properties[r]; !ok {
					t.Errorf("%s requires %s, which it does not know", x.Name, r)
				}
			}
		}
	}
}

func TestResults(t *testing.T) {
	if got, want := tool.Error(tool.KindLimit, `say "no"`), `{"error":"say \"no\"","kind":"limit"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	zero := 0
	if got := tool.JSON(tool.Ran{ExitCode: &zero}); !strings.Contains(got, `"exit_code":0`) {
		t.Error(got)
	}
	if got := tool.JSON(tool.Ran{}); !strings.Contains(got, `"exit_code":null`) {
		t.Error(got)
	}
	if got := tool.JSON(func() {}); !strings.Contains(got, `"kind":"failed"`) {
		t.Error(got)
	}
	if got := tool.Seconds(1234567 * time.Microsecond); got != 1.235 {
		t.Error(got)
	}
}
