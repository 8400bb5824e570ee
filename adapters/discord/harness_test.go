package discord_test

import (
	"context"
	"encoding/base64"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

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
	l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	dc.Serve(l)
	w := &world{t: t, dc: dc, options: discord.Options{APIURL: "http://discord.test/api", Dial: l.dial}}
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
func (w *world) connected(r *run) *run {
	w.t.Helper()
	r.until(w.t, func() bool { return r.ups > 0 })
	if w.options.Dial != nil { // in a bubble: the library's first heartbeat goes out
		time.Sleep(time.Second)
	}
	return r
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
func (w *world) run(refuse func(chat.Event) error) *run {
	ctx, cancel := context.WithCancel(w.t.Context())
	r := &run{refuse: refuse, change: make(chan struct{}, 1), cancel: cancel, done: make(chan error, 1)}
	go func() { r.done <- w.a.Run(ctx, "", r.admit, r.up) }()
	w.t.Cleanup(func() { cancel() })
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
	return slices.Clone(r.events)
}

func (r *run) until(t *testing.T, ok func() bool) {
	t.Helper()
	deadline := time.After(5 * time.Minute) // of a bubble's clock
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
			t.Fatalf("Run ended: %v; events so far: %+v", err, r.events)
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
	case <-time.After(5 * time.Minute):
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

func sendError(t *testing.T, err error) *chat.SendError {
	t.Helper()
	e, ok := errors.AsType[*chat.SendError](err)
	if !ok {
		t.Fatalf("%T %v, want a SendError", err, err)
	}
	return e
}

// pipes is a network in memory.
type pipes struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		return here, nil
	case <-p.closed:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }
