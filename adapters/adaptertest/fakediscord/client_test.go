package fakediscord_test

import (
	"testing"

	"github.com/homing-gateway/homing/adapters/adaptertest"
	"github.com/homing-gateway/homing/adapters/adaptertest/fakediscord"
)

// A bot on discord.js finds a Discord here.
func TestForeignClient(t *testing.T) {
	const token, alice, guild, room, direct, thread = "fake.token.0123456789", "1001", "2001", "3001", "3002", "3003"
	d := fakediscord.New(token, "4711", "homing")
	d.Person(alice, "alice")
	d.Guild(guild, "A guild")
	d.Channel(room, guild, "room")
	d.Direct(direct, alice)
	d.Thread(thread, room, "a thread")
	if err := d.Listen(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	bot := adaptertest.StartForeign(t, "testdata/discordjs.mjs", d.URL(), token)
	until := func(ok func() bool) {
		t.Helper()
		if err := d.Until(t.Context(), ok); err != nil {
			t.Fatal(err)
		}
	}

	bot.Sees("up homing true")
	asked := d.Say(fakediscord.Post{Channel: room, From: alice, Text: "hello <@4711>"})
	bot.Sees("message channel alice true hello <@4711>")
	bot.Sees("own you said hello <@4711>")
	bot.Sees("newest you said hello <@4711>")
	m := d.Visible(room)[0]
	if m.ReplyTo != asked || len(m.Buttons) != 1 {
		t.Errorf("%+v", m)
	}
	d.Alter(asked, "hullo")
	bot.Sees("edited hullo")
	d.Press(m.ID, alice, "/again")
	bot.Sees("pressed /again alice")
	until(func() bool { return d.Visible(room)[0].Content == "once more" })
	if got := d.Visible(room); len(got) != 1 || len(got[0].Buttons) != 0 {
		t.Errorf("%+v", got)
	}
	for at, kind := range map[string]string{direct: "direct", thread: "thread"} {
		d.Say(fakediscord.Post{Channel: at, From: alice, Text: "psst"})
		bot.Sees("message " + kind + " alice false psst")
		bot.Sees("own you said psst")
		bot.Sees("newest you said psst")
	}

	// The connection falls, and what is said meanwhile comes once.
	d.Cut()
	d.Say(fakediscord.Post{Channel: direct, From: alice, Text: "forbidden"})
	bot.Sees("resumed")
	bot.Sees("message direct alice false forbidden")
	bot.Sees("refused 400 50035")
	bot.Sees("own x")
	d.Reconnect()
	bot.Sees("resumed")
	d.Say(fakediscord.Post{Channel: direct, From: alice, Text: "stop"})
	bot.Sees("message direct alice false stop")
	bot.Sees("down")
	bot.Ends()
}
