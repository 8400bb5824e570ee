package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
	"github.com/homing-gateway/homing/internal/store"
)

// Selftest is what the store holds of a self-test: the evidence that it is judged by. It is a value; Checks only reads it.
type Selftest struct {
	Delegation   machine.Delegation
	Conversation session.Session // that it was ordered in
	Route        session.Route   // of the place
	Children     []session.Session
	Processes    []machine.Process
	Completions  []delivery.Completion // whatever tells of the delegation or of one of the processes
	Messages     []delivery.Outgoing   // whatever tells of one of the completions
}

// Check is one thing that a self-test holds the gateway to.
type Check struct {
	Held     bool
	Open     bool   // what it is about was not played to its end: nothing can be said yet
	What     string // that is to hold
	Evidence string // ids, as found
	Look     string // the id to trace when it does not hold
}

// selftestOf reads what belongs to a self-test by the links of its records.
func selftestOf(db *store.DB, did id.Delegation) (s Selftest, err error) {
	s.Delegation, _, err = store.Get[machine.Delegation](db, machine.Delegations, string(did))
	if err != nil {
		return s, err
	}
	if s.Delegation.Selftest == nil {
		return s, fmt.Errorf("self-test %s: %w", did, ErrNotFound)
	}
	s.Conversation, _ = committed{db}.Session(s.Delegation.Session)
	s.Route, _ = committed{db}.Route(s.Delegation.Selftest.Key)
	told := []id.Completion{s.Delegation.Completion}
	for _, c := range s.Delegation.Children {
		child, _ := committed{db}.Session(c.Session)
		s.Children = append(s.Children, child)
		l, _, err := store.Get[machine.Lane](db, machine.Lanes, string(c.Session))
		if err != nil {
			return s, err
		}
		for _, tid := range []id.Turn{l.Last, l.Turn} {
			t, _, err := store.Get[machine.Turn](db, machine.Turns, string(tid))
			if err != nil {
				return s, err
			}
			for _, pid := range t.Processes {
				p, _, err := store.Get[machine.Process](db, machine.Processes, string(pid))
				if err != nil {
					return s, err
				}
				s.Processes = append(s.Processes, p)
				told = append(told, p.Completion)
			}
		}
	}
	for _, cid := range told {
		c, ok, err := store.Get[delivery.Completion](db, machine.Completions, string(cid))
		if err != nil {
			return s, err
		}
		if !ok {
			continue
		}
		s.Completions = append(s.Completions, c)
		if m, ok, err := store.Get[delivery.Outgoing](db, machine.Outgoings, string(c.Message)); err != nil {
			return s, err
		} else if ok {
			s.Messages = append(s.Messages, m)
		}
	}
	return s, nil
}

// SelftestOver tells whether nothing more is to come of a self-test.
func SelftestOver(db *store.DB, did id.Delegation) (bool, error) {
	s, err := selftestOf(db, did)
	return err == nil && s.over(), err
}

func (s Selftest) over() bool {
	if s.Delegation.State == machine.DelegationRunning {
		return false
	}
	if s.Delegation.State != machine.DelegationCompleted || s.left() != "" {
		return true
	}
	for _, p := range s.Processes {
		if !p.State.Ended() {
			return false
		}
	}
	for _, m := range s.Messages {
		if !m.Finished() {
			return false
		}
	}
	return true
}

// SelftestOf reads the evidence of a self-test. It does not rely on the links alone: whatever else was made since it began
// and tells of the same is evidence as well.
func SelftestOf(db *store.DB, did id.Delegation) (Selftest, error) {
	s, err := selftestOf(db, did)
	if err != nil {
		return s, err
	}
	subjects := map[string]bool{string(did): true}
	for _, p := range s.Processes {
		subjects[string(p.ID)] = true
	}
	s.Completions, err = since(db, machine.Completions, id.PrefixCompletion, did, func(c delivery.Completion) bool { return subjects[c.Subject] })
	if err != nil {
		return s, err
	}
	causes := map[string]bool{}
	for _, c := range s.Completions {
		causes[string(c.ID)] = true
	}
	s.Messages, err = since(db, machine.Outgoings, id.PrefixOutgoing, did, func(m delivery.Outgoing) bool { return causes[m.Cause] })
	return s, err
}

// since reads what was made after a delegation, of what lives and of what is over.
func since[T any](db *store.DB, t machine.Table, prefix string, did id.Delegation, keep func(T) bool) ([]T, error) {
	return store.Ever(db, t, prefix, prefix+made(string(did)), keep)
}

// left says how a person left the conversation while the test ran, empty when nobody did. A subagent in the place is not
// that, however it came there.
func (s Selftest) left() string {
	if !s.Conversation.Ended() || s.Conversation.EndReason.OfChild() || s.taken() {
		return ""
	}
	return endWords(s.Conversation.EndReason)
}

// taken tells whether a subagent sits in the place.
func (s Selftest) taken() bool {
	return s.Route.Current.IsSubagent() || slices.ContainsFunc(s.Children, func(c session.Session) bool { return c.ID == s.Route.Current })
}

