package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
)

// offered is what an adapter may offer besides.
func offered() []behaviour {
	return []behaviour{
		{"a message can be edited", edit},
		{"trouble of an edit is told as that of a send", editTrouble},
		{"what arrived can be looked up", observe},
		{"what people wrote can be asked for", history},
		{"buttons stand under a message, and a press is a command", buttons},
		{"a typing sign is shown", typing},
	}
}

func (w *world) editor() chat.Editor {
	w.Helper()
	e, ok := w.a.(chat.Editor)
	if !ok {
		w.lacking("chat.Editor")
	}
	return e
}

// edited makes one edit.
func (w *world) edited(e chat.Editor, id string, out chat.Outbound) *chat.SendError {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return w.judged(e.Edit(ctx, id, out))
}

func edit(w *world) {
	e := w.editor()
	for _, at := range []Place{Direct, Shared} {
		r := w.sent(w.out(at, "one"))
		for _, text := range []string{"two", "two", "three"} { // the same text is no error
			if err := w.edited(e, r.MessageID, w.out(at, text)); err != nil {
				w.Errorf("%s: edit to %q: %v", at, text, err)
			}
			if seen := w.Seen(at); len(seen) != 1 || seen[0].Text != text || seen[0].ID != r.MessageID {
				w.Errorf("%s: %+v, want %q", at, seen, text)
			}
		}
	}
}

func editTrouble(w *world) {
	e := w.editor()
	r := w.sent(w.out(Direct, "one"))
	if bad := w.Traits().BadMarkup; bad != "" {
		out := w.out(Direct, bad)
		out.Plain = false
		w.want(w.edited(e, r.MessageID, out), chat.Refused, chat.ClassMarkup)
	}
	if err := w.edited(e, r.MessageID+"7", w.out(Direct, "two")); err == nil || err.Fault != chat.Refused {
		w.Errorf("a message that is not there: %v, want a refusal", err)
	}
	w.Strike(Busy)
	err := w.edited(e, r.MessageID, w.out(Direct, "two"))
	w.want(err, chat.RateLimited, "")
	if err != nil && (err.RetryAfter < Wait || err.RetryAfter > Wait+time.Second) {
		w.Errorf("wait for %s, want %s", err.RetryAfter, Wait)
	}
	w.Heal()
	time.Sleep(2 * Wait)
	w.Strike(Broken)
	w.want(w.edited(e, r.MessageID, w.out(Direct, "two")), chat.ServerError, "")
	w.Heal()
	w.net.Behave(Refuses)
	w.net.Cut()
	w.want(w.edited(e, r.MessageID, w.out(Direct, "two")), chat.Unreachable, "")
	w.net.Behave(Accepts)
	if seen := w.Seen(Direct); len(seen) != 1 || seen[0].Text != "one" {
		w.Errorf("%+v, want the message as it was", seen)
	}
}

func observe(w *world) {
	o, ok := w.a.(chat.Observer)
	if !ok {
		w.lacking("chat.Observer")
	}
	began := time.Now()
	arrived, lost := w.out(Shared, "arrived"), w.out(Shared, "lost")
	w.sent(w.out(Shared, "arrived"))
	w.once(CutAfter, arrived)
	w.once(CutBefore, lost)
	w.sent(w.out(Shared, "lost"))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, found, err := o.Observe(ctx, arrived, began)
	if seen := w.Seen(Shared); err != nil || !found || len(seen) != 3 || r.MessageID != seen[1].ID {
		w.Errorf("what arrived: %+v %t %v, seen %+v", r, found, err, seen)
	}
	if r, found, err = o.Observe(ctx, lost, began); err != nil || found {
		w.Errorf("what was lost: %+v %t %v", r, found, err)
	}
	w.net.Behave(Refuses)
	w.net.Cut()
	if _, found, err = o.Observe(ctx, arrived, began); err == nil || found {
		w.Errorf("without a connection: found %t, %v", found, err)
	}
	w.heard("Observe", err)
}

