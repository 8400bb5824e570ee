package discord_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest"
	"github.com/homing-gateway/homing/adapters/adaptertest/fakediscord"
	"github.com/homing-gateway/homing/adapters/discord"
	"github.com/homing-gateway/homing/internal/chat"
)

// Each kind of place has an address of its own, with which it can be answered.
func TestPlaces(t *testing.T) {
	w := start(t)
	r := w.connected(w.run(nil))
	for i, c := range []struct {
		channel, person string
		want            chat.Address
	}{
		{direct, alice, inDirect()},
		{square, bob, inSquare()},
		{corner, bob, inCorner()},
		{question, bob, chat.Address{Account: account, Type: chat.Thread, Chat: library, Thread: question}},
	} {
		id := w.dc.Say(fakediscord.Post{Channel: c.channel, From: c.person, Text: "hello"})
		e := r.Await(t, i+1)[i]
		c.want.Person = c.person
		if m := e.Message; m.Address != c.want || e.ID != id || m.ID != id || e.Cursor != "" || m.FromBot || time.Since(m.SentAt).Abs() > time.Minute {
			t.Errorf("%+v: %+v, want %+v", e, m, c.want)
		}
		if m := w.sent(chat.Outbound{To: e.Message.Address, Text: "hi", Key: id}); m.Channel != c.channel {
			t.Errorf("answered in %s, want %s", m.Channel, c.channel)
		}
	}
	r.Stop(t)
}

// A channel that nobody told us of is looked up, off the way of the others, and its messages come in their order.
func TestUnknownChannel(t *testing.T) {
	w := start(t)
	w.dc.Archive(corner, false) // an archived thread is not in the lists
	w.dc.Add(fakediscord.Fault{Name: "GET channel", Channel: corner, Status: 500, Times: 1})
	r := w.connected(w.run(nil))
	for i := range 3 {
		w.dc.Say(fakediscord.Post{Channel: corner, From: bob, Text: fmt.Sprint(i)})
	}
	w.say("elsewhere")
	if got := texts(r.Await(t, 4)); got != "elsewhere 0 1 2" {
		t.Errorf("stored %q", got)
	}
	if a := r.Events[1].Message.Address; a.Type != chat.Thread || a.Chat != square || a.Thread != corner {
		t.Errorf("%+v", a)
	}
	w.dc.Say(fakediscord.Post{Channel: corner, From: bob, Text: "3"})
	r.Await(t, 5)
	if n := len(w.dc.Calls("GET channel")); n != 2 {
		t.Errorf("looked up %d times, want once and once again", n)
	}
	// One that is refused is dropped.
	w.dc.Dispatch("MESSAGE_CREATE", map[string]any{"id": "77", "channel_id": "987", "guild_id": town, "author": map[string]any{"id": bob}, "content": "x"})
	w.until("it is looked up", func() bool { c := w.dc.Calls("GET channel"); return len(c) == 3 && c[2].Status == 404 })
	r.Stop(t)
	if len(r.Events) != 5 {
		t.Errorf("%+v", r.Events)
	}
}

func TestAddressed(t *testing.T) {
	w := start(t)
	r := w.connected(w.run(nil))
	ours := w.sent(chat.Outbound{To: inSquare(), Text: "ours"}).ID
	his := w.dc.Say(fakediscord.Post{Channel: square, From: bob, Text: "his"})
	r.Await(t, 1)
	us := "<@" + bot + ">"
	for i, c := range []struct {
		post      fakediscord.Post
		text      string
		addressed bool
	}{
		{fakediscord.Post{Text: "hello"}, "hello", false},
		{fakediscord.Post{Text: us + " do it"}, "do it", true},
		{fakediscord.Post{Text: us + ", do it"}, "do it", true},
		{fakediscord.Post{Text: "do it <@!" + bot + ">"}, "do it", true},
		{fakediscord.Post{Text: "please " + us + " do it"}, "please do it", true},
		{fakediscord.Post{Text: "é😀 " + us + " do it"}, "é😀 do it", true},
		{fakediscord.Post{Text: us}, "", true},
		{fakediscord.Post{Text: "<@&9" + town + "> do it"}, "do it", true}, // the role that stands for us
		{fakediscord.Post{Text: "<@&5> do it"}, "<@&5> do it", false},
		{fakediscord.Post{Text: "<@" + alice + "> do it"}, "@Alice do it", false},
		{fakediscord.Post{Text: "<@" + alice + "> and " + us + " do it"}, "@Alice and do it", true},
		{fakediscord.Post{Text: "@everyone", More: map[string]any{"mention_everyone": true}}, "@everyone", false},
		{fakediscord.Post{Text: "to us", ReplyTo: ours}, "to us", true},
		{fakediscord.Post{Text: "to him", ReplyTo: his}, "to him", false},
		{fakediscord.Post{Channel: direct, Text: us + " do it"}, "do it", true},
	} {
		p := c.post
		p.From = bob
		if p.Channel == "" {
			p.Channel = square
		}
		w.dc.Say(p)
		if m := r.Await(t, i+2)[i+1].Message; m.Text != c.text || m.Addressed != c.addressed {
			t.Errorf("%q: %q addressed %t, want %q %t", p.Text, m.Text, m.Addressed, c.text, c.addressed)
		}
	}
	r.Stop(t)
}

