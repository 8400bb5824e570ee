package markup

import (
	"regexp"
	"strings"
)

// discord is the Markdown of Discord: https://support.discord.com/hc/en-us/articles/210298617, with the details from
// discord/SimpleAST, which is the parser of its clients. The limit counts the characters that are written. A backslash takes
// its meaning from any punctuation; letters keep it.
var discord = dialect{
	tags: discordTags, escape: discordEscape, fence: discordFence, mask: discordMask, label: discordLabel,
	schemes: "http https ", quotes: 1, levels: 3, fenced: true, nests: true, clash: [3]string{"**", "_", "~~"}, countsMarkup: true, maxHref: maxHref, maxAddress: 2 * maxHref, reserve: 16,
}

// discordTags: italics are written with _, so that they cannot melt with the ** of bold. Addresses stand between < and >,
// which keeps Discord from adding a preview.
func discordTags(s span) []tag {
	st := s.style
	var out []tag
	if st.quote != 0 {
		out = append(out, tag{open: "> ", id: st.quote})
	}
	if st.mark&pre != 0 {
		line := "\n"
		if st.quote != 0 {
			line = "\n> "
		}
		return append(out, tag{open: backticks(st.fence) + st.lang + line, close: line + backticks(st.fence)})
	}
	if st.level != 0 {
		out = append(out, tag{open: "###"[:st.level] + " "})
	}
	if st.mark&bare != 0 {
		return append(out, tag{open: "<", close: ">"})
	}
	if st.href != "" {
		to := strings.NewReplacer("(", "%28", ")", "%29").Replace(st.href)
		out = append(out, tag{open: "[", close: "](<" + mentions.ReplaceAllString(to, "$1%40$2$3") + ">)"})
	}
	if st.mark&bold != 0 && st.level == 0 {
		out = append(out, tag{open: "**", close: "**"})
	}
	if st.mark&italic != 0 {
		out = append(out, tag{open: "_", close: "_", flank: nextWord})
	}
	if st.mark&strike != 0 {
		out = append(out, tag{open: "~~", close: "~~", flank: nextTag})
	}
	if st.mark&code != 0 {
		out = append(out, padded(s, nextTag))
	}
	return out
}

func discordEscape(p place, from, to int) string {
	s := p.text[from:to]
	quoted := p.style.quote != 0 && strings.Contains(s, "\n")
	switch {
	case p.style.mark&bare != 0:
		return s
	case p.style.mark&item != 0:
		return p.dashed(s)
	case p.style.mark&(pre|code) != 0 && !quoted:
		return s
	}
	var b strings.Builder
	for i := from; i < to; i++ {
		c := p.text[i]
		if p.style.mark&(pre|code) == 0 && p.discordMeans(i) {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
		if c == '\n' && quoted {
			b.WriteString("> ")
		}
	}
	return b.String()
}

// discordMeans tells whether byte i could be markup.
func (p place) discordMeans(i int) bool {
	switch c := p.text[i]; c {
	case '\\', '`', '[':
		return true
	case '_': // within a word it begins italics as well, and ends none: it needs something else that ends them
		within := i > p.lo && i+1 < p.hi && alnum(p.text[i-1]) && alnum(p.text[i+1])
		return p.slant || !within
	case '*':
		return !p.alone(i) || p.first(i)
	case '~', '|': // markup in pairs only
		return i == p.lo || i+1 == p.hi || p.text[i-1] == c || p.text[i+1] == c
	case ']':
		return p.style.href != ""
	case '<':
		return !space(p.next(i))
	case '#':
		return p.first(i) && (space(p.next(i)) || p.next(i) == '#')
	case '>':
		return p.first(i)
	case '-':
		return p.first(i) && (space(p.next(i)) || p.next(i) == '#')
	case ':': // of an address that is none of ours
		return strings.HasPrefix(p.text[i:], "://")
	case '.':
		return p.numbered(i)
	}
	return false
}

// discordFence: three backticks end a block wherever they stand.
func discordFence(s span) (string, uint8, bool) {
	if s.style.mark&pre != 0 {
		return loosen(s.text), 3, true
	}
	f, ok := inline(s.text)
	return s.text, f, ok
}

// discordMask breaks mentions in the text itself, code and plain form included: Discord looks for them in what is written,
// and strips some unseen characters first. The zero-width space is what Discord's libraries use.
func discordMask(text string) string {
	if !strings.Contains(text, "@") {
		return text
	}
	return mentions.ReplaceAllString(text, "$1@"+apart+"$2$3")
}

var mentions = regexp.MustCompile(`(?i)(<)@([!&]?[0-9]+>)|@([\p{Cf}\p{M}]*(?:everyone|here))`)

// discordLabel: a link that looks like another address is not made.
func discordLabel(text string) bool { return !strings.Contains(text, "://") }
