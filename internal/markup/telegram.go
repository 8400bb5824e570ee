package markup

import "strings"

var telegram = dialect{
	tags: telegramTags, escape: telegramEscape,
	schemes: "http https tg mailto ", quotes: 1, maxRaw: telegramMaxRaw, maxHref: maxHref,
}

// telegramMaxRaw keeps a message with its markup well below the 35000 bytes at which Telegram cuts its input.
const telegramMaxRaw = 30000

// telegramTags: Telegram lets bold, italic and strikethrough nest freely, also within links and quotations, and allows
// nothing within code. Quotations do not nest.
func telegramTags(r span) []tag {
	s := r.style
	var out []tag
	add := func(name, attr string, id int32) {
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
		add("a", ` href="`+entities(s.href, true)+`"`, 0)
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

func telegramEscape(p place, from, to int) string { return entities(p.text[from:to], false) }

// entities writes & < >, and quotes on request, as HTML does.
func entities(s string, quotes bool) string {
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
