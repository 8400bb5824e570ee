package gateway_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap/zaptest"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/gateway"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/media"
	"github.com/homing-gateway/homing/internal/process"
	"github.com/homing-gateway/homing/internal/store"
)

// place is a platform that lives in this process: it delivers what a test says and keeps what is sent.
type place struct {
	account chat.Account
	events  chan chat.Event
	sending chan chat.Outbound // each send is offered here before it is made
	mu      sync.Mutex
	sent    []chat.Outbound
}

func newPlace() *place {
	return &place{
		account: chat.Account{Profile: "default", Platform: "here", ID: "1"}, events: make(chan chat.Event), sending: make(chan chat.Outbound),
	}
}

func (p *place) Describe() chat.Info {
	return chat.Info{Account: p.account, Dialect: chat.Plain, MaxUnits: 4096, Unit: chat.Runes}
}

func (p *place) Run(ctx context.Context, _ string, admit chat.Admit, up func()) error {
	up()
	for {
		select {
		case e := <-p.events:
			if err := admit(ctx, e); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (p *place) Send(ctx context.Context, out chat.Outbound) (chat.Receipt, error) {
	select {
	case p.sending <- out:
	case <-ctx.Done():
		return chat.Receipt{}, &chat.SendError{Fault: chat.Unknown, Err: ctx.Err()}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, out)
	return chat.Receipt{MessageID: fmt.Sprint(len(p.sent))}, nil
}

func (p *place) say(t *testing.T, event, chatID, text string) {
	t.Helper()
	e := chat.Event{ID: event, Message: &chat.Message{
		Address: chat.Address{Account: p.account, Type: chat.Direct, Chat: chatID, Person: chatID}, ID: event, Text: text, Addressed: true,
	}}
	select {
	case p.events <- e:
	case <-time.After(5 * time.Second):
		t.Fatal("the event is not taken")
	}
}

// echo answers what it was asked, when it is let.
type echo struct{ began, let chan struct{} }

func (e echo) Complete(ctx context.Context, r agent.Request, _ func(string)) (agent.Response, error) {
	if e.began != nil {
		e.began <- struct{}{}
		select {
		case <-e.let:
		case <-ctx.Done():
			return agent.Response{}, ctx.Err()
		}
	}
	return agent.Response{Text: "echo: " + r.Messages[len(r.Messages)-1].Text}, nil
}

func serve(t *testing.T, p *place, provider echo, changes ...func(*gateway.Options)) (*gateway.Gateway, *store.DB, func()) {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "homing.db"))
	if err != nil {
		t.Fatal(err)
	}
	processes, err := process.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	folder, err := media.Open(filepath.Join(t.TempDir(), "media"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	o := gateway.Options{
		Media: folder,
		Store: db, Processes: processes, Log: zaptest.NewLogger(t),
		Profiles: []gateway.Profile{{
			Name: "default", Provider: provider, Workspace: t.TempDir(), SendTimeout: time.Minute,
			Policy: machine.Policy{InboxLimit: 100, MaxIterations: 10, Delivery: delivery.Policy{MaxAttempts: 3, MinBackoff: time.Second, MaxBackoff: time.Second}},
		}},
		Accounts: []gateway.AccountOptions{{Adapter: p, Access: gateway.Access{AllowAll: true}}},
	}
	for _, change := range changes {
		change(&o)
	}
	g, err := gateway.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx, context.Background(), func() {}) }() // ends with stop
	var once sync.Once
	end := func() {
		once.Do(func() {
			stop()
			if err := <-ended; err != nil {
				t.Errorf("the gateway ended: %v", err)
			}
			processes.Close()
			_ = db.Close()
		})
	}
	t.Cleanup(end)
	return g, db, end
}

func next(t *testing.T, p *place) chat.Outbound {
	t.Helper()
	select {
	case out := <-p.sending:
		return out
	case <-time.After(5 * time.Second):
		t.Fatal("nothing is sent")
		return chat.Outbound{}
	}
}

// while a platform takes its time, no transaction is open, and the writer and other chats go on. Nothing is left
// running afterwards.
func TestNothingIsHeldWhileSending(t *testing.T) {
	defer goleak.VerifyNone(t)
	p := newPlace()
	g, db, end := serve(t, p, echo{})
	p.say(t, "1", "slow", "first") // nobody takes the send: the platform hangs
	watch, stop := g.Follow()
	defer stop()
	for hanging := false; !hanging; {
		select {
		case <-watch.C:
		case <-time.After(5 * time.Second):
			t.Fatal("the send does not begin")
		}
		list, err := store.Each(db, machine.Outgoings, "", func(m delivery.Outgoing) bool { return m.State == delivery.Sending })
		if err != nil {
			t.Fatal(err)
		}
		hanging = len(list) == 1
	}
	if open := db.OpenReads(); open != 0 {
		t.Errorf("%d read transactions are open while a send hangs", open)
	}
	p.say(t, "2", "quick", "second")
	got := map[string]string{}
	for range 2 {
		out := next(t, p)
		got[out.To.Chat] = out.Text
	}
	if got["slow"] != "echo: first" || got["quick"] != "echo: second" {
		t.Errorf("sent %v", got)
	}
	end()
}

// A model call that is in hand when the stop comes is waited for, and its answer goes out before the gateway ends.
func TestDrainWaitsForWhatIsInHand(t *testing.T) {
	defer goleak.VerifyNone(t)
	p := newPlace()
	model := echo{began: make(chan struct{}), let: make(chan struct{})}
	_, _, end := serve(t, p, model)
	p.say(t, "1", "7", "one more thing")
	<-model.began
	ended := make(chan struct{})
	go func() { defer close(ended); end() }() // ends with the gateway
	select {
	case <-ended:
		t.Fatal("the gateway ended in the middle of a model call")
	case <-time.After(50 * time.Millisecond):
	}
	close(model.let)
	if out := next(t, p); out.Text != "echo: one more thing" {
		t.Errorf("sent %q", out.Text)
	}
	<-ended
}
