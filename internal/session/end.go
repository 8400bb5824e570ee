package session

// EndReason says why a session ended. Empty: it has not.
type EndReason string

// The reasons for which a session ends.
const (
	Reset       EndReason = "session_reset"  // /new, /reset
	Switched    EndReason = "session_switch" // /resume of another
	UserExit    EndReason = "user_exit"      // API DELETE, sessions end
	Branched    EndReason = "branched"       // /branch
	Idle        EndReason = "idle"           // idle_reset
	Completed   EndReason = "completed"      // the rest: a child's end
	Failed      EndReason = "failed"
	Interrupted EndReason = "interrupted"
	Stalled     EndReason = "stalled"
)

// Destination says where the completions of an ended session go.
type Destination string

// The destinations.
const (
	Nowhere  Destination = "nowhere"   // terminal: kept with the session
	ToPlace  Destination = "to_place"  // to the place's current session, if no person left the place since
	ToParent Destination = "to_parent" // the walk goes on to the session that delegated
)

// NextMessage says who answers the next message in the place of an ended session.
type NextMessage string

// Who answers next.
const (
	ByNew     NextMessage = "new"     // a fresh session
	ByTarget  NextMessage = "target"  // the session that the place was switched to
	NeverHere NextMessage = "nowhere" // a child has no place
)

// ending is one row of the table of end reasons: one column per question.
type ending struct {
	boundary    bool
	completions Destination
	interrupts  bool
	next        NextMessage
}

// endings is the one table of what an end means. A test proves that every reason fills every column.
func endings(r EndReason) (ending, bool) {
	switch r {
	case Reset:
		return ending{true, Nowhere, true, ByTarget}, true
	case Switched:
		return ending{true, Nowhere, false, ByTarget}, true
	case UserExit:
		return ending{true, Nowhere, true, ByNew}, true
	case Branched:
		return ending{false, ToPlace, false, ByTarget}, true
	case Idle:
		return ending{false, ToPlace, false, ByNew}, true
	case Completed, Failed, Interrupted, Stalled:
		return ending{false, ToParent, true, NeverHere}, true
	}
	return ending{}, false
}

// EndReasons lists all reasons.
func EndReasons() []EndReason {
	return []EndReason{Reset, Switched, UserExit, Branched, Idle, Completed, Failed, Interrupted, Stalled}
}

// UserBoundary tells whether a person ended the conversation: nothing may cross that.
func (r EndReason) UserBoundary() bool { e, _ := endings(r); return e.boundary }

// Completions tells where the completions of a session that ended so go. An unknown reason goes nowhere.
func (r EndReason) Completions() Destination {
	if e, ok := endings(r); ok {
		return e.completions
	}
	return Nowhere
}

// InterruptsChildren tells whether the end stops the session's running children.
func (r EndReason) InterruptsChildren() bool { e, _ := endings(r); return e.interrupts }

// Next tells who answers the next message in the place.
func (r EndReason) Next() NextMessage { e, _ := endings(r); return e.next }

// OfChild tells whether only a subagent's run ends so.
func (r EndReason) OfChild() bool { return r.Next() == NeverHere }
