package config_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/homing-gateway/homing/config"
)

// F-18: an enabled platform without credentials is an error that names the section, and one account serves one profile.
func TestEnabledWithoutCredentials(t *testing.T) {
	const none = ": is enabled and has no credentials: set "
	for text, want := range map[string]string{
		"platforms:\n  telegram:\n    enabled: true\n":                                                       "homing.yaml:3: platforms.telegram" + none + "platforms.telegram.token, or enabled: false",
		"platforms:\n  telegram:\n    enabled: on\n    token: \"\"\n":                                        "homing.yaml:3: platforms.telegram" + none + "platforms.telegram.token, or enabled: false",
		"platforms:\n  slack:\n    app_token: x\n    enabled: yes\n":                                         "homing.yaml:4: platforms.slack" + none + "platforms.slack.bot_token, or enabled: false",
		"platforms:\n  zulip:\n    enabled: true\n    email: a@z.example\n":                                  "homing.yaml:3: platforms.zulip" + none + "platforms.zulip.site and platforms.zulip.api_key, or enabled: false",
		"profiles:\n  - name: a\n    platforms:\n      telegram:\n        enabled: true\n":                   "homing.yaml:5: profiles[0].platforms.telegram" + none + "profiles[0].platforms.telegram.token, or enabled: false",
		"platforms: {telegram: {token: t}}\nprofiles:\n  - name: a\n    platforms: {telegram: {token: t}}\n": "homing.yaml:4: profiles[0].platforms.telegram: has the same credentials as platforms.telegram: each profile needs an account of its own",
	} {
		wantLines(t, file(text).refused(t), want)
	}
	wantLines(t, file("", "HOMING_PLATFORMS_TELEGRAM_ENABLED=true").refused(t), "env HOMING_PLATFORMS_TELEGRAM_ENABLED: platforms.telegram"+none+"platforms.telegram.token, or enabled: false")
	file("platforms: {telegram: {token: t}, discord: {token: t}}\n").load(t) // not the same account
}

// A platform is on when its credentials are there, unless the file says otherwise.
func TestEnabledByItsCredentials(t *testing.T) {
	for _, c := range []struct {
		p  place
		on bool
	}{
		{file(""), false},
		{file("", "TELEGRAM_BOT_TOKEN=t"), true},
		{file("platforms:\n  telegram:\n    token: t\n"), true},
		{file("platforms:\n  telegram:\n    enabled:\n    token: t\n"), true},
		{file("platforms:\n  telegram:\n    enabled: false\n    token: t\n"), false},
		{file("platforms:\n  telegram:\n    enabled: false\n", "TELEGRAM_BOT_TOKEN=t"), false},
	} {
		l := c.p.load(t)
		if got := l.Config.Platforms.Telegram.Enabled; got != c.on || (len(l.Config.Platforms.Enabled()) == 1) != c.on {
			t.Errorf("%v: telegram is on: %v, list %v", c.p.env, got, l.Config.Platforms.Enabled())
		}
	}
}

// F-17: what is wrong with a platform that nobody switched on leaves the others alone; it stays off, with its reason.
func TestOnePlatformDoesNotStopTheOthers(t *testing.T) {
	l := file("platforms:\n  telegram:\n    token: t\n  discord:\n    allow_all: true\n  slack:\n    bot_token: b\n",
		"ZULIP_SITE=z.example", "ZULIP_EMAIL=a@z.example", "ZULIP_API_KEY=k", "FEISHU_APP_ID=i", "FEISHU_APP_SECRET=s").load(t)
	if got := l.Config.Platforms.Enabled(); !slices.Equal(got, []string{"telegram"}) {
		t.Errorf("on are %v", got)
	}
	wantLines(t, lines(l.Warnings),
		"env ZULIP_SITE: platforms.zulip.site: is not an address of a server: write it like https://example.com/v1",
		"homing.yaml:5: platforms.discord.allow_all: everybody on the platform may talk to the agent, and the agent runs commands on this machine",
		"platforms.slack: stays off: app_token is missing",
		"platforms.zulip: stays off: site is missing",
		"platforms.feishu: stays off: it has credentials, and this platform is not built yet",
	)
}

