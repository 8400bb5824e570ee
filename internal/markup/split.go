package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/homing-gateway/homing/internal/chat"
)

// class is how good a place is for a cut, the best first.
type class int

const (
	atParagraph class = iota
	atLine
	atSentence
	atWord
	classes
)

// cut is a place where a part may end: the text up to end, the next part from next, white space in between.
type cut struct {
	end, next int
	size      int // of the part, as the limit counts it
}

// splitter walks over the visible text once.
type splitter struct {
	text   string
	spans  []span
	starts []int // where each span begins in text, and the length of text
	dia    dialect
	limit  int
	unit   chat.Unit
	slant  bool
}

// split cuts spans into parts that fit. limit of 0 or less: one part.
func split(spans []span, d dialect, limit int, u chat.Unit) [][]span {
	s := splitter{text: visible(spans), spans: spans, dia: d, limit: limit, unit: u, slant: slanted(spans)}
	at := 0
	for _, sp := range spans {
		s.starts = append(s.starts, at)
		at += len(sp.text)
	}
	s.starts = append(s.starts, at)

	var parts [][]span
	for pos, in := s.skip(0, 0); pos < len(s.text); {
		c := s.next(pos, in)
		parts = append(parts, s.slice(pos, c.end, in))
		pos, in = s.skip(c.next, in)
	}
	return parts
}

// next decides where the part that begins at pos ends; in is the span of pos.
func (s *splitter) next(pos, in int) cut {
	var best [classes]cut
	size, raw := s.tags(in)
	for i := pos; i < len(s.text); {
		for i >= s.starts[in+1] {
			in++
			a, b := s.tags(in)
			size, raw = size+a, raw+b
		}
		if c, ok := s.border(i, in); ok && i > pos {
			best[c] = cut{i, s.after(i), size}
		}
		n, cost, bytes := s.cost(i, in)
		for i+n > s.starts[in+1] { // marks that look otherwise than their letter
			in++
			a, b := s.tags(in)
			cost, bytes = cost+a, bytes+b
		}
		if i > pos && s.limit > 0 && (size+cost > s.limit || s.dia.maxRaw > 0 && raw+bytes > s.dia.maxRaw) {
			return choose(best, cut{i, i, size})
		}
		size, raw, i = size+cost, raw+bytes, i+n
	}
	return cut{len(s.text), len(s.text), size}
}

// cost is how many bytes the character at byte i has, and what it takes written: as the limit counts it, and in bytes.
func (s *splitter) cost(i, in int) (n, size, raw int) {
	n = cluster(s.text[i:])
	if n == 1 && alnum(s.text[i]) { // no dialect escapes those
		return 1, 1, 1
	}
	st := s.spans[in].style
	if st.mark&bare != 0 { // a cut might go through the address
		st.mark, st.href = st.mark&^bare, ""
	}
	written := s.dia.escape(place{s.text, s.starts[in], s.starts[in+1], st, s.slant}, i, i+n)
	if s.dia.countsMarkup {
		return n, measure(written, s.unit), len(written)
	}
	return n, measure(s.text[i:i+n], s.unit), len(written)
}

// choose takes the best kind of place that leaves the part reasonably full; hard is the place where nothing more fits.
func choose(best [classes]cut, hard cut) cut {
	for c, share := range [classes]int{2, 2, 3, 8} {
		if best[c].end > 0 && best[c].size >= hard.size/share {
			return best[c]
		}
	}
	return hard
}

// border tells whether a part may end before byte i, of span in.
func (s *splitter) border(i, in int) (class, bool) {
	c, size := utf8.DecodeRuneInString(s.text[i:])
	before, _ := utf8.DecodeLastRuneInString(s.text[:i])
	if !unicode.IsSpace(c) {
		return atSentence, strings.ContainsRune("。！？", before) && s.spans[in].style.mark&(pre|code) == 0
	}
	if unicode.IsSpace(before) {
		return 0, false // within white space: its beginning counts
	}
	st := s.spans[in].style
	rest := s.text[i+size:]
	switch {
	case c == '\n' && st.mark&heading != 0:
		return atWord, true // a heading does not stand at the end of a part
	case c == '\n' && st.mark&pre != 0:
		return atLine, true
	case c == '\n' && strings.HasPrefix(rest, "\n"):
		return atParagraph, true
	case c == '\n':
		return atLine, true
	case strings.ContainsRune(".!?…:;", before) && st.mark&pre == 0:
		return atSentence, true
	}
	return atWord, c != '\u00a0' && c != '\u202f'
}

// after is where the next part begins when one ends at i: behind the white space that the cut replaces.
func (s *splitter) after(i int) int {
	if r, size := utf8.DecodeRuneInString(s.text[i:]); unicode.IsSpace(r) {
		return i + size
	}
	return i
}

// skip passes over white space between parts, but not over the blank lines and the indentation of code.
func (s *splitter) skip(pos, in int) (int, int) {
	for pos < len(s.text) {
		in = s.spanAt(pos, in)
		r, size := utf8.DecodeRuneInString(s.text[pos:])
		if !unicode.IsSpace(r) || s.spans[in].style.mark&pre != 0 {
			break
		}
		pos += size
	}
	return pos, in
}

// spanAt finds the span of byte pos, which is not before span in.
func (s *splitter) spanAt(pos, in int) int {
	for in+1 < len(s.spans) && pos >= s.starts[in+1] {
		in++
	}
	return in
}

// tags is the most that the markup of a span takes: as the limit counts it, and in bytes.
func (s *splitter) tags(in int) (size, raw int) {
	for _, t := range s.dia.tags(s.spans[in]) {
		raw += len(t.open) + len(t.close)
		if s.dia.countsMarkup {
			size += measure(t.open, s.unit) + measure(t.close, s.unit)
			if t.flank != free {
				size += 2 * measure(apart, s.unit)
			}
		}
	}
	return size, raw
}

// slice gives the spans of text[from:to], without white space at the end.
func (s *splitter) slice(from, to, in int) []span {
	var out []span
	for ; in < len(s.spans) && s.starts[in] < to; in++ {
		a, b := max(from, s.starts[in])-s.starts[in], min(to, s.starts[in+1])-s.starts[in]
		if a < b {
			out = append(out, shorten(s.spans[in], a, b))
		}
	}
	for len(out) > 0 {
		last := &out[len(out)-1]
		if last.text = strings.TrimRightFunc(last.text, unicode.IsSpace); last.text != "" {
			break
		}
		out = out[:len(out)-1]
	}
	return out
}

// shorten gives a piece of a span. What is left of an address that is its own text leads where it says, or nowhere.
func shorten(s span, from, to int) span {
	short := span{s.text[from:to], s.style}
	if s.style.mark&bare == 0 || short.text == s.text {
		return short
	}
	if start, end := address(short.text, len(short.text)); start == 0 && end > 0 { // it begins like one
		short.style.href = short.text
	} else {
		short.style.mark, short.style.href = s.style.mark&^bare, ""
	}
	return short
}
