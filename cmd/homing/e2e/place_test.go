package e2e

import (
	"fmt"
	"strings"
	"sync"

	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
	"github.com/homing-gateway/homing/internal/chat"
)

// place is where a person talks with the agent: a chat of the fake Telegram, a channel of the fake Discord, or a terminal.
type place struct {
	*world
	name         string
	chat, thread int64
	person       int64
	discord      chat.PlaceType // of a place of the fake Discord, whose chat is the channel
	screen       *screen        // of a terminal
	slack        *spot          // of Slack
}

// screen is what a terminal has shown.
type screen struct {
	mu   sync.Mutex
	text strings.Builder
}

func (w *world) in(name string, chat, thread, person int64) *place {
	return &place{world: w, name: name, chat: chat, thread: thread, person: person}
}

func (w *world) direct() *place  { return w.in("direct", owner, 0, owner) }
func (w *world) inGroup() *place { return w.in("group", group, 0, owner) }
func (w *world) inTopic() *place { return w.in("topic", forum, 7, owner) }
func (w *world) console() *place { return &place{world: w, name: "console", screen: &screen{}} }

// word is a word that occurs in this place only.
func (p *place) word(s string) string { return p.name + "-" + s + "-x" }

// route is the place as the product prints it.
func (p *place) route() string {
	if p.screen != nil {
		return "default:console:local:direct:console"
	}
	if p.discord != "" {
		return p.discordRoute()
	}
	account, _, _ := strings.Cut(p.token, ":")
	switch {
	case p.slack != nil:
		return p.slack.route()
	case p.chat > 0 && p.thread == 0:
		return fmt.Sprintf("default:telegram:%s:direct:%d", account, p.chat)
	case p.chat > 0:
		return fmt.Sprintf("default:telegram:%s:direct:%d:%d", account, p.chat, p.thread)
	case p.thread != 0:
		return fmt.Sprintf("default:telegram:%s:thread:%d:%d", account, p.chat, p.thread)
	}
	return fmt.Sprintf("default:telegram:%s:group:%d::%d", account, p.chat, p.person)
}

// say lets the person say something; where several people are, it is said to the agent.
func (p *place) say(text string) {
	p.Helper()
	switch {
	case p.screen != nil:
		p.show(p.do("chat", text))
		return
	case p.discord != "":
		p.sayOnDiscord(text)
		return
	case p.slack != nil:
		p.slack.say(text)
		return
	case p.chat < 0 && strings.HasPrefix(text, "/"):
		name, rest, _ := strings.Cut(text, " ")
		text = strings.TrimSpace(name + "@" + botName + " " + rest)
	case p.chat < 0:
		text = "@" + botName + " " + text
	}
	p.aside(text)
}

// aside lets the person say something as it is.
func (p *place) aside(text string) {
	p.tg.Say(faketelegram.Post{Chat: p.chat, Thread: p.thread, From: p.person, Text: text})
}

func (p *place) show(text string) {
	p.screen.mu.Lock()
	defer p.screen.mu.Unlock()
	p.screen.text.WriteString(text)
}

// seen is all that the agent and the gateway have said in the place. A terminal has to look.
func (p *place) seen() string {
	p.Helper()
	if p.screen != nil {
		p.show(p.do("chat", "/whoami"))
		p.screen.mu.Lock()
		defer p.screen.mu.Unlock()
		return p.screen.text.String()
	}
	var all []string
	for _, m := range p.messages() {
		all = append(all, m.Text)
	}
	return strings.Join(all, "\n")
}

// messages are what the agent and the gateway have said in a chat.
func (p *place) messages() []faketelegram.Message {
	if p.discord != "" {
		return p.onDiscord(fmt.Sprint(p.chat))
	}
	var out []faketelegram.Message
	if p.slack != nil {
		for _, m := range p.slack.visible() {
			out = append(out, faketelegram.Message{Text: m.Text()})
		}
		return out
	}
	for _, m := range p.tg.Visible(p.chat) {
		if m.Thread == p.thread {
			out = append(out, m)
		}
	}
	return out
}

// everywhere is all that was said in any chat of Telegram or Discord.
func (w *world) everywhere() []faketelegram.Message {
	out := w.onDiscord("")
	for _, chat := range []int64{owner, guest, stranger, group, forum} {
		out = append(out, w.tg.Visible(chat)...)
	}
	return out
}

// sees waits until a text is seen in the place.
func (p *place) sees(text string) {
	p.Helper()
	p.until(fmt.Sprintf("%q is seen in %s", text, p.name), func() bool { return strings.Contains(p.seen(), text) })
}

// once holds that a text was seen once, in this place and nowhere else.
func (p *place) once(text string) {
	p.Helper()
	p.times(text, 1)
}

func (p *place) times(text string, n int) {
	p.Helper()
	elsewhere := 0
	for _, m := range p.everywhere() {
		if strings.Contains(m.Text, text) && (p.screen != nil || p.slack != nil || m.Chat != p.chat || m.Thread != p.thread) {
			elsewhere++
		}
	}
	elsewhere += p.onSlackElsewhere(text)
	if here := strings.Count(p.seen(), text); here != n || elsewhere != 0 {
		p.Errorf("%q was seen %d times in %s and %d times elsewhere, want %d and none", text, here, p.name, elsewhere, n)
	}
}

// hidden holds that a text is seen nowhere.
func (w *world) hidden(text string) {
	w.Helper()
	for _, m := range w.everywhere() {
		if strings.Contains(m.Text, text) {
			w.Errorf("%q is seen in %d/%d: %q", text, m.Chat, m.Thread, m.Text)
		}
	}
}

// ask says a text and waits for its answer in the place.
func (p *place) ask(text, answer string) {
	p.Helper()
	p.say(text)
	p.sees(answer)
}

// command gives a command and returns what was said to it: the messages that came after it was given.
func (p *place) command(line string) string {
	p.Helper()
	before := len(p.messages())
	p.say(line)
	p.until("an answer to "+line, func() bool { return len(p.messages()) > before })
	return p.messages()[before].Text
}