// Every usual variable is known: it gives its key a value that nothing else gives one, a blank one is none, the file wins
// over it, and over the file the variable that is named after the key.
func TestUsualVariables(t *testing.T) {
	for name, path := range map[string]string{
		"TELEGRAM_BOT_TOKEN": "platforms.telegram.token", "DISCORD_BOT_TOKEN": "platforms.discord.token", "SLACK_BOT_TOKEN": "platforms.slack.bot_token",
		"SLACK_APP_TOKEN": "platforms.slack.app_token", "ZULIP_SITE": "platforms.zulip.site", "ZULIP_EMAIL": "platforms.zulip.email",
		"ZULIP_API_KEY": "platforms.zulip.api_key", "FEISHU_APP_ID": "platforms.feishu.app_id", "FEISHU_APP_SECRET": "platforms.feishu.app_secret",
		"OPENAI_API_KEY": "agent.api_key", "ANTHROPIC_API_KEY": "agent.api_key",
		"TELEGRAM_ALLOWED_USERS": "platforms.telegram.allowed_users", "DISCORD_ALLOWED_USERS": "platforms.discord.allowed_users",
		"SLACK_ALLOWED_USERS": "platforms.slack.allowed_users", "ZULIP_ALLOWED_USERS": "platforms.zulip.allowed_users", "FEISHU_ALLOWED_USERS": "platforms.feishu.allowed_users",
	} {
		usual, own, written := "12", "34", "56"
		var inForce any = usual
		switch {
		case path == "platforms.zulip.site":
			usual, own, written = "https://z.example", "https://y.example", "https://x.example"
			inForce = usual
		case strings.HasSuffix(path, "allowed_users"):
			usual, written, inForce = " 12, 13 ,", "[56]", []string{"12", "13"}
		case config.KeyAt(path).Secret:
			inForce = "***"
		}
		if want := strings.Replace(name, "ANTHROPIC", "OPENAI", 1); config.KeyAt(path).Usual != want {
			t.Errorf("the usual variable of %s is %s, want %s", path, config.KeyAt(path).Usual, want)
		}
		provider := "HOMING_AGENT_PROVIDER=openai"
		if name == "ANTHROPIC_API_KEY" {
			provider = "HOMING_AGENT_PROVIDER=anthropic"
		}
		wantShown(t, file("", provider, name+"="+usual).load(t), path, inForce, "env "+name)
		text, key := nested(path, written), envName(path)
		for _, c := range []struct {
			p      place
			source string
		}{
			{file("", provider, name+"= "), "default"},
			{file(text, provider, name+"="+usual), "homing.yaml:" + strconv.Itoa(strings.Count(text, "\n"))},
			{file(text, provider, name+"="+usual, key+"="+own), "env " + key},
			{file("", provider, name+"="+usual, key+"= "), "env " + name},
		} {
			if got := shown(t, c.p.load(t), path).Source; got != c.source {
				t.Errorf("%v: %s comes from %q, want %q", c.p.env, path, got, c.source)
			}
		}
	}
	// A bad one that something hides is not worth a word.
	if l := file("platforms: {zulip: {site: \"https://z.example\", email: a, api_key: k}}\n", "ZULIP_SITE=bad").load(t); len(l.Warnings) != 1 {
		t.Errorf("warnings: %v", l.Warnings)
	}
	// The key of one provider is never given to another.
	for provider, source := range map[string]string{"openai": "env OPENAI_API_KEY", "anthropic": "env ANTHROPIC_API_KEY", "rehearsal": "default", "acp": "default"} {
		l := file("agent:\n  provider: "+provider+"\n", "OPENAI_API_KEY=o", "ANTHROPIC_API_KEY=a").load(t)
		if got := shown(t, l, "agent.api_key").Source; got != source {
			t.Errorf("%s takes its key from %q, want %q", provider, got, source)
		}
	}
}

