package adaptertest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// column is where the column of a platform is kept: one cell a line, behind the behaviour's name.
func column(t *testing.T, name string) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "adapters", "adaptertest", "testdata", strings.ToLower(name)+".txt")
		} else if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			t.Fatalf("no go.mod above the test: %v", err)
		}
		dir = filepath.Dir(dir)
	}
}

// compare holds what was seen against the platform's column, or writes that anew.
func compare(t *testing.T, name string, table []behaviour, seen map[string]string) {
	var b strings.Builder
	for _, r := range table {
		fmt.Fprintf(&b, "%s\t%s\n", r.name, seen[r.name])
	}
	file := column(t, name)
	if os.Getenv("ADAPTERTEST_UPDATE") != "" {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if kept, err := os.ReadFile(file); err != nil || string(kept) != b.String() {
		t.Errorf("%s is not what was seen (%v): run make adapters-table and look at what changes", file, err)
	}
}
