package telegram_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

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

// run is an adapter's Run with a core that stores what it admits.
type run struct {
	mu     sync.Mutex
	events []chat.Event
	ups    int
	refuse func(chat.Event) error // what admit says before it stores
	change chan struct{}
	cancel context.CancelFunc
	done   chan error
}

// run starts Run; stop or end waits for it.
func (w *world) run(cursor string, refuse func(chat.Event) error) *run {
	ctx, cancel := context.WithCancel(w.t.Context())
	r := &run{refuse: refuse, change: make(chan struct{}, 1), cancel: cancel, done: make(chan error, 1)}
	go func() { r.done <- w.a.Run(ctx, cursor, r.admit, r.up) }()
	w.t.Cleanup(func() { cancel() })
	return r
}

func (r *run) admit(_ context.Context, e chat.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refuse != nil {
		if err := r.refuse(e); err != nil {
			return err
		}
	}
	r.events = append(r.events, e)
	r.wake()
	return nil
}

func (r *run) up() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ups++
	r.wake()
}

func (r *run) wake() {
	select {
	case r.change <- struct{}{}:
	default:
	}
}

// await waits until n events are stored and gives them.
func (r *run) await(t *testing.T, n int) []chat.Event {
	t.Helper()
	r.until(t, func() bool { return len(r.events) >= n })
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]chat.Event(nil), r.events...)
}

func (r *run) until(t *testing.T, ok func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		r.mu.Lock()
		holds := ok()
		r.mu.Unlock()
		if holds {
			return
		}
		select {
		case <-r.change:
		case <-deadline:
			t.Fatalf("waited in vain; events so far: %+v", r.events)
		}
	}
}

// end waits for Run to return by itself.
func (r *run) end(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.done:
		return err
	case <-time.After(5 * time.Minute): // of a bubble's clock, or far too long
		t.Fatal("Run goes on")
		return nil
	}
}

// stop ends Run as the core does.
func (r *run) stop(t *testing.T) {
	t.Helper()
	r.cancel()
	err := r.end(t)
	if _, fault := errors.AsType[*chat.RunError](err); fault || !errors.Is(err, context.Canceled) {
		t.Errorf("Run after a stop: %v, want no fault, but context.Canceled", err)
	}
}

func runError(t *testing.T, err error) *chat.RunError {
	t.Helper()
	e, ok := errors.AsType[*chat.RunError](err)
	if !ok {
		t.Fatalf("%T %v, want a RunError", err, err)
	}
	return e
}
