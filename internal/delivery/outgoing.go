package delivery

import (
	"hash/fnv"
	"strings"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/id"
)

// MessageState is a state of an outgoing message or of one of its parts.
type MessageState string

// The states, and who moves it on.
const (
	Queued  MessageState = "queued"  // a sender, when it is due and first in its chat
	Sending MessageState = "sending" // the outcome of the attempt; after a crash the start
	Sent    MessageState = "sent"    // nobody
	Unknown MessageState = "unknown" // a person, or the policy
	Buried  MessageState = "dead"    // a person
)

// RecoveryMark begins every repeat that the platform cannot tell from a duplicate.
const RecoveryMark = "♻ recovered, may be a duplicate"

// File is a copy of what was to be sent when the agent said so, below the media folder. It is there for as long as its
// message may be sent.
type File struct {
	Path string `json:"path"`
	Name string `json:"name"` // as people see it
	MIME string `json:"mime"`
	Size int64  `json:"size"`
}

// Part is one message of the platform; a long text makes several.
type Part struct {
	Text      string       `json:"text"`            // in the platform's dialect
	Bare      string       `json:"bare"`            // the same without markup
	Plain     bool         `json:"plain,omitempty"` // the markup was refused: the bare text is sent
	Marked    bool         `json:"marked,omitempty"`
	State     MessageState `json:"state"`
	MessageID string       `json:"message_id,omitempty"`
	File      bool         `json:"file,omitempty"` // the message's file, with the text as its caption
	// Edits is the message that the part is put into instead of being sent as one of its own: the preview of its turn.
	Edits string `json:"edits,omitempty"`
}

// Outgoing is what is to be sent to a platform. Parts are empty until a sender has rendered the text.
type Outgoing struct {
	ID      id.Outgoing  `json:"id"`
	Profile string       `json:"profile"`
	To      chat.Address `json:"to"`
	Session id.Session   `json:"session,omitempty"`
	Turn    id.Turn      `json:"turn,omitempty"`
	// Cause is the id of what it tells of: a turn, a completion, or a person's command.
	Cause string `json:"cause,omitempty"`
	Text  string `json:"text"` // Markdown
	// Buttons stand under the last part, where the platform has them.
	Buttons []chat.Button `json:"buttons,omitempty"`
	ReplyTo string        `json:"reply_to,omitempty"`
	State   MessageState  `json:"state"`
	Parts   []Part        `json:"parts,omitempty"`
	// Idempotent is the platform's word that a repeat under the same key makes no second message.
	Idempotent bool `json:"idempotent,omitempty"`
	// Observable is the platform's word that it can be asked whether a part arrived.
	Observable bool `json:"observable,omitempty"`
	// Doubt tells that nobody knows whether the part in hand arrived, and that the platform is asked.
	Doubt Doubt `json:"doubt,omitempty"`
	// BegunAt is when the part in hand was begun for the first time: if it arrived, then since.
	BegunAt time.Time `json:"begun_at,omitzero"`
	// Doubtful tells that it may have arrived in a form that is not known: every part will bear the mark.
	Doubtful bool `json:"doubtful,omitempty"`
	// Order is its turn in its chat: the sequence number of the step that queued it.
	Order    uint64 `json:"order"`
	Tries    int    `json:"tries,omitempty"` // parts begun, so that the report of an earlier try is not taken for this one's
	Attempts int    `json:"attempts"`
	Waits    int    `json:"waits,omitempty"` // tries that cost nothing, for the growing pause between them
	// Unreached tells that the last attempt found no connection: it is due as soon as there is one.
	Unreached bool      `json:"unreached,omitempty"`
	NextAt    time.Time `json:"next_at,omitzero"`
	Reason    string    `json:"reason,omitempty"`
	Class     string    `json:"class,omitempty"`
	Detail    string    `json:"detail,omitempty"` // the platform's words of the last failure
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	QueuedAt  time.Time `json:"queued_at"` // expiry counts from here
	// File is sent with the text as its caption; nil: the message is a text.
	File *File `json:"file,omitempty"`
}

// Policy is what an operator decides about deliveries.
type Policy struct {
	MaxAttempts int
	MinBackoff  time.Duration
	MaxBackoff  time.Duration
	Resend      bool // delivery.unknown: resend
	ToParent    bool // delivery.dead_thread: parent
}

