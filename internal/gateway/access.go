package gateway

import (
	"slices"

	"github.com/homing-gateway/homing/internal/chat"
)

// Access says who may talk to the agent through an account. Nobody by default. Ids decide, never names.
type Access struct {
	AllowedUsers   []string
	Admins         []string // empty: whoever is allowed
	AllowAll       bool
	RequireMention bool
	HomeChat       string
	Console        bool // the operator's own terminal
}

// Allows tells whether a person may talk to the agent.
func (a Access) Allows(person string) bool {
	return a.Console || a.AllowAll || person != "" && (slices.Contains(a.AllowedUsers, person) || slices.Contains(a.Admins, person))
}

// Admin tells whether a person may see and do everything.
func (a Access) Admin(person string) bool {
	if a.Console {
		return true
	}
	if len(a.Admins) == 0 {
		return person != "" && slices.Contains(a.AllowedUsers, person)
	}
	return slices.Contains(a.Admins, person)
}

// Hearing is what becomes of a message before any session is touched.
type Hearing uint8

// The hearings.
const (
	Denied     Hearing = iota // the person may not talk to us
	NotForUs                  // said to others
	IfTakePart                // in a thread without a mention: ours if we took part in it
	ForUs
	BotForUs // of another bot that mentions us: answered within a quota
)

// Hear decides on a message: who may talk, and whether it is meant for us. Other bots are heard only where they
// mention us.
func (a Access) Hear(m chat.Message) Hearing {
	switch {
	case m.FromBot && (!m.Addressed || m.Address.Type == chat.Direct):
		return NotForUs
	case !a.Allows(m.Address.Person):
		return Denied
	case m.FromBot:
		return BotForUs
	case m.Addressed || m.Address.Type == chat.Direct || !a.RequireMention:
		return ForUs
	case m.Address.Type == chat.Thread:
		return IfTakePart
	}
	return NotForUs
}
