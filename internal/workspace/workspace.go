// Package workspace is the agent's folder as its file tools see it: reading, writing, editing and searching by paths that
// cannot leave it, whatever they are made of. It holds no session and decides nothing about who may do what.
package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// The limits of the tools.
const (
	// MaxRead bounds what one read returns, in bytes.
	MaxRead = 64 << 10
	// MaxFile bounds a file that is edited or searched, in bytes.
	MaxFile = 8 << 20
	// MaxMatches bounds what one search returns.
	MaxMatches = 200
	// maxLine bounds a matching line in a result, in bytes.
	maxLine = 400
)

// Errors on which a caller decides. Their texts are for the model.
var (
	// ErrOutside: the path leads out of the workspace, by itself or by a link.
	ErrOutside = errors.New("the path is outside of the workspace")
	// ErrNotFound: there is no such file or folder.
	ErrNotFound = errors.New("there is no such file")
	// ErrNoMatch: the text to replace does not occur.
	ErrNoMatch = errors.New("the text to replace does not occur in the file")
	// ErrManyMatches: the text to replace occurs more than once.
	ErrManyMatches = errors.New("the text to replace occurs more than once: give more of it, or set all")
	// ErrBinary: the file is no text.
	ErrBinary = errors.New("the file is not text")
	// ErrTooLarge: the file is over MaxFile.
	ErrTooLarge = errors.New("the file is too large for this")
	// ErrKind: a folder where a file is wanted, or the other way round.
	ErrKind = errors.New("that is not a regular file")
)

// Folder is an open workspace. Every path is looked up below it by the kernel's own means, so that neither "..", nor an
// absolute path, nor a link leads out.
type Folder struct {
	root *os.Root
	dir  string
}

// Open opens the folder; it must exist.
func Open(dir string) (*Folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the workspace: %w", err)
	}
	return &Folder{root, filepath.Clean(dir)}, nil
}

// Close closes the folder.
func (f *Folder) Close() error { return f.root.Close() }

// local makes a path relative to the workspace. An absolute path inside of it is fine.
func (f *Folder) local(p string) (string, error) {
	if strings.ContainsRune(p, 0) {
		return "", ErrOutside
	}
	if filepath.IsAbs(p) {
		rel, err := filepath.Rel(f.dir, filepath.Clean(p))
		if err != nil {
			return "", ErrOutside
		}
		p = rel
	}
	p = filepath.Clean(filepath.FromSlash(p))
	if !filepath.IsLocal(p) {
		return "", ErrOutside
	}
	return p, nil
}

// plain gives an error of the file system its meaning.
func plain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return ErrNotFound
	case strings.Contains(err.Error(), "escapes"): // os.Root has no sentinel for it
		return ErrOutside
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// Page is a part of a file.
type Page struct {
	Content string `json:"content"`
	Offset  int64  `json:"offset"`
	Next    int64  `json:"next"`
	Total   int64  `json:"total"`
	End     bool   `json:"end"`
}

// Read returns up to limit bytes of a text file from offset on (0: the beginning; limit 0: MaxRead). A character is never
// cut at the end of a page.
func (f *Folder) Read(p string, offset, limit int64) (Page, error) {
	p, err := f.local(p)
	if err != nil {
		return Page{}, err
	}
	file, err := f.regular(p)
	if err != nil {
		return Page{}, err
	}
	defer func() { _ = file.Close() }()
	st, err := file.Stat()
	if err != nil {
		return Page{}, plain(err)
	}
	if limit <= 0 || limit > MaxRead {
		limit = MaxRead
	}
	offset = min(max(offset, 0), st.Size())
	buf := make([]byte, limit)
	n, err := file.ReadAt(buf, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return Page{}, plain(err)
	}
	buf = buf[:n]
	if offset+int64(n) < st.Size() {
		for cut := 0; cut < utf8.UTFMax && len(buf) > 1 && !utf8.Valid(buf); cut++ {
			buf = buf[:len(buf)-1]
		}
	}
	if bytes.IndexByte(buf, 0) >= 0 {
		return Page{}, ErrBinary
	}
	next := offset + int64(len(buf))
	return Page{Content: strings.ToValidUTF8(string(buf), "�"), Offset: offset, Next: next, Total: st.Size(), End: next >= st.Size()}, nil
}

// regular opens a regular file for reading; a pipe or device could block.
func (f *Folder) regular(p string) (*os.File, error) {
	st, err := f.root.Stat(p)
	if err != nil {
		return nil, plain(err)
	}
	if !st.Mode().IsRegular() {
		return nil, ErrKind
	}
	file, err := f.root.Open(p)
	if err != nil {
		return nil, plain(err)
	}
	if st, err := file.Stat(); err != nil || !st.Mode().IsRegular() { // it was put in its place since
		_ = file.Close()
		return nil, ErrKind
	}
	return file, nil
}

