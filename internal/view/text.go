package view

import (
	"fmt"
	"math"
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

// Facts is what /status tells beyond the store.
type Facts struct {
	Model     string
	Platforms []string
}

// An admin sees so many conversations of other places, the newest among so many that were opened last.
const (
	maxElsewhere = 20
	lookBack     = 500
)

// SessionsOf lists the conversations that can be talked to in a place, the one that was active last first: its own, and
// for an admin the newest that are not live elsewhere.
func SessionsOf(db *store.DB, key chat.Key, admin bool) ([]session.Session, error) {
	keys, err := db.Keys(machine.Places, string(key)+"\x00", math.MaxInt)
	if err != nil {
		return nil, err
	}
	var list []session.Session
	for _, k := range keys {
		_, sid, _ := strings.Cut(k, "\x00")
		if s, presence := (committed{db}).Session(id.Session(sid)); presence == session.Present {
			list = append(list, s)
		}
	}
	if admin {
		profile := key.Address().Profile
		elsewhere, err := store.Latest(db, machine.Sessions, id.PrefixSession, maxElsewhere, lookBack, func(s session.Session) bool {
			return s.Kind == session.Chat && s.Key != key && s.Profile == profile && s.Ended()
		})
		if err != nil {
			return nil, err
		}
		list = append(list, elsewhere...)
	}
	slices.SortStableFunc(list, func(a, b session.Session) int { return b.ActiveAt.Compare(a.ActiveAt) })
	return list, nil
}

// SessionsText is the answer to /sessions.
func SessionsText(db *store.DB, key chat.Key, admin bool) (string, error) {
	list, err := SessionsOf(db, key, admin)
	if err != nil || len(list) == 0 {
		return "There is no conversation here yet.", err
	}
	var b strings.Builder
	b.WriteString("Conversations (/resume N goes back to one):\n")
	for i, s := range list {
		mark := ""
		if !s.Ended() {
			mark = " — **current**"
		}
		title := s.Title
		if title == "" {
			title = "(nothing said)"
		}
		if s.Key != key {
			mark = " — of `" + string(s.Key) + "`"
		}
		fmt.Fprintf(&b, "\n%d. %s — %s, %s ago%s", i+1, title, s.ID, machine.Age(time.Since(s.ActiveAt)), mark)
	}
	return b.String(), nil
}

// kept lists what came after a conversation had ended.
func kept(db *store.DB, sid id.Session) ([]delivery.Completion, error) {
	l, _, err := store.Get[machine.Lane](db, machine.Lanes, string(sid))
	if err != nil {
		return nil, err
	}
	var out []delivery.Completion
	for _, cid := range l.Kept {
		c, ok, err := store.Get[delivery.Completion](db, machine.Completions, string(cid))
		if err != nil {
			return nil, err
		}
		if ok && c.State == delivery.Dead {
			out = append(out, c)
		}
	}
	return out, nil
}

// stuck lists the messages to a place's chat that are dead or of unknown outcome.
func stuck(db *store.DB, key chat.Key) ([]delivery.Outgoing, error) {
	place := key.Address()
	return store.Each(db, machine.Outgoings, "", func(m delivery.Outgoing) bool {
		return m.Finished() && m.To.Account == place.Account && m.To.Chat == place.Chat && m.To.Thread == place.Thread
	})
}

// UndeliveredText is the answer to /undelivered. It shows and changes nothing.
func UndeliveredText(db *store.DB, key chat.Key) (string, error) {
	list, err := SessionsOf(db, key, false)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, s := range list {
		results, err := kept(db, s.ID)
		if err != nil {
			return "", err
		}
		if len(results) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\nKept with %s (%s); /resume %s brings it back:", s.ID, s.Title, s.ID)
		for _, c := range results {
			fmt.Fprintf(&b, "\n- %s %s %s, %s ago (%s)", c.Kind, c.Subject, c.Status, machine.Age(time.Since(c.CreatedAt)), c.ID)
		}
	}
	messages, err := stuck(db, key)
	if err != nil {
		return "", err
	}
	for _, m := range messages {
		fmt.Fprintf(&b, "\n- message %s %s", m.ID, m.State)
		if m.Reason != "" {
			fmt.Fprintf(&b, " (%s)", m.Reason)
		}
		if m.Detail != "" {
			fmt.Fprintf(&b, ": %s", m.Detail)
		}
	}
	if b.Len() == 0 {
		return "Nothing is undelivered here.", nil
	}
	return "Not delivered:" + b.String(), nil
}

// of tells whether a session belongs to the place: it is one of its conversations, or works for one.
func of(db *store.DB, sid id.Session, key chat.Key) bool {
	for range session.MaxHops {
		s, presence := (committed{db}).Session(sid)
		if presence != session.Present {
			return false
		}
		if s.DelegateFrom == "" {
			return s.Key == key
		}
		sid = s.DelegateFrom
	}
	return false
}

// The bounds of the buttons under /tasks: how many, and how many characters of what each stops.
const (
	maxStops = 8
	maxLabel = 24
)

// Tasks is the answer to /tasks, with a button to stop each of what runs.
func Tasks(db *store.DB, key chat.Key) (string, []chat.Button, error) {
	ds, ps, err := running(db, key)
	if err != nil {
		return "", nil, err
	}
	var b strings.Builder
	var stops []chat.Button
	stop := func(task, label string) {
		if len(stops) < maxStops {
			stops = append(stops, chat.Button{Label: "■ Stop " + label, Command: StopTask + task})
		}
	}
	for _, d := range ds {
		fmt.Fprintf(&b, "\n- delegation %s, %s old", d.ID, machine.Age(time.Since(d.CreatedAt)))
		for _, c := range d.Children {
			fmt.Fprintf(&b, "\n  - %s %s: %s", c.Session, c.State, c.Goal)
		}
		stop(string(d.ID), begins(d.Children[0].Goal, maxLabel))
	}
	for _, p := range ps {
		fmt.Fprintf(&b, "\n- process %s, running for %s: `%s`", p.ID, machine.Age(time.Since(p.CreatedAt)), p.Command)
		stop(string(p.ID), begins(p.Command, maxLabel))
	}
	if b.Len() == 0 {
		return "Nothing is running for this place.", nil, nil
	}
	return "Running for this place:" + b.String() + "\n\n" + StopTask + "ID stops one of them.", stops, nil
}

// StopTask is the command that stops a task of /tasks; its id follows.
const StopTask = "/tasks stop "

// TaskOf finds delegated work or a process that runs for a place by what a person typed of its id.
func TaskOf(db *store.DB, key chat.Key, typed string) (string, error) {
	prefix, rest, err := id.Split(typed)
	if err != nil {
		return "", err
	}
	ds, ps, err := running(db, key)
	if err != nil {
		return "", err
	}
	var found []string
	for _, d := range ds {
		if strings.HasPrefix(string(d.ID), prefix+rest) {
			found = append(found, string(d.ID))
		}
	}
	for _, p := range ps {
		if strings.HasPrefix(string(p.ID), prefix+rest) {
			found = append(found, string(p.ID))
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("nothing that runs for this place is called %s; /tasks lists what does", typed)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%s could be %s or %s: give more of it", typed, found[0], found[1])
}

// running lists what was delegated and what was started for a place and is not over.
func running(db *store.DB, key chat.Key) (ds []machine.Delegation, ps []machine.Process, err error) {
	ds, err = store.Each(db, machine.Delegations, "", func(d machine.Delegation) bool {
		return d.State == machine.DelegationRunning && of(db, d.Session, key)
	})
	if err != nil {
		return nil, nil, err
	}
	ps, err = store.Each(db, machine.Processes, "", func(p machine.Process) bool { return !p.State.Ended() && of(db, p.Owner, key) })
	return ds, ps, err
}

// StatusText is the answer to /status.
func StatusText(db *store.DB, key chat.Key, f Facts) (string, error) {
	var b strings.Builder
	r, ok := (committed{db}).Route(key)
	s, presence := (committed{db}).Session(r.Current)
	if ok && presence == session.Present {
		l, _, err := store.Get[machine.Lane](db, machine.Lanes, string(s.ID))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "Conversation %s, turn %d", s.ID, l.Turns)
		if t, ok, _ := store.Get[machine.Turn](db, machine.Turns, string(l.Turn)); ok && l.Turn != "" {
			fmt.Fprintf(&b, " (%s for %s)", t.State, machine.Age(time.Since(t.CreatedAt)))
			if t.Detail != "" {
				fmt.Fprintf(&b, ": %s", t.Detail)
			}
		}
		fmt.Fprintf(&b, "\nWaiting here: %d text(s), %d result(s)", len(l.Texts), len(l.Inbox)+len(l.Overflow))
		if l.Compact != nil {
			b.WriteString("\nThe conversation is being summed up, as /compact asked for.")
		}
		delegations, processes := 0, 0
		for _, of := range session.Line(committed{db}, s.ID) {
			l, _, err := store.Get[machine.Lane](db, machine.Lanes, string(of))
			if err != nil {
				return "", err
			}
			delegations, processes = delegations+len(l.Delegations), processes+len(l.Processes)
		}
		fmt.Fprintf(&b, "\nRunning: %d delegation(s), %d process(es)", delegations, processes)
	} else {
		b.WriteString("No conversation here yet.")
	}
	fmt.Fprintf(&b, "\nModel: %s", orNone(f.Model))
	if len(f.Platforms) > 0 {
		b.WriteString("\nPlatforms: " + strings.Join(f.Platforms, ", "))
	}
	list, err := SessionsOf(db, key, false)
	if err != nil {
		return "", err
	}
	undelivered := 0
	for _, s := range list {
		results, err := kept(db, s.ID)
		if err != nil {
			return "", err
		}
		undelivered += len(results)
	}
	messages, err := stuck(db, key)
	if err != nil {
		return "", err
	}
	if n := undelivered + len(messages); n > 0 {
		fmt.Fprintf(&b, "\nUndelivered: %d (/undelivered)", n)
	}
	return b.String(), nil
}

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}
