package telegram_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
	"github.com/homing-gateway/homing/internal/chat"
)

var account = chat.Account{Profile: "default", Platform: "telegram", ID: "4711"}

// hear lets people say things and gives what the core hears of each, after whatever waited before.
func (w *world) hear(posts ...faketelegram.Post) []chat.Event {
	w.t.Helper()
	for _, p := range posts {
		w.tg.Say(p)
	}
	n := w.tg.Waiting()
	r := w.run("", nil)
	defer r.Stop(w.t)
	return r.Await(w.t, n)[n-len(posts):]
}

// S-01, S-02: topics are places of their own, in a forum and in private chats, and nothing else is.
func TestPlaces(t *testing.T) {
	w := start(t)
	w.tg.Topic(alice, 1, true)
	w.tg.Topic(bob, 1, true)
	place := func(kind chat.PlaceType, id int64, thread string, person int64) chat.Address {
		return chat.Address{Account: account, Type: kind, Chat: fmt.Sprint(id), Thread: thread, Person: fmt.Sprint(person)}
	}
	cases := []struct {
		name string
		post faketelegram.Post
		want chat.Address
	}{
		{"private chat", faketelegram.Post{Chat: alice, From: alice}, place(chat.Direct, alice, "", alice)},
		{"topic 1 of Alice", faketelegram.Post{Chat: alice, Thread: 1, From: alice}, place(chat.Direct, alice, "1", alice)},
		{"topic 1 of Bob", faketelegram.Post{Chat: bob, Thread: 1, From: bob}, place(chat.Direct, bob, "1", bob)},
		{"private chat, a number without the sign of a topic", faketelegram.Post{Chat: alice, From: alice, More: map[string]any{"message_thread_id": 5}}, place(chat.Direct, alice, "", alice)},
		{"group", faketelegram.Post{Chat: group, From: bob}, place(chat.Group, group, "", bob)},
		{"supergroup", faketelegram.Post{Chat: super, From: bob}, place(chat.Group, super, "", bob)},
		{"chain of replies", faketelegram.Post{Chat: super, From: bob, ReplyTo: 1}, place(chat.Group, super, "", bob)},
		{"topic 7", faketelegram.Post{Chat: forum, Thread: 7, From: alice}, place(chat.Thread, forum, "7", alice)},
		{"topic 9", faketelegram.Post{Chat: forum, Thread: 9, From: alice}, place(chat.Thread, forum, "9", alice)},
		{"general topic", faketelegram.Post{Chat: forum, From: alice}, place(chat.Group, forum, "", alice)},
		{"in the name of the group", faketelegram.Post{Chat: super, From: alice, More: map[string]any{"sender_chat": map[string]any{"id": super, "type": "supergroup", "title": "A supergroup"}}}, place(chat.Group, super, "", super)},
	}
	var posts []faketelegram.Post
	for _, c := range cases {
		c.post.Text = c.name
		posts = append(posts, c.post)
	}
	keys := map[chat.Key]string{}
	for i, e := range w.hear(posts...) {
		c := cases[i]
		if e.Message == nil || e.Message.Text != c.name {
			t.Fatalf("%s: %+v", c.name, e)
		}
		if diff := cmp.Diff(c.want, e.Message.Address); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.name, diff)
		}
		keys[chat.KeyOf(e.Message.Address, chat.Keying{})] = c.name
	}
	if len(keys) != 8 {
		t.Errorf("%d places, want 8: %v", len(keys), keys)
	}
}

