package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
)

// [D-01]: what the platform will never take is dead after the first answer, with its class and the platform's words, and
// a restart sends nothing.
func TestRefusedForGood(t *testing.T) {
	for name, refuse := range map[string]struct {
		class, words string
		now          func(*faketelegram.Server)
	}{
		"unknown chat": {"chat_gone", "chat not found", func(tg *faketelegram.Server) { tg.Forget(guest) }},
		"blocked":      {"blocked", "blocked by the user", func(tg *faketelegram.Server) { tg.Block(guest, true) }},
		"too long": {"too_long", "message is too long", func(tg *faketelegram.Server) {
			tg.Add(faketelegram.Fault{Method: "sendMessage", Status: 400, Description: "Bad Request: message is too long"})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.answers("hello", "the answer")
			w.start()
			refuse.now(w.tg)
			w.in("guest", guest, 0, guest).say("hello")
			dead := w.dead("outgoing", "refused")
			if dead.Class != refuse.class || !strings.Contains(dead.Detail, refuse.words) || !strings.Contains(dead.Text, "the answer") || dead.Attempts != 1 {
				t.Errorf("the dead letter: %+v", dead)
			}
			sends := len(w.tg.Calls("sendMessage"))
			w.kill()
			w.start()
			w.never("it is sent again", func() bool { return len(w.tg.Calls("sendMessage")) > sends })
			if sends != 1 {
				t.Errorf("%d attempts, want one", sends)
			}
		})
	}
}

// [D-08]: odd prose and long bold spans arrive whole, each part within the limit; what Telegram does not take for its
// markup goes again as plain text, and only that part.
func TestOddProse(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.start()
	for i, text := range []string{
		"snake_case and 2*3*4 and [brackets] and `tick", "a < b && c > d & <b>not bold</b>", "**bold *and _open", "~~~\nunclosed code", "1. \\_escaped\\_ _[x](http://y_z",
	} {
		ask := fmt.Sprintf("odd %d", i)
		w.answers(ask, text+" end"+fmt.Sprint(i))
		p.ask(ask, " end"+fmt.Sprint(i))
	}
	long := "**" + strings.Repeat("word, ", 2000) + "last**"
	w.answers("long", long)
	before := len(p.messages())
	p.ask("long", "last")
	words := 0
	for _, m := range p.messages()[before:] {
		words += strings.Count(m.Text, "word,")
		if faketelegram.Units(m.Text) > faketelegram.MaxText {
			t.Errorf("a part of %d units", faketelegram.Units(m.Text))
		}
	}
	if words != 2000 || len(p.messages())-before < 3 {
		t.Errorf("%d words in %d parts", words, len(p.messages())-before)
	}

	w.tg.Add(faketelegram.Fault{Method: "sendMessage", Contains: "<b>refused</b>", Status: 400, Description: "Bad Request: can't parse entities: no"})
	w.answers("refuse the markup", "a **refused** one")
	p.ask("refuse the markup", "refused")
	p.once("refused")
	w.until("nothing is left in the queue", func() bool { return len(w.queue()) == 0 })
}

// [D-21]: a chat that has to wait holds up nobody else.
func TestAWaitHoldsOneChat(t *testing.T) {
	w := newWorld(t, nil)
	p, other := w.direct(), w.in("guest", guest, 0, guest)
	w.start()
	w.tg.Add(faketelegram.Fault{Method: "sendMessage", Chat: owner, Times: 1, Status: 429, Description: "Too Many Requests: retry after 3600", RetryAfter: 3600})
	for _, command := range []string{"/help", "/whoami", "/tasks"} {
		p.say(command)
	}
	w.until("three wait", func() bool { q := w.queue(); return len(q) == 3 && q[0].Detail != "" })
	other.say("/whoami")
	other.sees("You are 1002")
	first := w.queue()[0]
	if next, err := time.Parse(time.RFC3339, first.Next); err != nil || time.Until(next) < 50*time.Minute || first.State != "queued" || first.Attempts != 0 {
		t.Errorf("the first waits as %+v", first)
	}
	if n := len(w.tg.Calls("sendMessage")); n != 2 || len(p.messages()) != 0 {
		t.Errorf("%d calls, and there is %q", n, p.seen())
	}
}

