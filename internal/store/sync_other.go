//go:build !linux

package store

import "os"

// datasync makes durable what was written into the file.
func datasync(f *os.File) error { return f.Sync() }
