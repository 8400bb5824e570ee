package gateway_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap/zaptest"

	"github.com/homing-gateway/homing/adapters/adaptertest"
	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
	"github.com/homing-gateway/homing/adapters/telegram"
	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/gateway"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/media"
	"github.com/homing-gateway/homing/internal/process"
	"github.com/homing-gateway/homing/internal/store"
)

const (
	alice = int64(1001)
	bob   = int64(1002)
	super = int64(-1000000000700)
)

// bubble is a gateway with Telegram's adapter on a fake Telegram, on a clock that the test owns: it stands still while
// anything is being done.
type bubble struct {
	*testing.T
	tg      *faketelegram.Server
	net     *adaptertest.Network
	adapter *telegram.Adapter
	gateway *gateway.Gateway
	db      *store.DB
	dir     string
	stop    func() // ends the gateway in order
}

// inBubble runs f with a gateway that serves. The model is a script.
func inBubble(t *testing.T, model script, f func(b *bubble), changes ...func(*gateway.Options)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bubble{T: t, dir: t.TempDir(), net: adaptertest.NewNetwork()}
		b.tg = faketelegram.New("4711:AAHfakeSecretOfTheBot_0123456789", "homing_bot")
		b.tg.Person(alice, "Alice")
		b.tg.Person(bob, "Bob")
		b.tg.Supergroup(super, "A supergroup")
		b.tg.Serve(b.net.Listen())
		defer b.tg.Close()
		b.serve(model, changes...)
		defer func() { b.stop() }()
		f(b)
	})
}

// serve begins a life of the gateway on what the store holds.
func (b *bubble) serve(model script, changes ...func(*gateway.Options)) {
	b.Helper()
	var err error
	if b.adapter, err = telegram.New(telegram.Options{Token: "4711:AAHfakeSecretOfTheBot_0123456789", APIURL: "http://telegram.test", Dial: b.net.Dial}); err != nil {
		b.Fatal(err)
	}
	if b.db, err = store.Open(filepath.Join(b.dir, "homing.db")); err != nil {
		b.Fatal(err)
	}
	processes, err := process.New(filepath.Join(b.dir, "processes"))
	if err != nil {
		b.Fatal(err)
	}
	folder, err := media.Open(filepath.Join(b.dir, "media"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = folder.Close() })
	o := gateway.Options{
		Media: folder,
		Store: b.db, Processes: processes, Log: zaptest.NewLogger(b),
		Profiles: []gateway.Profile{{
			Name: "default", Provider: model, Workspace: b.dir, SendTimeout: 30 * time.Second, PerPersonInGroups: true,
			Streaming: true, ToolProgress: gateway.ProgressNew, Steer: true,
			Policy: machine.Policy{
				InboxLimit: 100, MaxIterations: 10, ChildIterations: 10, MaxChildren: 3, MaxSpawnDepth: 1, MaxSummaryChars: 1000, MaxProcesses: 9,
				Delivery: delivery.Policy{MaxAttempts: 3, MinBackoff: time.Second, MaxBackoff: time.Second},
			},
		}},
		Accounts: []gateway.AccountOptions{{Adapter: b.adapter, Access: gateway.Access{AllowAll: true, Admins: []string{fmt.Sprint(alice)}}}},
	}
	for _, change := range changes {
		change(&o)
	}
	if b.gateway, err = gateway.New(o); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.gateway.Run(ctx, context.Background(), func() {}) }() // ends with cancel
	b.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			b.Errorf("the gateway ended: %v", err)
		}
		b.adapter.Close()
		processes.Close()
		_ = b.db.Close()
	})
	b.pass(0)
}

// pass lets time pass, and all be done that is due by then.
func (b *bubble) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (b *bubble) say(chatID, person int64, text string) int64 {
	if chatID < 0 {
		text = "@homing_bot " + text
	}
	n, _ := b.tg.Say(faketelegram.Post{Chat: chatID, From: person, Text: text})
	b.pass(0)
	return n
}

// sees holds what can be seen in a chat, the oldest first.
func (b *bubble) sees(chatID int64, want ...string) []faketelegram.Message {
	b.Helper()
	got := b.tg.Visible(chatID)
	texts := make([]string, len(got))
	for i, m := range got {
		texts[i] = m.Text
	}
	if strings.Join(texts, "\n---\n") != strings.Join(want, "\n---\n") {
		b.Errorf("seen: %q\nwant: %q", texts, want)
	}
	return got
}

// paced holds that no two changes in a chat came closer than that, and returns how many there were.
func (b *bubble) paced(chatID int64, least time.Duration) int {
	b.Helper()
	var last time.Time
	n := 0
	for _, c := range b.tg.Calls("editMessageText") {
		if c.Params["chat_id"] != fmt.Sprint(chatID) {
			continue
		}
		if d := c.At.Sub(last); d < least {
			b.Errorf("a change %s after the one before it, want at least %s", d, least)
		}
		last = c.At
		n++
	}
	return n
}

// script answers requests one after the other, each told by what its conversation holds last.
type script func(r agent.Request, last string) reply

// reply is an answer on its way: pieces of text at an even pace, or calls, or an error.
type reply struct {
	text  string
	over  time.Duration // how long the text takes
	after time.Duration // before its first piece
	calls []agent.Call
	err   error // in the place of the end
}

func (s script) Complete(ctx context.Context, r agent.Request, onText func(string)) (agent.Response, error) {
	a := s(r, r.Messages[len(r.Messages)-1].Text)
	wait := func(d time.Duration) bool {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return true
		case <-ctx.Done():
			return false
		}
	}
	if a.after > 0 && !wait(a.after) {
		return agent.Response{}, ctx.Err()
	}
	const pieces = 100
	runes := []rune(a.text)
	for i := range pieces {
		piece := string(runes[len(runes)*i/pieces : len(runes)*(i+1)/pieces])
		if onText != nil && piece != "" {
			onText(piece)
		}
		if a.over > 0 && !wait(a.over/pieces) {
			return agent.Response{}, ctx.Err()
		}
	}
	if a.err != nil {
		return agent.Response{}, a.err
	}
	return agent.Response{Text: a.text, Calls: a.calls}, nil
}
