package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"github.com/homing-gateway/homing/adapters/discord"
	"github.com/homing-gateway/homing/adapters/slack"
	"github.com/homing-gateway/homing/adapters/telegram"
	"github.com/homing-gateway/homing/config"
	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/agent/openai"
	"github.com/homing-gateway/homing/internal/agent/rehearsal"
	"github.com/homing-gateway/homing/internal/api"
	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/gateway"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/media"
	"github.com/homing-gateway/homing/internal/metrics"
	"github.com/homing-gateway/homing/internal/process"
	"github.com/homing-gateway/homing/internal/store"
	"github.com/homing-gateway/homing/internal/view"
)

// daemon is one running gateway with everything that it holds. It is the only code that sees every layer.
type daemon struct {
	cfg      *config.Config
	log      *zap.Logger
	lock     *os.File
	db       *store.DB
	runner   *process.Runner
	media    *media.Folder
	gateway  *gateway.Gateway
	metrics  *metrics.Metrics
	http     net.Listener
	admin    net.Listener
	tokensMu sync.Mutex
	tokens   []*os.File // the locks of those that are served
	born     time.Time
}

// open takes hold of everything in the order in which it may fail without harm: folder, lock, store, listeners. close
// lets go in the opposite order.
func (d *daemon) open() (err error) {
	defer func() {
		if err != nil {
			d.close()
		}
	}()
	d.born = time.Now()
	for _, dir := range []string{d.cfg.DataDir, d.cfg.Agent.Workspace} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return folderError(dir, err)
		}
	}
	if d.lock, err = takeLock(filepath.Join(d.cfg.DataDir, "homing.lock")); err != nil {
		return err
	}
	if d.db, err = store.Open(filepath.Join(d.cfg.DataDir, "homing.db")); err != nil {
		return damaged(err, filepath.Join(d.cfg.DataDir, "homing.db"))
	}
	if d.runner, err = process.New(filepath.Join(d.cfg.DataDir, "processes")); err != nil {
		return folderError(d.cfg.DataDir, err)
	}
	if d.media, err = media.Open(filepath.Join(d.cfg.DataDir, "media")); err != nil {
		return folderError(d.cfg.DataDir, err)
	}
	play, err := rehearsal.New(rehearsal.Options{Script: []byte(rehearsal.Selftest()), Path: "selftest.yaml"})
	if err != nil {
		return err
	}
	profile, err := d.profile()
	if err != nil {
		return err
	}
	accounts, err := d.accounts()
	if err != nil {
		return err
	}
	d.metrics = metrics.New(metrics.Options{
		Platforms: platforms(accounts), Log: d.log,
		Counts:   func() (view.Counts, error) { return view.Count(d.db) },
		Accounts: func() []gateway.AccountStatus { return d.gateway.Accounts() }, // it is there before anybody can ask
	})
	d.gateway, err = gateway.New(gateway.Options{
		Store: d.db, Processes: d.runner, Media: d.media, Profiles: []gateway.Profile{profile}, Rehearsal: play, Accounts: accounts, Environ: os.Environ(), Version: version(), Log: d.log,
		Commit: d.metrics.Timed(d.db.Commit), Journal: d.metrics.Count,
	})
	if err != nil {
		return damaged(err, d.db.Path())
	}
	return d.listen()
}

// folderError gives what went wrong with a folder its exit code.
func folderError(dir string, err error) error {
	err = fmt.Errorf("the folder %s can't be used: %w", dir, err)
	switch {
	case errors.Is(err, os.ErrPermission), errors.Is(err, unix.EROFS):
		return exit(exitNoAccess, err)
	case errors.Is(err, unix.ENOSPC):
		return exit(exitDamaged, err)
	}
	return err
}

// damaged tells about a store that can't be used; it is left as it is.
func damaged(err error, path string) error {
	switch {
	case errors.Is(err, store.ErrDamaged):
		return exit(exitDamaged, fmt.Errorf("%w\nThe file is left as it is. Put a backup in its place, or move it away to begin anew: %s", err, path))
	case errors.Is(err, unix.ENOSPC):
		return exit(exitDamaged, fmt.Errorf("no space at the start: %w", err))
	}
	return storeError(err)
}

