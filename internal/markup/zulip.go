package markup

import "strings"

// zulip is Zulip's Markdown: https://zulip.com/help/format-your-message-using-markdown, with the details from the server's
// zerver/lib/markdown. The limit counts the characters that are written. A backslash escapes nothing there; character
// references do, and nothing looks into them.
var zulip = dialect{
	tags: zulipTags, escape: zulipEscape, fence: zulipFence, label: zulipLabel,
	schemes: "http https mailto ", quotes: zulipQuotes, step: 2, levels: 6, tables: true, fenced: true, freeAddress: true, countsMarkup: true, maxHref: maxHref, maxAddress: 2 * maxHref, reserve: 32,
}

const zulipQuotes = 4

// zulipTags: a mark must not touch another, so what is bold and italic has one of its own. Quotations are blocks with a
// fence, which may hold everything else. Nothing has a meaning within the text of a link.
func zulipTags(s span) []tag {
	st := s.style
	var out []tag
	for k := 1; st.quote != 0 && k <= min(int(st.depth), zulipQuotes); k++ {
		fence := "~~~~~~"[:2+k]
		out = append(out, tag{open: fence + "quote\n", close: "\n" + fence, id: st.quote})
	}
	if st.mark&pre != 0 {
		lang := strings.ToLower(st.lang)
		switch lang {
		case "", "quote", "quoted", "spoiler", "math", "tex", "latex": // those are no languages for Zulip
			lang = "text"
		}
		return append(out, tag{open: backticks(st.fence) + lang + "\n", close: "\n" + backticks(st.fence)})
	}
	if st.level != 0 {
		out = append(out, tag{open: "######"[:st.level] + " "})
	}
	if m := st.mark & (bold | italic); m != 0 && (m != bold || st.level == 0) {
		t := map[mark]string{bold: "**", italic: "*", bold | italic: "***"}[m]
		if st.level != 0 {
			t = "*"
		}
		out = append(out, tag{open: t, close: t, flank: nextTag})
	}
	if st.mark&strike != 0 {
		out = append(out, tag{open: "~~", close: "~~", flank: nextTag})
	}
	if st.mark&code != 0 && st.href == "" {
		out = append(out, padded(s, nextTag))
	}
	if st.href != "" && st.mark&bare == 0 {
		to := strings.NewReplacer("(", "%28", ")", "%29", "*", "%2A", "$", "%24").Replace(st.href)
		out = append(out, tag{open: "[", close: "](" + to + ")"})
	}
	return out
}

func zulipEscape(p place, from, to int) string {
	s := p.text[from:to]
	switch {
	case p.style.href != "" || p.style.mark&(pre|code|grid) != 0:
		return s
	case p.style.mark&item != 0:
		return p.dashed(s)
	}
	var b strings.Builder
	for i := from; i < to; i++ {
		if c := p.text[i]; p.zulipMeans(i) {
			b.WriteString(references[c])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// references is how a character is written that must not be markup.
var references = map[byte]string{
	'&': "&amp;", '<': "&lt;", '>': "&gt;", '\\': "&#92;", '`': "&#96;", '*': "&#42;", '~': "&#126;", '^': "&#94;", '|': "&#124;",
	']': "&#93;", '@': "&#64;", '#': "&#35;", '$': "&#36;", '-': "&#45;", '+': "&#43;", '.': "&#46;", '/': "&#47;", ':': "&#58;",
}

// zulipMeans tells whether byte i could be markup. Mentions and channels are an @ or # and stars, also the stars of our own
// bold; a message that begins with a slash may be a command.
func (p place) zulipMeans(i int) bool {
	switch c := p.text[i]; c {
	case '\\', '`', '|', '<':
		return true
	case '*':
		return !p.alone(i) || p.first(i) || p.style.mark&italic != 0
	case '&':
		return alnum(p.next(i)) || p.next(i) == '#'
	case '~', '$':
		return c == '~' && p.style.mark&strike != 0 || i == p.lo || i+1 == p.hi || p.text[i-1] == c || p.text[i+1] == c
	case '^':
		return p.style.mark&italic != 0
	case ']':
		return p.next(i) == '('
	case '@', '#':
		return i+1 == p.hi || !alnum(p.next(i))
	case '>':
		return p.first(i)
	case '-', '+':
		return p.first(i) && !alnum(p.next(i))
	case ':': // of an address that is none of ours
		return strings.HasPrefix(p.text[i:], "://")
	case '.':
		return p.numbered(i)
	case '/':
		return i == 0
	}
	return false
}

func zulipFence(s span) (string, uint8, bool) {
	if s.style.mark&pre != 0 {
		n := ticks(s.text)
		if n > 8 {
			return loosen(s.text), 3, true
		}
		return s.text, uint8(max(3, n+1)), true
	}
	f, ok := inline(s.text)
	return s.text, f, ok
}

// zulipLabel: the text of a link is taken as it is, but for what is looked for before links.
func zulipLabel(text string) bool {
	return !strings.ContainsAny(text, "[]`\\<$@\n") && !strings.Contains(text, "**")
}
