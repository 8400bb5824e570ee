package gateway

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/machine"
)

func TestParseCommand(t *testing.T) {
	for text, want := range map[string][2]string{
		"/new":                 {"new", ""},
		"/NEW":                 {"new", ""},
		"/resume 2":            {"resume", "2"},
		"/resume@homer_bot  2": {"resume", "2"},
		"/nwe":                 {"nwe", ""},
		"!stop":                {"stop", ""},
		"/queue a b c":         {"queue", "a b c"},
		"/new\nand more":       {"new", "and more"},
	} {
		name, arg, ok := parseCommand(text)
		if !ok || name != want[0] || arg != want[1] {
			t.Errorf("%q: %q %q %v, want %q", text, name, arg, ok, want)
		}
	}
	for _, text := range []string{"", "/", "!", "hello /new", "/usr/bin/env", "/1", "!important", "!!", "// a comment", "/new-thing", "1/2"} {
		if name, _, ok := parseCommand(text); ok {
			t.Errorf("%q is taken for the command %q", text, name)
		}
	}
}

// Every command of the list is carried out or answered; none falls through to "I don't know".
func TestMenuNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range chatCommands() {
		if seen[c.name] || c.help == "" {
			t.Errorf("command %q: twice, or without help", c.name)
		}
		seen[c.name] = true
	}
	for _, n := range notBuiltCommands() {
		if seen[n] {
			t.Errorf("command %q is built and is not", n)
		}
	}
}

// C-20: a notice is an entry of its own kind, and what the provider gets alternates and answers every call.
func TestMessagesAreLegal(t *testing.T) {
	call := []agent.Call{{ID: "c1", Name: "terminal", Arguments: "{}"}, {ID: "c2", Name: "terminal", Arguments: "{}"}}
	entries := []machine.Entry{
		{Kind: machine.EntryUser, Content: "first"},
		{Kind: machine.EntryUser, Content: "second", Speaker: "Ada"},
		{Kind: machine.EntryAssistant, Content: "", Calls: call},
		{Kind: machine.EntryTool, CallID: "c1", Tool: "terminal", Content: "one"},
		{Kind: machine.EntryTool, CallID: "c2", Tool: "terminal", Content: "two"},
		{Kind: machine.EntryUser, Content: "steered"},
		{Kind: machine.EntryAssistant, Content: ""},
		{Kind: machine.EntryNotice, Content: "[homing:process proc_1 exited 0]"},
		{Kind: machine.EntryUser, Content: "and?"},
		{Kind: machine.EntryAssistant, Content: "done"},
	}
	want := []agent.Message{
		{Role: agent.User, Text: "first\n\nAda: second"},
		{Role: agent.Assistant, Calls: call},
		{Role: agent.ToolRole, CallID: "c1", Name: "terminal", Text: "one"},
		{Role: agent.ToolRole, CallID: "c2", Name: "terminal", Text: "two"},
		{Role: agent.User, Text: "steered\n\n[homing:process proc_1 exited 0]\n\nand?"},
		{Role: agent.Assistant, Text: "done"},
	}
	if d := cmp.Diff(want, messages(entries)); d != "" {
		t.Error(d)
	}
	for i := range entries {
		entries[i].Seq = uint64(i + 1)
	}
	again := append(entries, machine.Entry{Kind: machine.EntryCut, Seq: 11, From: 6, Content: "not for the model"})
	if d := cmp.Diff(append(want[:4:4], agent.Message{Role: agent.User, Text: "steered\n\nand?"}), messages(again)); d != "" {
		t.Errorf("after /retry: %s", d)
	}
}
