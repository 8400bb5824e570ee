package example_test

import (
	"fmt"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/homing-gateway/homing/adapters/adaptertest"
	"github.com/homing-gateway/homing/adapters/adaptertest/example"
	"github.com/homing-gateway/homing/internal/chat"
)

const (
	bot    = "echo"
	secret = "pssst-0123456789"
)

// What every adapter has to do.
func TestConformance(t *testing.T) {
	adaptertest.Run(t, func(_ *testing.T, n *adaptertest.Network) adaptertest.Platform {
		return &platform{server: newServer(n.Listen()), net: n}
	})
}

// platform ties the server to the suite.
type platform struct {
	*server
	net *adaptertest.Network
}

func (p *platform) Traits() adaptertest.Traits {
	return adaptertest.Traits{
		Mention: "@" + bot, Literal: `{"text":"x"}` + "\n\\", Notices: 45 * time.Second, Secrets: []string{secret},
		Lacks: map[string]string{
			"a file comes with its message and is fetched whole, also after a restart": "no files",
			"pieces of an album say that they belong together":                         "no files",
			"a file that the platform does not hand over is refused as too_long":       "no files",
			"a file that breaks off is an error, and whole the next time":              "no files",
			"a file arrives whole, with its name and its caption":                      "no files",
			"an image is shown as one, and in plain form as a file":                    "no files",
			"the longest caption arrives whole":                                        "no files",
			"trouble of a file is told as that of a send":                              "no files",
			"a thread is a place of its own and can be answered":                       "no threads",
			"a thread that is gone is thread_gone":                                     "no threads",
			"a reply to us addresses us":                                               "no replies",
			"an answer names the message that it answers":                              "no replies",
			"markup that the platform does not take is refused as markup":              "no markup",
			"a message can be edited":                                                  "no edits of messages",
			"trouble of an edit is told as that of a send":                             "no edits of messages",
			"what arrived can be looked up":                                            "a repeat under the same key finds out",
			"what people wrote can be asked for":                                       "events wait for us instead",
			"buttons stand under a message, and a press is a command":                  "no buttons",
			"a typing sign is shown":                                                   "no such sign",
			"a session that the platform forgot loses nothing":                         "no sessions",
			"a request for another connection loses nothing":                           "no such request",
		},
	}
}

func (p *platform) Adapter(*zap.Logger) chat.Adapter {
	return &example.Adapter{Bot: bot, Token: secret, Addr: "platform.test:1", Dial: p.net.Dial}
}

func where(at adaptertest.Place) string {
	return map[adaptertest.Place]string{adaptertest.Direct: "alice", adaptertest.Shared: "#room"}[at]
}

func (p *platform) At(at adaptertest.Place) chat.Address {
	kind := map[adaptertest.Place]chat.PlaceType{adaptertest.Direct: chat.Direct, adaptertest.Shared: chat.Channel}[at]
	if kind == "" {
		return chat.Address{}
	}
	return chat.Address{Account: chat.Account{Profile: "default", Platform: "example", ID: bot}, Type: kind, Chat: where(at)}
}

func (p *platform) Who(person adaptertest.Person) string {
	switch person {
	case adaptertest.OtherBot:
		return "beeper"
	case adaptertest.Ourself:
		return bot
	default:
		return string(person)
	}
}

func (p *platform) Say(s adaptertest.Post) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.posts++
	id := fmt.Sprint(p.posts)
	p.push(map[string]any{
		"kind": "message", "chat": where(s.At), "from": p.Who(s.From), "bot": s.From == adaptertest.OtherBot || s.From == adaptertest.Ourself,
		"id": id, "text": s.Text, "at": time.Now(),
	})
	return id
}

func (p *platform) Alter(at adaptertest.Place, id, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.push(map[string]any{"kind": "edit", "chat": where(at), "id": id, "text": text})
}

func (p *platform) Press(adaptertest.Place, string, string) {}

func (p *platform) Again() {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := p.events[len(p.events)-1]
	p.acked[last.number] = false
	p.events = append(p.events, last)
	p.wake()
}

func (p *platform) Strange() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.push(map[string]any{"kind": "hologram", "chat": 17})
	p.push(map[string]any{"kind": "message", "chat": 17})
}

func (p *platform) Owed() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	owed := map[int64]bool{}
	for _, e := range p.events {
		if !p.acked[e.number] {
			owed[e.number] = true
		}
	}
	return len(owed)
}

func (p *platform) Seen(at adaptertest.Place) []adaptertest.Seen { return p.copyOf(where(at)) }

func (p *platform) Sends() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sends
}

func (p *platform) Strike(trouble adaptertest.Trouble) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch trouble {
	case adaptertest.ChatGone:
		p.gone["#room"] = "no chat"
	case adaptertest.Blocked:
		p.gone["alice"] = "blocked"
	case adaptertest.Revoked:
		p.revoked = true
	default:
		p.trouble = trouble
	}
	p.wake()
}

func (p *platform) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trouble, p.revoked, p.gone["alice"] = "", false, ""
}
