package process

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// DefaultOutputLimit is what is kept of a command's output, in bytes, when Spec.OutputLimit is 0.
const DefaultOutputLimit = 64 << 10

// minOutputLimit leaves room for a head and a tail that are worth reading.
const minOutputLimit = 1 << 10

// Errors of the client. They are wrapped; compare with errors.Is.
var (
	// ErrExists says that the directory of that id is there already: the command was, or may have been, started before.
	ErrExists = errors.New("process exists already")
	// ErrNotFound says that there is no directory of that id: nothing was ever started under it (or it was removed).
	ErrNotFound = errors.New("no such process")
	// ErrSpec says that a Spec can't be run as it stands; nothing was created.
	ErrSpec = errors.New("bad process spec")
	// ErrNotStarted says that the command was never executed and never will be.
	ErrNotStarted = errors.New("process was not started")
	// ErrRunning says that the process has not ended yet.
	ErrRunning = errors.New("process is still running")
	// ErrIdentity says that a process number no longer stands for the process it was recorded for, or that this can't be
	// told; nothing was killed.
	ErrIdentity = errors.New("process identity does not match its record")
	// ErrClosed says that the Runner was closed.
	ErrClosed = errors.New("process runner is closed")
)

// Spec is what is to be run.
type Spec struct {
	// ID names the process and its directory: letters, digits, '_' and '-', at most 128.
	ID string
	// Command is handed to the shell after -c. The kernel takes at most 128 KiB; a longer one is a failed_start.
	Command string
	// Shell is the absolute path of the shell; empty means /bin/sh.
	Shell string
	// Workdir is the absolute path of the directory that the command starts in.
	Workdir string
	// Env is the command's whole environment, NAME=value (see Environment). It is handed over by inheritance; only the
	// names are written to disk.
	Env []string
	// OutputLimit is how many bytes of the output are kept, half of them from the beginning; 0 means DefaultOutputLimit,
	// less than 1 KiB is taken as 1 KiB.
	OutputLimit int64
	// KillGrace is the time between SIGTERM and SIGKILL of a kill; 0 means SIGKILL at once.
	KillGrace time.Duration
}

// completed checks s and fills in the defaults. The error is ErrSpec.
func (s Spec) completed() (Spec, error) {
	if s.Shell == "" {
		s.Shell = "/bin/sh"
	}
	if s.OutputLimit == 0 {
		s.OutputLimit = DefaultOutputLimit
	}
	s.OutputLimit = max(s.OutputLimit, minOutputLimit)
	switch {
	case !validID(s.ID):
		return s, fmt.Errorf("%w: id %q", ErrSpec, s.ID)
	case s.Command == "" || strings.ContainsRune(s.Command, 0):
		return s, fmt.Errorf("%w: the command is empty or holds a NUL byte", ErrSpec)
	case !filepath.IsAbs(s.Shell):
		return s, fmt.Errorf("%w: shell %q is not an absolute path", ErrSpec, s.Shell)
	case !filepath.IsAbs(s.Workdir):
		return s, fmt.Errorf("%w: workdir %q is not an absolute path", ErrSpec, s.Workdir)
	case s.KillGrace < 0:
		return s, fmt.Errorf("%w: negative kill grace %v", ErrSpec, s.KillGrace)
	}
	for _, entry := range s.Env {
		if name, _, ok := strings.Cut(entry, "="); !ok || name == "" || strings.ContainsRune(entry, 0) {
			return s, fmt.Errorf("%w: environment entry of name %q", ErrSpec, name)
		}
	}
	return s, nil
}

func validID(id string) bool {
	if id == "" || len(id) > 128 {
		return false
	}
	for _, c := range []byte(id) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}

// command is the content of command.json: the Spec without the values of its environment.
type command struct {
	ID          string        `json:"id"`
	Command     string        `json:"command"`
	Shell       string        `json:"shell"`
	Workdir     string        `json:"workdir"`
	EnvNames    []string      `json:"env_names"`
	OutputLimit int64         `json:"output_limit"`
	KillGrace   time.Duration `json:"kill_grace_ns"`
	At          time.Time     `json:"at"`
}

func (s Spec) record(now time.Time) command {
	names := make([]string, 0, len(s.Env))
	for _, entry := range s.Env {
		name, _, _ := strings.Cut(entry, "=")
		names = append(names, name)
	}
	return command{
		ID: s.ID, Command: s.Command, Shell: s.Shell, Workdir: s.Workdir, EnvNames: names,
		OutputLimit: s.OutputLimit, KillGrace: s.KillGrace, At: now,
	}
}

func (c command) spec() Spec {
	return Spec{
		ID: c.ID, Command: c.Command, Shell: c.Shell, Workdir: c.Workdir,
		OutputLimit: c.OutputLimit, KillGrace: c.KillGrace,
	}
}
