package machine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
)

// running is a machine with a store that the test holds in its hands: each commit waits for a word.
type running struct {
	*machine.Machine
	verdicts  chan error // one for each commit
	committed []int      // changes of each commit that succeeded
	out       []machine.Issued
	outs      int
	done      chan error
	stop      context.CancelFunc
}

func run(t *testing.T) *running {
	t.Helper()
	r := &running{verdicts: make(chan error), done: make(chan error, 1)}
	state := machine.NewState(func(string) machine.Policy { return newWorld().policy }, id.NewSource(rand.NewChaCha8([32]byte{1})))
	commit := func(changes []machine.Change) error {
		err := <-r.verdicts
		if err == nil {
			r.committed = append(r.committed, len(changes))
		}
		return err
	}
	out := func(effects []machine.Issued, _ []machine.Record) {
		for _, e := range effects {
			if e.Commit > uint64(len(r.committed)) { // rule 7
				t.Errorf("%T of commit %d is out, committed are %d", e.Effect, e.Commit, len(r.committed))
			}
		}
		r.outs++
		r.out = append(r.out, effects...)
	}
	r.Machine = machine.New(state, commit, out, time.Now)
	ctx, stop := context.WithCancel(t.Context())
	r.stop = stop
	go func() { r.done <- r.Run(ctx) }()
	return r
}

func say(text string) machine.Request { return machine.Say{To: places()["dm"], Text: text} }

// submit hands in requests and returns their errors as they come.
func (r *running) submit(ctx context.Context, requests ...machine.Request) chan error {
	errs := make(chan error, len(requests))
	for _, x := range requests {
		go func() { _, err := r.Submit(ctx, x); errs <- err }()
	}
	return errs
}

// What queues while a commit runs is one batch. Nobody hears of it, neither who asked nor who carries out, before it is
// durable. // rule 7
func TestRunCommitsGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t)
		first := r.submit(t.Context(), say("first"))
		synctest.Wait()
		rest := make([]machine.Request, 50)
		for i := range rest {
			rest[i] = say(fmt.Sprint(i))
		}
		more := r.submit(t.Context(), rest...)
		synctest.Wait()
		if len(first)+len(more)+r.outs != 0 {
			t.Error("something is told before the commit")
		}
		r.verdicts <- nil
		synctest.Wait()
		if len(first) != 1 || len(more) != 0 || r.outs != 1 {
			t.Errorf("after the first commit: %d and %d answers, %d outs", len(first), len(more), r.outs)
		}
		r.verdicts <- nil
		synctest.Wait()
		if len(more) != 50 || r.outs != 2 || len(r.committed) != 2 {
			t.Errorf("after the second commit: %d answers, %d outs, %d commits", len(more), r.outs, len(r.committed))
		}
		r.end(t, nil)
	})
}

func (r *running) end(t *testing.T, want error) {
	t.Helper()
	r.stop()
	if err := <-r.done; !errors.Is(err, want) {
		t.Errorf("Run returned %v, want %v", err, want)
	}
}

// A full disk refuses the batch whole and leaves the state as it was; the next batch goes through.
func TestRunWithoutSpace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t)
		event := machine.Receive{Account: places()["dm"].Account, Event: "e1"}
		hold := r.submit(t.Context(), say("hold"))
		synctest.Wait()
		got := r.submit(t.Context(), event, say("a"), machine.Drop{ID: "out_nothing"})
		synctest.Wait()
		r.verdicts <- nil
		<-hold
		r.verdicts <- fmt.Errorf("write: %w", machine.ErrNoSpace)
		for range 3 {
			if err := <-got; !errors.Is(err, machine.ErrNoSpace) {
				t.Errorf("got %v", err)
			}
		}
		if r.outs != 1 {
			t.Errorf("%d outs", r.outs)
		}
		again := make(chan machine.Answer, 1)
		go func() { a, _ := r.Submit(t.Context(), event); again <- a }()
		synctest.Wait()
		r.verdicts <- nil
		if a := <-again; a.Duplicate {
			t.Error("an event that was refused counts as taken")
		}
		r.end(t, nil)
	})
}

// A batch that was decided upon one that finds no space goes with it, whatever it wrote: what it was told from is not there.
func TestRunRefusesWhatFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t)
		event := machine.Receive{Account: places()["dm"].Account, Event: "e1"}
		first := r.submit(t.Context(), event)
		synctest.Wait()
		got := r.submit(t.Context(), event, say("a")) // the one was taken already, the other is as good as any
		synctest.Wait()
		r.verdicts <- machine.ErrNoSpace
		for _, errs := range []chan error{first, got, got} {
			if err := <-errs; !errors.Is(err, machine.ErrNoSpace) {
				t.Errorf("got %v", err)
			}
		}
		synctest.Wait()
		if r.outs != 0 || len(r.committed) != 0 {
			t.Errorf("%d outs, %d commits", r.outs, len(r.committed))
		}
		again := make(chan machine.Answer, 1)
		go func() { a, _ := r.Submit(t.Context(), event); again <- a }()
		synctest.Wait()
		r.verdicts <- nil
		if a := <-again; a.Duplicate {
			t.Error("an event that was refused counts as taken")
		}
		r.end(t, nil)
	})
}

