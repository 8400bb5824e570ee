package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/homing-gateway/homing/internal/view"
)

// What show prints for people; for programs there is --json.

func printSession(s view.Session) {
	fmt.Printf("%s  %s %s\n", s.ID, s.Kind, s.State)
	if s.EndReason != "" {
		fmt.Printf("  ended %s: %s\n", s.EndedAt.Local().Format(time.RFC3339), s.EndReason)
	}
	if s.Route != "" {
		fmt.Printf("  route %s (version %d)\n", s.Route, s.RouteVersion)
	}
	if s.Parent != "" {
		fmt.Printf("  goes on from %s\n", s.Parent)
	}
	if s.Summaries > 0 {
		fmt.Printf("  summed up %d time(s)\n", s.Summaries)
	}
	fmt.Printf("  owner %s, walked %s\n", s.Owner, strings.Join(s.Path, " → "))
	for _, e := range s.Entries {
		fmt.Printf("\n[%s] %s", e.CreatedAt.Local().Format("15:04:05"), e.Kind)
		if e.Tool != "" {
			fmt.Printf(" %s", e.Tool)
		}
		if e.SetAside {
			fmt.Print(" (set aside)")
		}
		fmt.Println()
		if e.Content != "" {
			fmt.Println("  " + strings.ReplaceAll(e.Content, "\n", "\n  "))
		}
		for _, c := range e.Calls {
			fmt.Println("  → " + c)
		}
	}
}

func printQueued(q view.QueueEntry) {
	fmt.Printf("%s  %s %s\n", q.ID, q.Kind, stateOf(q.Common))
	printTimes(q.Common)
	line := func(words string, v ...string) {
		if text := strings.Join(v, " "); strings.TrimSpace(text) != "" {
			fmt.Printf("  %s %s\n", words, text)
		}
	}
	line("about", q.Subject, q.Status)
	line("place", q.Route)
	if q.Queue == "outgoing" {
		line("of session", q.Session)
		fmt.Printf("  %d failed attempt(s)", q.Attempts)
		if q.NextAt != nil {
			fmt.Printf(", the next at %s", q.NextAt.Local().Format(time.RFC3339))
		}
		fmt.Println()
	}
	line("pin", q.Pin)
	if q.Owner != "" {
		fmt.Printf("  owner %s, walked %s, route version %d\n", q.Owner, strings.Join(q.Path, " → "), q.Version)
	}
	line("kept with", q.Kept)
	line("turn", q.Turn)
	line("from turn", q.Origin)
	line("because of", q.Cause)
	line("refused as", q.Class)
	line("in words:", q.Detail)
	for i, p := range q.Parts {
		fmt.Printf("  part %d %s", i+1, p.State)
		if p.MessageID != "" {
			fmt.Printf(", platform message %s", p.MessageID)
		}
		if p.Marked {
			fmt.Print(", marked as recovered")
		}
		fmt.Println()
	}
	if q.Text != "" {
		fmt.Println("\n  " + strings.ReplaceAll(q.Text, "\n", "\n  "))
	}
}

func printDelegation(d view.Delegation) {
	fmt.Printf("%s  %s\n", d.ID, stateOf(d.Common))
	printTimes(d.Common)
	how := "waited for"
	if d.Background {
		how = "in the background"
	}
	fmt.Printf("  for %s, by turn %s, %s\n", d.Session, d.Turn, how)
	if d.Completion != "" {
		fmt.Printf("  its result is %s\n", d.Completion)
	}
	for _, s := range d.Subagents {
		fmt.Printf("\n  %s  %s, %d model call(s)\n  goal: %s\n", s.SubagentID, s.State, s.ModelCalls, strings.ReplaceAll(s.Goal, "\n", "\n    "))
		for _, p := range s.HandedOff {
			fmt.Printf("  handed off %s\n", p)
		}
		for _, p := range s.Orphaned {
			fmt.Printf("  left running, and killed: %s\n", p)
		}
		if s.Error != "" {
			fmt.Printf("  error: %s\n", s.Error)
		}
		if s.Summary != "" {
			fmt.Println("  " + strings.ReplaceAll(s.Summary, "\n", "\n  "))
		}
	}
}

func stateOf(c view.Common) string {
	if c.Reason == view.ReasonNotServed {
		return c.State + ": its platform is not served"
	}
	if c.Reason != "" {
		return c.State + ": " + c.Reason
	}
	return c.State
}

func printTimes(c view.Common) {
	fmt.Printf("  made %s, changed %s\n", c.CreatedAt.Local().Format(time.RFC3339), c.UpdatedAt.Local().Format(time.RFC3339))
}
