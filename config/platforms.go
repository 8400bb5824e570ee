package config

// Platforms holds one struct for each chat platform.
type Platforms struct {
	Telegram Telegram `yaml:"telegram" doc:"Telegram."`
	Discord  Discord  `yaml:"discord" doc:"Discord."`
	Slack    Slack    `yaml:"slack" doc:"Slack."`
	Zulip    Zulip    `yaml:"zulip" doc:"Zulip."`
	Feishu   Feishu   `yaml:"feishu" doc:"Feishu and Lark."`
}

// Access says who may talk to the agent on one platform, and how. It is the same for every platform.
type Access struct {
	AllowedUsers   []string `yaml:"allowed_users" kind:"id" usual:"{PLATFORM}_ALLOWED_USERS" doc:"Ids of the people who may talk to the agent. Empty: nobody."`
	Admins         []string `yaml:"admins" kind:"id" doc:"Ids of the people who may do everything. Empty: whoever is allowed."`
	AllowAll       bool     `yaml:"allow_all" default:"false" doc:"Whether everybody on the platform may talk to the agent."`
	RequireMention bool     `yaml:"require_mention" default:"true" doc:"Whether the agent must be mentioned in groups."`
	HomeChat       string   `yaml:"home_chat" kind:"id" doc:"Where the gateway speaks by itself: chat[:thread]."`
}

// Telegram is one Telegram bot.
type Telegram struct {
	Enabled bool   `yaml:"enabled" default:"false" doc:"Left out: true when the token is set."`
	Token   Secret `yaml:"token" usual:"TELEGRAM_BOT_TOKEN" doc:"Token of the bot."`
	APIURL  string `yaml:"api_url" default:"https://api.telegram.org" kind:"url" required:"true" doc:"Address of the platform."`
	Access  `yaml:",inline"`
}

// Discord is one Discord bot.
type Discord struct {
	Enabled    bool   `yaml:"enabled" default:"false" doc:"Left out: true when the token is set."`
	Token      Secret `yaml:"token" usual:"DISCORD_BOT_TOKEN" doc:"Token of the bot."`
	AutoThread bool   `yaml:"auto_thread" default:"false" doc:"Whether a mention is answered in a new thread."`
	APIURL     string `yaml:"api_url" default:"https://discord.com/api" kind:"url" required:"true" doc:"Address of the platform."`
	Access     `yaml:",inline"`
}

// Slack is one Slack app in one workspace.
type Slack struct {
	Enabled       bool   `yaml:"enabled" default:"false" doc:"Left out: true when both tokens are set."`
	BotToken      Secret `yaml:"bot_token" usual:"SLACK_BOT_TOKEN" doc:"Token of the bot (xoxb)."`
	ReplyInThread bool   `yaml:"reply_in_thread" default:"true" doc:"Whether a mention in a channel is answered in its thread."`
	AppToken      Secret `yaml:"app_token" usual:"SLACK_APP_TOKEN" doc:"Token of the app (xapp)."`
	APIURL        string `yaml:"api_url" default:"https://slack.com/api" kind:"url" required:"true" doc:"Address of the platform."`
	Access        `yaml:",inline"`
}

// Zulip is one Zulip bot.
type Zulip struct {
	Enabled bool   `yaml:"enabled" default:"false" doc:"Left out: true when site, email and key are set."`
	Site    string `yaml:"site" kind:"url" usual:"ZULIP_SITE" doc:"Address of the organization."`
	Email   string `yaml:"email" usual:"ZULIP_EMAIL" doc:"Address of the bot."`
	APIKey  Secret `yaml:"api_key" usual:"ZULIP_API_KEY" doc:"Key of the bot."`
	Access  `yaml:",inline"`
}

// Feishu is one Feishu or Lark app.
type Feishu struct {
	Enabled   bool   `yaml:"enabled" default:"false" doc:"Left out: true when id and secret are set."`
	AppID     string `yaml:"app_id" usual:"FEISHU_APP_ID" doc:"Id of the app."`
	AppSecret Secret `yaml:"app_secret" usual:"FEISHU_APP_SECRET" doc:"Secret of the app."`
	APIURL    string `yaml:"api_url" default:"https://open.feishu.cn" kind:"url" required:"true" doc:"Address of the platform; https://open.larksuite.com for Lark."`
	Access    `yaml:",inline"`
}

// Access gives the access rules of a platform by its name; false when there is no platform of that name.
func (c *Config) Access(platform string) (Access, bool) { return c.Platforms.Access(platform) }

// Access gives the access rules of a platform by its name; false when there is no platform of that name.
func (p *Platforms) Access(platform string) (Access, bool) {
	for _, v := range p.views() {
		if v.name == platform {
			return *v.access, true
		}
	}
	return Access{}, false
}

// Enabled lists the names of the platforms that are switched on, in the order of the file's documentation.
func (p *Platforms) Enabled() []string {
	var names []string
	for _, v := range p.views() {
		if *v.enabled {
			names = append(names, v.name)
		}
	}
	return names
}

// Disabled lists the names of the platforms that are not.
func (p *Platforms) Disabled() []string {
	var names []string
	for _, v := range p.views() {
		if !*v.enabled {
			names = append(names, v.name)
		}
	}
	return names
}

// view is what all platforms have in common, seen through one of them.
type view struct {
	name        string
	enabled     *bool
	access      *Access
	credentials []credential
}

// credential is one of the values that a platform cannot work without.
type credential struct {
	key   string
	value string
}

func (p *Platforms) views() []view {
	t, d, s, z, f := &p.Telegram, &p.Discord, &p.Slack, &p.Zulip, &p.Feishu
	return []view{
		{"telegram", &t.Enabled, &t.Access, []credential{{"token", t.Token.Reveal()}}},
		{"discord", &d.Enabled, &d.Access, []credential{{"token", d.Token.Reveal()}}},
		{"slack", &s.Enabled, &s.Access, []credential{{"bot_token", s.BotToken.Reveal()}, {"app_token", s.AppToken.Reveal()}}},
		{"zulip", &z.Enabled, &z.Access, []credential{{"site", z.Site}, {"email", z.Email}, {"api_key", z.APIKey.Reveal()}}},
		{"feishu", &f.Enabled, &f.Access, []credential{{"app_id", f.AppID}, {"app_secret", f.AppSecret.Reveal()}}},
	}
}

// given tells how many of the credentials are set.
func (v view) given() int {
	n := 0
	for _, c := range v.credentials {
		if c.value != "" {
			n++
		}
	}
	return n
}

// missing lists the credentials that are not set.
func (v view) missing() []string {
	var keys []string
	for _, c := range v.credentials {
		if c.value == "" {
			keys = append(keys, c.key)
		}
	}
	return keys
}
