package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	fake "github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

// [P-09]: a process outlives the daemon. The next one finds it running, or learns how it ended while nobody looked.
func TestProcessOutlivesTheDaemon(t *testing.T) {
	for name, meanwhile := range map[string]bool{"ends after the restart": false, "ends while no daemon runs": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			p, at := w.direct(), w.gate("gate")
			w.start()
			w.model.Script(fake.Says("run it"), background(at.then("echo figures; exit 7")), fake.Say("it runs"))
			w.model.When(fake.Notice("process", "exited 7]", "figures"), fake.Say("it ended with 7"))
			p.ask("run it", "it runs")
			at.reached()
			was := p.current()
			w.kill()
			if s := w.process("figures"); s.State != "running" || s.PID == 0 || syscall.Kill(s.PID, 0) != nil {
				t.Errorf("after the daemon's death it is %+v", s)
			}
			if meanwhile {
				at.open()
				w.until("its end is on record", func() bool {
					return strings.Contains(fmt.Sprint(w.processFiles()), "exit.json")
				})
				w.start()
			} else {
				w.start()
				if s := w.process("figures"); s.State != "running" || s.Owner != was.ID {
					t.Errorf("after the restart it is %+v", s)
				}
				at.open()
			}
			p.sees("it ended with 7")
			p.once("it ended with 7")
			if s := w.processIs("figures", "exited"); s.ExitCode == nil || *s.ExitCode != 7 {
				t.Errorf("it ended as %+v", s)
			}
			p.unmoved(was)
		})
	}
}

// an answer that was ready and never went out goes out after the start, plainly and once.
func TestReadyAnswerWaitsForTelegram(t *testing.T) {
	w := newWorld(t, settings{"delivery.min_backoff": "1m", "delivery.max_backoff": "1m"}) // one attempt, and the next when it is back
	p := w.direct()
	w.start()
	free := make(chan struct{})
	w.model.When(fake.Says("hello"), fake.Held(free, fake.Say("the answer")))
	p.say("hello")
	w.isAsked("the turn", fake.Says("hello"))
	w.tg.Down()
	close(free)
	w.until("the answer waits", func() bool {
		q := w.queue()
		return len(q) == 1 && q[0].State == "queued" && q[0].Detail != ""
	})
	w.kill()
	w.telegramIsBack()
	w.start()
	p.sees("the answer")
	p.once("the answer")
	if seen := p.seen(); seen != "the answer" {
		t.Errorf("seen: %q", seen)
	}
}

// A turn that the daemon dies in three times in a row is given up, its person is told, and the conversation goes on.
func TestPoisonTurn(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.model.When(fake.All(fake.Says("fine"), knows("poison")), fake.Say("all is well"))
	w.model.When(fake.Says("poison"), fake.Hang())
	w.start()
	p.say("poison")
	for i := range 3 {
		w.until("the turn runs", func() bool { return len(w.asked(fake.Says("poison"))) == i+1 })
		w.kill()
		w.start()
	}
	p.sees("I gave this up")
	p.once("I gave this up")
	w.never("it is run again", func() bool { return len(w.asked(fake.Says("poison"))) != 3 })
	p.ask("fine", "all is well")
}

// A restart in order counts as no crash, however often it happens in a turn.
func TestOrderlyRestartsAreNoCrashes(t *testing.T) {
	w := newWorld(t, settings{"drain": "50ms"})
	p := w.direct()
	free := make(chan struct{})
	w.model.When(fake.Says("slow"), fake.Held(free, fake.Say("at last")))
	w.start()
	p.say("slow")
	for i := range 3 {
		w.until("the turn runs", func() bool { return len(w.asked(fake.Says("slow"))) == i+1 })
		w.signal(syscall.SIGTERM)
		if code := w.exit(); code != 76 {
			t.Fatalf("exit code %d, want 76: the grace was over", code)
		}
		w.start()
	}
	close(free)
	p.sees("at last")
	p.once("at last")
	if seen := p.seen(); seen != "at last" {
		t.Errorf("seen: %q", seen)
	}
}

// SIGTERM drains: the running turn ends and its answer goes out; what comes meanwhile is answered after the restart.
func TestDrain(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	free := make(chan struct{})
	w.model.When(fake.Says("running"), fake.Held(free, fake.Say("the running answer")))
	w.answers("late", "the late answer")
	w.start()
	p.say("running")
	w.isAsked("the turn", fake.Says("running"))
	w.signal(syscall.SIGTERM)
	w.until("it drains", func() bool { return strings.Contains(w.log(), "gateway drains") && !w.tg.Polling() })
	p.say("late")
	close(free)
	if code := w.exit(); code != 0 {
		t.Fatalf("exit code %d, want 0", code)
	}
	p.once("the running answer")
	if w.tg.Waiting() != 1 || len(w.asked(fake.Says("late"))) != 0 {
		t.Error("what came late was taken")
	}
	for _, left := range []string{"homing.sock", "http.addr"} {
		if _, err := os.Stat(w.data() + "/" + left); err == nil {
			t.Errorf("%s is left", left)
		}
	}
	w.start()
	p.sees("the late answer")
	p.once("the late answer")
	p.once("the running answer")
}

