package config

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// What this version says of its settings is true: what has no effect is read by nobody, and what nobody reads says that it
// has no effect, or accepts nothing but what switches it off.
func TestWhatHasNoEffectIsNotRead(t *testing.T) {
	read, root := settingsRead(t), tableOf(reflect.TypeFor[Config]())
	for _, f := range root.leaves() {
		name := fieldName(f)
		switch {
		case strings.HasPrefix(f.path, "platforms."): // platforms share their fields; enabled speaks for each
		case read[name] && idleAt(f.path):
			t.Errorf("%s has an effect by now: take it out of idle", f.path)
		case !read[name] && !idleAt(f.path) && unbuiltAt(f.path) == nil:
			t.Errorf("nobody reads %s (%s), and it does not say that it has no effect", f.path, name)
		}
	}
	for _, v := range (&Platforms{}).views() {
		if served := read[fieldName(root.leaf("platforms."+v.name+".enabled"))]; served != platformBuilt(v.name) {
			t.Errorf("platforms.%s is built: %v; its enabled is read: %v", v.name, platformBuilt(v.name), served)
		}
	}
	for path := range idle() {
		if root.leaf(path) == nil {
			t.Errorf("there is no key %s", path)
		}
	}
}

// The commented file marks every key without effect, and no other.
func TestExampleMarksWhatHasNoEffect(t *testing.T) {
	lines := strings.Split(example, "\n")
	at := keyLines(lines)
	for _, f := range tableOf(reflect.TypeFor[Config]()).leaves() {
		i, ok := at[f.path]
		if !ok {
			t.Errorf("%s is not in the file", f.path)
			continue
		}
		if platform, ok := strings.CutPrefix(f.path, "platforms."); ok { // said once, at its head
			name, _, _ := strings.Cut(platform, ".")
			if strings.Contains(lines[at["platforms."+name]], "not built yet") == platformBuilt(name) {
				t.Errorf("platforms.%s: %q", name, lines[at["platforms."+name]])
			}
			continue
		}
		if marked := regexp.MustCompile(` # .*no effect yet`).MatchString(lines[i]); marked != idleAt(f.path) {
			t.Errorf("%s: without effect: %v, and the file says %q", f.path, idleAt(f.path), lines[i])
		}
	}
}

// fieldName is the Go field of a leaf, as Type.Field.
func fieldName(f *field) string {
	t := reflect.TypeFor[Config]()
	for _, i := range f.index[:len(f.index)-1] {
		t = t.Field(i).Type
	}
	return t.Name() + "." + t.Field(f.index[len(f.index)-1]).Name
}

// settingsRead lists the fields of settings, as Type.Field, that the product reads. Only cmd/homing knows settings. Its
// types are made out as far as they come from here; whatever it has from elsewhere is unknown, and of no interest.
func settingsRead(t *testing.T) map[string]bool {
	t.Helper()
	const path = "github.com/homing-gateway/homing/config"
	fset := token.NewFileSet()
	empty := importer(func(path string) (*types.Package, error) {
		p := types.NewPackage(path, filepath.Base(path))
		p.MarkComplete()
		return p, nil
	})
	lenient := func(i types.Importer) *types.Config { return &types.Config{Importer: i, Error: func(error) {}} }
	settings, _ := lenient(empty).Check(path, fset, parseFolder(t, fset, "."), nil)
	owner := map[types.Object]string{}
	for _, name := range settings.Scope().Names() {
		if s, ok := settings.Scope().Lookup(name).Type().Underlying().(*types.Struct); ok {
			for f := range s.Fields() {
				owner[f] = name + "." + f.Name()
			}
		}
	}
	info := &types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}}
	_, _ = lenient(importer(func(asked string) (*types.Package, error) {
		if asked == path {
			return settings, nil
		}
		return empty(asked)
	})).Check("main", fset, parseFolder(t, fset, "../cmd/homing"), info)
	read := map[string]bool{}
	for _, s := range info.Selections {
		read[owner[s.Obj()]] = true
	}
	if !read["Agent.Model"] || !read["Telegram.Token"] {
		t.Fatalf("the code is not understood: %v", read)
	}
	return read
}

type importer func(string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }

func parseFolder(t *testing.T, fset *token.FileSet, dir string) []*ast.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	var out []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, perr := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if perr != nil {
			err = perr
		}
		out = append(out, f)
	}
	if err != nil || len(out) == 0 {
		t.Fatal(err)
	}
	return out
}
