package markup

import (
	"strings"
	"unicode/utf8"
)

// slack is mrkdwn: https://docs.slack.dev/messaging/formatting-message-text. Only & < > have an escape. The limit counts the
// characters that are written. There are no headings, lists, tables and languages.
//
// For * _ ~ ` there is no escape. What works is the date: a client that cannot show one shows its fallback as it is, so an
// impossible date with the character as its fallback is that character. jsx-slack does so
// (https://github.com/yhatt/jsx-slack/blob/main/docs/about-escape-and-exact-mode.md). It is long, but nobody sees it, and
// what a person copies is clean; a zero-width space beside the character would even make it markup. It is written only where
// the character could be markup: beside a letter or digit on either side it cannot.
var slack = dialect{
	tags: slackTags, escape: slackEscape, fence: slackFence, label: slackLabel,
	schemes: "http https mailto ", quotes: 1, fenced: true, nests: true, outside: true, countsMarkup: true, maxHref: maxHref, maxAddress: 2 * maxHref, reserve: 2 * len(slackLiteral+">"),
}

const slackLiteral = "<!date^00000000^{_}|"

// slackTags: the marks work only beside something that is no letter. A block of code stands outside of a quotation.
func slackTags(s span) []tag {
	st := s.style
	if st.mark&pre != 0 {
		return []tag{{open: "```\n", close: "\n```"}}
	}
	var out []tag
	if st.quote != 0 {
		out = append(out, tag{open: "> ", id: st.quote})
	}
	for _, m := range []struct {
		mark mark
		text string
	}{{bold, "*"}, {italic, "_"}, {strike, "~"}, {code, "`"}} {
		if st.mark&m.mark != 0 && (m.mark != code || st.href == "") {
			out = append(out, tag{open: m.text, close: m.text, flank: nextWord})
		}
	}
	if st.href != "" {
		if st.mark&bare != 0 {
			return append(out, tag{open: "<", close: ">"})
		}
		out = append(out, tag{open: "<" + entities(strings.ReplaceAll(st.href, "|", "%7C"), false) + "|", close: ">"})
	}
	return out
}

func slackEscape(p place, from, to int) string {
	st := p.style
	if st.mark&item != 0 {
		return p.text[from:to]
	}
	var b strings.Builder
	for i := from; i < to; {
		n := 1
		switch c := p.text[i]; {
		case c == '\n' && st.quote != 0 && st.mark&pre == 0:
			b.WriteString("\n> ")
		case c == '>' && st.mark&(pre|code) == 0 && p.first(i):
			b.WriteString("\u00ad&gt;") // at the beginning of a line only something before it helps
		case st.mark&(pre|code) == 0 && st.href == "" && p.slackMeans(i):
			for c != '`' && i+n < to && p.text[i+n] != '`' && p.slackMeans(i+n) { // three backticks are code even there
				n++
			}
			b.WriteString(slackLiteral + p.text[i:i+n] + ">")
		default:
			b.WriteString(entities(p.text[i:i+1], false))
		}
		i += n
	}
	return b.String()
}

// slackMeans tells whether byte i could be markup.
func (p place) slackMeans(i int) bool {
	switch p.text[i] {
	case '`':
		return true
	case '*', '_', '~':
		return !p.within(i) && !p.alone(i)
	}
	return false
}

// slackFence: code in a line cannot hold its own mark.
func slackFence(s span) (string, uint8, bool) {
	if s.style.mark&pre != 0 {
		return loosen(s.text), 0, true
	}
	return s.text, 0, !strings.Contains(s.text, "`") && strings.TrimSpace(s.text) != ""
}

// slackLabel: within a link there is no date.
func slackLabel(text string) bool {
	p := place{text: text, hi: len(text)}
	for i := range len(text) {
		if text[i] < utf8.RuneSelf && p.slackMeans(i) {
			return false
		}
	}
	return true
}
