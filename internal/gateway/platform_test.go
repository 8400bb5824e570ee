package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/gateway"
	"github.com/homing-gateway/homing/internal/machine"
)

// command gives a command on the platform of p, and returns what is said to it.
func (b *bubble) command(p *place, person, text string) string {
	b.Helper()
	p.say(b.T, fmt.Sprint(time.Now().UnixNano(), text, person), person, text)
	out := next(b.T, p)
	b.pass(time.Nanosecond)
	return out.Text
}

func (b *bubble) account() gateway.AccountStatus {
	b.Helper()
	for _, s := range b.gateway.Accounts() {
		if s.Account.Platform == "telegram" {
			return s
		}
	}
	b.Fatal("Telegram is not served")
	return gateway.AccountStatus{}
}

// An admin lets a platform rest: nothing is received and nothing is sent there, also after a restart, until it is resumed;
// then what waited comes. Others go on.
func TestPlatformPaused(t *testing.T) {
	var p *place
	other := func(o *gateway.Options) {
		if p == nil { // in the bubble
			p = newPlace()
		}
		o.Accounts = append(o.Accounts, gateway.AccountOptions{Adapter: p, Access: gateway.Access{AllowAll: true, Admins: []string{"7"}}})
	}
	model := says("well", 0)
	inBubble(t, model, func(b *bubble) {
		t := b.T
		if s := b.command(p, "8", "/platform pause telegram"); !strings.Contains(s, "Only admins") {
			t.Errorf("said to a guest: %q", s)
		}
		if s := b.command(p, "7", "/platform list"); !strings.Contains(s, "telegram (4711): up") || !strings.Contains(s, "here (1): up") {
			t.Errorf("list: %q", s)
		}
		if s := b.command(p, "7", "/platform pause here"); !strings.Contains(s, "Not from here") {
			t.Errorf("a pause of the place itself: %q", s)
		}
		if s := b.command(p, "7", "/platform pause nothing"); !strings.Contains(s, "Which one?") {
			t.Errorf("a pause of nothing: %q", s)
		}
		if s := b.command(p, "7", "/platform pause telegram"); !strings.Contains(s, "telegram is paused") {
			t.Errorf("the pause: %q", s)
		}
		rests := func() {
			b.say(alice, alice, "hello")
			_, err := b.gateway.Submit(t.Context(), machine.Say{
				To: chat.Address{Account: chat.Account{Profile: "default", Platform: "telegram", ID: "4711"}, Type: chat.Direct, Chat: fmt.Sprint(alice)}, Text: "by the way",
			})
			if err != nil {
				t.Error(err)
			}
			b.pass(10 * time.Minute)
			if s := b.account(); s.State != gateway.Parked || s.Cause != chat.CausePaused || !strings.Contains(s.Remedy, "/platform resume telegram") {
				t.Errorf("%+v", s)
			}
			if b.tg.Polling() {
				t.Error("it is received")
			}
			b.sees(alice)
		}
		rests()
		if s := b.command(p, "7", "/platform pause telegram"); !strings.Contains(s, "paused already") {
			t.Errorf("the second pause: %q", s)
		}
		p.say(t, "still", "7", "are you there?")
		if out := next(t, p); out.Text != "well" {
			t.Errorf("the other platform: %q", out.Text)
		}
		b.pass(0)
		b.stop()
		b.serve(model, other)
		rests()
		if s := b.command(p, "7", "/platform resume telegram"); !strings.Contains(s, "served again") {
			t.Errorf("the end of the pause: %q", s)
		}
		b.pass(time.Second)
		if s := b.account(); s.State != gateway.Up || s.Remedy != "" {
			t.Errorf("%+v", s)
		}
		if m := b.tg.Visible(alice); len(m) < 3 || m[0].Text != "by the way" || m[1].Text != "by the way" || m[2].Text != "well" {
			t.Errorf("seen: %+v", m)
		}
		b.stop()
		b.serve(model, other)
		if s := b.account(); s.State != gateway.Up {
			t.Errorf("after another restart: %+v", s)
		}
	}, other)
}

// A pause in the midst of a long message lets the part go that is on its way, and no other one; they come in order afterwards.
func TestPausedAmongParts(t *testing.T) {
	text := strings.TrimSpace(strings.Repeat("many words ", 1500))
	var p *place
	inBubble(t, says(text, 0), func(b *bubble) {
		b.tg.Add(faketelegram.Fault{Method: "sendMessage", Delay: 5 * time.Second})
		b.say(alice, alice, "hello")
		b.pass(7 * time.Second) // the first part is there, the second is on its way
		if s := b.command(p, "7", "/platform pause telegram"); !strings.Contains(s, "is paused") {
			t.Errorf("the pause: %q", s)
		}
		b.pass(time.Hour)
		if n := len(b.tg.Visible(alice)); n != 2 {
			t.Errorf("%d parts are seen", n)
		}
		if s := b.command(p, "7", "/platform resume telegram"); !strings.Contains(s, "served again") {
			t.Errorf("the end of the pause: %q", s)
		}
		b.pass(time.Minute)
		var all []string
		for _, m := range b.tg.Visible(alice) {
			all = append(all, m.Text)
		}
		if strings.Join(all, " ") != text {
			t.Errorf("%d parts: %.100q", len(all), all)
		}
	}, func(o *gateway.Options) {
		p = newPlace()
		o.Accounts = append(o.Accounts, gateway.AccountOptions{Adapter: p, Access: gateway.Access{AllowAll: true, Admins: []string{"7"}}})
	})
}

