package process_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/homing-gateway/homing/internal/process"
)

// The other lives of the test binary: a supervisor, a supervisor that is killed or gets stuck on its way, a client that is
// killed.
const (
	superviseDying = "supervise-dying"
	superviseStuck = "supervise-stuck"
	clientDying    = "client-dying"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch args := os.Args[2:]; os.Args[1] {
		case process.SuperviseArg:
			os.Exit(process.Supervise(args))
		case superviseDying: // POINT supervise-process DIR
			os.Exit(process.SuperviseReaching(args[2:], dieAt(args[0])))
		case superviseStuck: // POINT supervise-process DIR
			os.Exit(process.SuperviseReaching(args[2:], func(reached string) {
				if reached == args[0] {
					select {}
				}
			}))
		case clientDying: // POINT ROOT ID COMMAND
			runDyingClient(args[0], args[1], args[2], args[3])
		}
	}
	goleak.VerifyTestMain(m)
}

func dieAt(point string) func(string) {
	return func(reached string) {
		if reached == point {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
}

// testSpec is a Spec that is good for most tests.
func testSpec(id, command string) process.Spec {
	return process.Spec{
		ID: id, Command: command, Shell: "/bin/sh", Workdir: os.TempDir(),
		Env: process.Environment(os.Environ(), nil), KillGrace: 300 * time.Millisecond,
	}
}

func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// newRunner returns a Runner and its directory. Whatever still runs at the end of the test is killed.
func newRunner(t testing.TB, self ...string) (*process.Runner, string) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "processes")
	r, err := process.New(root, self...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		killAll(t, r)
		r.Close()
	})
	return r, root
}

func killAll(t testing.TB, r *process.Runner) {
	ids, err := r.List()
	if err != nil {
		t.Error(err)
	}
	for _, id := range ids {
		p, err := r.Open(id)
		if err != nil {
			t.Error(err)
			continue
		}
		if err := p.Kill(deadline(t), "end of the test"); err != nil {
			t.Errorf("kill %s at the end of the test: %v", id, err)
		}
	}
}

// deadline bounds every wait of a test; it is not tied to t.Context, which ends before cleanups.
func deadline(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func start(t testing.TB, r *process.Runner, spec process.Spec) *process.Process {
	t.Helper()
	p, err := r.Start(deadline(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func started(t testing.TB, p *process.Process) process.Started {
	t.Helper()
	s, err := p.Started(deadline(t))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func wait(t testing.TB, p *process.Process) process.Exit {
	t.Helper()
	e, err := p.Wait(deadline(t))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func output(t testing.TB, p *process.Process) process.Output {
	t.Helper()
	o, err := p.Output()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// eventually waits for a condition that makes no event a test could wait for.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in time: %s", what)
		}
	}
}

// says waits until the output of p contains text.
func says(t testing.TB, p *process.Process, text string) {
	t.Helper()
	eventually(t, fmt.Sprintf("output of %s has %q", p.ID(), text), func() bool {
		return strings.Contains(output(t, p).Text, text)
	})
}

// procStat is what the tests want to know of a process, read independently of the code under test.
type procStat struct {
	pid, parent, group, session int
	state                       string
}

func readProcStat(pid int) (procStat, bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return procStat{}, false
	}
	fields := strings.Fields(string(data[strings.LastIndex(string(data), ")")+1:]))
	number := func(i int) int { n, _ := strconv.Atoi(fields[i]); return n }
	return procStat{pid: pid, state: fields[0], parent: number(1), group: number(2), session: number(3)}, true
}

func processes(match func(procStat) bool) []int {
	entries, _ := os.ReadDir("/proc")
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if s, ok := readProcStat(pid); ok && match(s) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func alive(pid int) bool {
	s, ok := readProcStat(pid)
	return ok && s.state != "Z" && s.state != "X"
}

// members lists the living processes of the group that s tells of.
func members(s process.Started) []int {
	return processes(func(m procStat) bool { return m.group == s.Leader.PID && m.state != "Z" && m.state != "X" })
}

// statusKB reads one number of /proc/PID/status.
func statusKB(t testing.TB, pid int, key string) int {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, key+":") })
	if i < 0 {
		t.Fatalf("no %s in status of %d", key, pid)
	}
	n, err := strconv.Atoi(strings.Fields(lines[i])[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func itoa(n int) string { return strconv.Itoa(n) }

func inode(t testing.TB, fd int) string {
	t.Helper()
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		t.Fatal(err)
	}
	return strconv.FormatUint(st.Ino, 10)
}

// descriptors lists what a process has open.
func descriptors(t testing.TB, pid int) []string {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var links []string
	for _, entry := range entries {
		if link, err := os.Readlink(filepath.Join(dir, entry.Name())); err == nil {
			links = append(links, link)
		}
	}
	return links
}

// runDyingClient is a client that is killed when it reaches a point. What it reaches by itself comes after Start's own.
func runDyingClient(point, root, id, command string) {
	reached := dieAt(point)
	fail := func(err error) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	r, err := process.New(root)
	if err != nil {
		fail(err)
	}
	r.OnReached(reached)
	ctx := context.Background()
	p, err := r.Start(ctx, testSpec(id, command))
	if err != nil {
		fail(err)
	}
	if _, err := p.Started(ctx); err != nil {
		fail(err)
	}
	reached("after started")
	for {
		o, err := p.Output()
		if err != nil {
			fail(err)
		}
		if strings.Contains(o.Text, "running") {
			break
		}
		time.Sleep(time.Millisecond)
	}
	reached("while running")
	if _, err := p.Wait(ctx); err != nil {
		fail(err)
	}
	reached("after exit")
	os.Exit(1) // it should have died
}

// pending tells whether a signal waits to be delivered to a process.
func pending(t testing.TB, pid int) bool {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	return !strings.Contains(string(data), "\nShdPnd:\t0000000000000000\n")
}
