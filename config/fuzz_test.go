package config_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/homing-gateway/homing/config"
)

var placed = regexp.MustCompile(`^(homing\.yaml:[1-9][0-9]*|env [A-Z_]+|[a-z_]+(\[[0-9]+\])?(\.[a-z_]+)*): `)

// FuzzLoad: no file and no variable makes loading panic, and every problem names a line, a variable or a key. What loads,
// loads again from the same text.
func FuzzLoad(f *testing.F) {
	f.Add(string(config.Example()), "")
	for _, text := range []string{
		"", "log:\n  level: info\n", "platforms:\n telegram:\n  allowed_users: [1, \"2\"]\n  token: ${A}\n", "routing:\n- {platform: slack, profile: default}\n",
		"profiles:\n  - name: a\n    agent: {model: x}\n", "a: &x {b: *x}\n<<: *x\n", "? [a]\n: b\n", "drain: 1h\n---\nx", "%YAML 1.1\n---\nlog: {}\n",
		"terminal: {output_limit: 1.5MiB}\n", "agent: !!map {model: !!str 5}\n", "\ufeff{}", "log:\n\tlevel: x\n", "- \n", "drain: 1_0\n\"\\u0000\": 1\n",
	} {
		f.Add(text, "off")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		p := file(text, "A="+value, "HOMING_DISPLAY_STREAMING="+value, "HOMING_AGENT_BASE_URL="+value, "TELEGRAM_ALLOWED_USERS="+value)
		l, err := config.Load(p.options())
		if err == nil {
			if again := p.load(t); len(again.Show()) != len(l.Show()) {
				t.Fatal("the same text loads differently")
			}
			for _, w := range append(l.Warnings, l.NotBuilt...) {
				if !placed.MatchString(w.String()) {
					t.Fatalf("no place: %q", w)
				}
			}
			return
		}
		e, ok := errors.AsType[*config.Error](err)
		if !ok || l != nil {
			t.Fatalf("%v, %v", l, err)
		}
		for _, problem := range e.Problems {
			if !placed.MatchString(problem.String()) || strings.TrimSpace(problem.Text) == "" {
				t.Fatalf("no place: %q", problem)
			}
		}
	})
}
