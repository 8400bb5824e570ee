package markup

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/homing-gateway/homing/internal/chat"
)

// mark is a set of simple styles.
type mark uint16

const (
	bold mark = 1 << iota
	italic
	strike
	code    // within a line
	pre     // a block of code
	heading // changes where a part may end, not how it looks; headings are bold as well
	item    // the marker of a list's item
	grid    // what a table consists of besides its cells
	bare    // an address that is its own text

	emphasis = bold | italic | strike
)

// style is how a run of text looks. Two runs of the same style that touch are one.
type style struct {
	mark  mark
	level uint8  // of a heading that has its lines for itself, from 1
	depth uint8  // how many quotations are around
	fence uint8  // how many backticks open and close code, where the dialect writes those
	quote int32  // which outermost quotation, from 1; 0 is none
	href  string // where a link leads
	lang  string // of a block of code
}

// span is a run of visible text in one style.
type span struct {
	text  string
	style style
}

// runs collects text. What has one style is one run.
type runs struct {
	spans   []span // finished ones
	last    style  // of the one in work
	run     strings.Builder
	written int // bytes
}

func (r *runs) add(s string, st style) {
	if st != r.last {
		r.finish()
		r.last = st
	}
	r.run.WriteString(s)
	r.written += len(s)
}

// finish gives all runs.
func (r *runs) finish() []span {
	if r.run.Len() > 0 {
		r.spans = append(r.spans, span{r.run.String(), r.last})
		r.run.Reset()
	}
	return r.spans
}

// breaks takes the line breaks from the end of the run in work.
func (r *runs) breaks() string {
	all := r.run.String()
	text := strings.TrimRight(all, "\n")
	r.run.Reset()
	r.run.WriteString(text)
	return all[len(text):]
}

// tag is markup around a run. Equal tags that touch are written once.
type tag struct {
	open, close string
	id          int32 // tells quotations apart
	flank       flank // what must not touch it from outside
}

// flank says what breaks a tag when it stands directly beside it. A zero-width space is written between then.
type flank uint8

const (
	free     flank = iota
	nextTag        // another tag that is not free
	nextWord       // that, and letters and digits
)

// place is a run within the visible text of its part: what an escape looks at.
type place struct {
	text   string
	lo, hi int // where the run is
	style  style
	slant  bool // the message has something that may end italics
}

// slanted tells whether something among the runs may end italics: our own, or a _ where none can be escaped.
func slanted(spans []span) bool {
	return slices.ContainsFunc(spans, func(s span) bool {
		raw := s.style.mark&(code|pre|bare) != 0 || s.style.href != ""
		return s.style.mark&italic != 0 || raw && strings.Contains(s.text+s.style.href, "_")
	})
}

// dialect is how one platform writes a styled text. A further platform is a further value and a few functions.
type dialect struct {
	tags   func(s span) []tag                   // outermost first
	escape func(p place, from, to int) string   // text[from:to] of a run as it is written
	join   func(d dialect, spans []span) string // how a part is written; nil: its tags and its escaped text
	fence  func(s span) (string, uint8, bool)   // code: its text, and its backticks; false: not as code
	mask   func(text string) string             // changes what no markup may show; nil: nothing
	label  func(text string) bool               // whether a link can have that text; nil: any

	schemes     string    // of the addresses that it links, each with a blank behind it; "" is none: the address is written behind the text
	quotes      int       // quotations that it shows within each other; the rest begin with a bar
	step        int       // columns by which the lists nest, 0: as wide as the marker
	levels      uint8     // of its headings; the rest are bold
	tables      bool      // it has tables
	fenced      bool      // blocks of code stand on lines of their own, and styles end with the line
	nests       bool      // bold, italic and strikethrough may stand within each other
	clash       [3]string // what would end bold, italic and strikethrough within code; empty: nothing
	freeAddress bool      // an address ends only at a blank
	outside     bool      // blocks of code stand outside of quotations

	countsMarkup bool // the length limit counts the written form instead of what is seen
	reserve      int  // units that the ends of a part may take beyond what split counts
	maxRaw       int  // bytes of the written form, 0: no bound
	maxHref      int  // bytes of a link's address
	maxAddress   int  // bytes of an address that is its own text; 0: maxHref
	maxTable     int  // units of a table, 0: no bound
}

