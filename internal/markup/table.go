package markup

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// maxColumn is how far a table's columns are padded; a longer cell stands out, rather than that every row grows with it.
const maxColumn = 40

// table writes a table as text of fixed width.
func (b *builder) table(n *east.Table) {
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
	b.mark()
	b.within(func(s *style) { s.mark, s.lang, s.href = pre, "", "" }, func() { b.put(body) })
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
	inner := &builder{src: b.src, dialect: dialectOf(""), used: b.used}
	inner.children(n)
	return strings.Join(strings.Fields(visible(inner.finish())), " ")
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
