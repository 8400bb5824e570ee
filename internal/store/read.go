package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"sync"

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
		machine.Previews,
	}
}

// tables lists all buckets.
func tables() []machine.Table {
	out := append(live(), machine.Entries, machine.Asides, machine.Journal, machine.Places, machine.Pauses)
	for _, t := range []machine.Table{machine.Turns, machine.Actions, machine.Processes, machine.Delegations, machine.Completions, machine.Outgoings} {
		out = append(out, t.Done())
	}
	return out
}

// decode reads a record of a table that a start loads.
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
	case machine.Previews:
		return as[machine.Preview](v)
	}
	return nil, fmt.Errorf("table %s is not loaded at a start", t)
}

func as[T any](v []byte) (any, error) {
	var x T
	err := decodeValue(v, &x)
	return x, err
}

// view is the store as a reader sees it: what is pending in the log, then the tables.
type view struct {
	tx *bbolt.Tx
	p  pending
	mu *sync.RWMutex // of p
}

// view lets f read. Nothing that f gets outlives it. Each look at the view sees all that was committed before the view began,
// and may see more; one look, at however many tables, sees one moment.
func (db *DB) view(doing string, f func(view) error) error {
	return db.guard(doing, func() error {
		db.mu.RLock()
		p := db.pending
		for _, l := range p {
			l.readers.Add(1)
			defer l.readers.Add(-1)
		}
		tx, err := db.bolt.Begin(false) // not before p: what a fold took out of p stands in the tables
		db.mu.RUnlock()
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // it only reads
		return f(view{tx, p, &db.mu})
	})
}

// get returns the value of a record from the first of the tables that has it, or nil. What is pending is looked up in all of
// them at one moment: a record that moves from one to another is in one of them, whatever is merged meanwhile.
func (v view) get(key string, tables ...machine.Table) []byte {
	v.mu.RLock()
	fresh := v.p.get(key, tables)
	v.mu.RUnlock()
	for i, t := range tables {
		if fresh[i].bytes != nil {
			return fresh[i].bytes
		}
		if b := v.tx.Bucket([]byte(t)); b != nil && !fresh[i].there {
			if old := b.Get([]byte(key)); old != nil {
				return old
			}
		}
	}
	return nil
}

// ascend yields the records of the tables, one after the other, whose keys begin with the prefix and are not before `from`,
// in the order of keys.
func (v view) ascend(prefix, from string, tables ...machine.Table) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for i, fresh := range v.collect(prefix, tables...) {
			for k, value := range v.merged(tables[i], inOrder(fresh), prefix, from) {
				if !yield(k, value) {
					return
				}
			}
		}
	}
}

// collect looks at what is pending of the tables, at one moment. Putting it in order is nothing that the writer waits for.
func (v view) collect(prefix string, tables ...machine.Table) [][]fresh {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.p.collect(prefix, tables)
}

// merged is ascend for one table, of which fresh is pending.
func (v view) merged(t machine.Table, fresh []fresh, prefix, from string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for len(fresh) > 0 && fresh[0].key < from {
			fresh = fresh[1:]
		}
		var k, old []byte
		next := func() ([]byte, []byte) { return nil, nil }
		if b := v.tx.Bucket([]byte(t)); b != nil {
			c := b.Cursor()
			next = c.Next
			k, old = c.Seek([]byte(max(prefix, from)))
		}
		for {
			if !bytes.HasPrefix(k, []byte(prefix)) {
				k = nil
			}
			switch {
			case k == nil && len(fresh) == 0:
				return
			case k == nil || len(fresh) > 0 && fresh[0].key <= string(k):
				f := fresh[0]
				fresh = fresh[1:]
				if f.key == string(k) {
					k, old = next()
				}
				if f.value != nil && !yield(f.key, f.value) {
					return
				}
			default:
				if !yield(string(k), old) {
					return
				}
				k, old = next()
			}
		}
	}
}

