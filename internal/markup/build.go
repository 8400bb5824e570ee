package markup

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/homing-gateway/homing/internal/chat"
)

const (
	rule      = "———"
	bullet    = "• "
	bar       = "│ " // before each line of a quotation that the dialect does not show
	maxIndent = 24   // columns; deeper lists stay there
)

// parse is CommonMark without HTML, which is shown as it was written, and with tables, strikethrough and boxes to tick.
func parse(src []byte, tables bool) ast.Node {
	blocks := []util.PrioritizedValue{
		util.Prioritized(parser.NewSetextHeadingParser(), 100),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(parser.NewListParser(), 300),
		util.Prioritized(parser.NewListItemParser(), 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(parser.NewBlockquoteParser(), 800),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	}
	inlines := []util.PrioritizedValue{
		util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
		util.Prioritized(parser.NewCodeSpanParser(), 100),
		util.Prioritized(parser.NewLinkParser(), 200),
		util.Prioritized(parser.NewAutoLinkParser(), 300),
		util.Prioritized(parser.NewEmphasisParser(), 500),
		util.Prioritized(extension.NewStrikethroughParser(), 500),
	}
	paragraphs := parser.DefaultParagraphTransformers()
	trees := []util.PrioritizedValue{}
	if tables {
		paragraphs = append(paragraphs, util.Prioritized(extension.NewTableParagraphTransformer(), 200))
		trees = append(trees, util.Prioritized(extension.NewTableASTTransformer(), 0))
	}
	return parser.NewParser(
		parser.WithBlockParsers(blocks...),
		parser.WithInlineParsers(inlines...),
		parser.WithParagraphTransformers(paragraphs...),
		parser.WithASTTransformers(trees...),
	).Parse(text.NewReader(src))
}

// builder walks a parsed text and writes its runs.
type builder struct {
	src     []byte
	dialect dialect
	unit    chat.Unit
	used    map[string]bool // link definitions that a link refers to
	runs
	style  style  // of what is written next
	quotes int32  // quotations seen
	gap    int    // line breaks due before the next text
	bol    bool   // at the beginning of a line
	marker string // of a list item that has begun, with its indentation
	indent int    // columns
}

// build gives the runs of a text for a dialect.
func build(md string, d dialect, u chat.Unit) []span {
	src := []byte(md)
	root := parse(src, tablesAffordable(md))
	b := &builder{src: src, dialect: d, unit: u, bol: true, used: map[string]bool{}}
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if l, ok := n.(*ast.Link); ok && entering && l.Reference != nil {
			b.used[util.ToLinkReference(l.Reference.Value)] = true
		}
		if l, ok := n.(*ast.Image); ok && entering && l.Reference != nil {
			b.used[util.ToLinkReference(l.Reference.Value)] = true
		}
		return ast.WalkContinue, nil
	})
	b.children(root)
	return b.finish()
}

// put appends visible text in the current style.
func (b *builder) put(s string) {
	for line := range strings.SplitAfterSeq(s, "\n") {
		if line == "" {
			continue
		}
		if line != "\n" || b.gap > 0 || b.marker != "" {
			b.begin()
		}
		b.add(line, b.style)
		b.bol = strings.HasSuffix(line, "\n")
	}
}

// begin writes what is due before a text: line breaks, indentation, a list marker.
func (b *builder) begin() {
	if b.gap > 0 {
		between := style{mark: b.last.mark & heading}
		if b.last.quote == b.style.quote {
			between.quote, between.depth = b.last.quote, min(b.last.depth, b.style.depth)
		}
		b.add(strings.Repeat("\n", b.gap), between)
		b.gap, b.bol = 0, true
	}
	if !b.bol {
		return
	}
	b.bol = false
	quoted := style{quote: b.style.quote, depth: b.style.depth}
	if deeper := int(b.style.depth) - b.dialect.quotes; deeper > 0 && b.style.mark&pre == 0 {
		b.add(strings.Repeat(bar, deeper), quoted)
	}
	switch {
	case b.marker != "":
		marker := quoted
		if b.dialect.fenced {
			marker.mark = item
		}
		b.add(b.marker, marker)
		b.marker = ""
	case b.indent > 0 && b.style.mark&pre == 0:
		b.add(strings.Repeat(" ", b.indent), quoted)
	}
}

