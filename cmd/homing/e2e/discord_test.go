package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest/fakediscord"
	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
	fake "github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
	"github.com/homing-gateway/homing/internal/chat"
)

// Who and what there is on Discord. The owner is allowed, the stranger is not.
const (
	discordBot                    = "100000000000009999"
	discordSecret                 = "Gsecret.of-the-discord-bot"
	discordToken                  = "MTAwMDAwMDAwMDAwMDA5OTk5." + discordSecret
	discordOwner, discordStranger = 100000000000001001, 100000000000006666

	discordGuild = "200000000000000001"
	channel      = 300000000000000001
	thread       = 300000000000000011 // in the channel
	message      = 400000000000001001 // the owner's direct channel
)

// withDiscord gives a world a Discord, before it starts.
func (w *world) withDiscord() {
	w.Helper()
	w.dc = fakediscord.New(discordToken, discordBot, "homer")
	if err := w.dc.Listen(); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(w.dc.Close)
	w.dc.Person(fmt.Sprint(discordOwner), "Owner")
	w.dc.Person(fmt.Sprint(discordStranger), "Stranger")
	w.dc.Guild(discordGuild, "A guild")
	w.dc.Channel(fmt.Sprint(channel), discordGuild, "a channel")
	w.dc.Thread(fmt.Sprint(thread), fmt.Sprint(channel), "a thread")
	w.dc.Direct(fmt.Sprint(message), fmt.Sprint(discordOwner))
	w.config["platforms.discord.token"], w.config["platforms.discord.api_url"] = discordToken, w.dc.URL()
	w.config["platforms.discord.allowed_users"] = []string{fmt.Sprint(discordOwner)}
	w.configure()
}

func (w *world) discordDirect() *place {
	return &place{world: w, name: "discord-dm", chat: message, person: discordOwner, discord: chat.Direct}
}

func (w *world) discordChannel() *place {
	return &place{world: w, name: "discord-channel", chat: channel, person: discordOwner, discord: chat.Channel}
}

func (w *world) discordThread() *place {
	return &place{world: w, name: "discord-thread", chat: thread, person: discordOwner, discord: chat.Thread}
}

func (p *place) discordRoute() string {
	switch p.discord {
	case chat.Thread:
		return fmt.Sprintf("default:discord:%s:thread:%d:%d", discordBot, channel, p.chat)
	case chat.Channel:
		return fmt.Sprintf("default:discord:%s:channel:%d::%d", discordBot, p.chat, p.person)
	default:
		return fmt.Sprintf("default:discord:%s:direct:%d", discordBot, p.chat)
	}
}

// sayOnDiscord lets the person say something to the agent.
func (p *place) sayOnDiscord(text string) {
	if p.discord != chat.Direct {
		text = "<@" + discordBot + "> " + text
	}
	p.dc.Say(fakediscord.Post{Channel: fmt.Sprint(p.chat), From: fmt.Sprint(p.person), Text: text})
}

