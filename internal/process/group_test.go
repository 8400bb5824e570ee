package process_test

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/homing-gateway/homing/internal/process"
)

// P-01: whatever shape holds the pipe, a kill at a deadline ends the wait in time, and nothing of the group is left.
func TestKillAtDeadline(t *testing.T) {
	shapes := map[string]string{
		"two commands":   "echo begun; sleep 1000; echo never",
		"subshell":       "echo begun; (sleep 1000; echo never)",
		"pipeline":       "echo begun; sleep 1000 | cat",
		"background job": "sleep 1000 & echo begun; wait",
		"left behind":    "sleep 1000 & echo begun",
		"grandchildren":  "sh -c 'sleep 1000 & sleep 1000' & echo begun; sleep 1000",
	}
	for _, shell := range []string{"/bin/sh", "/bin/bash"} {
		if _, err := os.Stat(shell); err != nil {
			t.Logf("no %s on this machine", shell)
			continue
		}
		for name, command := range shapes {
			t.Run(shell+" "+name, func(t *testing.T) {
				t.Parallel()
				r, _ := newRunner(t)
				spec := testSpec("p", command)
				spec.Shell = shell
				p := start(t, r, spec)
				s := started(t, p)
				says(t, p, "begun")
				short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				defer cancel()
				if _, err := p.Wait(short); !errors.Is(err, context.DeadlineExceeded) {
					t.Fatalf("wait of 50 ms: %v", err)
				}
				begin := time.Now()
				if err := p.Kill(deadline(t), "deadline"); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(begin); took > spec.KillGrace+2*time.Second {
					t.Errorf("the kill took %v", took)
				}
				e := wait(t, p)
				if e.State != process.Killed || e.Reason != "deadline" || e.LeftRunning != (name == "left behind") {
					t.Errorf("ended %+v", e)
				}
				if got := output(t, p).Text; got != "begun\n" {
					t.Errorf("output so far is %q", got)
				}
				if left := members(s); len(left) > 0 {
					t.Errorf("left of the group: %v", left)
				}
			})
		}
	}
}

// P-10: who ignores SIGTERM gets SIGKILL after the grace; who heeds it may end in its own way.
func TestGrace(t *testing.T) {
	r, _ := newRunner(t)
	spec := testSpec("stubborn", "trap '' TERM; sh -c 'echo deaf; while :; do sleep 1000; done' & wait; sleep 1000")
	spec.KillGrace = 400 * time.Millisecond
	p := start(t, r, spec)
	s := started(t, p)
	says(t, p, "deaf")
	begin := time.Now()
	if err := p.Kill(deadline(t), "shutdown"); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < spec.KillGrace || took > spec.KillGrace+2*time.Second {
		t.Errorf("the kill took %v with a grace of %v", took, spec.KillGrace)
	}
	if e := wait(t, p); e.State != process.Killed || e.Signal != "SIGKILL" || e.Code != nil {
		t.Errorf("ended %+v", e)
	}
	if left := members(s); len(left) > 0 {
		t.Errorf("left of the group: %v", left)
	}

	spec = testSpec("heeds", "trap 'echo saved; exit 3' TERM; echo ready; while :; do sleep 0.01; done")
	spec.KillGrace = 30 * time.Second
	p = start(t, r, spec)
	says(t, p, "ready")
	if err := p.Kill(deadline(t), "first"); err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(deadline(t), "second"); err != nil { // repeated: no harm, and the first reason stays
		t.Fatal(err)
	}
	if e := wait(t, p); e.State != process.Killed || e.Reason != "first" || e.Code == nil || *e.Code != 3 {
		t.Errorf("ended %+v, want killed with code 3", e)
	}
	if got := output(t, p).Text; !strings.HasSuffix(got, "saved\n") { // the shell may speak of its own child's end before
		t.Errorf("output is %q", got)
	}

	spec = testSpec("no-grace", "trap '' TERM; echo ready; while :; do sleep 1000; done")
	spec.KillGrace = 0
	p = start(t, r, spec)
	says(t, p, "ready")
	if err := p.Kill(deadline(t), "now"); err != nil {
		t.Fatal(err)
	}
	if e := wait(t, p); e.State != process.Killed || e.Signal != "SIGKILL" {
		t.Errorf("ended %+v", e)
	}

	// A stopped command has to be woken up to see SIGTERM.
	spec = testSpec("stopped", "echo ready; kill -STOP $$; sleep 1000")
	spec.KillGrace = 30 * time.Second
	p = start(t, r, spec)
	s = started(t, p)
	eventually(t, "it is stopped", func() bool { st, _ := readProcStat(s.Leader.PID); return st.state == "T" })
	if err := p.Kill(deadline(t), "stopped"); err != nil {
		t.Fatal(err)
	}
	if e := wait(t, p); e.State != process.Killed || e.Signal != "SIGTERM" {
		t.Errorf("ended %+v", e)
	}
}

