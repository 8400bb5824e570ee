package machine_test

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
)

// outside is how processes stand in the world outside, whatever the daemon knows of it. It survives a crash.
type outside map[id.Process]stand

type stand uint8

const (
	unstarted stand = iota
	runs
	leaderGone // the leader has ended, something in its group goes on
	over
)

// processes are started, end, and are reported; what happened outside may be reported later, or again after a crash.
func (h *history) processes() []string {
	var lines []string
	for _, p := range all[machine.Process](h.w.disk, machine.Processes) {
		n := h.name(p.ID)
		if p.State.Ended() {
			if h.out[p.ID] != over {
				h.out[p.ID] = over
			}
			continue
		}
		if !h.tended(p.ID) {
			continue // nobody sees to it: the daemon has to ask first
		}
		lines = append(lines, "exit "+n+" 0", "exit "+n+" 1", "lost "+n)
		if p.State == machine.ProcessStarting {
			lines = append(lines, "started "+n, "started "+n, "started "+n, "failed "+n)
		}
		if p.Kill != "" {
			lines = append(lines, "killed "+n, "killed "+n)
		}
		if !p.Background {
			lines = append(lines, "promote "+n+" 120s", "overdue "+n)
		}
		if !p.LeftRunning {
			lines = append(lines, "left "+n+" 0")
		}
	}
	return lines
}

// tended tells whether this life of the daemon was asked to see to the process.
func (h *history) tended(p id.Process) bool {
	for _, e := range h.w.todo {
		if t, ok := e.(machine.Tend); ok && t.Process.ID == p {
			return true
		}
	}
	return false
}

// platforms take messages, refuse them, or leave it open.
func (h *history) platforms() []string {
	var lines []string
	for _, e := range h.w.todo {
		var m id.Outgoing
		switch e := e.(type) {
		case machine.Prepare:
			m = e.Outgoing.ID
			lines = append(lines, fmt.Sprintf("claim %s parts=2%s", h.name(m), h.dedup(m)), fmt.Sprintf("claim %s anew", h.name(m)))
		case machine.Transmit:
			m = e.Outgoing.ID
		case machine.Observe:
			for _, outcome := range []string{"found", "missing", "unreachable", "refused"} {
				lines = append(lines, fmt.Sprintf("look %s %s", h.name(e.Outgoing.ID), outcome))
			}
			continue
		default:
			continue
		}
		for _, outcome := range []string{
			"ok", "ok", "429 7s", "unreachable", "500 healthy", "500", "unknown", "refused blocked", "refused markup",
			"refused thread_gone", "moved chat-new",
		} {
			lines = append(lines, fmt.Sprintf("send %s %s%s", h.name(m), outcome, h.dedup(m)))
		}
	}
	for _, e := range h.w.todo {
		switch e := e.(type) {
		case machine.Fetch:
			f := h.w.names.shorten(e.File.Path)
			f = strings.TrimSuffix(strings.TrimPrefix(f, "in/"), path.Ext(f))
			lines = append(lines, "fetched "+f, fmt.Sprintf("fetched %s %q", f, "it is gone"))
		case machine.Discard:
			if e.Session != "" {
				lines = append(lines, "discarded")
			}
		}
	}
	return append(lines, "reachable dm", "again 1")
}

// previews are sent while a turn runs, also as it ends, and taken back.
func (h *history) previews() (lines []string) {
	shown := map[id.Turn]bool{}
	for _, p := range all[machine.Preview](h.w.disk, machine.Previews) {
		n := h.name(p.Turn)
		switch shown[p.Turn] = true; {
		case p.MessageID == "":
			lines = append(lines, "preview "+n+" stands", "preview "+n+" stands", "preview "+n+" fails")
		case p.Leaving:
			lines = append(lines, "preview "+n+" gone")
		default:
			lines = append(lines, "preview "+n+" strays")
		}
	}
	for _, e := range h.w.todo {
		if e, ok := e.(machine.RunStep); ok && !shown[e.Turn.ID] {
			lines = append(lines, "preview "+h.name(e.Turn.ID)+" begins")
		}
	}
	return lines
}

// dedup: a third of the messages goes to a platform that deduplicates, and a third to one that can be asked.
func (h *history) dedup(m id.Outgoing) string {
	switch n := h.name(m); n[len(n)-1] % 3 {
	case 0:
		return " idempotent"
	case 1:
		return " observable"
	}
	return ""
}

// settle carries everything out that is outstanding, with success, and tells what is stuck then. People speak once more
// everywhere, because after /stop what was admitted waits for that.
func (h *history) settle() error {
	if h.w.broken != nil {
		return errors.New(h.w.names.shorten(h.w.broken.Error()))
	}
	h.do("policy inbox=2 iterations=90 expire=0s")
	h.w.full = 0
	if err := h.drain(); err != nil {
		return err
	}
	var stuck error
	for round := range 20 { // each turn takes what the inbox holds
		if stuck = h.stuck(); stuck == nil {
			return nil
		}
		for _, r := range all[session.Route](h.w.disk, machine.Routes) {
			if name := h.w.names.shorten(string(r.Key)); r.Current != "" {
				h.do("say %s %q", name, fmt.Sprintf("text %s at last, %d", name, round))
			}
		}
		if err := h.drain(); err != nil {
			return err
		}
	}
	return errors.New(h.w.names.shorten(stuck.Error()))
}

