package e2e

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// end ends what a test left: its daemon, the supervisors with their commands, the servers. Then it looks for secrets.
func (w *world) end() {
	if w.daemon.running() {
		_ = w.daemon.command.Process.Kill()
		<-w.daemon.over
	}
	if w.Failed() {
		w.tell()
	}
	w.endSupervisors()
	w.model.Close()
	w.tg.Close()
	if w.sl != nil {
		w.sl.Close()
	}
	w.noSecrets()
	w.legal()
	if racy && strings.Contains(w.log(), "DATA RACE") {
		w.Error("a data race:\n" + w.log()[strings.Index(w.log(), "WARNING: DATA RACE"):])
	}
}

// endSupervisors ends the commands that outlive the daemon, and their supervisors: those whose record lies in this
// world's data folder and whose process is at work on it.
func (w *world) endSupervisors() {
	records, _ := filepath.Glob(filepath.Join(w.data(), "processes", "*", "started"))
	for _, path := range records {
		var started struct{ Supervisor, Leader struct{ PID int } }
		text, err := os.ReadFile(path)
		if err != nil || json.Unmarshal(text, &started) != nil || started.Supervisor.PID <= 1 {
			continue
		}
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", started.Supervisor.PID))
		if err != nil || !strings.Contains(string(line), filepath.Dir(path)) {
			continue // it is over; the command died with it
		}
		if started.Leader.PID > 1 {
			_ = syscall.Kill(-started.Leader.PID, syscall.SIGKILL)
		}
		_ = syscall.Kill(started.Supervisor.PID, syscall.SIGKILL)
	}
}

// legal holds that a strict provider takes every request [C-20]: after the system prompt comes a person or a notice, then
// people and the agent take turns, and every call is answered right after it was made.
func (w *world) legal() {
	for _, a := range w.model.Asks() {
		last, open := "system", 0
		for i, m := range a.Messages {
			for range m.Calls {
				open++
			}
			ok := i == 0 || m.Role == "tool" && open > 0 || m.Role == "user" && last != "user" && open == 0 ||
				m.Role == "assistant" && last != "assistant" && last != "system" && open == len(m.Calls)
			if m.Role == "tool" {
				open--
			}
			if !ok || i == 0 && m.Role != "system" {
				w.Errorf("[C-20] message %d of a request is of %s after %s, with %d calls to be answered: %.80q", i, m.Role, last, open, m.Text)
			}
			last = m.Role
		}
		if last == "assistant" {
			w.Error("[C-20] a request ends with the agent's own words")
		}
	}
}

// noSecrets holds that neither a bot's token nor the model's key is in any log, output, chat or file but the
// configuration.
func (w *world) noSecrets() {
	_, bare, _ := strings.Cut(w.token, ":")
	secrets := []string{bare, w.key, discordSecret, "interaction-secret"}
	for _, key := range []string{"platforms.slack.bot_token", "platforms.slack.app_token"} {
		if token, ok := w.config[key].(string); ok {
			secrets = append(secrets, token)
		}
	}
	look := func(where, text string) {
		for _, secret := range secrets {
			if i := strings.Index(text, secret); i >= 0 {
				w.Errorf("[X-13] a secret is in %s: …%s…", where, text[max(0, i-100):min(len(text), i+len(secret)+20)])
			}
		}
	}
	w.heard.mu.Lock()
	look("what commands printed", w.heard.text.String())
	w.heard.mu.Unlock()
	look("the log", w.log())
	for _, m := range w.everywhere() {
		look("a chat", m.Text)
	}
	_ = filepath.WalkDir(w.data(), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if text, err := os.ReadFile(path); err == nil {
				look(path, string(text))
			}
		}
		return nil
	})
}

func (w *world) log() string {
	b, _ := os.ReadFile(w.logFile())
	return string(b)
}

// tail is the end of the log.
func (w *world) tail() string {
	lines := strings.Split(strings.TrimSpace(w.log()), "\n")
	return strings.Join(lines[max(0, len(lines)-25):], "\n")
}

// tell shows what happened in a test that failed.
func (w *world) tell() {
	var b strings.Builder
	asks := w.model.Asks()
	for _, a := range asks[max(0, len(asks)-12):] {
		last := a.Messages[len(a.Messages)-1]
		fmt.Fprintf(&b, "model asked: %d messages, the last of %s: %.160q\n", len(a.Messages), last.Role, last.Text)
	}
	for _, m := range w.everywhere() {
		fmt.Fprintf(&b, "visible in %d/%d: %.160q\n", m.Chat, m.Thread, m.Text)
	}
	for _, p := range w.processFiles() {
		text, _ := os.ReadFile(p)
		fmt.Fprintf(&b, "%s/%s: %.300s\n", filepath.Base(filepath.Dir(p)), filepath.Base(p), text)
	}
	w.Logf("\n%s%s", b.String(), w.tail())
}

// processFiles are the records of processes.
func (w *world) processFiles() []string {
	var out []string
	for _, name := range []string{"started", "kill", "exit.json", "supervisor.log"} {
		found, _ := filepath.Glob(filepath.Join(w.data(), "processes", "*", name))
		out = append(out, found...)
	}
	return out
}
