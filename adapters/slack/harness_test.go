package slack_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/homing-gateway/homing/adapters/adaptertest/fakeslack"
	"github.com/homing-gateway/homing/adapters/slack"
	"github.com/homing-gateway/homing/internal/chat"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	botToken = "xoxb-1234-SecretOfTheBot0123456789"
	appToken = "xapp-1-SecretOfTheApp0123456789"

	alice, bob = "U0ALICE", "U0BOB"
	beeper     = "U0BEEPER"
	direct     = "D0ALICE"
	general    = "C0GENERAL"
	random     = "C0RANDOM"

	mention = "<@" + fakeslack.BotUser + ">"
)

var (
	identity = slack.Identity{Team: fakeslack.Team, User: fakeslack.BotUser, Bot: fakeslack.Bot}
	account  = chat.Account{Profile: "default", Platform: slack.Name, ID: fakeslack.Team}
)

// workspace fills a fake.
func workspace() *fakeslack.Server {
	sl := fakeslack.New(botToken, appToken)
	sl.Person(alice, "Alice", direct)
	sl.Person(bob, "Bob", "D0BOB")
	sl.OtherBot(beeper, "B0BEEPER", "Beeper")
	sl.Channel(general, "general", "channel")
	sl.Channel(random, "random", "channel")
	return sl
}

// world is a Slack with people and an adapter that talks to it.
type world struct {
	*testing.T
	sl   *fakeslack.Server
	a    *slack.Adapter
	logs *observer.ObservedLogs
}

// start makes a world on the loopback interface.
func start(t *testing.T, change ...func(*slack.Options)) *world {
	t.Helper()
	sl := workspace()
	if err := sl.Listen(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sl.Close)
	return adapterFor(t, sl, slack.Options{APIURL: sl.URL()}, change...)
}

// startOn makes a world on another network, for the clock of a bubble.
func startOn(t *testing.T, l net.Listener, dial func(context.Context, string, string) (net.Conn, error), change ...func(*slack.Options)) *world {
	t.Helper()
	sl := workspace()
	sl.Serve(l)
	t.Cleanup(sl.Close)
	return adapterFor(t, sl, slack.Options{APIURL: "http://slack.test/api", Dial: dial}, change...)
}

func adapterFor(t *testing.T, sl *fakeslack.Server, o slack.Options, change ...func(*slack.Options)) *world {
	t.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	o.BotToken, o.AppToken, o.ReplyInThread, o.Log = botToken, appToken, true, zap.New(core)
	for _, f := range change {
		f(&o)
	}
	a, err := slack.New(o, identity)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return &world{T: t, sl: sl, a: a, logs: logs}
}

// run is an adapter's Run with a core that stores what it admits, each id once.
type run struct {
	mu     sync.Mutex
	events []chat.Event
	again  int // events whose id was stored already
	ups    int
	refuse func(chat.Event) error // what admit says before it stores
	change chan struct{}
	cancel context.CancelFunc
	done   chan error
}

// run starts Run and waits until it is up.
func (w *world) run(refuse func(chat.Event) error) *run {
	w.Helper()
	r := w.begin(refuse)
	r.until(w.T, func() bool { return r.ups > 0 })
	return r
}

// begin starts Run; stop or end waits for it.
func (w *world) begin(refuse func(chat.Event) error) *run {
	ctx, cancel := context.WithCancel(context.Background())
	r := &run{refuse: refuse, change: make(chan struct{}, 1), cancel: cancel, done: make(chan error, 1)}
	go func() { r.done <- w.a.Run(ctx, "", r.admit, r.up) }()
	w.Cleanup(cancel)
	return r
}

func (r *run) admit(_ context.Context, e chat.Event) error {
	if r.refuse != nil {
		if err := r.refuse(e); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.events {
		if s.ID == e.ID {
			r.again++
			r.wake()
			return nil
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
	deadline := time.After(time.Hour) // of a bubble's clock; elsewhere the test's own limit comes first
	for {
		r.mu.Lock()
		holds := ok()
		r.mu.Unlock()
		if holds {
			return
		}
		select {
		case <-r.change:
		case err := <-r.done:
			t.Fatalf("Run ended: %v", err)
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
	case <-time.After(time.Hour):
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

// optionsOf are options for another adapter at the same Slack, one that waits for nothing.
func optionsOf(w *world) slack.Options {
	return slack.Options{APIURL: w.sl.URL(), CallTimeout: 100 * time.Millisecond}
}
