package gateway

import "time"

// Slept is slept.
func Slept(wall, monotonic time.Duration) time.Duration { return slept(wall, monotonic) }

// Awake is what happens when the machine has slept.
func (g *Gateway) Awake(d time.Duration) { g.awake(d) }
