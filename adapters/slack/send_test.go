package slack_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest/fakeslack"
	"github.com/homing-gateway/homing/internal/chat"
)

func to(channel, thread string) chat.Address {
	a := chat.Address{Account: account, Type: chat.Channel, Chat: channel, Thread: thread}
	switch {
	case channel == direct:
		a.Type = chat.Direct
	case thread != "":
		a.Type = chat.Thread
	}
	return a
}

func (w *world) refusal(out chat.Outbound) *chat.SendError {
	w.Helper()
	_, err := w.a.Send(w.Context(), out)
	e, ok := errors.AsType[*chat.SendError](err)
	if !ok {
		w.Fatalf("%T %v, want a SendError", err, err)
	}
	return e
}

// What Slack's errors mean for a message. Success is judged by the body: all of them come with the status 200. D-25 N-30
func TestFaultsOfASend(t *testing.T) {
	w := start(t)
	for code, want := range map[string]chat.SendError{
		"channel_not_found":   {Fault: chat.Refused, Class: chat.ClassChatGone},
		"is_archived":         {Fault: chat.Refused, Class: chat.ClassChatGone},
		"not_in_channel":      {Fault: chat.Refused, Class: chat.ClassBlocked},
		"restricted_action":   {Fault: chat.Refused, Class: chat.ClassBlocked},
		"thread_not_found":    {Fault: chat.Refused, Class: chat.ClassThreadGone},
		"msg_too_long":        {Fault: chat.Refused, Class: chat.ClassTooLong},
		"invalid_blocks":      {Fault: chat.Refused, Class: chat.ClassMarkup},
		"no_text":             {Fault: chat.Refused, Class: chat.ClassOther},
		"something_new":       {Fault: chat.Refused, Class: chat.ClassOther},
		"token_revoked":       {Fault: chat.Refused, Class: chat.ClassCredential},
		"missing_scope":       {Fault: chat.Refused, Class: chat.ClassCredential},
		"ratelimited":         {Fault: chat.RateLimited},
		"rate_limited":        {Fault: chat.RateLimited},
		"service_unavailable": {Fault: chat.ServerError},
		"internal_error":      {Fault: chat.Unknown}, // "some aspect of the operation" may have succeeded
		"fatal_error":         {Fault: chat.Unknown},
	} {
		w.sl.Clear()
		w.sl.Add(fakeslack.Fault{Method: "chat.postMessage", Error: code, Needed: map[bool]string{true: "chat:write"}[code == "missing_scope"]})
		e := w.refusal(chat.Outbound{To: to(general, ""), Text: "x", Plain: true})
		if e.Fault != want.Fault || e.Class != want.Class || !strings.Contains(e.Error(), code) {
			t.Errorf("%s: %v, want %s %s", code, e, want.Fault, want.Class)
		}
		if want.Fault == chat.RateLimited && e.RetryAfter < time.Second {
			t.Errorf("%s: wait for %s", code, e.RetryAfter)
		}
	}
}

// D-25: an archived channel is told as such, and is well again afterwards.
func TestArchivedChannel(t *testing.T) {
	w := start(t)
	out := chat.Outbound{To: to(general, ""), Text: "x"}
	w.sl.Archive(general, true)
	if e := w.refusal(out); e.Class != chat.ClassChatGone || !strings.Contains(e.Error(), "is_archived") {
		t.Errorf("%v", e)
	}
	w.sl.Archive(general, false)
	if _, err := w.a.Send(t.Context(), out); err != nil {
		t.Error(err)
	}
}

// D-19 D-16: the message that is answered is gone: the answer comes. The thread is gone: that is told, once.
func TestAnswersToWhatIsGone(t *testing.T) {
	w := start(t)
	ts := w.sl.Say(fakeslack.Post{Channel: general, From: alice, Text: "?"})
	w.sl.Delete(general, ts)
	if _, err := w.a.Send(t.Context(), chat.Outbound{To: to(general, ""), Text: "yes", ReplyTo: ts}); err != nil {
		t.Error(err)
	}
	if e := w.refusal(chat.Outbound{To: to(general, ts), Text: "yes"}); e.Class != chat.ClassThreadGone {
		t.Errorf("%v", e)
	}
	if n := len(w.sl.Calls("chat.postMessage")); n != 2 {
		t.Errorf("%d calls", n)
	}
}

