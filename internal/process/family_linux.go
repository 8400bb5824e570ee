package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// family is what a supervisor sees of its command: the leader, the group that it leads, and whoever descends from it. The
// supervisor is the subreaper of them all, so a descendant whose parent is gone becomes its child.
//
// The leader is reaped only when nothing else is left of its group. Until then its number, which is the group's, can't be
// given to anyone else, and the group can be signalled without a doubt.
type family struct {
	leader int
	reaped bool
}

// becomeReaper makes this process the one that orphaned descendants fall to.
func becomeReaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become subreaper: %w", err)
	}
	return nil
}

// closeForeign closes what the daemon had inherited itself and so passed on without meaning to: whatever Go opens is
// closed on exec, so what is open from first on and is not closed on exec is not ours. The descriptors below first are
// ours, and must not reach the command.
func closeForeign(first int) error {
	for fd := 3; fd < first; fd++ {
		unix.CloseOnExec(fd)
	}
	fds, err := openDescriptors()
	if err != nil {
		return err
	}
	for _, fd := range fds {
		if fd < first {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
	return nil
}

// leaderAttr puts the command into a group of its own and ties its life to the thread that starts it, which must
// therefore last as long as the supervisor.
func leaderAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// childInfo is siginfo_t as waitid fills it in; unix.Siginfo does not name these fields.
type childInfo struct {
	Signo int32
	Errno int32
	Code  int32
	_     [unsafe.Sizeof(uintptr(0)) - 4]byte // the union is aligned like a pointer
	PID   int32
	UID   uint32
	// Status is the exit code, or the signal's number.
	Status int32
	_      [128]byte // no less than the kernel writes
}

func (i *childInfo) siginfo() *unix.Siginfo { return (*unix.Siginfo)(unsafe.Pointer(i)) }

// ending is how a leader ended: a code, or a signal.
type ending struct {
	code   int
	signal syscall.Signal
}

// poll reaps every child that has ended but the leader, and tells how that one ended if it has.
func (f *family) poll() (ending, bool) {
	for {
		var info childInfo
		if err := waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT); err != nil {
			return ending{}, false
		}
		if int(info.PID) != f.leader {
			_ = waitid(unix.P_PID, int(info.PID), nil, unix.WEXITED|unix.WNOHANG)
			continue
		}
		if info.Code == cldExited {
			return ending{code: int(info.Status)}, true
		}
		return ending{signal: syscall.Signal(info.Status)}, true
	}
}

const cldExited = 1 // CLD_EXITED: ended by exit, not by a signal

// reapOrphans reaps every child that has ended but the leader, which lies in the way of poll once it has ended.
func (f *family) reapOrphans() {
	pids, ok := ownChildren()
	if !ok {
		stats, _ := allStats()
		for _, s := range stats {
			if s.parent == unix.Getpid() {
				pids = append(pids, s.pid)
			}
		}
	}
	for _, pid := range pids {
		if pid != f.leader || f.reaped {
			_ = waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOHANG)
		}
	}
}

// kin returns the living descendants but the leader: those in its group, and those that have left it.
func (f *family) kin() (members, escaped []stat, err error) {
	// All descendants hang below our children: without one that lives there are none, and nothing of /proc need be read. That is
	// so when there is no child that may be stopped, and nearly every command ends like this.
	if errors.Is(waitid(unix.P_ALL, 0, nil, unix.WSTOPPED|unix.WNOHANG|unix.WNOWAIT|unix.WALL), unix.ECHILD) {
		return nil, nil, nil
	}
	if pids, ok := ownChildren(); ok && (len(pids) == 0 || (len(pids) == 1 && pids[0] == f.leader && !f.reaped)) {
		return nil, nil, nil
	}
	found, err := descendants(unix.Getpid())
	if err != nil {
		return nil, nil, err
	}
	for _, s := range found {
		switch {
		case s.pid == f.leader && !f.reaped:
		case s.group == f.leader:
			members = append(members, s)
		default:
			escaped = append(escaped, s)
		}
	}
	return members, escaped, nil
}

// release reaps the leader, which has ended, and tells whether the group is gone with it. It is not when the search for
// members missed one that was being forked; its number is then held by that member.
func (f *family) release() bool {
	if !f.reaped {
		_ = waitid(unix.P_PID, f.leader, nil, unix.WEXITED)
		f.reaped = true
	}
	if errors.Is(unix.Kill(-f.leader, 0), unix.ESRCH) {
		return true
	}
	members, _, err := f.kin()
	return err == nil && len(members) == 0 // zombies that their own parents have not reaped
}

// signal sends sig to every member of the group, the leader included.
func (f *family) signal(sig syscall.Signal) {
	if !f.reaped {
		_ = unix.Kill(-f.leader, sig)
		return
	}
	members, _, _ := f.kin()
	for _, m := range members {
		if pidfd, err := handle(Identity{PID: m.pid, StartTicks: m.start}); err == nil {
			_ = unix.PidfdSendSignal(pidfd, sig, nil, 0)
			_ = unix.Close(pidfd)
		}
	}
}

// watch returns a channel that is closed when the process has ended, which need not be a child.
func watch(s stat) <-chan struct{} {
	ended := make(chan struct{})
	pidfd, err := handle(Identity{PID: s.pid, StartTicks: s.start})
	switch {
	case errors.Is(err, unix.ENOSYS): // before Linux 5.3: look again later
		time.AfterFunc(100*time.Millisecond, func() { close(ended) })
	case err != nil:
		close(ended)
	default:
		go func() {
			defer close(ended)
			_ = awaitPidfd(context.Background(), pidfd, readable)
		}()
	}
	return ended
}

// readable tells whether a pidfd says that its process has ended.
func readable(pidfd int) bool {
	for {
		fds := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, 0)
		if !errors.Is(err, unix.EINTR) {
			return n > 0 || err != nil
		}
	}
}

func openDescriptors() ([]int, error) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil, fmt.Errorf("list open descriptors: %w", err)
	}
	fds := make([]int, 0, len(entries))
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil {
			fds = append(fds, fd)
		}
	}
	return fds, nil
}
