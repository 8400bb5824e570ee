package view

import (
	"cmp"
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
//
// It is found by the links that the records themselves carry. Neither the journal nor any list is searched, so that what it
// costs depends on the chain alone, however much the store holds.
type Trace struct {
	Common
	Summary   string `json:"summary"` // in one sentence, for people
	Steps     []Step `json:"steps"`
	Truncated bool   `json:"truncated,omitempty"` // the chain is longer than what is shown
}

// Step is one record on the chain.
type Step struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind"`
	State   string    `json:"state"`
	Title   string    `json:"title"` // in plain words
	At      time.Time `json:"at"`
	EndedAt time.Time `json:"ended_at,omitzero"`
	After   float64   `json:"after_seconds"`          // since the chain began; a conversation may be older
	Took    float64   `json:"took_seconds,omitempty"` // from its beginning to its end
	Why     []string  `json:"why,omitempty"`          // in words: the walk, the proof, the attempts
	Causes  []string  `json:"causes,omitempty"`       // ids

	said string // how a summary of the trace says it
}

// The kinds of steps beside those of sessions.
const (
	stepText       = "text" // what a person wrote
	stepTurn       = "turn"
	stepAction     = "action"
	stepDelegation = "delegation"
	stepProcess    = "process"
	stepCompletion = "completion"
	stepMessage    = "message"
)

// maxSteps bounds a trace: a chain is followed, not a history.
const maxSteps = 200

// node is a step with what leads to it and what follows from it.
type node struct {
	step    Step
	profile string
	texts   []Step // of the people who asked
	up      []string
	down    []string
}

// TraceOf follows the chain of an id, which may be abbreviated.
func TraceOf(db *store.DB, typed string) (Trace, error) {
	full, err := Find(db, typed)
	if err != nil {
		return Trace{}, err
	}
	root, _, err := look(db, full)
	if err != nil {
		return Trace{}, err
	}
	t := Trace{Common: Common{
		ID: full, State: root.step.State, Profile: root.profile, Kind: root.step.Kind, CreatedAt: root.step.At, UpdatedAt: root.step.At,
	}}
	if !root.step.EndedAt.IsZero() {
		t.UpdatedAt = root.step.EndedAt
	}
	seen := map[string]bool{}
	var follow func(key string, down bool) error
	follow = func(key string, down bool) error {
		if key == "" || seen[key] {
			return nil
		}
		if len(t.Steps) >= maxSteps {
			t.Truncated = true
			return nil
		}
		n, ok, err := look(db, key)
		if err != nil || !ok {
			return err
		}
		seen[key] = true
		n.step.Causes = slices.Compact(slices.DeleteFunc(slices.Clone(n.up), func(s string) bool { return s == "" }))
		t.Steps = append(append(t.Steps, n.texts...), n.step)
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
	for _, k := range root.up {
		if err := follow(k, false); err != nil {
			return t, err
		}
	}
	t.order()
	t.Summary = t.summary()
	return t, nil
}

// order sorts the steps by time and measures them.
func (t *Trace) order() {
	slices.SortStableFunc(t.Steps, func(a, b Step) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.rank(), b.rank()), strings.Compare(made(a.ID), made(b.ID)))
	})
	began := t.began()
	for i := range t.Steps {
		s := &t.Steps[i]
		s.After = seconds(s.At.Sub(began))
		if !s.EndedAt.IsZero() {
			s.Took = seconds(s.EndedAt.Sub(s.At))
		}
	}
}

// began is when the first thing on the chain happened. A conversation is where things happen, unless it is what was asked for.
func (t *Trace) began() time.Time {
	for _, s := range t.Steps {
		if !s.conversation() || s.ID == t.ID {
			return s.At
		}
	}
	return t.CreatedAt
}

// rank orders what happened in the same moment: where, what a person said, and then one out of the other.
func (s Step) rank() int {
	switch {
	case s.conversation():
		return 0
	case s.Kind == stepText:
		return 1
	}
	return 2
}

// made is the part of an id that sorts in the order in which they were made.
func made(key string) string {
	_, ulid, _ := strings.Cut(key, "_")
	return ulid
}

func (s Step) conversation() bool {
	return s.Kind == string(session.Chat) || s.Kind == string(session.API)
}

