package machine_test

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// token is one word of a command line: a plain word, a "quoted text", or {JSON}.
type token struct {
	text   string
	quoted bool
	json   bool
}

// line is a command of a story: `name word "text" {json} key=value`.
type line struct {
	name   string
	words  []token
	option map[string]string
}

// parse takes a command line apart.
func parse(text string) (line, error) {
	l := line{option: map[string]string{}}
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		var t token
		switch rest[0] {
		case '"':
			q, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return l, fmt.Errorf("%q: %w", rest, err)
			}
			t.text, _ = strconv.Unquote(q)
			t.quoted, rest = true, rest[len(q):]
		case '{':
			n := balanced(rest)
			t.text, t.json, rest = rest[:n], true, rest[n:]
		default:
			t.text, rest, _ = strings.Cut(rest, " ")
		}
		if k, v, ok := strings.Cut(t.text, "="); ok && !t.quoted && !t.json {
			l.option[k] = v
		} else if l.name == "" {
			l.name = t.text
		} else {
			l.words = append(l.words, t)
		}
	}
	return l, nil
}

// balanced is the length of the JSON object that a text begins with.
func balanced(s string) int {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

// word returns the i-th word, or nothing.
func (l line) word(i int) string {
	if i < len(l.words) {
		return l.words[i].text
	}
	return ""
}

// has tells whether a plain word stands anywhere in the line.
func (l line) has(flag string) bool {
	for _, t := range l.words {
		if t.text == flag && !t.quoted && !t.json {
			return true
		}
	}
	return false
}

// after returns the word after a plain word.
func (l line) after(flag string) string {
	for i, t := range l.words {
		if t.text == flag && !t.quoted {
			return l.word(i + 1)
		}
	}
	return ""
}

// text returns the first quoted text, or what is given.
func (l line) text(otherwise string) string {
	for _, t := range l.words {
		if t.quoted {
			return t.text
		}
	}
	return otherwise
}

// number returns the first word that is a whole number.
func (l line) number() int {
	for _, t := range l.words {
		if n, err := strconv.Atoi(t.text); err == nil && !t.quoted {
			return n
		}
	}
	return 0
}

// span returns the first word that is a duration.
func (l line) span() time.Duration {
	for _, t := range l.words {
		if d, err := time.ParseDuration(t.text); err == nil && !t.quoted {
			return d
		}
	}
	return 0
}
