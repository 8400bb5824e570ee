package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/homing-gateway/homing/config"
)

func model(name string) string { return "agent:\n  model: " + name + "\n" }

// The places are looked at in one order, and the first file that is there is the only one.
func TestSearch(t *testing.T) {
	p := place{files: map[string]string{
		"/named.yaml": model("flag"), "/env.yaml": model("env"), "/here/homing.yaml": model("here"),
		"/home/ann/.config/homing/homing.yaml": model("home"), "/etc/homing/homing.yaml": model("machine"),
	}, env: map[string]string{"HOMING_CONFIG": "/env.yaml"}, named: "/named.yaml"}
	for _, step := range []struct {
		model, file, source string
		next                func()
	}{
		{"flag", "/named.yaml", "/named.yaml:2", func() { p.named = "" }},
		{"env", "/env.yaml", "/env.yaml:2", func() { p.env["HOMING_CONFIG"] = " " }},
		{"here", "/here/homing.yaml", "homing.yaml:2", func() { delete(p.files, "/here/homing.yaml") }},
		{"home", "/home/ann/.config/homing/homing.yaml", "/home/ann/.config/homing/homing.yaml:2", func() { p.env["XDG_CONFIG_HOME"] = "/xdg" }},
		{"machine", "/etc/homing/homing.yaml", "/etc/homing/homing.yaml:2", func() { p.files["/xdg/homing/homing.yaml"] = model("xdg") }},
		{"xdg", "/xdg/homing/homing.yaml", "/xdg/homing/homing.yaml:2", func() { p.files = nil }},
		{"", "", "default", func() {}},
	} {
		l := p.load(t)
		if l.File != step.file {
			t.Errorf("the file is %q, want %q", l.File, step.file)
		}
		wantShown(t, l, "agent.model", step.model, step.source)
		step.next()
	}
}

func TestNamedFileMustBeThere(t *testing.T) {
	wantLines(t, place{named: "missing.yaml"}.refused(t), "missing.yaml: there is no such file")
	wantLines(t, place{env: map[string]string{"HOMING_CONFIG": "/missing.yaml"}}.refused(t), "/missing.yaml: there is no such file")
	l := place{files: map[string]string{"/here/sub/a.yaml": model("x")}, named: "sub/a.yaml"}.load(t)
	if l.File != "/here/sub/a.yaml" {
		t.Errorf("a relative file is %q", l.File)
	}
	wantShown(t, l, "agent.model", "x", "sub/a.yaml:2")
}

// The real file system: a folder in the place of a file is no file that is not there.
func TestUnreadableFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "homing.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := config.Load(config.Options{Dir: dir, Home: dir, SystemDir: dir})
	if err == nil || err.Error() != "homing.yaml: cannot be read: is a directory" {
		t.Errorf("a folder gives %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "homing.yaml")); err != nil {
		t.Fatal(err)
	}
	if l, err := config.Load(config.Options{Dir: dir, Home: dir, SystemDir: dir}); err != nil || l.File != "" {
		t.Errorf("no file gives %v, %v", l, err)
	}
}

// Flag > HOMING_ variable > file > usual variable > default, for a text, a list and a secret.
func TestPrecedence(t *testing.T) {
	p := file("platforms:\n  telegram:\n    token: file\n    allowed_users: [\"1\"]\nhttp:\n  listen: 127.0.0.1:1\n",
		"HOMING_PLATFORMS_TELEGRAM_TOKEN=env", "TELEGRAM_BOT_TOKEN=usual",
		"HOMING_PLATFORMS_TELEGRAM_ALLOWED_USERS= 2, 3 ,,", "TELEGRAM_ALLOWED_USERS=4,5", "HOMING_HTTP_LISTEN=127.0.0.1:2")
	p.flags = map[string]string{"platforms.telegram.token": "flag", "platforms.telegram.allowed_users": "6", "http.listen": ""}
	check := func(token, tokenSource string, users []string, usersSource, listen string) {
		t.Helper()
		l := p.load(t)
		if got := l.Config.Platforms.Telegram.Token.Reveal(); got != token {
			t.Errorf("the token is %q, want %q", got, token)
		}
		if e := shown(t, l, "platforms.telegram.token"); e.Source != tokenSource {
			t.Errorf("the token comes from %q, want %q", e.Source, tokenSource)
		}
		wantShown(t, l, "platforms.telegram.allowed_users", users, usersSource)
		if l.Config.HTTP.Listen != listen {
			t.Errorf("listen is %q, want %q", l.Config.HTTP.Listen, listen)
		}
	}
	check("flag", "flag", []string{"6"}, "flag", "")
	p.flags = nil
	check("env", "env HOMING_PLATFORMS_TELEGRAM_TOKEN", []string{"2", "3"}, "env HOMING_PLATFORMS_TELEGRAM_ALLOWED_USERS", "127.0.0.1:2")
	p.env["HOMING_PLATFORMS_TELEGRAM_TOKEN"], p.env["HOMING_PLATFORMS_TELEGRAM_ALLOWED_USERS"], p.env["HOMING_HTTP_LISTEN"] = " ", "", "\t"
	check("file", "homing.yaml:3", []string{"1"}, "homing.yaml:4", "127.0.0.1:1")
	p.files["/here/homing.yaml"] = "platforms:\n  telegram:\n    token: \"\"\n    admins: []\n" // an empty credential is not given
	check("usual", "env TELEGRAM_BOT_TOKEN", []string{"4", "5"}, "env TELEGRAM_ALLOWED_USERS", "127.0.0.1:8765")
	p.files["/here/homing.yaml"] = "platforms:\n  telegram:\n    allowed_users: []\n" // an empty list is: nobody
	check("usual", "env TELEGRAM_BOT_TOKEN", []string{}, "homing.yaml:3", "127.0.0.1:8765")
	p.env = map[string]string{"TELEGRAM_BOT_TOKEN": " "}
	p.files = nil
	check("", "default", []string{}, "default", "127.0.0.1:8765")
}

