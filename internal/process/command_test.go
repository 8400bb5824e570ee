package process_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homing-gateway/homing/internal/process"
)

func TestExitTellsTheTruth(t *testing.T) {
	r, _ := newRunner(t)
	for _, c := range []struct {
		id, command string
		code        int // -1: none
		signal      string
		output      string
	}{
		{"zero", "echo out; echo err >&2", 0, "", "out\nerr\n"},
		{"code", "exit 7", 7, "", ""},
		{"high-code", "exit 255", 255, "", ""},
		{"sigkill", "kill -KILL $$", -1, "SIGKILL", ""},
		{"sigterm", "echo bye; kill -TERM $$", -1, "SIGTERM", "bye\n"},
		{"sigsegv", "kill -SEGV $$", -1, "SIGSEGV", ""},
		{"no-such-command", "homing-no-such-command 2>/dev/null", 127, "", ""},
		{"stdin-is-empty", "cat; echo read", 0, "", "read\n"},
		{"pipeline", "printf 'b\\na\\n' | sort", 0, "", "a\nb\n"},
	} {
		t.Run(c.id, func(t *testing.T) {
			p := start(t, r, testSpec(c.id, c.command))
			e := wait(t, p)
			code := -1
			if e.Code != nil {
				code = *e.Code
			}
			if e.State != process.Exited || code != c.code || e.Signal != c.signal || e.LeftRunning || e.EscapedTotal != 0 {
				t.Errorf("ended %+v with code %d, want code %d and signal %q", e, code, c.code, c.signal)
			}
			if e.StartedAt.IsZero() || e.EndedAt.Before(e.StartedAt) {
				t.Errorf("times: %v to %v", e.StartedAt, e.EndedAt)
			}
			o := output(t, p)
			if o.Text != c.output || o.Truncated || o.Total != int64(len(c.output)) || e.Output.Total != o.Total {
				t.Errorf("output %+v, record %+v, want %q", o, e.Output, c.output)
			}
			if again := wait(t, p); !cmp.Equal(e, again) {
				t.Errorf("second wait differs: %s", cmp.Diff(e, again))
			}
			if polled, err := p.Poll(); err != nil || !cmp.Equal(e, polled) {
				t.Errorf("poll differs: %v %s", err, cmp.Diff(e, polled))
			}
		})
	}
}

