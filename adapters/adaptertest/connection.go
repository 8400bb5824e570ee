package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/homing-gateway/homing/internal/chat"
)

// connection is how an adapter lives with its connection.
func connection() []behaviour {
	return []behaviour{
		{"a connection that falls loses nothing", falls},
		{"a platform that is away for long loses nothing", outage},
		{"a session that the platform forgot loses nothing", forgotten},
		{"a request for another connection loses nothing", asked},
		{"two quiet hours are healthy", quiet},
		{"a connection that is dead but open is noticed", dead},
		{"a credential that is not valid parks the account", badCredential},
		{"a credential that is revoked later parks the account", revoked},
		{"Run ends with its context", ends},
		{"Run leaves no goroutine", leaves},
		{"two accounts live side by side", sideBySide},
		{"no secret is in an error or a log", secrets},
	}
}

// upsets lets something happen between two messages and checks that what came before, meanwhile and after is stored once each.
func (w *world) upsets(begin, end func()) {
	w.Helper()
	c := w.start(w.a, nil).connected()
	w.say(Direct, Alice, "one")
	c.await(1)
	begin()
	w.say(Shared, Bob, "hello")
	w.say(Direct, Alice, "two")
	end()
	c.await(3)
	time.Sleep(time.Minute)
	w.say(Direct, Alice, "three")
	c.await(4)
	time.Sleep(time.Minute)
	if got := texts(c.messages()); got != "one hello two three" && got != "one two hello three" {
		w.Errorf("stored: %s", got)
	}
	for _, err := range c.endings() {
		if e, ok := errors.AsType[*chat.RunError](err); !ok || e.Cause != chat.CauseUnreachable || e.Park {
			w.Errorf("Run ended with %v, want unreachable", err)
		}
	}
}

func falls(w *world) { w.upsets(w.net.Cut, func() {}) }

func outage(w *world) {
	w.upsets(func() {
		w.net.Behave(Refuses)
		w.net.Cut()
		time.Sleep(10 * time.Minute)
	}, func() {
		time.Sleep(10 * time.Minute)
		w.net.Behave(Accepts)
	})
}

func forgotten(w *world) { w.upsets(func() { w.Strike(Forgotten) }, w.Heal) }

func asked(w *world) { w.upsets(func() { w.Strike(AskedToMove) }, w.Heal) }

func quiet(w *world) {
	c := w.start(w.a, nil).connected()
	dials := w.net.Dials()
	time.Sleep(2 * time.Hour)
	if n := len(c.endings()); n != 0 {
		w.Errorf("Run ended %d times: %v", n, c.endings())
	}
	if n := w.net.Dials() - dials; n != 0 {
		w.Errorf("%d more connections", n)
	}
	w.say(Direct, Alice, "hello")
	c.await(1)
}

func dead(w *world) {
	c := w.start(w.a, nil).connected()
	w.say(Direct, Alice, "one")
	c.await(1)
	dials := w.net.Dials()
	w.net.Stall()
	w.say(Direct, Alice, "two")
	d := w.until("a new connection", func() bool { return w.net.Dials() > dials })
	if bound := w.Traits().Notices + 2*pace; d > bound {
		w.Errorf("noticed after %s, want %s", d, bound)
	}
	c.await(2)
	w.fact = "within " + w.Traits().Notices.String()
	// A connection that never carried anything is noticed, too.
	w.net.Behave(Swallows)
	w.net.Cut()
	w.say(Direct, Alice, "three")
	time.Sleep(10 * time.Minute)
	w.net.Behave(Accepts)
	c.await(3)
	time.Sleep(10 * time.Minute)
	if got := texts(c.messages()); got != "one two three" {
		w.Errorf("stored: %s", got)
	}
}

// parks waits until an account is parked for its credential, and checks that nobody tries again.
func (w *world) parks(c *core) {
	w.Helper()
	d := w.until("the account to be parked", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.parked != nil
	})
	if e := c.parked; e.Cause != chat.CauseBadCredential || e.Remedy == "" {
		w.Errorf("%+v, want %s with a remedy", e, chat.CauseBadCredential)
	}
	if bound := w.Traits().Notices + time.Minute; d > bound {
		w.Errorf("it took %s, want %s", d, bound)
	}
	dials := w.net.Dials()
	time.Sleep(time.Hour)
	if n := w.net.Dials() - dials; n != 0 {
		w.Errorf("%d connections of a parked account", n)
	}
}

func badCredential(w *world) {
	w.Strike(Revoked)
	c := w.start(w.a, nil)
	w.parks(c)
	if c.ups != 0 {
		w.Error("an account without a valid credential was up")
	}
}

func revoked(w *world) {
	c := w.start(w.a, nil).connected()
	w.Strike(Revoked)
	w.parks(c)
}

// soon is how long Run may take to end.
const soon = 2 * time.Second