// What other bots say is marked, and what we say ourselves, what the system says and what is edited is no message.
func TestOthers(t *testing.T) {
	w := start(t)
	r := w.connected(w.run(nil))
	w.sent(chat.Outbound{To: inSquare(), Text: "our own words"})
	w.dc.Say(fakediscord.Post{Channel: square, From: bot, Text: "<@" + bot + "> our own words"})
	w.dc.Say(fakediscord.Post{Channel: square, From: bob, Text: "pinned a message", More: map[string]any{"type": 6}})
	w.dc.Say(fakediscord.Post{Channel: square, From: otherBot, Text: "beep"})
	w.dc.Say(fakediscord.Post{Channel: square, From: bob, Text: "hook", More: map[string]any{"webhook_id": "5"}})
	id := w.dc.Say(fakediscord.Post{Channel: square, From: bob, Text: "one"})
	w.dc.Alter(id, "one, or <@"+bot+">")
	w.dc.Say(fakediscord.Post{Channel: square, From: bob, Text: "two", More: map[string]any{
		"components": []any{map[string]any{"type": 99, "novelty": true}}, "member": map[string]any{"nick": "Bobby"},
	}})
	got := r.Await(t, 4)
	r.Stop(t)
	if s := texts(r.Events); s != "beep hook one two" {
		t.Errorf("stored %q", s)
	}
	if !got[0].Message.FromBot || !got[1].Message.FromBot || got[2].Message.FromBot || got[3].Message.PersonName != "Bobby" {
		t.Errorf("%+v", got)
	}
}

// What cannot be taken along is named.
func TestUnsupported(t *testing.T) {
	w := start(t)
	r := w.connected(w.run(nil))
	for i, c := range []struct {
		field string
		value any
		want  string
	}{
		{"attachments", []any{"not even an object"}, "attachment"},
		{"sticker_items", []any{map[string]any{"id": "1"}}, "sticker"},
		{"poll", map[string]any{"question": map[string]any{"text": "?"}}, "poll"},
		{"message_snapshots", []any{map[string]any{"message": map[string]any{"content": "x"}}}, "forwarded message"},
	} {
		w.dc.Say(fakediscord.Post{Channel: direct, From: alice, More: map[string]any{c.field: c.value}})
		if m := r.Await(t, i+1)[i].Message; !slices.Equal(m.Unsupported, []string{c.want}) || m.Text != "" {
			t.Errorf("%+v, want %s", m, c.want)
		}
	}
	r.Stop(t)
}