// descend yields the records of a table whose keys begin with the prefix, from the last key on that is not after `to`.
func (v view) descend(t machine.Table, prefix, to string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		fresh := inOrder(v.collect(prefix, t)[0])
		for n := len(fresh); n > 0 && fresh[n-1].key > to; n-- {
			fresh = fresh[:n-1]
		}
		var k, old []byte
		prev := func() ([]byte, []byte) { return nil, nil }
		if b := v.tx.Bucket([]byte(t)); b != nil {
			c := b.Cursor()
			prev = c.Prev
			if k, old = c.Seek([]byte(to)); k == nil {
				k, old = c.Last()
			} else if string(k) > to {
				k, old = c.Prev()
			}
		}
		for {
			if !bytes.HasPrefix(k, []byte(prefix)) {
				k = nil
			}
			if k == nil && len(fresh) == 0 {
				return
			}
			if n := len(fresh); n > 0 && (k == nil || fresh[n-1].key >= string(k)) {
				f := fresh[n-1]
				fresh = fresh[:n-1]
				if f.key == string(k) {
					k, old = prev()
				}
				if f.value != nil && !yield(f.key, f.value) {
					return
				}
				continue
			}
			if !yield(string(k), old) {
				return
			}
			k, old = prev()
		}
	}
}

// Load hands every record that lives to a state. A session that cannot be read is handed over as such: what belongs to it
// is not given to anybody else. Any other record that cannot be read is an error that wraps ErrDamaged.
func (db *DB) Load(s *machine.State) error {
	return db.view("load the store", func(v view) error {
		for _, t := range live() {
			for k, value := range v.ascend("", "", t) {
				if t == machine.Metas && k != "meta" {
					continue
				}
				x, err := decode(t, value)
				if err != nil && t == machine.Sessions {
					x, err = nil, nil
				}
				if err != nil {
					return fmt.Errorf("%w: record %s %q: %w", ErrDamaged, t, k, err)
				}
				s.Load(machine.Change{Table: t, Key: k, Value: x})
			}
		}
		return nil
	})
}

// Get reads one record. It looks among what lives first, then among what is over.
func Get[T any](db *DB, t machine.Table, key string) (x T, found bool, err error) {
	err = db.view("read "+string(t), func(v view) error {
		value := v.get(key, t, t.Done())
		if value == nil {
			return nil
		}
		found = true
		db.looked.Add(1)
		return decodeValue(value, &x)
	})
	return x, found, err
}

// Each reads the records of one table (t, or t.Done()) whose keys begin with the prefix, in the order of their keys.
// Records are decoded before keep sees them; keep says which to return. Unreadable ones are left out.
func Each[T any](db *DB, t machine.Table, prefix string, keep func(T) bool) ([]T, error) {
	return Since(db, t, prefix, prefix, keep)
}

// Since is Each for the records whose keys are not before from. Ids sort in the order in which they were made: what came
// after something is found without looking at what was before it.
func Since[T any](db *DB, t machine.Table, prefix, from string, keep func(T) bool) ([]T, error) {
	return some(db, prefix, from, keep, t)
}

// Ever is Since for what is over and what lives, in this order. It is one look: what moves from the one to the other is there
// once.
func Ever[T any](db *DB, t machine.Table, prefix, from string, keep func(T) bool) ([]T, error) {
	return some(db, prefix, from, keep, t.Done(), t)
}

func some[T any](db *DB, prefix, from string, keep func(T) bool, tables ...machine.Table) (out []T, err error) {
	err = db.view("read "+string(tables[0]), func(v view) error {
		for _, value := range v.ascend(prefix, from, tables...) {
			db.looked.Add(1)
			var x T
			if decodeValue(value, &x) == nil && (keep == nil || keep(x)) {
				out = append(out, x)
			}
		}
		return nil
	})
	return out, err
}

