package gateway

import (
	"testing"
	"time"
)

// twenty answers in five minutes, then ten minutes of silence, whatever is said meanwhile; a slow talk goes on for ever,
// and what does not count any more is forgotten.
func TestBotQuota(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var q botQuota
	said := func(after time.Duration) (heard bool) {
		now = now.Add(after)
		q, heard = q.take(now)
		return heard
	}
	for i := range 20 {
		if !said(time.Second) {
			t.Fatalf("message %d was not heard", i+1)
		}
	}
	if said(time.Second) {
		t.Fatal("message 21 was heard")
	}
	for i := range 9 {
		if said(time.Minute) {
			t.Fatalf("heard %d minutes after it was too much", i+1)
		}
	}
	if said(59*time.Second) || q.over(now) {
		t.Error("the silence was too short")
	}
	if !q.over(now.Add(time.Second)) {
		t.Error("the silence is over, and something still counts")
	}
	for range 60 {
		if !said(16 * time.Second) {
			t.Fatal("fewer than twenty in five minutes, and not heard")
		}
	}
	if q.over(now.Add(5*time.Minute-time.Second)) || !q.over(now.Add(5*time.Minute)) {
		t.Error("what was heard counts for five minutes")
	}
}
