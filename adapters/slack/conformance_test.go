package slack_test

import (
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/homing-gateway/homing/adapters/adaptertest"
	"github.com/homing-gateway/homing/adapters/adaptertest/fakeslack"
	"github.com/homing-gateway/homing/adapters/slack"
	"github.com/homing-gateway/homing/internal/chat"
)

// What every adapter has to do. N-05 N-06 N-17 N-21 N-22 N-26 N-27 R-08 R-09 X-13
func TestConformance(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, n *adaptertest.Network) adaptertest.Platform {
		sl := workspace()
		sl.Serve(n.Listen())
		sl.Called("slack.test")
		t.Cleanup(sl.Close)
		root := sl.Say(fakeslack.Post{Channel: random, From: bob, Text: "a root"})
		sl.Forgive()
		return &platform{t: t, sl: sl, net: n, root: root}
	})
}

// platform is the fake Slack as the suite knows it.
type platform struct {
	t    *testing.T
	sl   *fakeslack.Server
	net  *adaptertest.Network
	root string // of the thread
}

func (p *platform) Traits() adaptertest.Traits {
	return adaptertest.Traits{
		Name: "Slack", Mention: mention, Literal: "<!channel> &amp; <@U0ALICE> *b* _i_ `c`", Notices: slack.DefaultSilence,
		Secrets: []string{botToken[5:], appToken[5:], botToken[5:22], appToken[5:20]},
		Lacks: map[string]string{
			"pieces of an album say that they belong together":            "files that are sent as one come in one message",
			"an image is shown as one, and in plain form as a file":       "every image is shown as one",
			"markup that the platform does not take is refused as markup": "Slack shows what it cannot read as it is",
			"an answer names the message that it answers":                 "an answer would be a thread, which is a place of its own",
			"a repeat under the same key makes one message":               "chat.postMessage has no key; what arrived is looked up instead",
			"a session that the platform forgot loses nothing":            "a socket has no session",
			"a typing sign is shown":                                      "Slack has none for bots",
		},
	}
}

func (p *platform) Adapter(log *zap.Logger) chat.Adapter {
	a, err := slack.New(slack.Options{
		BotToken: botToken, AppToken: appToken, APIURL: "http://slack.test/api", ReplyInThread: true, Dial: p.net.Dial, Log: log,
	}, identity)
	if err != nil {
		p.t.Fatal(err)
	}
	return a
}

func (p *platform) At(at adaptertest.Place) chat.Address {
	switch at {
	case adaptertest.Direct:
		return chat.Address{Account: account, Type: chat.Direct, Chat: direct}
	case adaptertest.Thread:
		return chat.Address{Account: account, Type: chat.Thread, Chat: random, Thread: p.root}
	}
	return chat.Address{Account: account, Type: chat.Channel, Chat: general}
}

func (p *platform) Who(who adaptertest.Person) string {
	return map[adaptertest.Person]string{
		adaptertest.Alice: alice, adaptertest.Bob: bob, adaptertest.OtherBot: beeper, adaptertest.Ourself: fakeslack.BotUser,
	}[who]
}

func (p *platform) Say(s adaptertest.Post) string {
	at := p.At(s.At)
	if s.ReplyTo != "" {
		at.Thread = s.ReplyTo
	}
	text := s.Text
	if !strings.Contains(text, mention) {
		text = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
	}
	post := fakeslack.Post{Channel: at.Chat, Thread: at.Thread, From: p.Who(s.From), Text: text}
	if f := s.File; f != nil {
		sent := fakeslack.File{Name: f.Name, MIME: f.MIME, Data: f.Data, Size: f.Size}
		if f.Kind == chat.Voice {
			sent.More = map[string]any{"subtype": "slack_audio"}
		}
		post.Files = []fakeslack.File{sent}
	}
	return p.sl.Say(post)
}

func (p *platform) Alter(at adaptertest.Place, messageID, text string) {
	p.sl.Alter(p.At(at).Chat, messageID, text)
}

func (p *platform) Press(at adaptertest.Place, messageID, label string) {
	p.sl.Press(p.At(at).Chat, messageID, alice, label)
}

func (p *platform) Again() { p.sl.Again() }

func (p *platform) Strange() {
	p.sl.Deliver("telepathy", map[string]any{"thought": 1})
	p.sl.Event(map[string]any{"type": "message", "channel": direct, "channel_type": "im", "user": alice, "ts": "1.000001", "text": []int{1}})
	p.sl.Event(map[string]any{"type": "hologram_shown", "channel": general, "ts": "1.000002"})
	p.sl.Deliver("events_api", "not even an object")
	p.sl.Deliver("interactive", map[string]any{"type": "gesture"})
}

func (p *platform) Owed() int { return p.sl.Owed() }

func (p *platform) Seen(at adaptertest.Place) []adaptertest.Seen {
	a := p.At(at)
	var out []adaptertest.Seen
	for _, m := range p.sl.Visible(a.Chat) {
		if m.Thread == a.Thread && m.Raw != "echo" {
			seen := adaptertest.Seen{ID: m.TS, Text: m.Text(), Buttons: m.Buttons()}
			for _, f := range m.Files {
				seen.File = &adaptertest.SeenFile{Name: f.Name, Data: f.Data}
			}
			out = append(out, seen)
		}
	}
	return out
}

func (p *platform) Sends() int {
	return len(p.sl.Calls("chat.postMessage")) + len(p.sl.Calls("files.completeUploadExternal"))
}

func (p *platform) Strike(trouble adaptertest.Trouble) {
	var f fakeslack.Fault
	switch trouble {
	case adaptertest.Busy:
		f.Status, f.RetryAfter = 429, int(adaptertest.Wait.Seconds())
	case adaptertest.Broken:
		f.Status = 503
	case adaptertest.Silent:
		f.Hang, f.Stored = true, true
	case adaptertest.CutAfter:
		f.Drop, f.Stored = true, true
	case adaptertest.CutBefore:
		f.Drop = true
	case adaptertest.CutFile:
		p.sl.Add(fakeslack.Fault{Method: "download", Drop: true})
		return
	case adaptertest.ChatGone:
		p.sl.Forget(general)
		return
	case adaptertest.ThreadGone:
		p.sl.Delete(random, p.root)
		return
	case adaptertest.Blocked:
		p.sl.Restrict(direct, true)
		return
	case adaptertest.Revoked:
		p.sl.Revoke("token_revoked")
		return
	case adaptertest.AskedToMove:
		p.sl.Disconnect("refresh_requested", adaptertest.Wait)
		return
	}
	for _, method := range []string{"chat.postMessage", "chat.update", "files.completeUploadExternal"} {
		f.Method = method
		p.sl.Add(f)
	}
}

func (p *platform) Heal() {
	p.sl.Clear()
	p.sl.Restrict(direct, false)
	p.sl.Revoke("")
}
