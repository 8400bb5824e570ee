package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/gateway"
	"github.com/homing-gateway/homing/internal/store"
)

// past is a place that can be asked for what was written in it.
type past struct {
	*place
	written []chat.Message // all that people wrote, in order
	asked   []ask
	refuse  func(in chat.Address) error // what History says before it looks
	fail    chan error                  // ends a Run
	again   chan struct{}               // a Run begins
}

type ask struct {
	in    chat.Address
	since time.Time
	limit int
}

func newPast() *past {
	return &past{place: newPlace(), fail: make(chan error), again: make(chan struct{}, 8)}
}

func (p *past) Run(ctx context.Context, cursor string, admit chat.Admit, up func()) error {
	p.again <- struct{}{}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case err := <-p.fail:
			cancel(err)
		case <-ctx.Done():
		}
	}()
	err := p.place.Run(ctx, cursor, admit, up)
	if errors.Is(err, context.Canceled) {
		err = context.Cause(ctx)
	}
	return err
}

func (p *past) History(ctx context.Context, in chat.Address, since time.Time, limit int, admit chat.Admit) error {
	p.mu.Lock()
	p.asked = append(p.asked, ask{in, since, limit})
	written, refuse := slices.Clone(p.written), p.refuse
	p.mu.Unlock()
	if refuse != nil {
		if err := refuse(in); err != nil {
			return err
		}
	}
	for _, m := range written {
		mine := m.Address.Chat == in.Chat && m.Address.Thread == in.Thread || in.Chat == "" && in.Person == m.Address.Person && m.Address.Type == chat.Direct
		if mine && m.SentAt.After(since) {
			if err := admit(ctx, chat.Event{ID: m.ID, Message: &m}); err != nil {
				return err
			}
		}
	}
	return nil
}

// write lets somebody write; live tells whether it is delivered, too.
func (p *past) write(t *testing.T, live bool, at chat.Address, id, text string, when time.Time) {
	t.Helper()
	at.Account = p.account
	m := chat.Message{Address: at, ID: id, Text: text, Addressed: true, SentAt: when}
	p.mu.Lock()
	p.written = append(p.written, m)
	p.mu.Unlock()
	if !live {
		return
	}
	select {
	case p.events <- chat.Event{ID: id, Message: &m}:
	case <-time.After(5 * time.Second):
		t.Fatal("the event is not taken")
	}
}

// places gives where was asked, and forgets it.
func (p *past) places() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for _, a := range p.asked {
		out = append(out, fmt.Sprintf("%s %s/%s %s", a.in.Type, a.in.Chat, a.in.Thread, a.in.Person))
	}
	p.asked = nil
	return out
}

func (p *past) asks() []ask {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

func within(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it did not come about: %s", what)
		}
	}
}

// life serves on a store that outlives it; ann and ben may talk.
func life(t *testing.T, path string, p *past, catchUp time.Duration) func() {
	t.Helper()
	db, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	_, _, end := serve(t, p.place, echo{}, func(o *gateway.Options) {
		_ = o.Store.Close()
		o.Store = db
		o.Profiles[0].CatchUp = catchUp
		o.Accounts[0] = gateway.AccountOptions{Adapter: p, Access: gateway.Access{AllowedUsers: []string{"ann", "ben"}, RequireMention: true}}
	})
	var once sync.Once
	over := func() {
		once.Do(func() {
			end()
			_ = db.Close()
		})
	}
	t.Cleanup(over)
	return over
}

var (
	annDirect = chat.Address{Type: chat.Direct, Chat: "a", Person: "ann"}
	benDirect = chat.Address{Type: chat.Direct, Chat: "b", Person: "ben"}
	annThread = chat.Address{Type: chat.Thread, Chat: "c", Thread: "t", Person: "ann"}
	annSquare = chat.Address{Type: chat.Channel, Chat: "c", Person: "ann"}
)

