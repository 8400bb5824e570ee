package store

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
)

// live lists the tables that a machine reads at its start, in an order in which nothing refers forward.
func live() []machine.Table {
	return []machine.Table{
		machine.Metas, machine.Sessions, machine.Routes, machine.Lanes, machine.Turns, machine.Actions, machine.Processes,
		machine.Delegations, machine.Completions, machine.Outgoings, machine.Marks, machine.Positions, machine.Aliases,
	}
}

// tables lists all buckets.
func tables() []machine.Table {
	out := append(live(), machine.Entries, machine.Asides, machine.Journal)
	for _, t := range []machine.Table{machine.Turns, machine.Actions, machine.Processes, machine.Delegations, machine.Completions, machine.Outgoings} {
		out = append(out, t.Done())
	}
	return out
}

// decoders tell what lies in a table.
func decode(t machine.Table, v []byte) (any, error) {
	switch t {
	case machine.Metas:
		return as[machine.Meta](v)
	case machine.Sessions:
		return as[session.Session](v)
	case machine.Routes:
		return as[session.Route](v)
	case machine.Lanes:
		return as[machine.Lane](v)
	case machine.Turns:
		return as[machine.Turn](v)
	case machine.Actions:
		return as[machine.Action](v)
	case machine.Processes:
		return as[machine.Process](v)
	case machine.Delegations:
		return as[machine.Delegation](v)
	case machine.Completions:
		return as[delivery.Completion](v)
	case machine.Outgoings:
		return as[delivery.Outgoing](v)
	case machine.Marks:
		return as[machine.Mark](v)
	case machine.Positions:
		return as[machine.Position](v)
	case machine.Aliases:
		return as[machine.Alias](v)
	}
	return nil, fmt.Errorf("table %s is not loaded at a start", t)
}

func as[T any](v []byte) (any, error) {
	var x T
	err := json.Unmarshal(v, &x)
	return x, err
}

// Load hands every record that lives to a state. A session that cannot be read is handed over as such: what belongs to it
// is not given to anybody else. Any other record that cannot be read is an error that wraps ErrDamaged.
func (db *DB) Load(s *machine.State) error {
	return db.guard("load the store", func() error {
		return db.bolt.View(func(tx *bbolt.Tx) error {
			for _, t := range live() {
				b := tx.Bucket([]byte(t))
				if b == nil {
					continue
				}
				err := b.ForEach(func(k, v []byte) error {
					if t == machine.Metas && string(k) != "meta" {
						return nil
					}
					x, err := decode(t, v)
					if err != nil && t == machine.Sessions {
						x, err = nil, nil
					}
					if err != nil {
						return fmt.Errorf("%w: record %s %q: %w", ErrDamaged, t, k, err)
					}
					s.Load(machine.Change{Table: t, Key: string(k), Value: x})
					return nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// Get reads one record. It looks among what lives first, then among what is over.
func Get[T any](db *DB, t machine.Table, key string) (x T, found bool, err error) {
	err = db.guard("read "+string(t), func() error {
		return db.bolt.View(func(tx *bbolt.Tx) error {
			for _, name := range []machine.Table{t, t.Done()} {
				b := tx.Bucket([]byte(name))
				if b == nil {
					continue
				}
				if v := b.Get([]byte(key)); v != nil {
					found = true
					return json.Unmarshal(v, &x)
				}
			}
			return nil
		})
	})
	return x, found, err
}

// Each reads the records of one table (t, or t.Done()) whose keys begin with the prefix, in the order of their keys.
// Records are decoded before keep sees them; keep says which to return. Unreadable ones are left out.
func Each[T any](db *DB, t machine.Table, prefix string, keep func(T) bool) (out []T, err error) {
	err = db.guard("read "+string(t), func() error {
		return db.bolt.View(func(tx *bbolt.Tx) error {
			b := tx.Bucket([]byte(t))
			if b == nil {
				return nil
			}
			c := b.Cursor()
			for k, v := c.Seek([]byte(prefix)); k != nil && bytes.HasPrefix(k, []byte(prefix)); k, v = c.Next() {
				var x T
				if json.Unmarshal(v, &x) == nil && (keep == nil || keep(x)) {
					out = append(out, x)
				}
			}
			return nil
		})
	})
	return out, err
}

// Keys lists the keys of a table and of its ".done" that begin with the prefix, at most limit of each.
func (db *DB) Keys(t machine.Table, prefix string, limit int) (out []string, err error) {
	err = db.guard("read "+string(t), func() error {
		return db.bolt.View(func(tx *bbolt.Tx) error {
			for _, name := range []machine.Table{t, t.Done()} {
				b := tx.Bucket([]byte(name))
				if b == nil {
					continue
				}
				c := b.Cursor()
				n := 0
				for k, _ := c.Seek([]byte(prefix)); k != nil && bytes.HasPrefix(k, []byte(prefix)) && n < limit; k, _ = c.Next() {
					out = append(out, string(k))
					n++
				}
			}
			return nil
		})
	})
	return out, err
}

// Entries reads a transcript from entry number `from` on (1 is the first).
func (db *DB) Entries(s id.Session, from uint64) (out []machine.Entry, err error) {
	err = db.guard("read a transcript", func() error {
		return db.bolt.View(func(tx *bbolt.Tx) error {
			b := tx.Bucket([]byte(machine.Entries))
			if b == nil {
				return nil
			}
			prefix := []byte(string(s) + "\x00")
			c := b.Cursor()
			for k, v := c.Seek([]byte(machine.EntryKey(s, from))); k != nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
				var e machine.Entry
				if err := json.Unmarshal(v, &e); err != nil {
					return fmt.Errorf("%w: entry %x: %w", ErrDamaged, k, err)
				}
				out = append(out, e)
			}
			return nil
		})
	})
	return out, err
}

// Count counts the records of one table.
func (db *DB) Count(t machine.Table) (n int) {
	_ = db.bolt.View(func(tx *bbolt.Tx) error {
		if b := tx.Bucket([]byte(t)); b != nil {
			n = b.Stats().KeyN
		}
		return nil
	})
	return n
}

// Latest reads the newest records of one table that keep accepts, newest first, at most n of them. It looks at no more
// than `most` records, however few it finds.
func Latest[T any](db *DB, t machine.Table, n, most int, keep func(T) bool) (out []T, err error) {
	err = db.guard("read "+string(t), func() error {
		return db.bolt.View(func(tx *bbolt.Tx) error {
			b := tx.Bucket([]byte(t))
			if b == nil {
				return nil
			}
			c := b.Cursor()
			for k, v := c.Last(); k != nil && len(out) < n && most > 0; k, v = c.Prev() {
				most--
				var x T
				if json.Unmarshal(v, &x) == nil && keep(x) {
					out = append(out, x)
				}
			}
			return nil
		})
	})
	return out, err
}

// OpenReads counts the read transactions that are open now: none outlives the call that made it.
func (db *DB) OpenReads() int { return db.bolt.Stats().OpenTxN }
