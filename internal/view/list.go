package view

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
	"github.com/homing-gateway/homing/internal/store"
)

// ErrNotFound says that no record has the id that was asked for.
var ErrNotFound = errors.New("not found")

// mediaFolder is how a person finds what was sent: below data_dir.
const mediaFolder = "media"

// Find gives the whole id of an abbreviated one. The error says that there is none, or that it is not unique.
func Find(db *store.DB, typed string) (string, error) {
	prefix, rest, err := id.Split(strings.TrimSpace(typed))
	if err != nil {
		return "", err
	}
	table := map[string]machine.Table{
		id.PrefixSession: machine.Sessions, id.PrefixSubagent: machine.Sessions, id.PrefixTurn: machine.Turns,
		id.PrefixDelegation: machine.Delegations, id.PrefixProcess: machine.Processes, id.PrefixCompletion: machine.Completions,
		id.PrefixOutgoing: machine.Outgoings, id.PrefixAction: machine.Actions,
	}[prefix]
	keys, err := db.Keys(table, prefix+rest, 2)
	if err != nil {
		return "", err
	}
	switch {
	case len(keys) == 0:
		return "", fmt.Errorf("there is nothing with the id %s: %w", typed, ErrNotFound)
	case len(keys) > 1 && keys[0] != prefix+rest:
		return "", fmt.Errorf("%s is not unique: it could be %s or %s; give more of it", typed, keys[0], keys[1])
	}
	return keys[0], nil
}

// committed is the session.View of the committed data, for walks that only explain.
type committed struct{ db *store.DB }

func (c committed) Loaded() bool { return true }

func (c committed) Session(k id.Session) (session.Session, session.Presence) {
	s, ok, err := store.Get[session.Session](c.db, machine.Sessions, string(k))
	switch {
	case err != nil:
		return s, session.Corrupt
	case !ok:
		return s, session.Missing
	}
	return s, session.Present
}

func (c committed) Route(k chat.Key) (session.Route, bool) {
	r, ok, err := store.Get[session.Route](c.db, machine.Routes, string(k))
	return r, ok && err == nil
}

func withOwner(db *store.DB, s session.Session) Session {
	l, _, _ := store.Get[machine.Lane](db, machine.Lanes, string(s.ID))
	o := sessionObject(s, l)
	v := session.Resolve(committed{db}, s.ID)
	o.Owner, o.Path = string(v.Owner), path(v)
	if s.Kind == session.Chat {
		if r, ok := (committed{db}).Route(s.Key); ok {
			o.RouteVersion = r.Version
		}
	}
	return o
}

