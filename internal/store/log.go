package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"go.etcd.io/bbolt"

	"github.com/homing-gateway/homing/internal/machine"
)

// A batch changes records all over the file: a conversation's lane, the end of its transcript, a process, a turn. To write
// each to its place at every commit would rewrite as many pages as there are records. So a commit appends its batch, in
// one piece, to the bucket "log", and keeps it in memory as pending; readers look there first. Once the log has grown to
// foldAt, the next commit writes what is pending to its tables, each record once however often it changed meanwhile, and
// empties the log in the same transaction. A start reads the log and has the same records pending again.

// logBucket holds the log: a stream of segments, one a batch, cut into pieces under running numbers.
const logBucket = "log"

// foldAt is the length of the log from which on the next commit folds it. It is a measure of the memory that the log costs, of
// how long a start reads it, and of how long the commit takes that folds it; one batch alone may be longer.
const foldAt = 4 << 20

// pieceSize bounds a piece of the log. bbolt rewrites a page's neighbours with it, so a piece is not much more than a page.
const pieceSize = 16 << 10

// headerSize is what a segment begins with: its length and its checksum, four bytes each. bbolt's pages have none.
const headerSize = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// segment is one batch as it lies in the log.
type segment struct {
	bytes   []byte
	changes []change
}

// change is one record as it will stand in its table; value is nil for one that is not to be there any more.
type change struct {
	table machine.Table
	key   string
	value []byte
}

// meanChange is about how long a change is: what is reserved too much stays in memory as long as the segment is pending.
const meanChange = 320

func newSegment(changes int) segment {
	return segment{bytes: make([]byte, headerSize, headerSize+meanChange*changes), changes: make([]change, 0, changes)}
}

// add appends a change whose value is encoded, or nil. The value is copied.
func (s *segment) add(t machine.Table, key string, value []byte) {
	s.name(t, key)
	from := len(s.bytes)
	if value == nil {
		s.bytes = append(s.bytes, absent)
	} else {
		s.bytes = append(append(s.bytes, present), value...)
	}
	s.end(t, key, from)
}

// put appends a record.
func (s *segment) put(t machine.Table, key string, record any) error {
	s.name(t, key)
	from := len(s.bytes)
	b, err := appendValue(append(s.bytes, present), record)
	if err != nil {
		return fmt.Errorf("encode %s %q: %w", t, key, err)
	}
	s.bytes = b
	s.end(t, key, from)
	return nil
}

// putJournal appends the journal of a batch as one record under the number of its first line: lines are written together
// and read together, and there are more of them than of everything else.
func (s *segment) putJournal(lines []machine.Change) error {
	s.name(machine.Journal, lines[0].Key)
	from := len(s.bytes)
	s.bytes = append(s.bytes, present)
	for _, c := range lines {
		at := len(s.bytes)
		b, err := appendValue(append(s.bytes, 0, 0, 0, 0), c.Value)
		if err != nil {
			return fmt.Errorf("encode a line of the journal: %w", err)
		}
		binary.BigEndian.PutUint32(b[at:at+4], uint32(len(b)-at-4))
		s.bytes = b
	}
	s.end(machine.Journal, lines[0].Key, from)
	return nil
}

func (s *segment) name(t machine.Table, key string) {
	s.bytes = append(s.bytes, byte(len(t)))
	s.bytes = append(s.bytes, t...)
	s.bytes = binary.BigEndian.AppendUint16(s.bytes, uint16(len(key)))
	s.bytes = append(s.bytes, key...)
	s.bytes = append(s.bytes, 0, 0, 0, 0) // the length of what follows
}

// end completes a change whose last part, from `from` on, says whether there is a record, and which.
func (s *segment) end(t machine.Table, key string, from int) {
	binary.BigEndian.PutUint32(s.bytes[from-4:from], uint32(len(s.bytes)-from))
	c := change{table: t, key: key}
	if s.bytes[from] == present {
		c.value = s.bytes[from+1 : len(s.bytes) : len(s.bytes)]
	}
	s.changes = append(s.changes, c)
}

// What stands before a record in a segment.
const (
	absent  = 0 // there is none any more
	present = 1
)

// seal completes the segment's header.
func (s *segment) seal() {
	body := s.bytes[headerSize:]
	binary.BigEndian.PutUint32(s.bytes[:4], uint32(len(body)))
	binary.BigEndian.PutUint32(s.bytes[4:8], crc32.Checksum(body, castagnoli))
}

// parseLog takes the stream of the log apart.
func parseLog(stream []byte) (segments []segment, err error) {
	for len(stream) > 0 {
		if len(stream) < headerSize {
			return nil, fmt.Errorf("%w: the log ends in the middle of a segment", ErrDamaged)
		}
		n := uint64(binary.BigEndian.Uint32(stream[:4]))
		sum := binary.BigEndian.Uint32(stream[4:8])
		if uint64(len(stream)-headerSize) < n {
			return nil, fmt.Errorf("%w: the log ends in the middle of a segment", ErrDamaged)
		}
		body := stream[headerSize : headerSize+n]
		if crc32.Checksum(body, castagnoli) != sum {
			return nil, fmt.Errorf("%w: a segment of the log does not match its checksum", ErrDamaged)
		}
		s := segment{bytes: stream[:headerSize+n]}
		if s.changes, err = parseSegment(body); err != nil {
			return nil, err
		}
		segments = append(segments, s)
		stream = stream[headerSize+n:]
	}
	return segments, nil
}

