package machine

import (
	"slices"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/session"
)

// Overlay is a batch in the making: it reads through to the state and keeps what the requests of the batch change. It is
// dropped when the commit fails, and folded into the state when it succeeds.
type Overlay struct {
	st  *State
	now time.Time

	sessions    layer[id.Session, session.Session]
	routes      layer[chat.Key, session.Route]
	lanes       layer[id.Session, Lane]
	turns       layer[id.Turn, Turn]
	actions     layer[id.Action, Action]
	processes   layer[id.Process, Process]
	delegations layer[id.Delegation, Delegation]
	completions layer[id.Completion, delivery.Completion]
	outgoing    layer[id.Outgoing, delivery.Outgoing]
	marks       layer[string, Mark]
	positions   layer[string, Position]
	aliases     layer[string, Alias]
	previews    layer[id.Turn, Preview]
	chats       layer[string, []id.Outgoing]
	meta        Meta

	appended []Change
	out      []Change // once it is closed
	journal  []Record
	effects  []Effect
	woken    []id.Session // something came for them that asks for a turn
}

// Overlay begins a batch.
func (s *State) Overlay() *Overlay {
	o := &Overlay{
		st:       s,
		sessions: layer[id.Session, session.Session]{table: Sessions, base: s.sessions}, routes: layer[chat.Key, session.Route]{table: Routes, base: s.routes},
		lanes: layer[id.Session, Lane]{table: Lanes, base: s.lanes}, turns: layer[id.Turn, Turn]{table: Turns, base: s.turns},
		actions: layer[id.Action, Action]{table: Actions, base: s.actions}, processes: layer[id.Process, Process]{table: Processes, base: s.processes},
		delegations: layer[id.Delegation, Delegation]{table: Delegations, base: s.delegations},
		completions: layer[id.Completion, delivery.Completion]{table: Completions, base: s.completions},
		outgoing:    layer[id.Outgoing, delivery.Outgoing]{table: Outgoings, base: s.outgoing},
		marks:       layer[string, Mark]{table: Marks, base: s.marks}, positions: layer[string, Position]{table: Positions, base: s.positions},
		aliases: layer[string, Alias]{table: Aliases, base: s.aliases}, previews: layer[id.Turn, Preview]{table: Previews, base: s.previews},
		chats: layer[string, []id.Outgoing]{base: s.chats},
		meta:  s.meta,
	}
	o.meta.Commit++
	return o
}

// Next begins the batch that follows a closed one, which may not be durable yet. It is decided upon what that one changes: so it
// is dropped if that one fails, and it is closed only after that one was folded.
func (o *Overlay) Next() *Overlay {
	n := &Overlay{st: o.st, meta: o.meta}
	was := o.layers()
	for i, l := range n.layers() {
		l.follow(was[i])
	}
	n.meta.Commit++
	return n
}

// recycle gives a new batch the room of one that is over: that was folded, and that no batch is decided upon any more. What was
// made for a batch much larger than its latest is let go.
func (o *Overlay) recycle(old *Overlay) {
	if len(old.journal) < cap(old.journal)/4 {
		return
	}
	was := old.layers()
	for i, l := range o.layers() {
		l.recycle(was[i])
	}
	o.appended, o.out, o.journal, o.effects = empty(old.appended), empty(old.out), empty(old.journal), empty(old.effects)
}

// layers are the tables of the overlay.
func (o *Overlay) layers() [14]layered {
	return [...]layered{
		&o.sessions, &o.routes, &o.lanes, &o.turns, &o.actions, &o.processes, &o.delegations, &o.completions, &o.outgoing, &o.marks,
		&o.positions, &o.aliases, &o.previews, &o.chats,
	}
}

// Commit returns the number of the commit that this batch will be.
func (o *Overlay) Commit() uint64 { return o.meta.Commit }

// Journal returns the transitions of the batch.
func (o *Overlay) Journal() []Record { return o.journal }

// Changes returns everything that the batch writes: each record once, in the form that it has at the end of the batch; nil
// when there is nothing to make durable. It closes the batch: nothing of it is changed any more.
func (o *Overlay) Changes() []Change {
	out := o.out
	for _, l := range o.layers() {
		out = l.changes(out)
	}
	out = append(out, o.appended...)
	if len(o.journal) > 0 {
		out = append(out, Change{Journal, SeqKey(o.journal[0].Seq), o.journal})
	}
	if len(out) == 0 && o.meta.Clean == o.st.meta.Clean {
		o.meta.Commit = o.st.meta.Commit // the batch only read: its effects stand on what was durable before
		return nil
	}
	o.meta.At = o.now
	out = append(out, Change{Metas, "meta", o.meta})
	o.out = out
	return out
}

