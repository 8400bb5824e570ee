package view

import (
	"time"

	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
	"github.com/homing-gateway/homing/internal/store"
)

// Status is how a daemon stands.
type Status struct {
	Common
	Version   string       `json:"version"`
	PID       int          `json:"pid,omitempty"`
	DataDir   string       `json:"data_dir"`
	Platforms []Platform   `json:"platforms"`
	HTTP      *HTTP        `json:"http,omitempty"`
	Counts    Counts       `json:"counts"`
	Storage   StorageState `json:"storage"`
}

// HTTP is where the daemon listens.
type HTTP struct {
	Listen string `json:"listen"`
}

// Platform is how an account stands.
type Platform struct {
	Profile     string     `json:"profile"`
	Platform    string     `json:"platform"`
	Account     string     `json:"account"`
	State       string     `json:"state"`
	Cause       string     `json:"cause,omitempty"`
	Remedy      string     `json:"remedy,omitempty"`
	Since       time.Time  `json:"since"`
	LastInbound *time.Time `json:"last_inbound,omitempty"`
	LastError   string     `json:"last_error,omitempty"`
}

// StorageState is how the store stands.
type StorageState struct {
	Engine string `json:"engine"`
	File   string `json:"file"`
	Bytes  int64  `json:"bytes"`
}

// Counts are the numbers of `homing status`.
type Counts struct {
	Sessions         int        `json:"sessions_live"`
	Turns            int        `json:"turns_running"`
	Completions      int        `json:"completions_waiting"`
	Outgoing         int        `json:"outgoing_waiting"`
	Oldest           *time.Time `json:"oldest_waiting,omitempty"`
	OldestCompletion *time.Time `json:"oldest_completion,omitempty"`
	OldestOutgoing   *time.Time `json:"oldest_outgoing,omitempty"`
	DeadCompletions  int        `json:"dead_completions"`
	DeadOutgoing     int        `json:"dead_outgoing"`
	UnknownOutgoing  int        `json:"unknown_outgoing"` // may have arrived: a person decides
	Delegations      int        `json:"delegations_running"`
	Processes        int        `json:"processes_running"`
	SetAside         int        `json:"events_set_aside"`
}

// Count counts what lives in the store.
func Count(db *store.DB) (Counts, error) {
	var c Counts
	wait := func(n *int, oldest **time.Time, since time.Time) {
		*n++
		if *oldest == nil || since.Before(**oldest) {
			*oldest = &since
		}
	}
	sessions, err := store.Each(db, machine.Sessions, "", func(s session.Session) bool { return !s.Ended() })
	if err != nil {
		return c, err
	}
	c.Sessions, c.Turns = len(sessions), db.Count(machine.Turns)
	if _, err := store.Each(db, machine.Completions, "", func(x delivery.Completion) bool {
		if x.State == delivery.Dead {
			c.DeadCompletions++
		} else {
			wait(&c.Completions, &c.OldestCompletion, x.PendingSince)
		}
		return false
	}); err != nil {
		return c, err
	}
	if _, err := store.Each(db, machine.Outgoings, "", func(m delivery.Outgoing) bool {
		switch {
		case m.State == delivery.Unknown:
			c.UnknownOutgoing++
		case m.Finished():
			c.DeadOutgoing++
		default:
			wait(&c.Outgoing, &c.OldestOutgoing, m.QueuedAt)
		}
		return false
	}); err != nil {
		return c, err
	}
	if _, err := store.Each(db, machine.Delegations, "", func(d machine.Delegation) bool {
		if d.State == machine.DelegationRunning {
			c.Delegations++
		}
		return false
	}); err != nil {
		return c, err
	}
	_, err = store.Each(db, machine.Processes, "", func(p machine.Process) bool {
		if !p.State.Ended() {
			c.Processes++
		}
		return false
	})
	c.SetAside = db.Count(machine.Asides)
	c.Oldest = c.OldestCompletion
	if o := c.OldestOutgoing; o != nil && (c.Oldest == nil || o.Before(*c.Oldest)) {
		c.Oldest = o
	}
	return c, err
}
