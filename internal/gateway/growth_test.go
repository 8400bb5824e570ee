package gateway_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/gateway"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
	"github.com/homing-gateway/homing/internal/store"
)

// idle writes conversations of other chats in which nothing goes on.
func idle(t *testing.T, db *store.DB, account chat.Account, n int) {
	t.Helper()
	ids, now := id.NewSource(nil), time.Now()
	var changes []machine.Change
	for i := range n {
		key := chat.KeyOf(chat.Address{Account: account, Type: chat.Direct, Chat: fmt.Sprint("idle", i), Person: "1"}, chat.Keying{})
		s := session.Session{ID: id.Session(ids.New(id.PrefixSession, now)), Profile: "default", Kind: session.Chat, Key: key, Title: "idle", CreatedAt: now, ActiveAt: now}
		changes = append(changes,
			machine.Change{Table: machine.Sessions, Key: string(s.ID), Value: s},
			machine.Change{Table: machine.Routes, Key: string(key), Value: session.Route{Key: key, Current: s.ID, Version: 1}},
			machine.Change{Table: machine.Lanes, Key: string(s.ID), Value: machine.Lane{Session: s.ID, Turns: 1, Entries: 2, LastEntry: machine.EntryAssistant}})
		for seq := uint64(1); seq <= 2; seq++ {
			changes = append(changes, machine.Change{Table: machine.Entries, Key: machine.EntryKey(s.ID, seq), Value: machine.Entry{Session: s.ID, Seq: seq, Kind: machine.EntryUser, Content: "hello"}})
		}
	}
	if err := db.Commit(changes); err != nil {
		t.Fatal(err)
	}
}

// What a conversation costs does not grow with those that are idle: neither a goroutine for each of them, nor a look at
// them at every step.
func TestIdleConversationsCostNothing(t *testing.T) {
	defer goleak.VerifyNone(t)
	cost := func(conversations int) (goroutines int, looked uint64) {
		p := newPlace()
		_, db, end := serve(t, p, echo{}, func(o *gateway.Options) { idle(t, o.Store, p.account, conversations) })
		defer end()
		p.say(t, "1", "busy", "first")
		next(t, p)
		before := db.Looked()
		p.say(t, "2", "busy", "second")
		next(t, p)
		return runtime.NumGoroutine(), db.Looked() - before
	}
	fewRun, fewLooked := cost(10)
	manyRun, manyLooked := cost(10_000)
	if manyRun > fewRun+10 {
		t.Errorf("%d goroutines with 10 idle conversations, %d with 10,000", fewRun, manyRun)
	}
	if manyLooked != fewLooked || manyLooked == 0 {
		t.Errorf("a step looks at %d records beside 10 idle conversations, at %d beside 10,000", fewLooked, manyLooked)
	}
}
