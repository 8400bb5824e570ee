package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// postgres is a server of our own, with the defaults of Debian's package: fsync and synchronous_commit are on. It listens
// on a socket in its folder only.
type postgres struct {
	dir, bin string
	owner    *syscall.Credential // who runs it: PostgreSQL refuses to be root
}

// startPostgres makes a fresh cluster below dir and starts it.
func startPostgres(dir string) (*postgres, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return nil, errors.New("PostgreSQL is not installed: apt-get install postgresql")
	}
	slices.Sort(found)
	p := &postgres{dir: dir, bin: filepath.Dir(found[len(found)-1])}
	if os.Getuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			return nil, err
		}
		uid, _ := strconv.ParseUint(u.Uid, 10, 32)
		gid, _ := strconv.ParseUint(u.Gid, 10, 32)
		p.owner = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, int(uid), int(gid)); err != nil {
			return nil, err
		}
	}
	data := filepath.Join(dir, "data")
	if err := p.run("initdb", "-D", data, "-A", "trust", "-U", "postgres"); err != nil {
		return nil, err
	}
	return p, p.run("pg_ctl", "-D", data, "-w", "-l", filepath.Join(dir, "log"), "-o", "-c listen_addresses='' -c max_connections=100 -k "+dir, "start")
}

// postgresVersion names the server's version.
func postgresVersion() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		return ""
	}
	slices.Sort(found)
	out, err := exec.Command(found[len(found)-1], "--version").Output()
	if err != nil {
		return ""
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(out)), "postgres (PostgreSQL) "), " ")
	return version
}

func (p *postgres) run(name string, args ...string) error {
	c := exec.Command(filepath.Join(p.bin, name), args...)
	c.Dir = p.dir
	if p.owner != nil {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: p.owner}
	}
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(string(out)))
	}
	return nil
}

func (p *postgres) close() error {
	return p.run("pg_ctl", "-D", filepath.Join(p.dir, "data"), "-w", "-m", "fast", "stop")
}

// riverPeer is River, tuned: its default pause between two fetches is 100 ms a hop, and would measure nothing else.
//
// Its cycle is a job of 512 bytes that is inserted durably and reaches its handler. River acknowledges in the background,
// which is not waited for: that is in its favour.
type riverPeer struct {
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx]
	ran    []chan struct{}
}

type job struct {
	Caller  int    `json:"caller"`
	Payload string `json:"payload"`
}

func (job) Kind() string { return "job" }

type worker struct {
	river.WorkerDefaults[job]
	ran []chan struct{}
}

func (w *worker) Work(_ context.Context, j *river.Job[job]) error {
	w.ran[j.Args.Caller] <- struct{}{}
	return nil
}

// riverFetch is the pause between two fetches.
const riverFetch = time.Millisecond

func openRiver(ctx context.Context, socket string, callers int) (*riverPeer, error) {
	pool, err := pgxpool.New(ctx, fmt.Sprintf("host=%s user=postgres dbname=postgres pool_max_conns=64", socket))
	if err != nil {
		return nil, err
	}
	driver := riverpgxv5.New(pool)
	migrator, err := rivermigrate.New(driver, nil)
	if err == nil {
		_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	r := &riverPeer{pool: pool, ran: make([]chan struct{}, callers)}
	for i := range r.ran {
		r.ran[i] = make(chan struct{}, 1)
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{ran: r.ran})
	r.client, err = river.NewClient(driver, &river.Config{
		Queues:        map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: max(callers, 100)}},
		Workers:       workers,
		FetchCooldown: riverFetch, FetchPollInterval: 10 * time.Millisecond,
	})
	if err == nil {
		err = r.client.Start(ctx)
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	return r, nil
}

func (r *riverPeer) cycle(ctx context.Context, n int) (bool, error) {
	if _, err := r.client.Insert(ctx, job{Caller: n, Payload: output}, nil); err != nil {
		return false, fmt.Errorf("river: %w", err)
	}
	<-r.ran[n]
	return true, nil
}

func (r *riverPeer) close(ctx context.Context) error {
	err := r.client.Stop(ctx)
	r.pool.Close()
	return err
}
