package config

import (
	"fmt"
	"io"
)

// Secret is a credential. Whatever prints, logs or encodes it gets stars, and nothing at all when it is empty; its value
// is given by Reveal alone. The value is kept behind a pointer, so that even a formatter that ignores methods (one that
// finds the Secret in an unexported field) prints an address.
type Secret struct{ value *string }

const stars = "***"

// NewSecret makes a Secret of a value.
func NewSecret(value string) Secret {
	if value == "" {
		return Secret{}
	}
	return Secret{value: &value}
}

// Reveal gives the value itself, for the one call that needs it.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsSet tells whether there is a value.
func (s Secret) IsSet() bool { return s.value != nil }

// Equal tells whether both have the same value. Secrets must not be compared with ==.
func (s Secret) Equal(other Secret) bool { return s.Reveal() == other.Reveal() }

// String gives stars, or nothing when there is no value.
func (s Secret) String() string {
	if s.IsSet() {
		return stars
	}
	return ""
}

// GoString gives the same as String.
func (s Secret) GoString() string { return s.String() }

// Format writes the same as String for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText gives the same as String; JSON uses it too.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalYAML gives the same as String.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }
