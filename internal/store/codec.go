package store

import (
	"encoding/json"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
)

// appendValue appends a record, given as a value or as a pointer to one, in the form in which it is stored. What is written
// with every completion has a form of its own, which fields describes; the rest is JSON.
func appendValue(dst []byte, record any) ([]byte, error) {
	f := fields{bytes: dst}
	// Here a record is copied to where its address may be taken: that costs no allocation, as reflection would.
	switch r := record.(type) {
	case session.Session:
		f.session(&r)
	case session.Route:
		f.route(&r)
	case machine.Lane:
		f.lane(&r)
	case machine.Turn:
		f.turn(&r)
	case machine.Action:
		f.action(&r)
	case machine.Process:
		f.process(&r)
	case delivery.Completion:
		f.completion(&r)
	case delivery.Outgoing:
		f.outgoing(&r)
	case machine.Entry:
		f.entry(&r)
	case machine.Record:
		f.line(&r)
	case machine.Mark:
		f.mark(&r)
	case machine.Position:
		f.position(&r)
	case machine.Meta:
		f.meta(&r)
	case machine.Preview:
		f.preview(&r)
	default:
		if !f.record(record) {
			b, err := json.Marshal(record)
			return append(dst, b...), err
		}
	}
	return f.bytes, nil
}

// decodeValue reads a stored record into a zero one of the type that was written. The record keeps nothing of v. JSON is
// told by its first byte: '{' would be the beginning of a group, and there are none.
func decodeValue[T any](v []byte, record *T) error {
	if len(v) == 0 || v[0] != '{' {
		f := reader(v)
		if f.record(record) {
			return f.end()
		}
	}
	return json.Unmarshal(v, record)
}

// record writes or reads what x points to, or tells that it has no form but JSON.
func (f *fields) record(x any) bool {
	switch x := x.(type) {
	case *session.Session:
		f.session(x)
	case *session.Route:
		f.route(x)
	case *machine.Lane:
		f.lane(x)
	case *machine.Turn:
		f.turn(x)
	case *machine.Action:
		f.action(x)
	case *machine.Process:
		f.process(x)
	case *delivery.Completion:
		f.completion(x)
	case *delivery.Outgoing:
		f.outgoing(x)
	case *machine.Entry:
		f.entry(x)
	case *machine.Record:
		f.line(x)
	case *machine.Mark:
		f.mark(x)
	case *machine.Position:
		f.position(x)
	case *machine.Meta:
		f.meta(x)
	case *machine.Preview:
		f.preview(x)

	// What stands within those.
	case *session.Verdict:
		f.verdict(x)
	case *session.Hop:
		f.hop(x)
	case *machine.Text:
		f.text(x)
	case *machine.File:
		f.received(x)
	case *delivery.File:
		f.sent(x)
	case *machine.Asked:
		f.asked(x)
	case *machine.CompactAsked:
		f.compactAsked(x)
	case *agent.Call:
		f.call(x)
	case *delivery.Attribution:
		f.attribution(x)
	case *delivery.Part:
		f.part(x)
	case *chat.Button:
		f.button(x)
	case *chat.Address:
		f.address(x)
	default:
		return false
	}
	return true
}
