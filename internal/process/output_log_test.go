package process

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// Whatever is written in whatever pieces, the log keeps the head and the tail of it and counts the rest.
func TestOutputLogKeepsHeadAndTail(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(2, 40).Draw(t, "limit")
		log, err := createOutputLog(dir, limit)
		if err != nil {
			t.Fatal(err)
		}
		defer log.file.Close()
		defer log.count.Close()
		p := &Process{id: "p", dir: dir}
		var all []byte
		for _, size := range rapid.SliceOfN(rapid.IntRange(1, 60), 0, 12).Draw(t, "pieces") {
			for range size {
				all = append(all, byte('a'+len(all)%23))
			}
			log.append(all[len(all)-size:])
			s, err := p.readOutput()
			if err != nil {
				t.Fatal(err)
			}
			kept := min(int64(len(all)), limit)
			head, tail := all[:min(int64(len(all)), limit/2)], all[max(0, len(all)-int(limit-limit/2)):]
			if int64(len(all)) <= limit {
				tail = all[len(head):]
			}
			if !bytes.Equal(s.head, head) || !bytes.Equal(s.tail, tail) || s.total != int64(len(all)) || s.tailAt != int64(len(all)-len(tail)) {
				t.Fatalf("of %q kept %q and %q from %d of %d", all, s.head, s.tail, s.tailAt, s.total)
			}
			if got := log.totals(); got != (Totals{Total: int64(len(all)), Kept: kept}) {
				t.Fatalf("totals %+v of %d bytes", got, len(all))
			}
			if info, err := log.file.Stat(); err != nil || info.Size() > limit {
				t.Fatalf("%d bytes on disk, %v", info.Size(), err)
			}
		}
	})
}

// A reader that was overtaken takes only what it can trust.
func TestReaderIsOvertaken(t *testing.T) {
	before := counts{reserved: 12, written: 12, head: 4, ring: 8} // the ring holds 4 to 11
	for _, c := range []struct {
		after  counts
		tail   string
		tailAt int64
	}{
		{before, "efghijkl", 4},
		{counts{reserved: 15, written: 12, head: 4, ring: 8}, "hijkl", 7}, // 4, 5 and 6 are being overwritten
		{counts{reserved: 15, written: 15, head: 4, ring: 8}, "hijkl", 7},
		{counts{reserved: 99, written: 99, head: 4, ring: 8}, "", 12},
	} {
		s := assemble([]byte("abcdefghijkl"), before, c.after)
		if string(s.head) != "abcd" || string(s.tail) != c.tail || s.tailAt != c.tailAt || s.total != 12 {
			t.Errorf("after %+v: %q, %q from %d of %d", c.after, s.head, s.tail, s.tailAt, s.total)
		}
	}
}

// A write that fails is told, and what came before stays readable.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	log, err := createOutputLog(dir, 16)
	if err != nil {
		t.Fatal(err)
	}
	defer log.count.Close()
	log.append([]byte("0123456789abcdefghij"))
	log.file.Close() // every write fails from here on
	log.append([]byte("lost"))
	log.append([]byte("too"))
	if got := log.totals(); got.Total != 27 || got.Error == "" {
		t.Errorf("totals %+v", got)
	}
	p := &Process{id: "p", dir: dir}
	o, err := p.Output()
	if err != nil || o.Total != 27 || !o.Truncated || !bytes.HasPrefix([]byte(o.Text), []byte("01234567\n[… ")) {
		t.Errorf("output %+v, %v", o, err)
	}
	if o.Dropped != 27-8-4 { // the ring was about to be overwritten by the first failed write
		t.Errorf("dropped %d", o.Dropped)
	}
	for next, end := int64(0), false; !end; {
		page, err := p.ReadLog(next, 5)
		if err != nil || (page.Next == next && !page.End) {
			t.Fatalf("page at %d: %+v, %v", next, page, err)
		}
		next, end = page.Next, page.End
	}
}
