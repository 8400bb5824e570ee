package view

import (
	"time"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
)

// Common is what every object has.
type Common struct {
	ID        string     `json:"id"`
	State     string     `json:"state"`
	Profile   string     `json:"profile"`
	Kind      string     `json:"kind,omitempty"`
	Route     string     `json:"route,omitempty"`
	Session   string     `json:"session,omitempty"`
	Reason    string     `json:"reason,omitempty"`
	NextAt    *time.Time `json:"next_at,omitempty"`
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt time.Time  `json:"updated_at"`
}

// Session is a session as the outside sees it.
type Session struct {
	Common
	DelegateFrom string     `json:"delegate_from,omitempty"`
	Delegation   string     `json:"delegation,omitempty"`
	Parent       string     `json:"parent,omitempty"` // the conversation that it goes on from
	Title        string     `json:"title,omitempty"`
	Depth        int        `json:"depth,omitempty"`
	Owner        string     `json:"owner,omitempty"` // the human-facing session at the end of the walk
	Path         []string   `json:"path,omitempty"`  // the walk there
	RouteVersion uint64     `json:"route_version,omitempty"`
	Turn         string     `json:"turn,omitempty"` // that runs
	Turns        int        `json:"turns"`
	Summaries    int        `json:"summaries,omitempty"` // how often it was summed up
	Waiting      int        `json:"waiting,omitempty"`   // texts and completions that wait for the next turn
	Kept         int        `json:"kept,omitempty"`      // results that came after the end
	EndedAt      *time.Time `json:"ended_at,omitempty"`
	EndReason    string     `json:"end_reason,omitempty"`
	Entries      []Entry    `json:"entries,omitempty"` // with show
}

// Entry is a transcript entry as the outside sees it.
type Entry struct {
	ID        string    `json:"id"`
	Kind      string    `json:"kind"`
	Content   string    `json:"content"`
	Turn      string    `json:"turn,omitempty"`
	Tool      string    `json:"tool,omitempty"`
	Calls     []string  `json:"calls,omitempty"`
	Speaker   string    `json:"speaker,omitempty"`
	SetAside  bool      `json:"set_aside,omitempty"` // by a later cut or summary: the model does not get it any more
	CreatedAt time.Time `json:"created_at"`
}

// Export is a session with all that its transcript holds. Its entries take the place of those of Session.
type Export struct {
	Session
	Entries []ExportedEntry `json:"entries"`
}

// ExportedEntry is a transcript entry with nothing left out.
type ExportedEntry struct {
	ID         string         `json:"id"`
	Kind       string         `json:"kind"`
	Content    string         `json:"content"`
	Turn       string         `json:"turn,omitempty"`
	Speaker    string         `json:"speaker,omitempty"`
	Calls      []ExportedCall `json:"calls,omitempty"`   // of the agent
	CallID     string         `json:"call_id,omitempty"` // which call a result answers
	Tool       string         `json:"tool,omitempty"`
	Completion string         `json:"completion,omitempty"` // what a notice tells of
	CreatedAt  time.Time      `json:"created_at"`
}

// ExportedCall is a tool call as the model made it; the arguments are its own text, usually JSON.
type ExportedCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// QueueEntry is a completion or an outgoing message.
type QueueEntry struct {
	Common
	Queue    string   `json:"queue"`    // "completion" or "outgoing"
	Attempts int      `json:"attempts"` // that failed
	Subject  string   `json:"subject,omitempty"`
	Status   string   `json:"status,omitempty"`
	Pin      string   `json:"pin,omitempty"`
	Owner    string   `json:"owner,omitempty"`
	Path     []string `json:"path,omitempty"`
	Version  uint64   `json:"route_version,omitempty"`
	Kept     string   `json:"kept,omitempty"`
	Turn     string   `json:"turn,omitempty"`
	Origin   string   `json:"origin,omitempty"`
	Platform string   `json:"platform,omitempty"`
	Cause    string   `json:"cause,omitempty"`
	Class    string   `json:"class,omitempty"`
	Detail   string   `json:"detail,omitempty"` // the platform's words
	Text     string   `json:"text,omitempty"`
	Parts    []Part   `json:"parts,omitempty"`
}

// Part is one part of an outgoing message.
type Part struct {
	State     string `json:"state"`
	MessageID string `json:"message_id,omitempty"`
	File      string `json:"file,omitempty"` // its name, where the part is one
	Plain     bool   `json:"plain,omitempty"`
	Marked    bool   `json:"marked,omitempty"`
}

// Process is a process as the outside sees it.
type Process struct {
	Common
	Command    string     `json:"command"`
	Owner      string     `json:"owner"`
	StartedBy  string     `json:"started_by"`
	PID        int        `json:"pid,omitempty"`
	ExitCode   *int       `json:"exit_code"`
	Signal     string     `json:"signal,omitempty"`
	Background bool       `json:"background"`
	Notify     bool       `json:"notify"`
	Purpose    string     `json:"purpose,omitempty"`
	HandedOff  string     `json:"handed_off_by,omitempty"`
	Turn       string     `json:"turn,omitempty"`
	Completion string     `json:"completion,omitempty"`
	StartedAt  *time.Time `json:"started_at,omitempty"`
	EndedAt    *time.Time `json:"ended_at,omitempty"`
}

// Delegation is a delegation as the outside sees it.
type Delegation struct {
	Common
	Turn       string     `json:"turn,omitempty"`
	Background bool       `json:"background"`
	Completion string     `json:"completion,omitempty"`
	Subagents  []Subagent `json:"subagents"`
	EndedAt    *time.Time `json:"ended_at,omitempty"`
}

