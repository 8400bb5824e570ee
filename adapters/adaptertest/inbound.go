package adaptertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
)

// inbound is what events must be like.
func inbound() []behaviour {
	return []behaviour{
		{"an event is acknowledged only once it is stored", acknowledged},
		{"what was not stored comes again", notStored},
		{"what came while we were away comes", away},
		{"an event that comes again has the id that it had", sameID},
		{"the order of a chat is kept", order},
		{"an edit makes no second message", edits},
		{"a kind that nobody knows stops nothing", strange},
		{"other bots are marked, and our own messages are none of people", bots},
		{"direct and shared places are told apart and can be answered", places},
		{"a thread is a place of its own and can be answered", thread},
		{"a mention addresses us and is taken out of the text", mention},
		{"a reply to us addresses us", reply},
	}
}

func acknowledged(w *world) {
	entered, release := make(chan struct{}, 1<<10), make(chan struct{})
	c := w.start(w.a, func(ctx context.Context, _ chat.Event) error {
		entered <- struct{}{}
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	w.say(Direct, Alice, "one")
	<-entered
	time.Sleep(2 * time.Second)
	if w.Owed() == 0 {
		w.Error("the event was acknowledged while it was being stored")
	}
	close(release)
	c.await(1)
	w.until("the acknowledgement", func() bool { return w.Owed() == 0 })
}

func notStored(w *world) {
	full := errors.New("no space left on device")
	failed := false
	c := w.start(w.a, func(_ context.Context, e chat.Event) error {
		if e.Message != nil && e.Message.Text == "two" && !failed {
			failed = true
			return full
		}
		return nil
	}).connected()
	for _, text := range []string{"one", "two", "three"} {
		w.say(Direct, Alice, text)
	}
	got := c.await(3)
	if texts(got) != "one two three" {
		w.Errorf("stored: %s", texts(got))
	}
	if !slices.ContainsFunc(c.endings(), func(err error) bool { return errors.Is(err, full) }) {
		w.Errorf("Run ended with %v, want the error of admit", c.endings())
	}
}

func away(w *world) {
	c := w.start(w.a, nil).connected()
	w.say(Direct, Alice, "one")
	c.await(1)
	time.Sleep(time.Minute)
	c.stop()
	w.say(Direct, Alice, "two")
	w.say(Shared, Bob, "three")
	time.Sleep(time.Minute)
	c = w.restart(c)
	c.await(3)
	time.Sleep(time.Minute)
	if got := texts(c.messages()); got != "one two three" && got != "one three two" {
		w.Errorf("stored: %s", got)
	}
}

func sameID(w *world) {
	c := w.start(w.a, nil).connected()
	w.say(Direct, Alice, "one")
	c.await(1)
	w.Again()
	w.say(Direct, Alice, "two")
	c.await(2)
	c.stop()
	c.cursor = "" // as after the loss of the store's last moments
	c = w.restart(c)
	w.Again()
	w.say(Direct, Alice, "three")
	c.await(3)
	time.Sleep(time.Minute)
	if got := texts(c.messages()); got != "one two three" {
		w.Errorf("stored: %s", got)
	}
}

func order(w *world) {
	c := w.start(w.a, func(context.Context, chat.Event) error { time.Sleep(100 * time.Millisecond); return nil }).connected()
	var want []string
	for i := range 30 {
		text := fmt.Sprintf("m%02d", i)
		want = append(want, text)
		w.say([]Place{Direct, Shared}[i%2], Alice, text)
	}
	got := c.await(len(want))
	for _, at := range []Place{Direct, Shared} {
		var here []string
		for _, m := range got {
			if m.Address.Chat == w.At(at).Chat {
				here = append(here, m.Text)
			}
		}
		if len(here) != len(want)/2 || !slices.IsSorted(here) {
			w.Errorf("%s: %v", at, here)
		}
	}
}

func edits(w *world) {
	c := w.start(w.a, nil).connected()
	for _, at := range []Place{Direct, Shared} {
		id := w.say(at, Alice, "one")
		c.await(1)
		w.Alter(at, id, "one, or another")
		w.Alter(at, id, w.Traits().Mention+" one, or another")
		w.say(at, Alice, "two")
	}
	c.await(4)
	time.Sleep(time.Minute)
	if got := texts(c.messages()); got != "one two one two" {
		w.Errorf("stored: %s", got)
	}
}

func strange(w *world) {
	c := w.start(w.a, nil).connected()
	w.say(Direct, Alice, "before")
	w.Strange()
	w.say(Direct, Alice, "after")
	c.await(2)
	time.Sleep(time.Minute)
	if got := texts(c.messages()); got != "before after" {
		w.Errorf("stored: %s", got)
	}
	asides := 0
	for _, e := range c.events() {
		if e.Aside != nil {
			if asides++; e.Aside.Reason == "" || !json.Valid(e.Aside.Raw) || e.Message != nil || e.Moved != nil {
				w.Errorf("set aside: %+v", e)
			}
		}
	}
	if w.Owed() != 0 {
		w.Errorf("%d events are still owed", w.Owed())
	}
	w.fact = fmt.Sprintf("%d set aside", asides)
}

func bots(w *world) {
	c := w.start(w.a, nil).connected()
	w.say(Shared, OtherBot, "beep")
	w.say(Shared, Ourself, "echo")
	w.say(Shared, Bob, "hello")
	w.until("Bob's message", func() bool { return strings.HasSuffix(texts(c.messages()), "hello") })
	for _, m := range c.messages() {
		switch bot := m.Text != "hello"; {
		case m.FromBot != bot:
			w.Errorf("%q: from a bot: %t", m.Text, m.FromBot)
		case m.Text == "echo" && m.Addressed:
			w.Error("our own message addresses us")
		}
	}
}

func places(w *world) {
	c := w.start(w.a, nil).connected()
	w.say(Direct, Alice, "psst")
	w.say(Shared, Bob, "hello")
	got := c.await(2)
	w.answers(got[0], Direct, Alice)
	w.answers(got[1], Shared, Bob)
	if !got[0].Addressed || got[1].Addressed {
		w.Errorf("addressed: direct %t, shared %t", got[0].Addressed, got[1].Addressed)
	}
	if chat.KeyOf(got[0].Address, chat.Keying{}) == chat.KeyOf(got[1].Address, chat.Keying{}) {
		w.Error("two places have one key")
	}
	if a := got[0]; a.PersonName == "" || a.ID == "" || a.SentAt.IsZero() || time.Since(a.SentAt).Abs() > time.Minute {
		w.Errorf("%+v: want a name, an id and the time", a)
	}
}

func thread(w *world) {
	c := w.start(w.a, nil).connected()
	w.say(Shared, Alice, "outside")
	w.say(Thread, Alice, "inside")
	got := c.await(2)
	w.answers(got[1], Thread, Alice)
	if chat.KeyOf(got[0].Address, chat.Keying{}) == chat.KeyOf(got[1].Address, chat.Keying{}) {
		w.Error("two places have one key")
	}
}

// answers checks where m was written, and that a message to that address, and to its key's, is seen there.
func (w *world) answers(m chat.Message, at Place, who Person) {
	w.Helper()
	want := w.At(at)
	want.Person = w.Who(who)
	if m.Address != want {
		w.Errorf("%s: %+v, want %+v", at, m.Address, want)
	}
	for i, to := range []chat.Address{m.Address, chat.KeyOf(m.Address, chat.Keying{}).Address()} {
		out := w.out(at, fmt.Sprintf("answer %d in %s", i, at))
		out.To = to
		r := w.sent(out)
		if seen := w.Seen(at); len(seen) != i+1 || seen[i].Text != out.Text || seen[i].ID != r.MessageID {
			w.Errorf("seen in %s: %+v, want %q with the id %s", at, seen, out.Text, r.MessageID)
		}
	}
}

func mention(w *world) {
	c := w.start(w.a, nil).connected()
	us := w.Traits().Mention
	cases := []struct{ said, want string }{
		{us + " do it", "do it"},
		{"do it " + us, "do it"},
		{"please " + us + " do it", "please do it"},
		{"é😀 " + us + " do it", "é😀 do it"},
		{us, ""},
	}
	for i, k := range cases {
		w.say(Shared, Bob, k.said)
		if m := c.await(i + 1)[i]; m.Text != k.want || !m.Addressed {
			w.Errorf("%q: %q addressed %t, want %q", k.said, m.Text, m.Addressed, k.want)
		}
	}
	w.say(Direct, Alice, us+" do it")
	if m := c.await(len(cases) + 1)[len(cases)]; m.Text != "do it" {
		w.Errorf("in a direct chat: %q", m.Text)
	}
}

func reply(w *world) {
	c := w.start(w.a, nil).connected()
	r := w.sent(w.out(Shared, "ours"))
	other := w.say(Shared, Bob, "his")
	w.Say(Post{At: Shared, From: Alice, Text: "to him", ReplyTo: other})
	w.Say(Post{At: Shared, From: Alice, Text: "to us", ReplyTo: r.MessageID})
	got := c.await(3)
	if got[1].Addressed || !got[2].Addressed {
		w.Errorf("addressed: the reply to Bob %t, the reply to us %t", got[1].Addressed, got[2].Addressed)
	}
}

// texts joins what was said.
func texts(all []chat.Message) string {
	var out []string
	for _, m := range all {
		out = append(out, m.Text)
	}
	return strings.Join(out, " ")
}
