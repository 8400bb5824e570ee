package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"
)

// Process is a command that was started, perhaps by another program and perhaps long ago. It holds nothing open; its
// methods are safe for concurrent use and block no thread.
type Process struct {
	id  string
	dir string
}

// ID returns the id that the process was started under.
func (p *Process) ID() string { return p.id }

// Spec returns what was to be run, without Env, of which only the names were kept. The error is ErrNotStarted when the
// client was gone before it had written it.
func (p *Process) Spec() (Spec, error) {
	var c command
	switch err := readRecord(p.dir, commandFile, &c); {
	case errors.Is(err, fs.ErrNotExist):
		return Spec{}, fmt.Errorf("spec of %s: %w", p.id, ErrNotStarted)
	case err != nil:
		return Spec{}, fmt.Errorf("spec of %s: %w", p.id, err)
	}
	return c.spec(), nil
}

// Started waits until the command has been started and returns who runs it. The error is ErrNotStarted, with the reason,
// when it is clear that it was not and won't be.
func (p *Process) Started(ctx context.Context) (s Started, err error) {
	err = p.until(ctx, startedGate, func() (bool, error) {
		var ok bool
		if s, ok, err = p.started(); err != nil || (ok && s.Leader.PID != 0) {
			return true, err
		}
		e, ended, err := p.ended()
		if ended && (!ok || e.State == FailedStart) {
			err = fmt.Errorf("%w: %s", ErrNotStarted, e.Reason)
		}
		return ended, err // ended without a leader on record: lost in the very moment of the start, it may have run
	})
	return s, err
}

// Leader waits until the command itself has ended. When something of its group still runs then, the Exit has LeftRunning
// set and Wait is yet to return; else it is the same as Wait's.
func (p *Process) Leader(ctx context.Context) (e Exit, err error) {
	err = p.until(ctx, leaderGate, func() (ok bool, err error) {
		if e, ok, err = p.ended(); ok || err != nil {
			return true, err
		}
		e, ok, err = readExit(p.dir, leaderFile, p.id)
		return ok, err
	})
	return e, err
}

// Wait waits until the command has ended and nothing is left in its group, and returns how. The answer is final: it is on
// disk, and every later Wait returns the same. A supervisor that is gone without a record is noticed here too: the group
// is killed, and the answer is Lost.
func (p *Process) Wait(ctx context.Context) (e Exit, err error) {
	err = p.until(ctx, exitGate, func() (ok bool, err error) {
		e, ok, err = p.ended()
		return ok, err
	})
	return e, err
}

// Poll returns how the process stands now. While it runs the State is Running, with Code and LeftRunning set once the
// leader has ended. Like Wait it judges a process whose supervisor is gone.
func (p *Process) Poll() (Exit, error) {
	e, ended, err := p.ended()
	if ended || err != nil {
		return e, err
	}
	if e, ended, err = p.judge(); ended || err != nil {
		return e, err
	}
	e, ok, err := readExit(p.dir, leaderFile, p.id)
	if err != nil {
		return Exit{}, err
	}
	if !ok {
		e = Exit{ID: p.id}
		if s, ok, err := p.started(); ok || err != nil {
			e.StartedAt = s.At
		}
	}
	e.State, e.EndedAt = Running, time.Time{}
	return e, nil
}

// ended reads the final record.
func (p *Process) ended() (Exit, bool, error) {
	e, ok, err := readExit(p.dir, exitFile, p.id)
	if err != nil {
		err = fmt.Errorf("end of %s: %w", p.id, err)
	}
	return e, ok, err
}

// started reads the evidence of the start. A damaged record counts as one that tells nothing: something may have run.
func (p *Process) started() (s Started, ok bool, err error) {
	switch err = readRecord(p.dir, startedFile, &s); {
	case err == nil:
		return s, true, nil
	case errors.Is(err, fs.ErrNotExist):
		return Started{}, false, nil
	case errors.Is(err, errDamaged):
		return Started{}, true, nil
	}
	return Started{}, false, fmt.Errorf("start of %s: %w", p.id, err)
}

// until returns when look says that it is done, which it is asked at first and whenever the gate may have hung up.
func (p *Process) until(ctx context.Context, gate string, look func() (bool, error)) error {
	for hungUp := false; ; hungUp = true {
		if done, err := look(); done || err != nil {
			return err
		}
		if hungUp {
			if _, ended, err := p.judge(); err != nil {
				return err
			} else if ended {
				continue
			}
			// Locked, though the gate has no writer: a client is between taking the lock and forking, or is judging.
			// Both take milliseconds, and neither makes an event.
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(2 * time.Millisecond):
			}
		}
		if err := awaitHangup(ctx, filepath.Join(p.dir, gate)); err != nil {
			return err
		}
	}
}
