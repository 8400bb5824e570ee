package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/store"
)

// indent is where the words of a trace begin: behind the mark, the time and the distance.
const indent = "                          "

// Text is the trace for people: what it comes to, then each step with its time, how long after the beginning that was, and
// how long it took.
func (t Trace) Text() string {
	var b strings.Builder
	b.WriteString(t.Summary + "\n")
	day := ""
	for _, s := range t.Steps {
		if d := s.At.Local().Format("Monday, 2 January 2006"); d != day {
			fmt.Fprintf(&b, "\n%s\n", d)
			day = d
		}
		mark, after := "  ", "0"
		if s.ID == t.ID {
			mark = "▸ "
		}
		switch {
		case s.conversation():
			after = ""
		case s.After > 0:
			after = "+" + span(time.Duration(s.After*float64(time.Second)))
		}
		fmt.Fprintf(&b, "%s%s %10s  %s", mark, s.At.Local().Format("15:04:05.000"), after, s.Title)
		if took := s.EndedAt.Sub(s.At); !s.EndedAt.IsZero() && took >= time.Millisecond && !s.conversation() {
			fmt.Fprintf(&b, " (took %s)", span(took))
		}
		fmt.Fprintf(&b, "\n%s%s · %s", indent, s.ID, s.State)
		for _, w := range s.Why {
			if strings.Contains(s.Title, "“"+w+"”") { // said already
				continue
			}
			fmt.Fprintf(&b, "\n%s%s", indent, strings.ReplaceAll(w, "\n", " "))
		}
		b.WriteString("\n")
	}
	if t.Truncated {
		fmt.Fprintf(&b, "\nThe chain goes on; shown are %d steps. Trace one of them to see what is around it.\n", len(t.Steps))
	}
	return strings.TrimRight(b.String(), "\n")
}

// summary says in one sentence what the trace comes to.
func (t Trace) summary() string {
	i := slices.IndexFunc(t.Steps, func(s Step) bool { return s.ID == t.ID })
	if i < 0 {
		return "There is nothing on record about " + t.ID + "."
	}
	root := t.Steps[i]
	text := cmp.Or(root.said, root.Title)
	last := -1
	for j, s := range t.Steps {
		if s.Kind == stepMessage && s.ID != t.ID && !s.At.Before(root.At) {
			last = j
		}
	}
	if last >= 0 {
		m := t.Steps[last]
		text += ". " + m.Title
		root = m
	}
	if first := slices.IndexFunc(t.Steps, func(s Step) bool { return s.Kind == stepText }); first >= 0 && root.Kind == stepMessage && !root.EndedAt.IsZero() {
		text += fmt.Sprintf(", %s after %s", span(root.EndedAt.Sub(t.Steps[first].At)), t.Steps[first].said)
	}
	return text + "."
}

// upper begins a sentence.
func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// WhyText is the answer to /why: why the latest result that came by itself came here, in words for everybody. now is when it
// was asked.
func WhyText(db *store.DB, key chat.Key, now time.Time) (string, error) {
	c, found, err := latest(db, key)
	if err != nil || !found {
		return "No result has come here by itself yet.", err
	}
	what, handed, err := subject(db, c)
	if err != nil {
		return "", err
	}
	lines := []string{fmt.Sprintf("The last result here is %s. It was there at %s, %s ago.", what, clock(c.CreatedAt, now), machine.Age(now.Sub(c.CreatedAt)))}
	texts, err := asked(db, c.Origin)
	if err != nil {
		return "", err
	}
	for i, e := range texts {
		if i == 0 {
			lines = append(lines, fmt.Sprintf("It comes from what %s asked for at %s: %s", asker(e), clock(e.At, now), quoted(e.Said(mediaFolder))))
			continue
		}
		lines = append(lines, fmt.Sprintf("… and at %s: %s", clock(e.At, now), quoted(e.Said(mediaFolder))))
	}
	lines = append(lines, belongs(c, handed))
	sent, err := told(db, c, now)
	if err != nil {
		return "", err
	}
	return strings.Join(append(lines, sent, "Every step of it: homing trace "+string(c.ID)), "\n"), nil
}

