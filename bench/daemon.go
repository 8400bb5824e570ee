package main

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// daemonFacts is what the product's own binary costs.
type daemonFacts struct {
	Size           int64         // bytes, stripped
	Ready          time.Duration // from the start to a ready gateway on an empty store, median
	RssAnon        int64         // KiB, of the idle daemon
	SupervisorAnon int64         // KiB, of one supervisor
}

// measureDaemon starts the real daemon on an empty folder, several times.
func measureDaemon(binary, dir string) (f daemonFacts, err error) {
	binary, err = filepath.Abs(binary)
	if err != nil {
		return f, err
	}
	st, err := os.Stat(binary)
	if err != nil {
		return f, fmt.Errorf("%w: make build makes it", err)
	}
	f.Size = st.Size()
	const starts = 10
	var ready []float64
	for i := range starts {
		took, one, err := startOnce(binary, dir, i == starts-1)
		if err != nil {
			return f, err
		}
		ready = append(ready, took.Seconds())
		if one.RssAnon > 0 {
			f.RssAnon, f.SupervisorAnon = one.RssAnon, one.SupervisorAnon
		}
	}
	f.Ready = time.Duration(median(ready) * float64(time.Second))
	return f, nil
}

// startOnce starts a daemon, waits until it is ready, looks at it if asked to, and stops it.
func startOnce(binary, dir string, look bool) (took time.Duration, f daemonFacts, err error) {
	home, err := os.MkdirTemp(dir, "data-daemon-")
	if err != nil {
		return 0, f, err
	}
	defer func() { _ = os.RemoveAll(home) }()
	data := filepath.Join(home, "data")
	c := exec.Command(binary, "run")
	c.Dir = home
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "HOMING_DATA_DIR=" + data, "HOMING_AGENT_PROVIDER=rehearsal", "HOMING_HTTP_LISTEN=127.0.0.1:0", "HOMING_TERMINAL_ON_SHUTDOWN=keep"}
	began := time.Now()
	if err := c.Start(); err != nil {
		return 0, f, err
	}
	defer func() {
		_ = c.Process.Signal(unix.SIGTERM)
		err = firstOf(err, c.Wait())
	}()
	for deadline := began.Add(10 * time.Second); ; {
		if addr, e := os.ReadFile(filepath.Join(data, "http.addr")); e == nil {
			if resp, e := http.Get("http://" + strings.TrimSpace(string(addr)) + "/readyz"); e == nil {
				_ = resp.Body.Close()
				if resp.StatusCode == http.StatusOK {
					break
				}
			}
		}
		if time.Now().After(deadline) {
			return 0, f, errors.New("the daemon did not become ready in 10 s")
		}
		time.Sleep(200 * time.Microsecond)
	}
	took = time.Since(began)
	if !look {
		return took, f, nil
	}
	time.Sleep(2 * time.Second) // it has come to rest
	if f.RssAnon, err = rssAnon(c.Process.Pid); err != nil {
		return took, f, err
	}
	chat := exec.Command(binary, "chat", `Run "sleep 3"`)
	chat.Env = c.Env
	if out, err := chat.CombinedOutput(); err != nil {
		return took, f, fmt.Errorf("homing chat: %w: %s", err, out)
	}
	children, err := childrenOf(c.Process.Pid)
	if err != nil || len(children) == 0 {
		return took, f, errors.Join(err, errors.New("no supervisor was found below the daemon"))
	}
	f.SupervisorAnon, err = rssAnon(children[0])
	return took, f, err
}

// rssAnon reads the anonymous memory of a process, in KiB: what it holds for itself, without mapped files.
func rssAnon(pid int) (int64, error) {
	b, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0, err
	}
	defer func() { _ = b.Close() }()
	for s := bufio.NewScanner(b); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), "RssAnon:"); ok {
			return strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
		}
	}
	return 0, fmt.Errorf("process %d says nothing of its memory", pid)
}

func childrenOf(pid int) (out []int, err error) {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, t := range tasks {
		b, err := os.ReadFile(t)
		if err != nil {
			return nil, err
		}
		for f := range strings.FieldsSeq(string(b)) {
			n, err := strconv.Atoi(f)
			if err != nil {
				return nil, err
			}
			out = append(out, n)
		}
	}
	return out, err
}
