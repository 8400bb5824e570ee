package main

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// foreignLimit is how many cores others may use during a run that counts.
const foreignLimit = 0.3

// cpu is the time that all cores were busy until then.
type cpu struct {
	busy time.Duration
	at   time.Time
}

func readCPU() cpu {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return cpu{at: time.Now()}
	}
	var user, nice, system, idle, iowait, irq, softirq, steal int64
	_, _ = fmt.Sscanf(string(b), "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &iowait, &irq, &softirq, &steal)
	const tick = time.Second / 100
	return cpu{busy: time.Duration(user+nice+system+irq+softirq+steal) * tick, at: time.Now()}
}

// others tells how many cores others than a child of ours were busy on since then.
func (c cpu) others(own time.Duration) float64 {
	now := readCPU()
	return max(0, (now.busy-c.busy-own).Seconds()/now.at.Sub(c.at).Seconds())
}

// waitForQuiet waits until others leave the machine alone, for at most a minute.
func waitForQuiet() {
	for range 120 {
		before, self := readCPU(), ownCPU()
		time.Sleep(500 * time.Millisecond)
		if before.others(ownCPU()-self) < foreignLimit {
			return
		}
	}
}

// ownCPU is the processor time of this process.
func ownCPU() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