// D-12: markup is Slack's own and stays as it is; plain text is shown to the letter, with buttons and in edits, too.
func TestMarkupAndPlainText(t *testing.T) {
	w := start(t)
	const hard = "a < b && *not bold* <!channel> `x` &amp;"
	seen := func() fakeslack.Message { all := w.sl.Visible(general); return all[len(all)-1] }
	stop := []chat.Button{{Label: "Stop", Command: "/stop"}}
	for _, out := range []chat.Outbound{
		{Text: hard, Plain: true},
		{Text: hard, Plain: true, Buttons: stop},
		{Text: "*bold* &lt;b&gt; <https://x.example|x>"},
		{Text: "*bold* &lt;b&gt; <https://x.example|x>", Buttons: stop},
	} {
		out.To = to(general, "")
		want := hard
		if !out.Plain {
			want = "bold <b> x"
		}
		r, err := w.a.Send(t.Context(), out)
		if err != nil {
			t.Fatal(err)
		}
		if m := seen(); m.Text() != want || len(m.Buttons()) != len(out.Buttons) {
			t.Errorf("%+v is seen as %q with %v", out, m.Text(), m.Buttons())
		}
		if err := w.a.Edit(t.Context(), r.MessageID, chat.Outbound{To: out.To, Text: "working"}); err != nil || seen().Text() != "working" || seen().Buttons() != nil {
			t.Errorf("an edit: %v %q", err, seen().Text())
		}
		if err := w.a.Edit(t.Context(), r.MessageID, out); err != nil || seen().Text() != want || len(seen().Buttons()) != len(out.Buttons) {
			t.Errorf("an edit back: %v %q", err, seen().Text())
		}
	}
	if _, unfurl := w.sl.Calls("chat.postMessage")[0].Params["unfurl_links"]; !unfurl {
		t.Error("links are unfurled")
	}
	for _, c := range w.sl.Calls("chat.update") {
		if c.Params.Get("parse") != "none" { // else Slack makes names and channels of the agent's words
			t.Errorf("an edit is parsed as %q", c.Params.Get("parse"))
		}
	}
}

// D-12: a text that is longer than a block is cut where nothing breaks, and nothing is lost.
func TestLongTextWithButtons(t *testing.T) {
	w := start(t)
	var b strings.Builder
	for i := range 120 {
		fmt.Fprintf(&b, "line %d of a block of code &amp; <https://x.example|more>\n", i)
	}
	for _, text := range []string{
		"```\n" + strings.ReplaceAll(strings.ReplaceAll(b.String(), "<", "&lt;"), ">", "&gt;") + "```", b.String(),
		strings.Repeat("&amp;", 900), strings.Repeat("<https://x.example/"+strings.Repeat("y", 180)+">", 20), strings.Repeat("é", 3999),
	} {
		_, err := w.a.Send(t.Context(), chat.Outbound{To: to(direct, ""), Text: text, Buttons: []chat.Button{{Label: "Stop", Command: "/stop"}}})
		if err != nil {
			t.Fatalf("%.40q: %v", text, err)
		}
		all := w.sl.Visible(direct)
		flat := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if got, want := flat(all[len(all)-1].Text()), flat(fakeslack.Read(text)); got != want {
			t.Errorf("%.40q: %d characters are seen, want %d", text, len(got), len(want))
		}
	}
}

