package telegram_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest"
	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
	"github.com/homing-gateway/homing/adapters/telegram"
	"github.com/homing-gateway/homing/internal/chat"
)

const conflict = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"

// with the stored cursor no restart brings an old update again.
func TestCursorSurvivesRestarts(t *testing.T) {
	w := start(t)
	w.tg.Say(faketelegram.Post{Chat: alice, From: alice, Text: "once"})
	r := w.run("", nil)
	seen := r.Await(t, 1)[0]
	w.polled(2)
	r.Stop(t)
	for i := range 5 {
		r = w.run(seen.Cursor, nil)
		w.polled(2 + 2*(i+1)) // one that asks what there is, one that waits
		r.Stop(t)
		if len(r.Events) != 0 {
			t.Fatalf("came again: %+v", r.Events)
		}
	}
}

// An update that nobody can decode is set aside whole, and the next ones go on.
func TestPoisonIsSetAside(t *testing.T) {
	w := start(t)
	w.tg.Say(faketelegram.Post{Chat: alice, From: alice, Text: "before"})
	poison := w.tg.Deliver("message", map[string]any{
		"message_id": 5, "date": 1, "chat": map[string]any{"id": alice, "type": "private"},
		"forward_origin": map[string]any{"type": "telepathy"}, "text": "kept",
	})
	w.tg.Deliver("message", "not even an object")
	w.tg.Say(faketelegram.Post{Chat: alice, From: alice, Text: "after"})
	r := w.run("", nil)
	got := r.Await(t, 4)
	r.Stop(t)
	if got[0].Message == nil || got[0].Message.Text != "before" || got[3].Message == nil || got[3].Message.Text != "after" {
		t.Fatalf("%+v", got)
	}
	a := got[1]
	if a.Aside == nil || a.Message != nil || a.ID != fmt.Sprint(poison) || a.Cursor != fmt.Sprint(poison+1) ||
		!strings.Contains(string(a.Aside.Raw), "telepathy") || !strings.Contains(string(a.Aside.Raw), "kept") || a.Aside.Reason == "" {
		t.Fatalf("set aside: %+v", a)
	}
	if got[2].Aside == nil {
		t.Fatalf("%+v", got[2])
	}
}

// Kinds that are of no interest move the cursor and nothing else.
func TestOtherKindsMoveTheCursor(t *testing.T) {
	w := start(t)
	id := w.tg.Deliver("edited_message", map[string]any{"message_id": 1, "date": 1, "chat": map[string]any{"id": alice, "type": "private"}, "text": "x"})
	w.tg.Deliver("callback_query", map[string]any{"id": "1", "from": map[string]any{"id": alice}, "data": "x"})
	w.tg.Deliver("message", map[string]any{"message_id": 1, "date": 1, "chat": map[string]any{"id": -9, "type": "channel"}, "text": "x"})
	w.tg.Deliver("message", map[string]any{"message_id": 2, "date": 1, "chat": map[string]any{"id": group, "type": "group"}, "from": map[string]any{"id": alice}, "new_chat_title": "x"})
	r := w.run("", nil)
	for i, e := range r.Await(t, 4) {
		if e.Message != nil || e.Moved != nil || e.Aside != nil || e.Cursor != fmt.Sprint(id+int64(i)+1) {
			t.Errorf("%+v, want a cursor alone", e)
		}
	}
	r.Stop(t)
}

// Telegram may count from a lower number after a quiet week; a stored offset from before must not blind us for ever.
func TestNumberingThatStartsAnew(t *testing.T) {
	w := start(t)
	w.tg.Renumber(40)
	for i := range 3 {
		w.tg.Say(faketelegram.Post{Chat: alice, From: alice, Text: fmt.Sprint(i)})
	}
	r := w.run("7000", nil)
	if got := r.Await(t, 3); got[2].ID != "43" || got[2].Cursor != "44" {
		t.Fatalf("%+v", got)
	}
	if err := w.tg.Until(t.Context(), func() bool { return w.tg.Waiting() == 0 }); err != nil {
		t.Fatal(err)
	}
	r.Stop(t)
	if len(r.Events) != 3 {
		t.Fatalf("%d events, want 3", len(r.Events))
	}
}

// N-01: a short conflict is waited out quietly, and nothing is lost.
func TestShortConflict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := startInBubble(t)
		w.tg.Add(faketelegram.Fault{Method: "getUpdates", Status: 409, Times: 3, Description: conflict})
		w.tg.Say(faketelegram.Post{Chat: alice, From: alice, Text: "hello"})
		began := time.Now()
		r := w.run("", nil)
		r.Await(t, 1)
		if d := time.Since(began); d > 10*time.Second || d < 500*time.Millisecond {
			t.Errorf("waited %s", d)
		}
		r.Stop(t)
		lines := 0
		for _, e := range w.logs.All() {
			if e.Level > -1 {
				lines++
			}
		}
		if lines > 2 {
			t.Errorf("%d log lines about a short conflict", lines)
		}
		w.a.Close()
		w.tg.Close()
	})
}