// Keys lists the keys of a table, and then of its ".done", that begin with the prefix: at most limit.
func (db *DB) Keys(t machine.Table, prefix string, limit int) (out []string, err error) {
	err = db.view("read "+string(t), func(v view) error {
		for k := range v.ascend(prefix, "", t, t.Done()) {
			if len(out) == limit {
				break
			}
			out = append(out, k)
			db.looked.Add(1)
		}
		return nil
	})
	return out, err
}

// Entries reads a transcript from entry number `from` on (1 is the first).
func (db *DB) Entries(s id.Session, from uint64) ([]machine.Entry, error) {
	return db.SomeEntries(s, from, math.MaxInt)
}

// SomeEntries is Entries for at most so many.
func (db *DB) SomeEntries(s id.Session, from uint64, most int) (out []machine.Entry, err error) {
	err = db.view("read a transcript", func(v view) error {
		for k, value := range v.ascend(string(s)+"\x00", machine.EntryKey(s, from), machine.Entries) {
			if len(out) == most {
				break
			}
			db.looked.Add(1)
			var e machine.Entry
			if err := decodeValue(value, &e); err != nil {
				return fmt.Errorf("%w: entry %x: %w", ErrDamaged, k, err)
			}
			out = append(out, e)
		}
		return nil
	})
	return out, err
}

// Journal reads the lines of the journal from number `from` on, at most so many.
func (db *DB) Journal(from uint64, most int) (out []machine.Record, err error) {
	err = db.view("read the journal", func(v view) error {
		// The block that holds line `from` may begin before it.
		start := machine.SeqKey(from)
		for k := range v.descend(machine.Journal, "", start) {
			start = k
			break
		}
		for k, block := range v.ascend("", start, machine.Journal) {
			for len(block) > 0 && len(out) < most {
				line := block
				if block[0] == '{' { // written by an older version: one line a record
					block = nil
				} else {
					n := uint64(0)
					if len(block) >= 4 {
						n = uint64(binary.BigEndian.Uint32(block))
					}
					if n == 0 || n > uint64(len(block)-4) {
						return fmt.Errorf("%w: line %x of the journal", ErrDamaged, k)
					}
					line, block = block[4:4+n], block[4+n:]
				}
				var r machine.Record
				if err := decodeValue(line, &r); err != nil {
					return fmt.Errorf("%w: line %x of the journal: %w", ErrDamaged, k, err)
				}
				if r.Seq >= from {
					out = append(out, r)
				}
			}
			if len(out) == most {
				break
			}
		}
		return nil
	})
	return out, err
}

// Count counts the records of one table.
func (db *DB) Count(t machine.Table) (n int) {
	_ = db.view("count "+string(t), func(v view) error {
		for range v.ascend("", "", t) {
			n++
		}
		return nil
	})
	return n
}

// Latest reads the newest records of one table whose keys begin with the prefix and that keep accepts, newest first, at most
// n of them. It looks at no more than `most` records, however few it finds.
func Latest[T any](db *DB, t machine.Table, prefix string, n, most int, keep func(T) bool) (out []T, err error) {
	err = db.view("read "+string(t), func(v view) error {
		for _, value := range v.descend(t, prefix, prefix+"\xff") {
			if len(out) == n || most == 0 {
				break
			}
			most--
			db.looked.Add(1)
			var x T
			if decodeValue(value, &x) == nil && keep(x) {
				out = append(out, x)
			}
		}
		return nil
	})
	return out, err
}

// Looked counts the records that reads have looked at so far: what they cost, whatever the machine and the disk.
func (db *DB) Looked() uint64 { return db.looked.Load() }

// Synced counts how often the disk was asked to make something durable.
func (db *DB) Synced() uint64 { return db.synced.Load() }

// OpenReads counts the read transactions that are open now: none outlives the call that made it.
func (db *DB) OpenReads() int { return db.bolt.Stats().OpenTxN }
