package store

import (
	"errors"
	"fmt"
	"os"

	"go.etcd.io/bbolt"

	"github.com/homing-gateway/homing/internal/machine"
)

// folding is what is pending on its way to the tables, and how the log goes on from there.
type folding struct {
	layer *layer
	next  uint64 // number of the first record that is not in it
	at    int64  // where that one goes
	done  chan struct{}
	err   error // once done is closed
}

// Commit makes a batch durable. An error that wraps machine.ErrNoSpace left the store as it was; after any other error the
// process is to end.
func (db *DB) Commit(changes []machine.Change) error {
	if db.broken != nil {
		return db.broken
	}
	err := db.commit(changes)
	if noSpace(err) {
		return fmt.Errorf("%w: %w", machine.ErrNoSpace, err)
	}
	return err
}

func (db *DB) commit(changes []machine.Change) error {
	s := &db.batch
	s.reset(recordHeader)
	if err := db.encode(s, changes); err != nil {
		return err
	}
	n := len(s.bytes)
	s.bytes = append(s.bytes, make([]byte, whole(n)-n)...)
	at, err := db.room(int64(len(s.bytes)))
	switch {
	case errors.Is(err, errNeverThere):
		return db.commitToTables(*s)
	case err == nil:
		db.synced.Add(1)
		err = db.log.append(s.bytes, n-recordHeader, at)
	}
	if err != nil {
		db.breaks(err)
		return err
	}
	db.mu.Lock()
	young := db.pending[0]
	young.merge(segment{young.keep(s.bytes[:n]), s.head, s.changes})
	size := young.size
	db.mu.Unlock()
	if size >= db.limits.fold && db.folding == nil {
		db.fold()
	}
	return nil
}

// breaks takes note of a failure after which nobody knows what is on the disk.
func (db *DB) breaks(err error) {
	if err != nil && !noSpace(err) {
		db.broken = err
	}
}

// errNeverThere: the batch is longer than a record of the log may be.
var errNeverThere = errors.New("the log has no place for the batch")

// room finds a place in the log, waits for one, or makes one.
func (db *DB) room(n int64) (int64, error) {
	if err := db.folded(false); err != nil {
		return 0, err
	}
	for {
		at, s := db.log.place(n)
		switch s {
		case fits:
			return at, nil
		case neverThere:
			return 0, errNeverThere
		case wantsLonger:
			err := db.lengthenLog(n)
			if noSpace(err) && (db.folding != nil || db.pending[0].size > 0) {
				err = db.foldAll() // the tables may have room in their file
			}
			if err != nil {
				return 0, err
			}
		case wantsFold:
			if err := db.foldAll(); err != nil {
				return 0, err
			}
		}
	}
}

// lengthenLog makes the log longer by as much as it has, or as a record of n bytes asks for. The tables know its length
// before it is used.
func (db *DB) lengthenLog(n int64) error {
	size := db.log.size
	for size == db.log.size || size < db.log.at+n {
		size *= 2
	}
	size = min(size, db.log.longest)
	db.synced.Add(1)
	if err := db.log.lengthen(size); err != nil {
		return err
	}
	err := db.update("lengthen the log", func(tx *bbolt.Tx) error {
		b, _, err := baseOf(tx)
		if err != nil {
			return err
		}
		b.Size = size
		return putBase(tx, b)
	})
	if err == nil {
		db.log.size = size
	}
	return err
}

// fold begins to write what is pending to its tables; commits go on meanwhile, into a layer of their own. After a fold that
// failed for want of space it is tried again.
func (db *DB) fold() {
	f := db.folding
	if f == nil {
		f = &folding{layer: db.pending[0], next: db.log.next, at: db.log.at}
		db.mu.Lock()
		young := db.spare
		if db.spare = nil; young == nil {
			young = newLayer()
		}
		db.pending = pending{young, f.layer}
		db.mu.Unlock()
	}
	f.done, f.err = make(chan struct{}), nil
	db.folding = f
	go func() { // the next commit or Close waits for it
		defer close(f.done)
		f.err = db.update("fold the log", func(tx *bbolt.Tx) error {
			b, _, err := baseOf(tx)
			if err != nil {
				return err
			}
			b.Next, b.At = f.next, f.at
			return errors.Join(f.layer.fold(tx), putBase(tx, b))
		})
		if f.err == nil {
			db.mu.Lock()
			db.pending = db.pending[:1:1]
			if f.layer.readers.Load() == 0 && f.layer.size < 2*db.limits.fold { // who reads from now on does not get it
				f.layer.empty()
				db.spare = f.layer
			}
			db.mu.Unlock()
		}
	}()
}

// folded takes note of a fold that is over, or waits for one that is under way. One that failed for want of space is begun
// again, and is an error for who waits; any other failure ends the store.
func (db *DB) folded(wait bool) error {
	f := db.folding
	if f == nil {
		return nil
	}
	if !wait {
		select {
		case <-f.done:
		default:
			return nil
		}
	}
	<-f.done
	switch {
	case f.err == nil:
		db.log.from = f.at
		db.folding = nil
		return nil
	case wait || !noSpace(f.err):
		db.breaks(f.err)
		return f.err
	}
	db.fold()
	return nil
}

// foldAll waits until nothing is pending.
func (db *DB) foldAll() error {
	if err := db.folded(false); err != nil {
		return err
	}
	for {
		if db.folding == nil {
			if db.pending[0].size == 0 {
				return nil
			}
			db.fold()
		}
		if err := db.folded(true); err != nil {
			return err
		}
	}
}

// commitToTables makes a batch durable that is too long for the log: once nothing is pending, in its tables at once.
func (db *DB) commitToTables(s segment) error {
	if err := db.foldAll(); err != nil {
		return err
	}
	l := newLayer()
	l.merge(s)
	err := db.update("write a batch to its tables", l.fold)
	if err == nil {
		db.mu.Lock()
		db.pending = pending{newLayer()} // who read before does not see it, and is to see nothing that comes after it
		db.mu.Unlock()
	}
	db.breaks(err)
	return err
}

// Close writes what is pending to its tables and closes the files. What can't be written stays in the log.
func (db *DB) Close() error {
	if db.log == nil {
		return db.bolt.Close()
	}
	var err error
	if db.broken == nil {
		err = db.foldAll()
		if err == nil {
			err = db.update("close the log", func(tx *bbolt.Tx) error { return tx.Bucket([]byte(machine.Metas)).Delete(baseKey) })
		}
	} else if db.folding != nil {
		<-db.folding.done
	}
	whole := db.broken == nil && err == nil
	err = errors.Join(err, db.log.f.Close())
	if whole { // as long as the lock is held: from then on another one may have a log there
		_ = os.Remove(LogPath(db.path)) // one that stays is nobody's, and the next start sees to it
	}
	return errors.Join(err, db.bolt.Close())
}
