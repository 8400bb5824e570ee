package markup

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

func (b *builder) inline(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		b.put(unescape(n.Value(b.src), n.IsRaw()))
		if n.SoftLineBreak() || n.HardLineBreak() {
			b.put("\n")
		}
	case *ast.String:
		b.put(unescape(n.Value, n.IsRaw()))
	case *ast.CodeSpan:
		b.within(func(s *style) { s.mark |= code }, func() { b.put(b.span(n)) })
	case *ast.Emphasis:
		if n.Level == 2 && b.dunder(n) {
			b.put("__")
			b.children(n)
			b.put("__")
			return
		}
		set := italic
		if n.Level == 2 {
			set = bold
		}
		b.within(func(s *style) { s.mark |= set }, func() { b.children(n) })
	case *east.TaskCheckBox:
		box := "☐ "
		if n.IsChecked {
			box = "☑ "
		}
		b.put(box)
	case *east.Strikethrough:
		b.within(func(s *style) { s.mark |= strike }, func() { b.children(n) })
	case *ast.Link:
		b.link(n, string(n.Destination))
	case *ast.Image:
		b.link(n, string(n.Destination))
	case *ast.AutoLink:
		label := string(n.Label(b.src))
		to := label
		if n.AutoLinkType == ast.AutoLinkEmail {
			to = "mailto:" + label
		}
		b.within(func(s *style) {
			switch s.href = b.href(to); {
			case b.dialect.fenced && s.href == label:
				s.mark |= bare
			case !b.linkable(label):
				s.href = ""
			}
		}, func() { b.put(label) })
	default:
		b.children(n)
	}
}

// span is the text of a code span; its line breaks count as spaces.
func (b *builder) span(n *ast.CodeSpan) string {
	var s strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			s.Write(c.Value(b.src))
		case *ast.String:
			s.Write(c.Value)
		}
	}
	return strings.ReplaceAll(s.String(), "\n", " ")
}

// dunder tells whether strong text is in truth a name like __init__, which would lose its underscores.
func (b *builder) dunder(n *ast.Emphasis) bool {
	t, ok := n.FirstChild().(*ast.Text)
	if !ok || t.NextSibling() != nil || t.SoftLineBreak() || t.Segment.Start == 0 || b.src[t.Segment.Start-1] != '_' {
		return false
	}
	return !strings.ContainsFunc(string(t.Value(b.src)), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
	})
}

// link writes the text of a link or the description of an image. An address that the dialect cannot link, or that no
// client should open, is written behind it.
func (b *builder) link(n ast.Node, dest string) {
	to, before := b.href(dest), b.written
	text := dest
	if to != "" && (b.dialect.label != nil || b.dialect.fenced) {
		if t := b.seen(n); t != "" {
			text = t
		}
		switch {
		case text == to && b.dialect.fenced: // written as what it is
			b.within(func(s *style) { s.href, s.mark = to, s.mark|bare }, func() { b.put(text) })
			return
		case !b.linkable(text):
			to = ""
		}
	}
	b.within(func(s *style) { s.href = to }, func() {
		b.children(n)
		if b.written == before { // no text of its own
			b.put(dest)
		}
	})
	if to == "" && b.written > before && !strings.HasSuffix(b.run.String(), dest) {
		b.put(" (" + dest + ")")
	}
}

// linkable tells whether a link can have that text.
func (b *builder) linkable(text string) bool {
	return b.dialect.label == nil || b.dialect.label(text)
}

// href gives the address of a link in the form for the dialect, or "" where there is to be none.
func (b *builder) href(dest string) string {
	scheme, rest, _ := strings.Cut(dest, ":")
	switch strings.ToLower(scheme) {
	case "http", "https", "tg":
		if !strings.HasPrefix(rest, "//") || len(rest) < 3 {
			return ""
		}
	case "mailto":
		if rest == "" {
			return ""
		}
	default:
		return ""
	}
	if !strings.Contains(b.dialect.schemes, strings.ToLower(scheme)+" ") {
		return ""
	}
	to := string(util.URLEscape([]byte(dest), true))
	if len(to) > b.dialect.maxHref || !utf8.ValidString(to) || strings.ContainsAny(to, "<>\n") {
		return ""
	}
	return to
}

// unescape resolves backslashes and character references in one pass, and takes <br> as the line break that is meant.
func unescape(src []byte, raw bool) string {
	s := string(src)
	if raw || !strings.ContainsAny(s, `\&<`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && util.IsPunct(s[i+1]):
			b.WriteByte(s[i+1])
			i += 2
		case c == '&':
			t, n := reference(s[i:])
			b.WriteString(t)
			i += n
		case c == '<' && lineBreak(s[i:]) > 0:
			b.WriteByte('\n')
			i += lineBreak(s[i:])
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

func lineBreak(s string) int {
	for _, t := range []string{"<br>", "<br/>", "<br />"} {
		if len(s) >= len(t) && strings.EqualFold(s[:len(t)], t) {
			return len(t)
		}
	}
	return 0
}

// reference decodes the character reference at the beginning of s; anything else is an ampersand.
func reference(s string) (string, int) {
	end := strings.IndexByte(s[:min(len(s), 40)], ';')
	if end < 2 {
		return "&", 1
	}
	name := s[1:end]
	if name[0] != '#' {
		if e, ok := util.LookUpHTML5EntityByName(name); ok {
			return string(e.Characters), end + 1
		}
		return "&", 1
	}
	digits, base := name[1:], 10
	if digits != "" && (digits[0] == 'x' || digits[0] == 'X') {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || len(digits) > 7 {
		return "&", 1
	}
	if n == 0 || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
		return "\uFFFD", end + 1
	}
	return string(rune(n)), end + 1
}
