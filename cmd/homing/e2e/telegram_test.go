package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
	fake "github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

// an update is not acknowledged before it is stored. A daemon that dies with it in hand gets it again, and answers
// it once.
func TestNothingIsAcknowledgedBeforeItIsStored(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.answers("are you there?", "I am")
	w.startToDieAt("receive.before")
	_, update := w.tg.Say(faketelegram.Post{Chat: owner, From: owner, Text: "are you there?"})
	w.exit()
	if w.tg.Confirmed() >= update || w.tg.Waiting() != 1 {
		t.Errorf("update %d: %d is confirmed and %d wait", update, w.tg.Confirmed(), w.tg.Waiting())
	}
	if n := len(w.conversations()); n != 0 {
		t.Errorf("%d conversations are stored", n)
	}
	p.sees("I am") // in the next life
	p.once("I am")
	w.until("it is confirmed", func() bool { return w.tg.Confirmed() >= update })
	if n := len(w.asked(fake.Says("are you there?"))); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}

// An update that nobody can read is set aside and shown in the counts; what comes before and after it goes on, in order,
// and after a restart it does not come back.
func TestUnreadableUpdate(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.answers("first", "first answer")
	w.answers("second", "second answer")
	w.answers("third", "third answer")
	p.say("first")
	bad := w.tg.Deliver("message", map[string]any{"message_id": "no number", "chat": []int{1}})
	p.say("second")
	w.start()
	p.sees("answer")
	w.until("all is confirmed", func() bool { return w.tg.Confirmed() > bad })
	aside := func() int {
		return read[struct {
			Counts struct {
				Aside int `json:"events_set_aside"`
			}
		}](w, "status").Counts.Aside
	}
	if n := aside(); n != 1 {
		t.Errorf("%d events are set aside, want 1", n)
	}
	w.stop()
	w.start()
	p.ask("third", "third answer")
	if n := aside(); n != 1 {
		t.Errorf("%d events are set aside after a restart, want 1", n)
	}
	if text := transcript(w.asked(fake.Says("third"))[0]); strings.Index(text, "first") > strings.Index(text, "second") || !strings.Contains(text, "second") {
		t.Errorf("the texts around it came as %q", text)
	}
}

// Two updates of one chat keep their order, also when they wait together; [S-10] they open one turn at a time.
func TestOrderOfAChat(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	free := make(chan struct{})
	w.model.When(fake.Says("one"), fake.Held(free, fake.Say("answer one")))
	w.model.When(fake.Says("two"), fake.Say("answer two"))
	w.start()
	p.say("one")
	p.say("two")
	p.say("three")
	w.until("all are stored", func() bool { return w.tg.Waiting() == 0 })
	w.never("a second turn runs", func() bool { return len(w.model.Asks()) > 1 })
	close(free)
	p.sees("answer two")
	if seen := p.seen(); seen != "answer one\nanswer two" {
		t.Errorf("seen: %q", seen)
	}
	if said := w.model.Asks()[1].Said(); said != "two\n\nthree" {
		t.Errorf("the second turn began with %q", said)
	}
}

// In a group the agent is spoken to by a mention, a reply or a command of its own; a topic in which it takes part needs no
// mention any more. What is said to others is no business of the model.
func TestWhoIsSpokenTo(t *testing.T) {
	w := newWorld(t, nil)
	p, topic := w.inGroup(), w.inTopic()
	w.tg.OtherBot(4242, "other_bot")
	w.start()
	for _, text := range []string{"just talking", "@other_bot do it", "mail me at x@homing_bot.example", "/status@other_bot"} {
		p.aside(text)
	}
	topic.aside("nobody is meant")
	w.tg.Say(faketelegram.Post{Chat: group, From: 4242, Text: "@homing_bot I am a bot"})
	w.until("all is taken", func() bool { return w.tg.Waiting() == 0 })
	w.never("the agent feels spoken to", func() bool { return len(w.model.Asks())+len(w.everywhere()) > 0 })
	if n := len(w.conversations()); n != 0 {
		t.Errorf("%d conversations", n)
	}

	w.answers("mentioned", "answer to a mention")
	w.answers("replied", "answer to a reply")
	w.answers("opened", "answer in the topic")
	w.answers("goes on", "answer without a mention")
	p.ask("mentioned", "answer to a mention")
	m := p.messages()[0]
	if m.ReplyTo == 0 {
		t.Error("an answer in a group does not say what it answers")
	}
	w.tg.Say(faketelegram.Post{Chat: group, From: owner, Text: "replied", ReplyTo: m.ID})
	p.sees("answer to a reply")
	topic.ask("opened", "answer in the topic")
	topic.aside("goes on")
	topic.sees("answer without a mention")
}