// X-08 and the other ways to address us, and those that only look like it.
func TestAddressed(t *testing.T) {
	w := start(t)
	// Message 1 of each shared chat is ours, message 2 is Bob's, who quotes it.
	for _, id := range []int64{super, forum} {
		if _, err := w.a.Send(t.Context(), chat.Outbound{To: chat.Address{Chat: fmt.Sprint(id)}, Text: "ours"}); err != nil {
			t.Fatal(err)
		}
		w.tg.Say(faketelegram.Post{Chat: id, From: bob, Text: "he said: ours"})
	}
	mention := func(kind string, offset, length int, user int64) map[string]any {
		return map[string]any{"entities": []any{map[string]any{"type": kind, "offset": offset, "length": length, "user": map[string]any{"id": user}}}}
	}
	cases := []struct {
		name      string
		post      faketelegram.Post
		text      string
		addressed bool
	}{
		{"direct", faketelegram.Post{Chat: alice, Text: "hi"}, "hi", true},
		{"talk", faketelegram.Post{Chat: super, Text: "hi all"}, "hi all", false},
		{"mention first", faketelegram.Post{Chat: super, Text: "@homing_bot, what is up"}, "what is up", true},
		{"mention last", faketelegram.Post{Chat: super, Text: "what is up @homing_bot"}, "what is up", true},
		{"mention within", faketelegram.Post{Chat: super, Text: "hey @homing_bot what is up"}, "hey what is up", true},
		{"mention before a question mark", faketelegram.Post{Chat: super, Text: "all well @homing_bot?"}, "all well?", true},
		{"mention twice", faketelegram.Post{Chat: super, Text: "@homing_bot @homing_bot hi"}, "hi", true},
		{"mention behind wide characters", faketelegram.Post{Chat: super, Text: "😀👩‍💻 @Homing_Bot hi"}, "😀👩‍💻 hi", true},
		{"mention of nothing else", faketelegram.Post{Chat: super, Text: "@homing_bot"}, "", true},
		{"another name", faketelegram.Post{Chat: super, Text: "@homing_bot2 hi"}, "@homing_bot2 hi", false},
		{"the name as plain text", faketelegram.Post{Chat: super, Text: "mail me at x@homing_bot", More: map[string]any{"entities": []any{}}}, "mail me at x@homing_bot", false},
		{"text mention", faketelegram.Post{Chat: super, Text: "Homing do it", More: mention("text_mention", 0, 6, 4711)}, "do it", true},
		{"text mention of another", faketelegram.Post{Chat: super, Text: "Robert do it", More: mention("text_mention", 0, 6, bob)}, "Robert do it", false},
		{"mark beyond the text", faketelegram.Post{Chat: super, Text: "hi", More: mention("mention", 1, 99, 0)}, "hi", false},
		{"reply to us", faketelegram.Post{Chat: super, Text: "yes", ReplyTo: 1}, "yes", true},
		{"reply to another who quotes us", faketelegram.Post{Chat: super, Text: "yes", ReplyTo: 2}, "yes", false},
		{"topic opened by us", faketelegram.Post{Chat: forum, Thread: 7, Text: "hi"}, "hi", false},
		{"reply to us in a topic", faketelegram.Post{Chat: forum, Thread: 7, Text: "yes", ReplyTo: 1}, "yes", true},
		{"command", faketelegram.Post{Chat: super, Text: "/status"}, "/status", true},
		{"command for us", faketelegram.Post{Chat: super, Text: "/queue@homing_bot buy milk"}, "/queue buy milk", true},
		{"talk of a command", faketelegram.Post{Chat: super, Text: "try /status@other_bot"}, "try /status@other_bot", false},
	}
	var posts []faketelegram.Post
	for _, c := range cases {
		c.post.From = alice
		posts = append(posts, c.post)
	}
	for i, e := range w.hear(posts...) {
		c := cases[i]
		if e.Message == nil {
			t.Fatalf("%s: %+v", c.name, e)
		}
		if e.Message.Text != c.text || e.Message.Addressed != c.addressed {
			t.Errorf("%s: %q addressed %t, want %q %t", c.name, e.Message.Text, e.Message.Addressed, c.text, c.addressed)
		}
	}
}

// A command with another bot's name is none of our business, also when we are named behind it.
func TestCommandForAnotherBot(t *testing.T) {
	w := start(t)
	for _, e := range w.hear(
		faketelegram.Post{Chat: super, From: alice, Text: "/status@other_bot"},
		faketelegram.Post{Chat: super, From: alice, Text: "/ask@other_bot what @homing_bot thinks"},
	) {
		if e.Message != nil || e.Cursor == "" {
			t.Errorf("%+v, want a cursor alone", e)
		}
	}
}

