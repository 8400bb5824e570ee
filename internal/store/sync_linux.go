package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// datasync makes durable what was written into the file, and its length.
func datasync(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); err != unix.EINTR {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
