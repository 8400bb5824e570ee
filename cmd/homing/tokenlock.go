package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"github.com/homing-gateway/homing/internal/chat"
)

// A token is served by one gateway on a machine: two of them would take each other's messages. Who serves it holds a lock of
// the kernel on a file that is named by the token's digest, so that a crash leaves nothing behind. What the file says is for
// people.

// tokenLockDir is where the locks of this user are.
func tokenLockDir() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "homing")
	}
	return "/tmp/homing-" + strconv.Itoa(os.Getuid()) // not $TMPDIR: it may be another one for every service
}

// tokenHeld is a token that another gateway serves.
type tokenHeld struct{ holder string }

func (e *tokenHeld) Error() string { return "the token is in use by " + e.holder }

// lockToken takes a token until the file is closed. The error is a *tokenHeld when somebody else has it.
func lockToken(token string) (*os.File, error) {
	dir := tokenLockDir()
	if err := ownFolder(dir); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, tokenDigest(token)), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer func() { _ = f.Close() }()
		if errors.Is(err, unix.EWOULDBLOCK) {
			b, _ := io.ReadAll(io.LimitReader(f, 4<<10))
			return nil, &tokenHeld{strings.TrimSpace(string(b))}
		}
		return nil, os.NewSyscallError("flock", err)
	}
	return f, nil
}

// sign says in a lock who holds it.
func sign(f *os.File, dataDir string) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt(fmt.Appendf(nil, "process %d, data_dir %s\n", os.Getpid(), dataDir), 0)
	return err
}

// ownFolder makes the folder, and takes none that somebody else could write to: in a shared folder such as /tmp anybody may
// have made it before.
func ownFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return &os.PathError{Op: "lstat", Path: dir, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || int(st.Uid) != os.Getuid() || st.Mode&0o022 != 0 {
		return fmt.Errorf("%s is not a folder of this user alone", dir)
	}
	return nil
}

// claim takes a token for as long as the daemon runs. Where no lock can be had, it is served without one, and the log says so.
func (d *daemon) claim(token string) func() error {
	return func() error {
		f, err := lockToken(token)
		if held, ok := errors.AsType[*tokenHeld](err); ok {
			return &chat.RunError{
				Cause: chat.CauseTokenInUse, Err: held,
				Remedy: "Another Homing on this machine serves this token (" + held.holder + "): stop that one, or give this one a token of its own.",
			}
		}
		if err != nil {
			d.log.Warn("the token is not locked: another installation could use it as well", zap.Error(err))
			return nil
		}
		if err := sign(f, d.cfg.DataDir); err != nil {
			d.log.Warn("the lock of a token says nothing of its holder", zap.Error(err))
		}
		d.tokensMu.Lock()
		defer d.tokensMu.Unlock()
		d.tokens = append(d.tokens, f)
		return nil
	}
}

// tokenFinding tells whether another installation serves the token of a platform.
func tokenFinding(platform, token, dataDir string) (Finding, bool) {
	f, err := lockToken(token)
	if err == nil {
		_ = f.Close()
		return Finding{}, false
	}
	held, ok := errors.AsType[*tokenHeld](err)
	if !ok || strings.HasSuffix(held.holder, ", data_dir "+dataDir) { // our own daemon
		return Finding{}, false
	}
	return Finding{platform, wrong, held.Error(), "stop that one, or give this one a token of its own"}, true
}
