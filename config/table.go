package config

import (
	"reflect"
	"strings"
)

// section is a map of keys, read from a struct's tags.
type section struct {
	path   string // from the root of its table; empty for the root
	fields []*field
}

// field is one key of a section: a leaf, a section of its own, or a list of sections.
type field struct {
	key     string
	path    string // from the root of its table
	index   []int  // from the struct of the root
	typ     reflect.Type
	doc     string
	def     string // text of the default
	kind    string // what a string must be: id, path, url, listen
	usual   string
	min     string
	max     string
	require bool     // must not be empty
	inner   *section // a section
	items   *section // a list of sections: the table of one element
}

// tableOf reads the table of a struct type.
func tableOf(t reflect.Type) *section { return readSection(t, "", nil) }

func readSection(t reflect.Type, path string, index []int) *section {
	s := &section{path: path}
	s.read(t, index)
	return s
}

func (s *section) read(t reflect.Type, index []int) {
	for i := range t.NumField() {
		sf := t.Field(i)
		at := append(append([]int(nil), index...), i)
		if sf.Anonymous {
			s.read(sf.Type, at)
			continue
		}
		key := sf.Tag.Get("yaml")
		f := &field{
			key: key, path: join(s.path, key), index: at, typ: sf.Type,
			doc: sf.Tag.Get("doc"), def: sf.Tag.Get("default"), kind: sf.Tag.Get("kind"), usual: sf.Tag.Get("usual"),
			min: sf.Tag.Get("min"), max: sf.Tag.Get("max"), require: sf.Tag.Get("required") == "true",
		}
		switch {
		case sf.Type.Kind() == reflect.Struct && sf.Type != reflect.TypeFor[Secret]():
			f.inner = readSection(sf.Type, f.path, at)
		case sf.Type.Kind() == reflect.Slice && sf.Type.Elem().Kind() == reflect.Struct:
			f.items = tableOf(sf.Type.Elem())
		}
		s.fields = append(s.fields, f)
	}
}

// leaves lists what holds a value, in the order of the documentation; a list of sections counts as one leaf.
func (s *section) leaves() []*field {
	var out []*field
	for _, f := range s.fields {
		if f.inner != nil {
			out = append(out, f.inner.leaves()...)
			continue
		}
		out = append(out, f)
	}
	return out
}

// leaf gives the leaf of a path, or nil.
func (s *section) leaf(path string) *field {
	for _, f := range s.leaves() {
		if f.path == path {
			return f
		}
	}
	return nil
}

// find gives the field of a key, or nil.
func (s *section) find(key string) *field {
	for _, f := range s.fields {
		if f.key == key {
			return f
		}
	}
	return nil
}

// keys lists the keys of a section.
func (s *section) keys() []string {
	out := make([]string, len(s.fields))
	for i, f := range s.fields {
		out[i] = f.key
	}
	return out
}

// in gives the field's place in a struct of the table's root type.
func (f *field) in(root reflect.Value) reflect.Value { return root.FieldByIndex(f.index) }

// secret tells whether the field's value must never be shown.
func (f *field) secret() bool { return f.typ == reflect.TypeFor[Secret]() }

// list tells whether the field is a list of texts.
func (f *field) list() bool { return f.items == nil && f.typ.Kind() == reflect.Slice }

// words lists the values of a list of words, or nothing.
func (f *field) words() []string {
	if w, ok := reflect.TypeAssert[worded](reflect.Zero(f.typ)); ok {
		return w.Words()
	}
	return nil
}

// envName is the field's name in the environment: HOMING_SECTION_KEY.
func (f *field) envName() string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(f.path, ".", "_"))
}

// usualName is the further name in the environment that the ecosystem uses for the field, or nothing. The name of an
// agent's key depends on its provider.
func (f *field) usualName(provider string) string {
	if !strings.Contains(f.usual, "=") {
		return strings.ReplaceAll(f.usual, "{PLATFORM}", strings.ToUpper(parent(f.path)))
	}
	for pair := range strings.FieldsSeq(f.usual) {
		if p, name, _ := strings.Cut(pair, "="); p == provider {
			return name
		}
	}
	return ""
}

// parent is the last key but one of a path.
func parent(path string) string {
	keys := strings.Split(path, ".")
	if len(keys) < 2 {
		return ""
	}
	return keys[len(keys)-2]
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// initial gives the field's default.
func (f *field) initial() reflect.Value {
	if f.typ.Kind() == reflect.Slice {
		return reflect.MakeSlice(f.typ, 0, 0)
	}
	if f.def == "" {
		return reflect.Zero(f.typ)
	}
	v, err := f.parse(raw{texts: []text{{s: f.def, shown: f.def}}})
	if err != nil {
		panic("config: default of " + f.path + ": " + err.Error()) // a wrong tag; every load would find it
	}
	return v
}

// initial gives the configuration that nobody has changed. The section must be the root.
func (s *section) initial() Config {
	var c Config
	for _, f := range s.leaves() {
		f.in(reflect.ValueOf(&c).Elem()).Set(f.initial())
	}
	return c
}
