package markup

import (
	"strings"

	"github.com/yuin/goldmark/util"
)

// feishu is the content of a post:
// https://open.feishu.cn/document/server-docs/im-v1/message-content-description/create_json. The limit counts the bytes of
// that JSON. It consists of paragraphs, one for each line, and these of elements: text and links with styles, and blocks of
// code. Their text is shown as it is, so there is nothing to escape and no mention can come about. There is also an element
// for Markdown; it has no escape, and its bold text may hold no link, so a text could not be shown faithfully with it.
var feishu = dialect{
	tags: feishuTags, escape: feishuEscape, join: feishuJoin, fence: feishuFence,
	schemes: "http https ", fenced: true, nests: true, countsMarkup: true, maxHref: maxHref, reserve: len(feishuOpen + feishuClose),
}

const (
	feishuOpen  = `{"zh_cn":{"content":[[`
	feishuClose = `]]}}`
	feishuBlank = `{"tag":"text","text":""}`
)

// feishuTags are the two halves of an element, with the comma or the brackets that go with it.
func feishuTags(s span) []tag {
	st := s.style
	if st.mark&pre != 0 {
		t := tag{open: `{"tag":"code_block",`, close: `"},`}
		if lang := feishuLanguages[strings.ToLower(st.lang)]; lang != "" { // another one might be refused
			t.open += `"language":"` + lang + `",`
		}
		t.open += `"text":"`
		return []tag{t}
	}
	t := tag{open: `{"tag":"text","text":"`, close: `"`}
	if st.href != "" {
		t.open = `{"tag":"a","href":"` + feishuText(string(util.URLEscape([]byte(st.href), false))) + `","text":"`
	}
	var styles []string
	for _, m := range []struct {
		mark mark
		name string
	}{{bold, `"bold"`}, {italic, `"italic"`}, {strike, `"lineThrough"`}} {
		if st.mark&m.mark != 0 {
			styles = append(styles, m.name)
		}
	}
	if len(styles) > 0 {
		t.close += `,"style":[` + strings.Join(styles, ",") + `]`
	}
	t.close += "},"
	return []tag{t}
}

// feishuEscape counts a line break as the paragraph that it begins.
func feishuEscape(p place, from, to int) string {
	s := p.text[from:to]
	if p.style.mark&pre == 0 {
		s = strings.ReplaceAll(s, "\n", `],[`+feishuBlank)
	}
	return feishuText(s)
}

func feishuJoin(d dialect, spans []span) string {
	var b strings.Builder
	b.WriteString(feishuOpen)
	filled := false // the paragraph
	element := func(s span) {
		if s.text == "" {
			return
		}
		if filled {
			b.WriteByte(',')
		}
		t := d.tags(s)[0]
		b.WriteString(t.open + feishuText(s.text) + strings.TrimSuffix(t.close, ","))
		filled = true
	}
	paragraph := func() {
		if !filled {
			b.WriteString(feishuBlank)
		}
		b.WriteString("],[")
		filled = false
	}
	for _, s := range spans {
		if s.style.mark&pre != 0 {
			if filled {
				paragraph()
			}
			element(s)
			continue
		}
		for line := range strings.SplitAfterSeq(s.text, "\n") {
			element(span{strings.TrimSuffix(line, "\n"), s.style})
			if strings.HasSuffix(line, "\n") {
				paragraph()
			}
		}
	}
	if !filled {
		b.WriteString(feishuBlank)
	}
	b.WriteString(feishuClose)
	return b.String()
}

// feishuText is the inside of a JSON string.
func feishuText(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' }) < 0 {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ':
			b.WriteString(`\u00` + string("0123456789abcdef"[c>>4]) + string("0123456789abcdef"[c&15]))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// feishuLanguages are the names that Feishu knows, for what people write.
var feishuLanguages = map[string]string{
	"py": "PYTHON", "python": "PYTHON", "python3": "PYTHON", "c": "C", "h": "C", "cpp": "CPP", "c++": "CPP", "cc": "CPP", "go": "GO",
	"golang": "GO", "java": "JAVA", "kotlin": "KOTLIN", "kt": "KOTLIN", "swift": "SWIFT", "php": "PHP", "ruby": "RUBY", "rb": "RUBY",
	"rust": "RUST", "rs": "RUST", "javascript": "JAVASCRIPT", "js": "JAVASCRIPT", "jsx": "JAVASCRIPT", "typescript": "TYPESCRIPT",
	"ts": "TYPESCRIPT", "tsx": "TYPESCRIPT", "bash": "BASH", "sh": "SHELL", "shell": "SHELL", "zsh": "SHELL", "console": "SHELL",
	"sql": "SQL", "json": "JSON", "xml": "XML", "yaml": "YAML", "yml": "YAML", "html": "HTML", "thrift": "THRIFT",
}

// feishuFence: a line has no code of its own look; the text is all there is.
func feishuFence(s span) (string, uint8, bool) { return s.text, 0, s.style.mark&pre != 0 }
