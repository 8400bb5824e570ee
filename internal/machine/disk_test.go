package machine_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
)

// disk is what a store holds: every record went through JSON, as it does there. It is the only thing that a crash leaves.
type disk map[machine.Table]map[string]any

func (d disk) write(changes []machine.Change) {
	for _, c := range changes {
		if d[c.Table] == nil {
			d[c.Table] = map[string]any{}
		}
		if c.Value == nil {
			delete(d[c.Table], c.Key)
			continue
		}
		if copied, ok := c.Value.(machine.Copy); ok {
			for _, e := range d.transcript(copied.From)[:copied.Through] {
				e.Session = copied.To
				d[c.Table][machine.EntryKey(e.Session, e.Seq)] = e
			}
			continue
		}
		if lines, ok := c.Value.([]machine.Record); ok {
			for _, r := range lines {
				d.write([]machine.Change{{Table: c.Table, Key: machine.SeqKey(r.Seq), Value: r}})
			}
			continue
		}
		b, err := json.Marshal(c.Value)
		if err != nil {
			panic(err)
		}
		d[c.Table][c.Key] = decode(c.Value, b)
	}
}

// decode reads a record into a fresh value of the type that was written.
func decode(like any, b []byte) any {
	switch like.(type) {
	case session.Session:
		return as[session.Session](b)
	case session.Route:
		return as[session.Route](b)
	case machine.Lane:
		return as[machine.Lane](b)
	case machine.Turn:
		return as[machine.Turn](b)
	case machine.Action:
		return as[machine.Action](b)
	case machine.Process:
		return as[machine.Process](b)
	case machine.Delegation:
		return as[machine.Delegation](b)
	case delivery.Completion:
		return as[delivery.Completion](b)
	case delivery.Outgoing:
		return as[delivery.Outgoing](b)
	case machine.Entry:
		return as[machine.Entry](b)
	case machine.Record:
		return as[machine.Record](b)
	case machine.Mark:
		return as[machine.Mark](b)
	case machine.Position:
		return as[machine.Position](b)
	case machine.Alias:
		return as[machine.Alias](b)
	case machine.SetAside:
		return as[machine.SetAside](b)
	case machine.Meta:
		return as[machine.Meta](b)
	case machine.Preview:
		return as[machine.Preview](b)
	case machine.Placed:
		return as[machine.Placed](b)
	}
	panic(fmt.Sprintf("a store does not know %T", like))
}

func as[T any](b []byte) T {
	var x T
	if err := json.Unmarshal(b, &x); err != nil {
		panic(err)
	}
	return x
}

// load hands everything that lives to a state, as a store does at a start.
func (d disk) load(s *machine.State) {
	for _, t := range []machine.Table{
		machine.Metas, machine.Sessions, machine.Routes, machine.Lanes, machine.Turns, machine.Actions, machine.Processes,
		machine.Delegations, machine.Completions, machine.Outgoings, machine.Marks, machine.Positions, machine.Aliases,
		machine.Previews,
	} {
		for _, k := range slices.Sorted(maps.Keys(d[t])) {
			s.Load(machine.Change{Table: t, Key: k, Value: d[t][k]})
		}
	}
}

// clone is the disk at this moment. Values are never changed in place.
func (d disk) clone() disk {
	out := make(disk, len(d))
	for t, rows := range d {
		out[t] = maps.Clone(rows)
	}
	return out
}

// get reads one record; the zero value when there is none.
func get[T any](d disk, t machine.Table, key string) (T, bool) {
	x, ok := d[t][key].(T)
	return x, ok
}

// all reads the records of a table in the order of their keys.
func all[T any](d disk, t machine.Table) []T {
	out := make([]T, 0, len(d[t]))
	for _, k := range slices.Sorted(maps.Keys(d[t])) {
		out = append(out, d[t][k].(T))
	}
	return out
}

func (d disk) session(k id.Session) session.Session {
	s, _ := get[session.Session](d, machine.Sessions, string(k))
	return s
}

func (d disk) lane(k id.Session) machine.Lane {
	l, _ := get[machine.Lane](d, machine.Lanes, string(k))
	return l
}

func (d disk) route(k chat.Key) session.Route {
	r, _ := get[session.Route](d, machine.Routes, string(k))
	return r
}

// turn returns the running turn of a session.
func (d disk) turn(k id.Session) machine.Turn {
	t, _ := get[machine.Turn](d, machine.Turns, string(d.lane(k).Turn))
	return t
}

// either reads a record among what lives or what is over.
func either[T any](d disk, t machine.Table, key string) (T, bool) {
	if x, ok := get[T](d, t, key); ok {
		return x, true
	}
	return get[T](d, t.Done(), key)
}

// transcript reads the entries of a session in their order.
func (d disk) transcript(k id.Session) []machine.Entry {
	var out []machine.Entry
	for n := uint64(1); ; n++ {
		e, ok := get[machine.Entry](d, machine.Entries, machine.EntryKey(k, n))
		if !ok {
			return out
		}
		out = append(out, e)
	}
}