// Fold makes the batch the state. Call it once its changes are durable.
func (o *Overlay) Fold() {
	for _, l := range o.layers() {
		l.fold()
	}
	o.st.meta = o.meta
}

// Effects returns what is to be done once the batch is durable, each with the number of its commit.
func (o *Overlay) Effects() []Issued {
	out := make([]Issued, len(o.effects))
	for i, e := range o.effects {
		out[i] = Issued{o.meta.Commit, e}
	}
	return out
}

// The session.View of a batch.

// Loaded is true: a machine answers nothing before its state is whole.
func (o *Overlay) Loaded() bool { return true }

// Session returns a session as the batch sees it.
func (o *Overlay) Session(k id.Session) (session.Session, session.Presence) {
	if s, ok := o.sessions.get(k); ok {
		return s, session.Present
	}
	if o.st.corrupt[k] {
		return session.Session{}, session.Corrupt
	}
	return session.Session{}, session.Missing
}

// Route returns the route of a place as the batch sees it.
func (o *Overlay) Route(k chat.Key) (session.Route, bool) { return o.routes.get(k) }

// lane returns the lane of a session; one that has nothing waiting is empty.
func (o *Overlay) lane(s id.Session) Lane {
	l, _ := o.lanes.get(s)
	l.Session = s
	return l
}

func (o *Overlay) setLane(l Lane) { o.lanes.put(l.Session, l) }

func (o *Overlay) policy(profile string) Policy { return o.st.Policy(profile) }

func (o *Overlay) newID(prefix string) string { return o.st.ids.New(prefix, o.now) }

// note writes one line of the journal.
func (o *Overlay) note(r Record) {
	o.meta.Seq++
	r.Seq, r.Commit, r.At = o.meta.Seq, o.meta.Commit, o.now
	o.journal = append(o.journal, r)
}

// emit asks for something to be done once the batch is durable.
func (o *Overlay) emit(e Effect) { o.effects = append(o.effects, e) }

// archive moves what is over out of the way of a start.
func (o *Overlay) archive(t Table, key string, v any) {
	o.appended = append(o.appended, Change{t.Done(), key, v})
}

// write appends an entry to a transcript and returns its number.
func (o *Overlay) write(e Entry) uint64 {
	l := o.lane(e.Session)
	l.Entries++
	l.LastEntry = e.Kind
	e.Seq, e.At = l.Entries, o.now
	o.setLane(l)
	o.appended = append(o.appended, Change{Entries, EntryKey(e.Session, e.Seq), e})
	return e.Seq
}

// seat stores the session that a place goes on with, and lists it there: once, unless it comes from another place.
func (o *Overlay) seat(s session.Session) {
	was, known := o.sessions.get(s.ID)
	o.sessions.put(s.ID, s)
	if known && was.Key == s.Key {
		return
	}
	if known && was.Key != "" {
		o.appended = append(o.appended, Change{Places, PlaceKey(was.Key, s.ID), nil})
	}
	o.appended = append(o.appended, Change{Places, PlaceKey(s.Key, s.ID), Placed{}})
}

// copyTranscript lets a fresh session begin with what stands in the transcript of another one.
func (o *Overlay) copyTranscript(from, to id.Session) {
	f, l := o.lane(from), o.lane(to)
	l.Turns, l.Last, l.Came, l.Entries, l.LastEntry, l.Asked, l.Summaries = f.Turns, f.Last, f.Came, f.Entries, f.LastEntry, f.Asked, f.Summaries
	o.setLane(l)
	o.appended = append(o.appended, Change{Entries, EntryKey(to, 0), Copy{from, to, f.Entries}})
	for _, cid := range o.completions.all() {
		if c, _ := o.completions.get(cid); slices.Contains(c.Entered, from) {
			c.Entered = with(c.Entered, to) // its notice stands there now, and is not written again
			o.completions.put(cid, c)
		}
	}
}

// without returns the list without the element, as a new list.
func without[T comparable](list []T, x T) []T {
	out := make([]T, 0, len(list))
	for _, e := range list {
		if e != x {
			out = append(out, e)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// with returns the list with the element at its end, as a new list.
func with[T any](list []T, x T) []T { return append(slices.Clip(list), x) }
