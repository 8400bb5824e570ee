package store

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

// aLog is a log with these records in it, from block `from` on and round its end, over what an earlier round left.
func aLog(t testing.TB, blocks, from int, bodies ...[]byte) ([]byte, base) {
	file := make([]byte, blocks*block)
	b := base{ID: 0x1122334455667788, Next: 1000, At: int64(from * block), Size: int64(len(file))}
	old := func(at int, number uint64, size int) {
		seal(file[at:at+recordHeader+size], b.ID, number)
	}
	for i := range blocks {
		old(i*block, uint64(500+i), 4000)
	}
	l := log{id: b.ID, size: b.Size, longest: b.Size, next: b.Next, at: b.At, from: b.At}
	for _, body := range bodies {
		r := make([]byte, whole(recordHeader+len(body)))
		copy(r[recordHeader:], body)
		at := l.at
		if at+int64(len(r)) > l.size {
			at = 0
		}
		seal(r[:recordHeader+len(body)], l.id, l.next)
		if at+int64(len(r)) > int64(len(file)) {
			t.Fatal("the log is too short")
		}
		copy(file[at:], r)
		l.at, l.next = at+int64(len(r)), l.next+1
	}
	return file, b
}

func replayed(file []byte, b base) (got [][]byte, l log, err error) {
	l, err = replay(file, b, func(body []byte) error {
		got = append(got, bytes.Clone(body))
		return nil
	})
	return got, l, err
}

func records() [][]byte {
	long := make([]byte, 6000)
	for i := range long {
		long[i] = byte(i)
	}
	return [][]byte{[]byte("first"), long, []byte("third"), bytes.Repeat([]byte{0}, 5000), {}, []byte("last")}
}

func same(got, want [][]byte) bool { return slices.EqualFunc(got, want, bytes.Equal) }

// What was appended is replayed, and the log goes on where it ended, from whichever block on it began.
func TestReplay(t *testing.T) {
	want := records()
	for from := range 12 {
		file, b := aLog(t, 12, from, want...)
		got, l, err := replayed(file, b)
		if err != nil || !same(got, want) || l.next != b.Next+uint64(len(want)) {
			t.Errorf("from block %d: %d records, the next is %d, %v", from, len(got), l.next, err)
		}
	}
}

// Wherever the writing of the last record stopped, all before it are there, and it is there whole or not at all.
func TestReplayOfACutLog(t *testing.T) {
	want := records()
	for n := range want {
		stood, b := aLog(t, 12, 7, want[:n]...)
		written, _ := aLog(t, 12, 7, want[:n+1]...)
		file := bytes.Clone(stood)
		for cut, x := range written {
			if file[cut] == x {
				continue
			}
			file[cut] = x
			got, _, err := replayed(file, b)
			if err != nil || !same(got, want[:n]) && !same(got, want[:n+1]) {
				t.Fatalf("%d records, cut at %d: %d are there, %v", n+1, cut, len(got), err)
			}
		}
	}
}

// A bit that is another one is told, unless it is in the last record, which may be one that was never acknowledged, or means nothing.
func TestReplayOfASpoiltLog(t *testing.T) {
	want := records()
	file, b := aLog(t, 12, 7, want...)
	told := 0
	for i := range file {
		for bit := range 8 {
			file[i] ^= 1 << bit
			got, _, err := replayed(file, b)
			switch {
			case errors.Is(err, ErrDamaged):
				told++
			case err != nil, !same(got, want) && !same(got, want[:len(want)-1]):
				t.Fatalf("bit %d of byte %d: %d records, %v", bit, i, len(got), err)
			}
			file[i] ^= 1 << bit
		}
	}
	if least := 8 * (5 + 6000 + 5 + 5000 + 5*recordHeader); told < least {
		t.Errorf("%d bits of %d were told", told, least)
	}
}

// FuzzLog: whatever the log and the base say, replaying ends, with an error or with records that were whole.
func FuzzLog(f *testing.F) {
	file, b := aLog(f, 2, 1, []byte("one"), []byte("two"))
	f.Add(file, b.ID, b.Next, b.At, b.Size)
	f.Add([]byte{}, uint64(0), uint64(0), int64(-1), int64(-1))
	f.Add(make([]byte, block), uint64(0), uint64(0), int64(0), int64(block))
	f.Fuzz(func(t *testing.T, file []byte, id, next uint64, at, size int64) {
		got, l, err := replayed(file, base{id, next, at, size})
		if err == nil && l.next != next+uint64(len(got)) {
			t.Fatalf("%d records from %d on, and %d is next", len(got), next, l.next)
		}
	})
}