// N-12: the history of a place gives what was written after a time, oldest first, under the ids that it has live, and at
// most so much.
func TestHistory(t *testing.T) {
	w := start(t)
	w.dc.Say(fakediscord.Post{Channel: square, From: bob, Text: "long ago"})
	<-time.After(5 * time.Millisecond)
	since := time.Now()
	<-time.After(5 * time.Millisecond) // ids hold their time in milliseconds
	early := &adaptertest.Session{}
	if e := adaptertest.SendError(t, w.a.History(t.Context(), inSquare(), since, 50, early.Admit)); e.Fault != chat.Unreachable {
		t.Errorf("before we know who we are: %v", e)
	}
	var want, ids []string
	for i := range 120 {
		text := fmt.Sprintf("m%03d", i)
		want = append(want, text)
		ids = append(ids, w.dc.Say(fakediscord.Post{Channel: square, From: bob, Text: "<@" + bot + "> " + text}))
	}
	w.dc.Say(fakediscord.Post{Channel: square, From: bot, Text: "our own"})
	w.dc.Say(fakediscord.Post{Channel: square, From: otherBot, Text: "beep"})
	w.dc.Say(fakediscord.Post{Channel: corner, From: bob, Text: "in the thread"})
	r := w.connected(w.run(nil))
	got := &adaptertest.Session{}
	if err := w.a.History(t.Context(), inSquare(), since, 500, got.Admit); err != nil {
		t.Fatal(err)
	}
	if len(got.Events) != 121 || !got.Events[120].Message.FromBot {
		t.Fatalf("%d events", len(got.Events))
	}
	for i, e := range got.Events[:120] {
		if m := e.Message; e.ID != ids[i] || m.Text != want[i] || !m.Addressed || m.Address.Type != chat.Channel || m.Address.Person != bob || m.Address.Account != account {
			t.Fatalf("%d: %+v %+v", i, e, m)
		}
	}
	for _, c := range []struct {
		in    chat.Address
		limit int
		n     int
	}{{inSquare(), 50, 50}, {inSquare(), 120, 120}, {inCorner(), 50, 1}, {inDirect(), 50, 0}} {
		got := &adaptertest.Session{}
		if err := w.a.History(t.Context(), c.in, since, c.limit, got.Admit); err != nil || len(got.Events) != c.n {
			t.Errorf("%+v: %d events, %v, want %d", c.in, len(got.Events), err, c.n)
		}
	}
	full := errors.New("no space left on device")
	got = &adaptertest.Session{Refuse: func(e chat.Event) error {
		if e.ID == ids[2] {
			return full
		}
		return nil
	}}
	if err := w.a.History(t.Context(), inSquare(), since, 500, got.Admit); !errors.Is(err, full) || len(got.Events) != 2 {
		t.Errorf("%v after %d events", err, len(got.Events))
	}
	w.dc.Hide(square, true)
	if e := adaptertest.SendError(t, w.a.History(t.Context(), inSquare(), since, 50, got.Admit)); e.Fault != chat.Refused {
		t.Errorf("hidden: %v", e)
	}
	r.Stop(t)
}

// N-12: live and in the history a message is one event, and in the same place; a person without a known chat has the
// direct one.
func TestHistoryIsWhatCameLive(t *testing.T) {
	w := start(t, func(o *discord.Options) { o.AutoThread = true })
	since := time.Now().Add(-time.Second)
	r := w.connected(w.run(nil))
	w.dc.Say(fakediscord.Post{Channel: square, From: bob, Text: "<@" + bot + "> hello <@" + alice + ">"})
	w.dc.Say(fakediscord.Post{Channel: corner, From: bob, Text: "in the thread"})
	w.dc.Say(fakediscord.Post{Channel: direct, From: alice, Text: "psst", Files: []fakediscord.File{{Name: "a.png", Data: []byte("x")}}})
	live := r.Await(t, 3)
	past := &adaptertest.Session{}
	for _, in := range []chat.Address{inSquare(), inCorner(), {Type: chat.Direct, Person: alice}} {
		if err := w.a.History(t.Context(), in, since, 50, past.Admit); err != nil {
			t.Fatal(err)
		}
	}
	a, _ := json.Marshal(live)
	b, _ := json.Marshal(past.Events)
	if string(a) != string(b) {
		t.Errorf("live    %s\nhistory %s", a, b)
	}
	if e := adaptertest.SendError(t, w.a.History(t.Context(), chat.Address{Type: chat.Direct, Person: bob}, since, 50, past.Admit)); e.Fault != chat.Refused {
		t.Errorf("somebody without a direct chat: %v", e)
	}
	r.Stop(t)
}

// The account is the bot's own id, which the token begins with; of a token that does not, it tells nothing.
func TestAccount(t *testing.T) {
	a := start(t).a
	if got := a.Describe(); got.Account != account || got.Dialect != chat.Discord || got.MaxUnits != 2000 {
		t.Errorf("%+v", got)
	}
	x, err := discord.New(discord.Options{Token: "mysecret.x.y"})
	if err != nil {
		t.Fatal(err)
	}
	y, _ := discord.New(discord.Options{Token: "mysecret.x.z"})
	if x.Describe().Account.ID == y.Describe().Account.ID || len(x.Describe().Account.ID) != 16 {
		t.Errorf("%s and %s", x, y)
	}
}
