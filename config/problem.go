package config

import "strings"

// Kind says what sort of problem it is.
type Kind string

// Kinds of problems. Invalid ones make Load fail; the others are reported beside a loaded configuration.
const (
	Invalid  Kind = "invalid"   // the configuration is wrong
	Missing  Kind = "missing"   // something that a running gateway needs is not there
	NotBuilt Kind = "not_built" // asks for something that this version cannot do
	Ignored  Kind = "ignored"   // is set and has no effect
	Warning  Kind = "warning"   // is allowed, and worth a second look
)

// Problem is one thing that is wrong, or remarkable, at one place.
type Problem struct {
	Kind       Kind   `json:"kind"`
	Place      string `json:"place,omitempty"`      // file:line, env NAME, flag, or nothing
	Path       string `json:"path,omitempty"`       // the key, like platforms.telegram.token
	Text       string `json:"text"`                 // what is wrong; never a secret
	Suggestion string `json:"suggestion,omitempty"` // the word that was probably meant
}

// String gives the problem in one line: place: path: text (did you mean "suggestion"?).
func (p Problem) String() string {
	var b strings.Builder
	for _, s := range []string{p.Place, p.Path} {
		if s != "" {
			b.WriteString(s)
			b.WriteString(": ")
		}
	}
	b.WriteString(p.Text)
	if p.Suggestion != "" {
		b.WriteString(` (did you mean "` + p.Suggestion + `"?)`)
	}
	return b.String()
}

// Error is all that is wrong with a configuration, in the order of the file.
type Error struct{ Problems []Problem }

// Error gives one line for each problem.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}
