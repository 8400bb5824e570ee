package store

// FoldAt lets the log be folded from that length on.
func (db *DB) FoldAt(n int) { db.foldAt = n }

// Pending is the length of the log in bytes.
func (db *DB) Pending() int { return db.pending.size }
