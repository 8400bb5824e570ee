package store

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"github.com/homing-gateway/homing/internal/durable"
	"github.com/homing-gateway/homing/internal/machine"
)

// A batch changes records all over the file: a conversation's lane, the end of its transcript, a process, a turn. To write
// each to its place at every commit would rewrite as many pages as there are records, and bbolt syncs twice. So a commit
// appends its batch, in one piece and with one sync, to a file of its own, the log, and keeps it in memory as pending;
// readers look there first. Once enough is pending, it is written to its tables in the background, each record once however
// often it changed meanwhile, and its room in the log is used again. A start reads what the tables do not hold yet.
//
// The log is a ring of blocks that were written before, so that a sync has no metadata to write. A record begins at a
// block, so that nothing that was acknowledged is written twice. Records have running numbers, and the tables say with which
// one the log begins for them, where that stands, and how long the file is (base): bytes of an earlier round have an earlier
// number, those of another log another id. The first block always begins with the id. There is never more than one record on its way to the disk. So the first that is
// not whole is the end, was not acknowledged, and is dropped; unless a whole one with a later number is there, which says that
// it was.
//
// A store that was closed in order needs no log: everything is in the tables, no base stands there, and the file is gone.

const (
	// block is what a record's place is counted in, and what a disk writes at once.
	block = 4096
	// recordHeader is what a record begins with: its checksum and its length, four bytes each, the log's id and its number,
	// eight bytes each.
	recordHeader = 24
)

// limits are the measures of a log, in bytes.
type limits struct {
	first   int64 // length of a new one: it is written before the daemon is ready. It doubles when there is need
	longest int64 // where that ends: a commit waits then until there is room again
	fold    int   // how much is pending when it is folded: the memory that the log costs, and how long a start reads
}

var usual = limits{first: 256 << 10, longest: 32 << 20, fold: 8 << 20}

// LogPath is where the log of a store stands that was not closed in order.
func LogPath(path string) string { return path + "-wal" }

// base is what the tables say of the log that goes on from them.
type base struct {
	ID   uint64 `json:"id"`
	Next uint64 `json:"next"` // number of the first record that they do not hold
	At   int64  `json:"at"`   // where it stands, or at the beginning of the file
	Size int64  `json:"size"` // of the file
}

var baseKey = []byte("log")

// baseOf reads it; ok is false for a store that needs no log.
func baseOf(tx *bbolt.Tx) (b base, ok bool, err error) {
	meta := tx.Bucket([]byte(machine.Metas))
	if meta == nil {
		return b, false, nil
	}
	v := meta.Get(baseKey)
	if v == nil {
		return b, false, nil
	}
	if err := json.Unmarshal(v, &b); err != nil {
		return b, false, fmt.Errorf("%w: what it says of its log: %w", ErrDamaged, err)
	}
	return b, true, nil
}

func putBase(tx *bbolt.Tx, b base) error {
	v, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return tx.Bucket([]byte(machine.Metas)).Put(baseKey, v)
}

// log is the file as the writer has it.
type log struct {
	f       *os.File
	id      uint64
	size    int64
	longest int64
	next    uint64 // number of the next record
	at      int64  // where it goes
	// from is where the oldest record stands that the tables do not hold; it is at where there is none.
	from int64
}

