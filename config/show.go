package config

import (
	"fmt"
	"reflect"
)

// Show lists every leaf with its value and its source, secrets masked, in the order of the documentation. Of routing and
// profiles it lists what the file sets.
func (l *Loaded) Show() []Entry { return l.entries }

// shown gives a value as people and JSON see it; a secret is stars.
func shown(v reflect.Value) any {
	switch {
	case v.Kind() == reflect.Bool:
		return v.Bool()
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.String:
		out := make([]string, v.Len())
		for i := range out {
			out[i] = v.Index(i).String()
		}
		return out
	case v.Kind() == reflect.Slice:
		return []string{}
	case v.Kind() == reflect.Int:
		return int(v.Int())
	}
	if s, ok := reflect.TypeAssert[fmt.Stringer](v); ok {
		return s.String()
	}
	return v.String()
}
