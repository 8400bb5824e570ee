package config_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/homing-gateway/homing/config"
	"pgregory.net/rapid"
)

// F-10: an id keeps every digit, in the file and in the environment; what has lost digits already is refused.
func TestIDsAreExact(t *testing.T) {
	for _, id := range []string{"1234567890123456789", "12345678901234567890123", "-1001234567890", "007", "0x1F", "1_000", "+15550100", "1716900000.000100", "-100:42", "null5", "2024-01-01"} {
		text := "platforms:\n  discord:\n    allowed_users: [" + id + "]\n    home_chat: " + id + "\nrouting:\n  - chat: " + id + "\n    profile: default\n"
		l := file(text, "HOMING_PLATFORMS_SLACK_HOME_CHAT="+id, "SLACK_ALLOWED_USERS="+id).load(t)
		wantShown(t, l, "platforms.discord.home_chat", id, "homing.yaml:4")
		wantShown(t, l, "platforms.discord.allowed_users", []string{id}, "homing.yaml:3")
		wantShown(t, l, "routing[0].chat", id, "homing.yaml:6")
		wantShown(t, l, "platforms.slack.home_chat", id, "env HOMING_PLATFORMS_SLACK_HOME_CHAT")
		wantShown(t, l, "platforms.slack.allowed_users", []string{id}, "env SLACK_ALLOWED_USERS")
	}
	for _, lost := range []string{"1.2e18", "1.2E+18", "12e17", "-1.001234e12"} {
		const tail = " is a number that has lost digits: write the whole id, in quotes"
		wantLines(t, file("platforms:\n  discord:\n    home_chat: "+lost+"\n").refused(t), "homing.yaml:3: platforms.discord.home_chat: \""+lost+"\""+tail)
		wantLines(t, file("platforms:\n  discord:\n    admins:\n      - 5\n      - "+lost+"\n").refused(t), "homing.yaml:4: platforms.discord.admins: element 2: \""+lost+"\""+tail)
		wantLines(t, file("", "HOMING_PLATFORMS_DISCORD_HOME_CHAT="+lost).refused(t), "env HOMING_PLATFORMS_DISCORD_HOME_CHAT: platforms.discord.home_chat: \""+lost+"\""+tail)
		wantLines(t, file("platforms:\n  discord:\n    home_chat: ${ID}\n", "ID="+lost).refused(t), `homing.yaml:3: platforms.discord.home_chat: "${ID}"`+tail)
		wantLines(t, file("platforms:\n  discord:\n    home_chat: \"${ID}\"\n", "ID="+lost).refused(t), `homing.yaml:3: platforms.discord.home_chat: "${ID}"`+tail)
		wantShown(t, file("platforms:\n  discord:\n    home_chat: \""+lost+"\"\n").load(t), "platforms.discord.home_chat", lost, "homing.yaml:3")
	}
}

// F-01: whatever a person writes keeps its letter case, and two texts that differ only in case stay two.
func TestLetterCaseIsKept(t *testing.T) {
	text := `agent:
  model: GPT-4.1
  command: [Npx, -Y, HTTP_Proxy=Foo]
platforms:
  slack:
    allowed_users: [U0ABC, U0aBC]
    home_chat: C0MixedCase
terminal:
  env_passthrough: [HTTP_Proxy, http_proxy]
profiles:
  - name: Work
  - name: work
routing:
  - {platform: slack, account: T0Abc, user: U0aBC, profile: Work}
`
	for range 20 { // an order of a map must not decide
		c := file(text, "SLACK_BOT_TOKEN=Xoxb-AbC", "HOMING_PLATFORMS_DISCORD_ADMINS=Ab,aB").load(t).Config
		got := strings.Join(slices.Concat([]string{c.Agent.Model}, c.Agent.Command, c.Platforms.Slack.AllowedUsers, []string{c.Platforms.Slack.HomeChat},
			c.Terminal.EnvPassthrough, []string{c.Profiles[0].Name, c.Profiles[1].Name, c.Routing[0].Account, c.Routing[0].User, c.Routing[0].Profile},
			[]string{c.Platforms.Slack.BotToken.Reveal()}, c.Platforms.Discord.Admins), " ")
		if want := "GPT-4.1 Npx -Y HTTP_Proxy=Foo U0ABC U0aBC C0MixedCase HTTP_Proxy http_proxy Work work T0Abc U0aBC Work Xoxb-AbC Ab aB"; got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	}
}

