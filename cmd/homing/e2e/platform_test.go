package e2e

import (
	"strings"
	"testing"
)

// A platform that was paused at the terminal rests until it is resumed there, over a crash, and `homing status` says how.
func TestPlatformPause(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.answers("hello", "well")
	w.start()
	w.contains("the pause", w.do("chat", "/platform pause telegram"), "telegram is paused")
	w.until("nothing is received", func() bool { return !w.tg.Polling() })
	w.kill()
	w.begin("")
	w.until("the status says so", func() bool {
		r := w.run("status")
		return strings.Contains(r.out, "parked (paused)") && strings.Contains(r.out, "/platform resume telegram")
	})
	p.say("hello")
	w.never("it is answered", func() bool { return len(p.messages()) > 0 || w.tg.Polling() })
	w.contains("the end of the pause", w.do("chat", "/platform resume telegram"), "served again")
	p.sees("well")
}
