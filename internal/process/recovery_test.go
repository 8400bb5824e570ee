package process_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/homing-gateway/homing/internal/process"
)

// P-09: a client that is killed at any point leaves a process that the next client finds, with its true end or the truth
// that nothing ran.
func TestClientIsKilled(t *testing.T) {
	for _, c := range []struct {
		point string
		want  process.State // empty: no such process
	}{
		{"before mkdir", ""},
		{"after mkdir", process.FailedStart},
		{"after spec", process.FailedStart},
		{"after supervisor start", process.Exited},
		{"after started", process.Exited},
		{"while running", process.Exited},
		{"after exit", process.Exited},
	} {
		t.Run(c.point, func(t *testing.T) {
			r, root := newRunner(t)
			dir := t.TempDir()
			ran, fifo := filepath.Join(dir, "ran"), filepath.Join(dir, "go")
			command := "echo x >> " + ran + "; echo running; "
			if c.point != "after exit" { // then the first client has to see the end
				if err := syscall.Mkfifo(fifo, 0o600); err != nil {
					t.Fatal(err)
				}
				command += "read x < " + fifo + "; "
			}
			command += "echo done; exit 9"
			first := exec.Command(self(t), clientDying, c.point, root, "p", command)
			first.Stderr = t.Output()
			err := first.Run()
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("first client: %v, want it killed", err)
			}
			p, err := r.Open("p")
			if c.want == "" {
				if !errors.Is(err, process.ErrNotFound) {
					t.Errorf("Open: %v, want ErrNotFound", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.want == process.FailedStart {
				if _, err := p.Started(deadline(t)); !errors.Is(err, process.ErrNotStarted) {
					t.Errorf("Started: %v, want ErrNotStarted", err)
				}
			} else if c.point != "after exit" {
				s := started(t, p)
				if now, err := p.Poll(); err != nil || now.State != process.Running || !alive(s.Leader.PID) {
					t.Errorf("poll: %+v, %v", now, err)
				}
				if err := os.WriteFile(fifo, []byte("\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			e := wait(t, p)
			if e.State != c.want || (c.want == process.Exited) != (e.Code != nil && *e.Code == 9) {
				t.Errorf("ended %+v, want %s", e, c.want)
			}
			data, _ := os.ReadFile(ran)
			if want := map[process.State]string{process.Exited: "x\n"}[c.want]; string(data) != want {
				t.Errorf("it ran %q, want %q", data, want)
			}
			if _, err := r.Start(deadline(t), testSpec("p", "true")); !errors.Is(err, process.ErrExists) {
				t.Errorf("Start again: %v, want ErrExists", err)
			}
		})
	}
}

// A supervisor that is killed leaves a verdict that is true: failed_start before anything was started, lost after; what
// it had recorded counts. Nothing of the group outlives it.
func TestSupervisorIsKilled(t *testing.T) {
	for _, c := range []struct {
		point string
		want  process.State
	}{
		{"before started", process.FailedStart},
		{"after started", process.Lost},
		{"after fork", process.Lost},
		{"running", process.Lost},
		{"before exit record", process.Lost},
		{"after exit record", process.Exited},
	} {
		t.Run(c.point, func(t *testing.T) {
			r, _ := newRunner(t, self(t), superviseDying, c.point)
			mark := t.TempDir() // nobody else's command line has it
			command := "sh -c 'sleep 1000; : " + mark + "' & sleep 1000; : " + mark
			if strings.Contains(c.point, "record") {
				command = "exit 2"
			}
			p := start(t, r, testSpec("p", command))
			if e := wait(t, p); e.State != c.want || (e.Code != nil) != (c.want == process.Exited) || (e.Reason == "") != (c.want == process.Exited) {
				t.Errorf("ended %+v, want %s", e, c.want)
			}
			eventually(t, "nothing of the command is alive", func() bool {
				return len(processes(func(s procStat) bool {
					data, _ := os.ReadFile("/proc/" + itoa(s.pid) + "/cmdline")
					return strings.Contains(string(data), mark)
				})) == 0
			})
			_, err := p.Started(deadline(t))
			if (c.want == process.FailedStart) != errors.Is(err, process.ErrNotStarted) || (c.want != process.FailedStart && err != nil) {
				t.Errorf("Started: %v", err)
			}
		})
	}
}

// The leader dies with its supervisor, and the client that notices ends the rest, whoever it is by then.
func TestSupervisorIsKilledWhileRunning(t *testing.T) {
	r, root := newRunner(t)
	p := start(t, r, testSpec("p", "trap '' TERM; sleep 1000 & sh -c 'sleep 1000 & wait' & echo ready; wait"))
	s := started(t, p)
	says(t, p, "ready")
	eventually(t, "all four are there", func() bool { return len(members(s)) == 4 })
	waited := make(chan process.Exit, 1)
	go func() { waited <- wait(t, p) }() // parked when it happens
	if err := syscall.Kill(s.Supervisor.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if e := <-waited; e.State != process.Lost || e.Code != nil || !strings.Contains(e.Reason, "supervisor is gone") || e.Output.Total != 6 {
		t.Errorf("ended %+v", e)
	}
	if left := members(s); len(left) > 0 {
		t.Errorf("left of the group: %v", left)
	}
	if err := p.Kill(deadline(t), "late"); err != nil {
		t.Error(err)
	}
	again, err := process.New(root)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	found, err := again.Open("p")
	if err != nil {
		t.Fatal(err)
	}
	if e := wait(t, found); e.State != process.Lost { // the verdict stays
		t.Errorf("the next client: %+v", e)
	}
}

// The leader dies with its supervisor also when no client is there to notice.
func TestLeaderDiesWithSupervisor(t *testing.T) {
	r, _ := newRunner(t)
	p := start(t, r, testSpec("p", "trap '' TERM; while :; do sleep 1000; done"))
	s := started(t, p)
	if err := syscall.Kill(s.Supervisor.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the leader is dead", func() bool { return !alive(s.Leader.PID) })
}

// Whoever looks while a process is being started never takes it for one that failed to.
func TestLookingDuringStart(t *testing.T) {
	r, root := newRunner(t)
	other, err := process.New(root)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for i := range 20 {
		id := "p" + itoa(i)
		ran := filepath.Join(t.TempDir(), "ran")
		seen := make(chan process.Exit, 1)
		go func() {
			for {
				p, err := other.Open(id)
				if errors.Is(err, process.ErrNotFound) {
					continue
				}
				if err != nil {
					t.Error(err)
				}
				if e, err := p.Poll(); err != nil {
					t.Error(err)
				} else if e.State != process.Running {
					seen <- e
					return
				}
			}
		}()
		_, err := r.Start(deadline(t), testSpec(id, "echo x >> "+ran))
		e := <-seen
		data, _ := os.ReadFile(ran)
		switch {
		case err == nil && e.State == process.Exited && string(data) == "x\n":
		case err != nil && e.State == process.FailedStart && len(data) == 0: // looked at before it was locked
			t.Logf("start was given up: %v", err)
		default:
			t.Errorf("Start: %v; seen from outside: %+v; it ran %q", err, e, data)
		}
	}
}

// A kill that was on disk when the client died before it could tell the supervisor is carried out when it is repeated, and
// also when the supervisor is gone.
func TestWantedKillOutlivesClient(t *testing.T) {
	r, root := newRunner(t)
	p := start(t, r, testSpec("p", "sleep 1000 & echo ready; sleep 1000"))
	s := started(t, p)
	says(t, p, "ready")
	marker := map[string]any{"reason": "person said stop", "at": time.Now()}
	if err := process.WriteRecord(filepath.Join(root, "p"), "kill", marker); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(s.Supervisor.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(deadline(t), "again"); err != nil {
		t.Fatal(err)
	}
	if e := wait(t, p); e.State != process.Killed || e.Reason != "person said stop" || len(members(s)) > 0 {
		t.Errorf("ended %+v, left %v", e, members(s))
	}
}

// A record that is not whole is none.
func TestDamagedRecords(t *testing.T) {
	r, root := newRunner(t)
	for name, content := range map[string]string{
		"empty":         "",
		"half":          `{"id":"half","state":"exi`,
		"other-process": `{"id":"someone","state":"exited","exit_code":0}`,
		"no-state":      `{"id":"no-state"}`,
		"running":       `{"id":"running","state":"running"}`,
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, r, testSpec(name, "sleep 1000"))
			s := started(t, p)
			if err := os.WriteFile(filepath.Join(root, name, "exit.json"), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if e, err := p.Poll(); err != nil || e.State != process.Running {
				t.Errorf("poll of a living one: %+v, %v", e, err)
			}
			if err := syscall.Kill(s.Supervisor.PID, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if e := wait(t, p); e.State != process.Lost || e.ID != name {
				t.Errorf("ended %+v, want lost", e)
			}
		})
	}
	t.Run("damaged start", func(t *testing.T) {
		dir := filepath.Join(root, "damaged")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "started"), []byte(`{"supervisor":`), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := r.Open("damaged")
		if err != nil {
			t.Fatal(err)
		}
		if e := wait(t, p); e.State != process.Lost { // something may have run
			t.Errorf("ended %+v, want lost", e)
		}
	})
	t.Run("nothing but a directory", func(t *testing.T) {
		if err := os.Mkdir(filepath.Join(root, "bare"), 0o700); err != nil {
			t.Fatal(err)
		}
		p, err := r.Open("bare")
		if err != nil {
			t.Fatal(err)
		}
		if e, err := p.Poll(); err != nil || e.State != process.FailedStart {
			t.Errorf("poll: %+v, %v", e, err)
		}
	})
}

// forge makes a process directory as a supervisor would have left it that is gone without a record.
func forge(t *testing.T, r *process.Runner, root, id string, s process.Started) *process.Process {
	t.Helper()
	dir := filepath.Join(root, id)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := process.WriteRecord(dir, "started", s); err != nil {
		t.Fatal(err)
	}
	p, err := r.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// bystander is a process that leads a session and group of its own, and has a child in it.
func bystander(t *testing.T) (process.Identity, process.Started) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", "sleep 1000 & wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	id, err := process.Identify(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "its child is there", func() bool { return len(members(process.Started{Leader: id})) == 2 })
	boot, namespace := process.LifeOfMachine()
	return id, process.Started{BootID: boot, PIDNamespace: namespace, At: time.Now()}
}

// P-03: a number that was given to somebody else is not killed, neither as a leader nor as a supervisor.
func TestRecycledNumberIsNotKilled(t *testing.T) {
	r, root := newRunner(t)
	id, base := bystander(t)
	older := process.Identity{PID: id.PID, StartTicks: id.StartTicks - 1}
	nobody := process.Identity{PID: 1 << 30, StartTicks: 1}
	for name, s := range map[string]process.Started{
		"leader":            {Supervisor: nobody, Leader: older},
		"supervisor":        {Supervisor: older, Leader: nobody},
		"both":              {Supervisor: older, Leader: older},
		"supervisor-alone":  {Supervisor: older},
		"foreign-session":   {Supervisor: nobody, Leader: id},
		"started-before-it": {Supervisor: process.Identity{PID: id.PID, StartTicks: id.StartTicks + 1}, Leader: nobody},
	} {
		s.BootID, s.PIDNamespace, s.At = base.BootID, base.PIDNamespace, base.At
		p := forge(t, r, root, name, s)
		if err := p.Kill(deadline(t), "kill it"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if left := members(process.Started{Leader: id}); len(left) != 2 {
			t.Fatalf("%s: the bystander's group is down to %v", name, left)
		}
		if err := process.EndSupervisor(s); s.Supervisor == older && !errors.Is(err, process.ErrIdentity) {
			t.Errorf("%s: EndSupervisor: %v, want ErrIdentity", name, err)
		}
	}
	if err := process.EndGroup(process.Started{Supervisor: nobody, Leader: older}, time.Second); !errors.Is(err, process.ErrIdentity) {
		t.Errorf("EndGroup: %v, want ErrIdentity", err)
	}
	p, err := r.Open("leader")
	if err != nil {
		t.Fatal(err)
	}
	if e := wait(t, p); e.State != process.Killed { // the kill was wanted, and nothing of ours is left
		t.Errorf("ended %+v", e)
	}
	if !alive(id.PID) {
		t.Error("the bystander is dead")
	}
}

// P-09: after a reboot a process is lost, and its numbers mean nothing, even if they fit somebody.
func TestReboot(t *testing.T) {
	r, root := newRunner(t)
	id, s := bystander(t)
	s.Supervisor, s.Leader = id, id
	s.BootID = "another"
	p := forge(t, r, root, "boot", s)
	if e := wait(t, p); e.State != process.Lost || !strings.Contains(e.Reason, "restarted") {
		t.Errorf("ended %+v", e)
	}
	if err := process.EndSupervisor(s); !errors.Is(err, process.ErrIdentity) {
		t.Errorf("EndSupervisor: %v, want ErrIdentity", err)
	}
	s.BootID, s.PIDNamespace = func() (string, string) { b, _ := process.LifeOfMachine(); return b, "pid:[1]" }()
	p = forge(t, r, root, "container", s)
	if e := wait(t, p); e.State != process.Lost || !strings.Contains(e.Reason, "container") {
		t.Errorf("ended %+v", e)
	}
	if left := members(process.Started{Leader: id}); len(left) != 2 {
		t.Errorf("the bystander's group is down to %v", left)
	}
}