// A drain does not wait for subagents and background processes: they go on from where they are.
func TestDrainLeavesBackgroundWork(t *testing.T) {
	w := newWorld(t, nil)
	p, at := w.direct(), w.gate("gate")
	home := make(chan struct{})
	w.model.Script(fake.Says("both"), background(at.then("echo figures")), delegate("the goal"), fake.Say("both run"))
	w.model.When(fake.Brief("the goal"), fake.Held(home, fake.Say("the summary")))
	w.model.When(fake.Notice("process", "figures"), fake.Say("the figures are there"))
	w.model.When(fake.Notice("delegation", "the summary"), fake.Say("the report"))
	w.start()
	p.ask("both", "both run")
	at.reached()
	w.stop()
	w.start()
	at.open()
	close(home)
	p.sees("the figures are there")
	p.sees("the report")
	p.once("the figures are there")
	p.once("the report")
}

// A second signal ends the daemon at once, with a code of its own, and nothing is lost by it.
func TestSecondSignal(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	free := make(chan struct{})
	w.model.When(fake.Says("slow"), fake.Held(free, fake.Say("at last")))
	w.start()
	p.say("slow")
	w.isAsked("the turn", fake.Says("slow"))
	w.signal(syscall.SIGTERM)
	w.until("it drains", func() bool { return strings.Contains(w.log(), "gateway drains") })
	w.signal(syscall.SIGINT)
	if code := w.exit(); code != 76 {
		t.Fatalf("exit code %d, want 76", code)
	}
	close(free)
	w.start()
	p.sees("at last")
	p.once("at last")
}

// a second daemon on the same data folder ends within seconds and names the file and its holder; the first one
// serves on.
func TestSecondDaemon(t *testing.T) {
	w := newWorld(t, nil)
	w.start()
	began := time.Now()
	w.fails(69, fmt.Sprintf("homing.lock (process %d)", w.daemon.command.Process.Pid), "run")
	if d := time.Since(began); d > 5*time.Second {
		t.Errorf("it took %s", d)
	}
	if !w.ready() {
		t.Error("the first one does not serve any more")
	}
	w.kill()
	w.start() // the lock ends with its holder
}

// a daemon that was killed while it started a program has left its lock to that program for a moment. The next one waits
// for it, and does not take it for another gateway: with that exit code nobody starts it again.
func TestLockOutlivesItsHolder(t *testing.T) {
	w := newWorld(t, nil)
	if err := os.MkdirAll(w.data(), 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := os.OpenFile(filepath.Join(w.data(), "homing.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	w.begin("")
	lives := exec.Command("sleep", "0.4") // it has the lock as its own, until it ends
	lives.ExtraFiles = []*os.File{lock}
	if err := lives.Start(); err != nil {
		t.Fatal(err)
	}
	_ = lock.Close()
	w.until("the gateway is ready", w.ready)
	_ = lives.Wait()
}

// A socket on which nobody answers is none: the store is read without a daemon.
func TestSocketOutlivesItsHolder(t *testing.T) {
	w := newWorld(t, nil)
	w.start()
	w.kill()
	path := filepath.Join(w.data(), "homing.sock")
	_ = os.Remove(path)
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { // ends with the listener
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	if r := w.run("queue", "ls", "--json"); r.code != 0 || strings.TrimSpace(r.out) != "[]" {
		t.Errorf("code %d: %s %s", r.code, r.out, r.err)
	}
}

// An HTTP address that is taken ends the start and says so.
func TestAddressIsTaken(t *testing.T) {
	w := newWorld(t, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	w.config["http.listen"] = l.Addr().String()
	w.configure()
	w.fails(1, "http.listen", "run")
}

// A damaged store ends the start with its own code and stays as it is.
func TestDamagedStore(t *testing.T) {
	w := newWorld(t, nil)
	w.start()
	w.stop()
	file := w.data() + "/homing.db"
	junk := []byte(strings.Repeat("junk", 1<<13))
	if err := os.WriteFile(file, junk, 0o600); err != nil {
		t.Fatal(err)
	}
	w.fails(74, "homing.db", "run")
	w.fails(74, "homing.db", "sessions", "ls")
	if now, err := os.ReadFile(file); err != nil || string(now) != string(junk) {
		t.Error("the file was changed")
	}
}
