package chat

import (
	"errors"
	"fmt"
	"strings"
)

// Platform is the name of a chat service as the configuration spells it, such as "telegram".
type Platform string

// Account is one bot identity on a platform, served for one profile.
type Account struct {
	Profile  string   `json:"profile"`
	Platform Platform `json:"platform"`
	ID       string   `json:"account"` // the bot's own id on the platform; Slack: the workspace
}

// String is for logs: profile:platform:account.
func (a Account) String() string {
	return escape(a.Profile) + ":" + escape(string(a.Platform)) + ":" + escape(a.ID)
}

// PlaceType says what kind of place a chat is. The set is closed: a route key holds one of these.
type PlaceType string

// The types of places.
const (
	Direct  PlaceType = "direct"  // one person and the bot; the platform may have threads in it
	Group   PlaceType = "group"   // several people
	Channel PlaceType = "channel" // a channel of a workspace or guild
	Thread  PlaceType = "thread"  // a thread or forum topic of a group or channel
)

// Valid tells whether t is one of the declared types.
func (t PlaceType) Valid() bool { return t == Direct || t == Group || t == Channel || t == Thread }

// Address is where a message came from or goes to. It is compared and copied as a value and never taken apart as text.
// A thread id means nothing without its chat.
type Address struct {
	Account
	Type   PlaceType `json:"type"`
	Chat   string    `json:"chat"`
	Thread string    `json:"thread,omitempty"`
	Person string    `json:"person,omitempty"` // numeric or opaque id of the person on the platform, never a name
}

// Key is the canonical name of a place: `profile:platform:account:type:chat[:thread][:person]`, each part escaped. Two
// different places never share a key, and ParseKey gives back what KeyOf was given. Only KeyOf makes keys.
type Key string

// Keying says when people who share a chat have conversations of their own.
type Keying struct {
	PerPersonInGroups  bool // session.group_sessions_per_user
	PerPersonInThreads bool // session.thread_sessions_per_user
}

// KeyOf names the place of an address. In a direct chat the person is the chat; elsewhere the person is part of the place
// only where k says so.
func KeyOf(a Address, k Keying) Key {
	switch {
	case a.Type == Direct,
		a.Type == Thread && !k.PerPersonInThreads,
		a.Type != Thread && !k.PerPersonInGroups:
		a.Person = ""
	}
	parts := []string{a.Profile, string(a.Platform), a.ID, string(a.Type), a.Chat}
	if a.Thread != "" || a.Person != "" {
		parts = append(parts, a.Thread)
	}
	if a.Person != "" {
		parts = append(parts, a.Person)
	}
	for i, p := range parts {
		parts[i] = escape(p)
	}
	return Key(strings.Join(parts, ":"))
}

// ErrBadKey is what ParseKey wraps.
var ErrBadKey = errors.New("not a route key")

// ParseKey gives the address that a key names. It refuses everything that KeyOf would not have made.
func ParseKey(k Key) (Address, error) {
	parts := strings.Split(string(k), ":")
	if len(parts) < 5 || len(parts) > 7 {
		return Address{}, fmt.Errorf("%w: %q has %d parts, want profile:platform:account:type:chat[:thread][:person]", ErrBadKey, k, len(parts))
	}
	for i, p := range parts {
		u, ok := unescape(p)
		if !ok || i < 5 && u == "" || i == 6 && u == "" || i == 5 && len(parts) == 6 && u == "" {
			return Address{}, fmt.Errorf("%w: part %d of %q is malformed", ErrBadKey, i+1, k)
		}
		parts[i] = u
	}
	a := Address{Account: Account{Profile: parts[0], Platform: Platform(parts[1]), ID: parts[2]}, Type: PlaceType(parts[3]), Chat: parts[4]}
	if len(parts) > 5 {
		a.Thread = parts[5]
	}
	if len(parts) > 6 {
		a.Person = parts[6]
	}
	if !a.Type.Valid() || a.Type == Direct && a.Person != "" {
		return Address{}, fmt.Errorf("%w: %q names no kind of place", ErrBadKey, k)
	}
	return a, nil
}

// Address is ParseKey for keys that come from our own records; a malformed one gives the zero address.
func (k Key) Address() Address {
	a, err := ParseKey(k)
	if err != nil {
		return Address{}
	}
	return a
}

const hexDigits = "0123456789ABCDEF"

// escape keeps what is unambiguous in a key and writes every other byte as %XX.
func escape(s string) string {
	plain := true
	for i := range len(s) {
		plain = plain && keeps(s[i])
	}
	if plain {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; keeps(c) {
			b.WriteByte(c)
		} else {
			b.WriteString(string([]byte{'%', hexDigits[c>>4], hexDigits[c&15]}))
		}
	}
	return b.String()
}

// keeps: colons and per cent signs structure a key; blanks, slashes and control characters would mislead people who type it.
func keeps(c byte) bool {
	return c != ':' && c != '%' && c != '/' && c > ' ' && c < 0x7f
}

// unescape is the inverse of escape; false for a text that escape would not have made.
func unescape(s string) (string, bool) {
	if !strings.Contains(s, "%") {
		for i := range len(s) {
			if !keeps(s[i]) {
				return "", false
			}
		}
		return s, true
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		hi, lo := strings.IndexByte(hexDigits, s[i+1]), strings.IndexByte(hexDigits, s[i+2])
		if hi < 0 || lo < 0 {
			return "", false
		}
		b.WriteByte(byte(hi<<4 | lo))
		i += 2
	}
	return b.String(), escape(b.String()) == s
}
