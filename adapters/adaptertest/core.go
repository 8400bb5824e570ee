package adaptertest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
)

// pace is how long the core waits before it calls Run again.
const pace = time.Second

// core is what stands behind an adapter in the daemon, as far as an adapter notices: it stores what is admitted, each id
// once, keeps the cursor, calls Run again after an error, and asks for what was missed where the adapter can tell.
type core struct {
	w      *world
	a      chat.Adapter
	missed bool // something may have come before the first Run
	cancel context.CancelFunc
	done   chan struct{} // closed when the core is still

	mu     sync.Mutex
	hold   func(ctx context.Context, e chat.Event) error // what admit does before it stores
	stored []chat.Event
	again  []chat.Event // admitted under an id that was stored before
	cursor string
	ups    int
	runs   int
	ended  []error // of each Run that ended
	parked *chat.RunError
}

// start lets a core serve a. It is stopped at the latest when the behaviour was looked at.
func (w *world) start(a chat.Adapter, hold func(context.Context, chat.Event) error) *core {
	ctx, cancel := context.WithCancel(context.Background())
	c := &core{w: w, a: a, cancel: cancel, done: make(chan struct{}), hold: hold}
	w.cores = append(w.cores, c)
	go c.serve(ctx)
	return c
}

// restart lets a new core serve a new adapter with what the stopped one stored.
func (w *world) restart(from *core) *core {
	ctx, cancel := context.WithCancel(context.Background())
	c := &core{w: w, a: w.anew(), cancel: cancel, done: make(chan struct{}), missed: true, stored: from.stored, cursor: from.cursor}
	w.cores = append(w.cores, c)
	go c.serve(ctx)
	return c
}

func (c *core) serve(ctx context.Context) {
	defer close(c.done)
	for first := true; ; first = false {
		c.mu.Lock()
		cursor := c.cursor
		c.runs++
		c.mu.Unlock()
		err := c.run(ctx, cursor, c.missed || !first)
		c.mu.Lock()
		c.ended = append(c.ended, err)
		fault, _ := errors.AsType[*chat.RunError](err)
		park := fault != nil && fault.Park && ctx.Err() == nil
		if park {
			c.parked = fault
		}
		c.mu.Unlock()
		c.w.heard("Run", err)
		if fault != nil {
			c.w.heard("remedy", errors.New(fault.Remedy))
		}
		if park {
			return
		}
		wait := pace
		if fault != nil {
			wait = max(wait, fault.After)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}

// run is one Run, and a look at what was missed before it.
func (c *core) run(ctx context.Context, cursor string, missed bool) error {
	ctx, cancel := context.WithCancel(ctx)
	var asks sync.WaitGroup
	defer asks.Wait()
	defer cancel()
	var once sync.Once
	up := func() {
		c.mu.Lock()
		c.ups++
		c.mu.Unlock()
		if h, ok := c.a.(chat.Historian); ok && missed {
			once.Do(func() { asks.Go(func() { c.catchUp(ctx, h) }) })
		}
	}
	return c.a.Run(ctx, cursor, c.admit, up)
}

func (c *core) catchUp(ctx context.Context, h chat.Historian) {
	for _, at := range []Place{Direct, Shared, Thread} {
		place := c.w.At(at)
		if place == (chat.Address{}) {
			continue
		}
		c.w.heard("History", h.History(ctx, place, time.Now().Add(-6*time.Hour), 50, c.admit))
	}
}

func (c *core) admit(ctx context.Context, e chat.Event) error {
	c.mu.Lock()
	hold := c.hold
	c.mu.Unlock()
	if hold != nil {
		if err := hold(ctx, e); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.ID == "" {
		c.w.Errorf("an event without an id: %+v", e)
	}
	if e.Aside != nil {
		c.w.heard("reason", errors.New(e.Aside.Reason))
	}
	if slices.ContainsFunc(c.stored, func(s chat.Event) bool { return s.ID == e.ID }) {
		c.again = append(c.again, e)
	} else {
		c.stored = append(c.stored, e)
	}
	if e.Cursor != "" {
		c.cursor = e.Cursor
	}
	return nil
}

// events gives what was stored.
func (c *core) events() []chat.Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.stored)
}

// endings gives what the Runs so far ended with.
func (c *core) endings() []error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.ended)
}

// messages gives the messages that were stored.
func (c *core) messages() []chat.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []chat.Message
	for _, e := range c.stored {
		if e.Message != nil {
			out = append(out, *e.Message)
		}
	}
	return out
}

// await waits until n messages are stored, and gives all that are.
func (c *core) await(n int) []chat.Message {
	c.w.Helper()
	c.w.until("messages to be stored", func() bool { return len(c.messages()) >= n })
	return c.messages()
}

// connected waits until the platform has answered a Run, and nothing more happens.
func (c *core) connected() *core {
	c.w.Helper()
	c.w.until("the account to be up", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.ups > 0
	})
	time.Sleep(pace)
	return c
}

// stop ends the Run as the core does, and gives the time that it took.
func (c *core) stop() time.Duration {
	began := time.Now()
	c.cancel()
	select {
	case <-c.done:
	case <-time.After(time.Hour):
		c.w.Fatal("Run goes on after its context ended")
	}
	return time.Since(began)
}
