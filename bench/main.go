// Command bench measures Homing against the limit of the disk and against a peer on the same work, and writes the report
// docs/performance.md. `make bench` runs it.
//
// What counts are ratios within a round: the programs of a round run one after the other in shuffled order, each in a
// process of its own, each preceded by a wait until the machine is quiet, and once more if others used it meanwhile.
// It is a module of its own, so that the peer's libraries are none of the product's.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/homing-gateway/homing/internal/process"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == process.SuperviseArg {
		os.Exit(process.Supervise(os.Args[2:]))
	}
	out := flag.String("o", "", "write the report to this file; empty: to the terminal")
	binary := flag.String("homing", "../bin/homing", "the product's binary")
	dir := flag.String("dir", ".", "a folder on the disk to measure")
	rounds := flag.Int("rounds", 5, "rounds of the throughput table")
	lasting := flag.Duration("for", 1500*time.Millisecond, "how long each program runs in a round")
	only := flag.String("run", "", "run one program, given as JSON, and print what it measured")
	flag.Parse()
	var err error
	if *only != "" {
		err = runOne(*only)
	} else {
		err = bench(*out, *binary, *dir, *rounds, *lasting)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// program is one thing to measure.
type program struct {
	What    string        // "log", "product", "river", "exits"
	Callers int           // going round at once
	Talks   int           // of product: the conversations that they report to
	Wait    bool          // of product: callers wait for the end of the turn as well
	Queued  int           // of product: completions that wait elsewhere all the while
	Dir     string        // on the disk to measure
	Socket  string        // of river: where PostgreSQL listens
	For     time.Duration // at most
}

// result is what one run measured.
type result struct {
	Rate    float64 // cycles a second
	Cycles  float64 // in all
	Flushes float64 // of the disk, a cycle
	CPU     float64 // of its own process, microseconds a cycle
	P50     float64 // of exits: from the end of a command to the commit that tells of it, in commits
	Foreign float64 // cores that others used meanwhile
}

// runOne runs a program in this process and prints its result.
func runOne(spec string) error {
	var p program
	if err := json.Unmarshal([]byte(spec), &p); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(p.Dir, "data-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	r, err := p.run(dir)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

func (p program) run(dir string) (r result, err error) {
	ctx := context.Background()
	switch p.What {
	case "log":
		l, err := openBareLog(dir)
		if err != nil {
			return r, err
		}
		r, err = p.measure(l.cycle)
		return r, firstOf(err, l.close())
	case "river":
		peer, err := openRiver(ctx, p.Socket, p.Callers)
		if err != nil {
			return r, err
		}
		r, err = p.measure(peer.cycle)
		return r, firstOf(err, peer.close(ctx))
	case "product":
		// As many ends of processes as a run can use up, and not many more: they are live records all the while.
		const ends = 90_000
		s, err := openProduct(dir, p.Talks, ends/p.Talks, p.Queued)
		if err != nil {
			return r, err
		}
		s.wait = p.Wait
		runtime.GC() // what the seeding left is none of the cycle's
		before := s.db.Synced()
		r, err = p.measure(s.cycle)
		r.Flushes = float64(s.db.Synced()-before) / r.Cycles
		return r, firstOf(err, s.close())
	case "exits":
		return exits(ctx, dir)
	}
	return r, fmt.Errorf("there is no program %q", p.What)
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// tries is how often a run that others disturb is made at most.
const tries = 4

// inChild runs a program in a process of its own, on a quiet machine.
func inChild(p program) (r result, err error) {
	for range tries {
		waitForQuiet()
		spec, err := json.Marshal(p)
		if err != nil {
			return r, err
		}
		before := readCPU()
		c := exec.Command(os.Args[0], "-run", string(spec))
		c.Stderr = os.Stderr
		out, err := c.Output()
		if err != nil {
			return r, fmt.Errorf("%s with %d callers: %w", p.What, p.Callers, err)
		}
		if err := json.Unmarshal(out, &r); err != nil {
			return r, err
		}
		own := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
		if r.Foreign = before.others(own); r.Foreign < foreignLimit || p.What == "river" { // its server is another process
			break
		}
	}
	return r, nil
}

// bench measures everything and writes the report.
func bench(out, binary, dir string, rounds int, lasting time.Duration) error {
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, -15) // where it is allowed
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	pgDir, err := os.MkdirTemp(dir, "data-postgres-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(pgDir) }()
	pg, err := startPostgres(pgDir)
	if err != nil {
		return err
	}
	defer func() { _ = pg.close() }()

	var programs []program
	for _, c := range []int{1, 16, 256} {
		programs = append(programs,
			program{What: "log", Callers: c}, program{What: "river", Callers: c, Socket: pgDir},
			program{What: "product", Callers: c, Talks: c}, program{What: "product", Callers: c, Talks: c, Wait: true})
	}
	programs = append(programs, program{What: "product", Callers: 256, Talks: 16})
	r := newReport()
	for round := range rounds {
		for _, i := range rand.Perm(len(programs)) {
			p := programs[i]
			p.Dir, p.For = dir, lasting
			got, err := inChild(p)
			if err != nil {
				return err
			}
			r.add(programs[i], got)
			progress("round %d/%d: %-8s %3d callers, %3d conversations: %8.0f cycles/s", round+1, rounds, p.What, p.Callers, p.Talks, got.Rate)
		}
	}
	const deepRounds = 3
	for round := range deepRounds {
		for _, i := range rand.Perm(2) {
			p := program{What: "product", Callers: 256, Talks: 256, Queued: i * 1_000_000, Dir: dir, For: lasting}
			got, err := inChild(p)
			if err != nil {
				return err
			}
			r.deep[i] = append(r.deep[i], got.Rate)
			progress("round %d/%d: %7d queued: %8.0f cycles/s", round+1, deepRounds, p.Queued, got.Rate)
		}
	}
	for range deepRounds {
		got, err := inChild(program{What: "exits", Dir: dir})
		if err != nil {
			return err
		}
		r.exits = append(r.exits, got.P50)
		progress("from the end of a command to the commit that tells of it: %.1f commits", got.P50)
	}
	if r.daemon, err = measureDaemon(binary, dir); err != nil {
		return err
	}
	text := r.markdown()
	if out == "" {
		fmt.Print(text)
		return nil
	}
	return os.WriteFile(out, []byte(text), 0o644)
}

func progress(format string, a ...any) { fmt.Fprintf(os.Stderr, format+"\n", a...) }
