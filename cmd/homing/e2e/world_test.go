package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/homing-gateway/homing/adapters/adaptertest/fakediscord"
	"github.com/homing-gateway/homing/adapters/adaptertest/fakeslack"
	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
	"github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

// Who and what there is. The owner and the guest are allowed, the stranger is not.
const (
	owner, guest, stranger int64 = 1001, 1002, 6666

	group int64 = -4001  // a basic group
	forum int64 = -10088 // a supergroup with the topics 7 and 9

	botName = "homing_bot"
)

// patience bounds every wait for something that must come.
const patience = 20 * time.Second

// moment is how long nothing must happen where nothing may.
const moment = 250 * time.Millisecond

// settings are configuration values by their path.
type settings map[string]any

// world is one installation with its surroundings: a data folder, a configuration, a scripted model, a Telegram, and one
// daemon after the other. Everything in it is shared by the worlds that on makes of it for subtests.
type world struct {
	*testing.T
	dir    string // holds data, the configuration and the log
	config settings
	model  *fakeopenai.Server
	tg     *faketelegram.Server
	dc     *fakediscord.Server // nil: there is none
	sl     *fakeslack.Server   // nil: there is none
	token  string              // of the bot
	key    string              // of the model
	daemon *daemon
	heard  *heard

	environ []string // of the program, besides what every one has
}

// heard is everything that commands have printed.
type heard struct {
	mu   sync.Mutex
	text strings.Builder
}

var worlds atomic.Int64

// newWorld makes a world that nothing runs in yet, for a test that runs in parallel with others. After the test all that
// it left behind is ended, and nothing of it may hold a secret.
func newWorld(t *testing.T, changes settings) *world {
	t.Helper()
	t.Parallel()
	dir, err := os.MkdirTemp(root, "w")
	if err != nil {
		t.Fatal(err)
	}
	n := worlds.Add(1)
	w := &world{
		T: t, dir: dir, model: fakeopenai.New(), daemon: &daemon{}, heard: &heard{},
		token: fmt.Sprintf("%d:AAsecret-of-the-bot-%d", 7_000_000+n, n), key: fmt.Sprintf("sk-secret-of-the-model-%d", n),
	}
	w.tg = faketelegram.New(w.token, botName)
	if err := w.tg.Listen(); err != nil {
		t.Fatal(err)
	}
	w.tg.Person(owner, "Owner")
	w.tg.Person(guest, "Guest")
	w.tg.Person(stranger, "Stranger")
	w.tg.Group(group, "A group")
	w.tg.Forum(forum, "A forum", 7, 9)
	w.config = settings{
		"data_dir": w.data(), "log.level": "debug", "log.format": "json", "drain": "10s", "http.listen": "127.0.0.1:0",
		"agent.provider": "openai", "agent.model": "fake-1", "agent.base_url": w.model.URL(), "agent.api_key": w.key,
		"terminal.kill_grace": "200ms", "delivery.min_backoff": "50ms", "delivery.max_backoff": "200ms",
		"platforms.telegram.token": w.token, "platforms.telegram.api_url": w.tg.URL(),
		"platforms.telegram.allowed_users": []string{fmt.Sprint(owner), fmt.Sprint(guest)},
	}
	maps.Copy(w.config, changes)
	w.configure()
	if err := os.MkdirAll(w.workspace(""), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.end)
	return w
}

// on is the same world for a subtest.
func (w *world) on(t *testing.T) *world {
	c := *w
	c.T = t
	return &c
}

func (w *world) data() string                 { return filepath.Join(w.dir, "data") }
func (w *world) workspace(name string) string { return filepath.Join(w.data(), "workspace", name) }
func (w *world) configFile() string           { return filepath.Join(w.dir, "homing.yaml") }
func (w *world) logFile() string              { return filepath.Join(w.dir, "log") }

// configure writes the configuration file.
func (w *world) configure() {
	w.Helper()
	tree := map[string]any{}
	for path, v := range w.config {
		at, keys := tree, strings.Split(path, ".")
		for _, k := range keys[:len(keys)-1] {
			if at[k] == nil {
				at[k] = map[string]any{}
			}
			at = at[k].(map[string]any)
		}
		at[keys[len(keys)-1]] = v
	}
	text, err := yaml.Marshal(tree)
	if err == nil {
		err = os.WriteFile(w.configFile(), text, 0o600)
	}
	if err != nil {
		w.Fatal(err)
	}
}

// daemon is the program as it runs, one life after the other.
type daemon struct {
	command *exec.Cmd
	over    chan struct{} // closed when the life has ended
	deaths  int           // lives that ended by a fault point and were followed by another one
	fault   string        // the fault point of this life
}

// running tells whether a life goes on.
func (d *daemon) running() bool {
	if d.command == nil {
		return false
	}
	select {
	case <-d.over:
		return false
	default:
		return true
	}
}

// begin starts a daemon and waits for nothing. fault is the point at which it dies by itself, "" for none.
func (w *world) begin(fault string) {
	w.Helper()
	if w.daemon.running() {
		w.Fatal("a daemon runs already")
	}
	_ = os.Remove(filepath.Join(w.data(), "http.addr")) // of a life that was killed
	log, err := os.OpenFile(w.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		w.Fatal(err)
	}
	defer log.Close()
	c := w.program("run")
	if fault != "" {
		c.Path = faulted
		c.Env = append(c.Env, "HOMING_FAULT="+fault)
	}
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		w.Fatal(err)
	}
	over := make(chan struct{})
	w.daemon.command, w.daemon.over, w.daemon.fault = c, over, fault
	go func() { defer close(over); _ = c.Wait() }()
}

