package slack_test

import (
	"fmt"
	"testing"

	"github.com/homing-gateway/homing/adapters/adaptertest"
	"github.com/homing-gateway/homing/adapters/adaptertest/fakeslack"
	"github.com/homing-gateway/homing/adapters/slack"
	"github.com/homing-gateway/homing/internal/chat"
)

// heard lets somebody say something and gives the message that comes of it.
func (w *world) heard(r *adaptertest.Session, p fakeslack.Post) (string, chat.Message) {
	w.Helper()
	ts := w.sl.Say(p)
	var m chat.Message
	r.Until(w.T, func() bool {
		for _, e := range r.Events {
			if e.ID == p.Channel+":"+ts && e.Message != nil {
				m = *e.Message
				return true
			}
		}
		return false
	})
	return ts, m
}

// Where a message is said, and whether it is said to us.
func TestPlaces(t *testing.T) {
	for _, inThread := range []bool{true, false} {
		t.Run(fmt.Sprint("reply_in_thread ", inThread), func(t *testing.T) {
			w := start(t, func(o *slack.Options) { o.ReplyInThread = inThread })
			w.sl.Channel("G0MANY", "mpdm", "mpim")
			r := w.run(nil)
			at := func(kind chat.PlaceType, channel, thread string) chat.Address {
				return chat.Address{Account: account, Type: kind, Chat: channel, Thread: thread, Person: alice}
			}
			ts, m := w.heard(r, fakeslack.Post{Channel: general, From: alice, Text: mention + " hello"})
			want := at(chat.Channel, general, "")
			if inThread {
				want = at(chat.Thread, general, ts)
			}
			if m.Address != want || !m.Addressed || m.ID != ts || m.PersonName != "Alice" {
				t.Errorf("a mention: %+v", m)
			}
			if _, m = w.heard(r, fakeslack.Post{Channel: general, Thread: ts, From: alice, Text: "and on"}); m.Address != at(chat.Thread, general, ts) || m.Addressed {
				t.Errorf("in the thread: %+v", m)
			}
			if _, m = w.heard(r, fakeslack.Post{Channel: general, Thread: ts, From: alice, Text: mention + " and on"}); m.Address != at(chat.Thread, general, ts) || !m.Addressed {
				t.Errorf("a mention in the thread: %+v", m)
			}
			if _, m = w.heard(r, fakeslack.Post{Channel: general, From: alice, Text: "to all"}); m.Address != at(chat.Channel, general, "") || m.Addressed {
				t.Errorf("without a mention: %+v", m)
			}
			if ts, m = w.heard(r, fakeslack.Post{Channel: direct, From: alice, Text: "psst"}); m.Address != at(chat.Direct, direct, "") || !m.Addressed {
				t.Errorf("direct: %+v", m)
			}
			if _, m = w.heard(r, fakeslack.Post{Channel: direct, From: alice, Text: "at home", More: map[string]any{"channel_type": "app_home"}}); m.Address != at(chat.Direct, direct, "") || !m.Addressed {
				t.Errorf("in the app's home: %+v", m)
			}
			if _, m = w.heard(r, fakeslack.Post{Channel: direct, Thread: ts, From: alice, Text: "psst"}); m.Address != at(chat.Direct, direct, ts) || !m.Addressed {
				t.Errorf("a thread of a direct chat: %+v", m)
			}
			if _, m = w.heard(r, fakeslack.Post{Channel: "G0MANY", From: alice, Text: "we"}); m.Address != at(chat.Channel, "G0MANY", "") || m.Addressed {
				t.Errorf("a direct chat of several: %+v", m)
			}
			if _, m = w.heard(r, fakeslack.Post{Channel: general, Thread: ts, From: alice, Text: "x", More: map[string]any{"parent_user_id": fakeslack.BotUser}}); !m.Addressed {
				t.Errorf("a thread under our message: %+v", m)
			}
			r.Stop(t)
		})
	}
}

// What a person wrote is read as they see it.
func TestRead(t *testing.T) {
	w := start(t)
	r := w.run(nil)
	for said, want := range map[string]string{
		mention + ", do it":                             "do it",
		"do it " + mention + "!":                        "do it!",
		"a &lt;b&gt; &amp;amp; c":                       "a <b> &amp; c",
		"ask <@" + bob + "> and <@U0NOBODY|carl>":       "ask @Bob and @carl",
		"in <#C1|general> and <#C2>":                    "in #general and #C2",
		"<!here> <!channel> <!subteam^S1|@team>":        "@here @channel @team",
		"<!date^1392734382^{date}|Feb 18, 2014>":        "Feb 18, 2014",
		"see <https://x.example/?a=1&amp;b=2>":          "see https://x.example/?a=1&b=2",
		"see <https://x.example|the page>":              "see the page (https://x.example)",
		"see <http://x.example|x.example>":              "see x.example",
		"<mailto:a@x.example|a@x.example>":              "a@x.example",
		"1 &lt; 2 and a lone < sign":                    "1 < 2 and a lone < sign",
		mention + " /status":                            "/status",
		"*bold* _it_ `code`":                            "*bold* _it_ `code`",
		"unknown <@U0GONE>":                             "unknown @U0GONE",
		mention + mention + " twice":                    "twice",
		"a <@" + fakeslack.BotUser + "|homing> b":       "a b",
		"é😀 " + mention + " <@" + alice + "> &gt; that": "é😀 @Alice > that",
	} {
		if _, m := w.heard(r, fakeslack.Post{Channel: direct, From: alice, Text: said}); m.Text != want {
			t.Errorf("%q is read as %q, want %q", said, m.Text, want)
		}
	}
	n := len(w.sl.Calls("users.info"))
	w.heard(r, fakeslack.Post{Channel: direct, From: alice, Text: "hi <@" + bob + "> <@U0GONE>"})
	if now := len(w.sl.Calls("users.info")); now != n {
		t.Errorf("%d questions for names that are known", now-n)
	}
	r.Stop(t)
}

