package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// prepare makes runs that a dialect of lines can write: no style reaches over a line break or begins or ends with a blank,
// code has its fence, and addresses in the text are runs of their own, so that no escape goes through them.
func (d dialect) prepare(spans []span) []span {
	if !d.fenced {
		return spans
	}
	var out runs
	add := func(text string, st style) {
		if text == "" {
			return
		}
		if st.mark&out.last.mark&bare != 0 { // two addresses that touch would be one
			out.add(apart, style{mark: st.mark & heading, level: st.level, depth: st.depth, quote: st.quote})
		}
		out.add(text, st)
	}
	unquoted := false // the last run was code that has left its quotation
	for _, s := range spans {
		st := s.style
		if rest := strings.TrimLeft(s.text, "\n"); unquoted {
			add(s.text[:len(s.text)-len(rest)], style{})
			s.text = rest
		}
		if unquoted = d.outside && st.mark&pre != 0 && st.quote != 0; unquoted {
			st.quote, st.depth = 0, 0
			add(out.breaks(), style{})
		}
		if d.mask != nil {
			text := d.mask(s.text)
			if text != s.text && st.mark&bare != 0 { // no address any more
				st.mark, st.href = st.mark&^bare, ""
			}
			s.text = text
		}
		if st.mark&(pre|code) != 0 {
			var ok bool
			if s.text, st.fence, ok = d.fence(span{s.text, st}); !ok {
				st.mark &^= code
			}
			for i, m := range [...]mark{bold, italic, strike} {
				if st.mark&code != 0 && d.clash[i] != "" && strings.Contains(s.text, d.clash[i]) {
					st.mark &^= m
				}
			}
		}
		for st.mark&bare != 0 && len(s.text) > len(st.href) { // the same address twice
			add(s.text[:len(st.href)], st)
			s.text = s.text[len(st.href):]
		}
		if st.mark&(pre|item|grid|bare) != 0 {
			add(s.text, st)
			continue
		}
		around := style{mark: st.mark & heading, level: st.level, depth: st.depth, quote: st.quote}
		for line := range strings.SplitAfterSeq(s.text, "\n") {
			body := strings.TrimRightFunc(line, unicode.IsSpace)
			text := strings.TrimLeftFunc(body, unicode.IsSpace)
			add(body[:len(body)-len(text)], around)
			for text != "" {
				from, to := len(text), len(text)
				if st.href == "" && st.mark&code == 0 && d.schemes != "" {
					from, to = address(text, d.maxAddress)
				}
				add(text[:from], st)
				link := st
				link.href, link.mark = text[from:to], st.mark|bare
				add(text[from:to], link)
				text = text[to:]
			}
			rest := line[len(body):]
			end := strings.TrimSuffix(rest, "\n")
			add(end, around)
			if end != rest {
				add("\n", style{mark: st.mark & heading, depth: st.depth, quote: st.quote})
			}
		}
	}
	return d.bridge(out.finish())
}

// bridge gives blanks between two runs of one line the look that both have, if the dialect can write it as one. An address
// that must stand free and does not becomes a link, or mere text if it cannot be one.
func (d dialect) bridge(spans []span) []span {
	var out runs
	for i, s := range spans {
		if d.freeAddress && s.style.mark&bare != 0 {
			odd := strings.ContainsAny(s.text, "*$`\\")
			if odd || s.style.mark&emphasis != 0 || i > 0 && !space(spans[i-1].text[len(spans[i-1].text)-1]) ||
				i+1 < len(spans) && !space(spans[i+1].text[0]) {
				s.style.mark &^= bare
			}
			if s.style.mark&bare == 0 && (odd || len(s.text) > d.maxHref) {
				s.style.href = ""
			}
		}
		if i > 0 && i+1 < len(spans) && s.style.mark&^heading == 0 && strings.Trim(s.text, " \t") == "" {
			l, r := spans[i-1].style.mark&emphasis, spans[i+1].style.mark&emphasis
			for _, m := range [...]mark{bold, italic, strike} { // from outside, as long as nothing closes in between
				if d.nests && (l^r)&m != 0 || !d.nests && l != r {
					break
				}
				s.style.mark |= l & m
			}
		}
		out.add(s.text, s.style)
	}
	return out.finish()
}

// address finds the first web address of a text: where it begins and ends, or the text's end twice. What ends a sentence
// does not belong to it, nor does a bracket that was opened before it.
func address(s string, most int) (from, to int) {
	for at := 0; ; {
		i := strings.Index(s[at:], "://")
		if i < 0 {
			return len(s), len(s)
		}
		i += at
		at = i + len("://")
		from = i - len("https")
		if !strings.HasSuffix(s[:i], "https") {
			from = i - len("http")
		}
		if from < 0 || !strings.HasPrefix(s[from:], "http") || from > 0 && alnum(s[from-1]) {
			continue
		}
		end := len(s)
		if n := strings.IndexFunc(s[at:], outside); n >= 0 {
			end = at + n
		}
		if to = end; to-from <= most {
			to = at + len(trimAddress(s[at:to]))
			if to > at {
				return from, to
			}
		}
		at = end
	}
}

// trimAddress takes from the end of an address what rather belongs to the sentence.
func trimAddress(s string) string {
	for s != "" {
		r, n := utf8.DecodeLastRuneInString(s)
		switch {
		case r == ')' && strings.Count(s, "(") >= strings.Count(s, ")"), strings.ContainsRune("/#=&%+-", r):
			return s
		case !unicode.IsPunct(r) && !unicode.IsSymbol(r):
			return s
		}
		s = s[:len(s)-n]
	}
	return s
}

func outside(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) ||
		strings.ContainsRune("<>[]*\"`|\\^{}。，、；：！？）】」』》“”", r)
}

// ticks is the longest run of backticks in s.
func ticks(s string) int {
	most, n := 0, 0
	for i := range len(s) {
		if s[i] == '`' {
			n++
			most = max(most, n)
		} else {
			n = 0
		}
	}
	return most
}

// loosen puts something unseen into every run of three backticks, which would end a block of code.
func loosen(s string) string {
	if !strings.Contains(s, "```") {
		return s
	}
	var b strings.Builder
	n := 0
	for i := range len(s) {
		if s[i] != '`' {
			n = 0
		} else if n++; n > 2 {
			b.WriteString(apart)
			n = 1
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// inline is the fence of code in a line: one backtick or two, whichever the code itself has not in a row. Three are a block
// wherever they stand.
func inline(text string) (uint8, bool) {
	var runs [3]bool
	n := 0
	for i := range len(text) + 1 {
		if i < len(text) && text[i] == '`' {
			n++
			continue
		}
		if n >= len(runs) {
			return 0, false
		}
		runs[n], n = true, 0
	}
	switch {
	case strings.TrimSpace(text) == "" || runs[1] && runs[2]:
		return 0, false
	case runs[1]:
		return 2, true
	}
	return 1, true
}

func backticks(n uint8) string { return "``````````"[:n] }

// padded gives the tags of code in a line. A blank keeps a backtick at its end from the fence.
func padded(s span, f flank) tag {
	t := tag{open: backticks(s.style.fence), close: backticks(s.style.fence), flank: f}
	if strings.HasPrefix(s.text, "`") {
		t.open += " "
	}
	if strings.HasSuffix(s.text, "`") {
		t.close = " " + t.close
	}
	return t
}