// createLog makes an empty log, durable with its name. One that is there, and that no store expects, is kept beside it.
func createLog(path string, m limits) (*log, error) {
	path = LogPath(path)
	if err := os.Rename(path, path+".old"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	var id [8]byte
	_, _ = rand.Read(id[:]) // it never fails
	l := &log{f: f, id: binary.BigEndian.Uint64(id[:]), longest: m.longest, next: 1}
	first := make([]byte, block) // what is in it is no record: it says whose log this is
	seal(first[:recordHeader], l.id, 0)
	if _, err = f.WriteAt(first, 0); err == nil {
		l.size = block
		err = l.lengthen(m.first)
		l.size = m.first
	}
	if err == nil {
		err = durable.Names(filepath.Dir(path))
	}
	if err != nil {
		_ = l.f.Close()
		_ = os.Remove(path)
		return nil, err
	}
	return l, nil
}

// lengthen writes the blocks that make the file so long. They are not the log's yet.
func (l *log) lengthen(size int64) error {
	zeros := make([]byte, 1<<20)
	for at := l.size; at < size; at += int64(len(zeros)) {
		if _, err := l.f.WriteAt(zeros[:min(int64(len(zeros)), size-at)], at); err != nil {
			_ = l.f.Truncate(l.size)
			return err
		}
	}
	return l.f.Sync()
}

// space is what stands in the way of a record.
type space int

const (
	fits space = iota
	wantsLonger
	wantsFold  // what stands there has to come into the tables first
	neverThere // it is longer than the log may get
)

// place finds the place of a record of n bytes. The record never takes all of what is free: a log that is full would look
// like an empty one.
func (l *log) place(n int64) (at int64, s space) {
	if n > l.longest/4 {
		return 0, neverThere
	}
	switch {
	case l.at < l.from: // the log goes round the end of the file
		if l.at+n < l.from {
			return l.at, fits
		}
		return 0, wantsFold
	case l.at+n <= l.size:
		return l.at, fits
	case n < l.from:
		return 0, fits
	case l.size < l.longest:
		return 0, wantsLonger
	}
	return 0, wantsFold
}

// append writes a record, whose header is left free before its body, at its place, and makes it durable.
func (l *log) append(record []byte, body int, at int64) error {
	seal(record[:recordHeader+body], l.id, l.next)
	if _, err := l.f.WriteAt(record, at); err != nil {
		return err
	}
	if err := datasync(l.f); err != nil {
		return err
	}
	l.at = at + int64(len(record))
	l.next++
	return nil
}

// seal writes the header of a record.
func seal(record []byte, id, number uint64) {
	binary.BigEndian.PutUint32(record[4:], uint32(len(record)-recordHeader))
	binary.BigEndian.PutUint64(record[8:], id)
	binary.BigEndian.PutUint64(record[16:], number)
	binary.BigEndian.PutUint32(record, crc32.Checksum(record[4:], castagnoli))
}

// whole rounds a length up to whole blocks.
func whole(n int) int { return (n + block - 1) &^ (block - 1) }

// recordAt returns the body of the record of that number, if it stands there and is whole.
func recordAt(file []byte, at int64, id, number uint64) ([]byte, bool) {
	if at < 0 || at > int64(len(file))-recordHeader {
		return nil, false
	}
	r := file[at:]
	n := int64(binary.BigEndian.Uint32(r[4:]))
	if binary.BigEndian.Uint64(r[8:]) != id || binary.BigEndian.Uint64(r[16:]) != number || n > int64(len(r))-recordHeader {
		return nil, false
	}
	return r[recordHeader : recordHeader+n], crc32.Checksum(r[4:recordHeader+n], castagnoli) == binary.BigEndian.Uint32(r)
}

// replay hands the records that the tables do not hold to take, and returns the log as it stands after them. The error wraps
// ErrDamaged for a log that was acknowledged and is not whole.
func replay(file []byte, b base, take func(body []byte) error) (log, error) {
	l := log{id: b.ID, size: b.Size, next: b.Next, at: b.At, from: b.At}
	if b.Size < 0 || b.At < 0 || b.At > b.Size {
		return l, fmt.Errorf("%w: what it says of its log can't be: %+v", ErrDamaged, b)
	}
	if int64(len(file)) < b.Size {
		return l, fmt.Errorf("%w: its log was cut: it has %d bytes of %d", ErrDamaged, len(file), b.Size)
	}
	file = file[:b.Size] // more than that was never used
	if len(file) < recordHeader || binary.BigEndian.Uint64(file[8:]) != b.ID {
		return l, fmt.Errorf("%w: the log beside it is another store's: its own, which may be the one that ends in .old, belongs there", ErrDamaged)
	}
	first := true
	for {
		at := l.at
		body, ok := recordAt(file, at, l.id, l.next)
		if !ok { // it may have found no room at the end
			at = 0
			body, ok = recordAt(file, at, l.id, l.next)
		}
		if !ok {
			break
		}
		if err := take(body); err != nil {
			return l, err
		}
		if first {
			l.from, first = at, false
		}
		l.at = at + int64(whole(recordHeader+len(body)))
		l.next++
	}
	for at := 0; at+recordHeader <= len(file); at += block {
		n := binary.BigEndian.Uint64(file[at+16:])
		if n <= l.next {
			continue
		}
		if _, ok := recordAt(file, int64(at), l.id, n); ok {
			return l, fmt.Errorf("%w: batch %d of its log is not whole, though batch %d came after it", ErrDamaged, l.next, n)
		}
	}
	return l, nil
}

// readLog makes pending again what the log of an opened file holds, and returns how the log goes on; nil where there is none.
// The log of a newer version is not looked at: the error wraps ErrNewer.
func (db *DB) readLog() (l *log, err error) {
	young := newLayer()
	err = db.guard("read the log of the store", func() error {
		var b base
		var ours bool
		var old []byte
		err := db.bolt.View(func(tx *bbolt.Tx) (err error) {
			if _, err = schemaOf(tx); err != nil {
				return err
			}
			old = oldLog(tx)
			b, ours, err = baseOf(tx)
			return err
		})
		if err != nil {
			return err
		}
		segments, err := parseOldLog(old)
		for _, s := range segments {
			young.merge(s)
		}
		if err != nil || !ours {
			return err
		}
		file, err := os.ReadFile(LogPath(db.path))
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: %s, which holds the latest commits, is missing: it belongs beside the file", ErrDamaged, LogPath(db.path))
		}
		if err != nil {
			return err
		}
		at, err := replay(file, b, func(body []byte) error {
			s, err := parseSegment(append([]byte(nil), body...)) // what is kept is not to keep the file
			young.merge(s)
			return err
		})
		l = &at
		return err
	})
	db.pending = pending{young}
	return l, err
}
