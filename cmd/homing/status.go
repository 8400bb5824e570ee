package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/store"
	"github.com/homing-gateway/homing/internal/view"
)

func statusCommand(g *global) *cobra.Command {
	return g.jsonFlag(leaf("status", "how the gateway stands: platforms, sessions, queue, dead letters, processes, storage", "homing status\nhoming status --json", cobra.NoArgs,
		func([]string) error { return status(g) }))
}

func status(g *global) error {
	c, err := g.connect()
	var s view.Status
	switch {
	case err == nil:
		err = c.get("/status", &s)
	case errors.Is(err, errNoDaemon):
		s, err = stoppedStatus(g)
		if errors.Is(err, store.ErrInUse) { // by a daemon that was just starting
			if c, cerr := g.connect(); cerr == nil {
				err = c.get("/status", &s)
			}
		}
	}
	if err != nil {
		return err
	}
	if g.json {
		return printJSON(s)
	}
	fmt.Printf("gateway %s, version %s", s.State, s.Version)
	if s.State == "running" {
		fmt.Printf(", for %s, process %d", machine.Age(time.Since(s.CreatedAt)), s.PID)
	}
	fmt.Printf("\ndata in %s, store %d KiB\n", s.DataDir, s.Storage.Bytes>>10)
	if s.HTTP != nil {
		fmt.Println("http on", s.HTTP.Listen)
	}
	for _, p := range s.Platforms {
		fmt.Printf("%s: %s", strings.TrimSpace(p.Platform+" "+p.Account), p.State)
		if p.Cause != "" {
			fmt.Printf(" (%s)", p.Cause)
		}
		if p.Remedy != "" {
			fmt.Printf(" — %s", p.Remedy)
		}
		fmt.Println()
	}
	n := s.Counts
	fmt.Printf("%d live session(s), %d turn(s), %d delegation(s), %d process(es)\n", n.Sessions, n.Turns, n.Delegations, n.Processes)
	fmt.Printf("waiting: %d completion(s), %d message(s)", n.Completions, n.Outgoing)
	if n.Oldest != nil {
		fmt.Printf(", the oldest for %s", machine.Age(time.Since(*n.Oldest)))
	}
	fmt.Printf("\ndead letters: %d completion(s), %d message(s)", n.DeadCompletions, n.DeadOutgoing)
	fmt.Printf("; unknown: %d message(s) (homing queue ls); events set aside: %d\n", n.UnknownOutgoing, n.SetAside)
	return nil
}

// stoppedStatus is what a stopped gateway left.
func stoppedStatus(g *global) (view.Status, error) {
	loaded, err := g.load()
	if err != nil {
		return view.Status{}, err
	}
	now := time.Now()
	s := view.Status{
		Common:  view.Common{ID: "gateway", State: "stopped", Profile: "default", Kind: "gateway", CreatedAt: now, UpdatedAt: now},
		Version: version(), DataDir: loaded.Config.DataDir, Platforms: []view.Platform{},
	}
	db, err := store.OpenRead(filepath.Join(loaded.Config.DataDir, "homing.db"))
	if errors.Is(err, store.ErrNoStore) {
		return s, nil
	}
	if err != nil {
		return s, storeError(err)
	}
	defer func() { _ = db.Close() }()
	s.Counts, err = view.Count(db)
	s.Storage = view.StorageState{Engine: "bbolt", File: db.Path(), Bytes: db.Size()}
	return s, err
}

func versionCommand(g *global) *cobra.Command {
	return g.jsonFlag(leaf("version", "version, commit, Go version", "homing version --json", cobra.NoArgs, func([]string) error {
		v := struct {
			Version string `json:"version"`
			Commit  string `json:"commit"`
			Go      string `json:"go"`
		}{version(), commit(), runtime.Version()}
		if g.json {
			return printJSON(v)
		}
		fmt.Printf("homing %s, commit %s, %s\n", v.Version, v.Commit, v.Go)
		return nil
	}))
}

// version is the module's version, or "dev" for a build from a checkout.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

func commit() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}
