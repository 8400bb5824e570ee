package store_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
	"github.com/homing-gateway/homing/internal/store"
)

func open(t *testing.T, path string) *store.DB {
	t.Helper()
	db, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func aSession(n int) session.Session {
	return session.Session{
		ID: id.Session(fmt.Sprintf("ses_%026d", n)), Profile: "default", Kind: session.Chat, Key: "default:x:1:direct:7",
		Title: "first words", CreatedAt: noon, ActiveAt: noon, Epoch: 3,
	}
}

// What was committed is there after the file was closed and opened again, as it was.
func TestCommittedRecordsComeBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "homing.db")
	db := open(t, path)
	s := aSession(1)
	c := delivery.Completion{ID: "cmp_1", Kind: delivery.Process, State: delivery.Admitted, Owner: s.ID, Verdict: session.Verdict{
		Outcome: session.Deliver, Path: []session.Hop{{Session: s.ID, Epoch: 3}},
	}, CreatedAt: noon}
	done := delivery.Outgoing{ID: "out_1", To: chat.Address{Chat: "7"}, State: delivery.Sent, CreatedAt: noon, UpdatedAt: noon, QueuedAt: noon}
	if err := db.Commit([]machine.Change{
		{Table: machine.Sessions, Key: string(s.ID), Value: s},
		{Table: machine.Completions, Key: "cmp_1", Value: c},
		{Table: machine.Outgoings, Key: "out_1", Value: done},
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.Commit([]machine.Change{
		{Table: machine.Outgoings, Key: "out_1"},
		{Table: machine.Outgoings.Done(), Key: "out_1", Value: done},
	}); err != nil {
		t.Fatal(err)
	}
	_ = db.Close()

	db = open(t, path)
	got, ok, err := store.Get[session.Session](db, machine.Sessions, string(s.ID))
	if err != nil || !ok {
		t.Fatalf("session: %v, %v", ok, err)
	}
	if d := cmp.Diff(s, got); d != "" {
		t.Error(d)
	}
	back, _, err := store.Get[delivery.Completion](db, machine.Completions, "cmp_1")
	if d := cmp.Diff(c, back); d != "" || err != nil {
		t.Error(err, d)
	}
	if m, ok, _ := store.Get[delivery.Outgoing](db, machine.Outgoings, "out_1"); !ok || m.State != delivery.Sent {
		t.Errorf("what is over is still found by its id: %v %+v", ok, m)
	}
	if live, _ := store.Each[delivery.Outgoing](db, machine.Outgoings, "", nil); len(live) != 0 {
		t.Errorf("what is over still counts as living: %+v", live)
	}
}

// Entries of one session lie together and in order, whatever else is in the file.
func TestEntriesAreReadInOrder(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "homing.db"))
	var changes []machine.Change
	for n := range uint64(300) {
		for _, s := range []id.Session{"ses_A", "ses_AB", "ses_B"} {
			e := machine.Entry{Session: s, Seq: n + 1, Content: fmt.Sprintf("%s %d", s, n+1)}
			changes = append(changes, machine.Change{Table: machine.Entries, Key: machine.EntryKey(s, n+1), Value: e})
		}
	}
	if err := db.Commit(changes); err != nil {
		t.Fatal(err)
	}
	got, err := db.Entries("ses_A", 257)
	if err != nil || len(got) != 44 {
		t.Fatalf("%d entries from 257 on, want 44 (%v)", len(got), err)
	}
	for i, e := range got {
		if e.Seq != uint64(257+i) || e.Session != "ses_A" {
			t.Fatalf("entry %d is %s %d", i, e.Session, e.Seq)
		}
	}
}