// What is no word of a person makes no message, whatever it looks like.
func TestWhatIsNoMessage(t *testing.T) {
	w := start(t)
	r := w.run(nil)
	ts := w.sl.Say(fakeslack.Post{Channel: direct, From: alice, Text: "one"})
	w.sl.Alter(direct, ts, "one, edited")
	w.sl.Delete(direct, ts)
	for _, subtype := range []string{"channel_join", "channel_topic", "message_replied", "tombstone", "something_new"} {
		w.sl.Say(fakeslack.Post{Channel: general, From: alice, Text: mention + " joined", More: map[string]any{"subtype": subtype}})
	}
	w.sl.Say(fakeslack.Post{Channel: general, From: fakeslack.BotUser, Text: mention + " ours"})
	w.sl.Event(map[string]any{"type": "message", "subtype": "bot_message", "bot_id": fakeslack.Bot, "channel": general, "ts": "1.000001", "text": "ours, too"})
	w.sl.Event(map[string]any{"type": "reaction_added", "user": alice})
	w.sl.Deliver("events_api", map[string]any{"type": "app_rate_limited", "minute_rate_limited": 1})
	w.sl.Deliver("interactive", map[string]any{"type": "view_submission", "user": map[string]any{"id": alice}})
	w.heard(r, fakeslack.Post{Channel: direct, From: alice, Text: "two"})
	for _, e := range r.Await(t, 0) {
		if e.Message != nil && e.Message.Text != "one" && e.Message.Text != "two" || e.Aside != nil {
			t.Errorf("%+v %+v", e, e.Message)
		}
	}
	_, m := w.heard(r, fakeslack.Post{Channel: general, From: alice, Text: "look", More: map[string]any{"subtype": "file_share", "files": []any{"not even an object"}}})
	if len(m.Unsupported) != 1 || m.Unsupported[0] != "file" || m.Text != "look" {
		t.Errorf("a file: %+v", m)
	}
	if _, m = w.heard(r, fakeslack.Post{Channel: general, From: beeper, Text: mention + " beep"}); !m.FromBot || !m.Addressed {
		t.Errorf("another bot: %+v", m)
	}
	if err := w.sl.Until(t.Context(), func() bool { return w.sl.Owed() == 0 }); err != nil {
		t.Error(err)
	}
	r.Stop(t)
}

// U-01: a slash command is the command behind it.
func TestSlashCommand(t *testing.T) {
	w := start(t)
	r := w.run(nil)
	for i, k := range []struct{ channel, text, want string }{
		{direct, "status", "/status"}, {general, "resume 2", "/resume 2"}, {direct, "", "/help"}, {direct, " /stop ", "/stop"}, {direct, "!new", "/new"},
	} {
		w.sl.Slash(k.channel, alice, "/homing", k.text)
		e := r.Await(t, i+1)[i]
		kind := chat.Channel
		if k.channel == direct {
			kind = chat.Direct
		}
		if m := e.Message; m == nil || m.Text != k.want || !m.Addressed || m.Address != (chat.Address{Account: account, Type: kind, Chat: k.channel, Person: alice}) || m.PersonName != "Alice" {
			t.Errorf("/homing %s: %+v", k.text, m)
		}
	}
	w.sl.Again() // not acknowledged in time: the same id
	r.Until(t, func() bool { return r.Again == 1 })
	r.Stop(t)
}

// The press of a button in a thread belongs to the thread.
func TestPressInAThread(t *testing.T) {
	w := start(t)
	r := w.run(nil)
	root := w.sl.Say(fakeslack.Post{Channel: general, From: bob, Text: "a root"})
	to := chat.Address{Account: account, Type: chat.Thread, Chat: general, Thread: root}
	receipt, err := w.a.Send(t.Context(), chat.Outbound{To: to, Text: "go?", Buttons: []chat.Button{{Label: "Stop <all> & now", Command: "/stop"}}})
	if err != nil {
		t.Fatal(err)
	}
	w.sl.Press(general, receipt.MessageID, alice, "Stop <all> & now")
	m := r.Await(t, 2)[1].Message
	if to.Person = alice; m == nil || m.Text != "/stop" || m.Address != to {
		t.Errorf("%+v", m)
	}
	r.Stop(t)
}
