package process

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// attendance is one command's way from running to ended.
type attendance struct {
	*supervisor
	exit   Exit
	ended  bool             // the leader has ended
	member <-chan struct{}  // closed when the one member that is watched has ended; nil when none is
	next   <-chan time.Time // the next stage of a kill is due
	forced bool             // SIGKILL has been sent
	gaveUp bool
}

// attend stays with the running command until nothing is left of its group, and returns how it ended. What has left the
// group is reported and not waited for.
//
// A kill is SIGTERM to the group, after the grace SIGKILL, and killBound later giving up on what hangs in the kernel.
func (s *supervisor) attend() Exit {
	a := &attendance{supervisor: s, exit: Exit{State: Exited}}
	if kill, wanted := wantedKill(s.dir); wanted { // asked for while the command was being started
		a.kill(kill.Reason)
	}
	for !a.over() && !a.gaveUp {
		select {
		case <-a.member:
			a.member = nil
		case <-s.children:
			if a.ended {
				s.family.reapOrphans()
			}
		case <-s.pokes:
			if kill, wanted := wantedKill(s.dir); wanted {
				a.kill(kill.Reason)
			}
		case sig := <-s.stops:
			if sig != unix.SIGHUP {
				a.kill(fmt.Sprintf("its supervisor was told to stop (%v)", sig))
			}
		case <-a.next:
			a.force()
		}
	}
	s.pump.catchUp()
	_, escaped, _ := s.family.kin() // while they can still write: the next that does gets SIGPIPE
	s.pump.stop()
	a.exit.EscapedTotal = len(escaped)
	for _, e := range escaped[:min(len(escaped), 16)] {
		a.exit.Escaped = append(a.exit.Escaped, Escapee{PID: e.pid, Name: e.name})
	}
	return a.exit
}

// over takes notice of what has ended, and tells whether that is all.
func (a *attendance) over() bool {
	if !a.ended {
		how, ok := a.family.poll()
		if !ok {
			return false
		}
		a.ended = true
		if how.signal == 0 {
			a.exit.Code = new(how.code)
		} else if a.exit.Signal = unix.SignalName(how.signal); a.exit.Signal == "" {
			a.exit.Signal = fmt.Sprintf("signal %d", int(how.signal))
		}
	}
	for a.member == nil {
		members, _, _ := a.family.kin()
		if len(members) > 0 {
			a.member = watch(members[0]) // as long as this one lives the group is not empty
			a.leave()
		} else if a.family.release() {
			return true
		}
	}
	return false
}

// leave records that the leader has ended and something else has not; who waits for the leader need not wait longer. Of a
// kill nobody needs to know that it takes a moment.
func (a *attendance) leave() {
	if a.exit.LeftRunning || a.exit.State == Killed {
		return
	}
	a.exit.LeftRunning = true
	a.pump.catchUp() // all that the leader wrote is readable before its end is
	told := a.exit
	told.ID, told.StartedAt, told.EndedAt, told.Output = a.id, a.started.At, time.Now(), a.pump.totals()
	if err := writeRecord(a.dir, leaderFile, told); err != nil {
		a.complain(err) // the final record will say the same
		return
	}
	a.hangUp(leaderGateFD)
}

// kill begins a kill. Only the first has a say.
func (a *attendance) kill(reason string) {
	if a.exit.State == Killed {
		return
	}
	a.exit.State, a.exit.Reason = Killed, reason
	if a.spec.KillGrace == 0 {
		a.force()
		return
	}
	a.family.signal(unix.SIGTERM)
	a.family.signal(unix.SIGCONT) // a stopped member would see neither the signal nor its end
	a.next = time.After(a.spec.KillGrace)
}

func (a *attendance) force() {
	if a.forced {
		a.exit.Reason += "; a member of its group hangs in the kernel and could not be ended"
		a.gaveUp = true
		return
	}
	a.forced = true
	a.family.signal(unix.SIGKILL)
	a.next = time.After(killBound)
}
