package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a pseudo-terminal with a command at it.
type terminal struct {
	*testing.T
	keys    *os.File
	command *exec.Cmd
	mu      sync.Mutex
	screen  strings.Builder
	closed  chan struct{} // when nobody writes to it any more
	before  unix.Termios  // its mode when the command came
}

// atTerminal runs a command of the product at a terminal of its own, in an empty home.
func atTerminal(t *testing.T, home string, env []string, args ...string) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	var n int
	conn, err := master.SyscallConn()
	if err == nil {
		cerr := conn.Control(func(fd uintptr) {
			if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err == nil {
				n, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
			}
		})
		if err == nil {
			err = cerr
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	c := exec.Command(binary, args...)
	c.Dir, c.Env = home, append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, env...)
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	x := &terminal{T: t, keys: master, command: c, closed: make(chan struct{})}
	x.before = x.mode()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // ends when the command has ended and nobody holds the other side
		defer close(x.closed)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			x.mu.Lock()
			x.screen.Write(buf[:n])
			x.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait(); _ = master.Close() })
	return x
}

func (x *terminal) shows() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return strings.ReplaceAll(x.screen.String(), "\r", "")
}

// answers waits for a question, the last thing on the screen, and types.
func (x *terminal) answers(question, keys string) {
	x.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		shown := x.shows()
		if at := strings.LastIndex(shown, question); at >= 0 && strings.HasSuffix(shown, ": ") && !strings.Contains(shown[at:], "\n") {
			break
		}
		if time.Now().After(end) {
			x.Fatalf("%q is not asked; the terminal shows\n%s", question, shown)
		}
	}
	if _, err := x.keys.WriteString(keys); err != nil {
		x.Fatal(err)
	}
}

// mode is how the terminal treats what is typed.
func (x *terminal) mode() (m unix.Termios) {
	x.Helper()
	conn, err := x.keys.SyscallConn()
	if err == nil {
		err = conn.Control(func(fd uintptr) {
			if now, err := unix.IoctlGetTermios(int(fd), unix.TCGETS); err == nil {
				m = *now
			}
		})
	}
	if err != nil || m.Lflag == 0 && m.Cflag == 0 {
		x.Fatalf("the terminal's mode: %+v, %v", m, err)
	}
	return m
}

// ends waits for the end of the command and gives its exit code.
func (x *terminal) ends() int {
	x.Helper()
	over := make(chan struct{})
	go func() { defer close(over); _ = x.command.Wait() }()
	select {
	case <-over:
	case <-time.After(patience):
		x.Fatalf("it does not end; the terminal shows\n%s", x.shows())
	}
	<-x.closed
	return x.command.ProcessState.ExitCode()
}

// A newcomer answers the questions of init at a terminal. What is wrong is said at once, what is secret is never
// shown, and the file holds exactly what was given.
func TestInitAsks(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	const key, token = "sk-'quoted\" #${secret}", "123456789:AA-secret_x"
	x := atTerminal(t, home, nil, "init")
	x.answers("Base URL", "localhost:11434\r")
	x.answers("Base URL", "http://127.0.0.1:11434/v1\r")
	x.answers("Name of the model", "\r")
	x.answers("Name of the model", "Some Model: 7b #1\r")
	x.answers("API key", "MY_API_KEY\r")
	x.answers("API key", key+"\r")
	x.answers("Connect telegram?", "perhaps\r")
	x.answers("Connect telegram?", "y\r")
	x.answers("Token", "no token, secret\r")
	x.answers("Token", token+"\r")
	x.answers("Ids", "1001, @ann\r")
	x.answers("Ids", "-100123\r")
	x.answers("Ids", "1001, 007\r")
	x.answers("Connect discord?", "y\r")
	x.answers("Token, from the Bot page", "no token, secret\r")
	x.answers("Token, from the Bot page", "MTA.secret.dc\r")
	x.answers("Ids", "123456789012345678\r")
	x.answers("Connect slack?", "y\r")
	x.answers("Bot User OAuth Token", "xapp-secret\r")
	x.answers("Bot User OAuth Token", "xoxb-secret_b\r")
	x.answers("App-Level Token", "xapp-secret_a\r")
	x.answers("Ids", "U012AbC\r")
	if code := x.ends(); code != 0 {
		t.Fatalf("exit code %d\n%s", code, x.shows())
	}
	path := filepath.Join(home, ".config", "homing", "homing.yaml")
	shown := x.shows()
	for _, want := range []string{
		"That is not an address of a server", "That is needed: name a model", "write a $ before it", "neither yes nor no",
		"That is not a token", `"@ann" is not the id of a person: ids are numbers here, not names`, `"-100123" is not the id`,
		"Chats (not in this version: zulip, feishu):", path + " is written, readable by you alone",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("the terminal does not show %q", want)
		}
	}
	if strings.Contains(shown, "secret") {
		t.Errorf("a secret is shown:\n%s", shown)
	}
	for name, mode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700 | os.ModeDir} {
		if st, err := os.Stat(name); err != nil || st.Mode() != mode {
			t.Errorf("%s: %v, %v, want %v", name, st.Mode(), err, mode)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`  base_url: "http://127.0.0.1:11434/v1" #`, `  model: "Some Model: 7b #1" `, `  api_key: "sk-'quoted\" #$${secret}" #`,
		`    token: "123456789:AA-secret_x" #`, `    allowed_users: ["1001", "007"] #`, `    token: "MTA.secret.dc" `, `    allowed_users: ["123456789012345678"] #`,
		`    bot_token: "xoxb-secret_b" `, `    app_token: "xapp-secret_a" `, `    allowed_users: ["U012AbC"] `,
		"sent: 168h                     # no effect yet",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the file lacks %q", want)
		}
	}
	c := exec.Command(binary, "config", "check")
	c.Dir, c.Env = home, []string{"HOME=" + home}
	if out, err := c.CombinedOutput(); err != nil || strings.Contains(string(out), "warning") {
		t.Errorf("config check: %v\n%s", err, out)
	}
	if x := atTerminal(t, home, nil, "init"); x.ends() != 1 || !strings.Contains(x.shows(), "exists already: --force overwrites it") {
		t.Errorf("a second time: %s", x.shows())
	}
}

