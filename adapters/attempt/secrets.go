package attempt

import (
	"errors"
	"net/url"
	"strings"
)

// shortest is how long a part of a secret has to be to be hidden by itself: a shorter one would be found in every text.
const shortest = 8

// maxWords is how much of a foreign answer goes into an error, in bytes.
const maxWords = 200

// Secrets are texts that never stand in an error or a log.
type Secrets struct{ hide *strings.Replacer }

// Hide makes Secrets of credentials, and of those parts of them that are long enough to be told by themselves; also as they
// stand in an address.
func Hide(credentials []string, parts ...string) Secrets {
	var pairs []string
	add := func(s string) { pairs = append(pairs, s, "***", url.PathEscape(s), "***", url.QueryEscape(s), "***") }
	for _, s := range credentials {
		if s != "" {
			add(s)
		}
	}
	for _, s := range parts {
		if len(s) >= shortest {
			add(s)
		}
	}
	return Secrets{strings.NewReplacer(pairs...)}
}

// Mask hides the secrets in a text.
func (s Secrets) Mask(text string) string { return s.hide.Replace(text) }

// Words is what a text of others may contribute to an error: masked first, lest a cut leave half of a secret, and short.
func (s Secrets) Words(text string) string {
	text = s.Mask(strings.TrimSpace(text))
	if len(text) > maxWords {
		text = strings.ToValidUTF8(text[:maxWords], "") + "…"
	}
	return text
}

// Clean takes the address out of an error, which may hold a secret of its own, and the secrets out of whatever else it says.
func (s Secrets) Clean(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if text := err.Error(); s.Mask(text) != text {
		return errors.New(s.Mask(text))
	}
	return err
}