// Outcome is what came of one attempt at one part.
type Outcome struct {
	Receipt chat.Receipt
	Failure *chat.SendError // nil: sent
	// Healthy tells that other calls of the account succeed, so that a failing platform is not held against the message.
	Healthy bool
}

// Current returns the index of the part that is to go next, -1 when none is left.
func (m Outgoing) Current() int {
	for i, p := range m.Parts {
		if p.State == Queued || p.State == Sending {
			return i
		}
	}
	return -1
}

// Finished tells whether nothing is left to do without a person.
func (m Outgoing) Finished() bool { return m.State == Sent || m.State == Unknown || m.State == Buried }

// Begin marks the next part as being sent: from now on a crash leaves its outcome open.
func Begin(m Outgoing, now time.Time) Outgoing {
	i := m.Current()
	if i < 0 {
		return settle(m, now)
	}
	m = with(m, i, func(p *Part) { p.State = Sending })
	m.State, m.UpdatedAt, m.NextAt, m.Doubt = Sending, now, time.Time{}, ""
	if m.BegunAt.IsZero() {
		m.BegunAt = now
	}
	m.Tries++
	return m
}

// Next returns the message after an attempt at part i: the whole life of an outgoing message in one place.
//
//	sent                              the part is sent
//	unreachable, rate limited         queued again, later, for free
//	refused for our credential        the same: it waits until the account works again
//	the platform failed               queued again; costs an attempt while the account works
//	moved                             queued again at once; costs an attempt, so that it comes to an end
//	refused for its markup            queued again at once, as plain text, this part only
//	a file is refused for what it is  queued again at once, as a text that says so in its place
//	an edit failed otherwise          queued again at once, as a message of its own; unreachable and unknown are as above and below
//	refused for its thread            to the chat itself with a note, or dead, as the policy says
//	refused otherwise                 dead
//	unknown, the platform deduplicates  queued again under the same key
//	unknown, an edit                  queued again: the same text twice is once
//	unknown, the platform can be asked  asked: Observed
//	unknown, else                     held as unknown; or queued once more with the mark, as the policy says
func Next(m Outgoing, i int, o Outcome, now time.Time, p Policy) Outgoing {
	if i < 0 || i >= len(m.Parts) || m.Parts[i].State != Sending || m.Doubt != "" {
		return m
	}
	m.UpdatedAt, m.Unreached = now, false
	f := o.Failure
	if f == nil {
		m = with(m, i, func(p *Part) { p.State, p.MessageID = Sent, o.Receipt.MessageID })
		m.Waits, m.Class, m.Detail = 0, "", ""
		return settle(m, now)
	}
	if f.Err != nil {
		m.Detail = f.Err.Error()
	}
	m.Class = string(f.Class)
	again := func(after time.Duration) Outgoing {
		m = with(m, i, func(p *Part) { p.State = Queued })
		m.State, m.NextAt = Queued, now.Add(after)
		return m
	}
	counted := func(after time.Duration) Outgoing {
		if m.Attempts++; m.Attempts >= p.MaxAttempts {
			return bury(m, i, ReasonAttempts, now)
		}
		return again(after)
	}
	if f.Class == chat.ClassCredential { // the account's fault, not the message's
		f = &chat.SendError{Fault: chat.Unreachable}
	}
	if m.Parts[i].Edits != "" && f.Fault != chat.Unreachable && f.Fault != chat.Unknown && (f.Class != chat.ClassMarkup || m.Parts[i].Plain) {
		m = with(m, i, func(p *Part) { p.Edits = "" }) // what keeps an edit from being made keeps no message from being sent
		return again(0)
	}
	switch f.Fault {
	case chat.Unreachable:
		m.Waits++
		m.Unreached = true
		return again(backoff(m, m.Waits, p))
	case chat.RateLimited:
		m.Waits++
		return again(max(f.RetryAfter, p.MinBackoff))
	case chat.ServerError:
		if !o.Healthy {
			m.Waits++
			return again(backoff(m, m.Waits, p))
		}
		return counted(backoff(m, m.Attempts+1, p))
	case chat.MovedChat: // the machine knows the chat's new id from now on
		return counted(0)
	case chat.Refused:
		switch {
		case f.Class == chat.ClassMarkup && !m.Parts[i].Plain:
			m = with(m, i, func(p *Part) { p.Plain = true })
			return again(0)
		case m.Parts[i].File && (f.Class == chat.ClassTooLong || f.Class == chat.ClassOther || f.Class == chat.ClassMarkup):
			m = with(m, i, func(p *Part) { *p = p.withoutFile("⚠ I could not send the file " + m.File.Name + ": " + m.Detail) })
			return again(0)
		case f.Class == chat.ClassThreadGone && p.ToParent && m.To.Thread != "":
			return again(0).withoutThread()
		}
		m.Attempts++
		return bury(m, i, ReasonRefused, now)
	}
	if m.Repeats(i) {
		m.Waits++
		return again(backoff(m, m.Waits, p))
	}
	if m.observable(i) {
		return ask(m, Unanswered, p.MinBackoff, now) // not at once: it may be on its way
	}
	return unanswered(m, i, now, p)
}

