package config

import (
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// candidate is the value that one layer has for a leaf.
type candidate struct {
	value  reflect.Value
	source string
	list   *yaml.Node // a list of sections, read once the layers below are known
}

// file is one configuration file that is being read.
type file struct {
	name     string // as shown to people
	lookup   func(string) (string, bool)
	root     *section
	problems []Problem
}

func (f *file) problem(n *yaml.Node, path, text, suggestion string) {
	f.problems = append(f.problems, Problem{Kind: Invalid, Place: place(f.name, n.Line), Path: path, Text: text, Suggestion: suggestion})
}

// walk reads the map at n by the table s and gives what each leaf holds to set. Everything that fits no leaf is a problem;
// keys without a value keep their default. The prefix stands before the paths of the table.
func (f *file) walk(n *yaml.Node, s *section, prefix string, set func(*field, candidate)) {
	path := strings.TrimSuffix(prefix+s.path, ".")
	switch {
	case isNull(n) || n.Kind == yaml.AliasNode:
		return
	case n.Kind != yaml.MappingNode:
		f.problem(n, path, "must be a section with keys below it: "+strings.Join(s.keys(), ", "), "")
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		name := keyName(k)
		if first, twice := seen[k.Value]; twice && k.Kind == yaml.ScalarNode {
			f.problem(k, join(path, name), fmt.Sprintf("this key was already given at line %d", first), "")
			continue
		}
		seen[k.Value] = k.Line
		fd := s.find(k.Value)
		switch {
		case k.Kind == yaml.AliasNode || k.ShortTag() == "!!merge":
		case k.Kind != yaml.ScalarNode || fd == nil:
			f.unknown(n, i, s, path)
		case fd.inner != nil:
			f.walk(v, fd.inner, prefix, set)
		case fd.items != nil:
			f.elements(v, fd, prefix, set)
		default:
			f.leaf(v, fd, prefix, set)
		}
	}
}

func (f *file) elements(n *yaml.Node, fd *field, prefix string, set func(*field, candidate)) {
	switch {
	case isNull(n) || n.Kind == yaml.AliasNode:
	case n.Kind != yaml.SequenceNode:
		f.problem(n, prefix+fd.path, "must be a list; each element begins with - and has keys: "+strings.Join(fd.items.keys(), ", "), "")
	default:
		set(fd, candidate{source: place(f.name, n.Line), list: n})
	}
}

func (f *file) leaf(n *yaml.Node, fd *field, prefix string, set func(*field, candidate)) {
	if isNull(n) || n.Kind == yaml.AliasNode {
		return
	}
	r, err := f.raw(n, fd)
	var v reflect.Value
	if err == nil {
		v, err = fd.parse(r)
	}
	if err != nil {
		f.problem(n, prefix+fd.path, err.Error(), meant(err))
		return
	}
	set(fd, candidate{value: v, source: place(f.name, n.Line)})
}

// raw takes a value from the file as it was written, with variables replaced.
func (f *file) raw(n *yaml.Node, fd *field) (raw, error) {
	switch n.Kind {
	case yaml.ScalarNode:
		t, err := f.text(n)
		return raw{texts: []text{t}}, err
	case yaml.SequenceNode:
		r := raw{list: true}
		for i, e := range n.Content {
			switch {
			case e.Kind != yaml.ScalarNode:
				return r, fmt.Errorf("element %d: must be one text", i+1)
			case isNull(e):
				return r, fmt.Errorf("element %d: is empty", i+1)
			}
			t, err := f.text(e)
			if err != nil {
				return r, fmt.Errorf("element %d: %w", i+1, err)
			}
			r.texts = append(r.texts, t)
		}
		return r, nil
	}
	return raw{}, fmt.Errorf("must be %s, not a section", fd.wants())
}

func (f *file) text(n *yaml.Node) (text, error) {
	s, err := expand(n.Value, f.lookup)
	plain := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) == 0
	return text{s: s, shown: n.Value, unquoted: plain || s != n.Value, boolean: plain && n.ShortTag() == "!!bool"}, err
}

// unknown reports a key that is not in the table, with the key that was probably meant.
func (f *file) unknown(n *yaml.Node, i int, s *section, path string) {
	k := n.Content[i]
	name := keyName(k)
	if k.Kind != yaml.ScalarNode {
		f.problem(k, path, "a key must be one word", "")
		return
	}
	if before, after, split := strings.Cut(k.Value, ":"); split && after != "" && s.find(before) != nil {
		f.problem(k, join(path, before), "a space is missing after the colon", "")
		return
	}
	// A key that stands too far left: an earlier neighbour without a value would know it.
	for j := i - 2; j >= 0; j -= 2 {
		if fd := s.find(n.Content[j].Value); fd != nil && fd.inner != nil && isNull(n.Content[j+1]) && fd.inner.find(k.Value) != nil {
			text := fmt.Sprintf("unknown key; %q at line %d is empty: indent what belongs below it", fd.key, n.Content[j].Line)
			f.problem(k, join(path, name), text, fd.inner.find(k.Value).path)
			return
		}
	}
	if before, after, dotted := strings.Cut(k.Value, "."); dotted && s.find(before) != nil {
		f.problem(k, join(path, name), fmt.Sprintf("unknown key; dots do not nest: write %q with %q below it", before, after), "")
		return
	}
	suggestion := nearest(k.Value, s.keys())
	if suggestion == "" {
		suggestion = f.root.elsewhere(k.Value)
	}
	f.problem(k, join(path, name), "unknown key", suggestion)
}

// elsewhere gives the path of a key of this name anywhere in the table, if there is just one.
func (s *section) elsewhere(key string) string {
	var paths []string
	var look func(*section)
	look = func(s *section) {
		for _, f := range s.fields {
			if f.key == key {
				paths = append(paths, f.path)
			}
			if f.inner != nil {
				look(f.inner)
			}
		}
	}
	look(s)
	if len(paths) != 1 {
		return ""
	}
	return paths[0]
}