// [D-21]: what had to wait goes in its order, and not before its time.
func TestAfterAWaitTheOrderHolds(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.start()
	w.tg.Add(faketelegram.Fault{Method: "sendMessage", Chat: owner, Times: 1, Status: 429, Description: "Too Many Requests: retry after 1", RetryAfter: 1})
	for _, command := range []string{"/help", "/whoami", "/tasks"} {
		p.say(command)
	}
	p.sees("Nothing is running")
	m := p.messages()
	if len(m) != 3 || !strings.Contains(m[0].Text, "What you can say") || !strings.Contains(m[1].Text, "You are 1001") {
		t.Errorf("seen: %q", p.seen())
	}
	if d := m[0].At.Sub(w.tg.Calls("sendMessage")[0].At); d < time.Second {
		t.Errorf("sent again after %s, want a second", d)
	}
}

// [D-28]: a typing sign that fails changes nothing.
func TestTypingFails(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.start()
	w.tg.Add(faketelegram.Fault{Method: "sendChatAction", Drop: true})
	w.answers("hello", "the answer")
	p.ask("hello", "the answer")
	p.once("the answer")
	w.until("the sign was tried", func() bool { return len(w.tg.Calls("sendChatAction")) > 0 })
}

// A topic that is gone: the answer goes to the chat itself, with a note that names the topic.
func TestTopicIsGone(t *testing.T) {
	w := newWorld(t, nil)
	p := w.inTopic()
	w.start()
	w.answers("hello", "the answer")
	p.ask("hello", "the answer")
	w.tg.Topic(forum, 7, false)
	w.do("send", "--to", fmt.Sprintf("telegram:%d:7", forum), "too late")
	w.in("forum", forum, 0, owner).sees("too late")
	if m := w.tg.Visible(forum); len(m) != 2 || m[1].Thread != 0 || !strings.Contains(m[1].Text, "7") {
		t.Errorf("visible: %+v", m)
	}
}

// While Telegram is away nothing is lost and no attempt is spent; the account comes back by itself.
func TestTelegramIsAway(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.start()
	w.tg.Down()
	w.until("the trouble is told", func() bool { // before the send: one on a connection that is just being cut may have arrived
		s := w.telegram()
		return s.State == "degraded" && s.Cause == "unreachable"
	})
	w.do("send", "--to", fmt.Sprintf("telegram:%d", owner), "hold on")
	w.until("it is tried", func() bool { return w.queue()[0].Detail != "" })
	if q := w.queue()[0]; q.State != "queued" && q.State != "sending" || q.Attempts != 0 {
		t.Errorf("it waits as %+v", q)
	}
	w.telegramIsBack()
	p.sees("hold on")
	p.once("hold on")
	w.until("the account is up", func() bool { return w.telegram().State == "up" })
}

// A send without an answer: its outcome is unknown, it is held, shown, and sent again only when a person says so.
func TestUnknownOutcome(t *testing.T) {
	w := newWorld(t, settings{"delivery.send_timeout": "300ms"})
	p := w.direct()
	w.start()
	w.tg.Add(faketelegram.Fault{Method: "sendMessage", Contains: "the answer", Times: 1, Hang: true, Stored: true})
	w.answers("hello", "the answer")
	w.answers("more", "goes on")
	p.say("hello")
	var unknown queued
	w.until("its outcome is unknown", func() bool {
		q := w.queue()
		if len(q) == 1 {
			unknown = q[0]
		}
		return unknown.State == "unknown"
	})
	w.contains("status", w.do("status"), "dead letters: 0 completion(s), 0 message(s); unknown: 1 message(s)")
	p.ask("more", "goes on")
	p.once("the answer")
	if text := p.command("/undelivered"); !strings.Contains(text, unknown.ID) {
		t.Errorf("/undelivered: %q", text)
	}
	w.do("queue", "retry", unknown.ID)
	w.until("it is sent again", func() bool { return strings.Count(p.seen(), "the answer") == 2 })
}
