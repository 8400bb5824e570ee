package store_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
	"github.com/homing-gateway/homing/internal/store"
)

// crash copies a store as the disk holds it at this moment, as if its process had ended without a word.
func crash(t interface{ Fatal(...any) }, path, to string) {
	for _, tail := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + tail)
		if err == nil {
			err = os.WriteFile(to+tail, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Whatever is written, folded, closed and opened again, or not closed, in whatever order and however short the log is: every read
// says what a plain map says.
func TestLogAndTablesReadAsOne(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		path := filepath.Join(dir, fmt.Sprint(n, ".db"))
		reopen := func() *store.DB {
			longest := 4096 << rapid.IntRange(0, 5).Draw(t, "length of the log")
			db, err := store.OpenWithin(path, min(longest, 8192), longest, rapid.IntRange(1, 9000).Draw(t, "fold at"))
			if err != nil {
				t.Fatal(err)
			}
			return db
		}
		db := reopen()
		defer func() { _ = db.Close() }()
		live, over, entries := map[string]string{}, map[string]string{}, map[string]string{}
		var seq uint64
		for range rapid.IntRange(1, 40).Draw(t, "commits") {
			var changes []machine.Change
			for range rapid.IntRange(1, 6).Draw(t, "changes") {
				key := fmt.Sprintf("ses_%02d", rapid.IntRange(0, 11).Draw(t, "key"))
				word := rapid.StringMatching(`[a-z]{1,40}`).Draw(t, "word")
				seq++
				switch rapid.IntRange(0, 4).Draw(t, "kind") {
				case 0:
					changes = append(changes, machine.Change{Table: machine.Turns, Key: key, Value: machine.Turn{ID: id.Turn(key), Detail: word}})
					live[key] = word
				case 1:
					changes = append(changes, machine.Change{Table: machine.Turns, Key: key})
					delete(live, key)
				case 2:
					changes = append(changes, machine.Change{Table: machine.Turns.Done(), Key: key, Value: &machine.Turn{ID: id.Turn(key), Detail: word}})
					over[key] = word
				case 3:
					k := machine.EntryKey(id.Session(key), seq%17)
					changes = append(changes, machine.Change{Table: machine.Entries, Key: k, Value: machine.Entry{Session: id.Session(key), Seq: seq % 17, Content: word}})
					entries[k] = word
				case 4:
					changes = append(changes, machine.Change{Table: machine.Journal, Key: machine.SeqKey(seq), Value: []machine.Record{{Seq: seq, Kind: "x"}}})
				}
			}
			if err := db.Commit(changes); err != nil {
				t.Fatal(err)
			}
			switch rapid.IntRange(0, 8).Draw(t, "reopen") {
			case 0:
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				db = reopen()
			case 1:
				was := path
				n++
				path = filepath.Join(dir, fmt.Sprint(n, ".db"))
				if db.Settle() != nil {
					t.Fatal("it does not fold")
				}
				crash(t, was, path)
				_ = db.Close()
				db = reopen()
			}
			readsAre(t, db, live, over, entries)
		}
	})
}

func readsAre(t *rapid.T, db *store.DB, live, over, entries map[string]string) {
	told := func(list []machine.Turn) (out []string) {
		for _, x := range list {
			out = append(out, string(x.ID)+x.Detail)
		}
		return out
	}
	listed := func(m map[string]string, keys []string) (out []string) {
		for _, k := range keys {
			out = append(out, k+m[k])
		}
		return out
	}
	check := func(what string, got, want any, err error) {
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Fatalf("%s: %v %s", what, err, d)
		}
	}
	all, err := store.Each[machine.Turn](db, machine.Turns, "", nil)
	check("each", told(all), listed(live, slices.Sorted(maps.Keys(live))), err)
	some, err := store.Each[machine.Turn](db, machine.Turns, "ses_0", nil)
	tens := slices.DeleteFunc(slices.Sorted(maps.Keys(live)), func(k string) bool { return !strings.HasPrefix(k, "ses_0") })
	check("each with a prefix", told(some), listed(live, tens), err)
	check("count", db.Count(machine.Turns), len(live), nil)
	down := slices.Sorted(maps.Keys(over))
	slices.Reverse(down)
	latest, err := store.Latest(db, machine.Turns.Done(), "ses_", 3, 100, func(machine.Turn) bool { return true })
	check("latest", told(latest), listed(over, down[:min(3, len(down))]), err)
	for n := range 12 {
		key := fmt.Sprintf("ses_%02d", n)
		got, found, err := store.Get[machine.Turn](db, machine.Turns, key)
		want, ok := live[key]
		if !ok {
			want, ok = over[key]
		}
		check("get "+key, []any{got.Detail, found}, []any{want, ok}, err)
		list, err := db.Entries(id.Session(key), 5)
		var said, wanted []string
		for _, e := range list {
			said = append(said, e.Content)
		}
		for _, k := range slices.Sorted(maps.Keys(entries)) {
			if strings.HasPrefix(k, key+"\x00") && k >= machine.EntryKey(id.Session(key), 5) {
				wanted = append(wanted, entries[k])
			}
		}
		check("entries of "+key, said, wanted, err)
	}
}

