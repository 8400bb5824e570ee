package fakeslack_test

import (
	"testing"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest"
	"github.com/homing-gateway/homing/adapters/adaptertest/fakeslack"
)

// A bot on Bolt finds a Slack here.
func TestForeignClient(t *testing.T) {
	const botToken, appToken = "xoxb-fake-0123456789", "xapp-fake-0123456789"
	s := fakeslack.New(botToken, appToken)
	s.Person("U0ALICE", "Alice", "D0ALICE")
	s.Channel("C0ROOM", "room", "channel")
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	bot := adaptertest.StartForeign(t, "testdata/bolt.mjs", s.URL()+"/", botToken, appToken)
	until := func(ok func() bool) {
		t.Helper()
		if err := s.Until(t.Context(), ok); err != nil {
			t.Fatal(err)
		}
	}

	bot.Sees("up")
	until(func() bool { open, _ := s.Sockets(); return open == 1 })
	asked := s.Say(fakeslack.Post{Channel: "D0ALICE", From: "U0ALICE", Text: "hello"})
	bot.Sees("message im U0ALICE  hello")
	bot.Sees("newest true " + fakeslack.BotUser)
	m := s.Visible("D0ALICE")[0]
	if m.Text() != "you said hello" || len(m.Buttons()) != 1 {
		t.Errorf("%+v", m)
	}
	s.Alter("D0ALICE", asked, "hullo")
	bot.Sees("message_changed hullo")
	s.Press("D0ALICE", m.TS, "U0ALICE", "Again")
	bot.Sees("pressed /again U0ALICE")
	until(func() bool { return s.Visible("D0ALICE")[0].Text() == "once more" })
	if got := s.Visible("D0ALICE"); len(got) != 1 || len(got[0].Buttons()) != 0 {
		t.Errorf("%+v", got)
	}

	s.Say(fakeslack.Post{Channel: "D0ALICE", From: "U0ALICE", Text: "forbidden"})
	bot.Sees("message im U0ALICE  forbidden")
	bot.Sees("refused channel_not_found ")
	until(func() bool { return len(s.Visible("D0ALICE")) == 2 })
	s.Add(fakeslack.Fault{Method: "chat.postMessage", Status: 429, RetryAfter: 9})
	s.Say(fakeslack.Post{Channel: "D0ALICE", From: "U0ALICE", Text: "forbidden"})
	bot.Sees("message im U0ALICE  forbidden")
	bot.Sees("refused slack_webapi_rate_limited_error 9")
	bot.Sees("refused slack_webapi_rate_limited_error 9")
	s.Clear()

	// Told to make room, it opens another socket, and what is said meanwhile comes once.
	s.Disconnect("refresh_requested", time.Second)
	until(func() bool { open, ever := s.Sockets(); return open == 1 && ever == 2 })
	root := s.Say(fakeslack.Post{Channel: "C0ROOM", From: "U0ALICE", Text: "look"})
	bot.Sees("message channel U0ALICE  look")
	bot.Sees("newest true " + fakeslack.BotUser)
	s.Say(fakeslack.Post{Channel: "C0ROOM", Thread: root, From: "U0ALICE", Text: "inside"})
	bot.Sees("message channel U0ALICE thread inside")
	bot.Sees("newest true " + fakeslack.BotUser)
	if got := s.Visible("C0ROOM"); len(got) != 2 || got[0].Thread != "" || got[1].Thread != root {
		t.Errorf("%+v", got)
	}
	until(func() bool { return s.Owed() == 0 })
	s.Say(fakeslack.Post{Channel: "D0ALICE", From: "U0ALICE", Text: "stop"})
	bot.Sees("message im U0ALICE  stop")
	bot.Sees("down")
	bot.Ends()
}