// program is a command line of the product.
func (w *world) program(args ...string) *exec.Cmd {
	c := exec.Command(binary, append([]string{"--config", w.configFile()}, args...)...)
	c.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "XDG_RUNTIME_DIR=" + filepath.Join(w.dir, "run"), "GORACE=halt_on_error=1"}, w.environ...)
	c.Dir = w.dir
	return c
}

// start starts a daemon and waits until it serves and listens to Telegram.
func (w *world) start() {
	w.Helper()
	w.begin("")
	w.until("the gateway is ready", w.ready)
}

// startToDieAt starts a daemon that kills itself at a point, and waits until it serves.
func (w *world) startToDieAt(fault string) {
	w.Helper()
	w.begin(fault)
	w.until("the gateway is ready", w.ready)
}

func (w *world) ready() bool {
	r, err := http.Get("http://" + w.address() + "/readyz")
	if err != nil {
		return false
	}
	_ = r.Body.Close()
	return r.StatusCode == http.StatusOK && (w.config["platforms.telegram.token"] == nil || w.tg.Polling()) &&
		(w.config["platforms.discord.token"] == nil || w.dc.Gateway().Live > 0) && w.slackListens()
}

// address is where the daemon serves HTTP.
func (w *world) address() string {
	b, err := os.ReadFile(filepath.Join(w.data(), "http.addr"))
	if err != nil {
		return "nowhere.invalid:1"
	}
	return strings.TrimSpace(string(b))
}

// telegramIsBack lets Telegram listen again where it did. Somebody's connection may just be using that port.
func (w *world) telegramIsBack() {
	w.Helper()
	w.until("Telegram listens again", func() bool { return w.tg.Up() == nil })
}

// kill ends the daemon by SIGKILL.
func (w *world) kill() {
	w.Helper()
	w.signal(syscall.SIGKILL)
	w.exit()
	w.daemon.command = nil
}

func (w *world) signal(s syscall.Signal) {
	w.Helper()
	if err := w.daemon.command.Process.Signal(s); err != nil {
		w.Fatal(err)
	}
}

// exit waits for the daemon's end and returns its exit code, -1 for a signal.
func (w *world) exit() int {
	w.Helper()
	select {
	case <-w.daemon.over:
		return w.daemon.command.ProcessState.ExitCode()
	case <-time.After(patience):
		w.Fatal("the daemon does not end")
	}
	return 0
}

// stop ends the daemon in order.
func (w *world) stop() {
	w.Helper()
	w.signal(syscall.SIGTERM)
	if code := w.exit(); code != 0 {
		w.Fatalf("the daemon ended with code %d after SIGTERM, want 0\n%s", code, w.tail())
	}
	w.daemon.command = nil
}

// died tells whether the daemon has ended at its fault point.
func (w *world) died() bool { return !w.daemon.running() && w.daemon.fault != "" && w.exit() == -1 }

// until waits until ok holds. A daemon that ended at its fault point is started again meanwhile; another one that ended
// fails the test.
func (w *world) until(what string, ok func() bool) {
	w.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(8 * time.Millisecond) {
		if w.daemon.command != nil && !w.daemon.running() {
			if !w.died() {
				w.Fatalf("the daemon has ended (%s) before this: %s\n%s", w.daemon.command.ProcessState, what, w.tail())
			}
			w.daemon.deaths++
			w.begin("")
		}
		if time.Now().After(end) {
			w.Fatalf("it did not come about: %s", what)
		}
	}
}

// never holds for a moment that something does not happen.
func (w *world) never(what string, happens func() bool) {
	w.Helper()
	for end := time.Now().Add(moment); time.Now().Before(end); time.Sleep(8 * time.Millisecond) {
		if happens() {
			w.Fatalf("this must not happen: %s", what)
		}
	}
}

// result is what a command did.
type result struct {
	out, err string
	code     int
}

// input runs a command of the product with that input.
func (w *world) input(stdin string, args ...string) result {
	w.Helper()
	var out, errs bytes.Buffer
	c := w.program(args...)
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(stdin), &out, &errs
	err := c.Run()
	if e := (*exec.ExitError)(nil); err != nil && !errors.As(err, &e) {
		w.Fatal(err)
	}
	w.heard.mu.Lock()
	defer w.heard.mu.Unlock()
	w.heard.text.WriteString(out.String() + errs.String())
	return result{out.String(), errs.String(), c.ProcessState.ExitCode()}
}

func (w *world) run(args ...string) result { w.Helper(); return w.input("", args...) }

// do runs a command that must succeed and returns what it printed.
func (w *world) do(args ...string) string {
	w.Helper()
	r := w.run(args...)
	if r.code != 0 {
		w.Fatalf("homing %s: exit code %d\n%s%s", strings.Join(args, " "), r.code, r.out, r.err)
	}
	return r.out
}

// fails runs a command that must fail with a code and tell why.
func (w *world) fails(code int, says string, args ...string) {
	w.Helper()
	if r := w.run(args...); r.code != code || !strings.Contains(r.err, says) {
		w.Errorf("homing %s: exit code %d, want %d and %q\n%s%s", strings.Join(args, " "), r.code, code, says, r.out, r.err)
	}
}
