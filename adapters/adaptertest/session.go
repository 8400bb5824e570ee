package adaptertest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
)

// patient is how long a session waits for what has to come: by a bubble's clock, or far too long.
const patient = 5 * time.Minute

// Session is one Run of an adapter with a core that stores what it admits, for an adapter's own tests. The suite has a core of
// its own, which calls Run again and again.
type Session struct {
	Refuse func(chat.Event) error // what admit says before it stores; nil: it stores all
	Once   bool                   // each id is stored once

	mu sync.Mutex
	// Events are what was stored, Again is how often an id came that was there, Ups how often the account was up. Look at them
	// in Until, or when nothing can come.
	Events     []chat.Event
	Again, Ups int

	change chan struct{}
	cancel context.CancelFunc
	done   chan error
}

// Begin starts Run. Stop or End waits for it; at the latest the test's end stops it.
func (s *Session) Begin(t *testing.T, a chat.Adapter, cursor string) *Session {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s.change, s.cancel, s.done = make(chan struct{}, 1), cancel, make(chan error, 1)
	go func() { s.done <- a.Run(ctx, cursor, s.Admit, s.up) }()
	t.Cleanup(cancel)
	return s
}

// Admit stores an event.
func (s *Session) Admit(_ context.Context, e chat.Event) error {
	if s.Refuse != nil {
		if err := s.Refuse(e); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.wake()
	if s.Once && slices.ContainsFunc(s.Events, func(x chat.Event) bool { return x.ID == e.ID }) {
		s.Again++
		return nil
	}
	s.Events = append(s.Events, e)
	return nil
}

func (s *Session) up() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Ups++
	s.wake()
}

func (s *Session) wake() {
	select {
	case s.change <- struct{}{}:
	default:
	}
}

// Await waits until n events are stored and gives them.
func (s *Session) Await(t *testing.T, n int) []chat.Event {
	t.Helper()
	s.Until(t, func() bool { return len(s.Events) >= n })
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.Events)
}

// Until waits until ok holds, as long as Run goes on.
func (s *Session) Until(t *testing.T, ok func() bool) {
	t.Helper()
	limit := time.NewTimer(patient)
	defer limit.Stop()
	for {
		s.mu.Lock()
		holds := ok()
		s.mu.Unlock()
		if holds {
			return
		}
		select {
		case <-s.change:
		case err := <-s.done:
			t.Fatalf("Run ended: %v; events so far: %+v", err, s.Events)
		case <-limit.C:
			t.Fatalf("waited in vain; events so far: %+v", s.Events)
		}
	}
}

// Ended has what Run returned, once.
func (s *Session) Ended() <-chan error { return s.done }

// Cancel ends the context of Run.
func (s *Session) Cancel() { s.cancel() }

// End waits for Run to return by itself.
func (s *Session) End(t *testing.T) error {
	t.Helper()
	limit := time.NewTimer(patient)
	defer limit.Stop()
	select {
	case err := <-s.done:
		return err
	case <-limit.C:
		t.Fatal("Run goes on")
		return nil
	}
}

// Stop ends Run as the core does.
func (s *Session) Stop(t *testing.T) {
	t.Helper()
	s.Cancel()
	err := s.End(t)
	if _, fault := errors.AsType[*chat.RunError](err); fault || !errors.Is(err, context.Canceled) {
		t.Errorf("Run after a stop: %v, want no fault, but context.Canceled", err)
	}
}

// RunError is why Run ended, which the core has to know.
func RunError(t *testing.T, err error) *chat.RunError {
	t.Helper()
	e, ok := errors.AsType[*chat.RunError](err)
	if !ok {
		t.Fatalf("%T %v, want a RunError", err, err)
	}
	return e
}

// SendError is why a send did not succeed.
func SendError(t *testing.T, err error) *chat.SendError {
	t.Helper()
	e, ok := errors.AsType[*chat.SendError](err)
	if !ok {
		t.Fatalf("%T %v, want a SendError", err, err)
	}
	return e
}
