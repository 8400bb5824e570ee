package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/homing-gateway/homing/adapters/adaptertest/fakeslack"
	fake "github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

// Who and what there is in the workspace. The owner and the guest are allowed, the stranger is not.
const (
	slackOwner, slackGuest, slackStranger = "U0OWNER", "U0GUEST", "U0STRANGER"

	slackDM, slackGeneral, slackRandom = "D0OWNER", "C0GENERAL", "C0RANDOM"

	slackMe = "<@" + fakeslack.BotUser + ">"
)

// withSlack puts a Slack beside the world's Telegram.
func (w *world) withSlack(changes settings) *world {
	w.Helper()
	n := worlds.Add(1)
	bot, app := fmt.Sprintf("xoxb-secret-of-the-bot-%d", n), fmt.Sprintf("xapp-secret-of-the-app-%d", n)
	w.sl = fakeslack.New(bot, app)
	if err := w.sl.Listen(); err != nil {
		w.Fatal(err)
	}
	w.sl.Person(slackOwner, "Owner", slackDM)
	w.sl.Person(slackGuest, "Guest", "D0GUEST")
	w.sl.Person(slackStranger, "Stranger", "D0STRANGER")
	w.sl.Channel(slackGeneral, "general", "channel")
	w.sl.Channel(slackRandom, "random", "channel")
	maps.Copy(w.config, settings{
		"platforms.slack.bot_token": bot, "platforms.slack.app_token": app, "platforms.slack.api_url": w.sl.URL(),
		"platforms.slack.allowed_users": []string{slackOwner, slackGuest},
	})
	maps.Copy(w.config, changes)
	w.configure()
	return w
}

func (w *world) slackListens() bool {
	if w.sl == nil || w.config["platforms.slack.bot_token"] == nil {
		return true
	}
	open, _ := w.sl.Sockets()
	return open > 0
}

// spot is a place in Slack: a channel, or a thread in it.
type spot struct {
	*world
	channel, person string
	root            string // of a thread; "new": the next thing said opens it
}

func (w *world) slackAt(name, channel, root string) *place {
	return &place{world: w, name: name, slack: &spot{world: w, channel: channel, person: slackOwner, root: root}}
}

func (w *world) slackDirect() *place  { return w.slackAt("slack-dm", slackDM, "") }
func (w *world) slackChannel() *place { return w.slackAt("slack-channel", slackGeneral, "") }

// slackMention is the thread that the agent opens under a mention in a channel.
func (w *world) slackMention() *place { return w.slackAt("slack-mention", slackGeneral, "new") }

// slackThread is a thread that was there before the agent.
func (w *world) slackThread() *place {
	return w.slackAt("slack-thread", slackRandom, w.sl.Say(fakeslack.Post{Channel: slackRandom, From: slackGuest, Text: "a root"}))
}

func (s *spot) route() string {
	at := fmt.Sprintf("default:slack:%s:", fakeslack.Team)
	switch {
	case s.channel == slackDM:
		return at + "direct:" + s.channel
	case s.root != "":
		return at + "thread:" + s.channel + ":" + s.root
	}
	return at + "channel:" + s.channel + "::" + s.person
}

// say mentions the agent only where that is needed: not in a direct chat, and not in a thread in which it takes part.
func (s *spot) say(text string) {
	root := s.root
	if root == "new" {
		root = ""
	}
	if s.channel != slackDM && (root == "" || len(s.visible()) == 0) {
		text = slackMe + " " + text
	}
	if ts := s.sl.Say(fakeslack.Post{Channel: s.channel, Thread: root, From: s.person, Text: text}); s.root == "new" {
		s.root = ts
	}
}

func (s *spot) visible() []fakeslack.Message {
	var out []fakeslack.Message
	for _, m := range s.sl.Visible(s.channel) {
		if m.Thread == s.root {
			out = append(out, m)
		}
	}
	return out
}

