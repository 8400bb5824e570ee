package machine_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
)

// reading is how far a transcript was read, and what it has open.
type reading struct {
	entries uint64
	open    []string // calls that are not answered
	last    machine.EntryKind
	all     []machine.Entry
	force   []machine.Entry // what the model gets
}

// spoke is the kind of the last entry that the model gets.
func (t *reading) spoke() machine.EntryKind {
	if len(t.force) == 0 {
		return ""
	}
	return t.force[len(t.force)-1].Kind
}

// add takes an entry. What is in force is worked out anew where entries are set aside.
func (t *reading) add(e machine.Entry) error {
	t.last, t.all = e.Kind, append(t.all, e)
	if e.Kind != machine.EntryCut && e.Kind != machine.EntrySummary {
		t.force = append(t.force, e)
		return nil
	}
	t.force = standing(t.all)
	if got := machine.InForce(t.all); !slices.Equal(numbers(got), numbers(t.force)) {
		return fmt.Errorf("InForce gives %v, want %v", numbers(got), numbers(t.force))
	}
	return legal(t.force)
}

// standing is what the model gets of a transcript, said entry by entry: not a cut; not what a later cut names (the agent's,
// or everything but what notices told); of summaries the last one that is not lifted; nothing that such a summary stands for.
func standing(all []machine.Entry) (out []machine.Entry) {
	lifted := func(s machine.Entry) bool {
		return slices.ContainsFunc(all, func(c machine.Entry) bool {
			return c.Kind == machine.EntryCut && c.Seq > s.Seq && c.From < s.From
		})
	}
	setsAside := func(e, x machine.Entry) bool {
		switch {
		case e.Seq < x.Seq:
			return false
		case e.Kind == machine.EntryCut:
			return x.Seq >= e.From && (x.Kind != machine.EntryNotice || x.Completion == "") && (x.Kind != machine.EntryUser || e.Texts)
		case e.Kind == machine.EntrySummary && !lifted(e):
			return x.Seq < e.From && !slices.Contains(e.Keep, x.Seq)
		}
		return false
	}
	var summary machine.Entry
	for _, x := range all {
		if x.Kind == machine.EntrySummary && !lifted(x) {
			summary = x
		}
	}
	for _, x := range all {
		if summary.Seq > 0 && x.Seq >= summary.From {
			out = append(out, summary)
			summary.Seq = 0
		}
		aside := slices.ContainsFunc(all, func(e machine.Entry) bool { return setsAside(e, x) })
		if x.Kind != machine.EntryCut && x.Kind != machine.EntrySummary && !aside {
			out = append(out, x)
		}
	}
	return out
}

func numbers(entries []machine.Entry) (out []uint64) {
	for _, e := range entries {
		out = append(out, e.Seq)
	}
	return out
}

// legal tells whether every result stands behind its call, and every call that is not among the last has its result.
func legal(force []machine.Entry) error {
	var open []string
	for _, e := range force {
		switch i := slices.Index(open, e.CallID); {
		case e.Kind == machine.EntryTool && i < 0:
			return fmt.Errorf("%v: the result %d is without its call", numbers(force), e.Seq)
		case e.Kind == machine.EntryTool:
			open = slices.Delete(open, i, i+1)
		case len(open) > 0:
			return fmt.Errorf("%v: %d stands between calls and results", numbers(force), e.Seq)
		}
		for _, c := range e.Calls {
			open = append(open, c.ID)
		}
	}
	return nil
}

// copied: a branch begins with what its parent's transcript holds, and notices that stand there stand in both.
func (r *rules) copied(c machine.Copy) error {
	from, to := r.transcripts[c.From], r.transcripts[c.To]
	switch {
	case from == nil || to != nil:
		return fmt.Errorf("%s is copied to %s, which has begun", c.From, c.To)
	case from.entries != c.Through || len(from.open) > 0:
		return fmt.Errorf("%d of %d entries of %s are copied, %v are open", c.Through, from.entries, c.From, from.open)
	}
	r.transcripts[c.To] = &reading{entries: from.entries, last: from.last, all: slices.Clone(from.all), force: slices.Clone(from.force)}
	for _, e := range r.w.disk.transcript(c.From) {
		if e.Completion != "" {
			r.entered[string(e.Completion)+" in "+string(c.To)]++
		}
	}
	return nil
}

