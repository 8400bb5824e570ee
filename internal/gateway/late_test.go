package gateway

import (
	"testing"
	"time"
)

// U-20: what was written while we were away is marked as late; what is said to us now is not, nor is what has no time.
func TestLateness(t *testing.T) {
	up := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for sent, want := range map[time.Time]string{
		up.Add(-30 * time.Minute): "(This was written 30 min before I could read it.)",
		up.Add(-5 * time.Minute):  "(This was written 5 min before I could read it.)",
		up.Add(-4 * time.Minute):  "",
		up.Add(time.Hour):         "",
		{}:                        "",
	} {
		if got := lateness(sent, up); got != want {
			t.Errorf("%s before: %q, want %q", up.Sub(sent), got, want)
		}
	}
}
