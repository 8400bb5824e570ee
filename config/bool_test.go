package config_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/homing-gateway/homing/config"
)

func isBool(t reflect.Type) bool { return t.Kind() == reflect.Bool }

// asked is what stands in the file, with what must come of it: "true", "false", "default" or "refused".
var asked = map[string]string{
	"true": "true", "True": "true", "TRUE": "true", "tRuE": "true", `"true"`: "true", "'TRUE'": "true",
	"yes": "true", "Yes": "true", "YES": "true", `"yes"`: "true",
	"on": "true", "On": "true", "ON": "true", `"on"`: "true",
	"false": "false", "False": "false", "FALSE": "false", `"false"`: "false", `'False'`: "false",
	"no": "false", "No": "false", "NO": "false", `"no"`: "false",
	"off": "false", "Off": "false", "OFF": "false", `"off"`: "false",
	"1": "refused", "0": "refused", `"1"`: "refused", `"0"`: "refused", `""`: "refused", `" "`: "refused", "maybe": "refused",
	"enabled": "refused", "y": "refused", "n": "refused", "t": "refused", "[]": "refused", "[true]": "refused", "{}": "refused",
	"{a: true}": "refused", "1.0": "refused", `"null"`: "refused", `"true "`: "refused", "!!bool true": "refused",
	"null": "default", "": "default", "~": "default",
}

// F-06, F-07: one table decides, for every boolean there is.
func TestBooleansInTheFile(t *testing.T) {
	paths := leaves(isBool)
	if len(paths) < 20 {
		t.Fatalf("only %d booleans found: %v", len(paths), paths)
	}
	defaults := file("").load(t)
	for _, path := range paths {
		for written, want := range asked {
			text := nested(path, written)
			if strings.HasSuffix(path, ".enabled") { // an enabled platform needs its credentials
				text += credentials(path)
			}
			p := file(text)
			if want == "refused" {
				if got := p.refused(t)[0]; !strings.HasPrefix(got, "homing.yaml:") || !strings.Contains(got, ": "+path+": ") {
					t.Errorf("%s: %s is refused with %q", path, written, got)
				}
				continue
			}
			l := p.load(t)
			e := shown(t, l, path)
			if want == "default" {
				if !strings.HasSuffix(path, ".enabled") && (e.Value != shown(t, defaults, path).Value || e.Source != "default") {
					t.Errorf("%s: %q gives %v from %s, want the default", path, written, e.Value, e.Source)
				}
				continue
			}
			if e.Value != (want == "true") || !strings.HasPrefix(e.Source, "homing.yaml:") {
				t.Errorf("%s: %s gives %v from %s, want %s", path, written, e.Value, e.Source, want)
			}
		}
	}
}

func credentials(path string) string {
	switch {
	case strings.Contains(path, "telegram"), strings.Contains(path, "discord"):
		return "    token: abc\n"
	case strings.Contains(path, "slack"):
		return "    bot_token: abc\n    app_token: abc\n"
	case strings.Contains(path, "zulip"):
		return "    site: https://z.example\n    email: a@z.example\n    api_key: abc\n"
	}
	return "    app_id: abc\n    app_secret: abc\n"
}

// F-06, F-07, F-08: the environment is read by the same table, and a blank variable is none.
func TestBooleansInTheEnvironment(t *testing.T) {
	defaults := file("").load(t)
	for _, path := range leaves(isBool) {
		text := ""
		if section, ok := strings.CutSuffix(path, ".enabled"); ok {
			text = nested(section, "") + credentials(path)
		}
		for written, want := range map[string]string{
			"true": "true", "YES": "true", "On": "true", "false": "false", "no": "false", "OFF": "false",
			"": "default", " ": "default", "\t": "default",
			"1": "refused", "0": "refused", "maybe": "refused", "null": "refused", `"true"`: "refused", " true": "refused",
		} {
			p := file(text, envName(path)+"="+written)
			if want == "refused" {
				if got := p.refused(t)[0]; !strings.HasPrefix(got, "env "+envName(path)+": "+path+": ") {
					t.Errorf("%s: %q is refused with %q", path, written, got)
				}
				continue
			}
			e := shown(t, p.load(t), path)
			switch {
			case want != "default":
				if e.Value != (want == "true") || e.Source != "env "+envName(path) {
					t.Errorf("%s: %q gives %v from %s, want %s", path, written, e.Value, e.Source, want)
				}
			case text == "" && e != shown(t, defaults, path):
				t.Errorf("%s: %q gives %v from %s, want the default", path, written, e.Value, e.Source)
			}
		}
	}
}

// F-08: nothing but a clear yes switches protection off; what is unclear does not start at all.
func TestBypassNeedsAClearYes(t *testing.T) {
	const name = "HOMING_PLATFORMS_TELEGRAM_ALLOW_ALL"
	for _, v := range []string{"0", "false", "off", "no", " ", "", "2", "enable", "disabled"} {
		l, err := config.Load(file("", name+"="+v).options())
		if err == nil && l.Config.Platforms.Telegram.AllowAll {
			t.Errorf("%q lets everybody in", v)
		}
	}
	for _, v := range []string{"0", "false", "no", "1", "true", "disabled"} {
		file("", "HOMING_TERMINAL_APPROVALS="+v).refused(t)
	}
	if l := file("", "HOMING_TERMINAL_APPROVALS= ").load(t); l.Config.Terminal.Approvals != config.ApprovalsDangerous {
		t.Errorf("a blank variable makes approvals %q", l.Config.Terminal.Approvals)
	}
}

// The same table reads the booleans of a further profile.
func TestBooleansOfAProfile(t *testing.T) {
	for written, want := range asked {
		p := file("profiles:\n  - name: work\n    platforms:\n      slack:\n        allow_all: " + written + "\n")
		if want == "refused" {
			p.refused(t)
			continue
		}
		if got := p.load(t).Config.Profiles[0].Platforms.Slack.AllowAll; got != (want == "true") {
			t.Errorf("%s gives %v", written, got)
		}
	}
}
