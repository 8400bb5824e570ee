package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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
const Schema = 3

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

// DB is the store. Reads may be made from many goroutines; Commit and Close from one.
type DB struct {
	bolt   *bbolt.DB
	path   string
	limits limits
	tables map[machine.Table]bool

	// What the writer alone uses.
	log     *log // nil: the store is only read
	batch   segment
	folding *folding // under way, or failed for want of space; nil: none
	broken  error    // ends every later commit: nobody knows what is on the disk

	mu      sync.RWMutex
	pending pending
	spare   *layer // an empty one

	looked, synced atomic.Uint64
}

// pageSize is that of a new file: bbolt writes page by page, and a fold writes many records that lie side by side. A file keeps the
// one that it was made with.
const pageSize = 16 << 10

// openTimeout is how long a file that another process holds is waited for.
const openTimeout = 2 * time.Second

// Open opens the store for the daemon and creates it if need be.
func Open(path string) (*DB, error) { return openWithin(path, usual) }

func openWithin(path string, m limits) (*DB, error) {
	preread(path)
	if err := verify(path); err != nil {
		return nil, err
	}
	db, err := open(path, writing())
	if err != nil {
		return nil, err
	}
	db.limits = m
	if err := db.prepare(); err != nil {
		_ = db.bolt.Close()
		return nil, err
	}
	return db, nil
}

// writing is how a file is opened that is written to.
func writing() *bbolt.Options {
	return &bbolt.Options{
		Timeout: openTimeout,
		// A synced freelist is rewritten whole in every commit; without it Open walks the file, which preread has warmed.
		NoFreelistSync: true,
		FreelistType:   bbolt.FreelistMapType,
		PageSize:       pageSize,
		// Address space only: a commit that must grow the map would wait for readers.
		InitialMmapSize: mapSize,
	}
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
	if _, err := db.readLog(); err != nil {
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
		db := &DB{bolt: b, path: path, limits: usual, tables: map[machine.Table]bool{}, pending: pending{newLayer()}}
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
	if st, e := os.Stat(path); e == nil && st.Size() > 0 && st.Size() < 4*pageSize {
		return err
	}
	return ErrDamaged
}

// prepare brings the layout up to date and gets the log ready: the one that goes on from the tables, or a new one.
func (db *DB) prepare() error {
	l, err := db.readLog()
	if err != nil {
		return err
	}
	if l != nil {
		l.longest = db.limits.longest
		db.log = l
		if l.f, err = os.OpenFile(LogPath(db.path), os.O_RDWR, 0); err != nil {
			return fmt.Errorf("open the log of the store: %w", err)
		}
		// The process before this one may have died between writing and syncing: what was read is acted on from here.
		if err := datasync(l.f); err != nil {
			return errors.Join(fmt.Errorf("open the log of the store: %w", err), l.f.Close())
		}
		if err := db.catchUp(); err != nil {
			return errors.Join(err, l.f.Close())
		}
		return nil
	}
	if l, err = createLog(db.path, db.limits); err != nil {
		return fmt.Errorf("make the log of the store: %w", err)
	}
	if err = db.update("prepare the store", func(tx *bbolt.Tx) error {
		if err := migrate(tx); err != nil {
			return err
		}
		return putBase(tx, base{ID: l.id, Next: l.next, Size: l.size})
	}); err != nil {
		_ = l.f.Close()
		_ = os.Remove(LogPath(db.path))
		return err
	}
	db.log, db.pending = l, pending{newLayer()} // what an older layout's log held is in the tables now
	return nil
}

// catchUp brings the tables up to date when another version of the program left them, and did not close them: they may lack a
// table that the log is to be folded into. What is pending was written in the old layout, and comes into it first.
func (db *DB) catchUp() error {
	current := true
	err := db.guard("look at the layout of the store", func() error {
		return db.bolt.View(func(tx *bbolt.Tx) error {
			at, err := schemaOf(tx)
			current = at == Schema
			for _, t := range tables() {
				current = current && tx.Bucket([]byte(t)) != nil
			}
			return err
		})
	})
	if err != nil || current {
		return err
	}
	err = db.update("prepare the store", func(tx *bbolt.Tx) error {
		if err := createTables(tx); err != nil {
			return err
		}
		if err := db.pending[0].fold(tx); err != nil {
			return err
		}
		return errors.Join(migrate(tx), putBase(tx, base{ID: db.log.id, Next: db.log.next, At: db.log.at, Size: db.log.size}))
	})
	if err == nil {
		db.log.from, db.pending = db.log.at, pending{newLayer()}
	}
	return err
}

// update changes the tables in one transaction.
func (db *DB) update(doing string, f func(*bbolt.Tx) error) error {
	db.synced.Add(2) // its pages, then the page that says which they are
	return db.guard(doing, func() error { return db.bolt.Update(f) })
}

// createTables makes the buckets that are not there.
func createTables(tx *bbolt.Tx) error {
	for _, t := range tables() {
		if _, err := tx.CreateBucketIfNotExists([]byte(t)); err != nil {
			return err
		}
	}
	return nil
}

// migrate makes the buckets and brings an older layout up to date.
func migrate(tx *bbolt.Tx) error {
	if err := createTables(tx); err != nil {
		return err
	}
	at, err := schemaOf(tx)
	if err != nil {
		return err
	}
	for ; at < Schema; at++ {
		if err := migrations[at](tx); err != nil {
			return fmt.Errorf("migrate from schema %d: %w", at, err)
		}
	}
	return tx.Bucket([]byte(machine.Metas)).Put([]byte("schema"), []byte(strconv.Itoa(Schema)))
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
	listPlaces,
	foldOldLog,
}

// oldLogBucket held the log of schema 2, cut into pieces under running numbers.
const oldLogBucket = "log"

// oldLog returns the log of schema 2; nil where there is none.
func oldLog(tx *bbolt.Tx) (stream []byte) {
	b := tx.Bucket([]byte(oldLogBucket))
	if b == nil {
		return nil
	}
	_ = b.ForEach(func(_, v []byte) error {
		stream = append(stream, v...)
		return nil
	})
	return stream
}

// foldOldLog writes the log of schema 2 to its tables.
func foldOldLog(tx *bbolt.Tx) error {
	if tx.Bucket([]byte(oldLogBucket)) == nil {
		return nil
	}
	segments, err := parseOldLog(oldLog(tx))
	if err != nil {
		return err
	}
	l := newLayer()
	for _, s := range segments {
		l.merge(s)
	}
	return errors.Join(l.fold(tx), tx.DeleteBucket([]byte(oldLogBucket)))
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

// encode appends a batch to s.
func (db *DB) encode(s *segment, changes []machine.Change) error {
	for _, c := range changes {
		if err := db.fits(c); err != nil {
			return err
		}
		var err error
		switch v := c.Value.(type) {
		case nil:
			s.add(c.Table, c.Key, nil)
		case machine.Copy:
			err = db.copyEntries(s, v)
		case []machine.Record:
			err = s.putJournal(c.Key, v)
		default:
			err = s.put(c.Table, c.Key, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copyEntries writes the entries of one transcript as those of another one. One that can't be read is copied as it is: a
// damaged entry is found by who reads it, and ends nobody's commit. What the batch itself adds to the transcript is
// copied as well.
func (db *DB) copyEntries(s *segment, c machine.Copy) error {
	own := map[string][]byte{}
	for _, x := range s.changes {
		if x.table == machine.Entries {
			own[x.key] = x.value(s.bytes)
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
