package gateway

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
	"github.com/homing-gateway/homing/internal/store"
)

// ConsolePlatform is the platform of local terminals.
const ConsolePlatform chat.Platform = "console"

// Console is the place where terminals on this machine talk to the agent: a chat place like any other, whose platform is
// whoever is attached. What is said while nobody is attached waits.
type Console struct {
	g    *Gateway
	info chat.Info

	mu      sync.Mutex
	clients map[*Terminal]bool
	closed  bool
}

// Terminal is one attached client.
type Terminal struct {
	c *Console
	// Messages are to be shown, and acknowledged by their key once they were.
	Messages chan chat.Outbound
	gone     chan struct{}
	once     sync.Once

	mu   sync.Mutex
	acks map[string]chan struct{} // by Outbound.Key
}

func newConsole(g *Gateway) *Console {
	return &Console{
		g: g,
		info: chat.Info{
			Account: chat.Account{Profile: g.o.Profiles[0].Name, Platform: ConsolePlatform, ID: "local"},
			Dialect: chat.Plain, MaxUnits: 1 << 20, Unit: chat.Runes,
		},
		clients: map[*Terminal]bool{},
	}
}

// account is how the gateway serves the console.
func (c *Console) account() AccountOptions {
	return AccountOptions{Adapter: c, Access: Access{Console: true}}
}

// served is the console as an account. It is always known.
func (c *Console) served() *account {
	a, _ := c.g.lookup(c.info.Account)
	return a
}

// Place is the console's one place.
func (c *Console) Place() chat.Address {
	return chat.Address{Account: c.info.Account, Type: chat.Direct, Chat: "console", Person: "local"}
}

// Key is the route key of the place.
func (c *Console) Key() chat.Key { return chat.KeyOf(c.Place(), chat.Keying{}) }

// Describe declares the console.
func (c *Console) Describe() chat.Info { return c.info }

// Run has nothing to receive by itself: what terminals say is handed over by Terminal.Say.
func (c *Console) Run(ctx context.Context, _ string, _ chat.Admit, _ func()) error {
	<-ctx.Done()
	return ctx.Err()
}

// The ways in which a message does not reach a person at a terminal.
var (
	errNobody = errors.New("no terminal is attached")
	errNoWord = errors.New("the terminal has not said that it was shown")
)

// stuckTerminal is how long one terminal may hold up a message that another one has shown.
const stuckTerminal = 2 * time.Second

// Send shows a message on all attached terminals. It is sent once those that are still there have said that it was shown;
// one that goes away before has not shown it, as far as anyone knows. Shown nowhere, it waits for the next terminal.
func (c *Console) Send(ctx context.Context, out chat.Outbound) (chat.Receipt, error) {
	c.mu.Lock()
	terminals := make([]*Terminal, 0, len(c.clients))
	for t := range c.clients {
		terminals = append(terminals, t)
	}
	c.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ends := make(chan showing, len(terminals))
	for _, t := range terminals {
		go func() { ends <- t.show(ctx, out) }() // ends with ctx
	}
	best := notShown
	for range terminals {
		if end := <-ends; end > best {
			if best = end; best == shown {
				time.AfterFunc(stuckTerminal, cancel)
			}
		}
	}
	switch best {
	case shown:
		return chat.Receipt{MessageID: out.Key}, nil
	case handedOver:
		return chat.Receipt{}, &chat.SendError{Fault: chat.Unknown, Err: errNoWord}
	}
	return chat.Receipt{}, &chat.SendError{Fault: chat.Unreachable, Err: errNobody}
}

// React is nothing to do: a person at a terminal sees their own line, and what runs.
func (c *Console) React(context.Context, chat.Address, string) error { return nil }

// showing is how far a message came at one terminal.
type showing uint8

const (
	notShown   showing = iota // it was not handed over, or the terminal is gone
	handedOver                // the terminal has it and says nothing: it is suspended, or stuck
	shown
)

// show hands a message to the terminal and waits for its word that it was shown.
func (t *Terminal) show(ctx context.Context, out chat.Outbound) showing {
	ack := make(chan struct{})
	t.mu.Lock()
	t.acks[out.Key] = ack
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		delete(t.acks, out.Key)
		t.mu.Unlock()
	}()
	select {
	case t.Messages <- out:
	case <-t.gone:
		return notShown
	case <-ctx.Done():
		return notShown
	}
	select {
	case <-ack:
		return shown
	case <-t.gone:
		return notShown
	case <-ctx.Done():
		return handedOver
	}
}

