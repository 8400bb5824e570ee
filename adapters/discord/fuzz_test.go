package discord

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"

	"github.com/homing-gateway/homing/internal/chat"
)

// Whatever the gateway sends, taking it neither panics nor stores what has no id or two meanings.
func FuzzTake(f *testing.F) {
	for _, seed := range []struct{ event, data string }{
		{"MESSAGE_CREATE", `{"id":"1","channel_id":"2","author":{"id":"3"},"content":"<@9> hi <@!3> <@&4>","mentions":[{"id":"3","username":"x"}]}`},
		{"MESSAGE_CREATE", `{"id":"1","channel_id":"5","guild_id":"6","author":{"id":"3"},"content":"","type":19,"referenced_message":{"author":{"id":"9"}}}`},
		{"MESSAGE_CREATE", `{"id":1}`},
		{"INTERACTION_CREATE", `{"id":"1","type":2,"channel_id":"5","member":{"user":{"id":"3"}},"data":{"name":"x","options":[{"value":1}]}}`},
		{"INTERACTION_CREATE", `{"id":"1","type":3,"channel_id":"5","user":{"id":"3"},"data":{"custom_id":"/x"}}`},
		{"THREAD_CREATE", `{"id":"7","type":11,"parent_id":"5"}`},
		{"GUILD_CREATE", `{"id":"6","channels":[{"id":"5"}],"roles":[{"id":"4","tags":{"bot_id":"9"}}]}`},
		{"READY", `{"user":{"id":"9"}}`},
		{"THREAD_LIST_SYNC", `null`},
		{"CHANNEL_DELETE", `[]`},
	} {
		f.Add(seed.event, seed.data)
	}
	f.Fuzz(func(t *testing.T, event, data string) {
		if !json.Valid([]byte(data)) {
			return
		}
		a, err := New(Options{Token: "a.b.c", APIURL: "http://127.0.0.1:1", AutoThread: true})
		if err != nil {
			t.Fatal(err)
		}
		a.guilds.introduce("9", "9")
		a.guilds.put(channel{ID: "5"}, channel{ID: "7", Type: 11, ParentID: "5"})
		l, err := a.newLine("ws://127.0.0.1:1")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // what would call Discord gives up
		l.serve(ctx, func(_ context.Context, e chat.Event) error {
			if e.ID == "" || (e.Message == nil) == (e.Aside == nil) {
				t.Errorf("%+v", e)
			}
			if m := e.Message; m != nil && (m.Address.Chat == "" && m.Address.Type != chat.Thread || m.Address.Person == "9") {
				t.Errorf("%+v", m)
			}
			return nil
		})
		l.take(&discordgo.Event{Type: event, RawData: json.RawMessage(data)})
		l.jobs.Wait()
	})
}

// Taking names out of a text leaves the rest as it is.
func FuzzRead(f *testing.F) {
	f.Add("please <@9> do <@3> it")
	f.Add("<@9><@9> ,\n")
	f.Fuzz(func(t *testing.T, text string) {
		ours := func(kind, id string) bool { return kind != "&" && id == "9" }
		got := read(text, []user{{ID: "3", Username: "x"}}, ours)
		if !strings.Contains(text, "<@") && got.text != text {
			t.Errorf("%q became %q", text, got.text)
		}
		if got.addressed != (strings.Contains(text, "<@9>") || strings.Contains(text, "<@!9>")) {
			t.Errorf("%q: addressed %t", text, got.addressed)
		}
	})
}