// A copied transcript is the other one's in every word, under its own name; what can't be read stays so, in both.
func TestEntriesAreCopied(t *testing.T) {
	path := filepath.Join(t.TempDir(), "homing.db")
	db := open(t, path)
	var changes []machine.Change
	for n := range uint64(5) {
		e := machine.Entry{Session: "ses_A", Seq: n + 1, Content: fmt.Sprint(n + 1)}
		changes = append(changes, machine.Change{Table: machine.Entries, Key: machine.EntryKey("ses_A", n+1), Value: e})
	}
	changes = append(changes, machine.Change{Table: machine.Entries, Key: machine.EntryKey("ses_B", 0), Value: machine.Copy{From: "ses_A", To: "ses_B", Through: 4}})
	if err := db.Commit(changes); err != nil {
		t.Fatal(err)
	}
	got, err := db.Entries("ses_B", 1)
	if err != nil || len(got) != 4 {
		t.Fatalf("%d entries, want 4 (%v)", len(got), err)
	}
	for i, e := range got {
		if e.Session != "ses_B" || e.Seq != uint64(i+1) || e.Content != fmt.Sprint(i+1) {
			t.Errorf("entry %d is %+v", i+1, e)
		}
	}
	_ = db.Close()
	b, err := bbolt.Open(path, 0o600, nil)
	if err == nil {
		err = b.Update(func(tx *bbolt.Tx) error {
			for n := range uint64(5) { // as an older version wrote it, to its table
				value := fmt.Sprintf(`{"session":"ses_A","seq":%d,"content":"%d"}`, n+1, n+1)
				if n+1 == 2 {
					value = "{not json"
				}
				if err := tx.Bucket([]byte(machine.Entries)).Put([]byte(machine.EntryKey("ses_A", n+1)), []byte(value)); err != nil {
					return err
				}
			}
			return nil
		})
		_ = b.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	db = open(t, path)
	if err := db.Commit([]machine.Change{{Table: machine.Entries, Key: machine.EntryKey("ses_C", 0), Value: machine.Copy{From: "ses_A", To: "ses_C", Through: 5}}}); err != nil {
		t.Errorf("one unreadable entry ends the commit: %v", err)
	}
	if _, err := db.Entries("ses_C", 1); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("an unreadable entry: %v, want ErrDamaged", err)
	}
	if got, err := db.Entries("ses_C", 3); err != nil || len(got) != 3 {
		t.Errorf("after it: %d entries, %v", len(got), err)
	}
}

// A session that cannot be read is handed over as such; any other record that lives and cannot be read stops the start.
func TestUnreadableRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "homing.db")
	db := open(t, path)
	_ = db.Close()
	spoil := func(bucket, key string) {
		b, err := bbolt.Open(path, 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = b.Close() }()
		if err := b.Update(func(tx *bbolt.Tx) error { return tx.Bucket([]byte(bucket)).Put([]byte(key), []byte("{not json")) }); err != nil {
			t.Fatal(err)
		}
	}
	load := func() error {
		db, err := store.Open(path)
		if err != nil {
			return err
		}
		defer func() { _ = db.Close() }()
		return db.Load(machine.NewState(func(string) machine.Policy { return machine.Policy{} }, id.NewSource(nil)))
	}
	spoil("session", "ses_1")
	if err := load(); err != nil {
		t.Errorf("one unreadable session stops the start: %v", err)
	}
	spoil("turn", "trn_1")
	if err := load(); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("an unreadable turn: %v, want ErrDamaged", err)
	}
}

// a file that another process holds is told within seconds.
func TestOpenWhileHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "homing.db")
	held, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Close() }()
	if _, err := store.Open(path); !errors.Is(err, store.ErrInUse) {
		t.Errorf("open: %v, want ErrInUse", err)
	}
}

// A damaged file is an error and no panic, and stays as it is.
func TestDamagedFiles(t *testing.T) {
	dir := t.TempDir()
	sound := filepath.Join(dir, "sound.db")
	db := open(t, sound)
	var changes []machine.Change
	for n := range 500 {
		s := aSession(n)
		changes = append(changes, machine.Change{Table: machine.Sessions, Key: string(s.ID), Value: s})
	}
	if err := db.Commit(changes); err != nil {
		t.Fatal(err)
	}
	_ = db.Close()
	good, err := os.ReadFile(sound)
	if err != nil {
		t.Fatal(err)
	}
	page := store.PageSize
	bothMetas := bytes.Clone(good)
	for i := range 2 * page {
		bothMetas[i] ^= 0x5a
	}
	for name, content := range map[string][]byte{
		"both meta pages": bothMetas, "cut in the middle": good[:len(good)/2+100], "a few bytes": []byte("hello"), "one page": good[:page],
		"a page of zeroes": append(bytes.Clone(good[:3*page]), make([]byte, len(good)-3*page)...),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, "damaged.db")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			db, err := store.Open(path)
			if err == nil {
				err = db.Load(machine.NewState(func(string) machine.Policy { return machine.Policy{} }, id.NewSource(nil)))
				_ = db.Close()
			}
			if !errors.Is(err, store.ErrDamaged) {
				t.Errorf("%v, want ErrDamaged", err)
			}
			if now, _ := os.ReadFile(path); !bytes.Equal(now, content) {
				t.Error("the damaged file was changed")
			}
		})
	}
}

