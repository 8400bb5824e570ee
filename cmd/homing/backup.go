package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/homing-gateway/homing/internal/durable"
	"github.com/homing-gateway/homing/internal/store"
)

// copied is what backup and restore print with --json.
type copied struct {
	File  string    `json:"file"`
	Bytes int64     `json:"bytes"`
	At    time.Time `json:"at"`              // the last change in it
	Aside string    `json:"aside,omitempty"` // where the store is that was there before a restore
}

const clock = "2006-01-02 15:04:05 MST"

func backupCommand(g *global) *cobra.Command {
	force := false
	c := g.jsonFlag(leaf("backup FILE", "copy the store to a file, while the gateway runs or not",
		"homing backup ~/backups/homing-$(date +%F).db\nhoming backup --force /backups/homing.db", cobra.ExactArgs(1), func(args []string) error {
			return backup(g, args[0], force)
		}))
	c.Long = `Copies the store to FILE: conversations, queue, dead letters, journal. The copy is the state of one moment, also
while the gateway runs and goes on. It is read back before it takes the name FILE; until then FILE is as it was.
Not in it: processes/ (the output of commands), media/ (files of people), the workspace, the configuration.

Exit codes: 0 done; 1 failed, or FILE is there already and --force was not given; 69 another process holds the store;
74 the store is damaged; 77 no permission.`
	c.Flags().BoolVar(&force, "force", false, "overwrite a file that is there")
	return c
}

func backup(g *global, path string, force bool) error {
	loaded, err := g.load()
	if err != nil {
		return err
	}
	db := filepath.Join(loaded.Config.DataDir, "homing.db")
	if err := mayWrite(path, db, force); err != nil {
		return err
	}
	var done copied
	err = writeFile(path, func(f *os.File) error { return copyStore(g, db, f) }, func(temp string) error {
		meta, err := store.Check(temp) // a copy that can't be restored is none
		done.At = meta.At
		return err
	})
	if err != nil {
		return storeError(fmt.Errorf("no backup was made: %w", err))
	}
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	done.File, done.Bytes = path, st.Size()
	if g.json {
		return printJSON(done)
	}
	fmt.Printf("%s holds the store as of %s (%d KiB)\n", path, done.At.Local().Format(clock), done.Bytes>>10)
	return nil
}

// mayWrite tells whether a backup may take the name: never that of the store itself, nor of something that is no file.
func mayWrite(path, db string, force bool) error {
	st, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, os.ErrNotExist) {
			return errorText("the folder " + filepath.Dir(path) + " does not exist: make it first")
		}
		return nil
	case err != nil:
		return storeError(err)
	case !st.Mode().IsRegular():
		return errorText(path + " is there and is not a regular file: name another one")
	}
	if own, err := os.Stat(db); err == nil && os.SameFile(own, st) {
		return errorText(path + " is the store itself: name another file")
	}
	if !force {
		return errorText(path + " exists already: --force overwrites it")
	}
	return nil
}

// copyStore writes the store to a file: the running daemon hands it out, or it is read here while none runs.
func copyStore(g *global, db string, f *os.File) error {
	c, err := g.connect()
	if errors.Is(err, errNoDaemon) {
		var opened *store.DB
		if opened, err = store.OpenRead(db); err == nil {
			defer func() { _ = opened.Close() }()
			_, err = opened.CopyTo(f)
			return err
		}
		if errors.Is(err, store.ErrInUse) { // by a daemon that was just starting
			if late, cerr := g.connect(); cerr == nil {
				c, err = late, nil
			}
		}
	}
	if err != nil {
		return err
	}
	return c.download("/backup", f)
}

func restoreCommand(g *global) *cobra.Command {
	c := g.jsonFlag(leaf("restore FILE", "put a backup in the place of the store, while the gateway is stopped",
		"homing restore ~/backups/homing-2026-01-31.db", cobra.ExactArgs(1), func(args []string) error { return restore(g, args[0]) }))
	c.Long = `Puts a copy of FILE in the place of the store. FILE is checked first; a damaged one changes nothing. The store that is
there is kept beside it as homing.db.before-restore-TIME. Stop the gateway first.

What was under way when the backup was made may have come to its end since, so the next start does none of it again:
messages that were waiting or being sent are held as unknown (homing queue ls, queue retry), turns and subagents are
stopped, and their people are told.

Exit codes: 0 done; 1 failed; 69 a gateway runs on the data directory; 74 FILE is damaged; 77 no permission.`
	return c
}

func restore(g *global, path string) error {
	loaded, err := g.load()
	if err != nil {
		return err
	}
	dir := loaded.Config.DataDir
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return folderError(dir, err)
	}
	lock, err := takeLock(filepath.Join(dir, "homing.lock"))
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	meta, err := store.Check(path)
	if err != nil {
		return storeError(fmt.Errorf("nothing was changed: %w", err))
	}
	db := filepath.Join(dir, "homing.db")
	done := copied{File: db, At: meta.At}
	err = writeFile(db, func(f *os.File) error {
		done.Bytes, err = copyWhole(path, f)
		return err
	}, func(temp string) error {
		if err := store.MarkRestored(temp); err != nil {
			return err
		}
		done.Aside, err = keepAside(db)
		return err
	})
	if err != nil {
		return storeError(fmt.Errorf("the store was not replaced: %w", err))
	}
	_ = os.Remove(store.LogPath(db)) // it was the other one's, and is kept with it
	if g.json {
		return printJSON(done)
	}
	fmt.Printf("%s is the store as of %s\n", path, done.At.Local().Format(clock))
	if done.Aside != "" {
		fmt.Println("the store that was there is kept as", done.Aside)
	}
	fmt.Println("What was under way then is not done again: see homing queue ls once the gateway runs.")
	return nil
}

// copyWhole copies a store with what its log holds, if it has one beside it.
func copyWhole(path string, f *os.File) (int64, error) {
	db, err := store.OpenRead(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = db.Close() }()
	return db.CopyTo(f)
}

// keepAside gives the store that is there a second name, so that there is one at every moment, and its log as well, if it was
// not closed in order. Without a store there is nothing to keep.
func keepAside(db string) (string, error) {
	aside := db + ".before-restore-" + time.Now().UTC().Format("20060102T150405.000Z")
	err := keep(store.LogPath(db), store.LogPath(aside))
	if err == nil || errors.Is(err, os.ErrNotExist) {
		err = keep(db, aside)
	}
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	return aside, err
}

// keep gives a file a second name.
func keep(path, aside string) error {
	err := os.Link(path, aside)
	if err == nil || errors.Is(err, os.ErrNotExist) {
		return err
	}
	return writeFile(aside, func(f *os.File) error { // the file system has no links
		_, err := copyFile(path, f)
		return err
	}, nil)
}

func copyFile(path string, to io.Writer) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	return io.Copy(to, f)
}

// writeFile makes a file, readable by its user alone, that has its name only once it is whole, on the disk, and found good
// by check. Until then whatever bore the name is as it was; after an error nothing is left.
func writeFile(path string, fill func(*os.File) error, check func(temp string) error) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*.tmp") // made with mode 0600
	if err != nil {
		return err
	}
	discard := func() { _ = os.Remove(f.Name()) } // after success the name is gone
	defer discard()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, func() { // first off: the end of ctx by stop is no signal
		discard()
		os.Exit(exitFailed)
	})()
	err = fill(f)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil && check != nil {
		err = check(f.Name())
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return err
	}
	return durable.Names(dir)
}