func seconds(d time.Duration) float64 { return float64(d.Milliseconds()) / 1000 }

// look reads one record and says what it is connected with.
func look(db *store.DB, key string) (node, bool, error) {
	prefix, _, _ := strings.Cut(key, "_")
	switch prefix + "_" {
	case id.PrefixSession, id.PrefixSubagent:
		return lookSession(db, key)
	case id.PrefixTurn:
		return lookTurn(db, key)
	case id.PrefixAction:
		a, ok, err := store.Get[machine.Action](db, machine.Actions, key)
		return node{
			step: Step{
				ID: key, Kind: stepAction, State: string(a.State), At: a.CreatedAt, EndedAt: ended(a.State.Ended(), a.UpdatedAt), Title: "The agent called the tool " + a.Call.Name,
				Why: []string{a.Call.Name + " " + a.Call.Arguments},
			},
			profile: a.Profile, up: []string{string(a.Turn)}, down: []string{string(a.Process), string(a.Delegation)},
		}, ok, err
	case id.PrefixDelegation:
		return lookDelegation(db, key)
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
	n := node{step: Step{ID: key, Kind: string(s.Kind), State: "live", At: s.CreatedAt, EndedAt: s.EndedAt}, profile: s.Profile}
	if s.Ended() {
		n.step.State = "ended: " + string(s.EndReason)
	}
	if l.Summaries > 0 {
		n.step.Why = append(n.step.Why, fmt.Sprintf("summed up %d time(s)", l.Summaries))
	}
	if s.DelegateFrom != "" {
		n.step.Title = "A subagent began: " + quoted(s.Title)
		n.step.Why = append(n.step.Why, "delegated by "+string(s.DelegateFrom)+": what it starts belongs to the conversation that this leads to")
		n.up = []string{string(s.Delegation)}
		n.down = []string{string(l.Last), string(l.Turn)}
		return n, true, err
	}
	n.step.Title = "The conversation " + quoted(s.Title)
	n.down = append(strs(slices.Concat(l.Kept, l.Inbox, l.Overflow)), string(l.Last), string(l.Turn))
	if s.Key != "" {
		place := "in the place " + string(s.Key)
		if r, ok := (committed{db}).Route(s.Key); ok && r.Current == s.ID {
			place += fmt.Sprintf(", which is in it now (route version %d)", r.Version)
		} else if ok {
			place += fmt.Sprintf(", which is in %s now (route version %d)", orNone(string(r.Current)), r.Version)
		}
		n.step.Why = append(n.step.Why, place)
	}
	if s.Ended() {
		n.step.Why = append(n.step.Why, endWords(s.EndReason))
	}
	return n, true, err
}

func lookTurn(db *store.DB, key string) (node, bool, error) {
	t, ok, err := store.Get[machine.Turn](db, machine.Turns, key)
	if err != nil || !ok {
		return node{}, ok, err
	}
	n := node{
		step:    Step{ID: key, Kind: stepTurn, State: string(t.State), At: t.CreatedAt, EndedAt: t.EndedAt, Title: turnWords(t)},
		profile: t.Profile, up: append(strs(t.Bound), string(t.Session)), down: slices.Concat(strs(t.Delegated), strs(t.Processes), strs(t.Outgoing)),
	}
	n.step.Why = append(n.step.Why, fmt.Sprintf("turn %d of %s, %d model calls", t.No, t.Session, t.Calls))
	if len(t.Events) > 0 {
		n.step.Why = append(n.step.Why, "answers the message(s) "+strings.Join(t.Events, ", "))
	}
	if t.Crashes > 0 {
		n.step.Why = append(n.step.Why, fmt.Sprintf("the daemon ended %d times in a row at its present step", t.Crashes))
	}
	for _, why := range []string{t.Detail, t.Reason} {
		if why != "" {
			n.step.Why = append(n.step.Why, why)
		}
	}
	if t.Session.IsSubagent() {
		return n, true, nil
	}
	asked, err := opening(db, t)
	for _, e := range asked {
		begins, within := "The person", "the person"
		if e.Speaker != "" {
			begins, within = e.Speaker, e.Speaker
		}
		n.texts = append(n.texts, Step{
			ID: fmt.Sprintf("%s.%d", e.Session, e.Seq), Kind: stepText, State: "taken", At: e.At, Title: begins + " wrote: " + quoted(e.Said(mediaFolder)),
			said: within + " had written " + quoted(e.Said(mediaFolder)),
		})
	}
	return n, true, err
}

// maxOpening bounds how many notices and texts of a turn are looked at.
const maxOpening = 64

// opening returns what people had written when a turn began.
func opening(db *store.DB, t machine.Turn) (texts []machine.Entry, err error) {
	if t.From == 0 || t.Texts == 0 {
		return nil, nil
	}
	entries, err := db.SomeEntries(t.Session, t.From, maxOpening)
	for _, e := range entries {
		switch e.Kind {
		case machine.EntryUser:
			texts = append(texts, e)
		case machine.EntryNotice, machine.EntrySummary:
		default: // from here on the agent acts
			return texts, err
		}
	}
	return texts, err
}

// asked goes back from a turn to what people had written when they asked for the work that led to it.
func asked(db *store.DB, turn id.Turn) ([]machine.Entry, error) {
	for range 2 * session.MaxHops {
		t, ok, err := store.Get[machine.Turn](db, machine.Turns, string(turn))
		if err != nil || !ok {
			return nil, err
		}
		if t.Session.IsSubagent() {
			s, _ := (committed{db}).Session(t.Session)
			d, _, err := store.Get[machine.Delegation](db, machine.Delegations, string(s.Delegation))
			if err != nil {
				return nil, err
			}
			turn = d.Turn
			continue
		}
		if texts, err := opening(db, t); err != nil || len(texts) > 0 {
			return texts, err
		}
		if len(t.Bound) == 0 {
			return nil, nil
		}
		c, _, err := store.Get[delivery.Completion](db, machine.Completions, string(t.Bound[0]))
		if err != nil {
			return nil, err
		}
		turn = c.Origin
	}
	return nil, nil
}

func lookDelegation(db *store.DB, key string) (node, bool, error) {
	d, ok, err := store.Get[machine.Delegation](db, machine.Delegations, key)
	n := node{
		step:    Step{ID: key, Kind: stepDelegation, State: string(d.State), At: d.CreatedAt, EndedAt: d.EndedAt, Title: delegationWords(d)},
		profile: d.Profile, up: []string{string(d.Turn), string(d.Session)}, down: []string{string(d.Completion)},
	}
	for _, c := range d.Children {
		n.step.Why = append(n.step.Why, fmt.Sprintf("%s %s: %s", c.Session, c.State, c.Goal))
		if c.Report != nil && c.Report.Error != "" {
			n.step.Why = append(n.step.Why, c.Report.Error)
		}
		n.down = append(n.down, string(c.Session))
	}
	if d.Selftest != nil {
		n.step.Why = append(n.step.Why, "a self-test, ordered with /selftest: a script plays it, and no model is asked")
		n.down = append(n.down, string(d.Selftest.Report))
	}
	return n, ok, err
}

func lookProcess(db *store.DB, key string) (node, bool, error) {
	p, ok, err := store.Get[machine.Process](db, machine.Processes, key)
	n := node{
		step:    Step{ID: key, Kind: stepProcess, State: string(p.State), At: p.CreatedAt, EndedAt: p.EndedAt, Title: processWords(p), Why: []string{p.Command}},
		profile: p.Profile, up: []string{string(p.Turn)}, down: []string{string(p.Completion)},
	}
	if p.StartedBy != p.Owner {
		n.step.Why = append(n.step.Why, fmt.Sprintf("started by %s, now of %s", p.StartedBy, p.Owner))
	}
	if p.Kill != "" {
		n.step.Why = append(n.step.Why, "killed: "+p.Kill)
	}
	if p.Detail != "" {
		n.step.Why = append(n.step.Why, p.Detail)
	}
	if p.HandedOff != "" {
		n.step.Why = append(n.step.Why, fmt.Sprintf("handed off by %s to %s: %s", p.HandedOff, p.Owner, p.Purpose))
	}
	return n, ok, err
}

// ended is when something that is over ended; what goes on has no end yet.
func ended(over bool, at time.Time) time.Time {
	if !over {
		return time.Time{}
	}
	return at
}

func lookCompletion(db *store.DB, key string) (node, bool, error) {
	c, ok, err := store.Get[delivery.Completion](db, machine.Completions, key)
	if err != nil || !ok {
		return node{}, ok, err
	}
	what, _, err := subject(db, c)
	fate := fateWords(c)
	said := fate
	if c.State == delivery.Done {
		fate = "done: " + said
	}
	n := node{
		step: Step{
			ID: key, Kind: stepCompletion, State: string(c.State), At: c.CreatedAt,
			EndedAt: ended(c.State == delivery.Done || c.State == delivery.Dead, c.UpdatedAt), Title: "The result was there: " + what,
			said: upper(what) + ": " + said,
			Why:  slices.Concat([]string{fmt.Sprintf("%s %s %s", c.Kind, c.Subject, c.Status)}, walk(c), []string{fate}),
		},
		profile: c.Profile, up: []string{c.Subject, string(c.Origin)}, down: []string{string(c.Message), string(c.Turn)},
	}
	if c.Reason != "" {
		n.step.State += ": " + c.Reason
	}
	return n, ok, err
}

func lookOutgoing(db *store.DB, key string) (node, bool, error) {
	m, ok, err := store.Get[delivery.Outgoing](db, machine.Outgoings, key)
	n := node{
		step:    Step{ID: key, Kind: stepMessage, State: string(m.State), At: m.CreatedAt, EndedAt: m.UpdatedAt, Title: messageWords(m)},
		profile: m.Profile, up: []string{string(m.Turn)},
	}
	if m.Reason != "" {
		n.step.State += ": " + m.Reason
	}
	if strings.HasPrefix(m.Cause, id.PrefixCompletion) {
		n.up = append(n.up, m.Cause)
	}
	if m.State == delivery.Queued || m.State == delivery.Sending { // not over
		n.step.EndedAt = time.Time{}
	}
	to := fmt.Sprintf("to %s %s", m.To.Platform, m.To.Chat)
	if m.To.Thread != "" {
		to += " thread " + m.To.Thread
	}
	n.step.Why = append(n.step.Why, fmt.Sprintf("%s; tried %d time(s), %d failed", to, m.Tries, m.Attempts+m.Waits))
	if m.State == delivery.Queued && m.NextAt.After(m.UpdatedAt) {
		n.step.Why = append(n.step.Why, "next try at "+m.NextAt.Local().Format("15:04:05"))
	}
	for i, p := range m.Parts {
		line := fmt.Sprintf("part %d %s", i+1, p.State)
		if p.MessageID != "" {
			line += ", platform message " + p.MessageID
		}
		if p.Plain {
			line += ", as plain text"
		}
		if p.Marked {
			line += ", marked as a possible duplicate"
		}
		n.step.Why = append(n.step.Why, line)
	}
	if m.Detail != "" {
		n.step.Why = append(n.step.Why, "the platform said: "+m.Detail)
	}
	n.step.Why = append(n.step.Why, quoted(m.Text))
	return n, ok, err
}

// walk says in words whose a completion is, and how that was found.
func walk(c delivery.Completion) []string {
	v := c.Verdict
	hops := make([]string, 0, len(v.Path))
	for _, h := range v.Path {
		hops = append(hops, string(h.Session))
	}
	out := []string{fmt.Sprintf("pin %s: where the work was started", c.Pin)}
	path := "walk " + strings.Join(hops, " → ")
	switch v.Outcome {
	case session.Deliver:
		out = append(out, fmt.Sprintf("%s: the owner is %s", path, v.Owner))
		if v.Key != "" {
			out = append(out, fmt.Sprintf("proof: the place %s was in that conversation (route version %d)", v.Key, v.Version))
		}
	case session.Terminal:
		why := fmt.Sprintf("%s: stopped at %s: %s", path, v.At, reasonWords(string(v.Reason)))
		if v.End != "" {
			why += fmt.Sprintf(" (%s: %s)", v.End, endWords(v.End))
		}
		out = append(out, why)
	default:
		out = append(out, "not walked yet")
	}
	return out
}

func strs[T ~string](list []T) []string {
	out := make([]string, 0, len(list))
	for _, x := range list {
		out = append(out, string(x))
	}
	return out
}
