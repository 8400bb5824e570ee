package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
)

// Schema is the version of the layout that this program writes.
const Schema = 2

// The errors on which a caller decides.
var (
	// ErrDamaged: the file is not a sound store. It is left as it is.
	ErrDamaged = errors.New("the store is damaged")
	// ErrInUse: another process holds the file.
	ErrInUse = errors.New("another process holds the store")
	// ErrNewer: a newer version of the program wrote the file.
	ErrNewer = errors.New("the store was written by a newer version")
	// ErrNoStore: there is no file.
	ErrNoStore = errors.New("there is no store yet")
)

// DB is the store. Reads may be made from many goroutines; Commit from one.
type DB struct {
	bolt   *bbolt.DB
	path   string
	next   uint64 // number of the log's next piece
	foldAt int    // length of the log, in bytes, from which on it is folded
	tables map[machine.Table]bool

	mu      sync.RWMutex
	pending *pending // what the log holds; the writer puts an empty one here after a fold

	looked atomic.Uint64
}

// openTimeout is how long a file that another process holds is waited for.
const openTimeout = 2 * time.Second

// Open opens the store for the daemon and creates it if need be.
func Open(path string) (*DB, error) {
	preread(path)
	if err := verify(path); err != nil {
		return nil, err
	}
	db, err := open(path, &bbolt.Options{
		Timeout: openTimeout,
		// A synced freelist is rewritten whole in every commit; without it Open walks the file, which preread has warmed.
		NoFreelistSync: true,
		FreelistType:   bbolt.FreelistMapType,
		// Address space only: a commit that must grow the map would wait for readers.
		InitialMmapSize: mapSize,
	})
	if err != nil {
		return nil, err
	}
	err = db.prepare()
	if err == nil {
		err = db.readLog()
	}
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

// OpenRead opens the store for a command that only reads, while no daemon runs.
func OpenRead(path string) (*DB, error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNoStore, path)
	}
	db, err := open(path, &bbolt.Options{Timeout: openTimeout, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	if err := db.readLog(); err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

// open opens the file. bbolt panics on some damaged files: that is an error like the others here.
func open(path string, o *bbolt.Options) (db *DB, err error) {
	defer func() {
		if p := recover(); p != nil {
			db, err = nil, fmt.Errorf("%w: %s: %v", ErrDamaged, path, p)
		}
	}()
	b, err := bbolt.Open(path, 0o600, o)
	switch {
	case err == nil:
		db := &DB{bolt: b, path: path, foldAt: foldAt, tables: map[machine.Table]bool{}, pending: &pending{}}
		for _, t := range tables() {
			db.tables[t] = true
		}
		return db, nil
	case errors.Is(err, berrors.ErrTimeout):
		return nil, fmt.Errorf("%w: %s", ErrInUse, path)
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrChecksum), errors.Is(err, berrors.ErrVersionMismatch),
		errors.Is(err, berrors.ErrInvalidMapping), errors.Is(err, errTooSmall(path, err)):
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	}
	return nil, fmt.Errorf("open the store: %w", err)
}

// errTooSmall returns err itself when bbolt refused a file for its size, for which it has no sentinel.
func errTooSmall(path string, err error) error {
	if st, e := os.Stat(path); e == nil && st.Size() > 0 && st.Size() < int64(4*os.Getpagesize()) {
		return err
	}
	return ErrDamaged
}

// prepare makes the buckets and brings an older layout up to date.
func (db *DB) prepare() error {
	return db.guard("prepare the store", func() error {
		return db.bolt.Update(func(tx *bbolt.Tx) error {
			for _, t := range tables() {
				if _, err := tx.CreateBucketIfNotExists([]byte(t)); err != nil {
					return err
				}
			}
			meta := tx.Bucket([]byte(machine.Metas))
			at, err := schemaOf(tx)
			if err != nil {
				return err
			}
			for ; at < Schema; at++ {
				if err := migrations[at](tx); err != nil {
					return fmt.Errorf("migrate from schema %d: %w", at, err)
				}
			}
			return meta.Put([]byte("schema"), []byte(strconv.Itoa(Schema)))
		})
	})
}

// schemaOf reads the version of the layout; 0 is a file in which nothing has been written yet. The error wraps ErrDamaged
// or ErrNewer.
func schemaOf(tx *bbolt.Tx) (int, error) {
	meta := tx.Bucket([]byte(machine.Metas))
	if meta == nil {
		return 0, nil
	}
	v := meta.Get([]byte("schema"))
	if v == nil {
		return 0, nil
	}
	n, err := strconv.Atoi(string(v))
	switch {
	case err != nil:
		return 0, fmt.Errorf("%w: schema version %q", ErrDamaged, v)
	case n > Schema:
		return 0, fmt.Errorf("%w: schema %d, this program knows %d", ErrNewer, n, Schema)
	}
	return n, nil
}

// migrations lead from schema n to n+1, in the order of n.
var migrations = [Schema]func(*bbolt.Tx) error{
	func(*bbolt.Tx) error { return nil }, // 0 is an empty file
	func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists([]byte(logBucket))
		return errors.Join(err, listPlaces(tx))
	},
}