// N-12: what was written while the account was down is asked for in every place with a conversation, and where one may
// begin, from the last event on that is stored; it passes the same checks, and each message is answered once. The first start asks for nothing.
func TestCatchUp(t *testing.T) {
	defer goleak.VerifyNone(t)
	path := filepath.Join(t.TempDir(), "homing.db")
	p := newPast()
	now := time.Now()
	p.write(t, false, annDirect, "0", "before we came", now.Add(-2*time.Hour))
	end := life(t, path, p, 6*time.Hour)
	p.write(t, true, annDirect, "1", "one", now)
	next(t, p.place)
	p.write(t, true, annThread, "2", "two", now.Add(time.Second))
	next(t, p.place)
	if asked := p.places(); len(asked) != 0 {
		t.Errorf("the first start asked in %v", asked)
	}
	end()

	stranger := annDirect
	stranger.Person = "eve"
	p.write(t, false, annDirect, "3", "three", now.Add(time.Hour))
	p.write(t, false, stranger, "4", "evil", now.Add(time.Hour))
	p.write(t, false, benDirect, "5", "five", now.Add(time.Hour))
	p.write(t, false, annSquare, "6", "six", now.Add(2*time.Hour))
	end = life(t, path, p, 6*time.Hour)
	got := []string{next(t, p.place).Text, next(t, p.place).Text, next(t, p.place).Text}
	slices.Sort(got)
	if want := []string{"echo: five", "echo: six", "echo: three"}; !slices.Equal(got, want) {
		t.Errorf("answered %q, want %q", got, want)
	}
	within(t, "all places are asked for", func() bool { return len(p.asks()) == 5 })
	for _, a := range p.asks() {
		if a.limit != 50 || !a.since.Equal(now.Add(time.Second-10*time.Second).UTC()) && a.since.Sub(now.Add(-9*time.Second)).Abs() > time.Millisecond {
			t.Errorf("asked for %d since %s", a.limit, a.since)
		}
	}
	asked := p.places()
	slices.Sort(asked)
	if want := []string{"channel c/ ", "direct / ann", "direct / ben", "direct a/ ", "thread c/t "}; !slices.Equal(asked, want) {
		t.Errorf("asked in %q, want %q", asked, want)
	}
	end()

	// Nothing new: nothing is answered again [N-33], and what is known is where the last life came to.
	end = life(t, path, p, 6*time.Hour)
	within(t, "all places are asked for", func() bool { return len(p.asks()) == 6 })
	for _, a := range p.asks() {
		if a.since.Before(now.Add(time.Hour)) {
			t.Errorf("asked since %s, which is long known", a.since.Sub(now))
		}
	}
	select {
	case out := <-p.sending:
		t.Errorf("said again: %q", out.Text)
	case <-time.After(100 * time.Millisecond):
	}
	end()
}

// N-12: also after a connection that was lost; no message is asked for that is older than delivery.catch_up, and with 0 none.
func TestCatchUpAfterALoss(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, age := range []time.Duration{time.Hour, 0} {
		path := filepath.Join(t.TempDir(), "homing.db")
		p := newPast()
		end := life(t, path, p, age)
		<-p.again
		p.write(t, true, annDirect, "1", "one", time.Now().Add(-9*time.Hour))
		next(t, p.place)
		p.places()
		p.fail <- &chat.RunError{Cause: chat.CauseUnreachable, Err: errors.New("gone")}
		<-p.again
		p.write(t, true, annDirect, "2", "two", time.Now())
		next(t, p.place)
		if age == 0 {
			if asked := p.places(); len(asked) != 0 {
				t.Errorf("asked in %v", asked)
			}
		} else {
			within(t, "all places are asked for", func() bool { return len(p.asks()) == 3 })
			for _, a := range p.asks() {
				if d := time.Since(a.since); d > age+time.Minute {
					t.Errorf("asked for what is %s old", d)
				}
			}
		}
		end()
	}
}

// What fails for a time is asked for again, what is refused is not; and until all is known, an event that comes live does not
// make the next life believe that it is.
func TestCatchUpThatFails(t *testing.T) {
	defer goleak.VerifyNone(t)
	path := filepath.Join(t.TempDir(), "homing.db")
	p := newPast()
	begin := time.Now()
	end := life(t, path, p, 6*time.Hour)
	p.write(t, true, annDirect, "1", "one", begin)
	next(t, p.place)
	end()

	busy := true
	p.refuse = func(in chat.Address) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch {
		case in.Person != "":
			return &chat.SendError{Fault: chat.Refused, Class: chat.ClassChatGone, Err: errors.New("nobody")}
		case busy:
			return &chat.SendError{Fault: chat.RateLimited, RetryAfter: time.Hour, Err: errors.New("slow down")}
		}
		return nil
	}
	p.write(t, false, annDirect, "2", "two", begin.Add(time.Minute))
	end = life(t, path, p, 6*time.Hour)
	within(t, "all places are asked for", func() bool { return len(p.asks()) == 3 })
	p.write(t, true, benDirect, "3", "three", begin.Add(2*time.Hour))
	next(t, p.place)
	end()

	p.places()
	p.mu.Lock()
	p.refuse = func(in chat.Address) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if in.Chat == "a" && busy {
			busy = false
			return &chat.SendError{Fault: chat.ServerError, Err: errors.New("oops")}
		}
		return nil
	}
	p.mu.Unlock()
	end = life(t, path, p, 6*time.Hour)
	if out := next(t, p.place); out.Text != "echo: two" {
		t.Errorf("said %q", out.Text)
	}
	for _, a := range p.asks() {
		if a.since.After(begin) {
			t.Errorf("asked since %s after what is missing", a.since.Sub(begin))
		}
	}
	end()
}
