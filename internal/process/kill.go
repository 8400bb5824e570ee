package process

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// killBound is how long a killed process may take to be gone. Only one that hangs in the kernel takes that long.
const killBound = 5 * time.Second

// Kill ends the command's group: SIGTERM, after the Spec's KillGrace SIGKILL. It returns nil when the process has ended,
// by this or anything else. The request is on disk before the first signal: should ctx end or the program die, it stays in
// force, and Kill may be called again at any time; the first reason is the one that counts.
//
// It is the supervisor that kills. One that is gone or does not act in time is ended by its recorded identity, and then
// the group too; the error is ErrIdentity where that can't be told, and nothing was killed.
func (p *Process) Kill(ctx context.Context, reason string) error {
	if _, ended, err := p.ended(); ended || err != nil {
		return err
	}
	if _, wanted := wantedKill(p.dir); !wanted {
		if err := writeRecord(p.dir, killFile, killRequest{Reason: reason, At: time.Now()}); err != nil {
			return fmt.Errorf("kill %s: %w", p.id, err)
		}
	}
	p.poke()
	spec, _ := p.Spec() // unreadable, it leaves a grace of 0, and an answer is waited for all the same
	patient, cancel := context.WithTimeoutCause(ctx, spec.KillGrace+killBound+2*time.Second, errNoAnswer)
	defer cancel()
	_, err := p.Wait(patient)
	if !errors.Is(err, errNoAnswer) {
		return err
	}
	s, ok, err := p.started()
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("kill %s: its supervisor does not answer and has not told who it is: %w", p.id, ErrIdentity)
	}
	if err := endSupervisor(s); err != nil {
		return fmt.Errorf("kill %s: its supervisor does not answer: %w", p.id, err)
	}
	_, err = p.Wait(ctx)
	return err
}

var errNoAnswer = errors.New("supervisor does not answer")

// poke makes the supervisor look for a kill. Nobody listening is no error: then there is no supervisor, which Wait finds
// out; and a full FIFO says that it will look anyway.
func (p *Process) poke() {
	fd, err := unix.Open(filepath.Join(p.dir, controlFIFO), unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	_, _ = unix.Write(fd, []byte{'k'})
}
