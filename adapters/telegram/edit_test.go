package telegram_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
	"github.com/homing-gateway/homing/internal/chat"
)

// D-20: a message can be changed, also into what it is already.
func TestEdit(t *testing.T) {
	w := start(t)
	r, err := w.send(chat.Outbound{To: to(forum, 7), Text: "first"})
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range []chat.Outbound{{Text: "<b>a</b> &amp; b"}, {Text: "<b>a</b> &amp; b"}, {Text: "<i>as it is", Plain: true}} {
		out.To = to(forum, 7)
		if err := w.a.Edit(t.Context(), r.MessageID, out); err != nil {
			t.Fatalf("%q: %v", out.Text, err)
		}
	}
	if got := w.tg.Visible(forum); len(got) != 1 || got[0].Text != "<i>as it is" || got[0].Edits != 2 || got[0].First != "first" {
		t.Errorf("%+v", got)
	}
}

// What an edit that fails means is said in the words of a send.
func TestEditFails(t *testing.T) {
	w := start(t)
	r, _ := w.send(chat.Outbound{To: to(alice), Text: "first"})
	w.tg.Add(faketelegram.Fault{Method: "editMessageText", Status: 429, Description: "Too Many Requests: retry after 33", RetryAfter: 33, Times: 1})
	e := chat.AsSendError(w.a.Edit(t.Context(), r.MessageID, chat.Outbound{To: to(alice), Text: "second"}))
	if e.Fault != chat.RateLimited || e.RetryAfter != 33*time.Second {
		t.Errorf("%v after %s", e, e.RetryAfter)
	}
	for name, c := range map[string]struct {
		message string
		out     chat.Outbound
		class   chat.Class
	}{
		"markup":  {r.MessageID, chat.Outbound{Text: "<b>"}, chat.ClassMarkup},
		"gone":    {"999", chat.Outbound{Text: "x"}, chat.ClassOther},
		"no id":   {"x", chat.Outbound{Text: "x"}, chat.ClassOther},
		"no chat": {r.MessageID, chat.Outbound{To: chat.Address{Chat: "99"}, Text: "x"}, chat.ClassChatGone},
	} {
		if c.out.To.Chat == "" {
			c.out.To = to(alice)
		}
		if e := chat.AsSendError(w.a.Edit(t.Context(), c.message, c.out)); e.Fault != chat.Refused || e.Class != c.class {
			t.Errorf("%s: %v", name, e)
		}
	}
	if got := w.tg.Visible(alice); len(got) != 1 || got[0].Text != "first" {
		t.Errorf("%+v", got)
	}
}

// A message can be taken back, also when somebody else has done so.
func TestRemove(t *testing.T) {
	w := start(t)
	r, _ := w.send(chat.Outbound{To: to(alice), Text: "first"})
	for range 2 {
		if err := w.a.Remove(t.Context(), to(alice), r.MessageID); err != nil {
			t.Error(err)
		}
	}
	if got := w.tg.Visible(alice); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	theirs, _ := w.tg.Say(faketelegram.Post{Chat: alice, From: alice, Text: "mine"})
	if e := chat.AsSendError(w.a.Remove(t.Context(), to(alice), fmt.Sprint(theirs))); e.Fault != chat.Refused {
		t.Error(e)
	}
}

func TestReact(t *testing.T) {
	w := start(t)
	said, _ := w.tg.Say(faketelegram.Post{Chat: alice, From: alice, Text: "and?"})
	if err := w.a.React(t.Context(), to(alice), fmt.Sprint(said)); err != nil {
		t.Fatal(err)
	}
	if m := w.tg.Post(alice, said); m.Reaction != "👀" {
		t.Errorf("%+v", m)
	}
	if e := chat.AsSendError(w.a.React(t.Context(), to(alice), "999")); e.Fault != chat.Refused {
		t.Error(e)
	}
}
