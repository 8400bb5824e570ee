package process

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// judge decides about a process without a final record. ended is false while somebody holds the lock: it lives, or
// another client is at it. Else nobody supervises it and nobody will, and the verdict is written under the lock, so that
// it is given once and stays:
//
//	started missing                       failed_start: nothing ran
//	started of another boot or container  lost: the processes went with it, and their numbers mean nothing here
//	a kill was wanted                     killed: what is left of the group is ended here
//	else                                  lost: what is left of the group is ended here
func (p *Process) judge() (e Exit, ended bool, err error) {
	lock, err := takeLock(p.dir)
	switch {
	case errors.Is(err, errLocked):
		return Exit{}, false, nil
	case errors.Is(err, fs.ErrNotExist):
		return Exit{}, false, fmt.Errorf("%w: %s", ErrNotFound, p.id) // removed meanwhile
	case err != nil:
		return Exit{}, false, fmt.Errorf("judge %s: %w", p.id, err)
	}
	defer lock.Close()
	if e, ended, err := p.ended(); ended || err != nil {
		return e, ended, err
	}
	e, err = p.verdict()
	if err != nil {
		return Exit{}, false, err
	}
	if err := writeRecord(p.dir, exitFile, e); err != nil {
		return Exit{}, false, fmt.Errorf("judge %s: %w", p.id, err)
	}
	return e, true, nil
}

func (p *Process) verdict() (Exit, error) {
	s, started, err := p.started()
	if err != nil {
		return Exit{}, err
	}
	kill, wanted := wantedKill(p.dir)
	e := Exit{ID: p.id, State: Lost, StartedAt: s.At, EndedAt: time.Now(), Output: p.totals()}
	if leader, ok, err := readExit(p.dir, leaderFile, p.id); err == nil && ok {
		e.Code, e.Signal, e.LeftRunning = leader.Code, leader.Signal, true
	}
	boot, namespace := lifeOfMachine()
	switch {
	case !started && wanted:
		e.State, e.Reason = FailedStart, killedBeforeStart+kill.Reason
		return e, nil
	case !started:
		e.State, e.Reason = FailedStart, "its supervisor was gone before it started the command"
		return e, nil
	case s.BootID == "":
		e.Reason = "its supervisor is gone and the record of its start is damaged; what it left could not be looked for"
		return e, nil
	case s.BootID != boot:
		e.Reason = "the machine was restarted while it ran"
		return e, nil
	case s.PIDNamespace != namespace:
		e.Reason = "the container that it ran in is gone"
		return e, nil
	}
	switch err := endGroup(s, killBound); {
	case errors.Is(err, ErrIdentity):
		e.Reason = "its supervisor is gone without a record; its process number belongs to another process, nothing was killed"
	case err != nil:
		return Exit{}, fmt.Errorf("end the group of %s: %w", p.id, err)
	default:
		e.Reason = "its supervisor is gone without a record"
	}
	if wanted {
		e.State, e.Reason = Killed, kill.Reason
	}
	return e, nil
}

const killedBeforeStart = "killed before it was started: "
