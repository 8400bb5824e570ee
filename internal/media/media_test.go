package media_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/homing-gateway/homing/internal/media"
)

func open(t *testing.T) *media.Folder {
	t.Helper()
	f, err := media.Open(filepath.Join(t.TempDir(), "media"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func put(text string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
}

// names lists everything below the folder.
func names(t *testing.T, f *media.Folder) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(f.Dir(), func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(f.Dir(), p)
			out = append(out, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A file is there whole, for nobody else's eyes, or not at all.
func TestKeep(t *testing.T) {
	f := open(t)
	if n, err := f.Keep("in/a.txt", 5, put("hello")); n != 5 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	for _, p := range []string{"", "in", "in/a.txt"} {
		st, err := os.Stat(filepath.Join(f.Dir(), p))
		if err != nil || st.Mode().Perm()&0o077 != 0 {
			t.Errorf("%q: %v, %v", p, st.Mode(), err)
		}
	}
	broken := errors.New("the line broke")
	for name, write := range map[string]func(io.Writer) error{
		"a failure": func(w io.Writer) error { _, _ = io.WriteString(w, "hal"); return broken },
		"too much":  put("hello!"),
		"too much, and nobody looks": func(w io.Writer) error {
			for range 9 {
				_, _ = io.WriteString(w, "x")
			}
			return nil
		},
	} {
		_, err := f.Keep("in/b.txt", 5, write)
		if want := map[bool]error{true: broken, false: media.ErrTooLarge}[name == "a failure"]; !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
		if _, err := f.Keep("in/a.txt", 3, write); err == nil {
			t.Errorf("%s: it is kept", name)
		}
	}
	if got := names(t, f); !slices.Equal(got, []string{"in/a.txt"}) {
		t.Errorf("there are %v", got)
	}
	file, err := f.Open("in/a.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if b, _ := io.ReadAll(file); string(b) != "hello" {
		t.Errorf("it holds %q", b)
	}
}

// Nothing leads out of the folder, and what is no regular file is none.
func TestInside(t *testing.T) {
	f := open(t)
	secret := filepath.Join(filepath.Dir(f.Dir()), "secret")
	if err := os.WriteFile(secret, []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(f.Dir(), "in", "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../secret", "in/../../secret", secret, "in/link", "in"} {
		if file, err := f.Open(name); err == nil {
			_ = file.Close()
			t.Errorf("%s is opened", name)
		}
	}
	for _, name := range []string{"../new", "/tmp/new-file-of-a-test"} {
		if _, err := f.Keep(name, 9, put("x")); err == nil {
			t.Errorf("%s is written", name)
		}
	}
}

// A sweep leaves what is named, what is being written under a name that is named, and what people sent.
func TestSweep(t *testing.T) {
	f := open(t)
	for _, name := range []string{"in/a", "out/b", "out/c", "out/d.part", "out/e.part"} {
		if err := os.WriteFile(filepath.Join(f.Dir(), name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Sweep([]string{"out/c", "out/d"}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(names(t, f), " "); got != "in/a out/c out/d.part" {
		t.Errorf("left: %s", got)
	}
	if err := f.Remove("out/c"); err != nil {
		t.Fatal(err)
	}
	if err := f.Remove("out/c"); err != nil {
		t.Errorf("a second time: %v", err)
	}
}