// N-01: a lasting conflict ends the Run with its cause, and the following Runs give up at the first refusal.
func TestLastingConflict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := startInBubble(t)
		w.tg.Add(faketelegram.Fault{Method: "getUpdates", Status: 409, Description: conflict})
		began := time.Now()
		e := adaptertest.RunError(t, w.run("", nil).End(t))
		if e.Cause != chat.CauseConflict || e.Park || e.Remedy == "" {
			t.Fatalf("%+v", e)
		}
		if n := len(w.tg.Calls("getUpdates")); n > 5 || time.Since(began) > 15*time.Second {
			t.Errorf("%d polls in %s", n, time.Since(began))
		}
		n := len(w.tg.Calls("getUpdates"))
		r := w.run("", nil)
		if e := adaptertest.RunError(t, r.End(t)); e.Cause != chat.CauseConflict || r.Ups != 0 {
			t.Fatalf("%+v, up %d times", e, r.Ups)
		}
		if d := len(w.tg.Calls("getUpdates")) - n; d != 1 {
			t.Errorf("%d polls of the second Run, want 1", d)
		}
		w.tg.Clear()
		w.tg.Say(faketelegram.Post{Chat: alice, From: alice, Text: "hello"})
		r = w.run("", nil)
		r.Await(t, 1)
		r.Stop(t)
		w.a.Close()
		w.tg.Close()
	})
}

// N-01: two real pollers end each other's polls; ours steps back with the cause instead of fighting for ever.
func TestTwoPollers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := startInBubble(t)
		rival, err := telegram.New(telegram.Options{Token: token, APIURL: "http://telegram.test", Dial: w.net.Dial})
		if err != nil {
			t.Fatal(err)
		}
		other := &world{t: t, tg: w.tg, a: rival}
		r, q := w.run("", nil), other.run("", nil)
		var ended error
		select {
		case ended = <-r.Ended():
			q.Stop(t)
		case ended = <-q.Ended():
			r.Stop(t)
		}
		if e := adaptertest.RunError(t, ended); e.Cause != chat.CauseConflict {
			t.Fatalf("%+v", e)
		}
		rival.Close()
		w.a.Close()
		w.tg.Close()
	})
}

// N-02: a webhook is named and left alone.
func TestWebhook(t *testing.T) {
	w := start(t)
	w.tg.Webhook("https://elsewhere.example/hook")
	e := adaptertest.RunError(t, w.run("", nil).End(t))
	if e.Cause != chat.CauseWebhookSet || e.Remedy == "" || e.Park {
		t.Fatalf("%+v", e)
	}
	if url, err := w.a.Webhook(t.Context()); err != nil || url != "https://elsewhere.example/hook" {
		t.Fatalf("Webhook: %q, %v", url, err)
	}
	if n := len(w.tg.Calls("deleteWebhook")); n != 0 {
		t.Fatal("the webhook was removed")
	}
}

// What cannot be a token is refused before anything is asked.
func TestBadToken(t *testing.T) {
	for _, bad := range []string{"", "abc", "4711", "4711:", "47 11:abc", "4711:a b", "4711:a/b", "4711:a\nb"} {
		if a, err := telegram.New(telegram.Options{Token: bad}); err == nil {
			t.Errorf("%q was taken as the token of %s", bad, a)
		}
	}
}

// N-05: an answer to a poll that is none ends the Run, and the next Run is as good as the first.
func TestPollFailures(t *testing.T) {
	for name, f := range map[string]faketelegram.Fault{
		"502 of HTML": {Status: 502, Body: "<html>Bad Gateway</html>"},
		"500":         {Status: 500, Description: "Internal Server Error"},
		"200 of HTML": {Status: 200, Body: "<html>please log in</html>"},
		"404 of HTML": {Status: 404, Body: "<html>no such page</html>"},
		"429":         {Status: 429, Description: "Too Many Requests: retry after 17", RetryAfter: 17},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			f.Method, f.Skip, f.Times = "getUpdates", 1, 1
			w.tg.Add(f)
			r := w.run("", nil)
			r.Until(t, func() bool { return r.Ups == 1 })
			e := adaptertest.RunError(t, r.End(t))
			if e.Cause != chat.CauseUnreachable || e.Park {
				t.Fatalf("%+v", e)
			}
			if want := time.Duration(f.RetryAfter) * time.Second; e.After != want {
				t.Errorf("after %s, want %s", e.After, want)
			}
			w.tg.Say(faketelegram.Post{Chat: alice, From: alice, Text: "hello"})
			r = w.run("", nil)
			r.Await(t, 1)
			r.Stop(t)
		})
	}
}