// The journal is read line by line, from any line on, wherever its blocks begin.
func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "homing.db")
	db := open(t, path)
	db.FoldAt(400)
	seq := uint64(0)
	for block := range 30 {
		var lines []machine.Record
		for range block%4 + 1 {
			seq++
			lines = append(lines, machine.Record{Seq: seq, Kind: "turn", At: noon})
		}
		if err := db.Commit([]machine.Change{{Table: machine.Journal, Key: machine.SeqKey(lines[0].Seq), Value: lines}}); err != nil {
			t.Fatal(err)
		}
	}
	for from := uint64(1); from <= seq; from++ {
		got, err := db.Journal(from, 5)
		if err != nil || len(got) != min(5, int(seq-from)+1) {
			t.Fatalf("from %d: %d lines, %v", from, len(got), err)
		}
		for i, r := range got {
			if r.Seq != from+uint64(i) || r.Kind != "turn" {
				t.Fatalf("from %d: line %d is %+v", from, i, r)
			}
		}
	}
}

// Readers that go on while the log is folded miss nothing: what was committed once is always there, and never older.
func TestReadersWhileTheLogIsFolded(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "homing.db"))
	db.FoldAt(2000)
	put := func(n int) error {
		s := aSession(1)
		s.Epoch = uint64(n)
		return db.Commit([]machine.Change{{Table: machine.Sessions, Key: "ses_1", Value: s}})
	}
	if err := put(1); err != nil {
		t.Fatal(err)
	}
	var committed atomic.Int64
	committed.Store(1)
	whileRead(t, func() error {
		least := committed.Load()
		s, ok, err := store.Get[session.Session](db, machine.Sessions, "ses_1")
		if err == nil && (!ok || int64(s.Epoch) < least) {
			err = fmt.Errorf("committed is %d, read is %d (there: %v)", least, s.Epoch, ok)
		}
		return err
	}, func() error {
		for n := 2; n < 300; n++ {
			if err := put(n); err != nil {
				return err
			}
			committed.Store(int64(n))
		}
		return nil
	})
	if err := db.Fold(); err != nil || db.Pending() != 0 {
		t.Errorf("%d bytes stay pending: %v", db.Pending(), err)
	}
}

// A record that moves between what lives and what is over, either way, is always found.
func TestReadersWhileARecordMoves(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "homing.db"))
	db.FoldAt(3000)
	move := func(n int) error {
		to, from := machine.Turns, machine.Turns.Done()
		if n%2 == 1 {
			to, from = from, to
		}
		return db.Commit([]machine.Change{{Table: from, Key: "trn_1"}, {Table: to, Key: "trn_1", Value: machine.Turn{ID: "trn_1"}}})
	}
	if err := move(0); err != nil {
		t.Fatal(err)
	}
	whileRead(t, func() error {
		if _, ok, err := store.Get[machine.Turn](db, machine.Turns, "trn_1"); err != nil || !ok {
			return errors.Join(err, errors.New("it is not found"))
		}
		if list, err := store.Ever[machine.Turn](db, machine.Turns, "", "", nil); err != nil || len(list) != 1 {
			return errors.Join(err, fmt.Errorf("it is there %d times", len(list)))
		}
		return nil
	}, func() error {
		for n := 1; n < 1500; n++ {
			if err := move(n); err != nil {
				return err
			}
		}
		return nil
	})
}

// whileRead lets three readers go on for as long as the writer does.
func whileRead(t *testing.T, read, write func() error) {
	t.Helper()
	var over atomic.Bool
	const readers = 3
	done := make(chan error, readers)
	for range readers {
		go func() {
			for !over.Load() {
				if err := read(); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	if err := write(); err != nil {
		t.Error(err)
	}
	over.Store(true)
	for range readers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// What a commit takes can be folded and read again; what no table can hold is refused before it is durable, and the store
// goes on.
func TestCommitTakesOnlyWhatItCanFold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "homing.db")
	db := open(t, path)
	for _, tt := range []struct {
		table machine.Table
		key   int
		taken bool
	}{
		{machine.Marks, 1, true},
		{machine.Marks, bbolt.MaxKeySize, true},
		{machine.Marks, 0, false},
		{machine.Marks, bbolt.MaxKeySize + 1, false},
		{machine.Marks, 1<<16 + 1, false},
		{"nothing", 1, false},
	} {
		err := db.Commit([]machine.Change{{Table: tt.table, Key: strings.Repeat("k", tt.key), Value: machine.Mark{Event: "e"}}})
		if (err == nil) != tt.taken {
			t.Errorf("a key of %d bytes for %s: %v", tt.key, tt.table, err)
		}
	}
	db.FoldAt(1)
	for range 2 { // the first one folds
		if err := db.Commit([]machine.Change{{Table: machine.Sessions, Key: "ses_1", Value: aSession(1)}}); err != nil {
			t.Fatal(err)
		}
	}
	_ = db.Close()
	if n := open(t, path).Count(machine.Marks); n != 2 {
		t.Errorf("%d marks are there, want 2", n)
	}
}
