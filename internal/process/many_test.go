package process_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/homing-gateway/homing/internal/process"
)

// 64 at once start and end as told, and leave no zombie and no open file.
func TestManyAtOnce(t *testing.T) {
	const many = 64
	r, _ := newRunner(t)
	wait(t, start(t, r, testSpec("warm-up", "true")))
	files := len(descriptors(t, os.Getpid()))
	before := make(map[int]bool)
	for _, pid := range processes(func(s procStat) bool { return s.parent == os.Getpid() }) {
		before[pid] = true // of Runners that other tests have closed
	}
	var running, waiting sync.WaitGroup
	begin := time.Now()
	for i := range many {
		running.Add(1)
		waiting.Go(func() {
			p, err := r.Start(deadline(t), testSpec(fmt.Sprintf("p%d", i), fmt.Sprintf("echo %d; sleep 0.3; exit %d", i, i)))
			if err == nil {
				_, err = p.Started(deadline(t))
			}
			running.Done()
			if err != nil {
				t.Error(err)
				return
			}
			e, err := p.Wait(deadline(t))
			if err != nil || e.State != process.Exited || *e.Code != i {
				t.Errorf("%d ended %+v, %v", i, e, err)
			}
			if o, err := p.Output(); err != nil || o.Text != fmt.Sprintf("%d\n", i) {
				t.Errorf("output of %d: %+v, %v", i, o, err)
			}
		})
	}
	running.Wait()
	t.Logf("%d started in %v", many, time.Since(begin))
	waiting.Wait()
	t.Logf("%d ended after %v", many, time.Since(begin))
	eventually(t, "no zombie is left", func() bool {
		left := processes(func(s procStat) bool { return s.parent == os.Getpid() && !before[s.pid] })
		return len(left) == 0
	})
	eventually(t, "no file is left open", func() bool { return len(descriptors(t, os.Getpid())) <= files })
}

// Waiting costs no thread, for the supervisors' zombies neither.
func TestWaitsCostNoThreads(t *testing.T) {
	const many = 40
	r, _ := newRunner(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var waiting sync.WaitGroup
	var parked atomic.Int32
	before := statusKB(t, os.Getpid(), "Threads")
	for i := range many {
		p := start(t, r, testSpec(fmt.Sprintf("p%d", i), "sleep 1000"))
		started(t, p)
		for _, wait := range []func(context.Context) (process.Exit, error){p.Wait, p.Leader} {
			waiting.Go(func() {
				parked.Add(1)
				if _, err := wait(ctx); !errors.Is(err, context.Canceled) {
					t.Errorf("a cancelled wait: %v", err)
				}
			})
		}
	}
	eventually(t, "all wait", func() bool { return parked.Load() == 2*many })
	if after := statusKB(t, os.Getpid(), "Threads"); after > before+many/2 {
		t.Errorf("threads: %d, and %d with %d waiting", before, after, 2*many)
	}
	cancel()
	waiting.Wait()
}

// The orphans of a command are reaped by its supervisor while it runs and after its leader has ended.
func TestSupervisorReapsOrphans(t *testing.T) {
	r, _ := newRunner(t)
	p := start(t, r, testSpec("p", "i=0; while [ $i -lt 50 ]; do i=$((i+1)); (sleep 0.01 &) ; done; echo half; "+
		"(i=0; while [ $i -lt 50 ]; do i=$((i+1)); (sleep 0.01 &) ; done; echo all; exec sleep 1000) & exit 0"))
	s := started(t, p)
	says(t, p, "all")
	eventually(t, "the supervisor has no zombie but the leader", func() bool {
		return len(processes(func(c procStat) bool { return c.parent == s.Supervisor.PID && c.state == "Z" })) == 1
	})
	if err := p.Kill(deadline(t), "x"); err != nil {
		t.Fatal(err)
	}
	if e := wait(t, p); !e.LeftRunning || e.EscapedTotal != 0 {
		t.Errorf("ended %+v", e)
	}
}

// What a supervisor costs. The limits are the project's own; the detector of data races costs more than all of it.
func TestCost(t *testing.T) {
	r, _ := newRunner(t)
	var starts, news []time.Duration
	var anon, threads []int
	for i := range 20 {
		begin := time.Now()
		p := start(t, r, testSpec(fmt.Sprintf("p%d", i), "exec sleep 0.1"))
		s := started(t, p)
		starts = append(starts, time.Since(begin))
		if st, ok := readProcStat(s.Supervisor.PID); ok && st.state != "Z" {
			anon = append(anon, statusKB(t, s.Supervisor.PID, "RssAnon"))
			threads = append(threads, statusKB(t, s.Supervisor.PID, "Threads"))
		}
		if e := wait(t, p); *e.Code != 0 {
			t.Errorf("ended %+v", e)
		}
		news = append(news, 0)
	}
	t.Logf("supervisor: %d KB anonymous, %d threads", anon, threads)
	if worst := slices.Max(anon); worst > 4096 && !raceDetector {
		t.Errorf("a supervisor takes %d KB", worst)
	}
	if worst := slices.Max(threads); worst > 16 {
		t.Errorf("a supervisor has %d threads", worst)
	}
	slices.Sort(starts)
	t.Logf("Start to started: median %v, worst %v", starts[len(starts)/2], starts[len(starts)-1])

	// From the command's own last act to the answer of Wait.
	for i := range news {
		p := start(t, r, testSpec(fmt.Sprintf("e%d", i), "date +%s%N"))
		wait(t, p)
		seen := time.Now()
		var stamp int64
		if _, err := fmt.Sscan(strings.TrimSpace(output(t, p).Text), &stamp); err != nil {
			t.Fatal(err)
		}
		news[i] = seen.Sub(time.Unix(0, stamp))
	}
	slices.Sort(news)
	t.Logf("last act of the command to the end of Wait: median %v, worst %v", news[len(news)/2], news[len(news)-1])
}