// onDiscord is what the agent and the gateway have said in a channel, or in all of them.
func (w *world) onDiscord(in string) []faketelegram.Message {
	var out []faketelegram.Message
	if w.dc == nil {
		return out
	}
	for _, m := range w.dc.Visible(in) {
		var at int64
		_, _ = fmt.Sscan(m.Channel, &at)
		out = append(out, faketelegram.Message{Chat: at, Text: strings.ReplaceAll(m.Content, `\`, "")})
	}
	return out
}

// [N-12] [N-33]: what people wrote while the daemon was down is answered after the next start, in its place and once; a
// stranger is not let in by that, and what was answered before is not answered again.
func TestDiscordCatchUp(t *testing.T) {
	w := newWorld(t, settings{"platforms.telegram.token": nil})
	w.withDiscord()
	w.start()
	places := []*place{w.discordDirect(), w.discordChannel(), w.discordThread()}
	for _, p := range places {
		p.answers(p.word("before"), p.word("answer-before"))
		p.answers(p.word("meanwhile"), p.word("answer-meanwhile"))
		p.ask(p.word("before"), p.word("answer-before"))
	}
	w.stop()
	for _, p := range places {
		p.say(p.word("meanwhile"))
	}
	w.dc.Say(fakediscord.Post{Channel: fmt.Sprint(channel), From: fmt.Sprint(discordStranger), Text: "<@" + discordBot + "> evil"})
	w.start()
	for _, p := range places {
		p.sees(p.word("answer-meanwhile"))
		p.once(p.word("answer-meanwhile"))
		p.once(p.word("answer-before"))
	}
	if n := len(w.asked(fake.Says("evil"))); n != 0 {
		t.Errorf("a stranger was let in")
	}
}

// a send whose outcome a crash leaves open is repeated under its nonce: there is one message, without a mark.
func TestDiscordCrashInMidSend(t *testing.T) {
	w := newWorld(t, settings{"platforms.telegram.token": nil})
	w.withDiscord()
	p := w.discordDirect()
	p.answers("hello", "the answer")
	w.dc.Add(fakediscord.Fault{Name: "POST messages", Hang: true, Stored: true, Times: 1})
	w.start()
	p.say("hello")
	p.sees("the answer")
	w.kill()
	w.start()
	w.until("it is sent again", func() bool { return len(w.dc.Calls("POST messages")) == 2 })
	w.until("nothing is left to do", func() bool { return !strings.Contains(w.do("queue", "ls", "--json"), "out_") })
	p.once("the answer")
	if m := p.messages(); len(m) != 1 || strings.Contains(m[0].Text, "♻") {
		t.Errorf("seen: %+v", m)
	}
}

// [N-15] [N-16] [N-31]: an account that only a person can mend is parked with the remedy, nobody hammers, and the others work;
// doctor finds the same.
func TestDiscordParks(t *testing.T) {
	for cause, spoil := range map[string]func(*world){
		"missing_intent": func(w *world) { w.dc.ContentIntent(false) },
		"bad_credential": func(w *world) { w.dc.Revoke(true) },
	} {
		t.Run(cause, func(t *testing.T) {
			w := newWorld(t, nil)
			w.withDiscord()
			spoil(w)
			w.begin("")
			w.until("it is parked", func() bool {
				out := w.run("status", "--json").out
				return strings.Contains(out, `"parked"`) && strings.Contains(out, cause) && strings.Contains(out, "Developer Portal")
			})
			p := w.direct()
			p.answers("hello", "the answer")
			p.ask("hello", "the answer")
			tries := func() int { return len(w.dc.Calls("GET gateway/bot")) + w.dc.Gateway().Connects }
			n := tries()
			w.never("it is tried again", func() bool { return tries() > n || n > 2 })
			if r := w.run("doctor"); r.code != 1 || !strings.Contains(r.out, "Developer Portal") {
				t.Errorf("doctor: %+v", r)
			}
		})
	}
}

// A mention in a channel is answered in a thread of its own, where the conversation goes on without a mention. Native
// commands are there, and one is answered where it was given.
func TestDiscordThreadsAndCommands(t *testing.T) {
	w := newWorld(t, settings{"platforms.telegram.token": nil, "platforms.discord.auto_thread": true})
	w.withDiscord()
	p := w.discordChannel()
	p.answers("first", "answer one")
	w.model.When(fake.All(fake.Says("second"), knows("first", "answer one")), fake.Say("answer two"))
	w.start()
	p.say("first")
	w.until("a thread is opened", func() bool { return len(w.dc.Threads(fmt.Sprint(channel))) == 2 })
	var at int64
	for _, id := range w.dc.Threads(fmt.Sprint(channel)) {
		if id != fmt.Sprint(thread) {
			_, _ = fmt.Sscan(id, &at)
		}
	}
	th := w.discordThread()
	th.chat = at
	th.sees("answer one")
	w.dc.Say(fakediscord.Post{Channel: fmt.Sprint(at), From: fmt.Sprint(discordOwner), Text: "second"})
	th.sees("answer two")
	th.once("answer one")
	w.until("commands are registered", func() bool { return strings.Contains(fmt.Sprint(w.dc.Commands()), "whoami") })
	i := w.dc.Slash(fmt.Sprint(message), fmt.Sprint(discordOwner), "whoami", "")
	w.discordDirect().sees(fmt.Sprint(discordOwner))
	if x := w.dc.Interaction(i); x.Type != 4 || x.Took > 3*time.Second {
		t.Errorf("acknowledged: %+v", x)
	}
	r := w.run("doctor")
	if r.code != 0 || !strings.Contains(r.out, "message content intent is on") {
		t.Errorf("doctor: %+v", r)
	}
	w.signal(syscall.SIGTERM)
	if code := w.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	w.daemon.command = nil
	if c := w.dc.Gateway().Closes; len(c) != 1 || c[0] != 1000 {
		t.Errorf("closed with %v, want a good-bye", c)
	}
}

// another bot that is on the list is answered where it mentions us, and nowhere else, and not for ever.
func TestDiscordOtherBots(t *testing.T) {
	const bot = "100000000000007777"
	w := newWorld(t, settings{"platforms.telegram.token": nil})
	w.withDiscord()
	w.dc.OtherBot(bot, "otherbot")
	w.config["platforms.discord.allowed_users"] = []string{fmt.Sprint(discordOwner), bot}
	w.configure()
	w.answers("your turn", "<@"+bot+"> no, yours")
	w.start()
	said := func(text string) {
		w.dc.Say(fakediscord.Post{Channel: fmt.Sprint(channel), From: bot, Text: text})
	}
	said("your turn, whoever")
	for range 40 {
		said("<@" + discordBot + "> your turn")
	}
	p := w.discordChannel()
	w.answers("hello", "hello to you")
	p.ask("hello", "hello to you") // a person is answered all the same, and after what came before
	w.until("the bot's talk is over", func() bool { return len(w.sessions()) == 2 && len(p.queue()) == 0 })
	texts := 0
	for _, s := range w.sessions() {
		for _, c := range contents(read[session](w, "sessions", "show", s.ID)) {
			if strings.Contains(c, "your turn") && !strings.Contains(c, "no, yours") {
				texts++
			}
			if strings.Contains(c, "whoever") {
				t.Error("a bot that did not mention us was heard")
			}
		}
	}
	if texts != 20 {
		t.Errorf("%d texts of the bot were taken, want 20", texts)
	}
}

// [U-04]: a preview that comes too late for its answer is taken back: nothing is left of it.
func TestDiscordPreviewGoes(t *testing.T) {
	w := newWorld(t, settings{"platforms.telegram.token": nil})
	w.withDiscord()
	p := w.discordThread()
	w.model.When(fake.Says("ask"), grows("the beginning ", "the end", 2*time.Second))
	w.dc.Add(fakediscord.Fault{Name: "POST messages", Contains: "…", Delay: 4 * time.Second, Times: 1})
	w.start()
	p.say("ask")
	p.sees("the end")
	w.until("the preview came", func() bool { return len(w.dc.Calls("POST messages")) == 2 })
	p.until("the answer stands alone", func() bool { return p.seen() == "the beginning the end" })
}
