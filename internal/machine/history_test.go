package machine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestHistories plays random histories: people, models, processes and platforms that do what they like, reports that come
// twice, clocks that jump, disks that are full, and crashes between any two steps. All rules hold after each step; and
// when everything that is outstanding is carried out at last, nothing is stuck. A history that fails is printed as the
// commands of a story.
func TestHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory()
		if rapid.IntRange(0, 5).Draw(t, "api") == 5 {
			h.do("api")
		}
		for range rapid.IntRange(1, 120).Draw(t, "length") {
			if h.step(t); h.w.broken != nil {
				break
			}
		}
		lines := h.lines
		if err := h.settle(); err != nil {
			lines, err = shortest(lines, err)
			t.Fatalf("%v\n\n%s", err, strings.Join(lines, "\n"))
		}
	})
}

// history is a random story.
type history struct {
	w     *world
	lines []string
	texts int
	out   outside
}

func newHistory() *history {
	w := newWorld()
	w.check = newRules(w).check
	w.quiet = true
	w.policy.InboxLimit, w.policy.MaxChildren, w.policy.MaxProcesses = 2, 3, 8
	return &history{w: w, out: outside{}}
}

func (h *history) do(format string, a ...any) {
	line := fmt.Sprintf(format, a...)
	h.lines = append(h.lines, line)
	if err := h.w.do(line); err != nil && h.w.broken == nil {
		h.w.broken = fmt.Errorf("%s: %w", line, err)
	}
	h.w.nameAll()
}

// step draws one thing that can happen now: who acts, what kind of act, and which. What stands first is what a shorter
// history is tried with.
func (h *history) step(t *rapid.T) {
	var actors [][][]string
	for _, a := range []struct {
		weight int
		acts   [][]string
	}{
		{4, h.people()}, {9, h.models()}, {5, [][]string{h.processes()}}, {4, [][]string{h.platforms(), h.previews()}}, {1, h.operators()}, {2, h.trouble()},
	} {
		acts := slices.DeleteFunc(a.acts, func(lines []string) bool { return len(lines) == 0 })
		for range a.weight {
			if len(acts) > 0 {
				actors = append(actors, acts)
			}
		}
	}
	acts := actors[rapid.IntRange(0, len(actors)-1).Draw(t, "who")]
	lines := acts[rapid.IntRange(0, len(acts)-1).Draw(t, "act")]
	h.do("%s", lines[rapid.IntRange(0, len(lines)-1).Draw(t, "line")])
}

func (h *history) text() string {
	h.texts++
	return fmt.Sprintf(`"text %d"`, h.texts)
}

func (h *history) name(id any) string { return h.w.names.of(fmt.Sprint(id)) }
