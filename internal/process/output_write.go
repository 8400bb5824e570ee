package process

import (
	"fmt"
	"os"
	"path/filepath"
)

// outputLog keeps the head and the tail of a command's output in a file of bounded size: the first bytes where they were
// written, the rest in a ring behind them. So as long as nothing was dropped the file is simply the output.
//
// The counts lie in a file of their own. A reader takes them before and after it reads the output and so knows which
// bytes of the ring were overwritten under its hands: reserved is published before a byte is overwritten, written after.
type outputLog struct {
	file, count *os.File
	counts      counts
	err         error // the first failure; from then on bytes are only counted
}

func createOutputLog(dir string, limit int64) (*outputLog, error) {
	file, err := os.OpenFile(filepath.Join(dir, outputFile), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", outputFile, err)
	}
	count, err := os.OpenFile(filepath.Join(dir, countFile), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("create %s: %w", countFile, err)
	}
	l := &outputLog{file: file, count: count, counts: counts{head: limit / 2, ring: limit - limit/2}}
	l.publish()
	return l, l.err
}

// append takes the next bytes of the output. It never fails and never waits for anything but the file system: what can't
// be written is counted and told in totals.
func (l *outputLog) append(b []byte) {
	c := &l.counts
	size := int64(len(b))
	if l.err == nil {
		c.reserved = c.written + size
		if c.reserved > c.head+c.ring {
			l.publish()
		}
		l.write(b)
	}
	if l.err == nil {
		c.written += size
	} else {
		c.unkept += size
	}
	l.publish()
}

func (l *outputLog) write(b []byte) {
	c, offset := l.counts, l.counts.written
	if offset < c.head {
		n := min(int64(len(b)), c.head-offset)
		l.writeAt(b[:n], offset)
		b, offset = b[n:], offset+n
	}
	if skip := int64(len(b)) - c.ring; skip > 0 { // they would be overwritten by this very call
		b, offset = b[skip:], offset+skip
	}
	for len(b) > 0 {
		at := (offset - c.head) % c.ring
		n := min(int64(len(b)), c.ring-at)
		l.writeAt(b[:n], c.head+at)
		b, offset = b[n:], offset+n
	}
}

func (l *outputLog) writeAt(b []byte, at int64) {
	if l.err != nil {
		return
	}
	if _, err := l.file.WriteAt(b, at); err != nil {
		l.err = err
	}
}

func (l *outputLog) publish() {
	if _, err := l.count.WriteAt(l.counts.line(), 0); err != nil && l.err == nil {
		l.err = err
	}
}

func (l *outputLog) totals() Totals {
	t := l.counts.totals()
	if l.err != nil {
		t.Error = l.err.Error()
	}
	return t
}