// Every leaf but the lists of sections has a name in the environment, and no two share one.
func TestEveryLeafHasAVariable(t *testing.T) {
	seen := map[string]string{}
	for _, e := range file("").load(t).Show() {
		if e.Path == "routing" || e.Path == "profiles" {
			continue
		}
		name := envName(e.Path)
		if other, ok := seen[name]; ok {
			t.Errorf("%s is the variable of %s and of %s", name, other, e.Path)
		}
		seen[name] = e.Path
		value := map[string]string{"string": "7", "bool": "false", "int": "1", "[]string": "7"}[typeName(e.Value)]
		for path, special := range map[string]string{
			"drain": "7s", "terminal.output_limit": "7KB", "log.level": "warn", "log.format": "json", "agent.provider": "acp",
			"terminal.approvals": "off", "terminal.on_shutdown": "kill", "display.background_process_notifications": "off",
			"display.tool_progress": "off", "display.busy_input": "queue", "display.language": "es", "delivery.dead_thread": "hold",
			"delivery.unknown": "hold", "storage.engine": "postgres", "http.listen": ":1", "delegation.provider": "acp", "platforms.zulip.site": "https://z.example",
		} {
			if e.Path == path {
				value = special
			}
		}
		if d, ok := e.Value.(string); ok && value == "7" && len(d) > 0 {
			switch d[len(d)-1] {
			case 's', 'm', 'h', '0':
				value = "2s"
			}
		}
		if e.Path == "agent.base_url" || e.Path == "delegation.base_url" || filepath.Ext(e.Path) == ".api_url" {
			value = "https://x.example"
		}
		if got := shown(t, file("", name+"="+value).load(t), e.Path).Source; got != "env "+name {
			t.Errorf("%s=%s: the source of %s is %q", name, value, e.Path, got)
		}
	}
}

func typeName(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case bool:
		return "bool"
	case int:
		return "int"
	case []string:
		return "[]string"
	}
	return "?"
}

func TestMisspeltVariables(t *testing.T) {
	l := file("", "HOMING_AGENT_MODLE=x", "HOMING_AGENT_API_KEY=k", "HOMING_TERMINAL=x", "HOMING_PROFILES=x", "HOMING_CONFIG=", "HOMING_DATADIR=/x", "HOMING_BIN=/x", "OTHER=1").load(t)
	wantLines(t, lines(l.Warnings),
		`env HOMING_AGENT_MODLE: sets nothing: there is no such key (did you mean "HOMING_AGENT_MODEL"?)`,
		`env HOMING_DATADIR: sets nothing: there is no such key (did you mean "HOMING_DATA_DIR"?)`,
		`env HOMING_PROFILES: sets nothing: there is no such key`,
		`env HOMING_TERMINAL: sets nothing: there is no such key`)
}

