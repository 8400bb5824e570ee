package telegram_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
	"github.com/homing-gateway/homing/adapters/telegram"
	"github.com/homing-gateway/homing/internal/chat"
)

func to(id int64, thread ...int64) chat.Address {
	a := chat.Address{Account: account, Chat: fmt.Sprint(id)}
	if len(thread) > 0 {
		a.Thread = fmt.Sprint(thread[0])
	}
	return a
}

func (w *world) send(out chat.Outbound) (chat.Receipt, error) {
	ctx, cancel := context.WithTimeout(w.t.Context(), 5*time.Second)
	defer cancel()
	return w.a.Send(ctx, out)
}

func TestSend(t *testing.T) {
	w := start(t)
	asked, _ := w.tg.Say(faketelegram.Post{Chat: alice, From: alice, Text: "?"})
	w.tg.Topic(alice, 5, true)
	for _, out := range []chat.Outbound{
		{To: to(alice), Text: "<b>bold</b> &amp; so", ReplyTo: fmt.Sprint(asked)},
		{To: to(alice), Text: "<b>as it is</b>", Plain: true, Silent: true},
		{To: to(alice, 5), Text: "topic"},
		{To: to(alice), Text: "the question is gone", ReplyTo: "999"},
		{To: to(alice), Text: "an answer to an id that is none", ReplyTo: "x"},
	} {
		if r, err := w.send(out); err != nil || r.MessageID == "" {
			t.Fatalf("%q: %+v, %v", out.Text, r, err)
		}
	}
	got := w.tg.Visible(alice)
	if len(got) != 5 {
		t.Fatalf("%d messages, want 5", len(got))
	}
	if m := got[0]; m.Text != "bold & so" || len(m.Entities) != 1 || m.ReplyTo != asked || m.Silent {
		t.Errorf("%+v", m)
	}
	if m := got[1]; m.Text != "<b>as it is</b>" || !m.Silent {
		t.Errorf("%+v", m)
	}
	if m := got[2]; m.Thread != 5 {
		t.Errorf("%+v", m)
	}
	if m := got[3]; m.ReplyTo != 0 {
		t.Errorf("%+v", m)
	}
	for _, c := range w.tg.Calls("sendMessage") {
		if !strings.Contains(c.Params["link_preview_options"], `"is_disabled":true`) {
			t.Errorf("with a link preview: %v", c.Params)
		}
	}
	// The general topic of a forum is addressed without its number.
	if _, err := w.send(chat.Outbound{To: to(forum, 1), Text: "general"}); err != nil {
		t.Error(err)
	}
}

// A message that is answered may hold what the library does not know yet; ours has arrived all the same.
func TestSendAnswersWhatNobodyKnows(t *testing.T) {
	w := start(t)
	w.tg.Add(faketelegram.Fault{Method: "sendMessage", Status: 200, Body: `{"ok":true,"result":{"message_id":12,"date":1,"chat":{"id":1,"type":"private"},` +
		`"reply_to_message":{"message_id":3,"date":1,"chat":{"id":1,"type":"private"},"forward_origin":{"type":"telepathy"}}}}`})
	if r, err := w.send(chat.Outbound{To: to(alice), Text: "x"}); err != nil || r.MessageID != "12" {
		t.Fatalf("%+v, %v", r, err)
	}
}

// Every answer has one meaning.
func TestStatusTable(t *testing.T) {
	w := start(t)
	cases := []struct {
		fault faketelegram.Fault
		want  chat.Fault
		class chat.Class
	}{
		{faketelegram.Fault{Status: 400, Description: "Bad Request: can't parse entities: Can't find end tag corresponding to start tag \"b\""}, chat.Refused, chat.ClassMarkup},
		{faketelegram.Fault{Status: 400, Description: "Bad Request: message thread not found"}, chat.Refused, chat.ClassThreadGone},
		{faketelegram.Fault{Status: 400, Description: "Bad Request: TOPIC_DELETED"}, chat.Refused, chat.ClassThreadGone},
		{faketelegram.Fault{Status: 400, Description: "Bad Request: chat not found"}, chat.Refused, chat.ClassChatGone},
		{faketelegram.Fault{Status: 400, Description: "Bad Request: message is too long"}, chat.Refused, chat.ClassTooLong},
		{faketelegram.Fault{Status: 413, Description: "Request Entity Too Large"}, chat.Refused, chat.ClassTooLong},
		{faketelegram.Fault{Status: 400, Description: "Bad Request: not enough rights to send text messages to the chat"}, chat.Refused, chat.ClassBlocked},
		{faketelegram.Fault{Status: 400, Description: "Bad Request: message text is empty"}, chat.Refused, chat.ClassOther},
		{faketelegram.Fault{Status: 401, Description: "Unauthorized"}, chat.Refused, chat.ClassCredential},
		{faketelegram.Fault{Status: 403, Description: "Forbidden: bot was blocked by the user"}, chat.Refused, chat.ClassBlocked},
		{faketelegram.Fault{Status: 403, Description: "Forbidden: bot was kicked from the supergroup chat"}, chat.Refused, chat.ClassBlocked},
		{faketelegram.Fault{Status: 404, Description: "Not Found"}, chat.Refused, chat.ClassCredential},
		{faketelegram.Fault{Status: 409, Description: "Conflict"}, chat.Refused, chat.ClassOther},
		{faketelegram.Fault{Status: 429, Description: "Too Many Requests: retry after 9", RetryAfter: 9}, chat.RateLimited, ""},
		{faketelegram.Fault{Status: 429, Body: "<html>slow down</html>"}, chat.RateLimited, ""},
		{faketelegram.Fault{Status: 500, Description: "Internal Server Error"}, chat.ServerError, ""},
		{faketelegram.Fault{Status: 502, Body: "<html>" + strings.Repeat("Bad Gateway ", 1000) + "</html>"}, chat.ServerError, ""},
		{faketelegram.Fault{Status: 504, Description: "Gateway Timeout"}, chat.ServerError, ""},
		{faketelegram.Fault{Status: 403, Body: "<html>captive portal</html>"}, chat.ServerError, ""},
		{faketelegram.Fault{Status: 302, Body: "moved"}, chat.ServerError, ""},
		{faketelegram.Fault{Status: 200, Body: "<html>please log in</html>"}, chat.Unknown, ""},
		{faketelegram.Fault{Drop: true}, chat.Unknown, ""},
		{faketelegram.Fault{Drop: true, Stored: true}, chat.Unknown, ""},
	}
	for _, c := range cases {
		f := c.fault
		f.Times = 1
		w.tg.Add(f)
		_, err := w.send(chat.Outbound{To: to(alice), Text: "x"})
		e, ok := errors.AsType[*chat.SendError](err)
		if !ok {
			t.Fatalf("%+v: %v", c.fault, err)
		}
		if e.Fault != c.want || e.Class != c.class {
			t.Errorf("%+v: %v, want %s %s", c.fault, e, c.want, c.class)
		}
		if f.Description != "" && !strings.Contains(err.Error(), f.Description) {
			t.Errorf("%v does not say %q", err, f.Description)
		}
		if len(err.Error()) > 300 {
			t.Errorf("%d bytes of error", len(err.Error()))
		}
		if e.Fault == chat.RateLimited && e.RetryAfter != time.Duration(max(f.RetryAfter, 1))*time.Second {
			t.Errorf("%v: after %s", err, e.RetryAfter)
		}
		w.tg.Clear()
	}
}

