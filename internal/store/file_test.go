package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
	"github.com/homing-gateway/homing/internal/store"
)

// numbered commits that session 1 is of epoch n, with so many bytes beside it.
func numbered(db *store.DB, n, size int) error {
	s := aSession(1)
	s.Epoch, s.Title = uint64(n), strings.Repeat("x", size)
	return db.Commit([]machine.Change{
		{Table: machine.Sessions, Key: "ses_1", Value: s},
		{Table: machine.Outgoings.Done(), Key: fmt.Sprintf("out_%05d", n), Value: delivery.Outgoing{ID: "out", Text: s.Title}},
	})
}

// epoch is the latest that the store knows; 0: none.
func epoch(t *testing.T, db *store.DB) int {
	t.Helper()
	s, _, err := store.Get[session.Session](db, machine.Sessions, "ses_1")
	if err != nil {
		t.Fatal(err)
	}
	if n := db.Count(machine.Outgoings.Done()); n != int(s.Epoch) {
		t.Errorf("%d batches are there, the last is %d", n, s.Epoch)
	}
	return int(s.Epoch)
}

// crashed is a store whose process died after five batches, of which the tables hold the first two. ends says where in the log
// each of the others begins, and where the last one ends.
func crashed(t *testing.T) (path string, ends []int) {
	t.Helper()
	db := open(t, filepath.Join(t.TempDir(), "homing.db"))
	sizes := []int{10, 5000, 10, 9000, 3000}
	at := 0
	for i, size := range sizes {
		if i == 2 {
			if err := db.Fold(); err != nil {
				t.Fatal(err)
			}
		}
		if i >= 2 {
			ends = append(ends, at)
		}
		if err := numbered(db, i+1, size); err != nil {
			t.Fatal(err)
		}
		at = db.LogEnd()
	}
	path = filepath.Join(t.TempDir(), "homing.db")
	crash(t, db.Path(), path)
	return path, append(ends, at)
}

// What was committed is there after the process died, and was once only. The store goes on.
func TestLogIsReadAfterACrash(t *testing.T) {
	path, _ := crashed(t)
	for n := 5; n < 9; n++ {
		db := open(t, path)
		if got := epoch(t, db); got != n {
			t.Fatalf("the last batch is %d, want %d", got, n)
		}
		if err := numbered(db, n+1, 100); err != nil {
			t.Fatal(err)
		}
		next := filepath.Join(t.TempDir(), "homing.db")
		crash(t, path, next)
		path = next
	}
}

// A store that was closed is one file, which holds everything.
func TestClosedStoreNeedsNoLog(t *testing.T) {
	path, _ := crashed(t)
	db := open(t, path)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(path + "-*"); left != nil {
		t.Errorf("%v is left", left)
	}
	if _, err := store.Check(path); err != nil {
		t.Error(err)
	}
	if got := epoch(t, open(t, path)); got != 5 {
		t.Errorf("the last batch is %d, want 5", got)
	}
}

// A store that goes from hand to hand is found sound by each, has a log as long as it is open, and loses nothing.
func TestStoreFromHandToHand(t *testing.T) {
	path := filepath.Join(t.TempDir(), "homing.db")
	const rounds = 40
	turn := func() error {
		db, err := store.Open(path)
		for errors.Is(err, store.ErrInUse) {
			db, err = store.Open(path)
		}
		if err != nil {
			return err
		}
		s, _, err := store.Get[session.Session](db, machine.Sessions, "ses_1")
		if err == nil {
			err = numbered(db, int(s.Epoch)+1, 10)
		}
		if err == nil {
			_, err = os.Stat(path + "-wal")
		}
		return errors.Join(err, db.Close())
	}
	done := make(chan error)
	for range 2 {
		go func() {
			var err error
			for range rounds {
				err = errors.Join(err, turn())
			}
			done <- err
		}()
	}
	if err := errors.Join(<-done, <-done); err != nil {
		t.Error(err)
	}
	if got := epoch(t, open(t, path)); got != 2*rounds {
		t.Errorf("the last batch is %d, want %d", got, 2*rounds)
	}
}

