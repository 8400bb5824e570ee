package config

import (
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// result is a configuration in the making.
type result struct {
	o        Options
	root     *section
	file     *file
	cfg      Config
	sources  map[string]string // by path, the paths of profiles and routes included
	problems []Problem         // those that are not of the file
	warnings []Problem
}

func newResult(o Options) *result {
	return &result{o: o, root: tableOf(reflect.TypeFor[Config]()), sources: map[string]string{}}
}

// add notes a problem, at the place where the value of the key at comes from.
func (r *result) add(to *[]Problem, kind Kind, at, path, text string) {
	place := r.sources[at]
	if place == sourceDefault {
		place = ""
	}
	*to = append(*to, Problem{Kind: kind, Place: place, Path: path, Text: text})
}

// assemble puts the layers together and gives every leaf its value.
func (r *result) assemble(doc *yaml.Node) {
	l, leaves := newLayers(), r.root.leaves()
	for _, fd := range leaves {
		l.fallback(fd.path, candidate{value: fd.initial(), source: sourceDefault})
	}
	inFile, lists, inEnv := map[string]candidate{}, map[string]candidate{}, map[string]candidate{}
	if doc != nil {
		r.file.walk(doc, r.root, "", func(fd *field, c candidate) {
			if c.list != nil {
				lists[fd.path] = c
				return
			}
			inFile[fd.path] = c
		})
	}
	for _, fd := range leaves {
		if s, ok := r.o.env(fd.envName()); ok && fd.items == nil {
			r.take(&r.problems, Invalid, fd, s, "env "+fd.envName(), func(c candidate) { inEnv[fd.path] = c })
		}
	}
	for _, layer := range []map[string]candidate{inFile, inEnv} {
		if err := l.merge(layer); err != nil {
			r.problems = append(r.problems, Problem{Kind: Invalid, Place: r.file.name, Text: err.Error()})
		}
	}
	r.flags(l, leaves)
	r.usual(l, leaves)
	cfg := reflect.ValueOf(&r.cfg).Elem()
	for _, fd := range leaves {
		c := l.top(fd.path)
		fd.in(cfg).Set(c.value)
		r.sources[fd.path] = c.source
	}
	r.switches("", &r.cfg.Platforms)
	r.elements(lists)
	r.folders()
}

// take parses a value from outside the file.
func (r *result) take(to *[]Problem, kind Kind, fd *field, s, source string, set func(candidate)) {
	v, err := fd.parse(outside(fd, s))
	if err != nil {
		*to = append(*to, Problem{Kind: kind, Place: source, Path: fd.path, Text: err.Error(), Suggestion: meant(err)})
		return
	}
	set(candidate{value: v, source: source})
}

func (r *result) flags(l layers, leaves []*field) {
	known := map[string]bool{}
	for _, fd := range leaves {
		s, ok := r.o.Flags[fd.path]
		known[fd.path] = fd.items == nil
		if ok && fd.items == nil {
			r.take(&r.problems, Invalid, fd, s, sourceFlag, func(c candidate) { l.override(fd.path, c) })
		}
	}
	for path := range r.o.Flags {
		if !known[path] {
			r.problems = append(r.problems, Problem{Kind: Invalid, Place: sourceFlag, Path: path, Text: "unknown key"})
		}
	}
}

// usual lets in the ecosystem's variables, below the file. A credential that the file leaves empty is not given. These
// variables may be there for another program: a bad one is ignored with a warning.
func (r *result) usual(l layers, leaves []*field) {
	provider := l.top("agent.provider").value.String()
	for _, fd := range leaves {
		name := fd.usualName(provider)
		s, ok := r.o.env(name)
		top := l.top(fd.path)
		blank := ok && !fd.list() && top.value.IsZero() && strings.HasPrefix(top.source, r.file.name+":")
		switch {
		case !ok:
		case blank:
			r.take(&r.warnings, Ignored, fd, s, "env "+name, func(c candidate) { l.override(fd.path, c) })
		case top.source == sourceDefault:
			r.take(&r.warnings, Ignored, fd, s, "env "+name, func(c candidate) { l.fallback(fd.path, c) })
		}
	}
}

// switches decides of each platform whether it is on, where nobody said so: with all its credentials, if it is built.
func (r *result) switches(prefix string, p *Platforms) {
	for _, v := range p.views() {
		if r.sources[prefix+"platforms."+v.name+".enabled"] == sourceDefault {
			*v.enabled = len(v.missing()) == 0 && platformBuilt(v.name)
		}
	}
}

// elements reads the lists of sections. A profile starts as what stands above, without the platforms.
func (r *result) elements(lists map[string]candidate) {
	above, empty := r.cfg, r.root.initial().Platforms
	read(r, lists, "routing", &r.cfg.Routing, Route{})
	read(r, lists, "profiles", &r.cfg.Profiles, Profile{
		Agent: above.Agent, Delegation: above.Delegation, Terminal: above.Terminal, Display: above.Display,
		Session: above.Session, Delivery: above.Delivery, HTTP: ProfileHTTP{APIKey: above.HTTP.APIKey}, Platforms: empty,
	})
	for i := range r.cfg.Profiles {
		r.switches(element("profiles", i)+".", &r.cfg.Profiles[i].Platforms)
	}
}

func read[E any](r *result, lists map[string]candidate, path string, into *[]E, start E) {
	c, ok := lists[path]
	if !ok {
		return
	}
	r.sources[path] = c.source
	items := r.root.find(path).items
	for i, n := range c.list.Content {
		e := start
		at := element(path, i)
		r.sources[at] = place(r.file.name, n.Line)
		for _, fd := range items.leaves() {
			r.sources[at+"."+fd.path] = sourceDefault
		}
		if isNull(n) {
			r.file.problem(n, at, "is empty", "")
		}
		r.file.walk(n, items, at+".", func(fd *field, c candidate) {
			fd.in(reflect.ValueOf(&e).Elem()).Set(c.value)
			r.sources[at+"."+fd.path] = c.source
		})
		*into = append(*into, e)
	}
}

// element is the path of an element of a list.
func element(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// folders makes every path absolute and gives the folders their places.
func (r *result) folders() {
	c := &r.cfg
	if c.DataDir == "" {
		dir := r.o.xdg("XDG_DATA_HOME", filepath.Join(".local", "share"))
		if dir == "" {
			r.add(&r.problems, Invalid, "", "data_dir", "there is no home directory to keep data in: set data_dir or HOMING_DATA_DIR")
			return
		}
		c.DataDir = filepath.Join(dir, "homing")
	}
	c.DataDir = r.o.folder(c.DataDir)
	agents, deliveries := []*Agent{&c.Agent}, []*Delivery{&c.Delivery}
	for i := range c.Profiles {
		agents, deliveries = append(agents, &c.Profiles[i].Agent), append(deliveries, &c.Profiles[i].Delivery)
	}
	for _, a := range agents {
		if a.Workspace == "" {
			a.Workspace = filepath.Join(c.DataDir, "workspace")
		}
		a.Workspace, a.Script = r.o.folder(a.Workspace), r.o.folder(a.Script)
	}
	for _, d := range deliveries {
		dirs := make([]string, len(d.MediaDirs))
		for i, dir := range d.MediaDirs {
			dirs[i] = r.o.folder(dir)
		}
		d.MediaDirs = dirs
	}
}
