// Package durable lets files outlive a power cut under the names that they were given. It knows nothing of what is in them.
package durable

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// Names makes the names in a folder durable: of files that were made, renamed or removed there.
func Names(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(NamesIn(d), d.Close())
}

// NamesIn is Names for an open folder. Some file systems can't sync a folder and say EINVAL: there is nothing more to be had
// from them.
func NamesIn(d *os.File) error {
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}

// WriteFile replaces a small file, readable by its user alone: after a crash it is the old one or the new one, whole.
func WriteFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*.tmp") // made with mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return err
	}
	return Names(dir)
}
