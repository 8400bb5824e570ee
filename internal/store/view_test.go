package store

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/homing-gateway/homing/internal/machine"
)

// Who began to read before a batch that is too long for the log does not see it, and sees nothing that came after it either: a
// copy would have a hole.
func TestReadersSeeNoHole(t *testing.T) {
	db, err := openWithin(filepath.Join(t.TempDir(), "homing.db"), limits{first: 64 << 10, longest: 64 << 10, fold: 32 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	put := func(key string, size int) {
		t.Helper()
		if err := db.Commit([]machine.Change{{Table: machine.Aliases, Key: key, Value: machine.Alias{To: strings.Repeat("x", size)}}}); err != nil {
			t.Fatal(err)
		}
	}
	put("first", 10)
	if err := db.foldAll(); err != nil {
		t.Fatal(err)
	}
	var keys []string
	if err := db.view("look", func(v view) error {
		put("long", 20<<10)
		put("last", 10)
		for k := range v.ascend("", "", machine.Aliases) {
			keys = append(keys, k)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"first"}; !slices.Equal(keys, want) {
		t.Errorf("there is %v, want %v", keys, want)
	}
	if keys, err := db.Keys(machine.Aliases, "", 9); err != nil || len(keys) != 3 {
		t.Errorf("then there is %v (%v), want all three", keys, err)
	}
}
