package process

import (
	"slices"
	"strings"
)

// Environment builds a command's environment from environ (NAME=value, as from os.Environ): PATH, HOME, LANG, TERM, TZ,
// TMPDIR, USER, SHELL and the names in passthrough, nothing else, so that a daemon's secrets reach a command only by
// name. Names are compared exactly. Of a name that occurs twice the last value counts. The order is environ's.
func Environment(environ, passthrough []string) []string {
	allowed := append([]string{"PATH", "HOME", "LANG", "TERM", "TZ", "TMPDIR", "USER", "SHELL"}, passthrough...)
	env := make([]string, 0, len(allowed))
	seen := make(map[string]bool, len(allowed))
	for _, entry := range slices.Backward(environ) {
		name, _, ok := strings.Cut(entry, "=")
		if !ok || name == "" || seen[name] || !slices.Contains(allowed, name) {
			continue
		}
		seen[name] = true
		env = append(env, entry)
	}
	slices.Reverse(env)
	return env
}
