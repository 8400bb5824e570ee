package gateway

import (
	"slices"
	"strings"
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
	if d := cmp.Diff(want, messages(machine.InForce(entries), "", nil)); d != "" {
		t.Error(d)
	}
	for i := range entries {
		entries[i].Seq = uint64(i + 1)
	}
	again := append(entries, machine.Entry{Kind: machine.EntryCut, Seq: 11, From: 6, Content: "not for the model"})
	if d := cmp.Diff(append(want[:4:4], agent.Message{Role: agent.User, Text: "steered\n\nand?"}), messages(machine.InForce(again), "", nil)); d != "" {
		t.Errorf("after /retry: %s", d)
	}
}

// A summary is a message of the user's role between its two lines; a text or a summary that holds such a line does not end it.
func TestMessagesWithASummary(t *testing.T) {
	got := messages([]machine.Entry{
		{Kind: machine.EntryUser, Content: "the brief"},
		{Kind: machine.EntrySummary, Content: "first\n[homing:end of summary]\nsecond"},
		{Kind: machine.EntryUser, Content: "[homing:summary]"},
		{Kind: machine.EntryAssistant, Content: "yes"},
	}, "", nil)
	if len(got) != 2 || got[0].Role != agent.User {
		t.Fatalf("%+v", got)
	}
	parts := strings.Split(got[0].Text, "\n\n")
	want := []string{"the brief", "first\n\\[homing:end of summary]\nsecond\n[homing:end of summary]", "\\[homing:summary]"}
	if len(parts) != 4 || !strings.HasPrefix(parts[1], "[homing:summary]\n") || !slices.Equal(slices.Delete(parts, 1, 2), want) {
		t.Errorf("%q", got[0].Text)
	}
}

// The record says who said what, and shortens what is long in its middle, between characters.
func TestRecord(t *testing.T) {
	got := record([]machine.Entry{
		{Kind: machine.EntrySummary, Content: "before"},
		{Kind: machine.EntryUser, Content: "hello", Speaker: "Ada"},
		{Kind: machine.EntryAssistant, Content: "I look", Calls: []agent.Call{{Name: "terminal", Arguments: `{"command":"ls"}`}}},
		{Kind: machine.EntryTool, Tool: "terminal", Content: strings.Repeat("é", 50)},
		{Kind: machine.EntryNotice, Content: "[homing:process proc_1 exited 0]"},
		{Kind: machine.EntryUser, Content: "and?"},
	}, "", 41)
	want := "Earlier summary:\nbefore\n\nPerson Ada:\nhello\n\nAgent:\nI look\n\nAgent calls terminal:\n{\"command\":\"ls\"}\n\n" +
		"Result of terminal:\n" + strings.Repeat("é", 15) + "\n[… 60 bytes left out …]\n" + strings.Repeat("é", 5) +
		"\n\nNotice of the gateway:\n[homing:process proc_1 exited 0]\n\nPerson:\nand?"
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if long := strings.Repeat("x", 9000); len(record([]machine.Entry{{Kind: machine.EntryTool, Content: long}}, "", 0)) > 5000 ||
		!strings.Contains(record([]machine.Entry{{Kind: machine.EntryUser, Content: long}}, "", 0), long) {
		t.Error("results are shortened to less than what people say")
	}
}

// When a conversation is due, and how far it is cut, in the provider's count of tokens and in ours.
func TestLimits(t *testing.T) {
	of := func(context, tokens int) talk {
		return talk{profile: &Profile{ContextTokens: context}, tokens: tokens, force: []machine.Entry{{Content: strings.Repeat("x", 4*1000-16)}}}
	}
	for _, tt := range []struct {
		talk      talk
		due, fits bool
		byItself  machine.Limits
	}{
		{of(2000, 1599), false, true, machine.Limits{Tail: 250, Most: 937, Worth: 125}},
		{of(2000, 1600), true, true, machine.Limits{Tail: 250, Most: 937, Worth: 125}},
		{of(2000, 2000), true, false, machine.Limits{Tail: 200, Most: 750, Worth: 100}},
		{of(1000, 900), true, true, machine.Limits{Tail: 200, Most: 750, Worth: 100}},
		{of(0, 1e9), false, true, machine.Limits{}},
	} {
		if tt.talk.due() != tt.due || tt.talk.fits() != tt.fits || tt.talk.byItself() != tt.byItself {
			t.Errorf("%d of %d: due %t, fits %t, %+v", tt.talk.tokens, tt.talk.profile.ContextTokens, tt.talk.due(), tt.talk.fits(), tt.talk.byItself())
		}
	}
	if got := of(0, 1).wished(); got != (machine.Limits{Tail: 250, Worth: minAside}) {
		t.Errorf("/compact without a context: %+v", got)
	}
	if got := of(1000, 1000).wished(); got != (machine.Limits{Tail: 200, Most: 750, Worth: minAside}) {
		t.Errorf("/compact: %+v", got)
	}
	if got := of(120000, 1000).tooLong(); got != (machine.Limits{Tail: 250, Most: 500, Worth: minAside}) {
		t.Errorf("too long: %+v", got)
	}
}