// onSlackElsewhere counts the messages with a text that are seen in Slack outside of the place.
func (p *place) onSlackElsewhere(text string) (n int) {
	if p.sl == nil {
		return 0
	}
	for _, channel := range []string{slackDM, "D0GUEST", "D0STRANGER", slackGeneral, slackRandom} {
		for _, m := range p.sl.Visible(channel) {
			if strings.Contains(m.Text(), text) && (p.slack == nil || m.Channel != p.slack.channel || m.Thread != p.slack.root) {
				n++
			}
		}
	}
	return n
}

// [C-01]: the takeover in a channel of Slack whose mentions are answered there.
func TestTakeoverInASlackChannel(t *testing.T) {
	w := newWorld(t, nil).withSlack(settings{"platforms.slack.reply_in_thread": false})
	w.start()
	study(w.slackChannel(), 1).takeover("while the subagent lives", false)
}

// A mention is answered in its thread and goes on there without another one; the thread is a conversation of its own. Who is
// not allowed is not heard, and what others say to each other is not either.
func TestSlackPlaces(t *testing.T) {
	w := newWorld(t, nil).withSlack(nil)
	w.answers("first", "one")
	w.model.When(fake.All(fake.Says("second"), knows("first")), fake.Say("two"))
	w.model.When(fake.All(fake.Says("aside"), fake.Not(knows("first"))), fake.Say("apart"))
	w.start()
	p := w.slackMention()
	p.ask("first", "one")
	p.ask("second", "two")
	q := w.slackMention()
	q.ask("aside", "apart")
	p.once("two")
	q.once("apart")
	said := len(w.sl.Calls("chat.postMessage"))
	w.sl.Say(fakeslack.Post{Channel: slackGeneral, From: slackStranger, Text: slackMe + " evil"})
	w.sl.Say(fakeslack.Post{Channel: slackGeneral, Thread: p.slack.root, From: slackStranger, Text: "evil"})
	w.sl.Say(fakeslack.Post{Channel: slackGeneral, From: slackOwner, Text: "to all"})
	w.sl.Say(fakeslack.Post{Channel: slackRandom, Thread: "1.1", From: slackOwner, Text: "to some"})
	w.sl.Say(fakeslack.Post{Channel: slackGeneral, From: slackOwner, Text: "<@" + slackGuest + "> to you"})
	asks := len(w.model.Asks())
	w.until("all is acknowledged", func() bool { return w.sl.Owed() == 0 })
	w.never("somebody else is answered", func() bool { return len(w.model.Asks()) != asks || len(w.sl.Calls("chat.postMessage")) != said })
}

// [U-01]: commands in Slack: !name in a thread, /homing name anywhere. They are answered at once and never enter a transcript.
func TestSlackCommands(t *testing.T) {
	w := newWorld(t, nil).withSlack(nil)
	w.answers("hello", "hi")
	w.start()
	p := w.slackMention()
	p.ask("hello", "hi")
	if got := p.command("!whoami"); !strings.Contains(got, slackOwner) || !strings.Contains(got, p.route()) {
		t.Errorf("!whoami: %q", got)
	}
	d := w.slackDirect()
	w.sl.Slash(slackDM, slackOwner, "/homing", "whoami")
	d.sees("default:slack:" + fakeslack.Team + ":direct:" + slackDM)
	w.sl.Slash(slackDM, slackOwner, "/homing", "")
	d.sees("/undelivered")
	if n := len(w.asked(fake.Says("whoami"))); n != 0 {
		t.Error("a command entered the transcript")
	}
}