// An account can be paused before it is learned: then nobody asks for it, also after a restart, and what is queued for it by
// its name of another life waits. Resumed, it is learned and served, and no pause is left of the time without a name.
func TestPausedBeforeItIsLearned(t *testing.T) {
	var p, late *place
	asked, known := 0, false
	other := func(o *gateway.Options) {
		if p == nil { // in the bubble
			p, late = newPlace(), newPlace()
			late.account = chat.Account{Profile: "default", Platform: "late", ID: "T1"}
		}
		learned := gateway.AccountOptions{Adapter: late, Access: gateway.Access{AllowAll: true}}
		if !known {
			learned = gateway.AccountOptions{
				Account: chat.Account{Profile: "default", Platform: "late"}, Access: gateway.Access{AllowAll: true},
				Learn: func(context.Context) (chat.Adapter, error) {
					if asked++; asked == 1 {
						return nil, errors.New("not now")
					}
					return late, nil
				},
			}
		}
		o.Accounts = append(o.Accounts, gateway.AccountOptions{Adapter: p, Access: gateway.Access{AllowAll: true, Admins: []string{"7"}}}, learned)
	}
	state := func(b *bubble) gateway.AccountStatus {
		all := b.gateway.Accounts()
		return all[len(all)-1]
	}
	rests := func(b *bubble) {
		b.Helper()
		b.pass(3 * time.Hour)
		if s := state(b); asked != 1 || s.Cause != chat.CausePaused || !strings.Contains(s.Remedy, "/platform resume late") {
			b.Errorf("asked %d times, %+v", asked, s)
		}
	}
	model := says("well", 0)
	inBubble(t, model, func(b *bubble) {
		if s := b.command(p, "7", "/platform list"); !strings.Contains(s, "late: connecting") {
			t.Errorf("list: %q", s)
		}
		if s := b.command(p, "7", "/platform pause late"); !strings.Contains(s, "late is paused") {
			t.Errorf("the pause: %q", s)
		}
		if _, err := b.gateway.Submit(b.Context(), machine.Say{To: chat.Address{Account: late.account, Type: chat.Direct, Chat: "9"}, Text: "by the way"}); err != nil {
			t.Error(err)
		}
		rests(b)
		b.stop()
		b.serve(model, other)
		rests(b)
		if s := b.command(p, "7", "/platform resume late"); !strings.Contains(s, "served again") {
			t.Errorf("the end of the pause: %q", s)
		}
		if out := next(b.T, late); out.Text != "by the way" {
			t.Errorf("what waited: %+v", out)
		}
		b.pass(time.Minute)
		if s := state(b); s.State != gateway.Up || s.Account != late.account {
			t.Errorf("%+v", s)
		}
		b.stop()

		// Paused without a name, it is paused by its name as well, and one end is the end of both.
		asked = 0
		b.serve(model, other)
		b.command(p, "7", "/platform pause late")
		b.stop()
		known = true
		b.serve(model, other)
		if s := state(b); s.Cause != chat.CausePaused {
			t.Errorf("after it was learned elsewhere: %+v", s)
		}
		b.command(p, "7", "/platform resume late")
		b.stop()
		b.serve(model, other)
		b.pass(time.Minute)
		if s := state(b); s.State != gateway.Up {
			t.Errorf("after the end of the pause: %+v", s)
		}
	}, other)
}

// The wall clock that runs away from the monotonic one tells that the machine has slept.
func TestSlept(t *testing.T) {
	for _, c := range []struct{ wall, monotonic, want time.Duration }{
		{5 * time.Second, 5 * time.Second, 0},
		{8 * time.Hour, 5 * time.Second, 8*time.Hour - 5*time.Second},
		{35 * time.Second, 5 * time.Second, 0},
		{65 * time.Second, 5 * time.Second, time.Minute},
		{-time.Hour, 5 * time.Second, 0},
	} {
		if got := gateway.Slept(c.wall, c.monotonic); got != c.want {
			t.Errorf("%s and %s: %s, want %s", c.wall, c.monotonic, got, c.want)
		}
	}
}

// After the machine has slept accounts connect anew at once: one whose poll hangs on a dead connection, and one that waits
// for its next attempt.
func TestAwakeReconnectsAtOnce(t *testing.T) {
	inBubble(t, says("well", 0), func(b *bubble) {
		b.pass(time.Minute)
		b.tg.Add(faketelegram.Fault{Method: "getUpdates", Hang: true, Times: 1})
		b.pass(26 * time.Second) // the poll in hand ends, the next one hangs
		n := len(b.tg.Calls("getMe"))
		b.gateway.Awake(time.Hour)
		b.pass(time.Millisecond)
		if got := len(b.tg.Calls("getMe")); got != n+1 || b.account().State != gateway.Up {
			t.Errorf("connected %d times, %+v", got-n, b.account())
		}
		b.tg.Add(faketelegram.Fault{Method: "getMe", Status: 502, Description: "Bad Gateway"})
		b.tg.Add(faketelegram.Fault{Method: "getUpdates", Status: 502, Description: "Bad Gateway"})
		b.pass(5 * time.Minute)
		b.tg.Clear()
		if s := b.account(); s.State == gateway.Up {
			t.Fatalf("%+v", s)
		}
		b.gateway.Awake(time.Hour)
		b.pass(time.Millisecond)
		if s := b.account(); s.State != gateway.Up {
			t.Errorf("%+v", s)
		}
	})
}
