package process

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Output is what is kept of a command's output, fit for a result: the head, a note where bytes are missing, the tail.
type Output struct {
	// Text is valid UTF-8: what was not has been replaced, and no character is cut where bytes are missing. It is at most
	// as long as Spec.OutputLimit and the note, times three at the worst (all of it invalid).
	Text string
	// Truncated says that bytes are missing in the middle; Dropped counts them, Total all that was written.
	Truncated bool
	Total     int64
	Dropped   int64
}

// Page is a part of a command's output. Offsets count the bytes that the command wrote.
type Page struct {
	// Text is valid UTF-8, see Output.Text.
	Text string
	// Offset is where Text begins: what was asked for, or the next byte that is kept. Dropped counts the bytes between.
	Offset  int64
	Dropped int64
	// Next is the offset to go on from, Total how much was written so far. End says that there is no more to be had now;
	// a process that runs may write more.
	Next  int64
	Total int64
	End   bool
}

// Output returns the output so far; once the process has ended, all that is kept of it.
func (p *Process) Output() (Output, error) {
	s, err := p.snapshot()
	if err != nil {
		return Output{}, err
	}
	o := Output{Total: s.total, Dropped: s.total - s.pending - int64(len(s.head)+len(s.tail))}
	if o.Dropped == 0 {
		o.Text = clean(append(s.head, s.tail...))
		return o, nil
	}
	o.Truncated = true
	note := fmt.Sprintf("\n[… %d of %d bytes of output not kept …]\n", o.Dropped, o.Total)
	o.Text = clean(s.head) + note + clean(s.tail)
	return o, nil
}

// ReadLog returns up to limit bytes of the output (at least 4 may be asked for) from offset on; a negative offset counts
// from the end of what was written so far. Where the bytes asked for are not kept, the page begins with the next that are.
func (p *Process) ReadLog(offset int64, limit int) (Page, error) {
	s, err := p.snapshot()
	if err != nil {
		return Page{}, err
	}
	return s.page(offset, limit), nil
}

func (s snapshot) page(offset int64, limit int) Page {
	fromEnd := offset < 0
	if fromEnd {
		offset += s.total
	}
	offset = min(max(offset, 0), s.total)
	limit = max(limit, utf8.UTFMax) // every page has room for a character, so that paging comes to an end
	readable := s.total - s.pending
	page := Page{Offset: offset, Total: s.total}
	var text []byte
	switch headEnd, tailEnd := int64(len(s.head)), s.tailAt+int64(len(s.tail)); {
	case offset < headEnd:
		text = s.head[offset:]
	case offset < tailEnd:
		page.Offset = max(offset, s.tailAt)
		text = s.tail[page.Offset-s.tailAt:]
	default:
		page.Offset = max(offset, readable)
	}
	page.Dropped = page.Offset - offset
	if fromEnd {
		n := wholeStart(text)
		text, page.Offset = text[n:], page.Offset+int64(n)
	}
	if len(text) > limit {
		text = text[:limit]
		if n := wholeEnd(text); n > 0 {
			text = text[:n]
		}
	}
	page.Text = clean(text)
	page.Next = page.Offset + int64(len(text))
	page.End = page.Next >= readable
	return page
}

// snapshot is the kept output at one moment. Where bytes are missing between head and tail, both are cut back to whole
// characters.
type snapshot struct {
	head    []byte
	tail    []byte
	tailAt  int64 // offset of tail; len(head) when nothing is missing
	total   int64
	pending int64 // bytes at the very end that are the begin of a character, while more may come
}

func (p *Process) snapshot() (snapshot, error) {
	_, err := os.Lstat(filepath.Join(p.dir, exitFile)) // before the output, so that the end of it is in there
	final := err == nil
	s, err := p.readOutput()
	if errors.Is(err, fs.ErrNotExist) {
		return snapshot{}, nil // not started, or never will be
	}
	if err != nil {
		return snapshot{}, fmt.Errorf("output of %s: %w", p.id, err)
	}
	if s.tailAt > int64(len(s.head)) {
		s.head = s.head[:wholeEnd(s.head)]
		n := wholeStart(s.tail)
		s.tail, s.tailAt = s.tail[n:], s.tailAt+int64(n)
	}
	if last := &s.tail; !final {
		if len(s.tail) == 0 {
			last = &s.head
		}
		n := wholeEnd(*last)
		s.pending = int64(len(*last) - n)
		*last = (*last)[:n]
	}
	return s, nil
}

func (p *Process) readOutput() (snapshot, error) {
	count, err := os.Open(filepath.Join(p.dir, countFile))
	if err != nil {
		return snapshot{}, err
	}
	defer count.Close()
	file, err := os.Open(filepath.Join(p.dir, outputFile))
	if err != nil {
		return snapshot{}, err
	}
	defer file.Close()
	for try := 0; ; try++ {
		before, err := readCounts(count)
		if err != nil {
			return snapshot{}, err
		}
		data, err := io.ReadAll(io.NewSectionReader(file, 0, before.head+before.ring))
		if err != nil {
			return snapshot{}, err
		}
		after, err := readCounts(count)
		if err != nil {
			return snapshot{}, err
		}
		s := assemble(data, before, after)
		// A writer that overtook the whole ring while we read left nothing to trust. It is rare, so read again; a writer
		// that does so for ever leaves the head.
		if len(s.tail) > 0 || before.written <= before.head || try == 20 {
			return s, nil
		}
	}
}

// assemble puts the file's content into the order of writing. Of the ring it takes the bytes that were whole before the
// file was read and not yet being overwritten after.
func assemble(data []byte, before, after counts) snapshot {
	data = append(data, make([]byte, max(0, min(before.written, before.head+before.ring)-int64(len(data))))...)
	headEnd := min(before.head, before.written)
	s := snapshot{head: data[:headEnd:headEnd], tailAt: headEnd, total: before.written + before.unkept}
	if before.written <= before.head {
		return s
	}
	s.tailAt = min(max(before.head, after.reserved-before.ring), before.written)
	for offset := s.tailAt; offset < before.written; {
		at := (offset - before.head) % before.ring
		n := min(before.ring-at, before.written-offset)
		s.tail = append(s.tail, data[before.head+at:before.head+at+n]...)
		offset += n
	}
	return s
}

func (p *Process) totals() Totals {
	count, err := os.Open(filepath.Join(p.dir, countFile))
	if err != nil {
		return Totals{}
	}
	defer count.Close()
	c, err := readCounts(count)
	if err != nil {
		return Totals{Error: err.Error()}
	}
	return c.totals()
}

// clean is where the output becomes valid UTF-8: on disk it stays as the command wrote it.
func clean(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

// wholeEnd returns the length of b without a character at its end that is only begun.
func wholeEnd(b []byte) int {
	for back := 1; back <= min(utf8.UTFMax-1, len(b)); back++ {
		if c := b[len(b)-back]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-back:]) {
				return len(b) - back
			}
			break
		}
	}
	return len(b)
}

// wholeStart returns where the first whole character of b begins.
func wholeStart(b []byte) int {
	for i := range min(utf8.UTFMax-1, len(b)) {
		if utf8.RuneStart(b[i]) {
			return i
		}
	}
	return 0
}