// The workspace is asked for once. A start without Slack knows it afterwards, takes nothing for lost, and sends what waited
// when Slack is back; a first start without Slack waits for it.
func TestSlackIsAwayAtTheStart(t *testing.T) {
	w := newWorld(t, nil).withSlack(nil)
	w.answers("hello", "hi there")
	w.sl.Down()
	w.begin("")
	w.until("the gateway is ready without Slack", func() bool { return w.status("slack") == "connecting" })
	if out := w.run("send", "--to", "slack:"+slackDM, "x"); out.code == 0 || !strings.Contains(out.err, "homing status") {
		t.Errorf("a route before the workspace is known: %+v", out)
	}
	w.slackIsBack()
	w.until("Slack is up", func() bool { return w.status("slack") == "up" })
	p := w.slackDirect()
	p.ask("hello", "hi there")
	w.sl.Down()
	w.do("send", "--to", "slack:"+slackDM, "it waits")
	w.until("it waits", func() bool { q := w.queue(); return len(q) == 1 && q[0].State == "queued" })
	w.stop()
	w.begin("")
	w.until("the gateway is ready without Slack", func() bool { return w.status("slack") == "connecting" })
	w.do("send", "--to", "slack:"+slackDM, "so does that") // the workspace is known
	if q := w.queue(); len(q) != 2 {
		t.Errorf("the queue holds %+v", q)
	}
	w.slackIsBack()
	p.sees("so does that")
	p.once("it waits")
	w.stop()

	// The same with a folder that has forgotten the workspace: what was queued waits until it is known.
	w.start()
	w.sl.Down()
	w.do("send", "--to", "slack:"+slackDM, "it waits, too")
	w.until("it waits", func() bool { return len(w.queue()) == 1 })
	w.stop()
	if err := os.Remove(filepath.Join(w.data(), "slack.json")); err != nil {
		t.Fatal(err)
	}
	w.begin("")
	w.until("the gateway is ready without Slack", func() bool { return w.status("slack") == "connecting" })
	w.slackIsBack()
	p.sees("it waits, too")
	p.once("it waits, too")
}

// slackIsBack lets Slack listen again where it did. Somebody's connection may just be using that port.
func (w *world) slackIsBack() {
	w.Helper()
	w.until("Slack listens again", func() bool { return w.sl.Up() == nil })
}

// status gives the state of a platform.
func (w *world) status(platform string) string {
	r := w.run("status", "--json")
	var s struct {
		Platforms []struct{ Platform, State, Cause, Remedy string }
	}
	if r.code != 0 || json.Unmarshal([]byte(r.out), &s) != nil {
		return ""
	}
	for _, p := range s.Platforms {
		if p.Platform == platform {
			return p.State
		}
	}
	return ""
}

// [N-30]: a token that is revoked at runtime parks Slack, with a remedy, and nobody else.
func TestSlackTokenIsRevoked(t *testing.T) {
	w := newWorld(t, nil).withSlack(nil)
	w.answers("hello", "hi")
	w.start()
	w.sl.Revoke("token_revoked")
	w.until("Slack is parked", func() bool { return w.status("slack") == "parked" })
	if out := w.do("status"); !strings.Contains(out, "SLACK_BOT_TOKEN") {
		t.Errorf("no remedy in %s", out)
	}
	w.direct().ask("hello", "hi")
	calls := len(w.sl.Calls(""))
	w.never("Slack is called again and again with a revoked token", func() bool { return len(w.sl.Calls(""))-calls > 1 })
}

// [U-17]: what is wrong with Slack's tokens is named by doctor, with a remedy and without a token.
func TestDoctorKnowsSlack(t *testing.T) {
	w := newWorld(t, nil).withSlack(nil)
	if r := w.run("doctor"); r.code != 0 || !strings.Contains(r.out, "both tokens work") {
		t.Errorf("a sound installation: %+v", r)
	}
	w.sl.Scopes("chat:write,im:history")
	if r := w.run("doctor"); r.code != 1 || !strings.Contains(r.out, "channels:history") || strings.Contains(r.out, " im:history") {
		t.Errorf("without scopes: %+v", r)
	}
	w.sl.Add(fakeslack.Fault{Method: "apps.connections.open", Error: "missing_scope", Needed: "connections:write"})
	if r := w.run("doctor"); r.code != 1 || !strings.Contains(r.out, "connections:write") {
		t.Errorf("an app token without its scope: %+v", r)
	}
	w.sl.Revoke("invalid_auth")
	if r := w.run("doctor", "--json"); r.code != 1 || !strings.Contains(r.out, "bad_credential") || !strings.Contains(r.out, "SLACK_BOT_TOKEN") {
		t.Errorf("a bad token: %+v", r)
	}
	w.config["platforms.slack.bot_token"] = "xapp-the-wrong-secret"
	w.configure()
	if r := w.run("run"); r.code != 78 || !strings.Contains(r.err, "xoxb-") || strings.Contains(r.err, "wrong-secret") {
		t.Errorf("a start with a token of another kind: %+v", r)
	}
}

