package machine_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
)

// dump shows how things stand. With words only those parts: routes, sessions, turns, completions, processes, messages.
func (w *world) dump(l line) error {
	wants := func(part string) bool { return len(l.words) == 0 || l.has(part) }
	if wants("routes") {
		for _, r := range all[session.Route](w.disk, machine.Routes) {
			line := fmt.Sprintf("route %s → %s, version %d", r.Key, r.Current, r.Version)
			if r.BoundaryAt > 0 {
				line += fmt.Sprintf(", boundary at %d", r.BoundaryAt)
			}
			w.printf("%s", w.flat(line))
		}
	}
	if wants("sessions") {
		for _, s := range all[session.Session](w.disk, machine.Sessions) {
			w.dumpSession(s)
		}
	}
	if wants("turns") {
		for _, t := range all[machine.Turn](w.disk, machine.Turns) {
			line := fmt.Sprintf("turn %s of %s: %s, step %d", t.ID, t.Session, t.State, t.Step)
			if t.Crashes > 0 {
				line += fmt.Sprintf(", %d crashes", t.Crashes)
			}
			w.printf("%s", w.flat(line))
		}
	}
	if wants("completions") {
		for _, t := range []machine.Table{machine.Completions, machine.Completions.Done()} {
			for _, c := range all[delivery.Completion](w.disk, t) {
				line := fmt.Sprintf("completion %s: %s %s %s, %s", c.ID, c.Kind, c.Subject, c.Status, c.State)
				if c.Reason != "" {
					line += " (" + c.Reason + ")"
				}
				if c.Owner != "" {
					line += ", owner " + string(c.Owner)
				}
				if c.Kept != "" {
					line += ", kept with " + string(c.Kept)
				}
				w.printf("%s", w.flat(line))
			}
		}
	}
	if wants("processes") {
		for _, p := range all[machine.Process](w.disk, machine.Processes) {
			line := fmt.Sprintf("process %s: %s, owner %s, started by %s", p.ID, p.State, p.Owner, p.StartedBy)
			if p.Kill != "" && !p.State.Ended() {
				line += ", to be killed"
			}
			w.printf("%s", w.flat(line))
		}
	}
	if wants("messages") {
		w.dumpMessages()
	}
	return nil
}

func (w *world) dumpSession(s session.Session) {
	line := fmt.Sprintf("session %s", s.ID)
	if s.DelegateFrom != "" {
		line += " of " + string(s.DelegateFrom)
	}
	line += ": live"
	if s.Ended() {
		line = strings.TrimSuffix(line, "live") + "ended " + string(s.EndReason)
	}
	l := w.disk.lane(s.ID)
	if l.Turn != "" {
		line += ", runs " + string(l.Turn)
	}
	for _, x := range l.Texts {
		line += fmt.Sprintf(", text %q waits", x.Content)
	}
	for _, list := range []struct {
		name string
		ids  []id.Completion
	}{{"inbox", l.Inbox}, {"overflow", l.Overflow}, {"kept", l.Kept}} {
		if len(list.ids) > 0 {
			line += fmt.Sprintf(", %s %v", list.name, list.ids)
		}
	}
	w.printf("%s", w.flat(line))
}

func (w *world) dumpMessages() {
	list := slices.Concat(all[delivery.Outgoing](w.disk, machine.Outgoings.Done()), all[delivery.Outgoing](w.disk, machine.Outgoings))
	slices.SortFunc(list, func(a, b delivery.Outgoing) int { return cmp.Compare(a.Order, b.Order) })
	for _, m := range list {
		line := fmt.Sprintf("message %s to %s: %s", m.ID, placeOf(m.To), m.State)
		if m.Reason != "" {
			line += " (" + m.Reason + ")"
		}
		if m.Attempts > 0 {
			line += fmt.Sprintf(", %d attempts", m.Attempts)
		}
		if len(m.Parts) > 1 {
			for _, p := range m.Parts {
				line += " " + string(p.State)
			}
		}
		w.printf("%s: %s", w.flat(line), w.flat(m.Text))
	}
}

func (w *world) showTranscript(l line) error {
	for _, e := range w.disk.transcript(w.session(l.word(0))) {
		w.tellEntry(e)
	}
	return nil
}

// showForce shows what the model gets of a conversation.
func (w *world) showForce(l line) error {
	for _, e := range machine.InForce(w.disk.transcript(w.session(l.word(0)))) {
		w.tellEntry(e)
	}
	return nil
}

// undelivered lists what is kept with the ended conversations of a place.
func (w *world) undelivered(l line) error {
	for _, s := range all[session.Session](w.disk, machine.Sessions) {
		if !s.Ended() || placeOf(s.Key.Address()) != l.word(0) {
			continue
		}
		for _, cid := range w.disk.lane(s.ID).Kept {
			c, _ := get[delivery.Completion](w.disk, machine.Completions, string(cid))
			w.printf("%s: %s %s %s, with %s", w.names.of(string(cid)), c.Kind, w.names.of(c.Subject), c.Status, w.names.of(string(s.ID)))
		}
	}
	return nil
}