// mark writes a list marker that waits, so that what follows stands behind it and not within the same style.
func (b *builder) mark() {
	if b.marker != "" {
		b.begin()
	}
}

// separate asks for at least n line breaks before the next text; the text behind a list marker stays with it.
func (b *builder) separate(n int) {
	if b.marker == "" && b.written > 0 {
		b.gap = max(b.gap, n)
	}
}

// within runs f with a changed style.
func (b *builder) within(change func(*style), f func()) {
	old := b.style
	change(&b.style)
	f()
	b.style = old
}

func (b *builder) children(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.Type() == ast.TypeInline {
			b.inline(c)
		} else {
			b.block(c)
		}
	}
}

func (b *builder) block(n ast.Node) {
	if n.HasBlankPreviousLines() {
		b.separate(2)
	} else {
		b.separate(1)
	}
	switch n := n.(type) {
	case *ast.Heading:
		b.separate(2)
		b.within(func(s *style) {
			s.mark |= bold | heading
			if n.Level <= int(b.dialect.levels) && b.indent == 0 && b.marker == "" && int(s.depth) <= b.dialect.quotes {
				s.level = uint8(n.Level)
			}
		}, func() { b.children(n) })
	case *ast.ThematicBreak:
		b.put(rule)
	case *ast.FencedCodeBlock:
		info := ""
		if n.Info != nil {
			info = strings.TrimSpace(string(n.Info.Value(b.src)))
		}
		lang, more, _ := strings.Cut(info, " ")
		if lang = language(lang); lang == "" {
			more = info
		}
		if more = strings.TrimSpace(more); more != "" { // a file's name, or words that nobody meant as a language
			b.put(more)
			b.separate(1)
		}
		b.code(n.Lines(), lang)
	case *ast.CodeBlock:
		b.code(n.Lines(), "")
	case *ast.Blockquote:
		b.within(func(s *style) {
			if s.quote == 0 {
				b.quotes++
				s.quote = b.quotes
			}
			s.depth++
		}, func() { b.children(n) })
	case *ast.List:
		b.list(n)
	case *ast.LinkReferenceDefinition:
		if !b.used[util.ToLinkReference(n.Label)] { // nobody would ever see it
			b.put(strings.TrimRight(lines(n.Lines(), b.src), "\n"))
		}
	case *east.Table:
		b.separate(2) // its node does not know whether a blank line came before
		b.table(n)
	default:
		b.children(n)
	}
}

func (b *builder) code(segs *text.Segments, lang string) {
	body := strings.Trim(lines(segs, b.src), "\n")
	if strings.TrimSpace(body) == "" {
		return
	}
	b.preformatted(body, lang)
}

func (b *builder) list(n *ast.List) {
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		marker := bullet
		if n.IsOrdered() {
			marker = strconv.Itoa(number) + string(n.Marker) + " "
			number++
		}
		if b.marker != "" {
			b.marker += marker // an item that begins with a list: both markers in one line
		} else {
			b.separate(1)
			if item.HasBlankPreviousLines() && item.PreviousSibling() != nil {
				b.separate(2)
			}
			b.marker = strings.Repeat(" ", b.indent) + marker
		}
		old := b.indent
		step := b.dialect.step
		if step == 0 {
			step = utf8.RuneCountInString(marker)
		}
		b.indent = min(b.indent+step, maxIndent)
		b.bol = b.bol || b.gap > 0
		b.children(item)
		b.mark() // of an empty item
		b.indent = old
	}
}

// preformatted writes text of fixed width.
func (b *builder) preformatted(text, lang string) {
	b.mark()
	if b.dialect.fenced && !b.bol {
		b.separate(1)
	}
	b.within(func(s *style) { s.mark, s.lang, s.href = pre, lang, "" }, func() { b.put(text) })
}

// lines joins the lines of a block.
func lines(segs *text.Segments, src []byte) string {
	var s strings.Builder
	for i := range segs.Len() {
		seg := segs.At(i)
		s.Write(seg.Value(src))
	}
	return s.String()
}

// language gives the name of a code block's language where it is one, in the form that may stand in an attribute.
func language(name string) string {
	if len(name) > 32 || strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("+-#._", r)
	}) {
		return ""
	}
	return name
}
