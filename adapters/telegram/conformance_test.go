package telegram_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/homing-gateway/homing/adapters/adaptertest"
	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
	"github.com/homing-gateway/homing/adapters/telegram"
	"github.com/homing-gateway/homing/internal/chat"
)

// What every adapter has to do: D-03 D-05 D-27 D-28 N-03 N-05 N-06 N-16 R-08 R-09 S-01 X-08 X-13.
func TestConformance(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, n *adaptertest.Network) adaptertest.Platform {
		tg := telegramWith(token)
		tg.Serve(n.Listen())
		t.Cleanup(tg.Close)
		return &platform{t: t, tg: tg, net: n}
	})
}

// platform is the fake Telegram as the suite knows it.
type platform struct {
	t    *testing.T
	tg   *faketelegram.Server
	net  *adaptertest.Network
	last func() // delivers the last update again
}

func (p *platform) Traits() adaptertest.Traits {
	_, secret, _ := strings.Cut(token, ":")
	return adaptertest.Traits{
		Name: "Telegram", Mention: "@" + botName,
		BadMarkup: "<b>not closed", Literal: "<b>a</b> &amp; [x](tg://user?id=1) *b*",
		Notices: telegram.DefaultPollTime + telegram.DefaultPollMargin,
		Secrets: []string{secret, secret[:12]},
		Lacks: map[string]string{
			"what arrived can be looked up":                  "the Bot API tells nobody what a bot has sent",
			"what people wrote can be asked for":             "updates wait for us instead, for 24 hours",
			"a repeat under the same key makes one message":  "the Bot API has no key of a message",
			"a request for another connection loses nothing": "every poll is a call of its own",
		},
	}
}

func (p *platform) Adapter(log *zap.Logger) chat.Adapter {
	a, err := telegram.New(telegram.Options{Token: token, APIURL: "http://telegram.test", Dial: p.net.Dial, Log: log})
	if err != nil {
		p.t.Fatal(err)
	}
	return a
}

// where gives the chat and the topic of a place.
func where(at adaptertest.Place) (id, topic int64) {
	switch at {
	case adaptertest.Direct:
		return alice, 0
	case adaptertest.Thread:
		return forum, 7
	default:
		return super, 0
	}
}

func who(p adaptertest.Person) int64 {
	return map[adaptertest.Person]int64{adaptertest.Alice: alice, adaptertest.Bob: bob, adaptertest.OtherBot: 2001, adaptertest.Ourself: 4711}[p]
}

func (p *platform) At(at adaptertest.Place) chat.Address {
	a := chat.Address{Account: account, Type: map[adaptertest.Place]chat.PlaceType{
		adaptertest.Direct: chat.Direct, adaptertest.Shared: chat.Group, adaptertest.Thread: chat.Thread,
	}[at]}
	id, topic := where(at)
	if a.Chat = fmt.Sprint(id); topic != 0 {
		a.Thread = fmt.Sprint(topic)
	}
	return a
}

func (p *platform) Who(person adaptertest.Person) string { return fmt.Sprint(who(person)) }

func (p *platform) Say(s adaptertest.Post) string {
	id, topic := where(s.At)
	reply, _ := strconv.ParseInt(s.ReplyTo, 10, 64)
	post := faketelegram.Post{Chat: id, Thread: topic, From: who(s.From), Text: s.Text, ReplyTo: reply, Album: s.Album}
	if f := s.File; f != nil {
		kind := map[chat.FileKind]string{chat.Photo: "photo", chat.Voice: "voice", chat.Document: "document"}[f.Kind]
		post.File = &faketelegram.File{Kind: kind, Name: f.Name, MIME: f.MIME, Data: f.Data, Size: f.Size}
	}
	message, update := p.tg.Say(post)
	p.last = func() { p.tg.Repeat(update) }
	return fmt.Sprint(message)
}

func (p *platform) Alter(at adaptertest.Place, messageID, text string) {
	id, _ := where(at)
	message, _ := strconv.ParseInt(messageID, 10, 64)
	p.tg.Alter(id, message, text)
}

func (p *platform) Press(at adaptertest.Place, messageID, label string) {
	id, _ := where(at)
	message, _ := strconv.ParseInt(messageID, 10, 64)
	p.tg.Press(id, message, alice, label)
}

func (p *platform) Again() { p.last() }

func (p *platform) Strange() {
	p.tg.Deliver("message", "not even an object")
	p.tg.Deliver("message", map[string]any{
		"message_id": 5, "date": 1, "chat": map[string]any{"id": alice, "type": "private"}, "forward_origin": map[string]any{"type": "telepathy"}, "text": "x",
	})
	p.tg.Deliver("edited_message", map[string]any{"message_id": 1, "date": 1, "chat": map[string]any{"id": alice, "type": "holodeck"}, "hologram": 1})
}

func (p *platform) Owed() int { return p.tg.Waiting() }

func (p *platform) Seen(at adaptertest.Place) []adaptertest.Seen {
	id, topic := where(at)
	var out []adaptertest.Seen
	for _, m := range p.tg.Visible(id) {
		if m.Thread != topic {
			continue
		}
		s := adaptertest.Seen{ID: fmt.Sprint(m.ID), Text: m.Text}
		if m.ReplyTo != 0 {
			s.ReplyTo = fmt.Sprint(m.ReplyTo)
		}
		if f := m.File; f != nil {
			s.File = &adaptertest.SeenFile{Name: f.Name, Data: f.Data, Image: f.Kind == "photo"}
		}
		for _, b := range m.Buttons {
			s.Buttons = append(s.Buttons, b.Text)
		}
		out = append(out, s)
	}
	return out
}

func (p *platform) Sends() int {
	return len(p.tg.Calls("sendMessage")) + len(p.tg.Calls("sendDocument")) + len(p.tg.Calls("sendPhoto"))
}

func (p *platform) Strike(trouble adaptertest.Trouble) {
	var f faketelegram.Fault
	switch trouble {
	case adaptertest.Busy:
		f.Status, f.RetryAfter = 429, int(adaptertest.Wait.Seconds())
		f.Description = fmt.Sprintf("Too Many Requests: retry after %d", f.RetryAfter)
	case adaptertest.Broken:
		f.Status, f.Body = 502, "<html>Bad Gateway: no answer to /bot"+token+"/sendMessage</html>" // as a proxy may put it
	case adaptertest.Silent:
		f.Hang, f.Stored = true, true
	case adaptertest.CutAfter:
		f.Drop, f.Stored = true, true
	case adaptertest.CutBefore:
		f.Drop = true
	case adaptertest.CutFile:
		p.tg.Add(faketelegram.Fault{Method: "download", Drop: true})
		return
	case adaptertest.ChatGone:
		p.tg.Forget(super)
		return
	case adaptertest.ThreadGone:
		p.tg.Topic(forum, 7, false)
		return
	case adaptertest.Blocked:
		p.tg.Block(alice, true)
		return
	case adaptertest.Forgotten:
		p.tg.Renumber(40)
		return
	case adaptertest.Revoked:
		p.tg.Revoke(true)
		return
	}
	for _, method := range []string{"sendMessage", "sendDocument", "sendPhoto", "editMessageText"} {
		f.Method = method
		p.tg.Add(f)
	}
}

func (p *platform) Heal() {
	p.tg.Clear()
	p.tg.Block(alice, false)
	p.tg.Revoke(false)
}
