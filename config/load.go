package config

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Options is where a configuration may come from. Nothing else is looked at: no variable and no flag behind its back.
type Options struct {
	File      string                            // the --config flag; empty: the usual places are searched
	Flags     map[string]string                 // values given by flags, by path (data_dir, http.listen); they win
	LookupEnv func(name string) (string, bool)  // nil: an empty environment
	EnvNames  []string                          // names of all variables, to find misspelt HOMING_ ones; nil: not looked for
	Dir       string                            // working directory: ./homing.yaml and relative folders count from it
	Home      string                            // home directory; empty: $HOME
	SystemDir string                            // folder of the machine's file; empty: /etc/homing
	ReadFile  func(path string) ([]byte, error) // nil: os.ReadFile
}

// Loaded is a configuration that is valid, with what there is to say about it.
type Loaded struct {
	Config   Config
	File     string    // path of the file, absolute when Options.Dir is; empty: there was none
	NotBuilt []Problem // settings that ask for what is not built yet: `run` must refuse them
	Warnings []Problem // allowed, and worth saying

	entries []Entry
}

// Entry is one leaf of the effective configuration.
type Entry struct {
	Path     string `json:"path"`
	Value    any    `json:"value"`  // bool, int, string or list of strings; a secret is "***", or "" when it is not set
	Source   string `json:"source"` // default, file:line, env NAME or flag
	NotBuilt bool   `json:"-"`      // has no effect in this version
}

// DefaultProfile is the name of the profile that the sections outside of profiles describe.
const DefaultProfile = "default"

const (
	sourceDefault = "default"
	sourceFlag    = "flag"
)

// Load finds, reads and checks the configuration. When anything is wrong the error is an *Error that holds all of it.
func Load(o Options) (*Loaded, error) {
	at, problems := o.search()
	if len(problems) > 0 {
		return nil, &Error{Problems: problems}
	}
	doc, problems := parseDocument(at.name, at.data)
	r := newResult(o)
	r.file = &file{name: at.name, lookup: o.env, root: r.root, problems: problems}
	r.assemble(doc)
	if doc != nil || len(problems) == 0 {
		r.check()
	}
	if problems := append(inOrder(r.file.problems), r.problems...); len(problems) > 0 {
		return nil, &Error{Problems: problems}
	}
	r.warnings = append(r.warnings, misspeltNames(o.EnvNames, r.root)...)
	l := &Loaded{Config: r.cfg, File: at.path, Warnings: r.warnings}
	r.report(l)
	return l, nil
}

// inOrder sorts the problems of one file by line.
func inOrder(problems []Problem) []Problem {
	line := func(p Problem) int {
		n, _ := strconv.Atoi(p.Place[strings.LastIndexByte(p.Place, ':')+1:])
		return n
	}
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(line(a), line(b)) })
	return problems
}

// report lists the leaves, and what asks for more than there is.
func (r *result) report(l *Loaded) {
	entry := func(fd *field, path string, v reflect.Value) {
		u, set := unbuiltAt(fd.path), r.sources[path] != sourceDefault
		missing := u != nil && !u.harmless(v)
		if missing && set {
			l.NotBuilt = append(l.NotBuilt, Problem{Kind: NotBuilt, Place: r.sources[path], Path: path, Text: u.refusal(fd, v)})
		}
		if why := idle()[fd.path]; set && why != "" && !v.IsZero() {
			l.Warnings = append(l.Warnings, Problem{Kind: Ignored, Place: r.sources[path], Path: path, Text: why})
		}
		if fd.items == nil || v.Len() == 0 {
			l.entries = append(l.entries, Entry{Path: path, Value: shown(v), Source: r.sources[path], NotBuilt: missing || idleAt(fd.path)})
		}
	}
	cfg := reflect.ValueOf(&r.cfg).Elem()
	for _, fd := range r.root.leaves() {
		v := fd.in(cfg)
		entry(fd, fd.path, v)
		if fd.items == nil {
			continue
		}
		for i := range v.Len() {
			prefix := element(fd.path, i) + "."
			for _, inner := range fd.items.leaves() {
				if path := prefix + inner.path; r.sources[path] != sourceDefault {
					entry(inner, path, inner.in(v.Index(i)))
				}
			}
		}
	}
}