// Checks judges the evidence.
func (s Selftest) Checks() []Check {
	d, test := s.Delegation, *s.Delegation.Selftest
	checks := []Check{
		{
			Held: s.Route.Current == d.Session && s.Route.Key == test.Key, What: "the place is in your conversation, as before",
			Evidence: orNone(string(s.Route.Current)), Look: string(d.Session),
		},
		{
			Held: s.Route.Version == test.Version, What: "its route was not touched",
			Evidence: fmt.Sprintf("version %d before, %d now", test.Version, s.Route.Version), Look: string(d.Session),
		},
		{
			Held: s.Conversation.ID == d.Session && !s.Conversation.Ended() && s.Conversation.Epoch == test.Epoch && s.Conversation.HumanFacing(),
			What: "your conversation lives, and never ended meanwhile", Evidence: lives(s.Conversation), Look: string(d.Session),
		},
		s.subagent(),
	}
	return append(checks,
		s.process("a command that ended while the subagent worked came home", func(p machine.Process) bool { return p.HandedOff == "" && p.Kill == "" }),
		s.process("a command that was handed over came home", func(p machine.Process) bool { return p.HandedOff != "" }),
		s.orphan(), s.home("the subagent's result came home", string(d.ID), d.Session, []id.Session{d.Session}), s.quiet())
}

// lives says how a session stands.
func lives(s session.Session) string {
	if s.Ended() {
		return fmt.Sprintf("%s ended: %s, epoch %d", s.ID, s.EndReason, s.Epoch)
	}
	return fmt.Sprintf("%s is live, epoch %d", orNone(string(s.ID)), s.Epoch)
}

// subagent: it worked for the conversation, and has no place.
func (s Selftest) subagent() Check {
	c := Check{Held: len(s.Children) > 0 && !s.taken(), What: "the subagent never had the place", Look: string(s.Delegation.ID)}
	for _, x := range s.Children {
		c.Evidence = fmt.Sprintf("%s worked for %s, %s", x.ID, x.DelegateFrom, orNone(string(x.EndReason)))
		child := x.Kind == session.Subagent && x.Key == "" && x.DelegateFrom == s.Delegation.Session
		if !child || x.EndReason != session.Completed {
			// One that still works has done nothing wrong: what remains to be seen is how it ends.
			c.Open = c.Held && child && x.EndReason == "" && s.Delegation.State == machine.DelegationRunning
			c.Held, c.Look = false, string(x.ID)
		}
	}
	return c
}

// process: one that exited by itself and came home, as its subagent's, or as the conversation's that it was handed over to.
func (s Selftest) process(what string, is func(machine.Process) bool) Check {
	i := slices.IndexFunc(s.Processes, is)
	if i < 0 {
		return Check{Open: true, What: what, Evidence: "it was not played", Look: string(s.Delegation.ID)}
	}
	p := s.Processes[i]
	owner, path := p.StartedBy, []id.Session{p.StartedBy, s.Delegation.Session}
	if p.HandedOff != "" {
		owner, path = s.Delegation.Session, []id.Session{s.Delegation.Session}
		if slices.ContainsFunc(s.Children, func(c session.Session) bool { return c.ID == p.StartedBy && c.EndedAt.Before(p.EndedAt) }) {
			what += " after the subagent had gone"
		}
	}
	switch {
	case !p.State.Ended():
		return Check{Open: true, What: what, Evidence: string(p.ID) + " runs", Look: string(p.ID)}
	case p.State != machine.ProcessExited || p.ExitCode == nil || *p.ExitCode != 0:
		return Check{What: what, Evidence: fmt.Sprintf("%s %s", p.ID, p.State), Look: string(p.ID)}
	case p.Owner != owner:
		return Check{What: what, Evidence: fmt.Sprintf("%s belongs to %s", p.ID, p.Owner), Look: string(p.ID)}
	}
	return s.home(what, string(p.ID), owner, path)
}

