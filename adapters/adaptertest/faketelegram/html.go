package faketelegram

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Entity is a part of a text that has a form or a meaning. Offset and Length count UTF-16 units.
type Entity struct {
	Type     string `json:"type"`
	Offset   int    `json:"offset"`
	Length   int    `json:"length"`
	URL      string `json:"url,omitempty"`
	Language string `json:"language,omitempty"`
	User     *User  `json:"user,omitempty"`
}

// Units is the length of a text as Telegram counts it: in UTF-16 code units.
func Units(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r >= 1<<16 {
			n++
		}
	}
	return n
}

// markup is the state of reading a text with HTML markup.
type markup struct {
	rest string // what is still to be read
	size int    // of the whole source
	text strings.Builder
	open []opened
	done []Entity
}

type opened struct {
	tag    string
	entity Entity
}

// ParseHTML reads a text as Telegram does with parse_mode HTML and gives what is seen, or the complaint that Telegram
// would have.
func ParseHTML(src string) (string, []Entity, error) {
	if !utf8.ValidString(src) {
		return "", nil, fmt.Errorf("strings must be encoded in UTF-8")
	}
	m := &markup{rest: src, size: len(src)}
	for m.rest != "" {
		i := strings.IndexAny(m.rest, "<&")
		if i < 0 {
			i = len(m.rest)
		}
		m.text.WriteString(m.rest[:i])
		m.rest = m.rest[i:]
		var err error
		switch {
		case m.rest == "":
		case m.rest[0] == '&':
			m.text.WriteString(m.reference())
		case strings.HasPrefix(m.rest, "</"):
			err = m.endTag()
		default:
			err = m.startTag()
		}
		if err != nil {
			return "", nil, err
		}
	}
	if n := len(m.open); n > 0 {
		return "", nil, fmt.Errorf("Can't find end tag corresponding to start tag %q", m.open[n-1].tag) //nolint:staticcheck // the platform's words
	}
	return m.text.String(), m.done, nil
}

func (m *markup) complain(format string, args ...any) error {
	return fmt.Errorf(format+" at byte offset %d", append(args, m.size-len(m.rest))...)
}

// reference reads one of the four named references or a number; any other ampersand stands for itself.
func (m *markup) reference() string {
	if end := strings.IndexByte(m.rest, ';'); end > 1 && end < 12 {
		name, value := m.rest[1:end], ""
		switch name {
		case "lt":
			value = "<"
		case "gt":
			value = ">"
		case "amp":
			value = "&"
		case "quot":
			value = `"`
		default:
			if n, err := strconv.ParseUint(strings.Replace(strings.TrimPrefix(name, "#"), "x", "0x", 1), 0, 21); name[0] == '#' && err == nil && n > 0 {
				value = string(rune(n))
			}
		}
		if value != "" {
			m.rest = m.rest[end+1:]
			return value
		}
	}
	m.rest = m.rest[1:]
	return "&"
}

func (m *markup) endTag() error {
	end := strings.IndexByte(m.rest, '>')
	if end < 0 || len(m.open) == 0 {
		return m.complain("Unexpected end tag")
	}
	last := m.open[len(m.open)-1]
	if name := strings.ToLower(strings.TrimSpace(m.rest[2:end])); name != last.tag {
		return m.complain("Unmatched end tag, expected \"</%s>\", found \"</%s>\"", last.tag, name)
	}
	m.rest, m.open = m.rest[end+1:], m.open[:len(m.open)-1]
	e := last.entity
	if e.Length = Units(m.text.String()) - e.Offset; e.Length > 0 && e.Type != "" {
		m.done = append(m.done, e)
	}
	return nil
}

func (m *markup) startTag() error {
	end := strings.IndexByte(m.rest, '>')
	if end < 0 {
		return m.complain("Unclosed start tag")
	}
	name, attr, _ := strings.Cut(m.rest[1:end], " ")
	name = strings.ToLower(name)
	e := Entity{Offset: Units(m.text.String())}
	key, value, hasValue := strings.Cut(attr, "=")
	if attr != "" {
		if hasValue && (len(value) < 2 || value[0] != '"' || strings.IndexByte(value[1:], '"') != len(value)-2) {
			return m.complain("Unexpected attribute in the tag %q", name)
		}
		inner := &markup{}
		for inner.rest = strings.Trim(value, `"`); inner.rest != ""; {
			if inner.rest[0] == '&' {
				inner.text.WriteString(inner.reference())
			} else {
				inner.text.WriteByte(inner.rest[0])
				inner.rest = inner.rest[1:]
			}
		}
		value = inner.text.String()
	}
	switch name {
	case "b", "strong":
		e.Type = "bold"
	case "i", "em":
		e.Type = "italic"
	case "u", "ins":
		e.Type = "underline"
	case "s", "strike", "del":
		e.Type = "strikethrough"
	case "tg-spoiler":
		e.Type = "spoiler"
	case "blockquote":
		e.Type = "blockquote"
	case "pre":
		e.Type = "pre"
	case "a":
		if e.URL = value; key == "href" && value != "" {
			e.Type = "text_link"
		}
	case "code":
		e.Type = "code"
		if n := len(m.open); n > 0 && m.open[n-1].tag == "pre" && key == "class" {
			e.Type = "" // the language of the block around it
			m.open[n-1].entity.Language = strings.TrimPrefix(value, "language-")
		}
	default:
		return m.complain("Unsupported start tag %q", name)
	}
	m.rest = m.rest[end+1:]
	m.open = append(m.open, opened{name, e})
	return nil
}
