package view_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
	"github.com/homing-gateway/homing/internal/view"
)

// history commits what other places have lived through: n conversations with a turn, a result and a message each, and so many
// lines of the journal for each of them. Keys are in the order of time, from that time on.
func (w *world) history(began time.Time, n, lines int) {
	w.Helper()
	ids := id.NewSource(nil)
	var batch []machine.Change
	put := func(t machine.Table, key string, v any) {
		batch = append(batch, machine.Change{Table: t, Key: key, Value: v})
	}
	flush := func() {
		w.Helper()
		if err := w.db.Commit(batch); err != nil {
			w.Fatal(err)
		}
		batch = batch[:0]
	}
	for i := range n {
		at := began.Add(time.Duration(i) * time.Millisecond)
		key := keyOf(chat.Address{Account: home.Account, Type: chat.Direct, Chat: fmt.Sprint(5000 + i)})
		s := session.Session{ID: id.Session(ids.New(id.PrefixSession, at)), Profile: "default", Kind: session.Chat, Key: key, Title: "of somebody else", CreatedAt: at, ActiveAt: at}
		t := machine.Turn{ID: id.Turn(ids.New(id.PrefixTurn, at)), Session: s.ID, State: machine.TurnCompleted, CreatedAt: at, EndedAt: at}
		c := delivery.Completion{ID: id.Completion(ids.New(id.PrefixCompletion, at)), Kind: delivery.Process, State: delivery.Done, Owner: s.ID, CreatedAt: at}
		m := delivery.Outgoing{ID: id.Outgoing(ids.New(id.PrefixOutgoing, at)), To: key.Address(), Session: s.ID, Turn: t.ID, State: delivery.Sent, CreatedAt: at}
		put(machine.Sessions, string(s.ID), s)
		put(machine.Places, machine.PlaceKey(key, s.ID), machine.Placed{})
		put(machine.Turns.Done(), string(t.ID), t)
		put(machine.Completions.Done(), string(c.ID), c)
		put(machine.Outgoings.Done(), string(m.ID), m)
		for range lines {
			w.lines++
			seq := 1_000_000 + w.lines // beyond what the machine writes
			put(machine.Journal, machine.SeqKey(seq), []machine.Record{{Seq: seq, Commit: seq, At: at, Kind: "turn", ID: string(t.ID), State: "running", Session: s.ID, Route: key}})
		}
		if len(batch) > 50_000 {
			flush()
		}
	}
	flush()
}

// lookups are what is asked for of one place, or of one id.
func (w *world) lookups(r research) map[string]func() error {
	key := keyOf(home)
	return map[string]func() error{
		"trace of the report":  func() error { _, err := view.TraceOf(w.db, string(r.report)); return err },
		"trace of the process": func() error { _, err := view.TraceOf(w.db, string(r.process)); return err },
		"/why":                 func() error { _, err := view.WhyText(w.db, key, w.now); return err },
		"/sessions":            func() error { _, err := view.SessionsText(w.db, key, false); return err },
		"/status":              func() error { _, err := view.StatusText(w.db, key, view.Facts{}); return err },
		"/undelivered":         func() error { _, err := view.UndeliveredText(w.db, key); return err },
	}
}

// What is looked up for one place or one id reads the same records, whatever other places have lived through, before it,
// meanwhile and since.
func TestLookupsDoNotGrowWithTheStore(t *testing.T) {
	w := newWorld(t)
	r := w.research(home)
	cost := func(ask func() error) uint64 {
		before := w.db.Looked()
		if err := ask(); err != nil {
			t.Fatal(err)
		}
		return w.db.Looked() - before
	}
	before := map[string]uint64{}
	for name, ask := range w.lookups(r) {
		before[name] = cost(ask)
	}
	w.history(w.now.Add(-time.Hour), 200, 10)
	w.history(w.now.Add(-10*time.Second), 200, 10)
	w.history(w.now.Add(time.Minute), 200, 10)
	for name, ask := range w.lookups(r) {
		if n := cost(ask); n != before[name] || n == 0 || n > 60 {
			t.Errorf("%s looks at %d records, before there was a history at %d", name, n, before[name])
		}
	}
	admin := func() error { _, err := view.SessionsText(w.db, keyOf(home), true); return err }
	if n := cost(admin); n > 600 {
		t.Errorf("/sessions of an admin looks at %d records", n)
	}
}

// BenchmarkTrace looks things up in a store of a million records: a quarter of them conversations with their turns, results
// and messages, the rest the journal.
func BenchmarkTrace(b *testing.B) {
	w := newWorld(b)
	w.history(w.now.Add(-time.Hour), 12_500, 15)
	r := w.research(home)
	w.history(w.now.Add(time.Minute), 37_500, 15)
	lines := w.db.Count(machine.Journal)
	for name, ask := range w.lookups(r) {
		b.Run(name, func(b *testing.B) {
			began := w.db.Looked()
			for b.Loop() {
				if err := ask(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(lines), "journal_lines")
			b.ReportMetric(float64(w.db.Looked()-began)/float64(b.N), "records/op")
		})
	}
}
