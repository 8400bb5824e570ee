package gateway

import (
	"context"
	"time"

	"go.uber.org/zap"
)

const (
	sleepLook  = 5 * time.Second // how often the two clocks are compared
	sleepLeast = time.Minute     // a smaller step of the wall clock is a correction
)

// slept is for how long the machine slept between two looks: the wall clock went on, and the monotonic one, by which all
// timers run, stood still. A wall clock that was put forward looks the same, and does no harm.
func slept(wall, monotonic time.Duration) time.Duration {
	if d := wall - monotonic; d >= sleepLeast {
		return d
	}
	return 0
}

// watchSleep lets all accounts connect anew after the machine has slept: their connections are dead, and nothing would tell
// before a time-out.
func (g *Gateway) watchSleep(ctx context.Context) {
	for last := time.Now(); rest(ctx, sleepLook); {
		now := time.Now()
		if d := slept(now.Round(0).Sub(last.Round(0)), now.Sub(last)); d > 0 {
			g.awake(d)
		}
		last = now
	}
}

func (g *Gateway) awake(d time.Duration) {
	g.log.Info("the machine has slept: all accounts connect anew", zap.Duration("for", d))
	for _, a := range g.all[1:] { // the console has no connection
		a.reconnect()
	}
}
