package rehearsal

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// template is a text with parts that are filled in: {{name}}, {{name argument}}, {{name argument | filter}}.
type template []piece

// piece is a fixed text, or an expression.
type piece struct {
	text   string
	name   string // "": fixed text
	number int
	word   string
	filter string
}

// argument says what a name takes.
type argument int

const (
	none     argument = iota
	optional          // a word
	word              // a word
	either            // a number or a word
)

// names are what a template may use.
func names() map[string]argument {
	return map[string]argument{
		"text":    none,     // what the rule answers: the person's text, the notice's content, the brief
		"group":   either,   // captured by the rule's regular expressions
		"last":    word,     // the newest id of a kind: "proc", "del", "sub"
		"result":  optional, // the last tool result, or a field of it
		"notice":  word,     // "kind", "id", "status" or "origin"
		"first":   none,     // the first thing that a person said in this conversation
		"said":    none,     // what people said in it, as a list
		"brief":   none,     // the first user-role message
		"session": none,     // the conversation's id
		"open":    none,     // {{ itself
	}
}

var expression = regexp.MustCompile(`^\s*([a-z]+)(?:\s+(\d{1,3}|"[^"{}]+"))?(?:\s*\|\s*([a-z]+))?\s*$`)

// parse reads a template.
func parse(text string) (template, error) {
	var out template
	for text != "" {
		before, rest, found := strings.Cut(text, "{{")
		if before != "" {
			out = append(out, piece{text: before})
		}
		if !found {
			break
		}
		inner, after, closed := strings.Cut(rest, "}}")
		if !closed {
			return nil, fmt.Errorf("%q is not closed by }}", "{{"+shorten(rest))
		}
		p, err := parseExpression(inner)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
		text = after
	}
	return out, nil
}

func parseExpression(text string) (piece, error) {
	found := expression.FindStringSubmatch(text)
	if found == nil {
		return piece{}, fmt.Errorf("cannot read {{%s}}", text)
	}
	p := piece{name: found[1], filter: found[3]}
	if p.filter != "" && p.filter != "shell" && p.filter != "line" {
		return piece{}, fmt.Errorf("unknown filter %q in {{%s}}; there are shell and line", p.filter, text)
	}
	takes, known := names()[p.name]
	if !known {
		return piece{}, fmt.Errorf("unknown name %q in {{%s}}%s", p.name, text, suggest(p.name, keys(names())))
	}
	given := found[2]
	if strings.HasPrefix(given, `"`) {
		p.word = strings.Trim(given, `"`)
	} else {
		p.number, _ = strconv.Atoi(given) // three digits at most, or none
	}
	switch {
	case takes == none && given != "", takes == word && p.word == "", takes == either && given == "",
		takes == optional && given != "" && p.word == "":
		return piece{}, fmt.Errorf("wrong argument in {{%s}}", text)
	case p.name == "notice" && !slices.Contains([]string{"kind", "id", "status", "origin"}, p.word):
		return piece{}, fmt.Errorf("a notice has kind, id, status and origin, not %q", p.word)
	}
	return p, nil
}

func (t template) render(s *scene, l line) string {
	var out strings.Builder
	for _, p := range t {
		if p.name == "" {
			out.WriteString(p.text)
			continue
		}
		out.WriteString(filter(p.filter, p.value(s, l)))
	}
	return out.String()
}

func (p piece) value(s *scene, l line) string {
	switch p.name {
	case "text":
		return strings.TrimSpace(l.input.text)
	case "group":
		return l.rule.group(s, l.input, p.number, p.word)
	case "last":
		return s.lastID(p.word)
	case "result":
		last, _ := l.input.last()
		if p.word == "" {
			return last.Text
		}
		return field(last.Text, p.word)
	case "notice":
		return l.input.notice.part(p.word)
	case "first":
		if len(s.people) > 0 {
			return strings.TrimSpace(s.people[0])
		}
	case "said":
		return list(s.people)
	case "brief":
		return s.brief
	case "session":
		return s.request.Session
	case "open":
		return "{{"
	}
	return ""
}

func (n *notice) part(name string) string {
	switch {
	case n == nil:
		return ""
	case name == "kind":
		return n.kind
	case name == "id":
		return n.id
	case name == "origin":
		return n.origin
	}
	return n.status
}

// list writes the newest texts as a numbered list.
func list(texts []string) string {
	const most = 10
	var out strings.Builder
	for i := max(0, len(texts)-most); i < len(texts); i++ {
		if out.Len() > 0 {
			out.WriteByte('\n')
		}
		fmt.Fprintf(&out, "%d. %s", i+1, shorten(firstLine(strings.TrimSpace(texts[i]))))
	}
	return out.String()
}

// filter changes a value: shell quotes it as one word of a command line, line keeps its first line.
func filter(name, value string) string {
	switch name {
	case "shell":
		return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
	case "line":
		return firstLine(strings.TrimSpace(value))
	}
	return value
}
