package gateway

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
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
	acks    map[string]chan struct{} // by Outbound.Key
}

// Terminal is one attached client.
type Terminal struct {
	c *Console
	// Messages are to be shown, and acknowledged by their key once they were.
	Messages chan chat.Outbound
	gone     chan struct{}
	once     sync.Once
}

func newConsole(g *Gateway) *Console {
	return &Console{
		g: g,
		info: chat.Info{
			Account: chat.Account{Profile: g.o.Profiles[0].Name, Platform: ConsolePlatform, ID: "local"},
			Dialect: chat.Plain, MaxUnits: 1 << 20, Unit: chat.Runes,
		},
		clients: map[*Terminal]bool{}, acks: map[string]chan struct{}{},
	}
}

// account is how the gateway serves the console.
func (c *Console) account() AccountOptions {
	return AccountOptions{Adapter: c, Access: Access{Console: true}}
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

// errNobody says that no terminal is attached.
var errNobody = errors.New("no terminal is attached")

// Send shows a message on the attached terminals. It is sent once a terminal has said that it was shown; one that goes
// away before has not shown it, as far as anyone knows, and it waits for the next.
func (c *Console) Send(ctx context.Context, out chat.Outbound) (chat.Receipt, error) {
	c.mu.Lock()
	terminals := make([]*Terminal, 0, len(c.clients))
	for t := range c.clients {
		terminals = append(terminals, t)
	}
	ack, ok := c.acks[out.Key]
	if !ok {
		ack = make(chan struct{})
		c.acks[out.Key] = ack
	}
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.acks, out.Key)
		c.mu.Unlock()
	}()
	for _, t := range terminals {
		select {
		case t.Messages <- out:
		case <-t.gone:
			continue
		case <-ctx.Done():
			return chat.Receipt{}, &chat.SendError{Fault: chat.Unreachable, Err: ctx.Err()}
		}
		select {
		case <-ack:
			return chat.Receipt{MessageID: out.Key}, nil
		case <-t.gone:
		case <-ctx.Done():
			return chat.Receipt{}, &chat.SendError{Fault: chat.Unreachable, Err: ctx.Err()}
		}
	}
	return chat.Receipt{}, &chat.SendError{Fault: chat.Unreachable, Err: errNobody}
}

// Attach connects a terminal. What waited for one follows.
func (c *Console) Attach() *Terminal {
	t := &Terminal{c: c, Messages: make(chan chat.Outbound), gone: make(chan struct{})}
	c.mu.Lock()
	c.clients[t] = true
	c.mu.Unlock()
	c.g.accounts[c.info.Account].up()
	c.g.group.Go(func() { c.g.report(c.g.work, machine.Reachable{Account: c.info.Account}) })
	return t
}

// Detach disconnects the terminal.
func (t *Terminal) Detach() {
	t.once.Do(func() {
		t.c.mu.Lock()
		delete(t.c.clients, t)
		if len(t.c.clients) == 0 {
			t.c.g.accounts[t.c.info.Account].absent()
		}
		t.c.mu.Unlock()
		close(t.gone)
	})
}

// Ack says that the message was shown.
func (t *Terminal) Ack(key string) {
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	if ack, ok := t.c.acks[key]; ok {
		delete(t.c.acks, key)
		close(ack)
	}
}

// Say hands over what the person at the terminal wrote; event makes a repeat harmless.
func (t *Terminal) Say(ctx context.Context, event, text string) error {
	return t.c.g.accounts[t.c.info.Account].admit(ctx, chat.Event{
		ID:      event,
		Message: &chat.Message{Address: t.c.Place(), PersonName: "console", ID: event, Text: text, Addressed: true, SentAt: time.Now()},
	})
}

// Idle tells whether nothing is going on at the console that a person at a terminal would wait for: no turn, no waiting
// text, and nothing left to show.
func (c *Console) Idle() (bool, error) {
	r, ok, err := store.Get[routeCurrent](c.g.o.Store, machine.Routes, string(c.Key()))
	if err != nil {
		return false, err
	}
	if ok && r.Current != "" {
		l, _, err := store.Get[machine.Lane](c.g.o.Store, machine.Lanes, string(r.Current))
		if err != nil || l.Turn != "" || len(l.Texts) > 0 {
			return false, err
		}
	}
	left, err := store.Each(c.g.o.Store, machine.Outgoings, "", func(m delivery.Outgoing) bool {
		return m.To.Account == c.info.Account && !m.Finished()
	})
	return len(left) == 0, err
}

// routeCurrent is the part of a route that Idle reads.
type routeCurrent struct {
	Current id.Session `json:"current"`
}
