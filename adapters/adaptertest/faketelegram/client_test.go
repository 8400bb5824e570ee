package faketelegram_test

import (
	"testing"

	"github.com/homing-gateway/homing/adapters/adaptertest"
	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
)

// A bot on grammY finds a Telegram here.
func TestForeignClient(t *testing.T) {
	const token = "4711:AAHfakeSecretOfTheBot_0123456789"
	tg := faketelegram.New(token, "homing_bot")
	tg.Person(1001, "Alice")
	tg.Forum(-100800, "A forum", 7)
	if err := tg.Listen(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tg.Close)
	bot := adaptertest.StartForeign(t, "testdata/grammy.mjs", tg.URL(), token)
	until := func(ok func() bool) {
		t.Helper()
		if err := tg.Until(t.Context(), ok); err != nil {
			t.Fatal(err)
		}
	}

	bot.Sees("up homing_bot true")
	asked, _ := tg.Say(faketelegram.Post{Chat: 1001, From: 1001, Text: "hello"})
	bot.Sees("message private Alice  hello")
	until(func() bool { return len(tg.Visible(1001)) == 1 })
	m := tg.Visible(1001)[0]
	if m.Text != "you said hello" || len(m.Entities) != 1 || m.ReplyTo != asked || len(m.Buttons) != 1 {
		t.Errorf("%+v", m)
	}
	tg.Alter(1001, asked, "hullo")
	bot.Sees("edited hullo")
	tg.Press(1001, m.ID, 1001, "Again")
	bot.Sees("pressed /again you said hello")
	until(func() bool { return tg.Presses()[0].Answered })
	if got := tg.Visible(1001); len(got) != 1 || got[0].Text != "once more" || len(got[0].Buttons) != 0 {
		t.Errorf("%+v", got)
	}
	tg.Say(faketelegram.Post{Chat: -100800, Thread: 7, From: 1001, Text: "in a topic"})
	bot.Sees("message supergroup Alice 7 in a topic")
	until(func() bool { return len(tg.Visible(-100800)) == 1 })

	tg.Say(faketelegram.Post{Chat: 1001, From: 1001, Text: "/forbidden"})
	bot.Sees("refused 400  Bad Request: can't parse entities")
	tg.Add(faketelegram.Fault{Method: "sendMessage", Times: 1, Status: 429, RetryAfter: 9, Description: "Too Many Requests: retry after 9"})
	tg.Say(faketelegram.Post{Chat: 1001, From: 1001, Text: "/forbidden"})
	bot.Sees("refused 429 9 Too Many Requests: retry after 9")
	if c := tg.Commands(); len(c) != 1 || c[0].Command != "stop" {
		t.Errorf("%+v", c)
	}
	tg.Say(faketelegram.Post{Chat: 1001, From: 1001, Text: "/stop"})
	bot.Sees("down")
	bot.Ends()
	if n := tg.Waiting(); n != 0 {
		t.Errorf("%d updates wait", n)
	}
	for _, c := range tg.Calls("") {
		if c.Status == 404 || c.Status == 401 {
			t.Errorf("%s: %d", c.Method, c.Status)
		}
	}
}