// What the command leaves in its group is told at once, with the command's own code, and waited for.
func TestLeftRunning(t *testing.T) {
	r, _ := newRunner(t)
	fifo := t.TempDir() + "/go"
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, r, testSpec("p", "(read x < "+fifo+"; sleep 0.01; echo late) & echo early; exit 5"))
	e, err := p.Leader(deadline(t))
	if err != nil || e.State != process.Exited || e.Code == nil || *e.Code != 5 || !e.LeftRunning {
		t.Fatalf("leader ended %+v, %v", e, err)
	}
	if got := output(t, p).Text; got != "early\n" {
		t.Errorf("output when the leader has ended is %q", got)
	}
	if now, err := p.Poll(); err != nil || now.State != process.Running || now.Code == nil || *now.Code != 5 || !now.LeftRunning {
		t.Errorf("poll: %+v, %v", now, err)
	}
	if err := os.WriteFile(fifo, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e = wait(t, p)
	if e.State != process.Exited || *e.Code != 5 || !e.LeftRunning || output(t, p).Text != "early\nlate\n" {
		t.Errorf("ended %+v with output %q", e, output(t, p).Text)
	}

	p = start(t, r, testSpec("killed", "sleep 1000 & exit 6"))
	s := started(t, p)
	if _, err := p.Leader(deadline(t)); err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(deadline(t), "not wanted any more"); err != nil {
		t.Fatal(err)
	}
	if e := wait(t, p); e.State != process.Killed || *e.Code != 6 || !e.LeftRunning || len(members(s)) > 0 {
		t.Errorf("ended %+v, left %v", e, members(s))
	}
}

// P-04: a descendant that left the group is reported and not waited for, though it holds the pipe open and writes.
func TestEscapee(t *testing.T) {
	r, _ := newRunner(t)
	for name, command := range map[string]string{
		"setsid":      "setsid sh -c 'echo $$; exec sleep 1000' & sleep 0.2; echo mine",
		"double-fork": "(setsid sh -c 'trap \"\" PIPE; echo $$; while :; do echo y; sleep 0.01; done' &) ; sleep 0.2; echo mine",
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, r, testSpec(name, command))
			e := wait(t, p)
			text := output(t, p).Text
			pid, _ := strconv.Atoi(strings.SplitN(text, "\n", 2)[0])
			defer func() { _ = syscall.Kill(-pid, syscall.SIGKILL) }()
			if e.State != process.Exited || e.Code == nil || *e.Code != 0 || !strings.Contains(text, "mine\n") {
				t.Errorf("ended %+v with output %q", e, text)
			}
			if e.EscapedTotal < 1 || e.Escaped[0].PID != pid {
				t.Errorf("escaped: %+v (%d), want %d", e.Escaped, e.EscapedTotal, pid)
			}
			if !alive(pid) {
				t.Errorf("the escapee %d is not alive", pid)
			}
		})
	}
	t.Run("killed", func(t *testing.T) {
		p := start(t, r, testSpec("killed", "setsid sh -c 'echo $$; exec sleep 1000' & sleep 1000"))
		eventually(t, "the escapee says its number", func() bool { return strings.HasSuffix(output(t, p).Text, "\n") })
		pid, _ := strconv.Atoi(strings.TrimSpace(output(t, p).Text))
		defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
		if err := p.Kill(deadline(t), "x"); err != nil {
			t.Fatal(err)
		}
		if e := wait(t, p); e.State != process.Killed || e.EscapedTotal != 1 || !alive(pid) {
			t.Errorf("ended %+v, escapee alive: %v", e, alive(pid))
		}
	})
	// A member of the group whose parent has escaped is no child of the supervisor, and waited for all the same.
	t.Run("member below escapee", func(t *testing.T) {
		p := start(t, r, testSpec("below", "(sleep 2 & exec setsid sh -c 'echo $$; exec sleep 1000') & sleep 0.1; exit 4"))
		leader, err := p.Leader(deadline(t))
		if err != nil || !leader.LeftRunning {
			t.Errorf("leader ended %+v, %v", leader, err)
		}
		e := wait(t, p)
		pid, _ := strconv.Atoi(strings.TrimSpace(output(t, p).Text))
		defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
		if *e.Code != 4 || e.EscapedTotal != 1 || e.EndedAt.Sub(leader.EndedAt) < 100*time.Millisecond {
			t.Errorf("ended %+v after the leader's %+v", e, leader)
		}
	})
}

// A supervisor that is told to stop (a service manager does so) ends its command properly and records it. SIGHUP and what
// is sent to the daemon's group do not reach or do not move it.
func TestSupervisorIsSignalled(t *testing.T) {
	r, _ := newRunner(t)
	p := start(t, r, testSpec("p", "echo ready; sleep 1000"))
	s := started(t, p)
	says(t, p, "ready")
	if err := syscall.Kill(s.Supervisor.PID, syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	// Of two pending signals either may be delivered first.
	eventually(t, "SIGHUP is no longer pending", func() bool { return !pending(t, s.Supervisor.PID) })
	if err := syscall.Kill(s.Supervisor.PID, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if e := wait(t, p); e.State != process.Killed || !strings.Contains(e.Reason, "told to stop (terminated)") || len(members(s)) > 0 {
		t.Errorf("ended %+v", e)
	}
}

// A supervisor that does not answer is ended, and the group with it.
func TestKillWithoutSupervisorsHelp(t *testing.T) {
	if testing.Short() {
		t.Skip("takes as long as a supervisor may take to answer")
	}
	t.Parallel()
	r, _ := newRunner(t)
	p := start(t, r, testSpec("p", "sleep 1000 & echo ready; sleep 1000"))
	s := started(t, p)
	says(t, p, "ready")
	if err := syscall.Kill(s.Supervisor.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(deadline(t), "hangs"); err != nil {
		t.Fatal(err)
	}
	if e := wait(t, p); e.State != process.Killed || e.Reason != "hangs" || len(members(s)) > 0 {
		t.Errorf("ended %+v, left %v", e, members(s))
	}
}