// A file of a newer version is not touched.
func TestNewerSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "homing.db")
	db := open(t, path)
	_ = db.Close()
	b, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Update(func(tx *bbolt.Tx) error { // whatever it says of its log
		return errors.Join(tx.Bucket([]byte("meta")).Put([]byte("schema"), []byte("99")), tx.Bucket([]byte("meta")).Put([]byte("log"), []byte("something new")))
	}); err != nil {
		t.Fatal(err)
	}
	_ = b.Close()
	for name, open := range map[string]func(string) (*store.DB, error){
		"open": store.Open, "open to read": store.OpenRead, "check": func(path string) (*store.DB, error) { _, err := store.Check(path); return nil, err },
	} {
		if _, err := open(path); !errors.Is(err, store.ErrNewer) || errors.Is(err, store.ErrDamaged) {
			t.Errorf("%s: %v, want ErrNewer", name, err)
		}
	}
}

// A reader finds no store without making one.
func TestReadWithoutStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "homing.db")
	if _, err := store.OpenRead(path); !errors.Is(err, store.ErrNoStore) {
		t.Errorf("%v, want ErrNoStore", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the reader made a store")
	}
}

// what was read stays as it is while the file is rewritten and its map grows.
func TestReadValuesOutliveTheTransaction(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "homing.db"))
	s := aSession(1)
	if err := db.Commit([]machine.Change{{Table: machine.Sessions, Key: string(s.ID), Value: s}}); err != nil {
		t.Fatal(err)
	}
	pending, _, err := store.Get[session.Session](db, machine.Sessions, string(s.ID))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Fold(); err != nil {
		t.Fatal(err)
	}
	folded, _, err := store.Get[session.Session](db, machine.Sessions, string(s.ID))
	if err != nil {
		t.Fatal(err)
	}
	db.FoldAt(100 << 10)
	for round := range 50 {
		var changes []machine.Change
		for n := range 200 {
			x := aSession(1000*round + n)
			x.Title = fmt.Sprintf("%0500d", n)
			changes = append(changes, machine.Change{Table: machine.Sessions, Key: string(x.ID), Value: x})
		}
		changes = append(changes, machine.Change{Table: machine.Sessions, Key: string(s.ID)})
		if err := db.Commit(changes); err != nil {
			t.Fatal(err)
		}
	}
	for _, got := range []session.Session{pending, folded} {
		if d := cmp.Diff(s, got); d != "" {
			t.Error(d)
		}
	}
}