// What is decided upon a batch is told only after it, also when there is nothing to write.
func TestRunTellsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t)
		event := machine.Receive{Account: places()["dm"].Account, Event: "e1"}
		first := r.submit(t.Context(), event)
		synctest.Wait()
		again := make(chan machine.Answer, 1)
		go func() { a, _ := r.Submit(t.Context(), event); again <- a }()
		synctest.Wait()
		if len(first)+len(again) != 0 {
			t.Error("that an event was taken is told before it is durable")
		}
		r.verdicts <- nil
		<-first
		if a := <-again; !a.Duplicate {
			t.Error("an event that was taken is taken again")
		}
		r.end(t, nil)
	})
}

// Any other failed commit ends the machine: nobody is told that it was done, and nobody waits for ever.
func TestRunEndsWhenTheStoreFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t)
		hold := r.submit(t.Context(), say("hold"))
		synctest.Wait()
		got := r.submit(t.Context(), say("a"), say("b"))
		synctest.Wait()
		r.verdicts <- nil
		<-hold
		boom := errors.New("fsync failed")
		r.verdicts <- boom
		if err := <-r.done; !errors.Is(err, boom) || !strings.Contains(err.Error(), "commit batch") {
			t.Errorf("Run returned %v", err)
		}
		for range 2 {
			if err := <-got; !errors.Is(err, machine.ErrStopped) {
				t.Errorf("who had asked hears %v", err)
			}
		}
		if _, err := r.Submit(t.Context(), say("late")); !errors.Is(err, machine.ErrStopped) {
			t.Errorf("who comes late hears %v", err)
		}
		if r.outs != 1 {
			t.Error("something is out")
		}
		r.stop()
	})
}

// The end of the context ends Run after the batch in hand; what still queues hears of it.
func TestRunEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t)
		first := r.submit(t.Context(), say("in hand"))
		synctest.Wait()
		second := r.submit(t.Context(), say("queued"))
		synctest.Wait()
		r.stop()
		synctest.Wait()
		r.verdicts <- nil // for the batch in hand
		go func() {       // the queued one may or may not be taken: both are in order
			select {
			case r.verdicts <- nil:
			case <-t.Context().Done():
			}
		}()
		if err := <-first; err != nil {
			t.Errorf("the batch in hand: %v", err)
		}
		if err := <-second; err != nil && !errors.Is(err, machine.ErrStopped) {
			t.Errorf("what queued: %v", err)
		}
		if err := <-r.done; err != nil {
			t.Errorf("Run returned %v", err)
		}
	})
}

// Who gives up waiting goes; the request takes effect all the same.
func TestSubmitGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t)
		ctx, cancel := context.WithCancel(t.Context())
		got := r.submit(ctx, say("a"))
		synctest.Wait()
		cancel()
		if err := <-got; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		r.verdicts <- nil
		synctest.Wait()
		if r.outs != 1 {
			t.Error("the request is lost")
		}
		r.end(t, nil)
	})
}

// A batch that only reads writes nothing; its effects stand on what was durable before. A refused request does not fail
// its neighbours.
func TestRunReadsAndRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t)
		answer := make(chan machine.Answer, 1)
		go func() { a, _ := r.Submit(t.Context(), say("a")); answer <- a }()
		synctest.Wait()
		r.verdicts <- nil
		m := (<-answer).Outgoing
		if _, err := r.Submit(t.Context(), machine.Due{ID: string(m)}); err != nil { // asks again, and needs no commit
			t.Error(err)
		}
		if n := len(r.out); n != 2 || r.out[1].Commit != 1 {
			t.Errorf("effects: %+v", r.out)
		}
		hold := r.submit(t.Context(), say("b"))
		synctest.Wait()
		errs := r.submit(t.Context(), machine.Drop{ID: "out_nothing"}, say("c"), machine.Started{Process: "proc_nothing"}, say("d"))
		synctest.Wait()
		r.verdicts <- nil
		r.verdicts <- nil
		<-hold
		var good, stale, refused int
		for range 4 {
			err := <-errs
			_, isRefusal := errors.AsType[*machine.Refusal](err)
			switch {
			case err == nil:
				good++
			case errors.Is(err, machine.ErrStale):
				stale++
			case isRefusal:
				refused++
			}
		}
		if good != 2 || stale != 1 || refused != 1 {
			t.Errorf("%d good, %d stale, %d refused", good, stale, refused)
		}
		r.end(t, nil)
	})
}

// Many at once, with real goroutines: every request is answered once, after its commit, and nothing is left behind.
func TestRunHammered(t *testing.T) {
	defer goleak.VerifyNone(t)
	var mu sync.Mutex
	durable := map[string]bool{}
	commits := 0
	state := machine.NewState(func(string) machine.Policy { return newWorld().policy }, id.NewSource(nil))
	m := machine.New(state, func(changes []machine.Change) error {
		mu.Lock()
		defer mu.Unlock()
		if commits++; commits%5 == 0 {
			return machine.ErrNoSpace
		}
		for _, c := range changes {
			durable[c.Key] = true
		}
		return nil
	}, func([]machine.Issued, []machine.Record) {}, time.Now)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- m.Run(ctx) }()
	var wg sync.WaitGroup
	names := slices.Sorted(func(yield func(string) bool) {
		for n := range places() {
			if !yield(n) {
				return
			}
		}
	})
	for g := range 16 {
		wg.Go(func() {
			for i := range 50 {
				a, err := m.Submit(ctx, machine.Say{To: places()[names[(g+i)%len(names)]], Text: "x"})
				mu.Lock()
				if err == nil && !durable[string(a.Outgoing)] {
					t.Errorf("%s is told and not durable", a.Outgoing)
				}
				mu.Unlock()
				if err != nil && !errors.Is(err, machine.ErrNoSpace) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