// Open opens a regular file for reading.
func (f *Folder) Open(p string) (*os.File, error) {
	p, err := f.local(p)
	if err != nil {
		return nil, err
	}
	return f.regular(p)
}

// Write writes a file whole: a reader sees the old one or the new one. Missing folders are made.
func (f *Folder) Write(p, content string) error {
	p, err := f.local(p)
	if err != nil {
		return err
	}
	if st, err := f.root.Stat(p); err == nil && !st.Mode().IsRegular() {
		return ErrKind
	} else if err != nil && plain(err) != ErrNotFound { //nolint:errorlint // plain returns the sentinel itself
		return plain(err)
	}
	if dir := filepath.Dir(p); dir != "." {
		if err := f.root.MkdirAll(dir, 0o755); err != nil {
			return plain(err)
		}
	}
	return f.replace(p, []byte(content))
}

// replace puts a file in place by a rename. A link is replaced, not followed.
func (f *Folder) replace(p string, content []byte) error {
	mode := fs.FileMode(0o644)
	if st, err := f.root.Stat(p); err == nil {
		mode = st.Mode().Perm()
	}
	temp := p + ".homing-new"
	file, err := f.root.OpenFile(temp, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode)
	if err != nil {
		return plain(err)
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if e := file.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = f.root.Rename(temp, p)
	}
	if err != nil {
		_ = f.root.Remove(temp)
	}
	return plain(err)
}

// Edit replaces a text in a file by another one and returns how often. Without all the text must occur exactly once.
// again says that the same edit may have been made already: then a file that has the new text in the old one's place is
// as wanted.
func (f *Folder) Edit(p, old, replacement string, all, again bool) (int, error) {
	p, err := f.local(p)
	if err != nil {
		return 0, err
	}
	if old == "" {
		return 0, ErrNoMatch
	}
	content, err := f.whole(p)
	if err != nil {
		return 0, err
	}
	n := strings.Count(content, old)
	switch {
	case n == 0 && again && strings.Contains(content, replacement):
		return 0, nil
	case n == 0:
		return 0, ErrNoMatch
	case n > 1 && !all:
		return 0, fmt.Errorf("%w (%d times)", ErrManyMatches, n)
	}
	return n, f.replace(p, []byte(strings.ReplaceAll(content, old, replacement)))
}

// whole reads a text file that is not too large.
func (f *Folder) whole(p string) (string, error) {
	file, err := f.regular(p)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	b, err := io.ReadAll(io.LimitReader(file, MaxFile+1))
	switch {
	case err != nil:
		return "", plain(err)
	case len(b) > MaxFile:
		return "", ErrTooLarge
	case bytes.IndexByte(b, 0) >= 0 || !utf8.Valid(b):
		return "", ErrBinary
	}
	return string(b), nil
}

// Match is a line that a search found.
type Match struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// Search finds the lines that match the regular expression in the text files below a path whose names match the glob
// (empty: all), in the order of their paths. more tells that there are more than MaxMatches.
func (f *Folder) Search(pattern, below, glob string) (found []Match, more bool, err error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, false, fmt.Errorf("the pattern is no regular expression: %w", err)
	}
	if _, err := path.Match(glob, ""); err != nil {
		return nil, false, fmt.Errorf("the glob is malformed: %w", err)
	}
	if below == "" {
		below = "."
	}
	below, err = f.local(below)
	if err != nil {
		return nil, false, err
	}
	if _, err := f.root.Stat(below); err != nil {
		return nil, false, plain(err)
	}
	err = fs.WalkDir(f.root.FS(), filepath.ToSlash(below), func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // what cannot be read is not searched
		case d.IsDir() && p != "." && strings.HasPrefix(d.Name(), ".") && p != filepath.ToSlash(below):
			return fs.SkipDir // .git and its like
		case !d.Type().IsRegular():
			return nil
		}
		if ok, _ := path.Match(glob, d.Name()); glob != "" && !ok {
			return nil
		}
		content, err := f.whole(filepath.FromSlash(p))
		if err != nil {
			return nil
		}
		n := 0
		for line := range strings.SplitSeq(content, "\n") {
			n++
			if !re.MatchString(line) {
				continue
			}
			if len(found) == MaxMatches {
				more = true
				return fs.SkipAll
			}
			if len(line) > maxLine {
				line = strings.ToValidUTF8(line[:maxLine], "") + "…"
			}
			found = append(found, Match{p, n, line})
		}
		return nil
	})
	slices.SortStableFunc(found, func(a, b Match) int { return strings.Compare(a.Path, b.Path) })
	return found, more, err
}
