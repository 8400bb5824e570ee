package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
)

// Schema gives the JSON Schema (draft 2020-12) of the file, made from the table that decoding uses. Wherever a value is no
// text, a text with ${NAME} in it is allowed as well, and a key without a value means its default.
func Schema() ([]byte, error) {
	s := sectionSchema(tableOf(reflect.TypeFor[Config]()), "Configuration of Homing.")
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "Homing"
	s["$defs"] = map[string]any{
		"variable": map[string]any{"type": "string", "pattern": `\$\{[A-Za-z_][A-Za-z0-9_]*\}`, "description": "Replaced from the environment."},
		"bool": map[string]any{"anyOf": []any{
			map[string]any{"type": "boolean"},
			map[string]any{"type": "string", "pattern": "^([Tt][Rr][Uu][Ee]|[Yy][Ee][Ss]|[Oo][Nn]|[Ff][Aa][Ll][Ss][Ee]|[Nn][Oo]|[Oo][Ff][Ff])$"},
		}},
		"duration": map[string]any{"anyOf": []any{
			map[string]any{"const": 0},
			map[string]any{"type": "string", "pattern": `^[+]?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`},
		}, "description": "A time like 90s, 5m, 48h; 0 is off."},
		"size": map[string]any{"type": "string", "pattern": `^[0-9]+(\.[0-9]+)? ?([KMGkmg][Ii]?[Bb])$`, "description": "A number with KB, MB, GB, KiB, MiB or GiB."},
		"text": map[string]any{"type": []any{"string", "number"}},
	}
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode schema: %w", err)
	}
	return append(out, '\n'), nil
}

func sectionSchema(s *section, doc string) map[string]any {
	properties := map[string]any{}
	for _, f := range s.fields {
		properties[f.key] = f.schema()
	}
	return map[string]any{"type": []any{"object", "null"}, "description": doc, "properties": properties, "additionalProperties": false}
}

func (f *field) schema() map[string]any {
	switch {
	case f.inner != nil:
		return sectionSchema(f.inner, f.doc)
	case f.items != nil:
		element := sectionSchema(f.items, f.doc)
		element["type"] = "object"
		return map[string]any{"type": []any{"array", "null"}, "description": f.described(), "items": element, "default": []any{}}
	case f.list():
		return map[string]any{"type": []any{"array", "null"}, "description": f.described(), "items": ref("text"), "default": []any{}}
	}
	s := map[string]any{"description": f.described(), "default": f.defaultValue()}
	forms := []any{map[string]any{"type": "null"}}
	switch words := f.words(); {
	case words != nil:
		var enum []any
		for _, w := range words {
			enum = append(enum, w)
			if w == "off" {
				enum = append(enum, false) // how an older reader of YAML takes an unquoted off
			}
		}
		if f.def == "" {
			enum = append(enum, "")
		}
		forms = append(forms, map[string]any{"enum": enum}, ref("variable"))
	case f.typ == reflect.TypeFor[Duration]():
		forms = append(forms, ref("duration"), ref("variable"))
	case f.typ == reflect.TypeFor[Size]():
		forms = append(forms, ref("size"), ref("variable"))
	case f.typ.Kind() == reflect.Bool:
		forms = append(forms, ref("bool"), ref("variable"))
	case f.typ.Kind() == reflect.Int:
		number := map[string]any{"type": "integer"}
		for word, limit := range map[string]string{"minimum": f.min, "maximum": f.max} {
			if n, err := strconv.Atoi(limit); err == nil {
				number[word] = n
			}
		}
		forms = append(forms, number, map[string]any{"type": "string", "pattern": "^[-+]?(0|[1-9][0-9]*)$"}, ref("variable"))
	default:
		if f.secret() {
			s["writeOnly"] = true
		}
		forms = append(forms, ref("text"))
	}
	s["anyOf"] = forms
	return s
}

func ref(name string) map[string]any { return map[string]any{"$ref": "#/$defs/" + name} }

// described is the field's sentence, with what is not built yet.
func (f *field) described() string {
	if u := unbuiltAt(f.path); u != nil {
		return f.doc + " Not built yet: " + u.words + "."
	}
	return f.doc
}

// defaultValue is the default as the file would have it.
func (f *field) defaultValue() any {
	if v := f.initial(); v.Kind() == reflect.Bool || v.Kind() == reflect.Int {
		return shown(v)
	}
	return f.def
}
