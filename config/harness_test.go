package config_test

import (
	"errors"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/homing-gateway/homing/config"
)

// place is where a configuration is loaded in these tests: a working directory /here, a home /home/ann, nothing else.
type place struct {
	files map[string]string
	env   map[string]string
	flags map[string]string
	named string
}

func (p place) options() config.Options {
	o := config.Options{
		File: p.named, Flags: p.flags, Dir: "/here", Home: "/home/ann",
		LookupEnv: func(name string) (string, bool) { v, ok := p.env[name]; return v, ok },
		ReadFile: func(path string) ([]byte, error) {
			if s, ok := p.files[path]; ok {
				return []byte(s), nil
			}
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		},
	}
	for name := range p.env {
		o.EnvNames = append(o.EnvNames, name)
	}
	return o
}

// file is a place with a homing.yaml in the working directory, and variables in the form NAME=value.
func file(text string, env ...string) place {
	p := place{files: map[string]string{"/here/homing.yaml": text}, env: map[string]string{}}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		p.env[name] = value
	}
	return p
}

func (p place) load(t *testing.T) *config.Loaded {
	t.Helper()
	l, err := config.Load(p.options())
	if err != nil {
		t.Fatalf("load: %v\n--- file\n%s", err, p.files["/here/homing.yaml"])
	}
	return l
}

// refused gives the lines of the error that loading must end with.
func (p place) refused(t *testing.T) []string {
	t.Helper()
	l, err := config.Load(p.options())
	e, ok := errors.AsType[*config.Error](err)
	if !ok || l != nil || len(e.Problems) == 0 {
		t.Fatalf("load gives %v and the error %v, want a *config.Error alone\n--- file\n%s", l, err, p.files["/here/homing.yaml"])
	}
	return strings.Split(err.Error(), "\n")
}

func shown(t *testing.T, l *config.Loaded, path string) config.Entry {
	t.Helper()
	for _, e := range l.Show() {
		if e.Path == path {
			return e
		}
	}
	t.Fatalf("%s is not shown", path)
	return config.Entry{}
}

func wantShown(t *testing.T, l *config.Loaded, path string, value any, source string) {
	t.Helper()
	if e := shown(t, l, path); !reflect.DeepEqual(e.Value, value) || e.Source != source {
		t.Errorf("%s is %#v from %q, want %#v from %q", path, e.Value, e.Source, value, source)
	}
}

func lines(problems []config.Problem) []string {
	var out []string
	for _, p := range problems {
		out = append(out, p.String())
	}
	return out
}

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// leavesOf walks the tags of Config by reflection, apart from the package's own table.
func leavesOf(t reflect.Type, prefix string, want func(reflect.Type) bool) []string {
	var out []string
	for f := range t.Fields() {
		path := prefix + f.Tag.Get("yaml")
		switch {
		case f.Anonymous:
			out = append(out, leavesOf(f.Type, prefix, want)...)
		case f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[config.Secret]():
			out = append(out, leavesOf(f.Type, path+".", want)...)
		case want(f.Type):
			out = append(out, path)
		}
	}
	return out
}

func leaves(want func(reflect.Type) bool) []string {
	return leavesOf(reflect.TypeFor[config.Config](), "", want)
}

// nested writes a file with one key at a path.
func nested(path, value string) string {
	var b strings.Builder
	keys := strings.Split(path, ".")
	for i, k := range keys {
		b.WriteString(strings.Repeat("  ", i) + k + ":")
		if i == len(keys)-1 {
			b.WriteString(" " + value)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func envName(path string) string {
	return "HOMING_" + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}