// D-12: what looks like a block of code in a long plain text is not closed and opened again where that is cut.
func TestLongPlainTextWithButtons(t *testing.T) {
	w := start(t)
	text := "```\n" + strings.Repeat("a line\n", 500) + "end"
	out := chat.Outbound{To: to(direct, ""), Text: text, Plain: true, Buttons: []chat.Button{{Label: "Stop", Command: "/stop"}}}
	if _, err := w.a.Send(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	all := w.sl.Visible(direct)
	if got := strings.Count(all[len(all)-1].Text(), "```"); got != 1 {
		t.Errorf("%d fences are seen, want the one that was written", got)
	}
}

// What arrived is found by its key: in channels, threads and direct chats, behind many other messages, also by a person's id.
func TestObserve(t *testing.T) {
	w := start(t)
	began := time.Now()
	root := w.sl.Say(fakeslack.Post{Channel: random, From: bob, Text: "a root"})
	for i, at := range []chat.Address{to(general, ""), to(random, root), to(direct, ""), to(alice, "")} {
		out := chat.Outbound{To: at, Text: "x", Key: fmt.Sprintf("out_%d.aa", i)}
		w.sl.Add(fakeslack.Fault{Method: "chat.postMessage", Stored: true, Drop: true, Times: 1})
		if e := w.refusal(out); e.Fault != chat.Unknown {
			t.Fatal(e)
		}
		w.sl.Clear()
		channel := at.Chat
		if channel == alice {
			channel = direct
		}
		want := w.sl.Visible(channel)
		for range 250 {
			w.sl.Say(fakeslack.Post{Channel: channel, Thread: at.Thread, From: bob, Text: "noise"})
		}
		r, found, err := w.a.Observe(t.Context(), out, began)
		if err != nil || !found || r.MessageID != want[len(want)-1].TS {
			t.Errorf("%v: %+v %t %v", at, r, found, err)
		}
		if out.Key += "b"; true {
			if _, found, err := w.a.Observe(t.Context(), out, began); err != nil || found {
				t.Errorf("%v: another key: %t %v", at, found, err)
			}
		}
	}
	w.sl.Add(fakeslack.Fault{Method: "conversations.history", Status: 429, RetryAfter: 30})
	_, _, err := w.a.Observe(t.Context(), chat.Outbound{To: to(general, ""), Key: "k"}, began)
	if e, ok := errors.AsType[*chat.SendError](err); !ok || e.Fault != chat.RateLimited || e.RetryAfter != 30*time.Second {
		t.Error(err)
	}
	w.sl.Clear()
	w.sl.Remove(general, true)
	if _, _, err = w.a.Observe(t.Context(), chat.Outbound{To: to(general, ""), Key: "k"}, began); chat.AsSendError(err).Fault != chat.Refused {
		t.Error(err)
	}
}

// Every call has a deadline of its own, for callers without one.
func TestEveryCallEnds(t *testing.T) {
	w := start(t)
	impatient := *w
	impatient.a = adapterFor(t, w.sl, optionsOf(w)).a
	w.sl.Add(fakeslack.Fault{Hang: true})
	ctx := context.Background()
	out := chat.Outbound{To: to(general, ""), Text: "x", Key: "k"}
	for name, call := range map[string]func() error{
		"Send":    func() error { _, err := impatient.a.Send(ctx, out); return err },
		"Edit":    func() error { return impatient.a.Edit(ctx, "1.1", out) },
		"Observe": func() error { _, _, err := impatient.a.Observe(ctx, out, time.Now()); return err },
		"History": func() error {
			return impatient.a.History(ctx, out.To, time.Now(), 1, func(context.Context, chat.Event) error { return nil })
		},
		"Run": func() error {
			return impatient.a.Run(ctx, "", func(context.Context, chat.Event) error { return nil }, func() {})
		},
	} {
		began := time.Now()
		if err := call(); err == nil || time.Since(began) > 10*time.Second {
			t.Errorf("%s: %v after %s", name, err, time.Since(began))
		}
	}
}

// A message of ours is taken back; one that is gone already is no error, one of somebody else stays.
func TestRemove(t *testing.T) {
	w := start(t)
	r, err := w.a.Send(t.Context(), chat.Outbound{To: to(general, ""), Text: "x"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.a.Remove(t.Context(), to(general, ""), r.MessageID); err != nil {
			t.Error(err)
		}
	}
	if n := len(w.sl.Visible(general)); n != 0 {
		t.Errorf("%d messages", n)
	}
	ts := w.sl.Say(fakeslack.Post{Channel: general, From: alice, Text: "mine"})
	if err := w.a.Remove(t.Context(), to(general, ""), ts); chat.AsSendError(err).Fault != chat.Refused {
		t.Error(err)
	}
}
