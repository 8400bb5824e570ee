package machine

import (
	"fmt"
	"strings"
	"time"

	"github.com/homing-gateway/homing/internal/delivery"
)

// notice is how a completion reads in a transcript: the marker, the word that no person wrote it, the content, where it
// comes from. before says that the work was started in a conversation of the place that fell idle.
func notice(c delivery.Completion, before bool, turnNo int, now time.Time) string {
	var b strings.Builder
	b.Grow(len(c.Notice) + 300)
	fmt.Fprintf(&b, "[homing:%s %s %s]\n", c.Kind, c.Subject, c.Status)
	b.WriteString("This is a machine notice from Homing; no person wrote it.\n")
	b.WriteString(strings.TrimSpace(c.Notice))
	switch {
	case c.Origin == "":
	case before:
		fmt.Fprintf(&b, "\nOrigin: turn %d of an earlier conversation here (%s); it ended %s ago.", c.OriginNo, c.Origin, Age(now.Sub(c.CreatedAt)))
	default:
		fmt.Fprintf(&b, "\nOrigin: turn %d of this conversation (%s); this is turn %d; it ended %s ago.",
			c.OriginNo, c.Origin, turnNo, Age(now.Sub(c.CreatedAt)))
	}
	if c.Child != nil {
		fmt.Fprintf(&b, "\nStarted by subagent %s of %s: %s", c.Child.Subagent, c.Child.Delegation, c.Child.Goal)
	}
	return b.String()
}

// reminder opens a turn in which everything that was bound stands in the transcript already.
func reminder(bound []delivery.Completion) string {
	names := make([]string, 0, len(bound))
	for _, c := range bound {
		names = append(names, fmt.Sprintf("%s %s", c.Kind, c.Subject))
	}
	return "[homing:again " + strings.Join(names, ", ") + "]\nThis is a machine notice from Homing; no person wrote it.\n" +
		"The notice about this stands above and was not dealt with: deal with it now."
}

// Age is a duration as people read it.
func Age(d time.Duration) string {
	switch {
	case d < time.Second:
		return "less than a second"
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// statusOf is the state of an ended process as the marker line has it.
func statusOf(p Process) string {
	if p.State == ProcessExited && p.ExitCode != nil {
		return fmt.Sprintf("exited %d", *p.ExitCode)
	}
	if p.State == ProcessExited {
		return "killed" // by a signal that we did not send
	}
	return string(p.State)
}

// failedProcess tells whether the end is worth a closer look.
func failedProcess(p Process) bool {
	return p.State != ProcessExited || p.ExitCode == nil || *p.ExitCode != 0
}

// processNotice is the body of a notice about an ended process.
func processNotice(p Process, output string, truncated bool) string {
	var b strings.Builder
	b.Grow(len(output) + len(p.Command) + 100)
	fmt.Fprintf(&b, "Command: %s\n", p.Command)
	if !p.StartedAt.IsZero() && !p.EndedAt.IsZero() {
		fmt.Fprintf(&b, "Ran for %s.\n", p.EndedAt.Sub(p.StartedAt).Round(10*time.Millisecond))
	}
	if p.Signal != "" {
		fmt.Fprintf(&b, "Ended by signal %s.\n", p.Signal)
	}
	if p.Kill != "" {
		fmt.Fprintf(&b, "Killed: %s.\n", p.Kill)
	}
	if p.Detail != "" {
		b.WriteString(p.Detail + "\n")
	}
	if p.HandedOff != "" {
		fmt.Fprintf(&b, "handed off by subagent %s: %s\n", p.HandedOff, p.Purpose)
	}
	switch {
	case strings.TrimSpace(output) == "":
		b.WriteString("It printed nothing.")
	case truncated:
		b.WriteString("Output (shortened; process_manage log has more):\n" + output)
	default:
		b.WriteString("Output:\n" + output)
	}
	return b.String()
}

// receipt is the line that a chat sees of an ended process. With attribution it is about a child's.
func receipt(p Process, mode ReceiptMode) string {
	failed := failedProcess(p)
	if p.Child != nil && mode == ReceiptOff {
		mode = ReceiptConcise // the child switch decides whether, the mode only how long
	}
	if mode == ReceiptOff || mode == ReceiptError && !failed {
		return ""
	}
	var b strings.Builder
	sign := "✔"
	if failed {
		sign = "✖"
	}
	if p.Rehearsal {
		b.WriteString(selftestMark)
	}
	fmt.Fprintf(&b, "%s `%s` %s", sign, oneLine(p.Command, 80), statusOf(p))
	if !p.StartedAt.IsZero() && !p.EndedAt.IsZero() {
		fmt.Fprintf(&b, " after %s", p.EndedAt.Sub(p.StartedAt).Round(100*time.Millisecond))
	}
	fmt.Fprintf(&b, " (%s)", p.ID)
	if p.Child != nil {
		fmt.Fprintf(&b, " — started by subagent %s (%s): %s", p.Child.Subagent, p.Child.Delegation, oneLine(p.Child.Goal, 200))
	}
	if p.HandedOff != "" {
		fmt.Fprintf(&b, " — handed off by subagent %s: %s", p.HandedOff, oneLine(p.Purpose, 200))
	}
	if tail := strings.TrimSpace(p.Tail); tail != "" && (mode == ReceiptResult || failed) {
		b.WriteString("\n```\n" + strings.ReplaceAll(tail, "```", "'''") + "\n```")
	}
	return b.String()
}

// oneLine is a text on one line, shortened.
func oneLine(s string, most int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
