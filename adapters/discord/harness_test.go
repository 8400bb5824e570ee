package discord_test

import (
	"context"
	"encoding/base64"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/homing-gateway/homing/adapters/adaptertest"
	"github.com/homing-gateway/homing/adapters/adaptertest/fakediscord"
	"github.com/homing-gateway/homing/adapters/discord"
	"github.com/homing-gateway/homing/internal/chat"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	bot      = "100000000000009999"
	alice    = "100000000000001001"
	bob      = "100000000000001002"
	otherBot = "100000000000002001"

	town     = "200000000000000001" // a guild
	square   = "300000000000000001" // a channel of it
	corner   = "300000000000000011" // a thread in there
	library  = "300000000000000002" // a forum
	question = "300000000000000022" // a post in there
	direct   = "400000000000001001" // of Alice
)

var token = base64.RawURLEncoding.EncodeToString([]byte(bot)) + ".Gfake1.SecretOfTheBot-0123456789abcdef"

var account = chat.Account{Profile: "default", Platform: "discord", ID: bot}

func inDirect() chat.Address {
	return chat.Address{Account: account, Type: chat.Direct, Chat: direct}
}

func inSquare() chat.Address {
	return chat.Address{Account: account, Type: chat.Channel, Chat: square}
}

func inCorner() chat.Address {
	return chat.Address{Account: account, Type: chat.Thread, Chat: square, Thread: corner}
}

// world is a Discord with people and an adapter that talks to it.
type world struct {
	t       *testing.T
	dc      *fakediscord.Server
	a       *discord.Adapter
	options discord.Options
	logs    *observer.ObservedLogs
}

// discordWith fills a fake.
func discordWith() *fakediscord.Server {
	dc := fakediscord.New(token, bot, "homer")
	dc.Person(alice, "Alice")
	dc.Person(bob, "Bob")
	dc.OtherBot(otherBot, "Other")
	dc.Guild(town, "Town")
	dc.Channel(square, town, "square")
	dc.Thread(corner, square, "corner")
	dc.Forum(library, town, "library")
	dc.Thread(question, library, "a question")
	dc.Direct(direct, alice)
	return dc
}

// start makes a world on the loopback interface.
func start(t *testing.T, change ...func(*discord.Options)) *world {
	t.Helper()
	dc := discordWith()
	if err := dc.Listen(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(dc.Close)
	w := &world{t: t, dc: dc, options: discord.Options{APIURL: dc.URL()}}
	w.adapter(change...)
	return w
}

// inBubble makes a world whose network is memory, for the clock of a synctest bubble, in a time after Discord's epoch.
func inBubble(t *testing.T, change ...func(*discord.Options)) *world {
	t.Helper()
	time.Sleep(time.Until(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)))
	dc := discordWith()
	n := adaptertest.NewNetwork()
	t.Cleanup(n.Close)
	dc.Serve(n.Listen())
	w := &world{t: t, dc: dc, options: discord.Options{APIURL: "http://discord.test/api", Dial: n.Dial}}
	w.adapter(change...)
	return w
}

// end gives up what a bubble has to be free of.
func (w *world) end() {
	w.a.Close()
	w.dc.Close()
}

// adapter makes another adapter of the account, as after a restart.
func (w *world) adapter(change ...func(*discord.Options)) {
	w.t.Helper()
	for _, f := range change {
		f(&w.options)
	}
	core, logs := observer.New(zapcore.DebugLevel)
	o := w.options
	if o.Token == "" {
		o.Token = token
	}
	o.Log = zap.New(core)
	a, err := discord.New(o)
	if err != nil {
		w.t.Fatal(err)
	}
	if w.a != nil {
		w.a.Close()
	}
	w.t.Cleanup(a.Close)
	w.a, w.logs = a, logs
}

// until waits until the fake shows something.
func (w *world) until(what string, ok func() bool) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 5*time.Minute)
	defer cancel()
	if err := w.dc.Until(ctx, ok); err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
}

// connected waits until the account is up.
func (w *world) connected(r *adaptertest.Session) *adaptertest.Session {
	w.t.Helper()
	r.Until(w.t, func() bool { return r.Ups > 0 })
	if w.options.Dial != nil { // in a bubble: the library's first heartbeat goes out
		time.Sleep(time.Second)
	}
	return r
}

// run starts Run; Stop or End waits for it.
func (w *world) run(refuse func(chat.Event) error) *adaptertest.Session {
	w.t.Helper()
	return (&adaptertest.Session{Refuse: refuse}).Begin(w.t, w.a, "")
}
