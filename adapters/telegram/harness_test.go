package telegram_test

import (
	"testing"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/homing-gateway/homing/adapters/adaptertest"
	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
	"github.com/homing-gateway/homing/adapters/telegram"
	"github.com/homing-gateway/homing/internal/chat"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	token   = "4711:AAHfakeSecretOfTheBot_0123456789"
	botName = "homing_bot"

	alice = int64(1001)
	bob   = int64(1002)
	group = int64(-500)
	super = int64(-1000000000700)
	forum = int64(-1000000000800)
)

// world is a Telegram with people and an adapter that talks to it.
type world struct {
	t    *testing.T
	tg   *faketelegram.Server
	a    *telegram.Adapter
	logs *observer.ObservedLogs
	net  *adaptertest.Network
}

// telegramWith fills a fake.
func telegramWith(tok string) *faketelegram.Server {
	tg := faketelegram.New(tok, botName)
	tg.Person(alice, "Alice")
	tg.Person(bob, "Bob")
	tg.OtherBot(2001, "other_bot")
	tg.Group(group, "A group")
	tg.Supergroup(super, "A supergroup")
	tg.Forum(forum, "A forum", 7, 9)
	return tg
}

// start makes a world on the loopback interface.
func start(t *testing.T, change ...func(*telegram.Options)) *world {
	t.Helper()
	tg := telegramWith(token)
	if err := tg.Listen(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tg.Close)
	return adapterFor(t, tg, telegram.Options{APIURL: tg.URL()}, change...)
}

// startInBubble makes a world whose network is memory, for the clock of a synctest bubble.
func startInBubble(t *testing.T, change ...func(*telegram.Options)) *world {
	t.Helper()
	tg := telegramWith(token)
	n := adaptertest.NewNetwork()
	tg.Serve(n.Listen())
	t.Cleanup(tg.Close)
	w := adapterFor(t, tg, telegram.Options{APIURL: "http://telegram.test", Dial: n.Dial}, change...)
	w.net = n
	return w
}

func adapterFor(t *testing.T, tg *faketelegram.Server, o telegram.Options, change ...func(*telegram.Options)) *world {
	t.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	o.Token, o.Log = token, zap.New(core)
	for _, f := range change {
		f(&o)
	}
	a, err := telegram.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return &world{t: t, tg: tg, a: a, logs: logs}
}

// polled waits until Telegram has seen n polls and holds the last.
func (w *world) polled(n int) {
	w.t.Helper()
	if err := w.tg.Until(w.t.Context(), func() bool { return len(w.tg.Calls("getUpdates")) >= n && w.tg.Polling() }); err != nil {
		w.t.Fatal(err)
	}
}

// run starts Run; Stop or End waits for it.
func (w *world) run(cursor string, refuse func(chat.Event) error) *adaptertest.Session {
	w.t.Helper()
	return (&adaptertest.Session{Refuse: refuse}).Begin(w.t, w.a, cursor)
}
