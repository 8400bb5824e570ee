package config_test

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/homing-gateway/homing/config"
)

// The commented file loads as it is, asks for nothing that is missing, and changes nothing.
func TestExampleChangesNothing(t *testing.T) {
	l, defaults := file(string(config.Example())).load(t), file("").load(t)
	if len(l.NotBuilt)+len(l.Warnings) > 0 {
		t.Errorf("%v %v", l.NotBuilt, l.Warnings)
	}
	if !reflect.DeepEqual(l.Config, defaults.Config) {
		t.Errorf("got  %+v\nwant %+v", l.Config, defaults.Config)
	}
	if l := file(string(config.Example()), "TELEGRAM_BOT_TOKEN=t", "TELEGRAM_ALLOWED_USERS=5", "OPENAI_API_KEY=k").load(t); !l.Config.Platforms.Telegram.Enabled ||
		len(l.Config.Platforms.Telegram.AllowedUsers) != 1 || !l.Config.Agent.APIKey.IsSet() {
		t.Error("the file hides the usual variables")
	}
}

// With every commented-out key put in, the file sets every leaf there is, to its default.
func TestExampleHasEveryKey(t *testing.T) {
	full := regexp.MustCompile(`(?m)^( *)#([a-z_]+:)`).ReplaceAllString(string(config.Example()), "$1$2")
	l, defaults := file(full).load(t), file("").load(t)
	if !reflect.DeepEqual(l.Config, defaults.Config) {
		t.Errorf("got  %+v\nwant %+v", l.Config, defaults.Config)
	}
	for _, e := range l.Show() {
		if e.Source == "default" && e.Path != "routing" && e.Path != "profiles" {
			t.Errorf("%s is not in the file", e.Path)
		}
	}
	for _, key := range []string{"\nrouting: []", "\nprofiles: []"} {
		if !strings.Contains(full, key) {
			t.Errorf("%q is not in the file", key)
		}
	}
	for i, line := range strings.Split(string(config.Example()), "\n") {
		if strings.ContainsRune(line, '\t') || strings.TrimRight(line, " ") != line {
			t.Errorf("line %d has a tab or a space at its end", i+1)
		}
	}
	// What is not built yet says so in its line, or is commented out.
	for _, u := range unbuilt {
		if strings.HasSuffix(u.path, ".enabled") || u.path == "routing" || u.path == "profiles" {
			continue
		}
		key := u.path[strings.LastIndexByte(u.path, '.')+1:]
		if !regexp.MustCompile(`(?m)^ *#?` + key + `:.*not built yet`).MatchString(string(config.Example())) {
			t.Errorf("%s does not say that it is not built", u.path)
		}
	}
}

// The schema has every leaf, with its default, and lets nothing else in.
func TestSchemaHasEveryKey(t *testing.T) {
	doc, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var root map[string]any
	if err := json.Unmarshal(doc, &root); err != nil {
		t.Fatal(err)
	}
	if root["$schema"] != "https://json-schema.org/draft/2020-12/schema" {
		t.Errorf("draft: %v", root["$schema"])
	}
	found := map[string]map[string]any{}
	var walk func(path string, s map[string]any)
	walk = func(path string, s map[string]any) {
		if s["description"] == "" || s["description"] == nil {
			t.Errorf("%s has no description", path)
		}
		properties, ok := s["properties"].(map[string]any)
		if !ok {
			found[path] = s
			return
		}
		if s["additionalProperties"] != false {
			t.Errorf("%s lets other keys in", path)
		}
		for key, v := range properties {
			walk(strings.TrimPrefix(path+"."+key, "."), v.(map[string]any))
		}
	}
	walk("", root)
	entries := file("").load(t).Show()
	for _, e := range entries {
		s, ok := found[e.Path]
		if !ok {
			t.Errorf("the schema lacks %s", e.Path)
			continue
		}
		switch want := e.Value.(type) {
		case bool:
			if s["default"] != want {
				t.Errorf("%s: default %v, want %v", e.Path, s["default"], want)
			}
		case int:
			if s["default"] != float64(want) {
				t.Errorf("%s: default %v, want %v", e.Path, s["default"], want)
			}
		}
		if items, ok := s["items"].(map[string]any); ok && items["properties"] != nil {
			walk(e.Path+"[]", items)
		}
	}
	for _, path := range []string{"profiles[].agent.model", "profiles[].platforms.slack.bot_token", "routing[].thread"} {
		if found[path] == nil {
			t.Errorf("the schema lacks %s", path)
		}
	}
	if !strings.Contains(string(doc), `"interrupt"`) || !strings.Contains(found["terminal.approvals"]["description"].(string), "Not built yet") {
		t.Error("words or descriptions are missing")
	}
}

// What is shown is an array of path, value and source, and nothing else.
func TestShowAsJSON(t *testing.T) {
	out, err := json.Marshal(file("agent:\n  command: [a, b]\nhttp:\n  api_key: k\n", "HOMING_DRAIN=90s").load(t).Show())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`[{"path":"data_dir","value":"/home/ann/.local/share/homing","source":"default"},{"path":"drain","value":"1m30s","source":"env HOMING_DRAIN"},`,
		`{"path":"agent.command","value":["a","b"],"source":"homing.yaml:2"}`, `{"path":"http.api_key","value":"***","source":"homing.yaml:4"}`,
		`{"path":"agent.max_iterations","value":250,"source":"default"}`, `{"path":"display.streaming","value":true,"source":"default"}`,
		`{"path":"terminal.output_limit","value":"64KiB","source":"default"}`, `{"path":"routing","value":[],"source":"default"}`,
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%s is not in %s", want, out)
		}
	}
}
