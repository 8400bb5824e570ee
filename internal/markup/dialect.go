package markup

import (
	"slices"
	"strings"

	"github.com/homing-gateway/homing/internal/chat"
)

// mark is a set of simple styles.
type mark uint8

const (
	bold mark = 1 << iota
	italic
	strike
	code    // within a line
	pre     // a block of code
	heading // changes where a part may end, not how it looks; headings are bold as well
)

// style is how a run of text looks. Two runs of the same style that touch are one.
type style struct {
	mark  mark
	quote int    // which quotation, from 1; 0 is none
	href  string // where a link leads
	lang  string // of a block of code
}

// span is a run of visible text in one style.
type span struct {
	text  string
	style style
}

// tag is markup around a run. Equal tags that touch are written once.
type tag struct {
	open, close string
	id          int // tells quotations apart
}

// dialect is how one platform writes a styled text. A further platform is a further value.
type dialect struct {
	tags         func(s style) []tag // outermost first
	escape       func(text string, s style) string
	links        bool // it has links with a text of their own; otherwise the address is written behind the text
	countsMarkup bool // the length limit counts the written form instead of what is seen
	maxRaw       int  // bytes of the written form, 0: no bound
}

func dialectOf(d chat.Dialect) dialect {
	switch d {
	case chat.TelegramHTML:
		return dialect{tags: telegramTags, escape: telegramEscape, links: true, maxRaw: telegramMaxRaw}
	default:
		return dialect{
			tags:   func(style) []tag { return nil },
			escape: func(text string, _ style) string { return text },
		}
	}
}

// write gives spans in the dialect; whatever it opens it closes.
func (d dialect) write(spans []span) string {
	var b strings.Builder
	var open []tag
	for _, s := range spans {
		want := d.tags(s.style)
		same := 0
		for same < len(open) && same < len(want) && open[same] == want[same] {
			same++
		}
		closeTags(&b, open[same:])
		for _, t := range want[same:] {
			b.WriteString(t.open)
		}
		open = want
		b.WriteString(d.escape(s.text, s.style))
	}
	closeTags(&b, open)
	return b.String()
}

func closeTags(b *strings.Builder, tags []tag) {
	for _, tag := range slices.Backward(tags) {
		b.WriteString(tag.close)
	}
}

// telegramMaxRaw keeps a message with its markup well below the 35000 bytes at which Telegram cuts its input.
const telegramMaxRaw = 30000

// telegramTags: Telegram lets bold, italic and strikethrough nest freely, also within links and quotations, and allows
// nothing within code.
func telegramTags(s style) []tag {
	var out []tag
	add := func(name, attr string, id int) {
		out = append(out, tag{open: "<" + name + attr + ">", close: "</" + name + ">", id: id})
	}
	if s.quote != 0 {
		add("blockquote", "", s.quote)
	}
	switch {
	case s.mark&pre != 0:
		add("pre", "", 0)
		if s.lang != "" {
			add("code", ` class="language-`+s.lang+`"`, 0)
		}
		return out
	case s.mark&code != 0 && s.href == "":
		add("code", "", 0)
		return out
	}
	if s.href != "" {
		add("a", ` href="`+telegramText(s.href, true)+`"`, 0)
	}
	if s.mark&bold != 0 {
		add("b", "", 0)
	}
	if s.mark&italic != 0 {
		add("i", "", 0)
	}
	if s.mark&strike != 0 {
		add("s", "", 0)
	}
	return out
}

func telegramEscape(text string, _ style) string { return telegramText(text, false) }

func telegramText(s string, quotes bool) string {
	if !strings.ContainsAny(s, `&<>"`) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '&':
			b.WriteString("&amp;")
		case c == '<':
			b.WriteString("&lt;")
		case c == '>':
			b.WriteString("&gt;")
		case c == '"' && quotes:
			b.WriteString("&quot;")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
