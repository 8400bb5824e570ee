package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/homing-gateway/homing/internal/view"
)

func demoCommand(g *global) *cobra.Command {
	once, web := false, false
	c := leaf("demo", "the product without any key: a local chat with the rehearsal agent",
		"homing demo            a dialogue; say \"help\"\nhoming demo --once     plays the takeover scenario by itself, a crash included, and shows its evidence", cobra.NoArgs,
		func([]string) error {
			if web {
				return errorText("the console page is not available in this version: use homing demo for a chat in the terminal")
			}
			d, err := newDemoDaemon()
			if err != nil {
				return err
			}
			defer d.remove()
			defer d.removeOnSignal()()
			if once {
				return playOnce(d, os.Stdout)
			}
			return d.talk()
		})
	c.Flags().BoolVar(&once, "once", false, "play the takeover scenario by itself; exit code 0 only if everything held")
	c.Flags().BoolVar(&web, "web", false, "open the console page")
	_ = c.Flags().MarkHidden("web")
	_ = g
	return c
}

// removeOnSignal throws the gateway away when the demo is told to stop; the function that it returns ends that.
func (d *demoDaemon) removeOnSignal() func() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	over := make(chan struct{})
	go func() { // ends with the demo
		select {
		case <-signals:
			d.remove()
			os.Exit(exitFailed)
		case <-over:
		}
	}()
	return func() { signal.Stop(signals); close(over) }
}

// demoDaemon is a gateway of its own in a folder that is thrown away: the real binary, as a process that can be killed.
type demoDaemon struct {
	dir    string
	self   string
	cmd    *exec.Cmd
	ended  chan struct{}
	client *client
}

func newDemoDaemon() (*demoDaemon, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "homing-demo-")
	if err != nil {
		return nil, err
	}
	return &demoDaemon{dir: dir, self: self, client: newClient(socketPath(filepath.Join(dir, "data")))}, nil
}

func (d *demoDaemon) path(parts ...string) string {
	return filepath.Join(append([]string{d.dir}, parts...)...)
}

// start starts the gateway and waits until it answers. surface is the switch for the processes of subagents.
func (d *demoDaemon) start(surface bool) error {
	conf := fmt.Sprintf("data_dir: %q\nagent:\n  provider: rehearsal\nhttp:\n  listen: \"\"\nlog:\n  level: warn\n  format: console\n"+
		"delegation:\n  surface_child_process_notifications: %t\n", d.path("data"), surface)
	if err := os.WriteFile(d.path("homing.yaml"), []byte(conf), 0o600); err != nil {
		return err
	}
	log, err := os.OpenFile(d.path("daemon.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.CommandContext(context.Background(), d.self, "run", "--config", d.path("homing.yaml"))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = withoutHoming(os.Environ())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the chat, not for the gateway
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }() // ends with the process
	d.cmd, d.ended = cmd, ended
	for deadline := time.Now().Add(10 * time.Second); ; {
		var s view.Status
		if err := d.client.get("/status", &s); err == nil && s.State == "running" {
			return nil
		}
		select {
		case <-ended:
			return fmt.Errorf("the gateway did not start:\n%s", d.logs())
		case <-time.After(5 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the gateway does not answer:\n%s", d.logs())
		}
	}
}

// withoutHoming keeps a person's own settings out of the throw-away gateway.
func withoutHoming(environ []string) []string {
	var out []string
	for _, e := range environ {
		if name, _, _ := strings.Cut(e, "="); !strings.HasPrefix(name, "HOMING_") && !strings.HasSuffix(name, "_BOT_TOKEN") {
			out = append(out, e)
		}
	}
	return out
}

func (d *demoDaemon) logs() string {
	b, _ := os.ReadFile(d.path("daemon.log"))
	return string(b)
}

// kill ends the gateway as a crash would.
func (d *demoDaemon) kill() {
	_ = d.cmd.Process.Kill()
	<-d.ended
}

// stop ends the gateway in order and returns its exit code.
func (d *demoDaemon) stop() int {
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	<-d.ended
	return d.cmd.ProcessState.ExitCode()
}

// remove stops what still runs and throws the folder away.
func (d *demoDaemon) remove() {
	if d.cmd != nil {
		var list []view.Process
		if d.client.get("/processes", &list) == nil {
			for _, p := range list {
				if p.State == "running" {
					_ = d.client.post("/processes/"+p.ID+"/kill", nil, &struct{}{})
				}
			}
		}
		d.stop()
	}
	_ = os.RemoveAll(d.dir)
}

// talk is a dialogue with the throw-away gateway.
func (d *demoDaemon) talk() error {
	if err := d.start(false); err != nil {
		return err
	}
	fmt.Printf("A gateway of its own runs in %s and is thrown away at the end.\n", d.dir)
	fmt.Println("The agent is a script, no model. Say “help” to it, or “research otters”.")
	err := chatWith(d.client, "", "", os.Stdin, os.Stdout)
	if e, ok := errors.AsType[*exitError](err); ok && e.code == exitNoDaemon {
		return fmt.Errorf("%w\n%s", err, d.logs())
	}
	return err
}
