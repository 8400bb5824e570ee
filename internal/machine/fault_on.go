//go:build faultpoint

package machine

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// passed counts how often the point that HOMING_FAULT names was passed.
var passed atomic.Int64

// faultPoint ends the process by SIGKILL at the point that the variable HOMING_FAULT names:
// <kind of request>.<before|after>[:n], before or after the commit of the n-th request of that kind (the first without n).
// Only programs built with the tag faultpoint have it.
func faultPoint(r Request, when string) {
	point, count, _ := strings.Cut(os.Getenv("HOMING_FAULT"), ":")
	if point != KindOf(r)+"."+when {
		return
	}
	n, err := strconv.ParseInt(count, 10, 64)
	if err != nil {
		n = 1
	}
	if passed.Add(1) == n {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // the signal is on its way
	}
}
