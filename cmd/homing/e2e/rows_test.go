package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
	fake "github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

// [S-05]: what is posted into a topic and what is said there have one key: a post opens no conversation beside the one
// that its reader has, whichever comes first.
func TestAPostSharesTheConversation(t *testing.T) {
	for _, first := range []string{"the post", "the person"} {
		t.Run(first, func(t *testing.T) {
			w := newWorld(t, nil)
			w.tg.Topic(owner, 5, true)
			p := w.in("five", owner, 5, owner)
			w.answers("hello", "the answer")
			w.model.When(fake.All(fake.Says("about your post"), knows("hello")), fake.Say("as I said"))
			w.start()
			typed := fmt.Sprintf("telegram:%d:5", owner)
			if first == "the post" {
				w.do("send", "--to", typed, "post one")
				p.sees("post one")
			}
			p.ask("hello", "the answer")
			was := p.current()
			for i, to := range []string{typed, p.route(), was.Route} {
				text := fmt.Sprintf("post after %d", i)
				w.do("send", "--to", to, text)
				p.sees(text)
				p.once(text)
			}
			p.ask("about your post", "as I said")
			p.unmoved(was)
			if n := len(w.conversations()); n != 1 {
				t.Errorf("%d conversations", n)
			}
			for _, q := range w.queue("--all") {
				if q.Route != p.route() {
					t.Errorf("%q went to %s, the place is %s", q.Text, q.Route, p.route())
				}
			}
		})
	}
}

// [S-08]: a restart is no boundary. Five of them, in order and by SIGKILL, leave every place in its conversation, and the
// model knows all that was said.
func TestFiveRestarts(t *testing.T) {
	w := newWorld(t, nil)
	w.tg.Topic(owner, 5, true)
	places := []*place{w.direct(), w.in("five", owner, 5, owner), w.inGroup(), w.inTopic(), w.console()}
	was := map[string]session{}
	w.start()
	for life := range 6 {
		for _, p := range places {
			var all []string
			for i := range life {
				all = append(all, p.word(fmt.Sprintf("text%d", i)), p.word(fmt.Sprintf("answer%d", i)))
			}
			text, answer := p.word(fmt.Sprintf("text%d", life)), p.word(fmt.Sprintf("answer%d", life))
			w.model.When(fake.All(fake.Says(text), knows(all...)), fake.Say(answer))
			p.ask(text, answer)
			p.once(answer)
			if life == 0 {
				was[p.name] = p.current()
			}
			p.unmoved(was[p.name])
		}
		if life%2 == 0 {
			w.kill()
		} else {
			w.stop()
		}
		w.start()
	}
	if n := len(w.conversations()); n != len(places) {
		t.Errorf("%d conversations in %d places", n, len(places))
	}
}

// five restarts, each with a signal that comes twice, and Telegram delivers what it has delivered already: no
// second turn and no second answer, because what is known is known on the disk.
func TestKnownUpdatesStayKnown(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.answers("just once", "the answer")
	w.start()
	message, update := w.tg.Say(faketelegram.Post{Chat: owner, From: owner, Text: "just once"})
	p.sees("the answer")
	w.until("all is sent", func() bool { return len(w.queue()) == 0 })
	for life := range 5 {
		if life%2 == 0 {
			w.signal(syscall.SIGTERM)
			_ = w.daemon.command.Process.Signal(syscall.SIGTERM) // it may be gone by now
			w.exit()
			w.daemon.command = nil
		} else {
			w.kill()
		}
		w.start()
		w.tg.Replay(update, "message", map[string]any{
			"message_id": message, "date": 1, "chat": map[string]any{"id": owner, "type": "private"}, "from": map[string]any{"id": owner}, "text": "just once",
		})
		w.until("it is taken again", func() bool { return w.tg.Waiting() == 0 })
		answer := fmt.Sprintf("answer %d", life)
		w.answers(fmt.Sprintf("new %d", life), answer)
		p.ask(fmt.Sprintf("new %d", life), answer) // it comes after what was known
		p.once(answer)
	}
	if n := len(w.asked(fake.Says("just once"))); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
	p.once("the answer")
}

// [S-20]: whatever people and operators do in a place, and however often the daemon dies between, no more than one
// conversation is live there, after every step.
func TestOneLiveConversation(t *testing.T) {
	w := newWorld(t, settings{"drain": "1s"})
	p := w.direct()
	w.start()
	one := func(after string) {
		t.Helper()
		live := map[string]string{}
		for _, s := range read[[]session](w, "sessions", "ls", "--live") {
			if s.DelegateFrom != "" {
				continue
			}
			if live[s.Route] != "" {
				t.Fatalf("after %s: %s and %s are both live in %s", after, live[s.Route], s.ID, s.Route)
			}
			live[s.Route] = s.ID
		}
	}
	rounds := 50
	if racy { // each command takes its time then
		rounds = 10
	}
	for round := range rounds {
		name := func(s string) string { return fmt.Sprintf("%s %d.", s, round) }
		free := make(chan struct{})
		w.answers(name("hello"), name("greeting"))
		w.model.When(fake.Says(name("slow")), fake.Held(free, fake.Say(name("too late"))))
		p.ask(name("hello"), name("greeting"))
		one(name("hello"))
		p.say(name("slow"))
		w.isAsked("a slow turn", fake.Says(name("slow")))
		switch round % 5 {
		case 0:
			w.contains("/stop", p.command("/stop"), "topped")
		case 1:
			w.contains("/new", p.command("/new"), "A new conversation begins")
		case 2:
			w.contains("/branch", p.command("/branch"), "branch")
		case 3:
			w.contains("/resume", p.command("/resume 2"), "Back in")
		case 4:
			w.kill()
			one("SIGKILL")
			w.start()
			w.contains("/new", p.command("/new"), "A new conversation begins")
			w.do("sessions", "end", p.current().ID)
		}
		one(fmt.Sprintf("step %d of round %d", round%5, round))
		close(free)
	}
	w.hidden("too late")
}