// What the environment holds is named, not copied; a person may also go on without a chat.
func TestInitTakesVariables(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	x := atTerminal(t, home, []string{"OPENAI_API_KEY=sk-usual-hush", "MY_TOKEN=5:hush", "TELEGRAM_ALLOWED_USERS=1001"}, "init", "--config", "new/place/homing.yaml")
	x.answers("Base URL", "\r")
	x.answers("Name of the model", "m\r")
	x.answers("API key", "\r")
	x.answers("Connect telegram?", "\r")
	x.answers("Token", "$MY_TOKEN\r")
	x.answers("like 1001, 1002 [$TELEGRAM_ALLOWED_USERS]", "\r")
	x.answers("Connect discord?", "\r")
	x.answers("Connect slack?", "\r")
	if code := x.ends(); code != 0 || strings.Contains(x.shows(), "hush") || strings.Contains(x.shows(), "is not set here") {
		t.Fatalf("exit code %d\n%s", code, x.shows())
	}
	text, err := os.ReadFile(filepath.Join(home, "new/place/homing.yaml"))
	if err != nil || strings.Contains(string(text), "hush") || !strings.Contains(string(text), "\n  #api_key: ") || !strings.Contains(string(text), `token: "${MY_TOKEN}"`) {
		t.Errorf("%v\n%s", err, text)
	}
	x = atTerminal(t, home, nil, "init", "--force", "--config", "new/place/homing.yaml")
	x.answers("Base URL", "\r")
	x.answers("Name of the model", "other\r")
	x.answers("API key", "${ELSEWHERE}\r")
	x.answers("Connect telegram?", "n\r")
	x.answers("Connect discord?", "n\r")
	x.answers("Connect slack?", "n\r")
	if code := x.ends(); code != 0 || !strings.Contains(x.shows(), "$ELSEWHERE is not set here") {
		t.Fatalf("exit code %d\n%s", code, x.shows())
	}
	if text, err := os.ReadFile(filepath.Join(home, "new/place/homing.yaml")); err != nil || strings.Contains(string(text), "MY_TOKEN") || !strings.Contains(string(text), `"${ELSEWHERE}"`) {
		t.Errorf("%v\n%s", err, text)
	}
}

// Who goes away in the middle leaves nothing, and the terminal as it was.
func TestInitIsLeft(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string]string{"Ctrl-C": "half a \x03", "Ctrl-D": "\x04"} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			x := atTerminal(t, home, nil, "init")
			x.answers("Base URL", "\r")
			x.answers("Name of the model", "m\r")
			x.answers("API key", keys)
			code := x.ends()
			if code != 1 || !strings.Contains(x.shows(), "nothing was written") {
				t.Errorf("exit code %d\n%s", code, x.shows())
			}
			if after := x.mode(); after != x.before {
				t.Errorf("the terminal is left as %+v, it was %+v", after, x.before)
			}
			left, err := os.ReadDir(home)
			if err != nil || len(left) != 0 {
				t.Errorf("left: %v %v", left, err)
			}
		})
	}
}
