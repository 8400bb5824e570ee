package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/homing-gateway/homing/internal/machine"
)

// segment is one batch as it stands in the log: change after change, each with its table, its key, and the record.
type segment struct {
	bytes   []byte
	head    int // how much of them stands before the first change
	changes []change
}

// change is one record as it will stand in its table. Its bytes are a part of the segment's: from 0 to 0, where no record can
// stand, is one that is not to be there any more.
type change struct {
	table    machine.Table
	key      string
	from, to int
}

func (c change) value(segment []byte) []byte {
	if c.to == 0 {
		return nil
	}
	return segment[c.from:c.to:c.to]
}

// reset empties the segment, but for a head of n bytes, and keeps its room for the next batch, unless that is more than batches
// usually need.
func (s *segment) reset(n int) {
	const most = 4 << 20
	if cap(s.bytes) > most {
		s.bytes = nil
	}
	clear(s.changes)
	s.bytes, s.head, s.changes = append(s.bytes[:0], make([]byte, n)...), n, s.changes[:0]
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
func (s *segment) putJournal(key string, lines []machine.Record) error {
	s.name(machine.Journal, key)
	from := len(s.bytes)
	s.bytes = append(s.bytes, present)
	for i := range lines {
		at := len(s.bytes)
		b, err := appendValue(append(s.bytes, 0, 0, 0, 0), &lines[i])
		if err != nil {
			return fmt.Errorf("encode a line of the journal: %w", err)
		}
		binary.BigEndian.PutUint32(b[at:at+4], uint32(len(b)-at-4))
		s.bytes = b
	}
	s.end(machine.Journal, key, from)
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
		c.from, c.to = from+1, len(s.bytes)
	}
	s.changes = append(s.changes, c)
}

// What stands before a record in a segment.
const (
	absent  = 0 // there is none any more
	present = 1
)

// parseSegment takes a batch apart.
func parseSegment(b []byte) (segment, error) {
	s := segment{bytes: b}
	at := 0
	take := func(width int) (field []byte, ok bool) {
		n := 0
		if len(b)-at < width {
			return nil, false
		}
		for _, x := range b[at : at+width] {
			n = n<<8 | int(x)
		}
		if at += width; n > len(b)-at {
			return nil, false
		}
		at += n
		return b[at-n : at], true
	}
	for at < len(b) {
		table, ok1 := take(1)
		key, ok2 := take(2)
		record, ok3 := take(4)
		if !ok1 || !ok2 || !ok3 {
			return s, fmt.Errorf("%w: a batch of the log cannot be read", ErrDamaged)
		}
		c := change{table: machine.Table(table), key: string(key)}
		if len(record) > 0 && record[0] == present {
			c.from, c.to = at-len(record)+1, at
		}
		s.changes = append(s.changes, c)
	}
	return s, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// parseOldLog takes the log of schema 2 apart. It stood in the file itself: one stream of segments, each behind its length and
// its checksum, four bytes each.
func parseOldLog(stream []byte) (segments []segment, err error) {
	const header = 8
	for len(stream) > 0 {
		if len(stream) < header {
			return nil, fmt.Errorf("%w: the log ends in the middle of a batch", ErrDamaged)
		}
		n := uint64(binary.BigEndian.Uint32(stream[:4]))
		sum := binary.BigEndian.Uint32(stream[4:8])
		if uint64(len(stream)-header) < n {
			return nil, fmt.Errorf("%w: the log ends in the middle of a batch", ErrDamaged)
		}
		body := stream[header : header+n]
		if crc32.Checksum(body, castagnoli) != sum {
			return nil, fmt.Errorf("%w: a batch of the log does not match its checksum", ErrDamaged)
		}
		s, err := parseSegment(body)
		if err != nil {
			return nil, err
		}
		segments = append(segments, s)
		stream = stream[header+n:]
	}
	return segments, nil
}