// An address that cannot be one of Telegram is refused without a call.
func TestForeignAddresses(t *testing.T) {
	w := start(t)
	for _, c := range []struct {
		to    chat.Address
		class chat.Class
	}{
		{chat.Address{Chat: "@alice"}, chat.ClassChatGone},
		{chat.Address{Chat: "1", Thread: "x"}, chat.ClassThreadGone},
	} {
		if _, err := w.send(chat.Outbound{To: c.to, Text: "x"}); chat.AsSendError(err).Class != c.class {
			t.Errorf("%v: %v, want %s", c.to, err, c.class)
		}
	}
	if err := w.a.Edit(t.Context(), "x", chat.Outbound{To: to(alice), Text: "x"}); chat.AsSendError(err).Fault != chat.Refused {
		t.Errorf("edit of a message that is none: %v", err)
	}
	if n := len(w.tg.Calls("")); n != 0 {
		t.Errorf("%d calls", n)
	}
}

// D-05: where the server is one without TLS, nothing was sent.
func TestNoTLS(t *testing.T) {
	w := start(t, func(o *telegram.Options) { o.APIURL = strings.Replace(o.APIURL, "http:", "https:", 1) })
	if _, err := w.send(chat.Outbound{To: to(alice), Text: "x"}); err == nil || chat.AsSendError(err).Fault != chat.Unreachable {
		t.Errorf("%v, want unreachable", err)
	}
}

// A connection that died while nobody used it costs nothing, also where the kernel has its own mind about it: the send
// goes out once, on another one.
func TestIdleConnectionDies(t *testing.T) {
	w := start(t)
	for i := range 20 {
		if _, err := w.send(chat.Outbound{To: to(alice), Text: fmt.Sprint(i)}); err != nil {
			t.Fatalf("send %d: %v", i, err)
		}
		w.tg.Down()
		for { // until our side has seen it, a send would find the connection alive
			if _, err := w.send(chat.Outbound{To: to(bob), Text: "nobody is there"}); chat.AsSendError(err).Fault == chat.Unreachable {
				break
			}
		}
		if err := w.tg.Up(); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(w.tg.Visible(alice)); n != 20 {
		t.Errorf("%d messages, want 20", n)
	}
}

// Sends go on while no Run does, and their end is not the end of a Run.
func TestSendOutlivesRun(t *testing.T) {
	w := start(t)
	w.tg.Add(faketelegram.Fault{Method: "sendMessage", Delay: 100 * time.Millisecond})
	r := w.run("", nil)
	w.polled(2)
	sent := make(chan error, 1)
	go func() {
		_, err := w.send(chat.Outbound{To: to(alice), Text: "in flight"})
		sent <- err
	}()
	if err := w.tg.Until(t.Context(), func() bool { return len(w.tg.Calls("sendMessage")) > 0 }); err != nil {
		t.Fatal(err)
	}
	r.Stop(t)
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
}

// D-28: a typing sign goes into the topic.
func TestTyping(t *testing.T) {
	w := start(t)
	if err := w.a.Typing(t.Context(), to(forum, 7)); err != nil {
		t.Fatal(err)
	}
	if c := w.tg.Calls("sendChatAction"); len(c) != 1 || c[0].Params["action"] != "typing" || c[0].Params["message_thread_id"] != "7" {
		t.Fatalf("%+v", c)
	}
}

func TestMenu(t *testing.T) {
	w := start(t)
	err := w.a.SetMenu(t.Context(), []chat.MenuEntry{{Name: "new", Description: "Start anew"}, {Name: "stop", Description: strings.Repeat("ü", 300)}})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.tg.Commands(); len(got) != 2 || got[0].Command != "new" || len([]rune(got[1].Description)) != 256 {
		t.Fatalf("%+v", got)
	}
	if err := w.a.SetMenu(t.Context(), []chat.MenuEntry{{Name: "Bad Name", Description: "x"}}); err == nil {
		t.Fatal("no error")
	}
}
