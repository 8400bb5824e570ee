package process

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// counts is the content of output.count and tells how to read output.log. All of it is in bytes; the output is counted
// from its first byte.
type counts struct {
	reserved, written int64 // the ring may be overwritten up to reserved, and is good up to written
	unkept            int64 // what came after a write had failed
	head, ring        int64 // sizes of the two regions
}

// countsSize is the length of the line: six hexadecimal numbers of fixed width, each with a separator, so that a new line
// replaces the old one wholly.
const countsSize = 6 * 17

func (c counts) totals() Totals {
	return Totals{Total: c.written + c.unkept, Kept: min(c.written, c.head+c.ring)}
}

func (c counts) fields() [5]int64 { return [5]int64{c.reserved, c.written, c.unkept, c.head, c.ring} }

// checksum is the last number of the line. A reader sees by it that it read in the middle of a write.
func (c counts) checksum() int64 {
	var sum int64
	for i, v := range c.fields() {
		sum += v * int64(2*i+3)
	}
	return sum & math.MaxInt64
}

func (c counts) line() []byte {
	line := make([]byte, 0, countsSize)
	for _, v := range c.fields() {
		line = appendHex(line, v)
	}
	line = appendHex(line, c.checksum())
	line[len(line)-1] = '\n'
	return line
}

func appendHex(line []byte, v int64) []byte {
	for shift := 60; shift >= 0; shift -= 4 {
		line = append(line, "0123456789abcdef"[v>>shift&15])
	}
	return append(line, ' ')
}

func parseCounts(line string) (c counts, ok bool) {
	fields := strings.Fields(line)
	if len(fields) != 6 {
		return counts{}, false
	}
	var sum int64
	for i, to := range []*int64{&c.reserved, &c.written, &c.unkept, &c.head, &c.ring, &sum} {
		v, err := strconv.ParseInt(fields[i], 16, 64)
		if err != nil {
			return counts{}, false
		}
		*to = v
	}
	return c, sum == c.checksum() && c.head > 0 && c.ring > 0 && min(c.reserved, c.written, c.unkept) >= 0
}

// readCounts reads the counts as they stand; zero when nothing was published yet.
func readCounts(r io.ReaderAt) (counts, error) {
	for range 100 { // torn once or twice is a read during a write; torn for ever, a damaged file
		var line [countsSize]byte
		n, err := r.ReadAt(line[:], 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return counts{}, err
		}
		if n == 0 {
			return counts{}, nil
		}
		if c, ok := parseCounts(string(line[:n])); ok {
			return c, nil
		}
	}
	return counts{}, fmt.Errorf("%w: %s", errDamaged, countFile)
}