// takeLock holds the data folder for this process, by a lock of the kernel that ends with it. What the file says is
// information only.
func takeLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, folderError(filepath.Dir(path), err)
	}
	if err := flockWithin(f, lockPatience); err != nil {
		holder := make([]byte, 64)
		n, _ := f.ReadAt(holder, 0)
		_ = f.Close()
		return nil, exit(exitInUse, fmt.Errorf("another gateway holds %s (process %s): stop it first", path, oneLine(holder[:n])))
	}
	if err := f.Chmod(0o600); err == nil {
		if err = f.Truncate(0); err == nil {
			_, _ = fmt.Fprintf(f, "%d\n", os.Getpid())
		}
	}
	return f, nil
}

// lockPatience is how long a lock is waited for. A gateway that was killed while it started a program has left a copy of its lock
// to what was to become that program, for a moment.
const lockPatience = time.Second

func flockWithin(f *os.File, patience time.Duration) error {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for end := time.After(patience); ; {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return err
		}
		select {
		case <-again.C:
		case <-end:
			return err
		}
	}
}

func oneLine(b []byte) string {
	for i, c := range b {
		if c < '0' || c > '9' {
			return string(b[:i])
		}
	}
	return string(b)
}

// profile makes the profile that the configuration describes.
func (d *daemon) profile() (gateway.Profile, error) {
	c := d.cfg
	var provider agent.Provider
	switch c.Agent.Provider {
	case config.ProviderRehearsal:
		r, err := rehearsal.New(rehearsal.Options{Path: c.Agent.Script})
		if err != nil {
			return gateway.Profile{}, exit(exitConfig, fmt.Errorf("agent.script: %w", err))
		}
		provider = r
	default:
		provider = openai.New(openai.Options{
			BaseURL: c.Agent.BaseURL, APIKey: c.Agent.APIKey.Reveal(), RequestTimeout: c.Agent.RequestTimeout.Std(), Log: d.log,
		})
	}
	if c.Agent.Provider == config.ProviderRehearsal && c.Agent.Model == "" {
		c.Agent.Model = "rehearsal, a script"
	}
	return gateway.Profile{
		Name: config.DefaultProfile, Provider: provider, Model: c.Agent.Model, SystemPrompt: c.Agent.SystemPrompt,
		Workspace: c.Agent.Workspace, MediaDirs: c.Delivery.MediaDirs, ContextTokens: c.Agent.ContextTokens, Streaming: c.Display.Streaming, ToolProgress: gateway.ProgressMode(c.Display.ToolProgress),
		Steer: c.Display.BusyInput == config.BusySteer, PromoteAfter: c.Terminal.PromoteAfter.Std(),
		OutputLimit: int64(c.Terminal.OutputLimit), KillGrace: c.Terminal.KillGrace.Std(), Shell: c.Terminal.Shell,
		EnvPassthrough: c.Terminal.EnvPassthrough, SendTimeout: c.Delivery.SendTimeout.Std(), CatchUp: c.Delivery.CatchUp.Std(),
		PerPersonInGroups: c.Session.GroupSessionsPerUser, PerPersonInThreads: c.Session.ThreadSessionsPerUser,
		Policy: machine.Policy{
			Delivery: delivery.Policy{
				MaxAttempts: c.Delivery.MaxAttempts, MinBackoff: c.Delivery.MinBackoff.Std(), MaxBackoff: c.Delivery.MaxBackoff.Std(),
				Resend: c.Delivery.Unknown == config.UnknownResend, ToParent: c.Delivery.DeadThread == config.DeadThreadParent,
			},
			ExpireAfter: c.Delivery.ExpireAfter.Std(), InboxLimit: c.Delivery.InboxLimit, IdleReset: c.Session.IdleReset.Std(),
			SurfaceChildProcesses: c.Delegation.SurfaceChildProcessNotifications, MaxChildren: c.Delegation.MaxConcurrentChildren,
			MaxSpawnDepth: c.Delegation.MaxSpawnDepth, MaxIterations: c.Agent.MaxIterations, ChildIterations: c.Delegation.MaxIterations,
			MaxSummaryChars: c.Delegation.MaxSummaryChars, MaxProcesses: c.Terminal.MaxProcesses,
			Receipts: machine.ReceiptMode(c.Display.BackgroundProcessNotifications),
		},
	}, nil
}