// [D-25]: an archived channel: one try, a dead letter that says why, and all is well when it is back.
func TestSlackChannelIsArchived(t *testing.T) {
	w := newWorld(t, nil).withSlack(nil)
	w.answers("hello", "hi")
	w.start()
	w.sl.Archive(slackGeneral, true)
	w.do("send", "--to", "slack:"+slackGeneral, "news")
	w.until("a dead letter", func() bool { q := w.queue(); return len(q) == 1 && q[0].State == "dead" })
	if out := w.do("queue", "show", w.queue()[0].ID); !strings.Contains(out, "is_archived") {
		t.Errorf("no reason in %s", out)
	}
	if n := len(w.sl.Calls("chat.postMessage")); n != 1 {
		t.Errorf("%d tries", n)
	}
	w.sl.Archive(slackGeneral, false)
	w.slackMention().ask("hello", "hi")
}

// [D-03]: Slack is asked for what may have arrived, after a send without an answer and after a crash in mid-send. What
// arrived is not sent again, what did not is, and nothing bears a mark.
func TestSlackIsAskedWhatArrived(t *testing.T) {
	for _, crash := range []bool{false, true} {
		for _, arrives := range []bool{true, false} {
			for _, away := range []bool{false, true} {
				t.Run(fmt.Sprintf("crash=%t/arrives=%t/away=%t", crash, arrives, away), func(t *testing.T) {
					limit := "500ms"
					if crash {
						limit = "1h"
					}
					w := newWorld(t, nil).withSlack(settings{"delivery.send_timeout": limit})
					w.answers("hello", "the answer")
					w.answers("and you?", "well")
					w.start()
					w.sl.Add(fakeslack.Fault{Method: "chat.postMessage", Contains: "the answer", Times: 1, Hang: true, Stored: arrives})
					if away {
						w.sl.Add(fakeslack.Fault{Method: "conversations.replies", Times: 3, Status: 503})
						w.sl.Add(fakeslack.Fault{Method: "conversations.history", Times: 3, Status: 503})
					}
					p := w.slackThread()
					p.say("hello")
					w.until("it is sent", func() bool { return len(w.sl.Calls("chat.postMessage")) == 1 })
					if crash {
						w.kill()
						w.start()
					}
					p.sees("the answer")
					w.until("nothing is left", func() bool { return len(w.queue()) == 0 })
					p.once("the answer")
					if seen := p.seen(); strings.Contains(seen, "♻") {
						t.Errorf("a mark: %q", seen)
					}
					want := map[bool]int{true: 1, false: 2}[arrives]
					if n := len(w.sl.Calls("chat.postMessage")); n != want {
						t.Errorf("%d sends, want %d", n, want)
					}
					if n := len(w.sl.Calls("conversations.replies")); away && n < 4 || n == 0 {
						t.Errorf("Slack was asked %d times", n)
					}
					p.ask("and you?", "well")
				})
			}
		}
	}
}

// [D-03]: where Slack cannot be asked, an open outcome is held and named, and the chat goes on.
func TestSlackCannotBeAsked(t *testing.T) {
	w := newWorld(t, nil).withSlack(settings{"delivery.send_timeout": "500ms"})
	w.answers("hello", "the answer")
	w.answers("and you?", "well")
	w.start()
	w.sl.Add(fakeslack.Fault{Method: "chat.postMessage", Contains: "the answer", Times: 1, Hang: true})
	w.sl.Add(fakeslack.Fault{Method: "conversations.history", Error: "not_in_channel"})
	p := w.slackDirect()
	p.say("hello")
	w.until("it is held", func() bool { q := w.queue(); return len(q) == 1 && q[0].State == "unknown" })
	p.ask("and you?", "well")
}