// ErrClosing says that the gateway takes no terminals any more.
var ErrClosing = errors.New("the gateway is stopping")

// Attach connects a terminal. What waited for one follows.
func (c *Console) Attach() (*Terminal, error) {
	t := &Terminal{c: c, Messages: make(chan chat.Outbound), acks: map[string]chan struct{}{}, gone: make(chan struct{})}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, ErrClosing
	}
	c.clients[t] = true
	c.mu.Unlock()
	c.served().up()
	c.g.tasks.begin(func() { c.g.report(c.g.work, machine.Reachable{Account: c.info.Account}) })
	return t, nil
}

// close disconnects all terminals and takes no more.
func (c *Console) close() {
	c.mu.Lock()
	c.closed = true
	terminals := make([]*Terminal, 0, len(c.clients))
	for t := range c.clients {
		terminals = append(terminals, t)
	}
	c.mu.Unlock()
	for _, t := range terminals {
		t.Detach()
	}
}

// Gone is closed when the terminal is disconnected, by itself or by the gateway.
func (t *Terminal) Gone() <-chan struct{} { return t.gone }

// Detach disconnects the terminal.
func (t *Terminal) Detach() {
	t.once.Do(func() {
		t.c.mu.Lock()
		delete(t.c.clients, t)
		if len(t.c.clients) == 0 {
			t.c.served().absent()
		}
		t.c.mu.Unlock()
		close(t.gone)
	})
}

// Ack says that the message was shown.
func (t *Terminal) Ack(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if ack, ok := t.acks[key]; ok {
		delete(t.acks, key)
		close(ack)
	}
}

// Resume brings the console back to a conversation; the error says why not.
func (t *Terminal) Resume(ctx context.Context, event string, target id.Session) error {
	place := t.c.Place()
	got, err := t.c.g.Submit(ctx, machine.Receive{
		Account: place.Account, Event: event, Message: &chat.Message{Address: place, ID: event},
		Command: &machine.Command{Name: machine.CommandResume, Target: target, Any: true},
	})
	if err == nil && got.Session != target {
		err = &machine.Refusal{Text: got.Text}
	}
	return err
}

// Say hands over what the person at the terminal wrote; event makes a repeat harmless. later tells whether more than the
// reply to a command is to be waited for: the agent's answer, or the outcome of a command that takes its time.
func (t *Terminal) Say(ctx context.Context, event, text string) (later bool, err error) {
	name, _, command := parseCommand(strings.TrimSpace(text))
	later = !command || name == machine.CommandCompact || name == machine.CommandSelftest
	return later, t.c.served().admit(ctx, chat.Event{
		ID:      event,
		Message: &chat.Message{Address: t.c.Place(), PersonName: "console", ID: event, Text: text, Addressed: true, SentAt: time.Now()},
	})
}

// Shown tells whether nothing is left to show at the console.
func (c *Console) Shown() (bool, error) {
	left, err := store.Each(c.g.o.Store, machine.Outgoings, "", func(m delivery.Outgoing) bool {
		return m.To.Account == c.info.Account && !m.Finished()
	})
	return len(left) == 0, err
}

// lane is what goes on in the console's conversation.
func (c *Console) lane() (l machine.Lane, err error) {
	r, ok, err := store.Get[session.Route](c.g.o.Store, machine.Routes, string(c.Key()))
	if err != nil || !ok || r.Current == "" {
		return l, err
	}
	l, _, err = store.Get[machine.Lane](c.g.o.Store, machine.Lanes, string(r.Current))
	return l, err
}

// Idle tells whether nothing is going on at the console that a person at a terminal would wait for: nothing left to show,
// no waiting text, no command's outcome owed, and no turn but one whose person was told that the model does not answer.
func (c *Console) Idle() (bool, error) {
	l, err := c.lane()
	if err != nil || len(l.Texts) > 0 || l.Compact != nil {
		return false, err
	}
	tests, err := store.Each(c.g.o.Store, machine.Delegations, "", func(d machine.Delegation) bool {
		return d.Selftest != nil && d.Selftest.Report == "" && d.Selftest.Key == c.Key()
	})
	if err != nil || len(tests) > 0 {
		return false, err
	}
	if l.Turn != "" {
		t, running, err := store.Get[machine.Turn](c.g.o.Store, machine.Turns, string(l.Turn))
		if err != nil || running && (t.State != machine.TurnWaiting || t.Waits < machine.WaitsTold) {
			return false, err
		}
	}
	return c.Shown()
}
