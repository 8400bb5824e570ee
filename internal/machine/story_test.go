package machine_test

import (
	"path/filepath"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestStories plays the stories in testdata: a command, and what comes of it. The rules of docs/states.md are checked after
// every step. `go test -rewrite` writes the outcomes anew: read the difference.
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if filepath.Ext(path) != ".txt" {
			t.Skip("left behind by a failed history")
		}
		w := newWorld()
		r := newRules(w)
		w.check = r.check
		w.takeTold()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if err := w.do(d.FullCmd()); err != nil {
				d.Fatalf(t, "%s: %v", d.FullCmd(), err)
			}
			if w.broken != nil {
				d.Fatalf(t, "%s: %v", d.FullCmd(), w.broken)
			}
			return w.takeTold()
		})
	})
}