func TestNothingRuns(t *testing.T) {
	r, root := newRunner(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id     string
		change func(*process.Spec)
		reason string
	}{
		{"no-workdir", func(s *process.Spec) { s.Workdir = "/homing/no/such/dir" }, "workdir: stat /homing/no/such/dir: no such file or directory"},
		{"workdir-is-file", func(s *process.Spec) { s.Workdir = file }, "not a directory"},
		{"no-shell", func(s *process.Spec) { s.Shell = "/homing/no/such/shell" }, "execute /homing/no/such/shell: no such file or directory"},
		{"shell-not-executable", func(s *process.Spec) { s.Shell = file }, "permission denied"},
		{"command-too-long", func(s *process.Spec) { s.Command = "true " + strings.Repeat("x", 200<<10) }, "argument list too long"},
	} {
		t.Run(c.id, func(t *testing.T) {
			spec := testSpec(c.id, "echo ran")
			c.change(&spec)
			p := start(t, r, spec)
			if _, err := p.Started(deadline(t)); !errors.Is(err, process.ErrNotStarted) {
				t.Errorf("Started: %v, want ErrNotStarted", err)
			}
			e := wait(t, p)
			if e.State != process.FailedStart || e.Code != nil || !strings.Contains(e.Reason, c.reason) || !e.StartedAt.IsZero() {
				t.Errorf("ended %+v, want failed_start because %q", e, c.reason)
			}
			if leader, err := p.Leader(deadline(t)); err != nil || leader.State != process.FailedStart {
				t.Errorf("Leader: %+v, %v", leader, err)
			}
			if err := p.Kill(deadline(t), "late"); err != nil {
				t.Errorf("Kill of what never ran: %v", err)
			}
		})
	}
	for name, change := range map[string]func(*process.Spec){
		"id with slash":     func(s *process.Spec) { s.ID = "../up" },
		"empty id":          func(s *process.Spec) { s.ID = "" },
		"empty command":     func(s *process.Spec) { s.Command = "" },
		"NUL in command":    func(s *process.Spec) { s.Command = "a\x00b" },
		"relative workdir":  func(s *process.Spec) { s.Workdir = "here" },
		"relative shell":    func(s *process.Spec) { s.Shell = "sh" },
		"negative grace":    func(s *process.Spec) { s.KillGrace = -1 },
		"environment entry": func(s *process.Spec) { s.Env = []string{"NAME"} },
	} {
		spec := testSpec("bad", "true")
		change(&spec)
		if _, err := r.Start(deadline(t), spec); !errors.Is(err, process.ErrSpec) {
			t.Errorf("%s: %v, want ErrSpec", name, err)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Start(cancelled, testSpec("cancelled", "true")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled start: %v", err)
	}
	for _, id := range []string{"bad", "cancelled"} {
		if _, err := os.Stat(filepath.Join(root, id)); err == nil {
			t.Errorf("%s left a directory", id)
		}
	}
}

// One intent starts at most one command, however many try.
func TestOneIDOneCommand(t *testing.T) {
	r, _ := newRunner(t)
	if _, err := r.Open("one"); !errors.Is(err, process.ErrNotFound) {
		t.Errorf("Open before: %v, want ErrNotFound", err)
	}
	ran := filepath.Join(t.TempDir(), "ran")
	var starting sync.WaitGroup
	results := make(chan error, 8)
	for range cap(results) {
		starting.Go(func() {
			_, err := r.Start(deadline(t), testSpec("one", "echo x >> "+ran))
			results <- err
		})
	}
	starting.Wait()
	close(results)
	succeeded := 0
	for err := range results {
		switch {
		case err == nil:
			succeeded++
		case !errors.Is(err, process.ErrExists):
			t.Errorf("Start: %v, want ErrExists", err)
		}
	}
	p, err := r.Open("one")
	if err != nil {
		t.Fatal(err)
	}
	wait(t, p)
	if data, _ := os.ReadFile(ran); succeeded != 1 || string(data) != "x\n" {
		t.Errorf("%d starts succeeded, and it ran %q", succeeded, data)
	}
	spec, err := p.Spec()
	if err != nil || spec.Command != "echo x >> "+ran || spec.OutputLimit != process.DefaultOutputLimit {
		t.Errorf("Spec: %+v, %v", spec, err)
	}
}

// A command gets its environment and three descriptors, and a clean set of signals: nothing of the daemon's.
func TestCommandInheritsNothing(t *testing.T) {
	r, root := newRunner(t)
	t.Setenv("HOMING_TEST_SECRET", "hunter2")
	// What the daemon itself was handed without close-on-exec must not travel on.
	var inherited [2]int
	if err := syscall.Pipe(inherited[:]); err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited[0])
	defer syscall.Close(inherited[1])
	spec := testSpec("inherits", "env | cut -d= -f1 | sort | tr '\\n' ' '; echo; ls /proc/self/fd | tr '\\n' ' '; "+
		"grep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status; echo ready; sleep 100")
	spec.Env = []string{"A=1", "PATH=" + os.Getenv("PATH")}
	p := start(t, r, spec)
	s := started(t, p)
	says(t, p, "ready")
	lines := strings.Split(output(t, p).Text, "\n")
	if got := strings.Fields(lines[0]); !cmp.Equal(got, []string{"A", "PATH", "PWD"}) && !cmp.Equal(got, []string{"A", "PATH", "PWD", "_"}) {
		t.Errorf("environment of the command: %q", got)
	}
	if got := strings.Fields(lines[1])[:4]; !cmp.Equal(got, []string{"0", "1", "2", "3"}) { // 3: the list itself
		t.Errorf("descriptors of the command: %q", lines[1])
	}
	for _, line := range lines[1:] {
		// Signals 32 and 33 are the C library's own: its posix_spawn (make uses it) hands them down as ignored.
		const internal = 1<<31 | 1<<32
		if mask, ok := strings.CutPrefix(line, "SigIgn:"); ok {
			if n, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64); err != nil || n&^internal != 0 {
				t.Errorf("the command ignores signals: %s", line)
			}
		}
	}
	environ, err := os.ReadFile("/proc/" + itoa(s.Supervisor.PID) + "/environ")
	if err != nil || strings.Contains(string(environ), "SECRET") {
		t.Errorf("environment of the supervisor: %q, %v", environ, err)
	}
	if st, ok := readProcStat(s.Supervisor.PID); !ok || st.session != s.Supervisor.PID || st.group != s.Supervisor.PID {
		t.Errorf("supervisor is in group %d of session %d, want its own", st.group, st.session)
	}
	own := "pipe:[" + inode(t, inherited[0]) + "]"
	for _, link := range descriptors(t, s.Supervisor.PID) {
		if link == own || strings.HasPrefix(link, "socket:") {
			t.Errorf("the supervisor holds %s", link)
		}
	}
	err = filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if want := map[bool]os.FileMode{true: 0o700, false: 0o600}[info.IsDir()]; info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(filepath.Join(root, "inherits", "command.json")); err != nil || strings.Contains(string(data), "A=1") {
		t.Errorf("command.json holds values of the environment: %s, %v", data, err)
	}
}