// entries: transcripts are legal for strict providers.
func (r *rules) entries(s step) error {
	if s.lost {
		return nil
	}
	for _, c := range s.changes {
		if x, ok := c.Value.(machine.Copy); ok {
			if err := r.copied(x); err != nil {
				return err
			}
		}
		e, ok := c.Value.(machine.Entry)
		if !ok {
			continue
		}
		t := r.transcripts[e.Session]
		if t == nil {
			t = &reading{}
			r.transcripts[e.Session] = t
		}
		if t.entries++; e.Seq != t.entries || c.Key != machine.EntryKey(e.Session, e.Seq) {
			return fmt.Errorf("entry %d of %s comes as number %d", e.Seq, e.Session, t.entries)
		}
		switch {
		case e.Kind == machine.EntryTool:
			i := slices.Index(t.open, e.CallID)
			if i < 0 {
				return fmt.Errorf("%s: an answer to %s, which is not open", e.Session, e.CallID)
			}
			t.open = slices.Delete(t.open, i, i+1)
		case len(t.open) > 0:
			return fmt.Errorf("%s: a %s entry while %v are open", e.Session, e.Kind, t.open)
		case e.Kind == machine.EntryAssistant && (t.spoke() == machine.EntryAssistant || t.spoke() == ""):
			return fmt.Errorf("%s: the agent speaks after %q", e.Session, t.spoke())
		}
		if err := t.add(e); err != nil {
			return fmt.Errorf("%s: %w", e.Session, err)
		}
		for _, c := range e.Calls {
			t.open = append(t.open, c.ID)
		}
		for _, f := range e.Files {
			if r.files[f.Path]++; f.State == machine.FileOwed || f.Path != "" && r.files[f.Path] > 1 {
				return fmt.Errorf("%s: the file %s (%s) is in a transcript for the %d. time", e.Session, f.Path, f.State, r.files[f.Path])
			}
		}
		if e.Completion != "" {
			k := string(e.Completion) + " in " + string(e.Session)
			if r.entered[k]++; r.entered[k] > 1 {
				return fmt.Errorf("%s stands there twice", k)
			}
		}
		if e.Kind == machine.EntryUser && strings.HasPrefix(e.Content, "text ") { // S-10, R-08
			if r.texts[e.Content]++; r.texts[e.Content] > 1 {
				return fmt.Errorf("%q was run twice", e.Content)
			}
		}
	}
	for sid, t := range r.transcripts {
		l := s.after.lane(sid)
		if l.Entries != t.entries || l.LastEntry != t.last {
			return fmt.Errorf("the lane of %s counts %d entries, last %s", sid, l.Entries, l.LastEntry)
		}
		if len(t.open) > 0 && l.Turn == "" {
			return fmt.Errorf("%s rests with open calls", sid)
		}
	}
	for _, e := range s.effects {
		step, ok := e.Effect.(machine.RunStep)
		if !ok {
			continue
		}
		now, live := get[machine.Turn](s.after, machine.Turns, string(step.Turn.ID))
		if t := r.transcripts[now.Session]; live && now.Step == step.Turn.Step && len(now.Actions) == 0 &&
			(t.spoke() == machine.EntryAssistant || t.spoke() == "" || len(t.open) > 0) {
			return fmt.Errorf("the model is asked after its own words in %s", step.Session.ID)
		}
	}
	return nil
}

// partSent is what is known of one part of a message.
type partSent struct{ arrived, open bool }