// [D-07]: emoji count as Telegram counts them, and none is cut in two: parts that fit, whole characters, and together the
// text as it was written.
func TestEmojiArriveWhole(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.start()
	for name, text := range map[string]string{
		"emoji":         strings.Repeat("😀", 5000),
		"beside breaks": strings.TrimSpace(strings.Repeat("word 😀 ", 2000)),
		"before lines":  strings.TrimSpace(strings.Repeat("some words👩\u200d💻\n", 800)),
	} {
		w.answers(name, text+" END of "+name)
		before := len(p.messages())
		p.ask(name, "END of "+name)
		var all []string
		for _, m := range p.messages()[before:] {
			if n := faketelegram.Units(m.Text); n > faketelegram.MaxText {
				t.Errorf("%s: a part of %d units", name, n)
			}
			if strings.ContainsRune(m.Text, '\uFFFD') {
				t.Errorf("%s: a broken character in %q", name, m.Text)
			}
			all = append(all, m.Text)
		}
		squeezed := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if len(all) < 2 || squeezed(strings.Join(all, "")) != squeezed(text+" END of "+name) {
			t.Errorf("%s: %d parts are not the text", name, len(all))
		}
	}
}

// [C-10]: a subagent and its person's agent do not both post the result. In a shared place one delegation gives one
// visible message with its result, and nothing from the subagent itself or from what it runs.
func TestOneMessageForOneResult(t *testing.T) {
	w := newWorld(t, nil)
	w.start()
	for _, p := range []*place{w.inGroup(), w.inTopic()} {
		order, goal, summary, report := p.word("order"), p.word("goal"), p.word("summary"), p.word("report")
		w.model.Script(fake.Says(order), delegate(goal), fake.Say(p.word("begun")))
		w.model.Script(fake.Brief(goal), background("echo "+p.word("output")), manage("wait", ""), background("echo "+p.word("unread")), foreground("true"), fake.Say(summary))
		w.model.When(fake.Notice("delegation", summary), fake.Say(report+", which is: "+summary))
		p.say(order)
		p.sees(report)
		p.once(summary)
		w.until("all is settled", func() bool { return len(w.queue()) == 0 })
		w.never("more is said", func() bool { return len(p.messages()) != 2 })
		if seen := p.seen(); seen != p.word("begun")+"\n"+report+", which is: "+summary {
			t.Errorf("seen in %s: %q", p.name, seen)
		}
		w.hidden(p.word("output"))
		w.hidden(p.word("unread"))
	}
}

// [F-01]: names keep their letter case from the file to where they count: two variables that differ in nothing else reach
// a command as two, and the model is asked for by the name that it has.
func TestLetterCaseIsKeptToTheEnd(t *testing.T) {
	w := newWorld(t, settings{"agent.model": "Fake-Model_X", "terminal.env_passthrough": []string{"HTTP_Proxy", "http_PROXY"}})
	p := w.direct()
	w.model.Script(fake.Says("look"), foreground(`echo "[$HTTP_Proxy] [$http_PROXY] [$http_proxy]"`), fake.Dynamic(func(a fake.Ask) fake.Answer {
		return fake.Say("it says " + a.Field("output"))
	}))
	w.environ = []string{"HTTP_Proxy=One", "http_PROXY=Two", "http_proxy=Three"}
	w.start()
	p.ask("look", "it says")
	w.contains("what the command saw", p.seen(), "[One] [Two] []")
	if got := w.model.Asks()[0].Model; got != "Fake-Model_X" {
		t.Errorf("the model asked for is %q", got)
	}
}

// [U-16]: what runs is listed on request with a button each; one press stops it, a stranger's does not.
func TestTasksAreStoppedByAButton(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.model.Script(fake.Says("run"), background("sleep 1234"), fake.Say("it runs"))
	w.model.When(fake.Says("[homing:process"), fake.Say("it was stopped"))
	w.start()
	p.ask("run", "it runs")
	p.say("/tasks")
	p.sees("Running for this place")
	list := p.messages()[len(p.messages())-1]
	if len(list.Buttons) != 1 || !strings.HasPrefix(list.Buttons[0].Text, "■ Stop sleep 1234") {
		t.Fatalf("the buttons are %+v", list.Buttons)
	}
	state := func() string { return read[[]process](w, "processes", "ls")[0].State }
	w.tg.Press(p.chat, list.ID, stranger, list.Buttons[0].Text)
	w.contains("another task", p.command("/tasks stop proc_01ABCDEF"), "nothing that runs for this place")
	if s := state(); s != "running" {
		t.Errorf("after a stranger's press it is %s", s)
	}
	w.tg.Press(p.chat, list.ID, p.person, list.Buttons[0].Text)
	p.sees("is being killed")
	p.sees("it was stopped")
	if s := state(); s != "killed" {
		t.Errorf("after the press it is %s", s)
	}
}