func ends(w *world) {
	check := func(what string, c *core) {
		w.Helper()
		if d := c.stop(); d > soon {
			w.Errorf("%s: Run ended after %s", what, d)
		}
		for _, err := range c.endings() {
			if _, fault := errors.AsType[*chat.RunError](err); fault || err != nil && !errors.Is(err, context.Canceled) {
				w.Errorf("%s: Run ended with %v, want no fault", what, err)
			}
		}
	}
	check("idle", w.start(w.a, nil).connected())

	entered := make(chan struct{}, 1<<10)
	c := w.start(w.a, func(ctx context.Context, _ chat.Event) error { entered <- struct{}{}; <-ctx.Done(); return ctx.Err() }).connected()
	w.say(Direct, Alice, "one")
	<-entered
	check("while an event is being stored", c)

	for m, what := range map[Manner]string{Ignores: "while it connects", Swallows: "while nobody answers"} {
		w.net.Behave(m)
		w.net.Cut()
		c = w.start(w.a, nil)
		time.Sleep(3 * time.Second)
		check(what, c)
	}
	w.net.Behave(Accepts)
	c = w.restart(c).connected()
	c.await(1)
	check("at last", c)
}

func leaves(w *world) {
	synctest.Wait()
	before := goleak.IgnoreCurrent()
	c := w.start(w.a, nil).connected()
	w.say(Direct, Alice, "one")
	c.await(1)
	w.net.Cut()
	w.say(Direct, Alice, "two")
	c.await(2)
	c.stop()
	synctest.Wait()
	if err := goleak.Find(before); err != nil {
		w.Error(err)
	}
}

func sideBySide(w *world) {
	other := &world{T: w.T, net: NewNetwork()}
	other.Platform, other.logs = w.another(other.net), w.logs
	other.a = other.Adapter(zap.NewNop())
	defer other.end()
	c, d := w.start(w.a, nil), other.start(other.a, nil)
	c.connected()
	d.connected()
	for i := range 5 {
		w.say(Direct, Alice, fmt.Sprint("here ", i))
		other.say(Direct, Alice, fmt.Sprint("there ", i))
	}
	w.net.Cut() // the trouble of one is not the other's
	w.Strike(Busy)
	other.sent(other.out(Direct, "there"))
	w.Heal()
	w.sent(w.out(Direct, "here"))
	if got := texts(c.await(5)); got != "here 0 here 1 here 2 here 3 here 4" {
		w.Errorf("here: %s", got)
	}
	if got := texts(d.await(5)); got != "there 0 there 1 there 2 there 3 there 4" {
		w.Errorf("there: %s", got)
	}
	if n := len(d.endings()); n != 0 {
		w.Errorf("there: %v", d.endings())
	}
	if here, there := w.Seen(Direct), other.Seen(Direct); len(here) != 1 || len(there) != 1 || here[0].Text != "here" || there[0].Text != "there" {
		w.Errorf("here %+v, there %+v", here, there)
	}
}

// secrets only lets everything go wrong; that nothing was told is looked at after every behaviour.
func secrets(w *world) {
	all := func(what string) {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		out := w.out(Direct, "x")
		out.Buttons = []chat.Button{{Label: "x", Command: "/x"}}
		_, err := w.a.Send(ctx, out)
		w.heard(what+", Send", err)
		if y, ok := w.a.(chat.Typer); ok {
			w.heard(what+", Typing", y.Typing(ctx, out.To))
		}
		if e, ok := w.a.(chat.Editor); ok {
			w.heard(what+", Edit", e.Edit(ctx, "1", out))
		}
		if r, ok := w.a.(chat.Remover); ok {
			w.heard(what+", Remove", r.Remove(ctx, out.To, "1"))
		}
		if r, ok := w.a.(chat.Reactor); ok {
			w.heard(what+", React", r.React(ctx, out.To, "1"))
		}
		if m, ok := w.a.(chat.Menu); ok {
			w.heard(what+", SetMenu", m.SetMenu(ctx, []chat.MenuEntry{{Name: "x", Description: "x"}}))
		}
		if o, ok := w.a.(chat.Observer); ok {
			_, _, err := o.Observe(ctx, out, time.Now())
			w.heard(what+", Observe", err)
		}
		if h, ok := w.a.(chat.Historian); ok {
			w.heard(what+", History", h.History(ctx, out.To, time.Now(), 5, func(context.Context, chat.Event) error { return nil }))
		}
	}
	for _, trouble := range []Trouble{Busy, Broken, Silent, CutAfter, CutBefore, Blocked, Revoked} {
		w.Strike(trouble)
		c := w.start(w.a, nil)
		time.Sleep(pace)
		all(string(trouble))
		w.Strange()
		time.Sleep(time.Minute)
		c.stop()
		w.Heal()
	}
	for m, what := range map[Manner]string{Refuses: "refused", Ignores: "ignored", Swallows: "swallowed"} {
		w.net.Behave(m)
		w.net.Cut()
		c := w.start(w.a, nil)
		all(what)
		time.Sleep(5 * time.Minute)
		c.stop()
		w.net.Behave(Accepts)
	}
	if len(w.words) == 0 {
		w.Error("nothing went wrong")
	}
}