// maxHref bounds the address of a link.
const maxHref = 2000

func dialectOf(d chat.Dialect) dialect {
	switch d {
	case chat.TelegramHTML:
		return telegram
	case chat.Discord:
		return discord
	case chat.SlackMrkdwn:
		return slack
	case chat.Zulip:
		return zulip
	case chat.FeishuPost:
		return feishu
	default:
		return plain
	}
}

// plain shows what it is given. Addresses and quotations are part of the text.
var plain = dialect{
	tags:   func(span) []tag { return nil },
	escape: func(p place, from, to int) string { return p.text[from:to] },
}

// write gives spans in the dialect; whatever it opens it closes. text is what is visible of them.
func (d dialect) write(spans []span, text string) string {
	if d.join != nil {
		return d.join(d, spans)
	}
	var b strings.Builder
	var open []tag
	at, slant := 0, slanted(spans)
	for _, s := range spans {
		want := d.tags(s)
		same := 0
		for same < len(open) && same < len(want) && open[same] == want[same] {
			same++
		}
		closeTags(&b, open[same:])
		if touches(open[same:], want[same:], text, at) {
			b.WriteString(apart)
		}
		for _, t := range want[same:] {
			b.WriteString(t.open)
		}
		open = want
		b.WriteString(d.escape(place{text, at, at + len(s.text), s.style, slant}, at, at+len(s.text)))
		at += len(s.text)
	}
	closeTags(&b, open)
	return b.String()
}

func closeTags(b *strings.Builder, tags []tag) {
	for _, tag := range slices.Backward(tags) {
		b.WriteString(tag.close)
	}
}

// apart stands between what must not touch. It cannot be seen.
const apart = "\u200b"

// touches tells whether tags that close and open at text[at:] would be broken by each other or by the text around.
func touches(closed, opened []tag, text string, at int) bool {
	l, r := widest(closed), widest(opened)
	if l == free && r == free {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	return l != free && r != free || l == nextWord && wordy(after) || r == nextWord && wordy(before)
}

func widest(tags []tag) flank {
	f := free
	for _, t := range tags {
		f = max(f, t.flank)
	}
	return f
}

func wordy(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// within tells whether byte i of a run stands between two ASCII letters or digits of the same run.
func (p place) within(i int) bool {
	return i > p.lo && i+1 < p.hi && alnum(p.text[i-1]) && alnum(p.text[i+1])
}

// alone tells whether byte i stands between two blanks.
func (p place) alone(i int) bool {
	return i > 0 && i+1 < len(p.text) && blankByte(p.text[i-1]) && blankByte(p.text[i+1])
}

// next is the byte behind byte i, a line break at the end of the part.
func (p place) next(i int) byte {
	if i+1 < len(p.text) {
		return p.text[i+1]
	}
	return '\n'
}

// first tells whether byte i is the first of a line or of its run that is no blank: there markup of blocks would begin.
func (p place) first(i int) bool {
	for i--; i >= p.lo; i-- {
		if c := p.text[i]; !blankByte(c) {
			return c == '\n'
		}
	}
	return true
}

// numbered tells whether the dot at byte i would end the number of a list's item.
func (p place) numbered(i int) bool {
	k := i
	for k > p.lo && i-k < 10 && p.text[k-1] >= '0' && p.text[k-1] <= '9' {
		k--
	}
	return k < i && p.first(k) && space(p.next(i))
}

// dashed writes the marker s of a list's item with a dash where it begins a line.
func (p place) dashed(s string) string {
	rest, ok := strings.CutPrefix(strings.TrimLeft(s, " "), bullet)
	if !ok || p.lo > 0 && p.text[p.lo-1] != '\n' {
		return s
	}
	return s[:len(s)-len(rest)-len(bullet)] + "- " + rest
}

func alnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func blankByte(c byte) bool { return c == ' ' || c == '\t' }

func space(c byte) bool { return blankByte(c) || c == '\n' }
