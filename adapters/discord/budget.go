package discord

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

const (
	identifySpacing = 5*time.Second + 250*time.Millisecond // Discord's rule, and a little for the way
	quickIdentifies = 8                                    // within an hour, before the pauses grow
	longestSpacing  = 10 * time.Minute
	reserve         = 10 // identifies that are left to a person who looks for the fault
)

// budget keeps when the bot identified, on disk where it has a place: a program that dies and is started again, over and
// over, must not use up the 1000 identifies of a day.
type budget struct {
	path string
	log  []time.Time
	read bool
}

func newBudget(dir, bot string) *budget {
	if dir == "" {
		return &budget{read: true}
	}
	return &budget{path: filepath.Join(dir, "discord-"+bot+".json")}
}

// record is the file.
type record struct {
	Identified []time.Time `json:"identified"`
}

// wait tells how long the next identify has to wait. A file that cannot be read counts as empty: Discord has its own count.
func (b *budget) wait(now time.Time) time.Duration {
	if !b.read {
		b.read = true
		var r record
		if text, err := os.ReadFile(b.path); err == nil && json.Unmarshal(text, &r) == nil {
			b.log = r.Identified
		}
	}
	return spacing(b.log, now)
}

// spend notes an identify before it is sent.
func (b *budget) spend(now time.Time) error {
	kept := []time.Time{now.UTC()}
	for _, t := range b.log {
		if now.Sub(t) < time.Hour && !t.After(now) {
			kept = append(kept, t)
		}
	}
	b.log = kept
	if b.path == "" {
		return nil
	}
	text, err := json.Marshal(record{kept})
	if err != nil {
		return err
	}
	if err := os.WriteFile(b.path+".new", append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(b.path+".new", b.path)
}

// spacing tells how long after the identifies of the last hour the next one has to wait: Discord's five seconds, and more
// and more once there are many. A time in the future is of a clock that was put back, and counts as now.
func spacing(log []time.Time, now time.Time) time.Duration {
	recent, last := 0, time.Time{}
	for _, t := range log {
		if t.After(now) {
			t = now
		}
		if now.Sub(t) < time.Hour {
			recent++
		}
		if t.After(last) {
			last = t
		}
	}
	if last.IsZero() {
		return 0
	}
	pause := identifySpacing
	for range max(recent-quickIdentifies, 0) {
		pause = min(2*pause, longestSpacing)
	}
	return max(last.Add(pause).Sub(now), 0)
}
