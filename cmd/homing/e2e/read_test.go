package e2e

import (
	"encoding/json"
	"slices"
	"strings"
)

// What the command line prints as JSON, as far as tests read it.
type (
	object struct {
		ID, State, Profile, Kind, Route, Session, Reason string
		Created                                          string `json:"created_at"`
		Updated                                          string `json:"updated_at"`
	}
	session struct {
		object
		DelegateFrom string `json:"delegate_from"`
		Parent       string
		Delegation   string
		Owner        string
		Turn         string
		RouteVersion int    `json:"route_version"`
		EndReason    string `json:"end_reason"`
		EndedAt      string `json:"ended_at"`
		Entries      []struct {
			Kind, Content, Tool string
			SetAside            bool `json:"set_aside"`
		}
	}
	queued struct {
		object
		Queue, Subject, Status, Owner, Class, Detail, Text string
		Attempts                                           int
		Next                                               string `json:"next_at"`
		Parts                                              []struct {
			State     string
			MessageID string `json:"message_id"`
			Marked    bool
		}
	}
	process struct {
		object
		Command, Owner, Signal string
		StartedBy              string `json:"started_by"`
		PID                    int
		ExitCode               *int `json:"exit_code"`
	}
	delegation struct {
		object
		Subagents []struct {
			SubagentID           string `json:"subagent_id"`
			Goal, State, Summary string
		}
	}
	platform struct{ Platform, Account, State, Cause, Remedy string }
	status   struct {
		object
		PID       int
		Platforms []platform
		HTTP      struct{ Listen string }
	}
)

// read reads what a command prints with --json.
func read[T any](w *world, args ...string) T {
	w.Helper()
	var v T
	out := w.do(append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		w.Fatalf("homing %s --json: %v\n%s", strings.Join(args, " "), err, out)
	}
	return v
}

func (w *world) sessions() []session {
	w.Helper()
	return read[[]session](w, "sessions", "ls")
}

// conversations are the sessions with people.
func (w *world) conversations() []session {
	w.Helper()
	return slices.DeleteFunc(w.sessions(), func(s session) bool { return s.DelegateFrom != "" })
}

// current is the conversation that the place's route names.
func (p *place) current() session {
	p.Helper()
	var found []session
	for _, s := range p.conversations() {
		if s.Route == p.route() && s.State == "live" {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		p.Fatalf("%d live conversations in %s, want one: %+v", len(found), p.route(), found)
	}
	return found[0]
}

// unmoved holds that the place's route names the same conversation in the same version, that it has not ended, and that
// the place never had another one.
func (p *place) unmoved(before session) {
	p.Helper()
	for _, s := range p.conversations() {
		switch {
		case s.Route != p.route():
		case s.ID != before.ID:
			p.Errorf("another conversation in %s: %s", p.name, s.ID)
		case s.State != "live" || s.EndReason != "" || s.EndedAt != "" || s.RouteVersion != before.RouteVersion:
			p.Errorf("the conversation of %s was touched: %s, %q, version %d, was %d", p.name, s.State, s.EndReason, s.RouteVersion, before.RouteVersion)
		}
	}
}

// queue is what waits or is dead; with "--all" what is done too.
func (w *world) queue(more ...string) []queued {
	w.Helper()
	return read[[]queued](w, append([]string{"queue", "ls"}, more...)...)
}

// process finds the process whose command holds a word.
func (w *world) process(word string) process {
	w.Helper()
	for _, p := range read[[]process](w, "processes", "ls") {
		if strings.Contains(p.Command, word) {
			return p
		}
	}
	return process{}
}

// processIs waits until the process whose command holds a word is in a state.
func (w *world) processIs(word, state string) process {
	w.Helper()
	w.until("the process "+word+" is "+state, func() bool { return w.process(word).State == state })
	return w.process(word)
}

// dead waits for a dead letter.
func (w *world) dead(queue, reason string) queued {
	w.Helper()
	var found queued
	w.until("a dead letter of "+queue+" with "+reason, func() bool {
		for _, q := range w.queue() {
			if q.Queue == queue && q.State == "dead" && q.Reason == reason {
				found = q
				return true
			}
		}
		return false
	})
	return found
}

// telegram is how the account stands.
func (w *world) telegram() platform {
	w.Helper()
	list := read[status](w, "status").Platforms
	i := slices.IndexFunc(list, func(p platform) bool { return p.Platform == "telegram" })
	if i < 0 {
		w.Fatalf("no telegram in %+v", list)
	}
	return list[i]
}