// without a list of people nobody is let in, neither in a direct chat nor in a group, before any conversation or
// model is touched. Only the switch opens it, with a warning.
func TestNobodyByDefault(t *testing.T) {
	w := newWorld(t, settings{"platforms.telegram.allowed_users": []string{}})
	w.start()
	p, inGroup := w.in("stranger", stranger, 0, stranger), w.in("stranger", group, 0, stranger)
	p.say("let me in")
	p.say("/status")
	inGroup.say("let me in")
	w.until("all is taken", func() bool { return w.tg.Waiting() == 0 })
	w.never("a stranger is heard", func() bool { return len(w.model.Asks())+len(w.everywhere()) > 0 })
	if n := len(w.conversations()); n != 0 {
		t.Errorf("%d conversations", n)
	}
	w.stop()
	w.config["platforms.telegram.allow_all"] = true
	w.configure()
	w.answers("now?", "come in")
	w.start()
	p.ask("now?", "come in")
	if !strings.Contains(w.log(), "platforms.telegram.allow_all: everybody on the platform may talk") {
		t.Error("open access is not warned of")
	}
}

// [S-01]: topics are places of their own: what is said in one is not known in another.
func TestTopicsAreApart(t *testing.T) {
	w := newWorld(t, nil)
	w.start()
	secretIn(w, w.inTopic(), w.in("nine", forum, 9, owner))
}

// [S-02]: topic 1 of one person's private chat and topic 1 of another's are two places.
func TestPrivateTopicsAreApart(t *testing.T) {
	w := newWorld(t, nil)
	w.tg.Topic(owner, 1, true)
	w.tg.Topic(guest, 1, true)
	w.start()
	secretIn(w, w.in("owner", owner, 1, owner), w.in("guest", guest, 1, guest))
}

// secretIn tells a word in one place and holds that another one does not know it.
func secretIn(w *world, here, there *place) {
	w.Helper()
	w.answers("the word is swordfish", "noted")
	w.model.When(fake.All(fake.Says("which word?"), knows("swordfish")), fake.Say("swordfish, of course"))
	w.answers("which word?", "no idea")
	here.ask("the word is swordfish", "noted")
	there.ask("which word?", "no idea")
	here.ask("which word?", "swordfish, of course")
	here.once("swordfish, of course")
	routes := map[string]bool{here.current().Route: true, there.current().Route: true}
	if len(routes) != 2 || len(w.conversations()) != 2 {
		w.Errorf("the conversations: %+v", w.conversations())
	}
}

// A supergroup that a group became is the same place: nothing moves and nothing ends.
func TestGroupBecomesASupergroup(t *testing.T) {
	w := newWorld(t, nil)
	p := w.inGroup()
	w.start()
	w.answers("before", "the answer before")
	w.model.When(fake.All(fake.Says("after"), knows("before")), fake.Say("the answer after"))
	p.ask("before", "the answer before")
	was := p.current()
	const super = -10099
	w.tg.Upgrade(group, super)
	w.tg.Say(faketelegram.Post{Chat: super, From: owner, Text: "@homing_bot after"})
	w.until("the answer is in the new chat", func() bool {
		return len(w.tg.Visible(super)) == 1 && w.tg.Visible(super)[0].Text == "the answer after"
	})
	p.unmoved(was)
}

// The command menu lists what people can say to the gateway.
func TestMenu(t *testing.T) {
	w := newWorld(t, nil)
	w.start()
	w.until("the menu is set", func() bool { return len(w.tg.Commands()) > 0 })
	menu := fmt.Sprint(w.tg.Commands())
	for _, name := range []string{"new", "stop", "status", "sessions", "resume", "undelivered", "tasks", "why", "whoami", "help"} {
		if !strings.Contains(menu, "{"+name+" ") {
			t.Errorf("the menu lacks %s: %s", name, menu)
		}
	}
}
