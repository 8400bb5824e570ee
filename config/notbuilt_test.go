package config_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/homing-gateway/homing/config"
)

// What each key that is not built yet may hold, and what it may not.
var unbuilt = []struct{ path, harmless, refused string }{
	{"agent.provider", "openai rehearsal", "anthropic acp"},
	{"delegation.independent_completions", "false off no", "true on"},
	{"delegation.child_timeout", "0 0s", "5m"},
	{"delegation.model", `""`, "x"},
	{"delegation.provider", `""`, "openai"},
	{"terminal.approvals", "off", "dangerous always"},
	{"terminal.on_shutdown", "keep", "kill"},
	{"display.background_process_notifications", "concise result error off", "all"},
	{"display.busy_input", "steer queue", "interrupt"},
	{"display.language", "en", "es fr"},
	{"platforms.zulip.enabled", "false", "true"},
	{"platforms.feishu.enabled", "false", "true"},
	{"storage.engine", "bbolt", "postgres"},
	{"routing", "[]", "[{profile:&default}]"},
	{"profiles", "[]", "[{name:&a}]"},
}

// What is not built yet is refused when somebody asks for it, in the file or in the environment; it loads all the same.
func TestNotBuilt(t *testing.T) {
	for _, u := range unbuilt {
		text := func(value string) string {
			s := nested(u.path, strings.ReplaceAll(value, "&", " "))
			if strings.HasSuffix(u.path, ".enabled") {
				s += credentials(u.path)
			}
			return s
		}
		line := strings.Count(u.path, ".") + 1
		for value := range strings.FieldsSeq(u.harmless) {
			if l := file(text(value)).load(t); len(l.NotBuilt) > 0 {
				t.Errorf("%s: %s is refused: %v", u.path, value, l.NotBuilt)
			}
		}
		for value := range strings.FieldsSeq(u.refused) {
			l := file(text(value)).load(t)
			if len(l.NotBuilt) != 1 || l.NotBuilt[0].Path != u.path || l.NotBuilt[0].Kind != config.NotBuilt || l.NotBuilt[0].Place != "homing.yaml:"+string(rune('0'+line)) {
				t.Errorf("%s: %s gives %+v", u.path, value, l.NotBuilt)
				continue
			}
			if !strings.Contains(l.NotBuilt[0].Text, "not built yet") {
				t.Errorf("%s: %s", u.path, l.NotBuilt[0])
			}
			if u.path == "routing" || u.path == "profiles" {
				continue
			}
			p := file("", envName(u.path)+"="+strings.Trim(value, "[]"))
			if section, ok := strings.CutSuffix(u.path, ".enabled"); ok {
				p.files["/here/homing.yaml"] = nested(section, "") + credentials(u.path)
			}
			if l := p.load(t); len(l.NotBuilt) != 1 || l.NotBuilt[0].Place != "env "+envName(u.path) {
				t.Errorf("%s=%s gives %+v", envName(u.path), value, l.NotBuilt)
			}
		}
	}
}

// Defaults never count, credentials, addresses, times and limits are accepted, and a missing platform says that it is off.
func TestNotBuiltByDefault(t *testing.T) {
	l := file("").load(t)
	if len(l.NotBuilt)+len(l.Warnings) > 0 {
		t.Errorf("defaults: %v %v", l.NotBuilt, l.Warnings)
	}
	var marked []string
	for _, e := range l.Show() {
		if unserved := regexp.MustCompile(`^platforms\.(zulip|feishu)\.`).MatchString(e.Path); unserved && !e.NotBuilt {
			t.Errorf("%s is not marked as without effect", e.Path)
		} else if e.NotBuilt && !unserved {
			marked = append(marked, e.Path)
		}
	}
	if want := []string{
		"agent.command", "delegation.base_url", "delegation.api_key", "terminal.approvals", "terminal.approval_timeout",
		"storage.dsn", "retention.sent", "retention.dead", "retention.sessions",
	}; !slices.Equal(marked, want) {
		t.Errorf("marked as without effect: %v, want %v", marked, want)
	}
	l = file(`platforms:
  discord: {api_url: "http://127.0.0.1:1", allowed_users: [1], auto_thread: true}
  zulip: {site: "https://z.example", email: a@z.example, api_key: k}
delegation: {base_url: "https://x.example", api_key: k, max_spawn_depth: 2}
terminal: {approval_timeout: 1m, promote_after: 1s, max_processes: 1}
http: {listen: "", api_key: k}
storage: {dsn: "postgres://x"}
retention: {sent: 1h}
delivery: {unknown: resend, dead_thread: hold, catch_up: 0}
`).load(t)
	wantLines(t, lines(l.NotBuilt))
	wantLines(t, lines(l.Warnings),
		"platforms.zulip: stays off: it has credentials, and this platform is not built yet",
		"homing.yaml:4: delegation.base_url: has no effect yet: subagents use the agent's own provider",
		"homing.yaml:4: delegation.api_key: has no effect yet: subagents use the agent's own provider",
		"homing.yaml:7: storage.dsn: has no effect yet: the store is bbolt")
	if l.Config.Platforms.Discord.Enabled || l.Config.Platforms.Zulip.Enabled {
		t.Error("a platform that is not built is on")
	}
}

// Inside a further profile the same table holds.
func TestNotBuiltInAProfile(t *testing.T) {
	l := file("profiles:\n  - name: a\n    display: {language: fr}\n    platforms:\n      zulip: {enabled: true, site: \"https://z.example\", email: a@z.example, api_key: k}\n").load(t)
	wantLines(t, lines(l.NotBuilt),
		"homing.yaml:2: profiles: is not built yet: leave it empty",
		"homing.yaml:3: profiles[0].display.language: \"fr\" is not built yet: use en",
		"homing.yaml:5: profiles[0].platforms.zulip.enabled: is not built yet: leave it out, or set it to false")
}