func history(w *world) {
	h, ok := w.a.(chat.Historian)
	if !ok {
		w.lacking("chat.Historian")
	}
	c := w.start(w.a, nil).connected()
	for i := range 5 {
		w.say(Shared, Alice, fmt.Sprint(i))
		time.Sleep(time.Minute)
	}
	live := c.await(5)
	ids := map[string]string{}
	for _, e := range c.events() {
		if e.Message != nil {
			ids[e.Message.Text] = e.ID
		}
	}
	ask := func(since time.Time, limit int, admit chat.Admit) (got []string, err error) {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		err = h.History(ctx, w.At(Shared), since, limit, func(ctx context.Context, e chat.Event) error {
			if e.Message == nil {
				return nil
			}
			if e.ID != ids[e.Message.Text] {
				w.Errorf("%q has the id %s, live %s", e.Message.Text, e.ID, ids[e.Message.Text])
			}
			got = append(got, e.Message.Text)
			return admit(ctx, e)
		})
		w.heard("History", err)
		return got, err
	}
	yes := func(context.Context, chat.Event) error { return nil }
	since := live[1].SentAt
	if got, err := ask(since, 50, yes); err != nil || !slices.Equal(got, []string{"2", "3", "4"}) {
		w.Errorf("since the second: %v %v", got, err)
	}
	if got, err := ask(since.Add(-time.Hour), 50, yes); err != nil || !slices.Equal(got, []string{"0", "1", "2", "3", "4"}) {
		w.Errorf("everything: %v %v", got, err)
	}
	if got, err := ask(since.Add(-time.Hour), 2, yes); err != nil || !slices.Equal(got, []string{"3", "4"}) {
		w.Errorf("at most two: %v %v, want the newest", got, err)
	}
	full := errors.New("no space left on device")
	if got, err := ask(since, 50, func(context.Context, chat.Event) error { return full }); !errors.Is(err, full) || len(got) != 1 {
		w.Errorf("what admit refuses: %v %v", got, err)
	}
}

func buttons(w *world) {
	c := w.start(w.a, nil).connected()
	for _, at := range []Place{Direct, Shared} {
		out := w.out(at, "running")
		out.Buttons = []chat.Button{{Label: "Stop", Command: "/stop"}, {Label: "Tasks", Command: "/tasks 01JZZZZZZZZZZZZZZZZZZZZZZZ"}}
		r := w.sent(out)
		if seen := w.Seen(at); len(seen) != 1 || seen[0].Text != "running" || !slices.Equal(seen[0].Buttons, []string{"Stop", "Tasks"}) {
			w.Fatalf("%s: %+v", at, seen)
		}
		n := len(c.messages())
		for i, b := range []chat.Button{out.Buttons[1], out.Buttons[0], out.Buttons[0]} {
			w.Press(at, r.MessageID, b.Label)
			m := c.await(n + i + 1)[n+i]
			want := w.At(at)
			want.Person = w.Who(Alice)
			if m.Text != b.Command || !m.Addressed || m.Address != want || m.FromBot {
				w.Errorf("%s: a press on %s is %+v, want the text %q in %+v", at, b.Label, m, b.Command, want)
			}
		}
	}
	w.until("the acknowledgement", func() bool { return w.Owed() == 0 })
}

func typing(w *world) {
	y, ok := w.a.(chat.Typer)
	if !ok {
		w.lacking("chat.Typer")
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, at := range []Place{Direct, Shared} {
		if err := y.Typing(ctx, w.At(at)); err != nil {
			w.Errorf("%s: %v", at, err)
		}
	}
	w.fact = "lasts " + y.TypingLasts().String()
	if y.TypingLasts() <= 0 {
		w.Error("a sign that does not last")
	}
	w.net.Behave(Refuses)
	w.net.Cut()
	err := y.Typing(ctx, w.At(Direct))
	if err == nil {
		w.Error("without a connection: no error")
	}
	w.heard("Typing", err)
	w.net.Behave(Accepts)
	w.sent(w.out(Direct, "after"))
}
