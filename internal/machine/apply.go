package machine

import (
	"errors"
	"fmt"
	"time"

	"github.com/homing-gateway/homing/internal/id"
)

// Answer is what a request comes back with once its batch is durable.
type Answer struct {
	Session   id.Session
	Turn      id.Turn
	Outgoing  id.Outgoing
	Duplicate bool   // the event was taken before
	Waits     bool   // the text waits for the running turn, or for its next step
	Text      string // for the person who asked
}

// ErrStale says that a report is about something that is over: its reporter drops it.
var ErrStale = errors.New("what this reports on is over")

// Refusal is an error for people: what is not possible, and what is. Nothing has changed.
type Refusal struct{ Text string }

func (e *Refusal) Error() string { return e.Text }

func refuse(format string, a ...any) (Answer, error) {
	return Answer{}, &Refusal{fmt.Sprintf(format, a...)}
}

// Apply decides on one request. It checks before it changes: an error leaves the overlay as it was, so that a bad request
// never fails its neighbours in the batch.
func (o *Overlay) Apply(now time.Time, r Request) (Answer, error) {
	if now.After(o.now) { // a clock that jumps back does not turn the order of things around
		o.now = now
	}
	answer, err := o.decide(r)
	for len(o.woken) > 0 { // all that came in this step goes into one turn
		next := o.woken[0]
		o.woken = o.woken[1:]
		o.openTurn(next)
	}
	return answer, err
}

func (o *Overlay) decide(r Request) (Answer, error) {
	switch r := r.(type) {
	case Receive:
		return o.receive(r)
	case Answered:
		return o.answered(r)
	case Unanswered:
		return o.unanswered(r)
	case Compacted:
		return o.compacted(r)
	case ToolDone:
		return o.toolDone(r)
	case Started:
		return o.started(r)
	case Left:
		return o.left(r)
	case Ended:
		return o.ended(r)
	case Promoted:
		return o.promoted(r)
	case Overdue:
		return o.overdue(r)
	case Claim:
		return o.claim(r)
	case SendDone:
		return o.sendDone(r)
	case Fetched:
		return o.fetched(r)
	case Discarded:
		return o.discarded(r)
	case Showing:
		return o.showing(r)
	case Shown:
		return o.shown(r)
	case Astray:
		return o.astray(r)
	case Retracted:
		return o.retracted(r)
	case Observed:
		return o.observed(r)
	case Due:
		return o.due(r)
	case Reachable:
		return o.reachable(r)
	case Say:
		return Answer{Outgoing: o.say(r.To, r.Text, "", r.Cause, r.Session, "")}, nil
	case EndSession:
		return o.endSession(r)
	case StopDelegation:
		return o.stopDelegation(r)
	case KillProcess:
		return o.killProcess(r)
	case Requeue:
		return o.requeue(r)
	case Drop:
		return o.drop(r)
	case Examined:
		return o.examined(r)
	case Recover:
		return o.recover()
	case Shutdown:
		o.meta.Clean = true
		return Answer{}, nil
	}
	return refuse("unknown request %T", r)
}
