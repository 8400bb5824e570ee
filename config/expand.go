package config

import (
	"fmt"
	"regexp"
	"strings"
)

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expand replaces ${NAME} by what lookup knows of it, to which a blank variable is an unset one. $${ stands for ${ itself; a dollar sign alone is a dollar sign. What comes
// out of a variable is not looked at again.
func expand(s string, lookup func(string) (string, bool)) (string, error) {
	var b strings.Builder
	for {
		at := strings.Index(s, "${")
		if at < 0 {
			b.WriteString(s)
			return b.String(), nil
		}
		if at > 0 && s[at-1] == '$' {
			b.WriteString(s[:at-1] + "${")
			s = s[at+2:]
			continue
		}
		b.WriteString(s[:at])
		name, rest, closed := strings.Cut(s[at+2:], "}")
		if !closed || !variable.MatchString(name) {
			return "", fmt.Errorf("has a ${ without the name of a variable and a }: write $${ for a ${ that is meant as it stands")
		}
		v, ok := lookup(name)
		if !ok {
			return "", fmt.Errorf("the variable %s is not set in the environment, or is blank", name)
		}
		b.WriteString(v)
		s = rest
	}
}