// A text is what stands there, whatever YAML would take it for; only true and false must be quoted.
func TestTextsAreNotGuessed(t *testing.T) {
	for written, want := range map[string]string{"4.10": "4.10", "007": "007", "1e3": "1e3", "off": "off", "No": "No", "2024-01-01": "2024-01-01", "!!str 5": "5", `"true"`: "true", "'~'": "~", `" x "`: " x "} {
		if got := file(model(written)).load(t).Config.Agent.Model; got != want {
			t.Errorf("%s gives %q, want %q", written, got, want)
		}
	}
}

// An unquoted off in a list of words is the word; letter case does not matter there.
func TestWords(t *testing.T) {
	c := file("terminal:\n  approvals: off\ndisplay:\n  tool_progress: OFF\n  background_process_notifications: \"off\"\nlog:\n  level: INFO\n").load(t).Config
	if c.Terminal.Approvals != config.ApprovalsOff || c.Display.ToolProgress != config.ProgressOff || c.Display.BackgroundProcessNotifications != config.NotifyOff || c.Log.Level != config.LevelInfo {
		t.Errorf("got %+v %+v %+v", c.Terminal, c.Display, c.Log)
	}
	if got := file("", "HOMING_DISPLAY_BUSY_INPUT=Queue").load(t).Config.Display.BusyInput; got != config.BusyQueue {
		t.Errorf("got %q", got)
	}
}

func TestSizes(t *testing.T) {
	for written, want := range map[string]int64{"64KB": 64_000, "64KiB": 65_536, "2MB": 2e6, "2MiB": 2 << 20, "1GB": 1e9, "1GiB": 1 << 30, `"1.5 MiB"`: 3 << 19, "8kib": 8192} {
		l := file("terminal:\n  output_limit: " + written + "\n").load(t)
		if got := l.Config.Terminal.OutputLimit.Bytes(); got != want {
			t.Errorf("%s is %d bytes, want %d", written, got, want)
		}
		again := file("terminal:\n  output_limit: " + shown(t, l, "terminal.output_limit").Value.(string) + "\n").load(t)
		if again.Config.Terminal.OutputLimit != l.Config.Terminal.OutputLimit {
			t.Errorf("%s is shown as %v", written, shown(t, l, "terminal.output_limit").Value)
		}
	}
}

func TestDurations(t *testing.T) {
	for written, want := range map[string]string{"0": "0", "0s": "0", "60s": "1m", "1h30m": "1h30m", "48h": "48h", "90s": "1m30s", "1h0m5s": "1h0m5s", "1500ms": "1.5s", `"10m"`: "10m", "100ns": "100ns"} {
		l := file("drain: " + written + "\n").load(t)
		if got := l.Config.Drain.String(); got != want {
			t.Errorf("%s is shown as %s, want %s", written, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		d := config.Duration(rapid.Int64Min(0).Draw(t, "d"))
		o := file("drain: " + d.String() + "\n").options()
		l, err := config.Load(o)
		if err != nil || l.Config.Drain.Std() != time.Duration(d) {
			t.Fatalf("%s reads back as %v, %v", d, l, err)
		}
	})
}

func TestAddresses(t *testing.T) {
	for written, want := range map[string]string{`""`: "", "127.0.0.1:0": "127.0.0.1:0", "\":8765\"": ":8765", "\"[::1]:80\"": "[::1]:80", "host.example:65535": "host.example:65535"} {
		if got := file("http:\n  listen: " + written + "\n").load(t).Config.HTTP.Listen; got != want {
			t.Errorf("%s gives %q, want %q", written, got, want)
		}
	}
	for written, want := range map[string]string{"http://127.0.0.1:1/v1": "http://127.0.0.1:1/v1", "https://x.example/": "https://x.example", "HTTPS://x.example": "HTTPS://x.example", `""`: ""} {
		if got := file("agent:\n  base_url: " + written + "\n").load(t).Config.Agent.BaseURL; got != want {
			t.Errorf("%s gives %q, want %q", written, got, want)
		}
	}
}
