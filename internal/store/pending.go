package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"go.etcd.io/bbolt"

	"github.com/homing-gateway/homing/internal/machine"
)

// pending is what the log holds and the tables do not: one layer, into which commits go, and while an older one is being
// folded into the tables, that one as well; the younger comes first. A reader keeps the list with which it began: a layer only
// ever grows, one that was folded is dropped from the list, and it is emptied only when nobody reads it any more. DB.mu guards the
// list and all layers.
type pending []*layer

// layer holds the records of a part of the log.
type layer struct {
	tables map[machine.Table]*layerTable
	// segments are the batches as they came: the records are parts of them.
	segments [][]byte
	size     int      // of those, in bytes
	chunks   [][]byte // what they are parts of
	filling  int      // the chunk into which the next one goes
	readers  atomic.Int32
}

type layerTable struct {
	values map[string][]byte // nil: not there any more
	// groups holds the keys in the order in which they came, by what stands before the first zero byte: a transcript's
	// entries, or a place's conversations, are found without a look at all others.
	groups map[string][]string
}

func groupOf(key string) string {
	group, _, found := strings.Cut(key, "\x00")
	if !found {
		return ""
	}
	return group
}

func newLayer() *layer { return &layer{tables: map[machine.Table]*layerTable{}} }

// chunk is about how much room a layer makes at once.
const chunk = 256 << 10

// keep copies bytes to where they stay as long as the layer.
func (l *layer) keep(b []byte) []byte {
	for ; l.filling < len(l.chunks); l.filling++ {
		if c := l.chunks[l.filling]; cap(c)-len(c) >= len(b) {
			break
		}
	}
	if l.filling == len(l.chunks) {
		l.chunks = append(l.chunks, make([]byte, 0, max(chunk, len(b))))
	}
	c := &l.chunks[l.filling]
	from := len(*c)
	*c = append(*c, b...)
	return (*c)[from:len(*c):len(*c)]
}

// empty makes a layer that nobody has any more ready for other records, in the same room.
func (l *layer) empty() {
	for _, t := range l.tables {
		keys := t.groups[""][:0]
		clear(t.values)
		clear(t.groups)
		t.groups[""] = keys
	}
	for i := range l.chunks {
		l.chunks[i] = l.chunks[i][:0]
	}
	clear(l.segments)
	l.segments, l.size, l.filling = l.segments[:0], 0, 0
}

// merge takes a batch. It keeps its bytes.
func (l *layer) merge(s segment) {
	l.segments = append(l.segments, s.bytes[s.head:])
	l.size += len(s.bytes)
	var t *layerTable
	var of machine.Table
	for _, c := range s.changes {
		if t == nil || c.table != of { // changes of a table come one after the other
			if of, t = c.table, l.tables[c.table]; t == nil {
				t = &layerTable{values: map[string][]byte{}, groups: map[string][]string{}}
				l.tables[of] = t
			}
		}
		if _, there := t.values[c.key]; !there {
			g := groupOf(c.key)
			t.groups[g] = append(t.groups[g], c.key)
		}
		t.values[c.key] = c.value(s.bytes)
	}
}

// lookup is what one table says of a record: nothing, that it is not there any more (no bytes), or its value.
type lookup struct {
	there bool
	bytes []byte
}

// get looks a record up in each of the tables.
func (p pending) get(key string, tables []machine.Table) []lookup {
	out := make([]lookup, len(tables))
	for i, t := range tables {
		for _, l := range p {
			if table, ok := l.tables[t]; ok && !out[i].there {
				out[i].bytes, out[i].there = table.values[key]
			}
		}
	}
	return out
}

// fresh is a record as it stands in the log.
type fresh struct {
	key   string
	value []byte // nil: not there any more
}

// collect returns, table by table, the records whose keys begin with the prefix; the older layer's come first.
func (p pending) collect(prefix string, tables []machine.Table) [][]fresh {
	out := make([][]fresh, len(tables))
	for i, t := range tables {
		for _, l := range slices.Backward(p) {
			if table, ok := l.tables[t]; ok {
				out[i] = table.collect(prefix, out[i])
			}
		}
	}
	return out
}

// inOrder sorts what collect returned for a table by key, and leaves each key once, as the youngest layer has it.
func inOrder(records []fresh) []fresh {
	slices.SortStableFunc(records, func(a, b fresh) int { return strings.Compare(a.key, b.key) })
	out := records[:0]
	for i, r := range records {
		if i+1 == len(records) || records[i+1].key != r.key {
			out = append(out, r)
		}
	}
	return out
}

func (t *layerTable) collect(prefix string, out []fresh) []fresh {
	among := func(keys []string) {
		for _, k := range keys {
			if strings.HasPrefix(k, prefix) {
				out = append(out, fresh{k, t.values[k]})
			}
		}
	}
	if g := groupOf(prefix); g != "" {
		among(t.groups[g])
		return out
	}
	for _, keys := range t.groups {
		among(keys)
	}
	return out
}

// keys returns all keys in order. Within a group they came nearly so.
func (t *layerTable) keys() []string {
	keys := make([]string, 0, len(t.values))
	for _, g := range slices.Sorted(maps.Keys(t.groups)) {
		keys = append(keys, t.groups[g]...)
	}
	slices.Sort(keys)
	return keys
}

// fold writes the layer to its tables, each record once, in the order of keys.
func (l *layer) fold(tx *bbolt.Tx) error {
	for _, name := range slices.Sorted(maps.Keys(l.tables)) {
		b := tx.Bucket([]byte(name))
		if b == nil {
			return fmt.Errorf("there is no table %s", name)
		}
		b.FillPercent = 0.9 // keys come in order
		t := l.tables[name]
		for _, k := range t.keys() {
			var err error
			if v := t.values[k]; v == nil {
				err = b.Delete([]byte(k))
			} else {
				err = b.Put([]byte(k), v)
			}
			if err != nil {
				return fmt.Errorf("write %s %q: %w", name, k, err)
			}
		}
	}
	return nil
}