func asker(e machine.Entry) string {
	if e.Speaker != "" {
		return e.Speaker
	}
	return "you"
}

// latest is the result that came last to a place's present conversation, or else to one before it.
func latest(db *store.DB, key chat.Key) (about delivery.Completion, found bool, err error) {
	sessions, err := SessionsOf(db, key, false)
	if err != nil {
		return about, false, err
	}
	for _, s := range sessions {
		l, _, err := store.Get[machine.Lane](db, machine.Lanes, string(s.ID))
		if err != nil {
			return about, false, err
		}
		c, ok, err := store.Get[delivery.Completion](db, machine.Completions, string(l.Came))
		if err != nil {
			return about, false, err
		}
		if ok && (!found || c.CreatedAt.After(about.CreatedAt)) {
			about, found = c, true
		}
	}
	return about, found, nil
}

// subject names what a completion tells of, and whether a subagent handed it off.
func subject(db *store.DB, c delivery.Completion) (what string, handedOff bool, err error) {
	switch {
	case strings.HasPrefix(c.Subject, id.PrefixDelegation):
		d, _, err := store.Get[machine.Delegation](db, machine.Delegations, c.Subject)
		what = "what a subagent brought back"
		if len(d.Children) > 1 {
			what = fmt.Sprintf("what %d subagents brought back", len(d.Children))
		}
		if len(d.Children) > 0 {
			what += " on " + quoted(d.Children[0].Goal)
		}
		return what + " (" + c.Status + ")", false, err
	case strings.HasPrefix(c.Subject, id.PrefixProcess):
		p, _, err := store.Get[machine.Process](db, machine.Processes, c.Subject)
		return fmt.Sprintf("the end of the command %s (%s)", quoted(p.Command), c.Status), p.HandedOff != "", err
	}
	return fmt.Sprintf("%s (%s)", c.Subject, c.Status), false, nil
}

// belongs says why a result belongs to its conversation.
func belongs(c delivery.Completion, handedOff bool) string {
	why := "the work was started in it"
	hops := c.Verdict.Path
	switch {
	case handedOff:
		why = "a subagent that worked for it started the command and handed it over"
	case len(hops) > 1 && hops[0].Session.IsSubagent():
		why = "a subagent that worked for it started the work"
	case len(hops) > 1:
		why = "the work was started in the conversation that this one goes on from"
	}
	return fmt.Sprintf("It was proved to belong to this conversation: %s, and the place had not moved on when it came.", why)
}

// told says how a result reached the chat.
func told(db *store.DB, c delivery.Completion, now time.Time) (string, error) {
	t, _, err := store.Get[machine.Turn](db, machine.Turns, string(c.Turn))
	if err != nil {
		return "", err
	}
	for _, mid := range slices.Backward(append([]id.Outgoing{c.Message}, t.Outgoing...)) {
		m, ok, err := store.Get[delivery.Outgoing](db, machine.Outgoings, string(mid))
		if err != nil {
			return "", err
		}
		if !ok {
			continue
		}
		switch m.State {
		case delivery.Queued:
			return "Its message waits to be sent.", nil
		case delivery.Sending:
			if m.Doubt != "" {
				return "It was sent, and the platform is asked whether it arrived.", nil
			}
			return "It is being sent right now.", nil
		case delivery.Unknown:
			return "It was sent, and nobody knows whether it arrived; /undelivered names it.", nil
		case delivery.Buried:
			return "Its message could not be sent: " + reasonWords(m.Reason) + ".", nil
		}
		return strings.TrimSuffix(fmt.Sprintf("It was sent at %s as %s", clock(m.UpdatedAt, now), messageIDs(m)), " as ") + ".", nil
	}
	switch c.State {
	case delivery.Pending, delivery.Admitted:
		return "The agent is busy; it is told as soon as it is done with what it does.", nil
	case delivery.Bound:
		return "The agent is at it right now; its answer comes when it is done.", nil
	case delivery.Dead:
		return "It could not be told: " + reasonWords(c.Reason) + ".", nil
	}
	if c.Reason == delivery.DoneAnswered {
		return "The agent had nothing to say about it, so no message was sent.", nil
	}
	return "No message was sent: " + reasonWords(c.Reason) + ".", nil
}