func TestEnvironment(t *testing.T) {
	environ := []string{
		"HOME=/root", "SECRET=x", "PATH=/old", "LC_ALL=C", "EMPTY=", "PATH=/bin", "malformed", "=C:=x", "path=/no",
		"LANG=C", "TERM=xterm", "TZ=UTC", "TMPDIR=/tmp", "USER=root", "SHELL=/bin/sh", "PATHX=1",
	}
	got := process.Environment(environ, []string{"EMPTY", "MISSING"})
	want := []string{
		"HOME=/root", "EMPTY=", "PATH=/bin", "LANG=C", "TERM=xterm", "TZ=UTC", "TMPDIR=/tmp", "USER=root", "SHELL=/bin/sh",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(process.Environment(nil, nil)) != 0 {
		t.Error("something out of nothing")
	}
}

func TestListAndRemove(t *testing.T) {
	r, root := newRunner(t)
	wait(t, start(t, r, testSpec("done", "true")))
	running := start(t, r, testSpec("running", "sleep 100"))
	if ids, err := r.List(); err != nil || !slices.Equal(ids, []string{"done", "running"}) {
		t.Errorf("List: %v, %v", ids, err)
	}
	if err := r.Remove("running"); !errors.Is(err, process.ErrRunning) {
		t.Errorf("Remove of a running one: %v, want ErrRunning", err)
	}
	if err := r.Remove("done"); err != nil {
		t.Error(err)
	}
	if err := r.Remove("done"); !errors.Is(err, process.ErrNotFound) {
		t.Errorf("second Remove: %v, want ErrNotFound", err)
	}
	if entries, _ := os.ReadDir(root); len(entries) != 1 {
		t.Errorf("left over: %v", entries)
	}
	// A program that died in the middle of a Remove.
	if err := os.Mkdir(filepath.Join(root, ".removed-other"), 0o700); err != nil {
		t.Fatal(err)
	}
	second, err := process.New(root)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if entries, _ := os.ReadDir(root); len(entries) != 1 {
		t.Errorf("left over after a new start: %v", entries)
	}
	if err := running.Kill(deadline(t), "enough"); err != nil {
		t.Error(err)
	}
	r.Close()
	if _, err := r.Start(deadline(t), testSpec("late", "true")); !errors.Is(err, process.ErrClosed) {
		t.Errorf("Start after Close: %v, want ErrClosed", err)
	}
}