// sending: in each chat what was queued first is sent first; what arrived is not sent again, and what may have arrived
// only with the mark.
func (r *rules) sending(s step) error {
	if s.lost {
		return nil
	}
	if _, crashed := s.request.(machine.Recover); crashed {
		for _, m := range all[delivery.Outgoing](s.before, machine.Outgoings) {
			if i := m.Current(); m.State == delivery.Sending && m.Parts[i].Edits == "" { // the same text put into a message twice is there once
				r.part(m.ID, i).open = true
			}
			if meta, _ := get[machine.Meta](s.before, machine.Metas, "meta"); meta.Restored && !m.Finished() {
				r.doubtful[m.ID] = true
			}
		}
	}
	if d, ok := s.request.(machine.SendDone); ok && s.err == nil {
		p := r.part(d.Outgoing, d.Part)
		switch f := d.Outcome.Failure; {
		case f == nil:
			p.arrived = true
		case f.Fault == "unknown":
			m, _ := get[delivery.Outgoing](s.before, machine.Outgoings, string(d.Outgoing))
			p.open = p.open || m.Parts[d.Part].Edits == ""
		}
	}
	if d, ok := s.request.(machine.Observed); ok && s.err == nil && d.Sighting.Failure == nil {
		p := r.part(d.Outgoing, d.Part)
		p.arrived, p.open = d.Sighting.Found, false
	}
	if q, ok := s.request.(machine.Requeue); ok && s.err == nil && q.To != nil { // anew, for another place
		delete(r.doubtful, id.Outgoing(q.ID))
		for k := range r.parts {
			if strings.HasPrefix(k, q.ID+".") {
				delete(r.parts, k)
			}
		}
	}
	for _, c := range s.changes { // in the order of ids, which is that of their making within a step
		m, ok := c.Value.(delivery.Outgoing)
		switch k := chatOf(m.To); {
		case !ok:
		case m.Finished():
			for k, q := range r.queues {
				r.queues[k] = slices.DeleteFunc(q, func(x id.Outgoing) bool { return x == m.ID })
			}
			delete(r.queued, m.ID)
		case !r.queued[m.ID]:
			r.queued[m.ID] = true
			r.queues[k] = append(r.queues[k], m.ID)
		}
	}
	for _, m := range all[delivery.Outgoing](s.after, machine.Outgoings) {
		if m.State == delivery.Sending && r.queues[chatOf(m.To)][0] != m.ID {
			return fmt.Errorf("%s is sent before %s", m.ID, r.queues[chatOf(m.To)][0])
		}
		sending := 0
		for _, p := range m.Parts {
			if p.State == delivery.Sending {
				sending++
			}
		}
		if want := map[bool]int{true: 1}[m.State == delivery.Sending]; sending != want {
			return fmt.Errorf("%s is %s and %d of its parts are being sent", m.ID, m.State, sending)
		}
	}
	for _, e := range s.effects {
		t, ok := e.Effect.(machine.Transmit)
		if !ok {
			continue
		}
		p := r.part(t.Outgoing.ID, t.Part)
		switch {
		case p.arrived:
			return fmt.Errorf("part %d of %s is sent again", t.Part, t.Outgoing.ID)
		case (p.open || r.doubtful[t.Outgoing.ID]) && !t.Outgoing.Idempotent && !t.Outgoing.Parts[t.Part].Marked:
			return fmt.Errorf("part %d of %s may have arrived and goes again without the mark", t.Part, t.Outgoing.ID)
		}
	}
	return nil
}

