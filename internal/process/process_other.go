//go:build unix && !linux

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

// What other systems than Linux lack, and what follows:
//
//   - No parent-death signal and no start time without a private interface: a command whose supervisor is gone goes on, is
//     Lost all the same, and is not killed (endGroup says ErrIdentity).
//   - No subreaper: who left the group is not seen, and not reported.
//   - No waitid that leaves the child: the leader is reaped at once. Its group is signalled only while it has members,
//     which hold its number.
//   - No poller for FIFOs and other people's processes: waits look 50 times a second.

const lookAgain = 20 * time.Millisecond

const inputQueue = 0x4004667f // FIONREAD

type stat struct {
	pid  int
	name string
}

type ending struct {
	code   int
	signal syscall.Signal
}

func ownBinary() (string, error) { return os.Executable() }

func pipe(ends *[2]int) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := unix.Pipe(ends[:]); err != nil {
		return err
	}
	unix.CloseOnExec(ends[0])
	unix.CloseOnExec(ends[1])
	return unix.SetNonblock(ends[0], true)
}

func supervisorAttr(*int) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func leaderAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func becomeReaper() error { return nil }

func closeForeign(first int) error {
	for fd := 3; fd < first; fd++ {
		unix.CloseOnExec(fd)
	}
	return nil
}

func identify(pid int) (Identity, error) { return Identity{PID: pid}, nil }

func lifeOfMachine() (boot, namespace string) {
	boot, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		boot = "unknown"
	}
	return boot, ""
}

func endSupervisor(Started) error { return ErrIdentity }

func endGroup(Started, time.Duration) error { return ErrIdentity }

func awaitChild(_ context.Context, pid, _ int) {
	for {
		if _, err := syscall.Wait4(pid, nil, 0, nil); !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

func awaitHangup(ctx context.Context, fifo string) error {
	fd, err := unix.Open(fifo, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("wait: %w", err)
	}
	defer unix.Close(fd)
	for {
		var b [16]byte
		if _, err := unix.Read(fd, b[:]); !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(lookAgain):
		}
	}
}

type family struct{ leader int }

func (f *family) poll() (ending, bool) {
	var status syscall.WaitStatus
	pid, err := syscall.Wait4(f.leader, &status, syscall.WNOHANG, nil)
	switch {
	case err != nil || pid != f.leader:
		return ending{}, false
	case status.Exited():
		return ending{code: status.ExitStatus()}, true
	}
	return ending{signal: status.Signal()}, true
}

func (f *family) reapOrphans() {}

func (f *family) kin() (members, escaped []stat, err error) {
	if f.release() {
		return nil, nil, nil
	}
	return []stat{{pid: -f.leader}}, nil, nil
}

func (f *family) release() bool { return errors.Is(unix.Kill(-f.leader, 0), unix.ESRCH) }

func (f *family) signal(sig syscall.Signal) { _ = unix.Kill(-f.leader, sig) }

func watch(stat) <-chan struct{} {
	ended := make(chan struct{})
	time.AfterFunc(lookAgain, func() { close(ended) })
	return ended
}
