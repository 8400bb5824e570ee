package machine

import (
	"cmp"
	"slices"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/session"
)

// Table names a kind of record in the store.
type Table string

// The tables. What is over moves from a table to the same name with ".done", so that a start reads only what lives.
const (
	Sessions    Table = "session"
	Routes      Table = "route"
	Lanes       Table = "lane"
	Turns       Table = "turn"
	Actions     Table = "action"
	Processes   Table = "process"
	Delegations Table = "delegation"
	Completions Table = "completion"
	Outgoings   Table = "outgoing"
	Marks       Table = "mark"
	Positions   Table = "position"
	Aliases     Table = "alias"
	Previews    Table = "preview"
	// Pauses lists the accounts that are not served, by their names. The rules do not need it.
	Pauses  Table = "pause"
	Entries Table = "entry"
	Asides  Table = "aside"
	Journal Table = "journal"
	Metas   Table = "meta"
	// Places lists the conversations of each place: PlaceKey, and nothing to read behind it. The rules do not need it.
	Places Table = "place"
)

// Done names the table of what is over.
func (t Table) Done() Table { return t + ".done" }

// Change is one record to write, or with a nil value to delete. The value is a record or a pointer to one; whoever gets it
// changes nothing in it. The journal of a batch is one change, a []Record under the number of its first line.
type Change struct {
	Table Table
	Key   string
	Value any
}

// table is one kind of record in memory. What a pointer here points to is never changed: a change puts another one.
type table[K ~string, V any] map[K]*V

// State is everything that the rules read, held in memory by the writer. Only Fold changes it.
type State struct {
	Policy func(profile string) Policy
	ids    *id.Source

	sessions    table[id.Session, session.Session]
	corrupt     map[id.Session]bool
	routes      table[chat.Key, session.Route]
	lanes       table[id.Session, Lane]
	turns       table[id.Turn, Turn]
	actions     table[id.Action, Action]
	processes   table[id.Process, Process]
	delegations table[id.Delegation, Delegation]
	completions table[id.Completion, delivery.Completion]
	outgoing    table[id.Outgoing, delivery.Outgoing]
	marks       table[string, Mark]
	positions   table[string, Position]
	aliases     table[string, Alias]
	previews    table[id.Turn, Preview]
	chats       table[string, []id.Outgoing] // unfinished messages of a chat, in order; follows from outgoing
	meta        Meta
}

// NewState returns an empty state.
func NewState(policy func(profile string) Policy, ids *id.Source) *State {
	return &State{
		Policy: policy, ids: ids,
		sessions: table[id.Session, session.Session]{}, corrupt: map[id.Session]bool{}, routes: table[chat.Key, session.Route]{},
		lanes: table[id.Session, Lane]{}, turns: table[id.Turn, Turn]{}, actions: table[id.Action, Action]{},
		processes: table[id.Process, Process]{}, delegations: table[id.Delegation, Delegation]{},
		completions: table[id.Completion, delivery.Completion]{}, outgoing: table[id.Outgoing, delivery.Outgoing]{},
		marks: table[string, Mark]{}, positions: table[string, Position]{}, aliases: table[string, Alias]{}, previews: table[id.Turn, Preview]{}, chats: table[string, []id.Outgoing]{},
	}
}

// Load takes one record that the store read at the start. Keys and tables are those of Change.
func (s *State) Load(c Change) {
	switch v := c.Value.(type) {
	case session.Session:
		s.sessions[v.ID] = &v
	case session.Route:
		s.routes[v.Key] = &v
	case Lane:
		s.lanes[v.Session] = &v
	case Turn:
		s.turns[v.ID] = &v
	case Action:
		s.actions[v.ID] = &v
	case Process:
		s.processes[v.ID] = &v
	case Delegation:
		s.delegations[v.ID] = &v
	case delivery.Completion:
		s.completions[v.ID] = &v
	case delivery.Outgoing:
		s.outgoing[v.ID] = &v
		if !v.Finished() {
			k := chatOf(v.To)
			if s.chats[k] == nil {
				s.chats[k] = new([]id.Outgoing)
			}
			list := append(*s.chats[k], v.ID)
			slices.SortFunc(list, func(a, b id.Outgoing) int { return cmp.Compare(s.outgoing[a].Order, s.outgoing[b].Order) })
			*s.chats[k] = list
		}
	case Mark:
		s.marks[c.Key] = &v
	case Position:
		s.positions[v.Account] = &v
	case Alias:
		s.aliases[c.Key] = &v
	case Preview:
		s.previews[v.Turn] = &v
	case Meta:
		s.meta = v
	case nil:
		if c.Table == Sessions { // there, but unreadable: what belongs to it is not given away
			s.corrupt[id.Session(c.Key)] = true
		}
	}
}

// Meta returns what the state says of itself.
func (s *State) Meta() Meta { return s.meta }

// Position returns how far the account's events are stored.
func (s *State) Position(a chat.Account) Position {
	if p, ok := s.positions[a.String()]; ok {
		return *p
	}
	return Position{Account: a.String()}
}

// chatOf names the queue in which order holds: one chat of one account.
func chatOf(a chat.Address) string { return a.Account.String() + ":" + a.Chat }

// SeqKey is a number as a key that sorts as the number does.
func SeqKey(n uint64) string {
	b := [8]byte{}
	for i := range b {
		b[i] = byte(n >> (56 - 8*i))
	}
	return string(b[:])
}

// EntryKey is the key of a transcript entry: all entries of a session lie together, in order.
func EntryKey(s id.Session, seq uint64) string { return string(s) + "\x00" + SeqKey(seq) }

// PlaceKey is the key of a conversation in the list of its place: those of one place lie together, the oldest first.
func PlaceKey(k chat.Key, s id.Session) string { return string(k) + "\x00" + string(s) }

// Placed is what stands in the list of a place.
type Placed struct{}
