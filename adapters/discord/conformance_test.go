package discord_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/homing-gateway/homing/adapters/adaptertest"
	"github.com/homing-gateway/homing/adapters/adaptertest/fakediscord"
	"github.com/homing-gateway/homing/adapters/discord"
	"github.com/homing-gateway/homing/internal/chat"
)

// What every adapter has to do. N-06 N-08 N-11 N-12 N-16 R-08 S-01 S-02 X-08 X-13
func TestConformance(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, n *adaptertest.Network) adaptertest.Platform {
		dc := discordWith()
		dc.Serve(n.Listen())
		dc.Called("discord.test")
		t.Cleanup(dc.Close)
		return &platform{t: t, dc: dc, net: n}
	})
}

// platform is the fake Discord as the suite knows it.
type platform struct {
	t    *testing.T
	dc   *fakediscord.Server
	net  *adaptertest.Network
	last string // the last message
}

func (p *platform) Traits() adaptertest.Traits {
	_, secret, _ := strings.Cut(token, ".")
	return adaptertest.Traits{
		Name: "Discord", Mention: "<@" + bot + ">", Literal: "**a** ||b|| # c > d `e` \\* <@!5> [x](y)",
		Notices: 41250*time.Millisecond + discord.DefaultAckTimeout,
		Secrets: []string{secret, "SecretOfTheBot"},
		Lacks: map[string]string{
			"pieces of an album say that they belong together":            "files that are sent as one come in one message",
			"an image is shown as one, and in plain form as a file":       "every image is shown as one",
			"an event is acknowledged only once it is stored":             "the gateway has no acknowledgements; what was missed is asked for",
			"markup that the platform does not take is refused as markup": "every text is valid",
			"what arrived can be looked up":                               "a repeat makes no second message instead",
		},
	}
}

func (p *platform) Adapter(log *zap.Logger) chat.Adapter {
	a, err := discord.New(discord.Options{Token: token, APIURL: "http://discord.test/api", Dial: p.net.Dial, Dir: p.t.TempDir(), Log: log})
	if err != nil {
		p.t.Fatal(err)
	}
	return a
}

func (p *platform) At(at adaptertest.Place) chat.Address {
	return map[adaptertest.Place]chat.Address{adaptertest.Direct: inDirect(), adaptertest.Shared: inSquare(), adaptertest.Thread: inCorner()}[at]
}

func where(at adaptertest.Place) string {
	return map[adaptertest.Place]string{adaptertest.Direct: direct, adaptertest.Shared: square, adaptertest.Thread: corner}[at]
}

func (p *platform) Who(who adaptertest.Person) string {
	return map[adaptertest.Person]string{
		adaptertest.Alice: alice, adaptertest.Bob: bob, adaptertest.OtherBot: otherBot, adaptertest.Ourself: bot,
	}[who]
}

func (p *platform) Say(s adaptertest.Post) string {
	post := fakediscord.Post{Channel: where(s.At), From: p.Who(s.From), Text: s.Text, ReplyTo: s.ReplyTo}
	if f := s.File; f != nil {
		post.Files = []fakediscord.File{{Name: f.Name, MIME: f.MIME, Data: f.Data, Size: f.Size, Voice: f.Kind == chat.Voice}}
	}
	p.last = p.dc.Say(post)
	return p.last
}

func (p *platform) Alter(_ adaptertest.Place, id, text string) { p.dc.Alter(id, text) }

func (p *platform) Press(at adaptertest.Place, id, label string) {
	for _, m := range p.dc.Visible(where(at)) {
		for _, b := range m.Buttons {
			if m.ID == id && b.Label == label {
				p.dc.Press(id, alice, b.ID)
			}
		}
	}
}

func (p *platform) Again() { p.dc.Repeat(p.last) }

func (p *platform) Strange() {
	p.dc.Dispatch("HOLOGRAM_CREATE", map[string]any{"id": []int{1}})
	p.dc.Dispatch("MESSAGE_CREATE", map[string]any{"id": "55", "channel_id": direct, "author": "nobody"})
	p.dc.Dispatch("THREAD_CREATE", "not even an object")
}

func (p *platform) Owed() int { return 0 }

// shown is a text as it is read: a backslash before a mark of Markdown is not seen.
func shown(text string) string {
	return regexp.MustCompile(`\\([!-/:-@[-`+"`"+`{-~])`).ReplaceAllString(text, "$1")
}

func (p *platform) Seen(at adaptertest.Place) []adaptertest.Seen {
	var out []adaptertest.Seen
	for _, m := range p.dc.Visible(where(at)) {
		s := adaptertest.Seen{ID: m.ID, Text: shown(m.Content), ReplyTo: m.ReplyTo}
		for _, b := range m.Buttons {
			s.Buttons = append(s.Buttons, b.Label)
		}
		for _, f := range m.Files {
			s.File = &adaptertest.SeenFile{Name: f.Name, Data: f.Data}
		}
		out = append(out, s)
	}
	return out
}

func (p *platform) Sends() int { return len(p.dc.Calls("POST messages")) }

func (p *platform) Strike(trouble adaptertest.Trouble) {
	var f fakediscord.Fault
	switch trouble {
	case adaptertest.Busy:
		f.Status, f.RetryAfter = 429, adaptertest.Wait.Seconds()
	case adaptertest.Broken:
		f.Status, f.Message = 500, "500: Internal Server Error"
	case adaptertest.Silent:
		f.Hang, f.Stored = true, true
	case adaptertest.CutAfter:
		f.Drop, f.Stored = true, true
	case adaptertest.CutBefore:
		f.Drop = true
	case adaptertest.CutFile:
		p.dc.Add(fakediscord.Fault{Name: "GET attachment", Drop: true})
		return
	case adaptertest.ChatGone:
		p.dc.Remove(square)
		return
	case adaptertest.ThreadGone:
		p.dc.Remove(corner)
		return
	case adaptertest.Blocked:
		p.dc.Block(direct, true)
		return
	case adaptertest.Forgotten:
		p.dc.Invalidate(false)
		return
	case adaptertest.AskedToMove:
		p.dc.Reconnect()
		return
	case adaptertest.Revoked:
		p.dc.Revoke(true)
		return
	}
	for _, name := range []string{"POST messages", "PATCH messages", "DELETE messages"} {
		f.Name = name
		p.dc.Add(f)
	}
}

func (p *platform) Heal() {
	p.dc.Clear()
	p.dc.Block(direct, false)
	p.dc.Revoke(false)
}
