package store

import "os"

// PageSize is that of a new file.
const PageSize = pageSize

// OpenWithin opens the store with a log of these measures.
func OpenWithin(path string, first, longest, fold int) (*DB, error) {
	return openWithin(path, limits{int64(first), int64(longest), fold})
}

// FoldAt lets what is pending be folded from that length on.
func (db *DB) FoldAt(n int) { db.limits.fold = n }

// Pending is how much is pending, in bytes.
func (db *DB) Pending() int {
	db.mu.RLock()
	defer db.mu.RUnlock()
	n := 0
	for _, l := range db.pending {
		n += l.size
	}
	return n
}

// Fold writes what is pending to its tables.
func (db *DB) Fold() error { return db.foldAll() }

// LogFile puts another file in the place of the log, and returns the one that was there.
func (db *DB) LogFile(f *os.File) (was *os.File) {
	was, db.log.f = db.log.f, f
	return was
}

// Settle waits for a fold that is under way.
func (db *DB) Settle() error { return db.folded(true) }

// LogEnd is where the next record of the log goes.
func (db *DB) LogEnd() int { return int(db.log.at) }