// Recover returns a message that was in mid-send when the daemon died. A platform that deduplicates is asked again under
// the same key, and one that can be asked is asked whether the part arrived; elsewhere the part goes once more with the
// mark, because nobody can tell whether it had arrived. A part that bore the mark already is held as unknown.
func Recover(m Outgoing, now time.Time) Outgoing {
	i := m.Current()
	if i < 0 || m.Parts[i].State != Sending {
		return m
	}
	if m.Doubt != "" { // it was being asked for, which goes on
		return ask(m, m.Doubt, 0, now)
	}
	m.Detail = "it was being sent when the daemon died"
	switch {
	case m.Repeats(i):
		m = with(m, i, func(p *Part) { p.State = Queued })
		m.State, m.NextAt, m.UpdatedAt = Queued, now, now
		return m
	case m.observable(i):
		return ask(m, Interrupted, 0, now)
	}
	return interrupted(m, i, now)
}

// Park returns a message that was on its way when a copy of the store was made which is the store now. Nobody can tell
// whether it was sent since, also by another daemon: it is held as unknown.
func Park(m Outgoing, now time.Time) Outgoing {
	for i := range m.Parts {
		m = with(m, i, func(p *Part) {
			if p.State == Queued || p.State == Sending {
				p.State = Unknown
			}
		})
	}
	m.Doubtful = m.Doubtful || len(m.Parts) == 0
	m.State, m.Reason, m.NextAt, m.UpdatedAt, m.Doubt = Unknown, ReasonRestored, time.Time{}, now, ""
	m.Detail = "it was on its way when the copy was made that the store was restored from"
	return m
}

// Expire returns a message that waited too long as a dead letter. A part that is in doubt stays unknown.
func Expire(m Outgoing, now time.Time) Outgoing { return giveUp(m, ReasonExpired, now) }

// Drop returns a message that waits as one that a person gave up. A part that is in doubt stays unknown.
func Drop(m Outgoing, now time.Time) Outgoing { return giveUp(m, DoneDropped, now) }

func giveUp(m Outgoing, reason string, now time.Time) Outgoing {
	if m.Doubt != "" {
		m = with(m, m.Current(), func(p *Part) { p.State = Unknown })
		m.Doubt = ""
	}
	return bury(m, m.Current(), reason, now)
}

// Retry returns a dead or unknown message as a person wants it sent again: what has not arrived is queued, to the same
// place or to another one. A part that may have arrived bears the mark.
func Retry(m Outgoing, to *chat.Address, now time.Time) Outgoing {
	if to != nil && !samePlace(*to, m.To) {
		m.To, m.ReplyTo = *to, ""
		m.Parts = nil // another place may have another dialect and other limits
		m.Doubtful = false
	}
	parts := make([]Part, len(m.Parts))
	for i, p := range m.Parts {
		if p.State != Sent {
			p.Marked = p.Marked || p.State == Unknown && !m.Repeats(i)
			p.State = Queued
		}
		parts[i] = p
	}
	m.Parts = parts
	m.State, m.Reason, m.Class, m.Detail, m.Attempts, m.Waits = Queued, "", "", "", 0, 0
	m.NextAt, m.QueuedAt, m.UpdatedAt, m.BegunAt = now, now, now, time.Time{}
	return m
}

