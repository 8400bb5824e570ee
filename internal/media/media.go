// Package media is the folder of the files that people sent and that are on their way to them: In and Out below one
// rooted folder. Names are given by whoever decides on the file, never by its sender; nothing here leaves the folder.
//
// A file is there whole or not at all: it is written beside its place, made durable, and renamed. It knows no session and
// no platform.
package media

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/homing-gateway/homing/internal/durable"
)

// The folders. Files are named "in/NAME" and "out/NAME".
const (
	In  = "in"  // what people sent
	Out = "out" // copies of what is to be sent
)

// part ends the name of a file that is being written.
const part = ".part"

// ErrTooLarge says that a file is larger than it may be.
var ErrTooLarge = errors.New("the file is too large")

// Folder is the open folder. It may be used from many goroutines; two do not write one file at once.
type Folder struct {
	root *os.Root
	dir  string
}

// Open opens the folder, and makes it if it is not there. Nobody else may look into it.
func Open(dir string) (*Folder, error) {
	for _, d := range []string{dir, filepath.Join(dir, In), filepath.Join(dir, Out)} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Folder{root, dir}, nil
}

// Close closes the folder.
func (f *Folder) Close() error { return f.root.Close() }

// Dir is where the folder is.
func (f *Folder) Dir() string { return f.dir }

// Size tells how large a file is, and whether it is there.
func (f *Folder) Size(name string) (int64, bool) {
	st, err := f.root.Lstat(name)
	if err != nil || !st.Mode().IsRegular() {
		return 0, false
	}
	return st.Size(), true
}

// Keep writes a file with what write gives, at most so many bytes, and returns its size. One of that name is replaced. On an
// error, which is write's, ErrTooLarge or the disk's, nothing is left.
func (f *Folder) Keep(name string, most int64, write func(io.Writer) error) (int64, error) {
	file, err := f.root.OpenFile(name+part, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, err
	}
	w := &bounded{file: file, left: most}
	err = write(w)
	if w.err != nil { // whatever write made of it
		err = w.err
	}
	if err == nil {
		err = file.Sync()
	}
	if e := file.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = f.root.Rename(name+part, name)
	}
	if err == nil {
		err = f.sync(filepath.Dir(name))
	}
	if err != nil {
		_ = f.root.Remove(name + part)
		return 0, err
	}
	return most - w.left, nil
}

// sync makes the names of a folder durable.
func (f *Folder) sync(dir string) error {
	d, err := f.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(durable.NamesIn(d), d.Close())
}

// bounded writes so many bytes and no more.
type bounded struct {
	file *os.File
	left int64
	err  error
}

func (w *bounded) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	if int64(len(p)) > w.left {
		w.err = ErrTooLarge
		return 0, w.err
	}
	n, err := w.file.Write(p)
	w.left -= int64(n)
	w.err = err
	return n, err
}

// Open opens a file for reading.
func (f *Folder) Open(name string) (*os.File, error) {
	if _, ok := f.Size(name); !ok {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return f.root.Open(name)
}

// Remove removes a file, and what was begun of it. One that is not there is no error.
func (f *Folder) Remove(name string) error {
	var all error
	for _, n := range []string{name, name + part} {
		if err := f.root.Remove(n); err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = errors.Join(all, err)
		}
	}
	return all
}

// Sweep removes what is in Out but is not named.
func (f *Folder) Sweep(keep []string) error {
	entries, err := fs.ReadDir(f.root.FS(), Out)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := Out + "/" + e.Name()
		if !slices.Contains(keep, strings.TrimSuffix(name, part)) {
			err = errors.Join(err, f.Remove(name))
		}
	}
	return err
}
