package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	fake "github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

// selftested waits for the report of a self-test and returns it.
func (p *place) selftested() string {
	p.Helper()
	const head = "Self-test: "
	var report string
	p.until("the report of the self-test", func() bool {
		seen := p.seen()
		i := max(strings.Index(seen, head+"all "), strings.Index(seen, head+"not finished"), strings.Index(seen, "do NOT hold"))
		if i >= 0 {
			report = seen[i:]
		}
		return i >= 0
	})
	return report
}

// nothingIsLeft holds that of a self-test nothing runs and nothing waits, and that no model has heard of it.
func (p *place) nothingIsLeft() {
	p.Helper()
	p.until("nothing of it runs or waits", func() bool {
		for _, x := range read[[]process](p.world, "processes", "ls") {
			if x.State == "running" {
				return false
			}
		}
		return len(p.queue()) == 0
	})
	for _, d := range read[[]delegation](p.world, "delegations", "ls") {
		if d.State == "running" {
			p.Errorf("%s runs", d.ID)
		}
	}
	for _, a := range p.model.Asks() {
		if text := transcript(a); strings.Contains(text, "elf-test") || strings.Contains(text, "[homing:") || strings.Contains(text, "selftest") {
			p.Errorf("the model heard of it: %q", text)
		}
	}
}

// shell lets every command run in a shell that does first what the lines say; "$2" is the command.
func (w *world) shell(lines string) {
	w.Helper()
	path := filepath.Join(w.dir, "shell")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+lines+"\nexec /bin/sh \"$@\"\n"), 0o700); err != nil {
		w.Fatal(err)
	}
	w.config["terminal.shell"] = path
	w.configure()
}

// handedOver keeps the commands that so many self-tests hand over running until the function that it returns is called: at
// the pace of a busy machine they might end by themselves before.
func (w *world) handedOver(tests int) (ends func()) {
	w.Helper()
	home := filepath.Join(w.dir, "home")
	w.shell("case \"$2\" in *'had gone'*) while [ ! -e " + home + " ]; do sleep 0.02; done; echo I ended after the subagent had gone; exit 0;; esac")
	return func() {
		w.Helper()
		w.until("the subagents have gone", func() bool {
			var all []delegation
			r := w.run("delegations", "ls", "--json") // it may die meanwhile
			return json.Unmarshal([]byte(r.out), &all) == nil && len(all) == tests && !slices.ContainsFunc(all, func(d delegation) bool { return d.State == "running" })
		})
		if err := os.WriteFile(home, nil, 0o600); err != nil {
			w.Fatal(err)
		}
	}
}

// /selftest plays the takeover checks [C-01] in the very chat, also while a turn runs: three receipts and a report are seen
// there, no model hears of it, and the place is as it was.
func TestSelftest(t *testing.T) {
	w := newWorld(t, settings{"delegation.max_iterations": 1, "display.background_process_notifications": "off"})
	ends, free := w.handedOver(4), make(chan struct{})
	w.model.When(fake.Says("slow"), fake.Held(free, fake.Say("at last")))
	w.start()
	places := []*place{w.direct(), w.inGroup(), w.inTopic(), w.console()}
	befores := map[*place]session{}
	for _, p := range places {
		w.answers(p.word("hello"), p.word("greeting"))
		p.ask(p.word("hello"), p.word("greeting"))
		befores[p] = p.current()
		if p.screen == nil {
			p.say("slow " + p.name)
			w.isAsked("a slow turn", fake.Says("slow "+p.name))
		}
	}
	var told sync.WaitGroup
	for _, p := range places {
		if p.screen != nil { // a terminal waits for the report
			told.Go(func() { p.say("/selftest") })
			continue
		}
		p.say("/selftest")
		p.sees("The self-test begins")
	}
	ends()
	told.Wait()
	for _, p := range places {
		report := p.selftested()
		if !strings.HasPrefix(report, "Self-test: all 9 checks held, in ") || strings.Count(report, "✓") < 9 || strings.Contains(report, "✗") {
			t.Errorf("%s: %s", p.name, report)
		}
		w.contains(p.name, p.seen(), "I ended while the subagent worked", "started by subagent sub_", "I ended after the subagent had gone", "handed off by subagent sub_", "the subagent's result came home: completed")
	}
	asked := len(w.model.Asks())
	close(free)
	for _, p := range places {
		if p.screen == nil {
			p.sees("at last")
		}
		p.unmoved(befores[p])
		p.nothingIsLeft()
		if s := read[session](w, "sessions", "show", befores[p].ID); strings.Contains(strings.ToLower(strings.Join(contents(s), "\n")), "self") {
			t.Errorf("it is in the transcript of %s: %q", p.name, contents(s))
		}
	}
	if asked != 7 { // a greeting in each place, and three slow turns
		t.Errorf("the model was asked %d times, want 7", asked)
	}
}

func contents(s session) (all []string) {
	for _, e := range s.Entries {
		all = append(all, e.Content)
	}
	return all
}

// A person who begins anew or stops cuts it short: it is said to be unfinished, and nothing of it is left.
func TestSelftestCutShort(t *testing.T) {
	for command, want := range map[string]string{"/new": "its person began a new one with /new", "/stop": "stopped by a person"} {
		t.Run(command, func(t *testing.T) {
			w := newWorld(t, nil)
			p := w.direct()
			w.shell("exec sleep 60") // no command ends by itself, so that the subagent goes on looking
			w.start()
			p.command("/selftest")
			w.until("a command of it is handed over", func() bool { return strings.HasPrefix(w.process("had gone").Owner, "ses_") })
			w.contains("a second one", p.command("/selftest"), "runs here already")
			p.say(command)
			report := p.selftested()
			w.contains("the report", report, "not finished", want)
			p.nothingIsLeft()
		})
	}
}

// Only admins may.
func TestSelftestIsForAdmins(t *testing.T) {
	w := newWorld(t, settings{"platforms.telegram.admins": []string{"1001"}})
	w.start()
	guests := w.in("guest", guest, 0, guest)
	w.contains("a guest's /selftest", guests.command("/selftest"), "is for admins")
	if n := len(read[[]delegation](w, "delegations", "ls")); n != 0 {
		t.Errorf("%d delegations", n)
	}
	w.contains("an admin's", w.direct().command("/selftest"), "The self-test begins")
	w.contains("the report", w.direct().selftested(), "all 9 checks held")
}

// The daemon dies in the middle, wherever: after the next start the test comes to its end, and is reported once.
func TestSelftestAcrossACrash(t *testing.T) {
	for _, fault := range []string{"receive.after:2", "started.after:1", "answered.after:3", "ended.before:1", "ended.after:1", "ended.after:3", "claim.after:3", "examined.before:1", "examined.after:1"} {
		t.Run(fault, func(t *testing.T) {
			w := newWorld(t, nil)
			p, ends := w.direct(), w.handedOver(1)
			w.answers("hello", "greeting")
			w.startToDieAt(fault)
			p.ask("hello", "greeting")
			before := p.current()
			p.say("/selftest")
			ends()
			report := p.selftested()
			if w.daemon.deaths != 1 {
				t.Errorf("the daemon died %d times", w.daemon.deaths)
			}
			if !strings.HasPrefix(report, "Self-test: all 9 checks held") {
				t.Error(report)
			}
			p.nothingIsLeft()
			if n := strings.Count(p.seen(), "checks held"); n != 1 {
				t.Errorf("it is reported %d times", n)
			}
			p.unmoved(before)
		})
	}
}