// drain carries out until nothing is left to do.
func (h *history) drain() error {
	for range 2000 {
		if h.w.broken != nil {
			return errors.New(h.w.names.shorten(h.w.broken.Error()))
		}
		line := h.next()
		if line == "" {
			return nil
		}
		h.do("%s", line)
	}
	return errors.New("it does not come to an end")
}

// next is the first thing that is outstanding.
func (h *history) next() string {
	for i, e := range h.w.todo {
		switch e := e.(type) {
		case machine.RunStep:
			if t, ok := get[machine.Turn](h.w.disk, machine.Turns, string(e.Turn.ID)); ok && t.Step == e.Turn.Step {
				return fmt.Sprintf(`answer %s "said"`, h.name(e.Session.ID))
			}
		case machine.Compact:
			if l := h.w.disk.lane(e.Session.ID); l.Compact != nil && l.Turn == "" {
				return fmt.Sprintf(`sum %s "s"`, h.name(e.Session.ID))
			}
		case machine.RunTool:
			if a, ok := get[machine.Action](h.w.disk, machine.Actions, string(e.Action.ID)); ok && a.State == machine.ActionRunning {
				return "done " + h.name(a.ID)
			}
		case machine.Fetch:
			if l := h.w.disk.lane(e.Session); fileIn(l.Texts, e.File.Path) {
				f := h.w.names.shorten(e.File.Path)
				return "fetched " + strings.TrimSuffix(strings.TrimPrefix(f, "in/"), path.Ext(f))
			}
		case machine.Discard:
			if e.Session != "" {
				return "discarded"
			}
		case machine.Examine:
			if d, ok := get[machine.Delegation](h.w.disk, machine.Delegations, string(e.Delegation.ID)); ok && d.Selftest.Report == "" {
				return "examined " + h.name(d.ID)
			}
		case machine.Tend:
			if p, ok := get[machine.Process](h.w.disk, machine.Processes, string(e.Process.ID)); ok && !p.State.Ended() {
				return fmt.Sprintf("exit %s 0", h.name(p.ID))
			}
		case machine.Prepare:
			if m, ok := get[delivery.Outgoing](h.w.disk, machine.Outgoings, string(e.Outgoing.ID)); ok && m.State == delivery.Queued {
				return fmt.Sprintf("send %s ok%s", h.name(m.ID), h.dedup(m.ID))
			}
		case machine.Retract:
			if _, ok := get[machine.Preview](h.w.disk, machine.Previews, string(e.Preview.Turn)); ok {
				return "preview " + h.name(e.Preview.Turn) + " gone"
			}
		case machine.Transmit:
			m, ok := get[delivery.Outgoing](h.w.disk, machine.Outgoings, string(e.Outgoing.ID))
			if ok && m.State == delivery.Sending && m.Current() == e.Part {
				return fmt.Sprintf("send %s ok", h.name(m.ID))
			}
		case machine.Observe:
			m, ok := get[delivery.Outgoing](h.w.disk, machine.Outgoings, string(e.Outgoing.ID))
			if ok && m.Doubt != "" && m.Current() == e.Part {
				return fmt.Sprintf("look %s found", h.name(m.ID))
			}
		}
		h.w.todo = append(h.w.todo[:i:i], h.w.todo[i+1:]...) // it is over, or nothing is owed for it
		return h.next()
	}
	for _, p := range all[machine.Preview](h.w.disk, machine.Previews) {
		if p.MessageID == "" {
			return "preview " + h.name(p.Turn) + " stands"
		}
	}
	for _, x := range h.w.timers {
		if x.id != "prune" {
			return fmt.Sprintf("tick %s", max(x.after-h.w.elapsed, time.Second))
		}
	}
	return ""
}

// stuck names what did not come to its end.
func (h *history) stuck() error {
	d := h.w.disk
	for _, t := range all[machine.Turn](d, machine.Turns) {
		return fmt.Errorf("%s of %s is stuck as %s", t.ID, t.Session, t.State)
	}
	for _, l := range all[machine.Lane](d, machine.Lanes) {
		switch {
		case len(l.Texts) > 0:
			return fmt.Errorf("a text waits in %s", l.Session)
		case len(l.Discard) > 0:
			return fmt.Errorf("nobody removes what %s holds no longer", l.Session)
		}
		if l.Compact != nil {
			return fmt.Errorf("the person in %s waits for a summary", l.Session)
		}
	}
	for _, p := range all[machine.Process](d, machine.Processes) {
		if !p.State.Ended() {
			return fmt.Errorf("nobody sees to %s (%s)", p.ID, p.State)
		}
	}
	for _, x := range all[machine.Delegation](d, machine.Delegations) {
		if x.State == machine.DelegationRunning {
			return fmt.Errorf("%s does not end", x.ID)
		}
		if x.Selftest != nil && x.Selftest.Report == "" {
			return fmt.Errorf("nobody reports on %s", x.ID)
		}
	}
	for _, c := range all[delivery.Completion](d, machine.Completions) {
		if c.State != delivery.Dead {
			return fmt.Errorf("%s is stuck as %s", c.ID, c.State)
		}
	}
	for _, p := range all[machine.Preview](d, machine.Previews) {
		return fmt.Errorf("the preview of %s is left behind", p.Turn)
	}
	for _, m := range all[delivery.Outgoing](d, machine.Outgoings) {
		if !m.Finished() {
			return fmt.Errorf("%s is stuck as %s", m.ID, m.State)
		}
	}
	return nil
}
