package durable_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/homing-gateway/homing/internal/durable"
)

// a file is replaced whole, for its user's eyes alone; where it can't be, the old one stays and nothing is left behind.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	for _, text := range []string{"first", "second"} {
		if err := durable.WriteFile(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); string(b) != text || err != nil {
			t.Errorf("%q, %v", b, err)
		}
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
	taken := filepath.Join(dir, "taken") // a folder that a file can't replace
	if err := os.MkdirAll(filepath.Join(taken, "in"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := durable.WriteFile(taken, []byte("x")); err == nil {
		t.Error("a folder was replaced")
	}
	if err := durable.WriteFile(filepath.Join(dir, "nowhere", "a"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("into a folder that is not there: %v", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("left are %v, %v", left, err)
	}
}

func TestNames(t *testing.T) {
	if err := durable.Names(t.TempDir()); err != nil {
		t.Error(err)
	}
	if err := durable.Names(filepath.Join(t.TempDir(), "nowhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no folder: %v", err)
	}
}
