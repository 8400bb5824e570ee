package config

import (
	"slices"
	"strings"
)

const (
	envPrefix = "HOMING_"
	envFile   = envPrefix + "CONFIG"
)

// WithEnviron takes an environment in the form of os.Environ.
func (o Options) WithEnviron(environ []string) Options {
	values := make(map[string]string, len(environ))
	o.EnvNames = make([]string, 0, len(environ))
	for _, pair := range environ {
		name, value, ok := strings.Cut(pair, "=")
		if _, seen := values[name]; !ok || seen {
			continue
		}
		values[name] = value
		o.EnvNames = append(o.EnvNames, name)
	}
	o.LookupEnv = func(name string) (string, bool) {
		v, ok := values[name]
		return v, ok
	}
	return o
}

// env gives a variable; a blank one counts as unset.
func (o Options) env(name string) (string, bool) {
	if o.LookupEnv == nil || name == "" {
		return "", false
	}
	v, ok := o.LookupEnv(name)
	return v, ok && strings.TrimSpace(v) != ""
}

// outside reads a value that comes from a variable or a flag: lists are separated by commas.
func outside(f *field, s string) raw {
	if !f.list() {
		return raw{texts: []text{{s: s, shown: s, unquoted: true}}}
	}
	r := raw{list: true}
	for e := range strings.SplitSeq(s, ",") {
		if e = strings.TrimSpace(e); e != "" {
			r.texts = append(r.texts, text{s: e, shown: e, unquoted: true})
		}
	}
	return r
}

// misspeltNames warns of HOMING_ variables that set nothing. Variables of other purposes may begin like ours, so only
// those are meant that begin like a section of ours, or are spelt nearly like one of our names.
func misspeltNames(names []string, root *section) []Problem {
	var known, sections []string // without the HOMING_
	for _, f := range root.leaves() {
		if f.items == nil {
			known = append(known, strings.TrimPrefix(f.envName(), envPrefix))
		}
	}
	for _, f := range root.fields {
		if f.inner != nil || f.items != nil {
			sections = append(sections, strings.TrimPrefix(f.envName(), envPrefix))
		}
	}
	var out []Problem
	for _, full := range slices.Sorted(slices.Values(names)) {
		name, ours := strings.CutPrefix(full, envPrefix)
		if !ours || slices.Contains(known, name) {
			continue
		}
		suggestion := nearest(name, known)
		inSection := slices.ContainsFunc(sections, func(s string) bool { return name == s || strings.HasPrefix(name, s+"_") })
		if suggestion == "" && !inSection {
			continue
		}
		if suggestion != "" {
			suggestion = envPrefix + suggestion
		}
		out = append(out, Problem{Kind: Warning, Place: "env " + full, Text: "sets nothing: there is no such key", Suggestion: suggestion})
	}
	return out
}
