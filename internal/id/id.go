// Package id holds the identifiers of the domain: one string type per kind of thing, each a fixed prefix and a ULID.
//
// It is a leaf: everything may import it, and it imports nothing of the project. What an id points at does not belong here.
package id

import (
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// The kinds of ids. A subagent's run is a session too: its Session begins with "sub_" instead of "ses_".
type (
	// Session names a conversation (ses_…) or a subagent's run (sub_…).
	Session string
	// Turn names one run of an agent in a session (trn_…).
	Turn string
	// Delegation names work given to subagents by one tool call (del_…).
	Delegation string
	// Process names a command under its supervisor (proc_…).
	Process string
	// Completion names the durable fact that something ended or happened (cmp_…).
	Completion string
	// Outgoing names a message that is to be sent to a platform (out_…).
	Outgoing string
	// Action names a tool call in the ledger (act_…).
	Action string
)

// The prefixes as people and models see them.
const (
	PrefixSession    = "ses_"
	PrefixSubagent   = "sub_"
	PrefixTurn       = "trn_"
	PrefixDelegation = "del_"
	PrefixProcess    = "proc_"
	PrefixCompletion = "cmp_"
	PrefixOutgoing   = "out_"
	PrefixAction     = "act_"
)

// Prefixes lists every prefix that an id of ours may begin with.
func Prefixes() []string {
	return []string{PrefixSession, PrefixSubagent, PrefixTurn, PrefixDelegation, PrefixProcess, PrefixCompletion, PrefixOutgoing, PrefixAction}
}

// IsSubagent tells whether the session id is that of a subagent's run.
func (s Session) IsSubagent() bool { return strings.HasPrefix(string(s), PrefixSubagent) }

// MinPrefix is how many characters after the underscore an abbreviated id needs at least.
const MinPrefix = 6

// Split takes an id or an abbreviation of one apart into its prefix ("ses_") and the rest in canonical letter case.
// The error says what is wrong with what a person typed.
func Split(s string) (prefix, rest string, err error) {
	for _, p := range Prefixes() {
		if r, ok := strings.CutPrefix(s, p); ok {
			if len(r) < MinPrefix {
				return "", "", fmt.Errorf("%q is too short: at least %d characters after %q are needed", s, MinPrefix, p)
			}
			return p, strings.ToUpper(r), nil
		}
	}
	return "", "", fmt.Errorf("%q is no id: ids begin with %s", s, strings.Join(Prefixes(), ", "))
}

// Source makes ids that sort in the order in which they were made. It is safe for concurrent use.
type Source struct {
	mu      sync.Mutex
	entropy *ulid.MonotonicEntropy
	last    uint64
}

// NewSource returns a source that draws from r; nil means the system's random numbers. A test passes a seeded reader and
// gets the same ids again.
func NewSource(r io.Reader) *Source {
	if r == nil {
		r = rand.Reader
	}
	return &Source{entropy: ulid.Monotonic(r, 0)}
}

// New makes an id with the prefix. A clock that goes backwards does not break the order: the latest time seen is used.
func (s *Source) New(prefix string, now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = max(s.last, ulid.Timestamp(now))
	u, err := ulid.New(s.last, s.entropy)
	if err != nil { // 2^80 ids in one millisecond, or no entropy: nothing sensible can go on
		panic(fmt.Sprintf("make an id: %v", err))
	}
	return prefix + u.String()
}
