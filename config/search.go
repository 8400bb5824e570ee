package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const fileName = "homing.yaml"

// found is the file that was read, if any.
type found struct {
	name string // as shown to people
	path string // absolute
	data []byte
}

// search reads the first file that is there. A file that was named must be there; others may be missing, but what is there
// must be readable: a file that is silently skipped is a surprise.
func (o Options) search() (found, []Problem) {
	named := true
	var names []string
	if o.File != "" {
		names = []string{o.File}
	} else if f, ok := o.env(envFile); ok {
		names = []string{o.tilde(f)}
	} else {
		named = false
		names = []string{fileName}
		if dir := o.xdg("XDG_CONFIG_HOME", ".config"); dir != "" {
			names = append(names, filepath.Join(dir, "homing", fileName))
		}
		dir := o.SystemDir
		if dir == "" {
			dir = "/etc/homing"
		}
		names = append(names, filepath.Join(dir, fileName))
	}
	for _, name := range names {
		path := o.absolute(name)
		data, err := o.read(path)
		missing := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
		switch {
		case err == nil:
			return found{name: name, path: path, data: data}, nil
		case missing && !named:
			continue
		case missing:
			return found{}, []Problem{{Kind: Invalid, Place: name, Text: "there is no such file"}}
		}
		why := err
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			why = p.Err
		}
		return found{}, []Problem{{Kind: Invalid, Place: name, Text: "cannot be read: " + why.Error()}}
	}
	return found{}, nil
}

// InitPath is where `homing init` writes: the file that is named by flag or variable, else the person's own place. It is
// empty when there is no home directory.
func (o Options) InitPath() string {
	if o.File != "" {
		return o.absolute(o.File)
	}
	if f, ok := o.env(envFile); ok {
		return o.absolute(o.tilde(f))
	}
	dir := o.xdg("XDG_CONFIG_HOME", ".config")
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "homing", fileName)
}

func (o Options) read(path string) ([]byte, error) {
	if o.ReadFile != nil {
		return o.ReadFile(path)
	}
	return os.ReadFile(path)
}

// home is the home directory, or nothing.
func (o Options) home() string {
	if o.Home != "" {
		return o.Home
	}
	h, _ := o.env("HOME")
	return h
}

// xdg is a base directory of the XDG specification, or nothing without a home. A relative one is ignored, as it says.
func (o Options) xdg(name, below string) string {
	if dir, ok := o.env(name); ok && filepath.IsAbs(dir) {
		return dir
	}
	if h := o.home(); h != "" {
		return filepath.Join(h, below)
	}
	return ""
}

// tilde replaces ~ at the beginning of a path by the home directory.
func (o Options) tilde(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') && o.home() != "" {
		return filepath.Join(o.home(), rest)
	}
	return path
}

// absolute makes a path absolute from the working directory.
func (o Options) absolute(path string) string {
	if path == "" || filepath.IsAbs(path) || o.Dir == "" {
		return path
	}
	return filepath.Join(o.Dir, path)
}

// folder gives a path of the configuration: ~ replaced, then absolute.
func (o Options) folder(path string) string { return o.absolute(o.tilde(path)) }