// Subagent is one child of a delegation.
type Subagent struct {
	SubagentID string   `json:"subagent_id"`
	Goal       string   `json:"goal"`
	State      string   `json:"state"`
	Summary    string   `json:"summary,omitempty"`
	Error      string   `json:"error,omitempty"`
	ModelCalls int      `json:"model_calls,omitempty"`
	HandedOff  []string `json:"handed_off_processes,omitempty"`
	Orphaned   []string `json:"orphaned_processes,omitempty"`
}

// at gives a time that is set, nil for the zero time.
func at(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func sessionObject(s session.Session, l machine.Lane) Session {
	state := "live"
	if s.Ended() {
		state = "ended"
	}
	return Session{
		Common: Common{
			ID: string(s.ID), State: state, Profile: s.Profile, Kind: string(s.Kind), Route: string(s.Key), Session: string(s.ID),
			CreatedAt: s.CreatedAt, UpdatedAt: s.ActiveAt,
		},
		DelegateFrom: string(s.DelegateFrom), Delegation: string(s.Delegation), Parent: string(s.Parent), Title: s.Title, Depth: s.Depth,
		Turn: string(l.Turn), Turns: l.Turns, Summaries: l.Summaries, Waiting: len(l.Texts) + len(l.Inbox) + len(l.Overflow), Kept: len(l.Kept),
		EndedAt: at(s.EndedAt), EndReason: string(s.EndReason),
	}
}

func path(v session.Verdict) []string {
	var out []string
	for _, h := range v.Path {
		out = append(out, string(h.Session))
	}
	return out
}

func completionObject(c delivery.Completion) QueueEntry {
	return QueueEntry{
		Common: Common{
			ID: string(c.ID), State: string(c.State), Profile: c.Profile, Kind: string(c.Kind), Route: string(c.Verdict.Key), Session: string(c.Owner),
			Reason: c.Reason, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
		},
		Queue: "completion", Subject: c.Subject, Status: c.Status, Pin: string(c.Pin), Owner: string(c.Owner), Path: path(c.Verdict),
		Version: c.Verdict.Version, Kept: string(c.Kept), Turn: string(c.Turn), Origin: string(c.Origin), Text: c.Notice,
	}
}

// Serves tells whether what waits for an account may go out. It is nil where nobody can know: no daemon runs.
type Serves func(chat.Account) bool

// ReasonNotServed is why a message waits for as long as its account is not switched on.
const ReasonNotServed = "not_served"

func outgoingObject(m delivery.Outgoing, route string, serves Serves) QueueEntry {
	q := QueueEntry{
		Common: Common{
			ID: string(m.ID), State: string(m.State), Profile: m.Profile, Kind: "message", Route: route, Session: string(m.Session),
			Reason: m.Reason, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
		},
		Queue: "outgoing", Attempts: m.Attempts, Turn: string(m.Turn), Platform: string(m.To.Platform), Cause: m.Cause, Class: m.Class, Detail: m.Detail, Text: m.Text,
		Parts: []Part{},
	}
	switch {
	case !m.Finished() && serves != nil && !serves(m.To.Account):
		q.Reason = ReasonNotServed
	case m.State == delivery.Queued:
		q.NextAt = at(m.NextAt)
	}
	for _, p := range m.Parts {
		part := Part{State: string(p.State), MessageID: p.MessageID, Plain: p.Plain, Marked: p.Marked}
		if p.File && m.File != nil {
			part.File = m.File.Name
		}
		q.Parts = append(q.Parts, part)
	}
	if len(q.Parts) == 0 { // not rendered yet: one part at least
		q.Parts = []Part{{State: string(m.State)}}
	}
	return q
}

func processObject(p machine.Process) Process {
	state := string(p.State)
	if p.State == machine.ProcessStarting {
		state = string(machine.ProcessRunning)
	}
	reason := p.Kill
	if reason == "" {
		reason = p.Detail
	}
	return Process{
		Common: Common{
			ID: string(p.ID), State: state, Profile: p.Profile, Kind: "process", Session: string(p.Owner), Reason: reason,
			CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt,
		},
		Command: p.Command, Owner: string(p.Owner), StartedBy: string(p.StartedBy), PID: p.PID, ExitCode: p.ExitCode, Signal: p.Signal,
		Background: p.Background, Notify: p.Notify, Purpose: p.Purpose, HandedOff: p.HandedOff, Turn: string(p.Turn),
		Completion: string(p.Completion), StartedAt: at(p.StartedAt), EndedAt: at(p.EndedAt),
	}
}

func delegationObject(d machine.Delegation) Delegation {
	out := Delegation{
		Common: Common{
			ID: string(d.ID), State: string(d.State), Profile: d.Profile, Kind: "delegation", Session: string(d.Session),
			CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt,
		},
		Turn: string(d.Turn), Background: d.Background, Completion: string(d.Completion), Subagents: []Subagent{}, EndedAt: at(d.EndedAt),
	}
	for _, c := range d.Children {
		s := Subagent{SubagentID: string(c.Session), Goal: c.Goal, State: string(c.State)}
		if r := c.Report; r != nil {
			s.Summary, s.Error, s.ModelCalls, s.HandedOff, s.Orphaned = r.Summary, r.Error, r.ModelCalls, r.HandedOff, r.Orphaned
		}
		out.Subagents = append(out.Subagents, s)
	}
	return out
}