// The files of a message are told with all that is needed to fetch them; what is no file is named; a caption is the text.
func TestMedia(t *testing.T) {
	w := start(t)
	file := map[string]any{"file_id": "x", "file_unique_id": "y"}
	sized := map[string]any{"file_id": "x", "file_size": 9, "mime_type": "a/b", "file_name": "n"}
	cases := []struct {
		more  map[string]any
		text  string
		files []chat.File
		want  []string
	}{
		{map[string]any{"photo": []any{map[string]any{"file_id": "small"}, sized}, "caption": "look", "caption_entities": []any{}}, "look", []chat.File{{Kind: chat.Photo, MIME: "image/jpeg", Size: 9, Ref: "x"}}, nil},
		{map[string]any{"voice": sized}, "", []chat.File{{Kind: chat.Voice, MIME: "a/b", Size: 9, Ref: "x"}}, nil},
		{map[string]any{"audio": sized}, "", []chat.File{{Kind: chat.Audio, Name: "n", MIME: "a/b", Size: 9, Ref: "x"}}, nil},
		{map[string]any{"video": sized}, "", []chat.File{{Kind: chat.Video, Name: "n", MIME: "a/b", Size: 9, Ref: "x"}}, nil},
		{map[string]any{"video_note": file}, "", []chat.File{{Kind: chat.Video, MIME: "video/mp4", Ref: "x"}}, nil},
		{map[string]any{"document": file, "caption": "@homing_bot read", "caption_entities": []any{map[string]any{"type": "mention", "offset": 0, "length": 11}}}, "read", []chat.File{{Kind: chat.Document, Ref: "x"}}, nil},
		{map[string]any{"animation": file, "document": file}, "", []chat.File{{Kind: chat.Animation, Ref: "x"}}, nil},
		{map[string]any{"sticker": map[string]any{"file_id": "x", "emoji": "🦦"}}, "", []chat.File{{Kind: chat.Sticker, Name: "🦦", MIME: "image/webp", Ref: "x"}}, nil},
		{map[string]any{"sticker": map[string]any{"file_id": "x", "is_animated": true}}, "", []chat.File{{Kind: chat.Sticker, MIME: "application/x-tgsticker", Ref: "x"}}, nil},
		{map[string]any{"sticker": map[string]any{"file_id": "x", "is_video": true}}, "", []chat.File{{Kind: chat.Sticker, MIME: "video/webm", Ref: "x"}}, nil},
		{map[string]any{"venue": map[string]any{"title": "x", "location": map[string]any{}}, "location": map[string]any{}}, "", nil, []string{"venue"}},
	}
	var posts []faketelegram.Post
	for _, c := range cases {
		posts = append(posts, faketelegram.Post{Chat: super, From: alice, More: c.more})
	}
	for i, e := range w.hear(posts...) {
		if e.Message == nil || e.Message.Text != cases[i].text || !cmp.Equal(e.Message.Unsupported, cases[i].want) || !cmp.Equal(e.Message.Files, cases[i].files) {
			t.Errorf("%v: %+v", cases[i].more, e.Message)
		}
	}
}

// Who wrote it, when, and what to answer.
func TestSender(t *testing.T) {
	w := start(t)
	got := w.hear(
		faketelegram.Post{Chat: super, From: alice, Text: "a", More: map[string]any{"message_id": 77, "date": 1700000000, "from": map[string]any{"id": alice, "first_name": "Alice", "last_name": "Liddell"}}},
		faketelegram.Post{Chat: super, From: 2001, Text: "b"},
	)
	m := got[0].Message
	if m.ID != "77" || !m.SentAt.Equal(time.Unix(1700000000, 0)) || m.PersonName != "Alice Liddell" || m.FromBot {
		t.Errorf("%+v", m)
	}
	if m := got[1].Message; !m.FromBot || m.Address.Person != "2001" {
		t.Errorf("%+v", m)
	}
}

// A group that becomes a supergroup is told once, whichever of its two notices comes first.
func TestMovedOnce(t *testing.T) {
	w := start(t)
	w.tg.Upgrade(group, -1000000000999)
	r := w.run("", nil)
	got := r.Await(t, 2)
	r.Stop(t)
	want := &chat.Moved{Account: account, From: fmt.Sprint(group), To: "-1000000000999", ToType: chat.Group}
	if diff := cmp.Diff(want, got[0].Moved); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got[1].Moved != nil || got[1].Message != nil || got[1].Cursor == "" {
		t.Errorf("%+v, want a cursor alone", got[1])
	}
	_, err := w.a.Send(t.Context(), chat.Outbound{To: chat.Address{Chat: fmt.Sprint(group)}, Text: "x"})
	if e := chat.AsSendError(err); e.Fault != chat.MovedChat || e.MovedTo != "-1000000000999" {
		t.Errorf("send to the old group: %v", err)
	}
}
