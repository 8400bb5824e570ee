package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The descriptors that a supervisor inherits beside the standard ones. The gates' descriptors are their write ends.
const (
	lockFD = 3 + iota
	controlFD
	startedGateFD
	leaderGateFD
	exitGateFD
	firstForeignFD
)

// Start runs a command under a new supervisor and returns once that is forked; Started tells when the command is. A Start
// that got as far as making the directory leaves a record whatever happens then: Wait ends with FailedStart when nothing
// ran. That is also how a missing shell or workdir is told, since only the supervisor finds it.
//
// The error is ErrSpec, ErrClosed or the end of ctx, and nothing was created; or ErrExists, and nothing was changed; or
// whatever kept the supervisor from starting (no space, no process), and nothing runs or ever will under this id.
//
// ctx bounds the call, not the process.
func (r *Runner) Start(ctx context.Context, spec Spec) (*Process, error) {
	spec, err := spec.completed()
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if r.life.Err() != nil {
		return nil, ErrClosed
	}
	r.reached("before mkdir")
	p := &Process{id: spec.ID, dir: filepath.Join(r.root, spec.ID)}
	if err := os.Mkdir(p.dir, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("%w: %s", ErrExists, spec.ID)
		}
		return nil, fmt.Errorf("start %s: %w", spec.ID, err)
	}
	r.reached("after mkdir")
	if err := r.launch(p, spec); err != nil {
		// The lock is free again, so this writes the verdict that a later Open would come to as well.
		_, _, jerr := p.judge()
		return nil, errors.Join(fmt.Errorf("start %s: %w", spec.ID, err), jerr)
	}
	r.reached("after supervisor start")
	return p, nil
}

// launch fills the new directory and forks the supervisor. The lock is taken before and inherited by the supervisor, so
// that whoever finds it free knows that no supervisor is there or still to come.
func (r *Runner) launch(p *Process, spec Spec) error {
	lock, err := takeLock(p.dir)
	if err != nil {
		return err // somebody found the directory before it was locked, and judged that nothing will start
	}
	defer lock.Close()
	if _, judged, err := readExit(p.dir, exitFile, p.id); judged || err != nil {
		return errors.Join(err, ErrNotStarted)
	}
	for _, name := range []string{controlFIFO, startedGate, leaderGate, exitGate} {
		if err := unix.Mkfifo(filepath.Join(p.dir, name), 0o600); err != nil {
			return fmt.Errorf("make %s: %w", name, err)
		}
	}
	// Not synced: the supervisor puts the directory itself on disk together with its record of the start, and nothing is
	// executed before that. After a power cut the content may be missing, but then the process is lost and it is not needed.
	if err := replaceRecord(p.dir, commandFile, spec.record(time.Now()), false); err != nil {
		return err
	}
	r.reached("after spec")
	return r.fork(p, spec, lock)
}

func (r *Runner) fork(p *Process, spec Spec, lock *os.File) error {
	files := []uintptr{0, 0, 0, lock.Fd()} // the standard ones are filled in below
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	defer unix.Close(null)
	diagnostics, err := unix.Open(filepath.Join(p.dir, diagnosticsFile),
		unix.O_WRONLY|unix.O_CREAT|unix.O_APPEND|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return fmt.Errorf("open %s: %w", diagnosticsFile, err)
	}
	defer unix.Close(diagnostics)
	files[0], files[1], files[2] = uintptr(null), uintptr(null), uintptr(diagnostics)
	for _, name := range []string{controlFIFO, startedGate, leaderGate, exitGate} {
		// Opened for both, a FIFO blocks neither here nor for want of the other side. It is the supervisor that opens
		// nothing: a gate has a writer from before the fork until it is reached or the supervisor is gone.
		fd, err := unix.Open(filepath.Join(p.dir, name), unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("open %s: %w", name, err)
		}
		defer unix.Close(fd)
		files = append(files, uintptr(fd))
	}
	argv := slices.Concat(r.self, []string{SuperviseArg, p.dir})
	pidfd := -1
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
		Dir: p.dir, Env: spec.Env, Files: files, Sys: supervisorAttr(&pidfd),
	})
	if err != nil {
		return fmt.Errorf("execute %s: %w", argv[0], err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reaping.Go(func() { awaitChild(r.life, pid, pidfd) })
	return nil
}

// takeLock takes the lock of a process directory without waiting. The error is errLocked when somebody else has it: a
// supervisor, a client that is starting one, or a client that is judging.
func takeLock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return f, nil
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			err = errLocked
		}
		_ = f.Close()
		return nil, err
	}
}

var errLocked = errors.New("process directory is locked")
