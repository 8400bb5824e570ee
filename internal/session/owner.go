package session

import (
	"slices"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/id"
)

// MaxHops is how many delegation marks a walk follows before it gives up.
const MaxHops = 16

// Outcome is what a walk found.
type Outcome string

// The outcomes.
const (
	Deliver  Outcome = "deliver"  // to Verdict.Owner
	Terminal Outcome = "terminal" // never: a dead letter with Verdict.Reason
	Retry    Outcome = "retry"    // later, for free
)

// Reason says why a verdict is terminal, in the words that people read in `homing queue`.
type Reason string

// The reasons of terminal verdicts.
const (
	OwnerMissing Reason = "owner_missing"
	OwnerCorrupt Reason = "owner_corrupt"
	Cycle        Reason = "cycle"
	TooDeep      Reason = "too_deep"
	Boundary     Reason = "boundary"
	NoProvenance Reason = "no_provenance"
	PlaceTaken   Reason = "place_taken"
)

// Hop is one session on the walk, with the epoch it had.
type Hop struct {
	Session id.Session `json:"session"`
	Epoch   uint64     `json:"epoch"`
}

// Verdict is the answer to "whose is it?". A verdict that delivers is the proof as well: Holds tells whether it still
// stands.
type Verdict struct {
	Outcome Outcome    `json:"outcome"`
	Owner   id.Session `json:"owner,omitempty"`
	Path    []Hop      `json:"path,omitempty"` // from the pin to where the walk ended
	// Key and Version name the route that the owner was proved by; empty for an owner without a place.
	Key     chat.Key `json:"key,omitempty"`
	Version uint64   `json:"version,omitempty"`
	Reason  Reason   `json:"reason,omitempty"`
	// At and End tell of a terminal verdict where it fell, and of a boundary how that conversation ended.
	At  id.Session `json:"at,omitempty"`
	End EndReason  `json:"end,omitempty"`
}

// Resolve walks from the session that started some work to the human-facing session that owns it. It only reads: no
// verdict moves a route, ends a session or reopens one. The first row that fits decides:
//
//	not loaded                                retry
//	not there / unreadable                    terminal: owner_missing / owner_corrupt
//	seen before / more than MaxHops           terminal: cycle / too_deep
//	ended by a person, at any hop             terminal: boundary
//	marked as delegated                       step to who delegated
//	a subagent without a mark                 terminal: no_provenance
//	live, of the API                          deliver to its timeline
//	live, named by its place's route          deliver
//	live, its place names another             terminal: place_taken
//	ended otherwise, place not left since     deliver to the place's current session
//	ended otherwise, place left since         terminal: boundary
func Resolve(v View, pin id.Session) Verdict {
	if !v.Loaded() {
		return Verdict{Outcome: Retry}
	}
	var path []Hop
	for at := pin; ; {
		s, presence := v.Session(at)
		if presence != Present {
			reason := OwnerMissing
			if presence == Corrupt {
				reason = OwnerCorrupt
			}
			return Verdict{Outcome: Terminal, Reason: reason, At: at, Path: path}
		}
		for _, h := range path {
			if h.Session == at {
				return Verdict{Outcome: Terminal, Reason: Cycle, At: at, Path: path}
			}
		}
		if len(path) > MaxHops {
			return Verdict{Outcome: Terminal, Reason: TooDeep, At: at, Path: path}
		}
		path = append(path, Hop{at, s.Epoch})
		switch {
		case s.EndReason.UserBoundary():
			return Verdict{Outcome: Terminal, Reason: Boundary, At: at, End: s.EndReason, Path: path}
		case s.DelegateFrom != "":
			at = s.DelegateFrom
			continue
		case s.Kind == Subagent:
			return Verdict{Outcome: Terminal, Reason: NoProvenance, At: at, Path: path}
		case s.Ended():
			return ofPlace(v, s, path)
		case s.Kind == API:
			return Verdict{Outcome: Deliver, Owner: s.ID, Path: path}
		}
		r, _ := v.Route(s.Key)
		if r.Current != s.ID {
			return Verdict{Outcome: Terminal, Reason: PlaceTaken, At: at, Path: path}
		}
		return Verdict{Outcome: Deliver, Owner: s.ID, Path: path, Key: r.Key, Version: r.Version}
	}
}

// ofPlace decides for a human-facing session that ended without its person leaving: its place's current session takes
// over, unless a person has left the place since.
func ofPlace(v View, s Session, path []Hop) Verdict {
	r, ok := v.Route(s.Key)
	if !ok || r.Current == "" || r.BoundaryAt > s.LeftAt || s.EndReason.Completions() != ToPlace {
		return Verdict{Outcome: Terminal, Reason: Boundary, At: s.ID, End: s.EndReason, Path: path}
	}
	cur, presence := v.Session(r.Current)
	if presence != Present || cur.Ended() || !cur.HumanFacing() {
		return Verdict{Outcome: Terminal, Reason: PlaceTaken, At: s.ID, End: s.EndReason, Path: path}
	}
	return Verdict{Outcome: Deliver, Owner: cur.ID, Path: append(path, Hop{cur.ID, cur.Epoch}), Key: r.Key, Version: r.Version}
}

// maxLine bounds how many conversations back Line looks.
const maxLine = 64

// Line lists the conversations whose running work is this one's: itself, and those before it in its place (branched, or
// idle) whose completions come to it. It asks Resolve, so that work and results never part.
func Line(v View, sid id.Session) []id.Session {
	line := []id.Session{sid}
	for at := sid; len(line) < maxLine; {
		s, presence := v.Session(at)
		if presence != Present || s.Parent == "" || slices.Contains(line, s.Parent) {
			break
		}
		at = s.Parent
		if p := Resolve(v, at); p.Outcome != Deliver || p.Owner != sid {
			break
		}
		line = append(line, at)
	}
	return line
}

// Holds tells whether nothing that a delivering verdict names has moved since: then it need not be looked for again.
func (p Verdict) Holds(v View) bool {
	if p.Outcome != Deliver {
		return false
	}
	for _, h := range p.Path {
		if s, presence := v.Session(h.Session); presence != Present || s.Epoch != h.Epoch {
			return false
		}
	}
	if p.Key == "" {
		return true
	}
	r, ok := v.Route(p.Key)
	return ok && r.Version == p.Version
}
