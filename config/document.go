package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

const largestFile = 1 << 20

// parseDocument gives the map at the root of a file, nil for a file without content.
func parseDocument(name string, data []byte) (*yaml.Node, []Problem) {
	fail := func(line int, text string) []Problem {
		return []Problem{{Kind: Invalid, Place: place(name, line), Text: text}}
	}
	if len(data) > largestFile {
		return nil, fail(1, "the file is larger than 1 MiB")
	}
	if line, bad := unprintable(data); bad {
		return nil, fail(line, "the file must be UTF-8 text without control characters")
	}
	decode := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	err := decode.Decode(&doc)
	switch {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		line, text := syntax(err, data)
		return nil, fail(line, text)
	}
	if err := decode.Decode(&next); err == nil {
		return nil, fail(next.Line, "a second document begins here; the file must be one document")
	} else if !errors.Is(err, io.EOF) {
		line, text := syntax(err, data)
		return nil, fail(line, text)
	}
	root := doc.Content[0]
	switch {
	case isNull(root):
		return nil, nil
	case root.Kind != yaml.MappingNode:
		return nil, fail(root.Line, "the file must be a map of sections, like log: {level: info}")
	}
	return root, refuse(name, "", root)
}

// refuse reports what YAML allows and a configuration does not: anchors, aliases, merge keys and types of one's own. So
// each value stands at one line, the line that is shown as its source.
func refuse(name, path string, n *yaml.Node) []Problem {
	var out []Problem
	add := func(text string) {
		out = append(out, Problem{Kind: Invalid, Place: place(name, n.Line), Path: path, Text: text})
	}
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		add("anchors (&name) and aliases (*name) cannot be used here: write the value out, or use ${NAME} from the environment; put a text that begins with & or * in quotes")
	case n.Style&yaml.TaggedStyle != 0 && n.ShortTag() != "!!str":
		add("types (!name) cannot be used here; put a text that begins with ! in quotes")
	}
	if n.Kind != yaml.MappingNode {
		for _, c := range n.Content {
			out = append(out, refuse(name, path, c)...)
		}
		return out
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind == yaml.ScalarNode && k.ShortTag() == "!!merge" {
			out = append(out, Problem{Kind: Invalid, Place: place(name, k.Line), Path: path, Text: "merge keys (<<) cannot be used here: write the values out"})
			continue
		}
		out = append(out, refuse(name, join(path, keyName(k)), k)...)
		out = append(out, refuse(name, join(path, keyName(k)), v)...)
	}
	return out
}

var (
	yamlLine = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?`)
	anchorAt = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
	tabbed   = regexp.MustCompile(`^ *\t`)

	fromParser = regexp.MustCompile(`^did not find expected (key|node content|<document start>|'-' indicator|',' or )`)
)

// syntax gives the line of a syntax error and words for it.
func syntax(err error, data []byte) (line int, text string) {
	m := yamlLine.FindStringSubmatch(err.Error())
	line, text = 1, err.Error()
	if m != nil {
		text = strings.TrimPrefix(text, m[0])
		if n, nerr := strconv.Atoi(m[1]); nerr == nil {
			line = n
			if fromParser.MatchString(text) {
				line++ // it counts from 0 in these
			}
		}
	}
	lines := strings.Split(strings.TrimRight(string(data), "\r\n"), "\n")
	line = max(1, min(line, len(lines)))
	if a := anchorAt.FindStringSubmatch(text); a != nil {
		for i, l := range lines {
			if strings.Contains(l, "*"+a[1]) {
				line = i + 1
				break
			}
		}
		return line, "a text that begins with * must be in quotes"
	}
	if strings.Contains(text, "tab character") || strings.Contains(text, "cannot start any token") {
		for i := max(0, line-2); i < min(len(lines), line+1); i++ {
			if tabbed.MatchString(lines[i]) {
				return i + 1, "a tab in the indentation: YAML is indented with spaces only"
			}
		}
	}
	switch {
	case text == "mapping values are not allowed in this context":
		text += ": check the indentation of this line and of the one before it"
	case text == "did not find expected key", text == "did not find expected '-' indicator":
		text += ": check the indentation of what begins here"
	case strings.Contains(text, "',' or "):
		text += ": inside [ ] and { } a text with ${NAME}, a comma or a bracket must be in quotes"
	}
	return line, text
}

// unprintable finds the first line that YAML would stumble over without telling where.
func unprintable(data []byte) (line int, bad bool) {
	line = 1
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && n == 1, r < ' ' && r != '\n' && r != '\r' && r != '\t', r >= 0x7f && r < 0xa0 && r != 0x85, r == 0xfffe || r == 0xffff:
			return line, true
		case r == '\n':
			line++
		}
		i += n
	}
	return 0, false
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

var keyForm = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// keyName gives a key for messages. What does not look like a key might be a secret with its colon in the wrong place.
func keyName(k *yaml.Node) string {
	if k.Kind == yaml.ScalarNode && keyForm.MatchString(k.Value) {
		return k.Value
	}
	return "(a key that is no word)"
}

func place(name string, line int) string { return fmt.Sprintf("%s:%d", name, line) }