// A store of schema 2, whose log stood in the file itself, is read as it is, and is brought up to date with all that it holds: what
// its log said last, and no more.
func TestSchema2IsBroughtUpToDate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "homing.db")
	f, err := os.Open("testdata/schema2.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	old, err := io.ReadAll(z)
	if err == nil {
		err = os.WriteFile(path, old, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	holds := func(what string, db *store.DB) {
		t.Helper()
		for n := range 20 {
			trn := fmt.Sprintf("trn_%02d", n)
			state := machine.TurnRunning
			if n < 15 {
				state = machine.TurnCompleted
			}
			if got, ok, err := store.Get[machine.Turn](db, machine.Turns, trn); err != nil || !ok || got.State != state {
				t.Errorf("%s: turn %d is %q (%v %v), want %q", what, n, got.State, ok, err, state)
			}
		}
		if n := db.Count(machine.Turns); n != 5 {
			t.Errorf("%s: %d turns live, want 5", what, n)
		}
		for n := range 7 {
			s, _, err := store.Get[session.Session](db, machine.Sessions, string(aSession(n).ID))
			said, err2 := db.Entries(aSession(n).ID, 1)
			last := n + 14
			if n > 5 {
				last = n + 7
			}
			if s.Epoch != uint64(last) || len(said) != last/7+1 || said[len(said)-1].Content != fmt.Sprint("said ", last) {
				t.Errorf("%s: session %d is of epoch %d and has %d entries (%v %v)", what, n, s.Epoch, len(said), err, err2)
			}
		}
		if lines, err := db.Journal(1, 100); err != nil || len(lines) != 40 {
			t.Errorf("%s: the journal has %d lines (%v), want 40", what, len(lines), err)
		}
	}
	db, err := store.OpenRead(path)
	if err != nil {
		t.Fatal(err)
	}
	holds("only read", db)
	copied := filepath.Join(t.TempDir(), "copy.db")
	to, err := os.Create(copied)
	if err == nil {
		_, err = db.CopyTo(to)
	}
	if err = errors.Join(err, to.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, old) {
		t.Errorf("it was changed by reading (%v)", err)
	}
	if meta, err := store.Check(copied); err != nil || meta.Commit != 20 {
		t.Errorf("the copy says of itself %+v, %v", meta, err)
	}
	db = open(t, copied)
	holds("copied", db)
	db = open(t, path)
	holds("opened", db)
	_ = db.Close()
	holds("opened again", open(t, path))
}

// A version that knows fewer tables was killed: the next one makes those that are missing, though the log goes on, and even if the
// log holds records for them already.
func TestNewTablesBesideALog(t *testing.T) {
	for _, there := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "homing.db")
		db := open(t, path)
		pause := func(n int) {
			t.Helper()
			if err := errors.Join(numbered(db, n, 10), db.Commit([]machine.Change{{Table: machine.Pauses, Key: fmt.Sprint(n), Value: machine.Pause{}}})); err != nil {
				t.Fatal(err)
			}
		}
		if err := numbered(db, 1, 10); err != nil {
			t.Fatal(err)
		}
		if there {
			pause(2)
		}
		killed := filepath.Join(t.TempDir(), "homing.db")
		crash(t, path, killed)
		tables, err := bbolt.Open(killed, 0o600, nil)
		if err == nil {
			err = errors.Join(tables.Update(func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte(machine.Pauses)) }), tables.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		was := epoch(t, db)
		db = open(t, killed)
		if got := epoch(t, db); got != was {
			t.Errorf("the last batch is %d, want %d", got, was)
		}
		pause(was + 1)
		crash(t, killed, path+".again")
		if err := db.Fold(); err != nil {
			t.Fatal(err)
		}
		db = open(t, path+".again")
		if got := epoch(t, db); got != was+1 {
			t.Errorf("after another crash, the last batch is %d, want %d", got, was+1)
		}
		if n := db.Count(machine.Pauses); n != was {
			t.Errorf("%d pauses are there, want %d", n, was)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A file of an older layout is brought up to date: each place gets the list of its conversations.
func TestOlderSchemaIsBroughtUpToDate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "homing.db")
	db := open(t, path)
	s, child := aSession(1), aSession(2)
	child.Kind, child.Key = session.Subagent, ""
	_ = db.Close()
	b, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Update(func(tx *bbolt.Tx) error { // as version 1 left it, with a session that cannot be read
		sessions := tx.Bucket([]byte(machine.Sessions))
		for _, x := range []session.Session{s, child} {
			v, err := json.Marshal(x)
			if err := errors.Join(err, sessions.Put([]byte(x.ID), v)); err != nil {
				return err
			}
		}
		return errors.Join(sessions.Put([]byte("ses_x"), []byte("{")), tx.DeleteBucket([]byte(machine.Places)),
			tx.Bucket([]byte("meta")).Put([]byte("schema"), []byte("1")))
	}); err != nil {
		t.Fatal(err)
	}
	_ = b.Close()
	keys, err := open(t, path).Keys(machine.Places, "", 10)
	if d := cmp.Diff([]string{machine.PlaceKey(s.Key, s.ID)}, keys); d != "" || err != nil {
		t.Error(err, d)
	}
}

// What is looked for from some moment on, or from the end, is found without looking at the rest.
func TestReadsAreBounded(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "homing.db"))
	var changes []machine.Change
	for n := range 100 {
		s := aSession(n)
		e := machine.Entry{Session: "ses_1", Seq: uint64(n + 1)}
		changes = append(changes, machine.Change{Table: machine.Sessions, Key: string(s.ID), Value: s},
			machine.Change{Table: machine.Sessions, Key: fmt.Sprintf("sub_%026d", n), Value: s},
			machine.Change{Table: machine.Entries, Key: machine.EntryKey(e.Session, e.Seq), Value: e})
	}
	if err := db.Commit(changes); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		read func() (int, error)
		want int
		cost uint64
	}{
		"since": {func() (int, error) {
			got, err := store.Since[session.Session](db, machine.Sessions, "ses_", string(aSession(95).ID), nil)
			return len(got), err
		}, 5, 5},
		"the latest of a prefix": {func() (int, error) {
			got, err := store.Latest(db, machine.Sessions, "ses_", 3, 10, func(s session.Session) bool { return s.ID.IsSubagent() || s.ID > "ses_" })
			if len(got) > 0 && got[0].ID != aSession(99).ID {
				err = fmt.Errorf("the first is %s", got[0].ID)
			}
			return len(got), err
		}, 3, 3},
		"the latest of the last prefix": {func() (int, error) {
			got, err := store.Latest(db, machine.Sessions, "sub_", 200, 10, func(session.Session) bool { return true })
			return len(got), err
		}, 10, 10},
		"some entries": {func() (int, error) { got, err := db.SomeEntries("ses_1", 50, 7); return len(got), err }, 7, 7},
	} {
		before := db.Looked()
		if n, err := tt.read(); err != nil || n != tt.want || db.Looked()-before != tt.cost {
			t.Errorf("%s: %d records (%v), want %d; looked at %d, want %d", name, n, err, tt.want, db.Looked()-before, tt.cost)
		}
	}
}
