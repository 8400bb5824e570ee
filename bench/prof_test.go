package main

import (
	"encoding/json"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/homing-gateway/homing/internal/machine"
)

func TestProf(t *testing.T) {
	callers, _ := strconv.Atoi(os.Getenv("C"))
	if callers == 0 {
		callers = 256
	}
	dir, _ := os.MkdirTemp("/work/main/bench", "tmp")
	defer os.RemoveAll(dir)
	total := 200_000
	if s, err := strconv.Atoi(os.Getenv("N")); err == nil {
		total = s
	}
	p, err := openProduct(dir, callers, total/callers, 0)
	if err != nil {
		t.Fatal(err)
	}
	ops, bytes := 0, 0
	switch os.Getenv("MODE") {
	case "none":
		p.commit = func(c []machine.Change) error { return nil }
	case "count":
		p.commit = func(c []machine.Change) error {
			ops += len(c)
			for _, x := range c {
				b, _ := json.Marshal(x.Value)
				bytes += len(b)
			}
			return nil
		}
	}
	var u0, u1 syscall.Rusage
	runtime.GC()
	pf, _ := os.Create("/tmp/run.prof")
	pprof.StartCPUProfile(pf)
	syscall.Getrusage(0, &u0)
	n, took, err := closedLoop(callers, 2*time.Second, p.cycle)
	syscall.Getrusage(0, &u1)
	pprof.StopCPUProfile()
	pf.Close()
	t.Logf("%+v", p.db.Stats())
	cpu := func(u syscall.Rusage) int64 { return (u.Utime.Nano() + u.Stime.Nano()) / 1000 }
	t.Log("CPU", (cpu(u1)-cpu(u0))/n, "us/cycle", "out KB/cycle", float64(u1.Oublock-u0.Oublock)/2/float64(n))
	t.Log(n, took, float64(n)/took.Seconds(), "cycles/s", "commits", p.commits.Load(), float64(p.commits.Load())*2/float64(n), "flushes/cycle", took.Seconds()*1e6/float64(n), "us/cycle", err, ops/int(n), bytes/int(n))
	if err := p.close(); err != nil {
		t.Fatal(err)
	}
}