func TestAccess(t *testing.T) {
	l := file("platforms:\n  slack:\n    allowed_users: [U1]\n    admins: [U2]\n    allow_all: yes\n    require_mention: no\n    home_chat: C1:2\n  telegram:\n    allowed_users: [5, \"@ann\"]\n    admins: [bob, -5]\n").load(t)
	got, ok := l.Config.Access("slack")
	if !ok || !slices.Equal(got.AllowedUsers, []string{"U1"}) || !slices.Equal(got.Admins, []string{"U2"}) || !got.AllowAll || got.RequireMention || got.HomeChat != "C1:2" {
		t.Errorf("slack: %+v, %v", got, ok)
	}
	for _, name := range []string{"telegram", "discord", "zulip", "feishu"} {
		if got, ok := l.Config.Access(name); !ok || got.AllowAll || !got.RequireMention || got.HomeChat != "" {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
	}
	if _, ok := l.Config.Access("matrix"); ok {
		t.Error("there is a platform matrix")
	}
	wantLines(t, lines(l.Warnings),
		`homing.yaml:9: platforms.telegram.allowed_users: "@ann" lets nobody in: ids are numbers here, not names`,
		`homing.yaml:10: platforms.telegram.admins: "bob" lets nobody in: ids are numbers here, not names`,
		"homing.yaml:5: platforms.slack.allow_all: everybody on the platform may talk to the agent, and the agent runs commands on this machine")
}

// A profile takes what it leaves out from above, but no platform.
func TestProfiles(t *testing.T) {
	l := file(`agent: {model: big, api_key: k, max_iterations: 7}
terminal: {env_passthrough: [A]}
http: {api_key: top}
platforms: {telegram: {token: t, allowed_users: [1], require_mention: false}}
profiles:
  - name: work
    agent: {model: small}
  - name: home
    terminal: {env_passthrough: []}
    http: {api_key: own}
    platforms: {telegram: {token: t2, admins: [2]}}
`, "HOMING_AGENT_MAX_ITERATIONS=9").load(t)
	work, home := l.Config.Profiles[0], l.Config.Profiles[1]
	if work.Agent.Model != "small" || work.Agent.APIKey.Reveal() != "k" || work.Agent.MaxIterations != 9 || !slices.Equal(work.Terminal.EnvPassthrough, []string{"A"}) || work.HTTP.APIKey.Reveal() != "top" {
		t.Errorf("work: %+v", work)
	}
	if tg := work.Platforms.Telegram; tg.Enabled || tg.Token.IsSet() || len(tg.AllowedUsers) != 0 || !tg.RequireMention || tg.APIURL != "https://api.telegram.org" {
		t.Errorf("work's telegram: %+v", tg)
	}
	if home.Agent.Model != "big" || len(home.Terminal.EnvPassthrough) != 0 || home.HTTP.APIKey.Reveal() != "own" || home.Platforms.Telegram.Token.Reveal() != "t2" || !home.Platforms.Telegram.Enabled {
		t.Errorf("home: %+v", home)
	}
	if l.Config.Agent.Model != "big" || !slices.Equal(l.Config.Terminal.EnvPassthrough, []string{"A"}) || l.Config.Platforms.Telegram.Token.Reveal() != "t" {
		t.Errorf("a profile changed what stands above: %+v", l.Config.Agent)
	}
	if a, ok := home.Platforms.Access("telegram"); !ok || !slices.Equal(a.Admins, []string{"2"}) {
		t.Errorf("access of home: %+v", a)
	}
	wantShown(t, l, "profiles[0].agent.model", "small", "homing.yaml:7")
	wantShown(t, l, "profiles[1].platforms.telegram.admins", []string{"2"}, "homing.yaml:11")
	for _, e := range l.Show() {
		if e.Path == "profiles[0].agent.max_iterations" || e.Path == "profiles" {
			t.Errorf("shown although the file does not set it: %+v", e)
		}
	}
}

func TestRequireForRun(t *testing.T) {
	for text, want := range map[string][]string{
		"": {
			"agent.model: is empty: name the model that answers, or set agent.provider to rehearsal for a script without a model",
			"agent.api_key: is empty: set it or OPENAI_API_KEY, or set agent.base_url to a server that needs no key",
		},
		model("x"):                        {"agent.api_key: is empty: set it or OPENAI_API_KEY, or set agent.base_url to a server that needs no key"},
		"agent: {model: x, api_key: k}\n": nil,
		"agent: {model: x, base_url: \"http://127.0.0.1\"}\n": nil,
		"agent: {provider: rehearsal}\n":                      nil,
		"agent: {provider: acp}\n":                            {"agent.command: is empty: it is the agent's command line"},
		"agent: {provider: anthropic, model: x}\n":            {"agent.api_key: is empty: set it or ANTHROPIC_API_KEY"},
		"agent: {provider: rehearsal}\nprofiles:\n  - name: a\n    agent: {provider: openai, api_key: k}\n": {
			"profiles[0].agent.model: is empty: name the model that answers, or set agent.provider to rehearsal for a script without a model",
		},
	} {
		got := file(text).load(t).RequireForRun()
		wantLines(t, lines(got), want...)
		for _, p := range got {
			if p.Kind != config.Missing {
				t.Errorf("%v is of kind %s", p, p.Kind)
			}
		}
	}
}