func parseSegment(body []byte) (changes []change, err error) {
	take := func(width int) []byte {
		n := 0
		if len(body) < width {
			err = fmt.Errorf("%w: a segment of the log cannot be read", ErrDamaged)
			return nil
		}
		for _, b := range body[:width] {
			n = n<<8 | int(b)
		}
		if body = body[width:]; n > len(body) {
			err = fmt.Errorf("%w: a segment of the log cannot be read", ErrDamaged)
			return nil
		}
		field := body[:n:n]
		body = body[n:]
		return field
	}
	for len(body) > 0 && err == nil {
		c := change{table: machine.Table(take(1)), key: string(take(2))}
		if v := take(4); len(v) > 0 && v[0] == present {
			c.value = v[1:]
		}
		changes = append(changes, c)
	}
	return changes, err
}

// pending holds the records of the log. It only ever grows; after a fold an empty one takes its place, so that a reader
// who has both it and a transaction from before the fold misses nothing.
type pending struct {
	mu     sync.RWMutex
	tables map[machine.Table]*pendingTable
	size   int // of the log, in bytes
}

type pendingTable struct {
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

func (p *pending) merge(s segment) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.size += len(s.bytes)
	for _, c := range s.changes {
		t, ok := p.tables[c.table]
		if !ok {
			t = &pendingTable{values: map[string][]byte{}, groups: map[string][]string{}}
			if p.tables == nil {
				p.tables = map[machine.Table]*pendingTable{}
			}
			p.tables[c.table] = t
		}
		if _, there := t.values[c.key]; !there {
			g := groupOf(c.key)
			t.groups[g] = append(t.groups[g], c.key)
		}
		t.values[c.key] = c.value
	}
}

// lookup is what one table says of a record: nothing, that it is not there any more (no bytes), or its value.
type lookup struct {
	there bool
	bytes []byte
}

// get looks a record up in each of the tables.
func (p *pending) get(key string, tables []machine.Table) []lookup {
	p.mu.RLock()
	defer p.mu.RUnlock()
	out := make([]lookup, len(tables))
	for i, t := range tables {
		if table, ok := p.tables[t]; ok {
			out[i].bytes, out[i].there = table.values[key]
		}
	}
	return out
}

// scan returns, table by table, the changes of records whose keys begin with the prefix, in the order of their keys.
func (p *pending) scan(prefix string, tables []machine.Table) [][]change {
	out := make([][]change, len(tables))
	p.mu.RLock()
	for i, t := range tables {
		if table, ok := p.tables[t]; ok {
			out[i] = table.scan(t, prefix)
		}
	}
	p.mu.RUnlock() // sorting is nothing that the writer waits for
	for _, changes := range out {
		slices.SortFunc(changes, func(a, b change) int { return strings.Compare(a.key, b.key) })
	}
	return out
}

func (table *pendingTable) scan(t machine.Table, prefix string) (out []change) {
	collect := func(keys []string) {
		for _, k := range keys {
			if strings.HasPrefix(k, prefix) {
				out = append(out, change{t, k, table.values[k]})
			}
		}
	}
	if g := groupOf(prefix); g != "" {
		collect(table.groups[g])
		return out
	}
	for _, keys := range table.groups {
		collect(keys)
	}
	return out
}

// fold writes what is pending to its tables and empties the log.
func (p *pending) fold(tx *bbolt.Tx) error {
	for _, name := range slices.Sorted(maps.Keys(p.tables)) { // only the writer changes p, and it is here
		b := tx.Bucket([]byte(name))
		if b == nil {
			return fmt.Errorf("there is no table %s", name)
		}
		b.FillPercent = 0.9 // keys come in order
		values := p.tables[name].values
		for _, k := range slices.Sorted(maps.Keys(values)) {
			var err error
			if v := values[k]; v == nil {
				err = b.Delete([]byte(k))
			} else {
				err = b.Put([]byte(k), v)
			}
			if err != nil {
				return fmt.Errorf("write %s %q: %w", name, k, err)
			}
		}
	}
	if err := tx.DeleteBucket([]byte(logBucket)); err != nil {
		return err
	}
	_, err := tx.CreateBucket([]byte(logBucket))
	return err
}

// appendLog writes a segment to the end of the log, as pieces from number `next` on, and returns the number that comes after.
func appendLog(tx *bbolt.Tx, next uint64, s segment) (uint64, error) {
	b := tx.Bucket([]byte(logBucket))
	b.FillPercent = 1
	for piece := range slices.Chunk(s.bytes, pieceSize) {
		if err := b.Put([]byte(machine.SeqKey(next)), piece); err != nil {
			return next, err
		}
		next++
	}
	return next, nil
}

// readLog makes pending again what the log of an opened file holds. The log of a newer version is not looked at: the error
// wraps ErrNewer.
func (db *DB) readLog() error {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // of a file that was cut
	return db.guard("read the log of the store", func() error {
		var stream []byte
		err := db.bolt.View(func(tx *bbolt.Tx) error {
			if _, err := schemaOf(tx); err != nil {
				return err
			}
			b := tx.Bucket([]byte(logBucket))
			if b == nil {
				return nil // an older layout
			}
			return b.ForEach(func(k, v []byte) error {
				db.next = binary.BigEndian.Uint64(k) + 1
				stream = append(stream, v...)
				return nil
			})
		})
		if err != nil {
			return err
		}
		segments, err := parseLog(slices.Clip(stream))
		for _, s := range segments {
			db.pending.merge(s)
		}
		return err
	})
}
