package markup

import (
	"strings"
	"unicode"

	"github.com/homing-gateway/homing/internal/chat"
)

// Part is one message on its way to a platform.
type Part struct {
	// Text is in the dialect.
	Text string
	// Plain is what a person sees of Text, without markup: what goes out when the platform refuses the markup.
	Plain string
}

// The smallest limits that are honoured, for what is seen and for what is written: below them a single character with its
// marks might not fit.
const (
	minUnits   = 64
	minWritten = 512
)

// Render gives the parts of a text, none for a blank one. Each part has at most maxUnits units as the dialect counts
// them: of the visible text for telegram-html and plain, of Text for the others. maxUnits of 0 or less means one part; a
// limit below 64 counts as 64, and as 512 where Text counts. An unknown dialect is plain.
//
// Nothing that can be seen is lost or made up at a cut: one part's Plain, some white space or nothing, and the next
// part's Plain, one after the other, are the visible text of the whole, which is what one part without a limit has.
//
// The time is about linear in len(md). A text that only a parser's worst case could explain, or one above 256 KiB, is
// taken as plain text.
func Render(md string, d chat.Dialect, maxUnits int, unit chat.Unit) []Part {
	dia := dialectOf(d)
	md = strings.ToValidUTF8(md, "\uFFFD")
	md = strings.ReplaceAll(strings.ReplaceAll(md, "\r\n", "\n"), "\r", "\n")
	md = strings.ReplaceAll(md, "\x00", "\uFFFD")
	if blank(md) {
		return nil
	}
	if maxUnits > 0 {
		maxUnits = max(maxUnits, minUnits)
		if dia.countsMarkup {
			maxUnits = max(maxUnits, minWritten)
			dia.maxHref = min(dia.maxHref, maxUnits/2)
			dia.maxTable = maxUnits / 4
			maxUnits -= dia.reserve
		}
	}
	if dia.maxAddress == 0 {
		dia.maxAddress = dia.maxHref
	}
	var parts []Part
	if affordable(md) {
		parts = write(split(dia.prepare(build(md, dia, unit)), dia, maxUnits, unit), dia)
	}
	if len(parts) == 0 { // too costly, or markup around nothing
		parts = write(split(dia.prepare([]span{{text: md}}), dia, maxUnits, unit), dia)
	}
	return parts
}

func write(pieces [][]span, d dialect) []Part {
	var parts []Part
	for _, piece := range pieces {
		if text := visible(piece); !blank(text) {
			parts = append(parts, Part{Text: d.write(piece, text), Plain: text})
		}
	}
	return parts
}

// visible is the text of spans without their styles.
func visible(spans []span) string {
	if len(spans) == 1 {
		return spans[0].text
	}
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.text)
	}
	return b.String()
}

// blank tells whether a person would see nothing: white space and invisible format characters only. Platforms refuse
// such a message as empty.
func blank(s string) bool {
	for _, r := range s {
		if !unicode.IsSpace(r) && !unicode.Is(unicode.Cf, r) && !unicode.IsControl(r) {
			return false
		}
	}
	return true
}