// previews: each is of use to somebody; nothing that became an answer is taken back; and an answer is put into a preview
// only where that stands.
func (r *rules) previews(s step) error {
	for _, p := range all[machine.Preview](s.after, machine.Previews) {
		_, runs := get[machine.Turn](s.after, machine.Turns, string(p.Turn))
		m, awaited := get[delivery.Outgoing](s.after, machine.Outgoings, string(p.Answer))
		awaited = awaited && !m.Finished()
		of := 0
		for _, x := range []bool{runs && p.Answer == "", awaited && p.MessageID != "" && !p.Leaving, p.Leaving} {
			if x {
				of++
			}
		}
		if of != 1 {
			return fmt.Errorf("the preview of %s (%+v) is nobody's", p.Turn, p)
		}
	}
	for _, e := range s.effects {
		switch e := e.Effect.(type) {
		case machine.Retract:
			for _, t := range []machine.Table{machine.Outgoings, machine.Outgoings.Done()} {
				for _, m := range all[delivery.Outgoing](s.after, t) {
					for _, p := range m.Parts {
						if p.State == delivery.Sent && p.MessageID == e.Preview.MessageID {
							return fmt.Errorf("%s is taken back, and it is the answer %s", p.MessageID, m.ID)
						}
					}
				}
			}
		case machine.Transmit:
			edits := e.Outgoing.Parts[e.Part].Edits
			if p, ok := get[machine.Preview](s.after, machine.Previews, string(e.Outgoing.Turn)); edits != "" && (!ok || p.MessageID != edits || p.Leaving) {
				return fmt.Errorf("%s is put into %s, which is no preview", e.Outgoing.ID, edits)
			}
		}
	}
	return nil
}

func (r *rules) part(m id.Outgoing, i int) *partSent {
	k := fmt.Sprintf("%s.%d", m, i)
	if r.parts[k] == nil {
		r.parts[k] = &partSent{}
	}
	return r.parts[k]
}

// effects: each bears the number of a commit that happened, and what it names was in it. // rule 7
func (r *rules) effects(s step) error {
	meta, _ := get[machine.Meta](s.after, machine.Metas, "meta")
	for _, e := range s.effects {
		if e.Commit > meta.Commit {
			return fmt.Errorf("%T of commit %d, committed are %d", e.Effect, e.Commit, meta.Commit)
		}
		ok := true
		switch e := e.Effect.(type) {
		case machine.Compact:
			ok = s.after.lane(e.Session.ID).Compact != nil
		case machine.RunStep:
			_, ok = either[machine.Turn](s.after, machine.Turns, string(e.Turn.ID))
		case machine.RunTool:
			_, ok = either[machine.Action](s.after, machine.Actions, string(e.Action.ID))
		case machine.Release:
			_, ok = either[machine.Action](s.after, machine.Actions, string(e.Action))
		case machine.Tend:
			_, ok = get[machine.Process](s.after, machine.Processes, string(e.Process.ID))
		case machine.Promote:
			_, ok = get[machine.Process](s.after, machine.Processes, string(e.Process))
		case machine.Kill:
			var p machine.Process
			p, ok = get[machine.Process](s.after, machine.Processes, string(e.Process))
			ok = ok && p.Kill != ""
		case machine.Prepare:
			_, ok = get[delivery.Outgoing](s.after, machine.Outgoings, string(e.Outgoing.ID))
		case machine.Transmit:
			var m delivery.Outgoing
			m, ok = get[delivery.Outgoing](s.after, machine.Outgoings, string(e.Outgoing.ID))
			ok = ok && m.State == delivery.Sending && m.Doubt == "" && m.Parts[e.Part].State == delivery.Sending
		case machine.Observe:
			var m delivery.Outgoing
			m, ok = get[delivery.Outgoing](s.after, machine.Outgoings, string(e.Outgoing.ID))
			ok = ok && m.Doubt != "" && m.Current() == e.Part
		case machine.Fetch:
			ok = fileIn(s.after.lane(e.Session).Texts, e.File.Path)
		case machine.Discard:
			ok = e.Session == "" || len(s.after.lane(e.Session).Discard) > 0
			for _, p := range e.Paths {
				ok = ok && !stillSent(s.after, p) && r.files[p] == 0
			}
		case machine.Settled:
			_, ok = get[machine.Turn](s.after, machine.Turns.Done(), string(e.Turn.ID))
		}
		if !ok {
			return fmt.Errorf("%T names what is not committed", e.Effect)
		}
	}
	return nil
}