// The last batch may be on the disk in part when the power fails: then it was acknowledged to nobody, and is dropped. Whatever part
// it is, and whatever stood there before.
func TestTornBatchIsDropped(t *testing.T) {
	path, ends := crashed(t)
	whole, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	for cut := ends[2]; cut <= ends[3]; cut += 97 {
		for name, before := range map[string]byte{"nothing": 0, "something": 0xa5} {
			b := bytes.Clone(whole)
			for i := cut; i < len(b); i++ {
				b[i] = before
			}
			if err := os.WriteFile(path+"-wal", b, 0o600); err != nil {
				t.Fatal(err)
			}
			db, err := store.OpenRead(path)
			if err != nil {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			if got := epoch(t, db); got != 4 && (got != 5 || cut <= ends[3]-4096) {
				t.Errorf("after a cut at %d of [%d, %d) the last batch is %d, want 4 (over %s)", cut, ends[2], ends[3], got, name)
			}
			_ = db.Close()
		}
	}
	// What comes next takes its place, and is not taken for it.
	db := open(t, path)
	if err := numbered(db, 5, 20); err != nil {
		t.Fatal(err)
	}
	next := filepath.Join(t.TempDir(), "homing.db")
	crash(t, path, next)
	if s, _, _ := store.Get[session.Session](open(t, next), machine.Sessions, "ses_1"); len(s.Title) != 20 {
		t.Errorf("the batch after it is not there: %+v", s)
	}
}

// A log that can't be what was acknowledged is damage: it is told, by whoever opens it, and both files stay as they are.
func TestDamagedLog(t *testing.T) {
	path, ends := crashed(t)
	log := path + "-wal"
	for name, spoil := range map[string]func(b []byte) []byte{
		"a bit of a batch that another came after": func(b []byte) []byte { b[ends[1]+5000] ^= 1; return b },
		"its length":     func(b []byte) []byte { b[ends[0]+6] ^= 0x10; return b },
		"its number":     func(b []byte) []byte { b[ends[0]+23] ^= 0x40; return b },
		"a block of it":  func(b []byte) []byte { clear(b[ends[1] : ends[1]+4096]); return b },
		"cut":            func(b []byte) []byte { return b[:ends[3]] },
		"a byte shorter": func(b []byte) []byte { return b[:len(b)-1] },
		"empty":          func([]byte) []byte { return nil },
		"missing":        nil,
	} {
		good, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		if spoil == nil {
			err = os.Remove(log)
		} else {
			err = os.WriteFile(log, spoil(bytes.Clone(good)), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		isDamaged(t, name, path)
		if err := os.WriteFile(log, good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := epoch(t, open(t, path)); got != 5 {
		t.Errorf("once both are whole again, the last batch is %d, want 5", got)
	}
}

// A file that is older than its log is told from one that is not.
func TestFileOlderThanItsLog(t *testing.T) {
	dir := t.TempDir()
	path, kept := filepath.Join(dir, "homing.db"), filepath.Join(dir, "kept.db")
	db, err := store.OpenWithin(path, 32<<10, 32<<10, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for n := range 30 {
		if n == 3 {
			if err := db.Settle(); err != nil {
				t.Fatal(err)
			}
			crash(t, path, kept)
		}
		if err := numbered(db, n+1, 10); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Settle(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path + "-wal")
	if err == nil {
		err = os.WriteFile(kept+"-wal", b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	isDamaged(t, "the log went on", kept)
}

func isDamaged(t *testing.T, name, path string) {
	t.Helper()
	before, _ := os.ReadFile(path)
	log, _ := os.ReadFile(path + "-wal")
	for how, open := range map[string]func(string) (*store.DB, error){
		"opened": store.Open, "only read": store.OpenRead, "checked": func(path string) (*store.DB, error) { _, err := store.Check(path); return nil, err },
	} {
		if _, err := open(path); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%s, %s: %v, want ErrDamaged", name, how, err)
		}
	}
	if now, _ := os.ReadFile(path); !bytes.Equal(now, before) {
		t.Errorf("%s: the file was changed", name)
	}
	if now, _ := os.ReadFile(path + "-wal"); !bytes.Equal(now, log) {
		t.Errorf("%s: the log was changed", name)
	}
}

// A log that no store expects is another one's: it is not read, and is kept.
func TestLogOfAnother(t *testing.T) {
	path, _ := crashed(t)
	log, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	fresh := filepath.Join(t.TempDir(), "homing.db")
	if err := os.WriteFile(fresh+"-wal", log, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := epoch(t, open(t, fresh)); got != 0 {
		t.Errorf("batch %d of another store is in it", got)
	}
	if kept, err := os.ReadFile(fresh + "-wal.old"); err != nil || !bytes.Equal(kept, log) {
		t.Errorf("the other one is not kept: %v", err)
	}
}

// A store beside which another one's log stands is told from one whose log holds nothing: what was acknowledged is elsewhere. It is
// left as it is, and goes on once its own is back.
func TestLogWasExchanged(t *testing.T) {
	path, _ := crashed(t)
	young := filepath.Join(t.TempDir(), "homing.db")
	crash(t, open(t, filepath.Join(t.TempDir(), "homing.db")).Path(), young) // killed before its first commit
	stores := map[string]struct {
		path string
		last int
	}{"folded": {path, 5}, "young": {young, 0}}
	for name, s := range stores {
		own, err := os.ReadFile(s.path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		other := filepath.Join(t.TempDir(), "homing.db")
		db := open(t, other)
		if err := numbered(db, 1, 10); err != nil {
			t.Fatal(err)
		}
		logs := map[string][]byte{"zeros": make([]byte, len(own))}
		if logs["another store's"], err = os.ReadFile(other + "-wal"); err != nil {
			t.Fatal(err)
		}
		for what, log := range logs {
			if err := os.WriteFile(s.path+"-wal", log, 0o600); err != nil {
				t.Fatal(err)
			}
			isDamaged(t, name+", "+what, s.path)
		}
		if err := os.WriteFile(s.path+"-wal", own, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := epoch(t, open(t, s.path)); got != s.last {
			t.Errorf("%s: with its own log again, the last batch is %d, want %d", name, got, s.last)
		}
	}
}

// A batch for which there is no space is refused whole, in whatever part of the log it fails, and the store goes on. The same batch
// is taken once there is space.
func TestNoSpaceInTheLog(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	path := filepath.Join(t.TempDir(), "homing.db")
	db := open(t, path)
	for n := range 10 {
		log := db.LogFile(full)
		if err := numbered(db, n+1, 700*n); !errors.Is(err, machine.ErrNoSpace) {
			t.Errorf("commit: %v, want ErrNoSpace", err)
		}
		if got := epoch(t, db); got != n {
			t.Errorf("batch %d is in it, %d was refused", got, n+1)
		}
		db.LogFile(log)
		if err := numbered(db, n+1, 700*n); err != nil {
			t.Fatal(err)
		}
	}
	next := filepath.Join(t.TempDir(), "homing.db")
	crash(t, path, next)
	if got := epoch(t, open(t, next)); got != 10 {
		t.Errorf("the last batch is %d, want 10", got)
	}
}

// After a write or a sync that failed for any other reason nobody knows what is on the disk: no later commit succeeds, and nothing is
// folded.
func TestFailedCommitEndsTheStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "homing.db")
	db := open(t, path)
	if err := numbered(db, 1, 10); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe() // it takes no writes at an offset
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	log := db.LogFile(w)
	if err := numbered(db, 2, 10); err == nil || errors.Is(err, machine.ErrNoSpace) {
		t.Errorf("a failed write: %v", err)
	}
	db.LogFile(log)
	if err := numbered(db, 2, 10); err == nil || errors.Is(err, machine.ErrNoSpace) {
		t.Errorf("after a failed write: %v", err)
	}
	_ = db.Close()
	if _, err := os.Stat(path + "-wal"); err != nil {
		t.Errorf("its log is gone: %v", err)
	}
	if got := epoch(t, open(t, path)); got != 1 {
		t.Errorf("the last batch is %d, want 1", got)
	}
}

// On a full disk batches are refused once the log has no room for them, nothing of what was acknowledged is lost, and the store goes
// on when there is space.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("homing-test", dir, "tmpfs", 0, "size=24m"); err != nil {
		t.Skipf("a small disk is needed: %v", err)
	}
	defer func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	path := filepath.Join(dir, "homing.db")
	db, err := store.OpenWithin(path, 64<<10, 256<<10, 32<<10)
	if err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(dir, "filler")
	n, refused := 0, 0
	fill := func() {
		f, err := os.Create(filler)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for err == nil {
			_, err = f.Write(make([]byte, 4096))
		}
	}
	for round := range 3 {
		fill()
		for range 3000 {
			err := numbered(db, n+1, 3000)
			if err == nil {
				n++
				continue
			}
			if !errors.Is(err, machine.ErrNoSpace) {
				t.Fatalf("batch %d: %v, want ErrNoSpace", n+1, err)
			}
			if refused++; refused%5 == 0 {
				break
			}
		}
		if got := epoch(t, db); got != n {
			t.Fatalf("the last batch is %d, want %d", got, n)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		if round == 2 {
			break
		}
		for range 50 {
			if err := numbered(db, n+1, 3000); err != nil {
				t.Fatalf("with space again: %v", err)
			}
			n++
		}
	}
	if refused == 0 {
		t.Error("no batch was refused")
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got := epoch(t, open(t, path)); got != n {
		t.Errorf("the last batch is %d, want %d", got, n)
	}
}

// A log that can't be lengthened on a full disk is folded: as long as the tables have room in their file, the store goes on.
func TestFullDiskBesideRoomInTheFile(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("homing-test", dir, "tmpfs", 0, "size=24m"); err != nil {
		t.Skipf("a small disk is needed: %v", err)
	}
	defer func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	path := filepath.Join(dir, "homing.db")
	db, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []any{delivery.Outgoing{ID: "out", Text: strings.Repeat("x", 100<<10)}, nil} { // what was there leaves room
		for n := range 20 {
			if err := db.Commit([]machine.Change{{Table: machine.Outgoings, Key: fmt.Sprint("out_", n), Value: value}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Fold(); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = store.Open(path); err != nil { // with a new log
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	const batches = 200 // more blocks than a new log has
	for n := range batches {
		if err := numbered(db, n+1, 500); err != nil {
			t.Fatalf("batch %d: %v", n+1, err)
		}
	}
	next := filepath.Join(t.TempDir(), "homing.db")
	crash(t, path, next)
	if got := epoch(t, open(t, next)); got != batches {
		t.Errorf("the last batch is %d, want %d", got, batches)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}