func TestVariablesInValues(t *testing.T) {
	env := []string{"A=fancy", "BLANK= ", "N=3", "TRICK=${A}", "YAML=x: [1]"}
	for text, want := range map[string]string{
		"${A}-9": "fancy-9", `"${A}${A}"`: "fancyfancy", "$A": "$A", "$${A}": "${A}", "a$$b": "a$$b", "${TRICK}": "${A}", "$$${A}": "$${A}",
		"${YAML}": "x: [1]", "cost $": "cost $", "'{a}'": "{a}",
	} {
		if got := file("agent:\n  system_prompt: "+text+"\n", env...).load(t).Config.Agent.SystemPrompt; got != want {
			t.Errorf("%s gives %q, want %q", text, got, want)
		}
	}
	l := file("delivery:\n  max_attempts: ${N}\nplatforms:\n  slack:\n    allowed_users: [\"${A}\", U0B]\n", env...).load(t)
	if l.Config.Delivery.MaxAttempts != 3 || !slices.Equal(l.Config.Platforms.Slack.AllowedUsers, []string{"fancy", "U0B"}) {
		t.Errorf("numbers and lists: %d, %q", l.Config.Delivery.MaxAttempts, l.Config.Platforms.Slack.AllowedUsers)
	}
	for text, want := range map[string]string{
		"agent:\n  api_key: ${NOT_SET}\n":       "homing.yaml:2: agent.api_key: the variable NOT_SET is not set in the environment, or is blank",
		"agent:\n  api_key: x${BLANK}\n":        "homing.yaml:2: agent.api_key: the variable BLANK is not set in the environment, or is blank",
		"agent:\n  command: [a, \"${NOPE}\"]\n": "homing.yaml:2: agent.command: element 2: the variable NOPE is not set in the environment, or is blank",
		"agent:\n  model: ${A\n":                "homing.yaml:2: agent.model: has a ${ without the name of a variable and a }: write $${ for a ${ that is meant as it stands",
		"agent:\n  model: ${a-b}\n":             "homing.yaml:2: agent.model: has a ${ without the name of a variable and a }: write $${ for a ${ that is meant as it stands",
		"log:\n  level: ${A}\n":                 `homing.yaml:2: log.level: "${A}" is not one of debug, info, warn, error`,
	} {
		wantLines(t, file(text, env...).refused(t), want)
	}
	if got := file("", "HOMING_AGENT_MODEL=${A}", "A=x").load(t).Config.Agent.Model; got != "${A}" {
		t.Errorf("a variable in a variable gives %q", got)
	}
}

func TestFolders(t *testing.T) {
	c := file("").load(t).Config
	if c.DataDir != "/home/ann/.local/share/homing" || c.Agent.Workspace != "/home/ann/.local/share/homing/workspace" {
		t.Errorf("defaults: %s, %s", c.DataDir, c.Agent.Workspace)
	}
	c = file("", "XDG_DATA_HOME=/xdg").load(t).Config
	if c.DataDir != "/xdg/homing" || c.Agent.Workspace != "/xdg/homing/workspace" {
		t.Errorf("XDG: %s, %s", c.DataDir, c.Agent.Workspace)
	}
	c = file("", "XDG_DATA_HOME=relative").load(t).Config
	if c.DataDir != "/home/ann/.local/share/homing" {
		t.Errorf("a relative XDG_DATA_HOME gives %s", c.DataDir)
	}
	c = file("data_dir: data\nagent:\n  workspace: ~/w\n  script: ~\ndelivery:\n  media_dirs: [~/a, b, /c, ~bob]\n").load(t).Config
	if c.DataDir != "/here/data" || c.Agent.Workspace != "/home/ann/w" || c.Agent.Script != "" ||
		!slices.Equal(c.Delivery.MediaDirs, []string{"/home/ann/a", "/here/b", "/c", "/here/~bob"}) {
		t.Errorf("relative and ~: %s, %s, %q", c.DataDir, c.Agent.Workspace, c.Delivery.MediaDirs)
	}
	o := file("").options()
	o.Home = ""
	if _, err := config.Load(o); err == nil || err.Error() != "data_dir: there is no home directory to keep data in: set data_dir or HOMING_DATA_DIR" {
		t.Errorf("without a home: %v", err)
	}
	o.LookupEnv = func(name string) (string, bool) { return "/h", name == "HOME" }
	if l, err := config.Load(o); err != nil || l.Config.DataDir != "/h/.local/share/homing" {
		t.Errorf("with $HOME: %v, %v", l, err)
	}
}

func TestInitPath(t *testing.T) {
	o := config.Options{Dir: "/here", Home: "/home/ann"}
	for _, c := range []struct {
		file string
		env  []string
		want string
	}{
		{"new.yaml", []string{"HOMING_CONFIG=/env.yaml"}, "/here/new.yaml"},
		{"", []string{"HOMING_CONFIG=~/env.yaml"}, "/home/ann/env.yaml"},
		{"", []string{"XDG_CONFIG_HOME=/xdg"}, "/xdg/homing/homing.yaml"},
		{"", []string{"XDG_CONFIG_HOME=", "BROKEN"}, "/home/ann/.config/homing/homing.yaml"},
	} {
		o.File = c.file
		if got := o.WithEnviron(c.env).InitPath(); got != c.want {
			t.Errorf("%v: %s, want %s", c, got, c.want)
		}
	}
}
