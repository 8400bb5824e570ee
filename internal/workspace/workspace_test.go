package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/homing-gateway/homing/internal/workspace"
)

func folder(t *testing.T) (*workspace.Folder, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "workspace")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f, dir
}

// No path leads out of the folder, by itself or by a link.
func TestNothingOutside(t *testing.T) {
	f, dir := folder(t)
	secret := filepath.Join(filepath.Dir(dir), "secret")
	if err := os.WriteFile(secret, []byte("TOPSECRET"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link": secret, "up": "../secret", "parent": ".."} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{secret, "../secret", "link", "up", "parent/secret", "a/../../secret", "./../secret", "link\x00", "/etc/passwd", ""} {
		if page, err := f.Read(p, 0, 0); err == nil || strings.Contains(page.Content, "TOPSECRET") {
			t.Errorf("read %q: %v %q", p, err, page.Content)
		}
		_ = f.Write(p, "overwritten")
		_, _ = f.Edit(p, "TOPSECRET", "overwritten", true, false)
		if found, _, err := f.Search("TOP", p, ""); p != "" && err == nil && len(found) > 0 {
			t.Errorf("search in %q: %v", p, found)
		}
	}
	if b, _ := os.ReadFile(secret); string(b) != "TOPSECRET" {
		t.Errorf("the file outside is %q now", b)
	}
	if _, err := f.Read("../secret", 0, 0); !errors.Is(err, workspace.ErrOutside) {
		t.Errorf("a path outside: %v, want ErrOutside", err)
	}
}

func TestReadPages(t *testing.T) {
	f, dir := folder(t)
	text := strings.Repeat("häuser ", 20_000)
	if err := f.Write("a/b.txt", text); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for offset := int64(0); ; {
		page, err := f.Read(filepath.Join(dir, "a", "b.txt"), offset, 1001)
		if err != nil {
			t.Fatal(err)
		}
		got.WriteString(page.Content)
		if page.End {
			break
		}
		offset = page.Next
	}
	if got.String() != text {
		t.Error("the pages are not the file")
	}
	if page, err := f.Read("a/b.txt", 1<<40, 10); err != nil || !page.End || page.Content != "" {
		t.Errorf("behind the end: %+v %v", page, err)
	}
	_ = os.WriteFile(filepath.Join(dir, "bin"), []byte{1, 0, 2}, 0o600)
	if _, err := f.Read("bin", 0, 0); !errors.Is(err, workspace.ErrBinary) {
		t.Errorf("a binary file: %v", err)
	}
	if _, err := f.Read("a", 0, 0); !errors.Is(err, workspace.ErrKind) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := f.Read("none", 0, 0); !errors.Is(err, workspace.ErrNotFound) {
		t.Errorf("no file: %v", err)
	}
}

// An edit is exact, and one that was made already is as wanted.
func TestEdit(t *testing.T) {
	f, _ := folder(t)
	for name, tt := range map[string]struct {
		content, old, replacement string
		all, again                bool
		want                      string
		err                       error
	}{
		"once":             {"a b c", "b", "x", false, false, "a x c", nil},
		"not there":        {"a b c", "z", "x", false, false, "a b c", workspace.ErrNoMatch},
		"twice":            {"b b", "b", "x", false, false, "b b", workspace.ErrManyMatches},
		"all":              {"b b", "b", "x", true, false, "x x", nil},
		"made already":     {"a x c", "b", "x", false, true, "a x c", nil},
		"never made":       {"a c", "b", "x", false, true, "a c", workspace.ErrNoMatch},
		"nothing to find":  {"a", "", "x", false, false, "a", workspace.ErrNoMatch},
		"delete":           {"a b c", " b", "", false, false, "a c", nil},
		"keeps everything": {"a\r\nb\t$1", "b", "$1\\n", false, false, "a\r\n$1\\n\t$1", nil},
	} {
		if err := f.Write("f", tt.content); err != nil {
			t.Fatal(err)
		}
		_, err := f.Edit("f", tt.old, tt.replacement, tt.all, tt.again)
		page, _ := f.Read("f", 0, 0)
		if !errors.Is(err, tt.err) || tt.err == nil && err != nil || page.Content != tt.want {
			t.Errorf("%s: %v, %q", name, err, page.Content)
		}
	}
}

func TestSearch(t *testing.T) {
	f, dir := folder(t)
	for p, c := range map[string]string{"b.go": "one\ntwo gamma\n", "a/c.go": "gaamma\nnothing", "a/d.txt": "gamma", ".git/e.go": "gamma", "bin.go": "gamma\x00"} {
		_ = os.MkdirAll(filepath.Dir(filepath.Join(dir, p)), 0o700)
		_ = os.WriteFile(filepath.Join(dir, p), []byte(c), 0o600)
	}
	found, more, err := f.Search("gam+a|gaam+a", "", "*.go")
	if err != nil || more || len(found) != 2 || found[0] != (workspace.Match{Path: "a/c.go", Line: 1, Text: "gaamma"}) || found[1].Path != "b.go" || found[1].Line != 2 {
		t.Errorf("found %+v, %v, %v", found, more, err)
	}
	if _, _, err := f.Search("(", "", ""); err == nil {
		t.Error("a malformed pattern is taken")
	}
	_ = f.Write("many", strings.Repeat("x\n", 1000))
	if found, more, _ := f.Search("x", "many", ""); len(found) != workspace.MaxMatches || !more {
		t.Errorf("%d matches, more %v", len(found), more)
	}
}