// listPlaces writes which sessions belong to which place. A session that can't be read is in no list.
func listPlaces(tx *bbolt.Tx) error {
	places := tx.Bucket([]byte(machine.Places))
	return tx.Bucket([]byte(machine.Sessions)).ForEach(func(_, v []byte) error {
		var s session.Session
		if decodeValue(v, &s) != nil || s.Key == "" {
			return nil
		}
		return places.Put([]byte(machine.PlaceKey(s.Key, s.ID)), []byte("{}"))
	})
}

// guard turns bbolt's panics on a damaged file into an error.
func (db *DB) guard(doing string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: %w: %v", doing, ErrDamaged, p)
		}
	}()
	if err := f(); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// Close closes the file.
func (db *DB) Close() error { return db.bolt.Close() }

// Path is where the file is.
func (db *DB) Path() string { return db.path }

// Size is the length of the file in bytes.
func (db *DB) Size() int64 {
	st, err := os.Stat(db.path)
	if err != nil {
		return 0
	}
	return st.Size()
}

// Commit writes a batch in one transaction and returns once it is durable. An error that wraps machine.ErrNoSpace left
// the store as it was; after any other error the process is to end.
func (db *DB) Commit(changes []machine.Change) error {
	s, err := db.segment(changes) // encoded before the transaction begins
	if err != nil {
		return err
	}
	next, full := db.next, db.pending.size+len(s.bytes) > db.foldAt
	err = db.bolt.Update(func(tx *bbolt.Tx) (err error) {
		if full {
			if err := db.pending.fold(tx); err != nil {
				return err
			}
		}
		next, err = appendLog(tx, next, s)
		return err
	})
	if noSpace(err) {
		return fmt.Errorf("%w: %w", machine.ErrNoSpace, err)
	}
	if err != nil {
		return err
	}
	db.next = next
	if full {
		db.mu.Lock()
		db.pending = &pending{}
		db.mu.Unlock()
	}
	db.pending.merge(s)
	return nil
}

// fits tells whether a change can be folded into its table later. What can't must not become durable: every later fold
// would meet it again.
func (db *DB) fits(c machine.Change) error {
	switch {
	case !db.tables[c.Table]:
		return fmt.Errorf("there is no table %s", c.Table)
	case c.Key == "" || len(c.Key) > bbolt.MaxKeySize:
		return fmt.Errorf("a key of %d bytes for table %s: 1 to %d are taken", len(c.Key), c.Table, bbolt.MaxKeySize)
	}
	return nil
}

// segment encodes a batch.
func (db *DB) segment(changes []machine.Change) (segment, error) {
	s := newSegment(len(changes))
	for len(changes) > 0 {
		c := changes[0]
		if err := db.fits(c); err != nil {
			return s, err
		}
		if c.Table == machine.Journal {
			n := slices.IndexFunc(changes, func(c machine.Change) bool { return c.Table != machine.Journal })
			if n < 0 {
				n = len(changes)
			}
			if err := s.putJournal(changes[:n]); err != nil {
				return s, err
			}
			changes = changes[n:]
			continue
		}
		changes = changes[1:]
		if copied, ok := c.Value.(machine.Copy); ok {
			if err := db.copyEntries(&s, copied); err != nil {
				return s, err
			}
			continue
		}
		if c.Value == nil {
			s.add(c.Table, c.Key, nil)
			continue
		}
		if err := s.put(c.Table, c.Key, c.Value); err != nil {
			return s, err
		}
	}
	s.seal()
	return s, nil
}

// copyEntries writes the entries of one transcript as those of another one. One that can't be read is copied as it is: a
// damaged entry is found by who reads it, and ends nobody's commit. What the batch itself adds to the transcript is
// copied as well.
func (db *DB) copyEntries(s *segment, c machine.Copy) error {
	own := map[string][]byte{}
	for _, x := range s.changes {
		if x.table == machine.Entries {
			own[x.key] = x.value
		}
	}
	return db.view("copy a transcript", func(v view) error {
		for n := uint64(1); n <= c.Through; n++ {
			key := machine.EntryKey(c.From, n)
			value, ok := own[key]
			if !ok {
				value = v.get(key, machine.Entries)
			}
			if value == nil {
				continue
			}
			var e machine.Entry
			key = machine.EntryKey(c.To, n)
			if decodeValue(value, &e) != nil {
				s.add(machine.Entries, key, value)
				continue
			}
			e.Session = c.To
			if err := s.put(machine.Entries, key, e); err != nil {
				return err
			}
		}
		return nil
	})
}

// noSpace tells whether a commit failed because something could not be written for want of space, before its meta page
// was. A sync that fails for the same reason is not that: nobody knows what is on the disk then.
func noSpace(err error) bool {
	e, ok := errors.AsType[*fs.PathError](err)
	return ok && (e.Op == "write" || e.Op == "truncate") && (errors.Is(e.Err, syscall.ENOSPC) || errors.Is(e.Err, syscall.EDQUOT))
}