// accounts makes the adapters of the platforms that are switched on.
func (d *daemon) accounts() ([]gateway.AccountOptions, error) {
	var out []gateway.AccountOptions
	if t := d.cfg.Platforms.Telegram; t.Enabled {
		a, err := telegram.New(telegramOptions(t, d.log))
		if err != nil {
			return nil, exit(exitConfig, fmt.Errorf("platforms.telegram: %w", err))
		}
		out = append(out, gateway.AccountOptions{Adapter: a, Access: access(t.Access), Claim: d.claim(t.Token.Reveal())})
	}
	if p := d.cfg.Platforms.Discord; p.Enabled {
		a, err := discord.New(discordOptions(p, d.cfg.DataDir, d.log))
		if err != nil {
			return nil, exit(exitConfig, fmt.Errorf("platforms.discord: %w", err))
		}
		out = append(out, gateway.AccountOptions{Adapter: a, Access: access(p.Access), Claim: d.claim(p.Token.Reveal())})
	}
	if d.cfg.Platforms.Slack.Enabled {
		a, err := d.slackAccount()
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

func telegramOptions(t config.Telegram, log *zap.Logger) telegram.Options {
	return telegram.Options{Profile: config.DefaultProfile, Token: t.Token.Reveal(), APIURL: t.APIURL, Log: log}
}

func discordOptions(p config.Discord, dir string, log *zap.Logger) discord.Options {
	return discord.Options{
		Profile: config.DefaultProfile, Token: p.Token.Reveal(), APIURL: p.APIURL, AutoThread: p.AutoThread, Dir: dir, Version: version(), Log: log,
	}
}

// malformed tells of the platforms whose tokens or addresses have a form that run refuses. Nobody is asked for that.
func malformed(c *config.Config) []config.Problem {
	var out []config.Problem
	check := func(platform chat.Platform, err error) {
		if err != nil {
			out = append(out, config.Problem{Kind: config.Invalid, Path: "platforms." + string(platform), Text: err.Error()})
		}
	}
	if t := c.Platforms.Telegram; t.Enabled {
		a, err := telegram.New(telegramOptions(t, zap.NewNop()))
		if check(telegram.Name, err); err == nil {
			a.Close()
		}
	}
	if p := c.Platforms.Discord; p.Enabled {
		a, err := discord.New(discordOptions(p, "", zap.NewNop()))
		if check(discord.Name, err); err == nil {
			a.Close()
		}
	}
	if s := c.Platforms.Slack; s.Enabled {
		check(slack.Name, slackOptions(s, zap.NewNop()).Check())
	}
	return out
}

// unheard tells of the platforms that are switched on and where nobody may talk.
func unheard(c *config.Config) []config.Problem {
	var out []config.Problem
	for _, name := range c.Platforms.Enabled() {
		if a, _ := c.Platforms.Access(name); !a.AllowAll && len(a.AllowedUsers)+len(a.Admins) == 0 {
			out = append(out, config.Problem{Kind: config.Missing, Path: "platforms." + name, Text: "nobody may talk to the bot yet: put ids into allowed_users"})
		}
	}
	return out
}

// platforms lists where messages are brought to.
func platforms(accounts []gateway.AccountOptions) []chat.Platform {
	list := []chat.Platform{gateway.ConsolePlatform}
	for _, a := range accounts {
		list = append(list, a.Platform())
	}
	return list
}

func access(a config.Access) gateway.Access {
	return gateway.Access{
		AllowedUsers: a.AllowedUsers, Admins: a.Admins, AllowAll: a.AllowAll, RequireMention: a.RequireMention, HomeChat: a.HomeChat,
	}
}

// listen opens the HTTP listener and the admin socket.
func (d *daemon) listen() (err error) {
	if d.cfg.HTTP.Listen != "" {
		if d.http, err = net.Listen("tcp", d.cfg.HTTP.Listen); err != nil {
			return fmt.Errorf("http.listen: %w: choose another address, or \"\" for none", err)
		}
		if err := os.WriteFile(d.addrFile(), []byte(d.http.Addr().String()+"\n"), 0o600); err != nil {
			return folderError(d.cfg.DataDir, err)
		}
	}
	path := socketPath(d.cfg.DataDir)
	_ = os.Remove(path) // the lock is ours: whoever made it is gone
	short, done, err := shortSocket(path)
	if err != nil {
		return err
	}
	defer done()
	mask := unix.Umask(0o177)
	d.admin, err = net.Listen("unix", short)
	unix.Umask(mask)
	if err != nil {
		return fmt.Errorf("open the admin socket %s: %w", path, err)
	}
	d.admin.(*net.UnixListener).SetUnlinkOnClose(false) // its name may be a short one
	return nil
}

func (d *daemon) addrFile() string { return filepath.Join(d.cfg.DataDir, "http.addr") }

// serve runs the gateway until ctx ends and it has drained; hard ends the grace.
func (d *daemon) serve(ctx, hard context.Context) error {
	var servers []*http.Server
	serve := func(l net.Listener, h http.Handler) {
		s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, ErrorLog: zap.NewStdLog(d.log.Named("http"))}
		servers = append(servers, s)
		go func() { _ = s.Serve(l) }() // ends with Close below
	}
	if d.http != nil {
		numbers := api.Guarded(d.metrics.Handler(), onLoopback(d.http.Addr()), d.cfg.HTTP.APIKey.Reveal())
		serve(d.http, api.Public(d.gateway.Ready, d.status, numbers))
	}
	err := d.gateway.Run(ctx, hard, func() { serve(d.admin, api.Admin(d.gateway, d.status)) })
	for _, s := range servers {
		_ = s.Close()
	}
	return err
}

// onLoopback tells whether only this machine can reach an address. One that listens everywhere is not on loopback, wherever
// a request comes from: a proxy on this machine would make every request look local.
func onLoopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// close lets go of everything that was opened.
func (d *daemon) close() {
	if d.admin != nil {
		_ = d.admin.Close()
		_ = os.Remove(socketPath(d.cfg.DataDir))
	}
	if d.http != nil {
		_ = d.http.Close()
		_ = os.Remove(d.addrFile())
	}
	if d.runner != nil {
		d.runner.Close()
	}
	if d.media != nil {
		_ = d.media.Close()
	}
	if d.db != nil {
		_ = d.db.Close()
	}
	for _, f := range d.tokens {
		_ = f.Close()
	}
	if d.lock != nil {
		_ = d.lock.Close()
	}
}

// status is how the daemon stands.
func (d *daemon) status() view.Status {
	counts, err := view.Count(d.db)
	if err != nil {
		d.log.Error("counts not read", zap.Error(err))
	}
	s := view.Status{
		Common: view.Common{
			ID: "gateway", State: "running", Profile: config.DefaultProfile, Kind: "gateway", CreatedAt: d.born, UpdatedAt: time.Now(),
		},
		Version: version(), PID: os.Getpid(), DataDir: d.cfg.DataDir, Platforms: []view.Platform{}, Counts: counts,
		Storage: view.StorageState{Engine: "bbolt", File: d.db.Path(), Bytes: d.db.Size()},
	}
	if d.http != nil {
		s.HTTP = &view.HTTP{Listen: d.http.Addr().String()}
	}
	for _, a := range d.gateway.Accounts() {
		p := view.Platform{
			Profile: a.Account.Profile, Platform: string(a.Account.Platform), Account: a.Account.ID, State: string(a.State), Cause: string(a.Cause),
			Remedy: a.Remedy, Since: a.Since, LastError: a.LastError,
		}
		if !a.LastInbound.IsZero() {
			p.LastInbound = &a.LastInbound
		}
		s.Platforms = append(s.Platforms, p)
	}
	for _, name := range d.cfg.Platforms.Disabled() {
		s.Platforms = append(s.Platforms, view.Platform{Profile: config.DefaultProfile, Platform: name, State: "disabled", Since: d.born})
	}
	return s
}