// samePlace tells whether two addresses are one place on the platform, however they came to be known.
func samePlace(a, b chat.Address) bool {
	return a.Account == b.Account && a.Chat == b.Chat && a.Thread == b.Thread
}

// observable tells whether the platform can be asked for part i: a file bears no key by which it could be found.
func (m Outgoing) observable(i int) bool { return m.Observable && !m.Parts[i].File }

// Repeats tells whether part i may be sent again without becoming a second message.
func (m Outgoing) Repeats(i int) bool { return m.Idempotent || m.Parts[i].Edits != "" }

// Body is the text of a part as it goes out.
func (m Outgoing) Body(i int) (text string, plain bool) {
	p := m.Parts[i]
	text, plain = p.Text, p.Plain
	if plain {
		text = p.Bare
	}
	if p.Marked {
		text = RecoveryMark + "\n" + text
	}
	return text, plain
}

// Key is the same for every attempt at a part and differs between parts.
func (m Outgoing) Key(i int) string {
	return string(m.ID) + "." + string(rune('a'+i%26)) + string(rune('a'+i/26%26))
}

// withoutFile is a text in the place of a file: why it is not there, and its caption.
func (p Part) withoutFile(why string) Part {
	p.Bare = strings.TrimSpace(why + "\n" + p.Bare)
	p.Text, p.Plain, p.File = p.Bare, true, false
	return p
}

// WithoutFile is a message whose file cannot be sent, as the parts of a text that says so.
func WithoutFile(why string, caption []Part) []Part {
	return append([]Part{Part{}.withoutFile(why)}, caption...)
}

// withoutThread sends the rest to the chat itself, and says in words where it was meant to go.
func (m Outgoing) withoutThread() Outgoing {
	note := "(The topic " + m.To.Thread + " this belongs to is gone.)"
	m.To.Thread = ""
	if m.To.Type == chat.Thread {
		m.To.Type = chat.Group
	}
	m.ReplyTo = ""
	i := m.Current()
	return with(m, i, func(p *Part) { p.Text, p.Bare = note+"\n"+p.Text, note+"\n"+p.Bare })
}

// backoff is MinBackoff, doubled with each try up to MaxBackoff, spread by up to a quarter so that many messages do not
// come back in one moment. The spread follows from the id: the same message waits the same time in every run.
func backoff(m Outgoing, tries int, p Policy) time.Duration {
	d := p.MinBackoff
	for range tries - 1 {
		if d *= 2; d >= p.MaxBackoff {
			d = p.MaxBackoff
			break
		}
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(m.ID))
	return d - d/4*time.Duration(h.Sum32()%1000)/1000
}

// settle gives the message the state that its parts have together.
func settle(m Outgoing, now time.Time) Outgoing {
	state := Sent
	m.BegunAt = time.Time{} // the part in hand is another one, or none
	for _, p := range m.Parts {
		switch {
		case p.State == Queued || p.State == Sending:
			m.State, m.NextAt, m.UpdatedAt = Queued, now, now
			return m
		case p.State == Buried:
			state = Buried
		case p.State == Unknown && state == Sent:
			state = Unknown
		}
	}
	m.State, m.NextAt, m.UpdatedAt = state, time.Time{}, now
	return m
}

// bury gives up part i and everything after it.
func bury(m Outgoing, i int, reason string, now time.Time) Outgoing {
	for j := max(i, 0); j < len(m.Parts); j++ {
		m = with(m, j, func(p *Part) {
			if p.State == Queued || p.State == Sending {
				p.State = Buried
			}
		})
	}
	m.State, m.Reason, m.NextAt, m.UpdatedAt = Buried, reason, time.Time{}, now
	return m
}

// with changes one part of a copy: the values that others hold stay as they are.
func with(m Outgoing, i int, change func(*Part)) Outgoing {
	parts := make([]Part, len(m.Parts))
	copy(parts, m.Parts)
	if i >= 0 && i < len(parts) {
		change(&parts[i])
	}
	m.Parts = parts
	return m
}
