package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ownBinary names the running binary, not the file that may have taken its place.
func ownBinary() (string, error) { return "/proc/self/exe", nil }

// inputQueue asks a pipe how many bytes wait in it.
const inputQueue = unix.TIOCINQ

// pipe makes a pipe that no other child inherits. Only the read end, ends[0], is non-blocking.
func pipe(ends *[2]int) error {
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return err
	}
	return unix.SetNonblock(ends[0], true)
}

// supervisorAttr puts a supervisor into a session of its own, out of reach of what is sent to the daemon's group.
func supervisorAttr(pidfd *int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, PidFD: pidfd}
}

// awaitChild takes the end of a child, so that it does not stay a zombie; it returns when that is done or life ends. With
// a pidfd (Linux 5.4) it parks in the poller; an older kernel costs a thread, and life is not heeded.
func awaitChild(life context.Context, pid, pidfd int) {
	if pidfd < 0 {
		for {
			if _, err := syscall.Wait4(pid, nil, 0, nil); !errors.Is(err, syscall.EINTR) {
				return
			}
		}
	}
	_ = awaitPidfd(life, pidfd, func(fd int) bool {
		err := waitid(unix.P_PIDFD, fd, nil, unix.WEXITED|unix.WNOHANG)
		return !errors.Is(err, errStillRuns)
	})
}

var errStillRuns = errors.New("still runs")

// waitid is waitid(2). With WNOHANG the error is errStillRuns when there is nothing to take.
func waitid(kind, id int, info *childInfo, options int) error {
	var local childInfo
	if info == nil {
		info = &local
	}
	for {
		*info = childInfo{}
		err := unix.Waitid(kind, id, info.siginfo(), options, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN), err == nil && info.Signo == 0:
			return errStillRuns
		}
		return err
	}
}

// awaitPidfd takes over pidfd and returns when done, asked whenever the process may have ended, says true, or ctx ends.
func awaitPidfd(ctx context.Context, pidfd int, done func(fd int) bool) error {
	if err := unix.SetNonblock(pidfd, true); err != nil {
		_ = unix.Close(pidfd)
		return err
	}
	f := os.NewFile(uintptr(pidfd), "pidfd")
	defer f.Close()
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })()
	return conn.Read(func(fd uintptr) bool { return done(int(fd)) })
}

// awaitHangup waits until a FIFO has no writer, parked in the poller. A FIFO that is not there has none.
func awaitHangup(ctx context.Context, fifo string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	f, err := os.OpenFile(fifo, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("wait: %w", err)
	}
	defer f.Close()
	defer context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })()
	for {
		var b [16]byte
		_, err := f.Read(b[:])
		switch {
		case err == nil: // nobody writes into a gate; whoever did does not matter
		case errors.Is(err, os.ErrDeadlineExceeded):
			return context.Cause(ctx)
		default:
			return nil // hung up
		}
	}
}

// handle opens a pidfd on the process that id tells. The error is unix.ESRCH when it is gone, ErrIdentity when its number
// belongs to another one now.
func handle(id Identity) (pidfd int, err error) {
	pidfd, err = unix.PidfdOpen(id.PID, 0)
	if err != nil {
		return -1, err
	}
	// The handle is pinned to one process now; if that is the recorded one at this moment, it is so for good.
	s, err := readStat(id.PID)
	switch {
	case err != nil || !s.alive():
		err = unix.ESRCH
	case s.start != id.StartTicks:
		err = ErrIdentity
	default:
		return pidfd, nil
	}
	_ = unix.Close(pidfd)
	return -1, err
}

// gone tells whether a recorded process has ended. The error is ErrIdentity when its number belongs to another one now.
func gone(id Identity) (bool, error) {
	if id.PID == 0 {
		return true, nil
	}
	s, err := readStat(id.PID)
	switch {
	case err != nil:
		return true, nil
	case s.start != id.StartTicks:
		return true, ErrIdentity
	}
	return !s.alive(), nil
}

// endSupervisor kills a supervisor that does not answer. Its leader dies with it. The error is ErrIdentity when the number
// is not the recorded process's any more.
func endSupervisor(s Started) error {
	boot, namespace := lifeOfMachine()
	if s.BootID != boot || s.PIDNamespace != namespace {
		return ErrIdentity
	}
	return end(s.Supervisor)
}

// end kills one process, by a handle that can't mean another one. One that is gone is no error.
func end(id Identity) error {
	pidfd, err := handle(id)
	if err == nil {
		defer unix.Close(pidfd)
		err = unix.PidfdSendSignal(pidfd, unix.SIGKILL, nil, 0)
	}
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

// endGroup kills what a gone supervisor left of its command's group and waits, up to limit, until it is gone. The error
// is ErrIdentity, and nothing was killed, when a recorded number belongs to another process now: a number is not given
// anew while its group or session has members, so then there is nothing of ours left anyway.
//
// A member is known by group, session and a start that is not before the leader's. Where the supervisor was lost between
// the fork and the record of it, the session alone has to tell.
func endGroup(s Started, limit time.Duration) error {
	for _, id := range []Identity{s.Supervisor, s.Leader} {
		if _, err := gone(id); err != nil {
			return err
		}
	}
	for deadline := time.Now().Add(limit); ; {
		stats, err := allStats()
		if err != nil {
			return err
		}
		left := false
		for _, m := range stats {
			if !m.alive() || !s.owns(m) {
				continue
			}
			left = true
			id := Identity{PID: m.pid, StartTicks: m.start}
			if err := end(id); err != nil && !errors.Is(err, ErrIdentity) {
				return err
			}
			awaitEnd(id, time.Until(deadline))
		}
		if !left || !time.Now().Before(deadline) {
			return nil
		}
	}
}

// owns tells whether m belongs to the group of the command that s tells of.
func (s Started) owns(m stat) bool {
	if m.session != s.Supervisor.PID || m.pid == s.Supervisor.PID {
		return false
	}
	if s.Leader.PID == 0 {
		return m.start >= s.Supervisor.StartTicks
	}
	return m.group == s.Leader.PID && m.start >= s.Leader.StartTicks
}

// awaitEnd waits up to limit until a killed process, which need not be a child, is gone.
func awaitEnd(id Identity, limit time.Duration) {
	pidfd, err := handle(id)
	if err != nil {
		return
	}
	defer unix.Close(pidfd)
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); {
		fds := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, max(1, int(time.Until(deadline).Milliseconds())))
		if n > 0 || (err != nil && !errors.Is(err, unix.EINTR)) {
			return
		}
	}
}
