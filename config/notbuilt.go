package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// unbuilt is a key that asks for something that this version cannot do, unless it holds one of its harmless values.
type unbuilt struct {
	path  string
	off   string // harmless values, separated by spaces; "[]" and `""` are the empty ones
	words string // what to do instead
}

// notBuilt lists what is not built yet. When something is built, its line goes.
func notBuilt() []unbuilt {
	return []unbuilt{
		{"agent.provider", "openai rehearsal", "use openai, or rehearsal"},
		{"delegation.independent_completions", "false", "set it to false"},
		{"delegation.child_timeout", "0", "set it to 0"},
		{"delegation.model", `""`, "leave it empty; subagents use the agent's own model"},
		{"delegation.provider", `""`, "leave it empty; subagents use the agent's own provider"},
		{"terminal.approvals", "off", "commands run without asking; set it to off"},
		{"terminal.on_shutdown", "keep", "processes live on; set it to keep"},
		{"display.background_process_notifications", "concise result error off", "use concise, result, error or off"},
		{"display.busy_input", "steer queue", "use steer or queue"},
		{"display.language", "en", "use en"},
		{"platforms.zulip.enabled", "false", "leave it out, or set it to false"},
		{"platforms.feishu.enabled", "false", "leave it out, or set it to false"},
		{"storage.engine", "bbolt", "use bbolt"},
		{"routing", "[]", "leave it empty"},
		{"profiles", "[]", "leave it empty"},
	}
}

// idle lists what is accepted and has no effect yet: credentials, addresses, limits and times of what is not built. Where
// there is a reason, who sets it is warned. When something gets its effect, its line goes.
func idle() map[string]string {
	const parents = "has no effect yet: subagents use the agent's own provider"
	return map[string]string{
		"agent.command": "", "terminal.approval_timeout": "",
		"retention.sent": "", "retention.dead": "", "retention.sessions": "",
		"delegation.base_url": parents, "delegation.api_key": parents, "storage.dsn": "has no effect yet: the store is bbolt",
	}
}

// idleAt tells whether a key is one of those; all of a platform that is not built is.
func idleAt(path string) bool {
	_, listed := idle()[path]
	keys := strings.Split(path, ".")
	return listed || len(keys) > 2 && keys[0] == "platforms" && !platformBuilt(keys[1])
}

// unbuiltAt gives the line of a key, nil when the key works.
func unbuiltAt(path string) *unbuilt {
	for _, u := range notBuilt() {
		if u.path == path {
			return &u
		}
	}
	return nil
}

// harmless tells whether a value of the key asks for nothing that is missing.
func (u *unbuilt) harmless(v reflect.Value) bool {
	return slices.Contains(strings.Fields(u.off), plain(v))
}

// refusal says that the value v of a field is not built yet, and what to do.
func (u *unbuilt) refusal(f *field, v reflect.Value) string {
	if f.words() != nil {
		return fmt.Sprintf("%q is not built yet: %s", v, u.words)
	}
	return "is not built yet: " + u.words
}

// plain gives a value as the table above writes it.
func plain(v reflect.Value) string {
	if v.Kind() == reflect.Slice {
		if v.Len() == 0 {
			return "[]"
		}
		return "[…]"
	}
	switch s := shown(v).(type) {
	case string:
		if s == "" {
			return `""`
		}
		return s
	case bool:
		if s {
			return "true"
		}
		return "false"
	}
	return "number"
}

// platformBuilt tells whether this version can serve a platform.
func platformBuilt(name string) bool { return unbuiltAt("platforms."+name+".enabled") == nil }
