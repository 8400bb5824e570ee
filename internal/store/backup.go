package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
)

// spare is what a copy leaves free on the disk of the store, so that the store itself can go on growing.
const spare = 64 << 20

// CopyTo writes the state of the last commit into an empty file, as a store that needs no log. It holds one read transaction
// while it copies: the writer goes on meanwhile, but reuses no page of the file and waits if it has to grow its map.
func (db *DB) CopyTo(f *os.File) (n int64, err error) {
	err = db.view("copy the store", func(v view) error {
		segments := v.segments()
		if _, err := v.tx.WriteTo(f); err != nil {
			return err
		}
		return complete(f, segments)
	})
	if err != nil {
		return 0, err
	}
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

// segments returns the batches that are pending, the oldest first.
func (v view) segments() (out [][]byte) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, l := range slices.Backward(v.p) {
		out = append(out, l.segments...)
	}
	return out
}

// complete writes to the tables of a copy what was pending when it was made, so that it needs no log.
func complete(f *os.File, segments [][]byte) error {
	o := writing()
	o.OpenFile = func(string, int, os.FileMode) (*os.File, error) { // it may have no name any more
		fd, err := unix.Dup(int(f.Fd()))
		if err != nil {
			return nil, os.NewSyscallError("dup", err)
		}
		return os.NewFile(uintptr(fd), f.Name()), nil
	}
	db, err := open(f.Name(), o)
	if err != nil {
		return err
	}
	l := newLayer()
	for _, b := range segments {
		s, err := parseSegment(b)
		if err != nil {
			return errors.Join(err, db.bolt.Close())
		}
		l.merge(s)
	}
	err = db.update("complete the copy", func(tx *bbolt.Tx) error {
		if err := migrate(tx); err != nil {
			return err
		}
		return errors.Join(l.fold(tx), tx.Bucket([]byte(machine.Metas)).Delete(baseKey))
	})
	size := int64(0)
	if err == nil {
		err = db.bolt.View(func(tx *bbolt.Tx) error { size = tx.Size(); return nil })
	}
	err = errors.Join(err, db.bolt.Close())
	if err == nil {
		err = f.Truncate(size) // a copy does not grow, and one that was cut is to be told by its length
	}
	return err
}

// Spool makes a copy in a file beside the store that has no name and is gone once it is closed. Whoever wants it over a
// connection reads from there, however slowly: the read transaction is as short as one copy on one disk.
func (db *DB) Spool() (*os.File, error) {
	dir := filepath.Dir(db.path)
	var disk unix.Statfs_t
	if err := unix.Statfs(dir, &disk); err != nil {
		return nil, fmt.Errorf("look for room in %s: %w", dir, err)
	}
	if free, need := disk.Bavail*uint64(disk.Bsize), uint64(db.Size())+spare; free < need {
		return nil, fmt.Errorf("a copy needs %d MiB for a while in %s, where %d MiB are free: %w", need>>20, dir, free>>20, syscall.ENOSPC)
	}
	f, err := os.CreateTemp(dir, ".backup-*.tmp")
	if err != nil {
		return nil, fmt.Errorf("make room for a copy: %w", err)
	}
	err = os.Remove(f.Name())
	if err == nil {
		_, err = db.CopyTo(f)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// Check tells whether a daemon could start on the file, and changes nothing: every page is there, this program knows the
// layout, and every record that a start reads can be read. It returns what the store says of itself.
func Check(path string) (machine.Meta, error) {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return machine.Meta{}, err
	case !st.Mode().IsRegular():
		return machine.Meta{}, fmt.Errorf("%w: %s is no file", ErrDamaged, path)
	case st.Size() == 0:
		return machine.Meta{}, fmt.Errorf("%w: %s is empty", ErrDamaged, path)
	}
	if err := verify(path); err != nil {
		return machine.Meta{}, err
	}
	db, err := OpenRead(path)
	if err != nil {
		return machine.Meta{}, err
	}
	defer func() { _ = db.Close() }()
	if err := db.known(); err != nil {
		return machine.Meta{}, err
	}
	state := machine.NewState(func(string) machine.Policy { return machine.Policy{} }, id.NewSource(nil))
	err = db.Load(state)
	return state.Meta(), err
}

// known tells whether the file is a store of ours, of a layout that this program knows.
func (db *DB) known() error {
	return db.guard("look at "+db.path, func() error {
		return db.bolt.View(func(tx *bbolt.Tx) error {
			if n, err := schemaOf(tx); err != nil || n > 0 {
				return err
			}
			return fmt.Errorf("%w: it is no store of this program", ErrDamaged)
		})
	})
}

// MarkRestored writes into a copy that it takes the place of a store that went on without it: the next start parks what was
// under way then, because nobody can tell how it went on. An older layout is brought up to date on the way, as at a start. A
// copy that needs its log is refused: the log would not come with it.
func MarkRestored(path string) error {
	meta, err := Check(path)
	if err != nil {
		return err
	}
	meta.Restored = true
	v, err := appendValue(nil, meta)
	if err != nil {
		return err
	}
	db, err := open(path, writing())
	if err != nil {
		return err
	}
	err = db.update("mark the copy", func(tx *bbolt.Tx) error {
		if _, ours, err := baseOf(tx); ours || err != nil {
			return errors.Join(err, fmt.Errorf("%s needs its log: make the copy with homing backup", path))
		}
		if err := migrate(tx); err != nil {
			return err
		}
		return tx.Bucket([]byte(machine.Metas)).Put([]byte("meta"), v)
	})
	return errors.Join(err, db.bolt.Close())
}
