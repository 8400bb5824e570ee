package telegram_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
	"github.com/homing-gateway/homing/internal/chat"
)

// A person sees a button wait until the press is stored, and no longer.
func TestPressIsAnsweredOnceItIsStored(t *testing.T) {
	w := start(t)
	r, err := w.send(chat.Outbound{To: to(alice), Text: "running", Buttons: []chat.Button{{Label: "Stop", Command: "/stop"}}})
	if err != nil || r.MessageID != "1" {
		t.Fatal(r, err)
	}
	w.tg.Press(alice, 1, alice, "Stop")
	full := errors.New("no space left on device")
	if err := w.run("", func(chat.Event) error { return full }).End(t); !errors.Is(err, full) {
		t.Fatalf("Run: %v", err)
	}
	if p := w.tg.Presses(); p[0].Answered || len(w.tg.Calls("answerCallbackQuery")) != 0 {
		t.Fatal("answered although it was not stored")
	}
	q := w.run("", nil)
	e := q.Await(t, 1)[0]
	if err := w.tg.Until(t.Context(), func() bool { return w.tg.Presses()[0].Answered }); err != nil {
		t.Fatal(err)
	}
	want := &chat.Message{Address: chat.Address{Account: account, Type: chat.Direct, Chat: "1001", Person: "1001"}, PersonName: "Alice", ID: "1", Text: "/stop", Addressed: true}
	if diff := cmp.Diff(want, e.Message); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	q.Stop(t)
}

// Where a press cannot be answered, nothing waits for that: neither the next update nor the end of Run.
func TestPressThatCannotBeAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := startInBubble(t)
		w.tg.Add(faketelegram.Fault{Method: "answerCallbackQuery", Hang: true})
		if _, err := w.send(chat.Outbound{To: to(alice), Text: "running", Buttons: []chat.Button{{Label: "Stop", Command: "/stop"}}}); err != nil {
			t.Fatal(err)
		}
		r := w.run("", nil)
		began := time.Now()
		w.tg.Press(alice, 1, alice, "Stop")
		w.tg.Say(faketelegram.Post{Chat: alice, From: alice, Text: "next"})
		r.Await(t, 2)
		r.Stop(t)
		if d := time.Since(began); d > time.Second {
			t.Errorf("it took %s", d)
		}
		w.a.Close()
		w.tg.Close()
	})
}

// A press on a message that Telegram no longer shows us still is the command; a button that is none of ours is nothing.
func TestOtherPresses(t *testing.T) {
	w := start(t)
	from := map[string]any{"id": bob, "first_name": "Bob"}
	w.tg.Deliver("callback_query", map[string]any{
		"id": "1", "from": from, "data": "/tasks",
		"message": map[string]any{"message_id": 5, "date": 0, "chat": map[string]any{"id": super, "type": "supergroup"}},
	})
	w.tg.Deliver("callback_query", map[string]any{"id": "2", "from": from, "data": "/tasks", "inline_message_id": "x"})
	w.tg.Deliver("callback_query", map[string]any{"id": "3", "from": from, "game_short_name": "chess"})
	r := w.run("", nil)
	got := r.Await(t, 3)
	r.Stop(t)
	if m := got[0].Message; m == nil || m.Text != "/tasks" || m.Address.Person != "1002" || m.Address.Type != chat.Group {
		t.Errorf("%+v", got[0].Message)
	}
	if got[1].Message != nil || got[2].Message != nil {
		t.Errorf("%+v %+v", got[1].Message, got[2].Message)
	}
}
