package faketelegram_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
)

// A bot on a client library that shares no line with ours finds a Telegram here. make fakes-check installs that library.
func TestForeignClient(t *testing.T) {
	modules := os.Getenv("NODE_MODULES")
	if modules == "" {
		t.Skip("make fakes-check runs this with the client library installed")
	}
	const token = "4711:AAHfakeSecretOfTheBot_0123456789"
	tg := faketelegram.New(token, "homing_bot")
	tg.Person(1001, "Alice")
	tg.Forum(-100800, "A forum", 7)
	if err := tg.Listen(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tg.Close)

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	node := exec.CommandContext(ctx, "node", "testdata/grammy.mjs", tg.URL(), token)
	node.Stderr = os.Stderr
	out, err := node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	sees := func(want string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("the client says %q, want %q", lines.Text(), want)
		}
	}
	until := func(ok func() bool) {
		t.Helper()
		if err := tg.Until(ctx, ok); err != nil {
			t.Fatal(err)
		}
	}

	sees("up homing_bot true")
	asked, _ := tg.Say(faketelegram.Post{Chat: 1001, From: 1001, Text: "hello"})
	sees("message private Alice  hello")
	until(func() bool { return len(tg.Visible(1001)) == 1 })
	m := tg.Visible(1001)[0]
	if m.Text != "you said hello" || len(m.Entities) != 1 || m.ReplyTo != asked || len(m.Buttons) != 1 {
		t.Errorf("%+v", m)
	}
	tg.Alter(1001, asked, "hullo")
	sees("edited hullo")
	tg.Press(1001, m.ID, 1001, "Again")
	sees("pressed /again you said hello")
	until(func() bool { return tg.Presses()[0].Answered })
	if got := tg.Visible(1001); len(got) != 1 || got[0].Text != "once more" || len(got[0].Buttons) != 0 {
		t.Errorf("%+v", got)
	}
	tg.Say(faketelegram.Post{Chat: -100800, Thread: 7, From: 1001, Text: "in a topic"})
	sees("message supergroup Alice 7 in a topic")
	until(func() bool { return len(tg.Visible(-100800)) == 1 })

	tg.Say(faketelegram.Post{Chat: 1001, From: 1001, Text: "/forbidden"})
	sees("refused 400  Bad Request: can't parse entities")
	tg.Add(faketelegram.Fault{Method: "sendMessage", Times: 1, Status: 429, RetryAfter: 9, Description: "Too Many Requests: retry after 9"})
	tg.Say(faketelegram.Post{Chat: 1001, From: 1001, Text: "/forbidden"})
	sees("refused 429 9 Too Many Requests: retry after 9")
	if c := tg.Commands(); len(c) != 1 || c[0].Command != "stop" {
		t.Errorf("%+v", c)
	}
	tg.Say(faketelegram.Post{Chat: 1001, From: 1001, Text: "/stop"})
	sees("down")
	if err := node.Wait(); err != nil {
		t.Error(err)
	}
	if n := tg.Waiting(); n != 0 {
		t.Errorf("%d updates wait", n)
	}
	for _, c := range tg.Calls("") {
		if c.Status != 200 && c.Status != 400 && c.Status != 429 && c.Status != 0 {
			t.Errorf("%s: %d", c.Method, c.Status)
		}
	}
	if strings.Contains(lines.Text(), "failed") {
		t.Error(lines.Text())
	}
}
