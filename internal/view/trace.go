package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
	"github.com/homing-gateway/homing/internal/store"
)

// Trace is the causal chain around one id: what caused it, and what it caused, in the order of time.
type Trace struct {
	ID    string `json:"id"`
	Steps []Step `json:"steps"`
}

// Step is one record on the chain.
type Step struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind"`
	State   string    `json:"state"`
	At      time.Time `json:"at"`
	EndedAt time.Time `json:"ended_at,omitzero"`
	Why     []string  `json:"why,omitempty"`    // in words: the walk, the proof, the attempts
	Causes  []string  `json:"causes,omitempty"` // ids
}

// maxSteps bounds a trace: a chain is followed, not a history.
const maxSteps = 200

// node is a step with what leads to it and what follows from it.
type node struct {
	step Step
	up   []string
	down []string
}

// TraceOf follows the chain of an id, which may be abbreviated.
func TraceOf(db *store.DB, typed string) (Trace, error) {
	full, err := Find(db, typed)
	if err != nil {
		return Trace{}, err
	}
	t := Trace{ID: full}
	seen := map[string]bool{}
	var follow func(key string, down bool) error
	follow = func(key string, down bool) error {
		if key == "" || seen[key] || len(t.Steps) >= maxSteps {
			return nil
		}
		n, ok, err := look(db, key)
		if err != nil || !ok {
			return err
		}
		seen[key] = true
		n.step.Causes = slices.Compact(slices.DeleteFunc(slices.Clone(n.up), func(s string) bool { return s == "" }))
		t.Steps = append(t.Steps, n.step)
		next := n.up
		if down {
			next = n.down
		}
		for _, k := range next {
			if err := follow(k, down); err != nil {
				return err
			}
		}
		return nil
	}
	if err := follow(full, true); err != nil {
		return t, err
	}
	n, _, err := look(db, full)
	if err != nil {
		return t, err
	}
	for _, k := range n.up {
		if err := follow(k, false); err != nil {
			return t, err
		}
	}
	slices.SortStableFunc(t.Steps, func(a, b Step) int { return a.At.Compare(b.At) })
	return t, nil
}

// look reads one record and says what it is connected with.
func look(db *store.DB, key string) (node, bool, error) {
	prefix, _, _ := strings.Cut(key, "_")
	switch prefix + "_" {
	case id.PrefixSession, id.PrefixSubagent:
		return lookSession(db, key)
	case id.PrefixTurn:
		t, ok, err := store.Get[machine.Turn](db, machine.Turns, key)
		n := node{step: Step{ID: key, Kind: "turn", State: string(t.State), At: t.CreatedAt, EndedAt: t.EndedAt}}
		n.step.Why = append(n.step.Why, fmt.Sprintf("turn %d of %s, %d model calls", t.No, t.Session, t.Calls))
		if len(t.Events) > 0 {
			n.step.Why = append(n.step.Why, "answers the message(s) "+strings.Join(t.Events, ", "))
		}
		if t.Reason != "" {
			n.step.Why = append(n.step.Why, t.Reason)
		}
		n.up = append(strs(t.Bound), string(t.Session))
		n.down = slices.Concat(strs(t.Delegated), strs(t.Processes), strs(t.Outgoing))
		return n, ok, err
	case id.PrefixAction:
		a, ok, err := store.Get[machine.Action](db, machine.Actions, key)
		n := node{
			step: Step{ID: key, Kind: "action", State: string(a.State), At: a.CreatedAt, EndedAt: a.UpdatedAt, Why: []string{a.Call.Name + " " + a.Call.Arguments}},
			up:   []string{string(a.Turn)}, down: []string{string(a.Process), string(a.Delegation)},
		}
		return n, ok, err
	case id.PrefixDelegation:
		d, ok, err := store.Get[machine.Delegation](db, machine.Delegations, key)
		n := node{
			step: Step{ID: key, Kind: "delegation", State: string(d.State), At: d.CreatedAt, EndedAt: d.EndedAt}, up: []string{string(d.Turn), string(d.Session)},
			down: []string{string(d.Completion)},
		}
		for _, c := range d.Children {
			n.step.Why = append(n.step.Why, fmt.Sprintf("%s %s: %s", c.Session, c.State, c.Goal))
			n.down = append(n.down, string(c.Session))
		}
		return n, ok, err
	case id.PrefixProcess:
		return lookProcess(db, key)
	case id.PrefixCompletion:
		return lookCompletion(db, key)
	case id.PrefixOutgoing:
		return lookOutgoing(db, key)
	}
	return node{}, false, nil
}

func lookSession(db *store.DB, key string) (node, bool, error) {
	s, ok, err := store.Get[session.Session](db, machine.Sessions, key)
	if err != nil || !ok {
		return node{}, ok, err
	}
	l, _, err := store.Get[machine.Lane](db, machine.Lanes, key)
	n := node{step: Step{ID: key, Kind: string(s.Kind), State: "live", At: s.CreatedAt, EndedAt: s.EndedAt}}
	if s.Ended() {
		n.step.State = "ended: " + string(s.EndReason)
	}
	if s.Title != "" {
		n.step.Why = append(n.step.Why, s.Title)
	}
	if l.Summaries > 0 {
		n.step.Why = append(n.step.Why, fmt.Sprintf("summed up %d time(s)", l.Summaries))
	}
	if s.DelegateFrom != "" {
		n.step.Why = append(n.step.Why, "delegated by "+string(s.DelegateFrom))
		n.up = []string{string(s.Delegation)}
		n.down = []string{string(l.Last), string(l.Turn)}
	} else {
		n.step.Why = append(n.step.Why, "in the place "+string(s.Key))
	}
	return n, true, err
}

