package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
	"github.com/homing-gateway/homing/internal/store"
)

// spool keeps a copy in a file, as a client does.
func spool(t *testing.T, db *store.DB) string {
	t.Helper()
	f, err := db.Spool()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(f); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "copy.db")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A copy that is made while the writer goes on is the state of one commit: each commit here gives two sessions the same
// title, far apart in the file, and turns over a lot of pages.
func TestCopyIsTheStateOfOneCommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "homing.db")
	db := open(t, path)
	var over atomic.Bool
	var commits atomic.Int64
	written := make(chan error, 1)
	commit := func(n int64) error {
		a, b := aSession(1), aSession(999)
		a.Title, b.Title = fmt.Sprint(n), fmt.Sprint(n)
		changes := []machine.Change{
			{Table: machine.Metas, Key: "meta", Value: machine.Meta{Commit: uint64(n)}},
			{Table: machine.Sessions, Key: string(a.ID), Value: a},
			{Table: machine.Sessions, Key: string(b.ID), Value: b},
		}
		for i := range 200 {
			s := aSession(100 + i)
			s.Title = strings.Repeat(fmt.Sprint(n%10), 500)
			changes = append(changes, machine.Change{Table: machine.Sessions, Key: string(s.ID), Value: s})
		}
		return db.Commit(changes)
	}
	if err := commit(0); err != nil {
		t.Fatal(err)
	}
	go func() {
		var err error
		for !over.Load() && err == nil {
			err = commit(commits.Add(1))
		}
		written <- err
	}()
	for range 10 {
		before := commits.Load()
		for commits.Load() < before+3 { // the writer is at work
			if len(written) > 0 {
				t.Fatal(<-written)
			}
		}
		kept := spool(t, db)
		meta, err := store.Check(kept)
		if err != nil {
			t.Fatal(err)
		}
		c, err := store.OpenRead(kept)
		if err != nil {
			t.Fatal(err)
		}
		a, _, _ := store.Get[session.Session](c, machine.Sessions, string(aSession(1).ID))
		b, _, _ := store.Get[session.Session](c, machine.Sessions, string(aSession(999).ID))
		if meta.Commit < uint64(before+3)-1 {
			t.Errorf("the copy is of commit %d, but %d was committed before", meta.Commit, before+2)
		}
		if want := fmt.Sprint(meta.Commit); a.Title != want || b.Title != want {
			t.Errorf("in the copy of commit %s are %s and %s", want, a.Title, b.Title)
		}
		_ = c.Close()
	}
	over.Store(true)
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	if n := db.OpenReads(); n != 0 {
		t.Errorf("%d read transactions are left", n)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".backup*")); left != nil {
		t.Errorf("%v is left", left)
	}
}

// A file that a daemon could not start on is told apart, and is not changed by looking at it.
func TestCheck(t *testing.T) {
	good := func(t *testing.T) string {
		db := open(t, filepath.Join(t.TempDir(), "homing.db"))
		changes := []machine.Change{{Table: machine.Metas, Key: "meta", Value: machine.Meta{Commit: 7, At: noon}}}
		for n := range 3000 {
			changes = append(changes, machine.Change{Table: machine.Outgoings, Key: fmt.Sprintf("out_%05d", n), Value: delivery.Outgoing{Text: strings.Repeat("x", 200)}})
		}
		if err := db.Commit(changes); err != nil {
			t.Fatal(err)
		}
		return spool(t, db)
	}
	put := func(bucket, key, value string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			b, err := bbolt.Open(path, 0o600, nil)
			if err == nil {
				err = b.Update(func(tx *bbolt.Tx) error {
					bucket, err := tx.CreateBucketIfNotExists([]byte(bucket))
					if err != nil {
						return err
					}
					return bucket.Put([]byte(key), []byte(value))
				})
				err = errors.Join(err, b.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	cut := func(to func(size int64) int64) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			st, err := os.Stat(path)
			if err == nil {
				err = os.Truncate(path, to(st.Size()))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, x := range map[string]struct {
		spoil func(*testing.T, string)
		want  error
	}{
		"good":              {func(*testing.T, string) {}, nil},
		"empty":             {cut(func(int64) int64 { return 0 }), store.ErrDamaged},
		"cut in half":       {cut(func(n int64) int64 { return n / 2 }), store.ErrDamaged},
		"last byte gone":    {cut(func(n int64) int64 { return n - 1 }), store.ErrDamaged},
		"last page gone":    {cut(func(n int64) int64 { return n - store.PageSize }), store.ErrDamaged},
		"unreadable":        {put("outgoing", "out_1", "{not json"), store.ErrDamaged},
		"newer":             {put("meta", "schema", "99"), store.ErrNewer},
		"schema unheard-of": {put("meta", "schema", "x"), store.ErrDamaged},
		"somebody else's": {func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			put("things", "a", "b")(t, path)
		}, store.ErrDamaged},
		"no store at all": {func(t *testing.T, path string) {
			if err := os.WriteFile(path, bytes.Repeat([]byte("junk"), 1<<13), 0o600); err != nil {
				t.Fatal(err)
			}
		}, store.ErrDamaged},
		"missing":  {func(t *testing.T, path string) { _ = os.Remove(path) }, os.ErrNotExist},
		"a folder": {func(t *testing.T, path string) { _ = os.Remove(path); _ = os.Mkdir(path, 0o700) }, store.ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			path := good(t)
			x.spoil(t, path)
			before, _ := os.ReadFile(path)
			meta, err := store.Check(path)
			if !errors.Is(err, x.want) {
				t.Fatalf("got %v, want %v", err, x.want)
			}
			if x.want == nil && (meta.Commit != 7 || !meta.At.Equal(noon)) {
				t.Errorf("it says of itself %+v", meta)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("it was changed")
			}
			if err := store.MarkRestored(path); !errors.Is(err, x.want) {
				t.Errorf("marked: %v, want %v", err, x.want)
			}
			if x.want != nil {
				return
			}
			if meta, err := store.Check(path); err != nil || !meta.Restored || meta.Commit != 7 || !meta.At.Equal(noon) {
				t.Errorf("after the mark it says %+v, %v", meta, err)
			}
		})
	}
}
