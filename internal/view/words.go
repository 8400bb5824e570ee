package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
)

// reasonWords says in plain words why something was parked, or how it was done with. A reason without words is said as it is.
func reasonWords(reason string) string {
	switch reason {
	case string(session.OwnerMissing):
		return "that session is not in the store"
	case string(session.OwnerCorrupt):
		return "the record of that session cannot be read"
	case string(session.Cycle):
		return "the marks of who delegated whom lead in a circle"
	case string(session.TooDeep):
		return fmt.Sprintf("more than %d delegations lie between the work and a person", session.MaxHops)
	case string(session.Boundary):
		return "its conversation had been ended by its person"
	case string(session.NoProvenance):
		return "it is a subagent's run without a mark of who delegated it"
	case string(session.PlaceTaken):
		return "its place is in another conversation"
	case delivery.ReasonExpired:
		return "it had waited longer than delivery.expire_after"
	case delivery.ReasonTurnFailed:
		return "the turn that was to tell it failed"
	case delivery.ReasonQuarantined:
		return "the turn that was to tell it was given up after three crashes in a row"
	case delivery.ReasonAttempts:
		return "every attempt that delivery.max_attempts allows has failed"
	case delivery.ReasonRefused:
		return "the platform refused it for good"
	case delivery.ReasonRestored:
		return "it was under way when the store was set back to a copy"
	case delivery.DoneAnswered:
		return "the agent was told, and its turn came to its end"
	case delivery.DoneEntered:
		return "it stands in the transcript and asked for no turn"
	case delivery.DoneReceipt:
		return "its place got a receipt; nothing more was asked for"
	case delivery.DoneSuppressed:
		return "it was kept quiet: the ends of a subagent's processes are not shown (delegation.surface_child_process_notifications)"
	case delivery.DoneConsumed:
		return "the agent had seen the end itself, so it was not told a second time"
	case delivery.DoneInterrupted:
		return "its person stopped the turn that was telling it"
	case delivery.DoneDropped:
		return "an operator dropped it"
	}
	return reason
}

// endWords says in plain words how a session ended.
func endWords(r session.EndReason) string {
	switch r {
	case session.Reset:
		return "its person began a new one with /new"
	case session.Switched:
		return "its person went to another one with /resume"
	case session.UserExit:
		return "it was ended for good by its client or an operator"
	case session.Branched:
		return "its person went on in a copy with /branch"
	case session.Idle:
		return "it had been silent for longer than session.idle_reset"
	case session.Completed:
		return "it came to its end"
	case session.Failed:
		return "it failed"
	case session.Interrupted:
		return "it was stopped"
	case session.Stalled:
		return "it made no progress any more"
	}
	return string(r)
}

// fateWords says what became of a completion; of one that is done, how.
func fateWords(c delivery.Completion) string {
	switch c.State {
	case delivery.Pending:
		return "waits for room in its owner's inbox"
	case delivery.Admitted:
		return "waits in its owner's inbox for the running turn to end"
	case delivery.Bound:
		return fmt.Sprintf("the agent is told in turn %s", c.Turn)
	case delivery.Dead:
		words := "not delivered: " + reasonWords(c.Reason)
		if c.Kept != "" {
			words += fmt.Sprintf("; it is kept, and /resume %s brings it back", c.Kept)
		}
		return words
	}
	return reasonWords(c.Reason)
}

func turnWords(t machine.Turn) string {
	agent := "The agent"
	if t.Session.IsSubagent() {
		agent = "The subagent"
	}
	switch {
	case len(t.Bound) > 0 && t.Texts > 0:
		agent += " was told, together with what was written,"
	case len(t.Bound) > 0:
		agent += " was told"
	default:
		agent += " worked on it"
	}
	switch t.State {
	case machine.TurnRunning, machine.TurnRecovering:
		return agent + " and is at it"
	case machine.TurnWaiting:
		return agent + " and waits for the model"
	case machine.TurnDelegated:
		return agent + " and waits for what it delegated"
	case machine.TurnFailed:
		return agent + ": it failed"
	case machine.TurnInterrupted:
		return agent + ": it was stopped"
	case machine.TurnQuarantined:
		return agent + ": it was given up"
	}
	return agent
}

func delegationWords(d machine.Delegation) string {
	what := "Work was given to a subagent"
	if n := len(d.Children); n > 1 {
		what = fmt.Sprintf("Work was given to %d subagents", n)
	}
	if len(d.Children) > 0 {
		what += ": " + quoted(d.Children[0].Goal)
	}
	if d.State != machine.DelegationCompleted {
		what += " — " + string(d.State)
	}
	return what
}

func processWords(p machine.Process) string {
	what := "A command was started: " + quoted(p.Command)
	switch {
	case p.State == machine.ProcessStarting:
		return what
	case p.State == machine.ProcessExited && p.ExitCode != nil:
		return what + fmt.Sprintf(" — exited %d", *p.ExitCode)
	}
	return what + " — " + string(p.State)
}

func messageWords(m delivery.Outgoing) string {
	to := placeWords(m.To)
	switch m.State {
	case delivery.Sent:
		if ids := messageIDs(m); ids != "" {
			return fmt.Sprintf("A message was sent to %s as %s", to, ids)
		}
		return "A message was sent to " + to
	case delivery.Sending:
		if m.Doubt != "" {
			return fmt.Sprintf("A message went to %s, and the platform is asked whether it arrived", to)
		}
		return "A message is being sent to " + to
	case delivery.Unknown:
		return fmt.Sprintf("A message went to %s, and nobody knows whether it arrived", to)
	case delivery.Buried:
		return fmt.Sprintf("A message to %s is dead: %s", to, reasonWords(m.Reason))
	}
	return "A message waits to be sent to " + to
}

// messageIDs names the platform's messages that were made of one of ours.
func messageIDs(m delivery.Outgoing) string {
	var ids []string
	for _, p := range m.Parts {
		if p.MessageID != "" {
			ids = append(ids, p.MessageID)
		}
	}
	switch len(ids) {
	case 0:
		return ""
	case 1:
		return "message " + ids[0]
	}
	return "messages " + strings.Join(ids, ", ")
}

// placeWords names a chat for people.
func placeWords(a chat.Address) string {
	where := string(a.Platform)
	if a.Chat != where { // a terminal has one chat
		where += " chat " + a.Chat
	}
	if a.Thread != "" {
		where += ", thread " + a.Thread
	}
	return where
}

// quoted is the beginning of a text on one line, in quotation marks.
func quoted(s string) string {
	if s = begins(s, 100); s == "" {
		return "(nothing said)"
	}
	return "“" + s + "”"
}

// begins is the beginning of a text on one line, of at most so many characters.
func begins(s string, most int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		s = strings.TrimSpace(string(r[:most])) + "…"
	}
	return s
}

// span is a duration as people read it, as exact as it is short.
func span(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// clock is a time of day as people read it, with the day where it is another one.
func clock(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04")
	}
	return t.Format("2 Jan 15:04")
}