func lookProcess(db *store.DB, key string) (node, bool, error) {
	p, ok, err := store.Get[machine.Process](db, machine.Processes, key)
	n := node{
		step: Step{ID: key, Kind: "process", State: string(p.State), At: p.CreatedAt, EndedAt: p.EndedAt, Why: []string{p.Command}},
		up:   []string{string(p.Turn)}, down: []string{string(p.Completion)},
	}
	if p.ExitCode != nil {
		n.step.Why = append(n.step.Why, fmt.Sprintf("exit code %d", *p.ExitCode))
	}
	if p.Kill != "" {
		n.step.Why = append(n.step.Why, "killed: "+p.Kill)
	}
	if p.HandedOff != "" {
		n.step.Why = append(n.step.Why, fmt.Sprintf("handed off by %s to %s: %s", p.HandedOff, p.Owner, p.Purpose))
	}
	return n, ok, err
}

func lookCompletion(db *store.DB, key string) (node, bool, error) {
	c, ok, err := store.Get[delivery.Completion](db, machine.Completions, key)
	n := node{
		step: Step{ID: key, Kind: "completion", State: string(c.State), At: c.CreatedAt, EndedAt: c.UpdatedAt},
		up:   []string{c.Subject, string(c.Origin)}, down: []string{string(c.Turn)},
	}
	if c.Reason != "" {
		n.step.State += ": " + c.Reason
	}
	n.step.Why = append(n.step.Why, fmt.Sprintf("%s %s %s", c.Kind, c.Subject, c.Status), "pin "+string(c.Pin), Walk(c.Verdict))
	return n, ok, err
}

func lookOutgoing(db *store.DB, key string) (node, bool, error) {
	m, ok, err := store.Get[delivery.Outgoing](db, machine.Outgoings, key)
	n := node{
		step: Step{ID: key, Kind: "message", State: string(m.State), At: m.CreatedAt, EndedAt: m.UpdatedAt},
		up:   []string{string(m.Turn)},
	}
	if strings.HasPrefix(m.Cause, id.PrefixCompletion) {
		n.up = append(n.up, m.Cause)
	}
	to := fmt.Sprintf("to %s %s", m.To.Platform, m.To.Chat)
	if m.To.Thread != "" {
		to += " thread " + m.To.Thread
	}
	n.step.Why = append(n.step.Why, fmt.Sprintf("%s, %d attempt(s) that failed", to, m.Attempts))
	for i, p := range m.Parts {
		line := fmt.Sprintf("part %d %s", i+1, p.State)
		if p.MessageID != "" {
			line += ", platform message " + p.MessageID
		}
		if p.Marked {
			line += ", marked as a possible duplicate"
		}
		n.step.Why = append(n.step.Why, line)
	}
	if m.Detail != "" {
		n.step.Why = append(n.step.Why, m.Detail)
	}
	return n, ok, err
}

// Walk says a verdict in words.
func Walk(v session.Verdict) string {
	hops := make([]string, 0, len(v.Path))
	for _, h := range v.Path {
		hops = append(hops, string(h.Session))
	}
	walk := "walked " + strings.Join(hops, " → ")
	switch v.Outcome {
	case session.Deliver:
		text := fmt.Sprintf("%s: owner %s", walk, v.Owner)
		if v.Key != "" {
			text += fmt.Sprintf(", which the route %s names (version %d)", v.Key, v.Version)
		}
		return text
	case session.Terminal:
		text := fmt.Sprintf("%s: %s at %s", walk, v.Reason, v.At)
		if v.End != "" {
			text += fmt.Sprintf(" (%s)", v.End)
		}
		return text
	}
	return "not walked yet"
}

// Text is the trace for people.
func (t Trace) Text() string {
	var b strings.Builder
	for _, s := range t.Steps {
		mark := "  "
		if s.ID == t.ID {
			mark = "▸ "
		}
		fmt.Fprintf(&b, "%s%s  %s %s  %s", mark, s.At.Format("15:04:05.000"), s.Kind, s.ID, s.State)
		if !s.EndedAt.IsZero() && s.EndedAt.Sub(s.At) >= time.Millisecond {
			fmt.Fprintf(&b, " after %s", s.EndedAt.Sub(s.At).Round(time.Millisecond))
		}
		for _, w := range s.Why {
			fmt.Fprintf(&b, "\n      %s", strings.ReplaceAll(w, "\n", " "))
		}
		b.WriteString("\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

func strs[T ~string](list []T) []string {
	out := make([]string, 0, len(list))
	for _, x := range list {
		out = append(out, string(x))
	}
	return out
}
