package rehearsal

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fail notes what is wrong, with the line.
func (l *loader) fail(n *yaml.Node, format string, args ...any) {
	l.errs = append(l.errs, fmt.Errorf("%s:%d: "+format, append([]any{l.file, n.Line}, args...)...))
}

// mapping hands each value to the reader of its key. Unknown and repeated keys are faults.
func (l *loader) mapping(n *yaml.Node, at string, readers map[string]func(*yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		l.fail(n, "%s: keys with values are expected here", at)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		read, known := readers[key.Value]
		switch {
		case !known || key.Kind != yaml.ScalarNode:
			l.fail(key, "%s: unknown key %q%s", at, key.Value, suggest(key.Value, keys(readers)))
		case seen[key.Value]:
			l.fail(key, "%s: %s is there twice", at, key.Value)
		default:
			seen[key.Value] = true
			read(n.Content[i+1])
		}
	}
}

func (l *loader) sequence(n *yaml.Node, at string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		l.fail(n, "%s: a list is expected here", at)
		return nil
	}
	return n.Content
}

func (l *loader) text(n *yaml.Node, at string) string {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		l.fail(n, "%s: a text is expected here", at)
		return ""
	}
	return n.Value
}

func (l *loader) number(n *yaml.Node, at string) int {
	i, err := strconv.Atoi(l.text(n, at))
	if err != nil {
		l.fail(n, "%s: a number is expected here", at)
	}
	return i
}

func (l *loader) pattern(n *yaml.Node, at string) *regexp.Regexp {
	re, err := regexp.Compile(l.text(n, at))
	if err != nil {
		l.fail(n, "%s: %v", at, err)
		return nil
	}
	return re
}

func (l *loader) oneOf(n *yaml.Node, at string, words ...string) string {
	text := l.text(n, at)
	if !slices.Contains(words, text) {
		l.fail(n, "%s: %q is none of %s%s", at, text, strings.Join(words, ", "), suggest(text, words))
	}
	return text
}

// suggest names the known word that is nearest to a mistyped one.
func suggest(word string, known []string) string {
	best, near := "", 3
	for _, k := range known {
		if d := distance(word, k); d < near {
			best, near = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

// distance counts the letters to change, add or drop; long words are not compared.
func distance(a, b string) int {
	const most = 32
	if len(a) > most || len(b) > most {
		return most
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