// home: one fact made one completion, which was proved by the expected walk to belong to the conversation, under the route
// as it was, and which one message told of, once.
func (s Selftest) home(what, subject string, pin id.Session, path []id.Session) Check {
	c := Check{What: what, Look: subject}
	var found []delivery.Completion
	for _, x := range s.Completions {
		if x.Subject == subject {
			found = append(found, x)
		}
	}
	if len(found) == 0 && subject == string(s.Delegation.ID) && s.Delegation.State == machine.DelegationRunning {
		c.Open, c.Evidence = true, subject+" runs"
		return c
	}
	if len(found) != 1 {
		c.Evidence = fmt.Sprintf("%s has %d completions instead of one", subject, len(found))
		return c
	}
	x := found[0]
	c.Look = string(x.ID)
	hops := make([]id.Session, 0, len(x.Verdict.Path))
	for _, h := range x.Verdict.Path {
		hops = append(hops, h.Session)
	}
	test := s.Delegation.Selftest
	var sent []delivery.Outgoing
	for _, m := range s.Messages {
		if m.Cause == string(x.ID) {
			sent = append(sent, m)
		}
	}
	switch {
	case x.Verdict.Outcome != session.Deliver || x.Owner != s.Delegation.Session || x.Verdict.Owner != s.Delegation.Session:
		c.Evidence = fmt.Sprintf("%s was found to belong to %s: %s", x.ID, orNone(string(x.Owner)), orNone(string(x.Verdict.Reason)))
	case x.Pin != pin || !slices.Equal(hops, path):
		c.Evidence = fmt.Sprintf("%s was proved by the walk %s from %s", x.ID, strings.Join(strs(hops), " → "), x.Pin)
	case x.Verdict.Key != test.Key || x.Verdict.Version != test.Version:
		c.Evidence = fmt.Sprintf("%s was proved by version %d of the route %s", x.ID, x.Verdict.Version, x.Verdict.Key)
	case x.State != delivery.Done || x.Reason != delivery.DoneReceipt:
		c.Evidence = fmt.Sprintf("%s is %s: %s", x.ID, x.State, x.Reason)
	case len(sent) != 1:
		c.Evidence = fmt.Sprintf("%d messages tell of %s instead of one", len(sent), x.ID)
	case sent[0].State != delivery.Sent || messageIDs(sent[0]) == "" || chat.KeyOf(sent[0].To, chat.Keying{}) != chat.KeyOf(test.Key.Address(), chat.Keying{}):
		c.Look, c.Open = string(sent[0].ID), !sent[0].Finished()
		c.Evidence = fmt.Sprintf("%s to %s is %s", sent[0].ID, placeWords(sent[0].To), sent[0].State)
		if sent[0].Detail != "" {
			c.Evidence += ": " + sent[0].Detail
		}
	default:
		c.Held = true
		c.Evidence = fmt.Sprintf("%s, proved to be of %s, told once as %s", x.ID, x.Owner, messageIDs(sent[0]))
	}
	return c
}

// orphan: what the subagent left behind was stopped and named, and nobody was told of its end.
func (s Selftest) orphan() Check {
	c := Check{Open: true, What: "a command that it left behind was stopped and named", Evidence: "it was not played", Look: string(s.Delegation.ID)}
	var named []string
	for _, x := range s.Delegation.Children {
		if x.Report != nil {
			named = append(named, x.Report.Orphaned...)
		}
	}
	for _, p := range s.Processes {
		if p.HandedOff != "" || p.Kill == "" {
			continue
		}
		c.Open, c.Look, c.Evidence = !p.State.Ended(), string(p.ID), fmt.Sprintf("%s %s", p.ID, p.State)
		c.Held = p.State == machine.ProcessKilled && slices.Contains(named, string(p.ID)) &&
			!slices.ContainsFunc(s.Completions, func(x delivery.Completion) bool { return x.Subject == string(p.ID) })
	}
	return c
}

// quiet: the agent heard nothing of it.
func (s Selftest) quiet() Check {
	c := Check{Held: true, What: "your agent heard nothing of it", Evidence: "no turn, no line in the transcript", Look: string(s.Delegation.ID)}
	for _, x := range s.Completions {
		if x.Turn != "" || len(x.Entered) > 0 {
			c.Held, c.Look, c.Evidence = false, string(x.ID), fmt.Sprintf("%s is in %s %s", x.ID, strings.Join(strs(x.Entered), ", "), x.Turn)
		}
	}
	return c
}

// took is how long the test took, by its records.
func (s Selftest) took() time.Duration {
	last := s.Delegation.EndedAt
	for _, m := range s.Messages {
		if m.UpdatedAt.After(last) {
			last = m.UpdatedAt
		}
	}
	return max(last.Sub(s.Delegation.CreatedAt), 0)
}

// Text is the report for the person who ordered the test, and whether all held.
func (s Selftest) Text() (text string, held bool) {
	const again = " Nothing of it is left; /selftest plays it again."
	if left := s.left(); left != "" {
		return "Self-test: not finished: the conversation was left meanwhile (" + left + ")." + again, false
	}
	if s.Delegation.State == machine.DelegationInterrupted {
		why := "it was stopped"
		for _, c := range s.Delegation.Children {
			if c.Report != nil && c.Report.Error != "" {
				why = c.Report.Error
			}
		}
		return "Self-test: not finished: " + why + "." + again, false
	}
	checks := s.Checks()
	failed, open := 0, 0
	var b strings.Builder
	for _, c := range checks {
		sign := "✓"
		switch {
		case c.Open:
			sign = "…"
			open++
		case !c.Held:
			sign = "✗"
			failed++
		}
		fmt.Fprintf(&b, "\n%s %s (%s)", sign, c.What, c.Evidence)
		if !c.Held {
			fmt.Fprintf(&b, " — look at `homing trace %s`", c.Look)
		}
	}
	var head string
	switch {
	case failed > 0:
		head = fmt.Sprintf("Self-test: %d of %d checks do NOT hold, after %s.", failed, len(checks), span(s.took()))
	case open > 0:
		head = fmt.Sprintf("Self-test: not finished: %d of %d checks held; what stands at … had not come to its end. What still ran of it is stopped.", len(checks)-open, len(checks))
	default:
		head = fmt.Sprintf("Self-test: all %d checks held, in %s.", len(checks), span(s.took()))
	}
	return head + "\n" + b.String(), failed+open == 0
}