// Sessions lists sessions, newest last; live leaves the ended ones out.
func Sessions(db *store.DB, live bool) ([]Session, error) {
	list, err := store.Each(db, machine.Sessions, "", func(s session.Session) bool { return !live || !s.Ended() })
	out := make([]Session, 0, len(list))
	for _, s := range list {
		out = append(out, withOwner(db, s))
	}
	slices.SortStableFunc(out, func(a, b Session) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return out, err
}

// ShowSession is one session with its transcript.
func ShowSession(db *store.DB, typed string) (Session, error) {
	full, err := Find(db, typed)
	if err != nil {
		return Session{}, err
	}
	s, ok, err := store.Get[session.Session](db, machine.Sessions, full)
	if err != nil || !ok {
		return Session{}, errors.Join(err, fmt.Errorf("session %s: %w", typed, ErrNotFound))
	}
	o := withOwner(db, s)
	entries, err := db.Entries(s.ID, 1)
	o.Entries = make([]Entry, 0, len(entries))
	force := map[uint64]bool{}
	for _, e := range machine.InForce(entries) {
		force[e.Seq] = true
	}
	for _, e := range entries {
		x := Entry{
			ID: fmt.Sprintf("%s.%d", s.ID, e.Seq), Kind: string(e.Kind), Content: e.Said(mediaFolder), Turn: string(e.Turn), Tool: e.Tool, Speaker: e.Speaker, CreatedAt: e.At,
		}
		x.SetAside = !force[e.Seq] && e.Kind != machine.EntryCut
		for _, c := range e.Calls {
			x.Calls = append(x.Calls, c.Name+" "+c.Arguments)
		}
		o.Entries = append(o.Entries, x)
	}
	return o, err
}

// ExportSession is one session with its whole transcript, as it can be kept elsewhere.
func ExportSession(db *store.DB, typed string) (Export, error) {
	shown, err := ShowSession(db, typed)
	if err != nil {
		return Export{}, err
	}
	entries, err := db.Entries(id.Session(shown.ID), 1)
	out := Export{Session: shown, Entries: make([]ExportedEntry, 0, len(entries))}
	for _, e := range entries {
		x := ExportedEntry{
			ID: fmt.Sprintf("%s.%d", shown.ID, e.Seq), Kind: string(e.Kind), Content: e.Said(mediaFolder), Turn: string(e.Turn), Speaker: e.Speaker,
			Tool: e.Tool, CallID: e.CallID, Completion: string(e.Completion), CreatedAt: e.At,
		}
		for _, c := range e.Calls {
			x.Calls = append(x.Calls, ExportedCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
		}
		out.Entries = append(out.Entries, x)
	}
	return out, err
}

// Queue lists completions and outgoing messages: what is not finished, or with all everything, oldest first.
func Queue(db *store.DB, all bool, serves Serves) ([]QueueEntry, error) {
	out := []QueueEntry{}
	completions, messages := store.Since[delivery.Completion], store.Since[delivery.Outgoing]
	if all {
		completions, messages = store.Ever[delivery.Completion], store.Ever[delivery.Outgoing]
	}
	ends, err := completions(db, machine.Completions, "", "", nil)
	if err != nil {
		return nil, err
	}
	for _, c := range ends {
		out = append(out, completionObject(c))
	}
	sends, err := messages(db, machine.Outgoings, "", "", nil)
	if err != nil {
		return nil, err
	}
	for _, m := range sends {
		out = append(out, outgoingObject(m, routeOf(db, m), serves))
	}
	slices.SortStableFunc(out, func(a, b QueueEntry) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return out, nil
}

// routeOf is the place that a message goes to: its session's, or the address itself.
func routeOf(db *store.DB, m delivery.Outgoing) string {
	if m.Session != "" {
		if s, presence := (committed{db}).Session(m.Session); presence == session.Present && s.Key != "" {
			return string(s.Key)
		}
	}
	return string(chat.KeyOf(m.To, chat.Keying{}))
}

// ShowQueue is one completion or outgoing message.
func ShowQueue(db *store.DB, typed string, serves Serves) (QueueEntry, error) {
	full, err := Find(db, typed)
	if err != nil {
		return QueueEntry{}, err
	}
	if c, ok, err := store.Get[delivery.Completion](db, machine.Completions, full); err != nil || ok {
		return completionObject(c), err
	}
	m, ok, err := store.Get[delivery.Outgoing](db, machine.Outgoings, full)
	if err != nil || !ok {
		return QueueEntry{}, errors.Join(err, fmt.Errorf("%s is neither a completion nor a message: %w", typed, ErrNotFound))
	}
	return outgoingObject(m, routeOf(db, m), serves), nil
}

// Processes lists processes, oldest first.
func Processes(db *store.DB) ([]Process, error) {
	out := []Process{}
	list, err := store.Ever[machine.Process](db, machine.Processes, "", "", nil)
	for _, p := range list {
		out = append(out, processObject(p))
	}
	return out, err
}

// Delegations lists delegations, oldest first.
func Delegations(db *store.DB) ([]Delegation, error) {
	out := []Delegation{}
	list, err := store.Ever[machine.Delegation](db, machine.Delegations, "", "", nil)
	for _, d := range list {
		out = append(out, delegationObject(d))
	}
	return out, err
}

// ShowDelegation is one delegation.
func ShowDelegation(db *store.DB, typed string) (Delegation, error) {
	full, err := Find(db, typed)
	if err != nil {
		return Delegation{}, err
	}
	d, ok, err := store.Get[machine.Delegation](db, machine.Delegations, full)
	if err != nil || !ok {
		return Delegation{}, errors.Join(err, fmt.Errorf("delegation %s: %w", typed, ErrNotFound))
	}
	return delegationObject(d), nil
}
