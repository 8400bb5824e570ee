package delivery

import (
	"time"

	"github.com/homing-gateway/homing/internal/chat"
)

// Doubt is why nobody knows whether the part in hand arrived, while the platform is asked for it. The part is `sending`
// meanwhile: what came of it is still to be told.
type Doubt string

// The doubts.
const (
	Unanswered  Doubt = "unanswered"  // the attempt came to its end without a word
	Interrupted Doubt = "interrupted" // the daemon died in mid-send
)

// Sighting is what came of one look for a part at the platform.
type Sighting struct {
	Found   bool
	Receipt chat.Receipt    // with Found
	Failure *chat.SendError // the platform could not be asked, or did not answer
}

// ask returns the message with its part in hand in doubt: the platform is asked for it after a while.
func ask(m Outgoing, why Doubt, after time.Duration, now time.Time) Outgoing {
	m.State, m.Doubt, m.NextAt, m.UpdatedAt = Sending, why, now.Add(after), now
	return m
}

// Err is why the look came to nothing, nil when the platform has answered.
func (s Sighting) Err() error {
	if s.Failure == nil {
		return nil
	}
	return s.Failure
}

// Observed returns the message after a look for part i, whose outcome was not known:
//
//	found                             the part is sent, with its receipt
//	not found                         queued again, unlabelled; at once after a crash, else later and for an attempt
//	the platform cannot be asked      as if nobody could: held, or sent once more with the mark (Next, Recover)
//	no answer, or a wait              asked again, later, for free
//
// It is the platform's own word that the part did not arrive, so the repeat needs no mark.
func Observed(m Outgoing, i int, s Sighting, now time.Time, p Policy) Outgoing {
	if i < 0 || i >= len(m.Parts) || m.Parts[i].State != Sending || m.Doubt == "" {
		return m
	}
	why := m.Doubt
	m.UpdatedAt, m.Unreached = now, false
	f := s.Failure
	switch {
	case f == nil && s.Found:
		m = with(m, i, func(p *Part) { p.State, p.MessageID = Sent, s.Receipt.MessageID })
		m.Doubt, m.Waits, m.Class, m.Detail = "", 0, "", ""
		return settle(m, now)
	case f == nil:
		m.Doubt, m.Waits, m.Detail = "", 0, "the platform was asked, and it had not arrived"
		if why == Unanswered {
			if m.Attempts++; m.Attempts >= p.MaxAttempts {
				return bury(m, i, ReasonAttempts, now)
			}
		}
		m = with(m, i, func(p *Part) { p.State = Queued })
		if m.State, m.NextAt = Queued, now; why == Unanswered {
			m.NextAt = now.Add(backoff(m, m.Attempts, p))
		}
		return m
	}
	if f.Err != nil {
		m.Detail = f.Err.Error()
	}
	m.Class = string(f.Class)
	if f.Fault == chat.MovedChat || f.Fault == chat.Refused && f.Class != chat.ClassCredential {
		m.Doubt, m.NextAt = "", time.Time{}
		if why == Interrupted {
			return interrupted(m, i, now)
		}
		return unanswered(m, i, now, p)
	}
	m.Waits++
	m.Unreached = f.Fault == chat.Unreachable || f.Class == chat.ClassCredential
	return ask(m, why, max(f.RetryAfter, backoff(m, m.Waits, p)), now)
}

// unanswered decides on a part that may have arrived, where nobody can tell: held, or sent once more with the mark.
func unanswered(m Outgoing, i int, now time.Time, p Policy) Outgoing {
	if p.Resend && !m.Parts[i].Marked {
		m = with(m, i, func(p *Part) { p.Marked, p.State = true, Queued })
		m.State, m.NextAt = Queued, now.Add(p.MinBackoff)
		return m
	}
	m = with(m, i, func(p *Part) { p.State = Unknown })
	return settle(m, now)
}

// interrupted decides on a part that was in mid-send when the daemon died, where nobody can tell: it goes once more with the
// mark, and one that bore the mark already is held.
func interrupted(m Outgoing, i int, now time.Time) Outgoing {
	if m.Parts[i].Marked {
		m = with(m, i, func(p *Part) { p.State = Unknown })
		return settle(m, now)
	}
	m = with(m, i, func(p *Part) { p.State, p.Marked = Queued, true })
	m.State, m.NextAt, m.UpdatedAt = Queued, now, now
	return m
}
