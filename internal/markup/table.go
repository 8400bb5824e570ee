package markup

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// maxColumn is how far a table's columns are padded; a longer cell stands out, rather than that every row grows with it.
const maxColumn = 40

// table writes a table as text of fixed width where the dialect has none.
func (b *builder) table(n *east.Table) {
	if b.dialect.tables && b.indent == 0 && b.marker == "" && int(b.style.depth) <= b.dialect.quotes && b.grid(n) {
		return
	}
	var rows [][]string
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		var row []string
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			row = append(row, b.cell(c))
		}
		if rest := b.excess(r); rest != "" {
			row[len(row)-1] += " | " + rest
		}
		rows = append(rows, row)
	}
	widths := make([]int, len(n.Alignments))
	for _, row := range rows {
		for i, c := range row[:min(len(row), len(widths))] {
			widths[i] = max(widths[i], min(columns(c), maxColumn))
		}
	}
	var out strings.Builder
	for i, row := range rows {
		var line strings.Builder
		for k, c := range row[:min(len(row), len(widths))] {
			if k > 0 {
				line.WriteString(" | ")
			}
			line.WriteString(pad(c, widths[k], n.Alignments[k]))
		}
		out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		if i == 0 {
			for k, w := range widths {
				if k > 0 {
					out.WriteString("-+-")
				}
				out.WriteString(strings.Repeat("-", w))
			}
			out.WriteByte('\n')
		}
	}
	body := strings.TrimRight(out.String(), "\n")
	if strings.Trim(body, " |-+\n") == "" {
		return
	}
	b.preformatted(body, "")
}

// grid writes a table as a table. One that a part might not hold as a whole is not written so: its rows mean nothing
// without its head.
func (b *builder) grid(n *east.Table) bool {
	var rows []span
	line := style{mark: grid, quote: b.style.quote, depth: b.style.depth}
	add := func(s string) { rows = append(rows, span{s, line}) }
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		if b.excess(r) != "" {
			return false
		}
		if r != n.FirstChild() {
			add("\n")
		}
		add("|")
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			inner := b.inner(b.dialect)
			inner.style = style{quote: line.quote, depth: line.depth}
			inner.children(c)
			add(" ")
			for _, s := range inner.finish() {
				s.text = strings.Join(strings.FieldsFunc(s.text, func(r rune) bool { return r == '\n' }), " ")
				rows = append(rows, s)
			}
			add(" |")
		}
		if r == n.FirstChild() {
			add("\n|")
			for _, a := range n.Alignments {
				add(map[east.Alignment]string{east.AlignLeft: " :-- |", east.AlignRight: " --: |", east.AlignCenter: " :-: |", east.AlignNone: " --- |"}[a])
			}
		}
	}
	size := 0
	for _, s := range rows {
		size += measure(s.text, b.unit)
	}
	if b.dialect.maxTable > 0 && size > b.dialect.maxTable {
		return false
	}
	b.separate(2)
	b.begin()
	for _, s := range rows {
		b.add(s.text, s.style)
	}
	b.bol = false
	b.separate(2)
	return true
}

// inner is a builder for a piece of the same text.
func (b *builder) inner(d dialect) *builder {
	return &builder{src: b.src, dialect: d, unit: b.unit, used: b.used}
}

// seen is the visible text of a node's children.
func (b *builder) seen(n ast.Node) string {
	inner := b.inner(plain)
	inner.children(n)
	return visible(inner.finish())
}

// excess is what a row has behind the last column of its table. Tables drop it; people would miss it.
func (b *builder) excess(row ast.Node) string {
	last := row.LastChild()
	if last == nil || last.Lines() == nil || last.Lines().Len() == 0 {
		return ""
	}
	rest := string(b.src[last.Lines().At(0).Stop:])
	rest, _, _ = strings.Cut(rest, "\n")
	return strings.Trim(rest, " \t|")
}

// cell is the visible text of a cell, in one line.
func (b *builder) cell(n ast.Node) string {
	return strings.Join(strings.Fields(b.seen(n)), " ")
}

func pad(s string, width int, a east.Alignment) string {
	space := max(0, width-columns(s))
	switch a {
	case east.AlignRight:
		return strings.Repeat(" ", space) + s
	case east.AlignCenter:
		return strings.Repeat(" ", space/2) + s + strings.Repeat(" ", space-space/2)
	default:
		return s + strings.Repeat(" ", space)
	}
}

// columns is how wide s is in a font of fixed width.
func columns(s string) int {
	n := 0
	for s != "" {
		size := cluster(s)
		for _, r := range s[:size] {
			if wide(r) {
				n++
			}
			n++
			break
		}
		s = s[size:]
	}
	return n
}

func wide(r rune) bool {
	return r >= 0x1100 && r <= 0x115F || r >= 0x2E80 && r <= 0xA4CF || r >= 0xAC00 && r <= 0xD7A3 || r >= 0xF900 && r <= 0xFAFF ||
		r >= 0xFE30 && r <= 0xFE6F || r >= 0xFF00 && r <= 0xFF60 || r >= 0xFFE0 && r <= 0xFFE6 || r >= 0x1F300 && r <= 0x1FAFF ||
		r >= 0x20000 && r <= 0x3FFFD
}
