package config

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Value is what Fill writes at a key, as YAML.
type Value struct{ literal string }

// Text is a text as it stands. What would mean something to YAML, or to the replacement of variables, loses its meaning.
func Text(s string) Value { return Value{quote(s)} }

// List is a list of texts as they stand.
func List(texts ...string) Value {
	quoted := make([]string, len(texts))
	for i, s := range texts {
		quoted[i] = quote(s)
	}
	return Value{"[" + strings.Join(quoted, ", ") + "]"}
}

// Variable is what the environment holds under that name when the file is read.
func Variable(name string) Value { return Value{`"${` + name + `}"`} }

// quote writes a text in double quotes, on one line. Two of the line breaks of YAML are folded even there, unless escaped.
func quote(s string) string {
	n := yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: strings.ReplaceAll(s, "${", "$${")}
	out, err := yaml.Marshal(&n)
	if err != nil {
		return `""` // the encoder writes to memory and takes any text
	}
	return strings.TrimSuffix(string(out), "\n")
}

// Fill gives the commented file with these values set, by the path of their key. The values must be in order by Check.
func Fill(values map[string]Value) ([]byte, error) {
	lines := strings.Split(example, "\n")
	at := keyLines(lines)
	for path, v := range values {
		i, ok := at[path]
		if !ok {
			return nil, fmt.Errorf("the file has no line for %q", path)
		}
		m := keyLine.FindStringSubmatch(lines[i])
		line := m[1] + m[3] + ": " + v.literal
		if before, comment, found := strings.Cut(lines[i], " # "); found {
			line += strings.Repeat(" ", max(1, len(before)+1-utf8.RuneCountInString(line))) + "# " + comment
		}
		lines[i] = line
	}
	return []byte(strings.Join(lines, "\n")), nil
}

// keyLine is a line that sets a key or has it commented out: the indent, the #, the key.
var keyLine = regexp.MustCompile(`^( *)(#?)([a-z_]+):(?: |$)`)

// keyLines finds the lines of the example file by the paths of their keys.
func keyLines(lines []string) map[string]int {
	out := map[string]int{}
	var above []string
	for i, line := range lines {
		m := keyLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		depth := len(m[1]) / 2
		above = append(above[:min(depth, len(above))], m[3])
		out[strings.Join(above, ".")] = i
	}
	return out
}

// Check tells what is wrong with the value of a key, in words for who has just typed it. It takes one text, or of a list
// any number of elements.
func Check(path string, texts ...string) error {
	fd := tableOf(reflect.TypeFor[Config]()).leaf(path)
	if fd == nil || fd.items != nil {
		return fmt.Errorf("there is no key %q", path)
	}
	r := raw{list: fd.list()}
	for _, s := range texts {
		if !utf8.ValidString(s) {
			return errors.New("is not readable text")
		}
		if fd.list() && fd.kind == "id" && peopleHaveNumbers(parent(path)) && !personNumber.MatchString(s) {
			return fmt.Errorf("%s is not the id of a person: ids are numbers here, not names", cite(text{shown: s}))
		}
		r.texts = append(r.texts, text{s: s, shown: s})
	}
	_, err := fd.parse(r)
	return err
}

var personNumber = regexp.MustCompile(`^[0-9]+$`) // groups have negative ones

// Key describes a key for who asks a person for its value.
type Key struct {
	Path   string
	Doc    string // the sentence for people
	Usual  string // the variable that it is taken from when it is left out; empty: there is none
	Secret bool   // its value must not be shown
}

// KeyAt describes the key of a path.
func KeyAt(path string) Key {
	f := tableOf(reflect.TypeFor[Config]()).leaf(path)
	if f == nil {
		return Key{Path: path}
	}
	return Key{Path: path, Doc: f.doc, Usual: f.usualName(string(ProviderOpenAI)), Secret: f.secret()}
}

// Platform is one of the platforms that the file knows.
type Platform struct {
	Name        string
	Built       bool // this version can serve it
	Credentials []Key
	Allowed     Key // who may talk to the agent
}

// KnownPlatforms lists them, in the order of the file.
func KnownPlatforms() []Platform {
	var out []Platform
	for _, v := range (&Platforms{}).views() {
		p := Platform{Name: v.name, Built: platformBuilt(v.name), Allowed: KeyAt("platforms." + v.name + ".allowed_users")}
		for _, c := range v.credentials {
			p.Credentials = append(p.Credentials, KeyAt("platforms."+v.name+"."+c.key))
		}
		out = append(out, p)
	}
	return out
}
