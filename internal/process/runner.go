package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// SuperviseArg is the hidden first argument under which the binary must call Supervise with the arguments after it.
const SuperviseArg = "supervise-process"

// removedPrefix marks a directory that Remove has taken out of sight but may not have emptied yet. No id begins with it.
const removedPrefix = ".removed-"

// Runner starts processes below one directory, and finds those that were started before. It is safe for concurrent use,
// also by several programs on the same directory.
//
// A supervisor is the child of the program that started it. For each one the Runner parks one goroutine (no thread) on a
// pidfd, which takes the child's end, so that no zombie stays however seldom anyone calls Wait. Supervisors that an
// earlier program started are init's children and need no such thing.
type Runner struct {
	root string
	self []string

	mu      sync.Mutex // between the last Start and Close
	reaping sync.WaitGroup
	life    context.Context // ends with Close; bounds the goroutines only, never a process
	end     context.CancelFunc

	reached func(point string) // told where Start has come to; tests kill the program there
}

// New returns a Runner that keeps its processes in root, which is made with mode 0700 when it is missing; what an
// interrupted Remove left there is deleted. self is the
// command line that re-executes this binary, to which SuperviseArg and a directory are appended; without it, it is the
// running binary itself, even when its file was replaced meanwhile.
func New(root string, self ...string) (*Runner, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("processes directory: %w", err)
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, fmt.Errorf("processes directory: %w", err)
	}
	if len(self) == 0 {
		path, err := ownBinary()
		if err != nil {
			return nil, fmt.Errorf("own binary: %w", err)
		}
		self = []string{path}
	}
	r := &Runner{root: root, self: self, reached: func(string) {}}
	if err := r.sweep(); err != nil {
		return nil, err
	}
	r.life, r.end = context.WithCancel(context.Background())
	return r, nil
}

// Close ends the Runner's goroutines and returns when they are gone. The processes go on under their supervisors; Start
// returns ErrClosed from then on, everything else still works. A supervisor that ends later stays a zombie until this
// program ends, so Close belongs to the program's end.
func (r *Runner) Close() {
	r.mu.Lock()
	r.end()
	r.mu.Unlock()
	r.reaping.Wait()
}

// Open finds a process that was started before, by this program or another. The error is ErrNotFound when nothing was
// ever started under that id.
func (r *Runner) Open(id string) (*Process, error) {
	if !validID(id) {
		return nil, fmt.Errorf("%w: %q is no id", ErrNotFound, id)
	}
	dir := filepath.Join(r.root, id)
	switch info, err := os.Lstat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: %s", ErrNotFound, id)
	case err != nil:
		return nil, fmt.Errorf("open process %s: %w", id, err)
	case !info.IsDir():
		return nil, fmt.Errorf("open process %s: not a directory", id)
	}
	return &Process{id: id, dir: dir}, nil
}

// List returns the ids of all processes that have a directory, running and ended, in the order of their names.
func (r *Runner) List() ([]string, error) {
	entries, err := os.ReadDir(r.root)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	ids := make([]string, 0, len(entries))
	for _, entry := range entries {
		if entry.IsDir() && validID(entry.Name()) {
			ids = append(ids, entry.Name())
		}
	}
	return ids, nil
}

// Remove deletes the directory of a process that has ended. The error is ErrRunning when it has not, ErrNotFound when it
// is gone already. From then on Open says ErrNotFound, which otherwise means that nothing was started: the caller must
// have the end on record first. A crash in the middle leaves either the whole process or none.
func (r *Runner) Remove(id string) error {
	p, err := r.Open(id)
	if err != nil {
		return err
	}
	switch e, err := p.Poll(); {
	case err != nil:
		return err
	case e.State == Running:
		return fmt.Errorf("remove %s: %w", id, ErrRunning)
	}
	removed := filepath.Join(r.root, removedPrefix+id)
	if err := os.RemoveAll(removed); err != nil { // of a process of the same id, by a program that died here
		return fmt.Errorf("remove %s: %w", id, err)
	}
	if err := os.Rename(p.dir, removed); err != nil {
		return fmt.Errorf("remove %s: %w", id, err)
	}
	if err := os.RemoveAll(removed); err != nil {
		return fmt.Errorf("remove %s: %w", id, err)
	}
	return nil
}

// sweep empties what Remove took out of sight and an earlier program did not get to.
func (r *Runner) sweep() error {
	entries, err := os.ReadDir(r.root)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), removedPrefix) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(r.root, entry.Name())))
		}
	}
	if err != nil {
		return fmt.Errorf("processes directory: %w", err)
	}
	return nil
}
