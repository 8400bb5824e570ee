package config_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/homing-gateway/homing/config"
)

// Whatever a person gives to the questions of init, the file that is written loads strictly and holds exactly that, and
// nothing else has changed.
func TestFillHoldsExactlyWhatWasGiven(t *testing.T) {
	t.Parallel()
	words := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ \t\n"'#:{}\[\]$&*!|>%@\\,0-9a-z-]{0,30}`), rapid.SampledFrom([]string{
		"null", "~", "true", "off", "007", "1e5", "${A}", "$${A}", "$$${", "a # b", "- x", "key: value", "'", `"`, "\u2028\u2029\u0085", strings.Repeat("long words ", 40),
	}))
	id := rapid.StringMatching(`[0-9]{1,20}`)
	rapid.Check(t, func(r *rapid.T) {
		model, prompt := words.Draw(r, "model"), words.Draw(r, "prompt")
		key, token := words.Draw(r, "key"), words.Draw(r, "token")
		url := rapid.SampledFrom([]string{"", "http://127.0.0.1:11434/v1", "https://x.example/a%20b"}).Draw(r, "url")
		ids, byVariable := rapid.SliceOfN(id, 0, 4).Draw(r, "ids"), rapid.Bool().Draw(r, "by variable")
		values := map[string]config.Value{
			"agent.model": config.Text(model), "agent.system_prompt": config.Text(prompt), "agent.base_url": config.Text(url),
			"agent.api_key": config.Text(key), "platforms.telegram.token": config.Text(token), "platforms.telegram.allowed_users": config.List(ids...),
		}
		for path, text := range map[string]string{"agent.api_key": key, "platforms.telegram.token": token, "agent.base_url": url} {
			if config.Check(path, text) != nil {
				r.Skip("refused when it was typed")
			}
		}
		var env []string
		if byVariable && strings.TrimSpace(key) != "" {
			values["agent.api_key"], env = config.Variable("OF_MINE"), []string{"OF_MINE=" + key}
		}
		text, err := config.Fill(values)
		if err != nil {
			r.Fatal(err)
		}
		l, err := config.Load(file(string(text), env...).options())
		if err != nil {
			r.Fatalf("%v\n%s", err, text)
		}
		if len(l.NotBuilt)+len(l.Warnings) > 0 {
			r.Errorf("%v %v", l.NotBuilt, l.Warnings)
		}
		want := file("").load(t).Config
		want.Agent.Model, want.Agent.SystemPrompt, want.Agent.BaseURL = model, prompt, url
		want.Agent.APIKey = config.NewSecret(strings.TrimSpace(key))
		tg := &want.Platforms.Telegram
		tg.Token, tg.AllowedUsers = config.NewSecret(strings.TrimSpace(token)), append([]string{}, ids...)
		tg.Enabled = tg.Token.IsSet()
		if !reflect.DeepEqual(l.Config, want) {
			r.Errorf("got  %+v\nwant %+v\n%s", l.Config, want, text)
		}
		if strings.Count(string(text), "\n") != strings.Count(string(config.Example()), "\n") {
			r.Error("the file has other lines than the example")
		}
	})
}

// Every key that holds a value has a line that can be filled in, a key that the file does not know has none.
func TestFillKnowsEveryKey(t *testing.T) {
	for _, path := range leaves(func(reflect.Type) bool { return true }) {
		if _, err := config.Fill(map[string]config.Value{path: config.Text("x")}); err != nil {
			t.Error(err)
		}
	}
	if _, err := config.Fill(map[string]config.Value{"agent.modle": config.Text("x")}); err == nil {
		t.Error("agent.modle was filled in")
	}
	text, err := config.Fill(map[string]config.Value{"agent.model": config.Text("m"), "platforms.slack.app_token": config.Text("a")})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\n  model: \"m\"                     # needed to run with openai\n",
		"\n    app_token: \"a\"               # or SLACK_APP_TOKEN\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is not in the file", want)
		}
	}
}

// What is wrong with a value is said at once, and a secret is not repeated.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		path  string
		texts []string
		want  string // a part of the error; empty: it is good
	}{
		{"agent.model", []string{"some model: 7b"}, ""},
		{"agent.base_url", []string{"http://127.0.0.1:11434/v1"}, ""},
		{"agent.base_url", []string{"localhost:11434"}, "is not an address of a server"},
		{"agent.base_url", []string{"https://ann:pw@x.example"}, "credentials have keys of their own"},
		{"agent.api_key", []string{"sk-\x01secret"}, "control character"},
		{"agent.model", []string{"\xff"}, "not readable"},
		{"platforms.telegram.allowed_users", []string{"1001", "1002"}, ""},
		{"platforms.telegram.allowed_users", nil, ""},
		{"platforms.telegram.allowed_users", []string{"1001", "@ann"}, `"@ann" is not the id of a person: ids are numbers here, not names`},
		{"platforms.telegram.allowed_users", []string{"-100123"}, `"-100123" is not the id of a person`},
		{"platforms.slack.allowed_users", []string{"U01"}, ""},
		{"platforms.slack.allowed_users", []string{"U 01"}, "space"},
		{"agent.max_iterations", []string{"many"}, "not a whole number"},
		{"agent.modle", []string{"x"}, "there is no key"},
		{"profiles", nil, "there is no key"},
	} {
		err := config.Check(c.path, c.texts...)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v, want %q", c.path, c.texts, err, c.want)
		}
		if err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "pw")) {
			t.Errorf("a secret is repeated: %v", err)
		}
	}
}

func TestKnownPlatforms(t *testing.T) {
	var built, all []string
	for _, p := range config.KnownPlatforms() {
		all = append(all, p.Name)
		if p.Built {
			built = append(built, p.Name)
		}
		if p.Allowed.Usual != strings.ToUpper(p.Name)+"_ALLOWED_USERS" || len(p.Credentials) == 0 {
			t.Errorf("%+v", p)
		}
		for _, k := range p.Credentials {
			if k.Doc == "" || k.Usual == "" || k.Secret != !slices.Contains([]string{"site", "email", "app_id"}, k.Path[strings.LastIndexByte(k.Path, '.')+1:]) {
				t.Errorf("%+v", k)
			}
		}
	}
	if !slices.Equal(all, []string{"telegram", "discord", "slack", "zulip", "feishu"}) || !slices.Equal(built, []string{"telegram", "discord", "slack"}) {
		t.Errorf("all %v, built %v", all, built)
	}
	if k := config.KeyAt("agent.api_key"); k.Usual != "OPENAI_API_KEY" || !k.Secret {
		t.Errorf("%+v", k)
	}
}
