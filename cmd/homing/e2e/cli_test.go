package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
	fake "github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

// line is a command line that is right, and what becomes of it where no daemon runs and nothing is stored yet.
type line struct {
	args    string // after the command
	stopped int    // exit code
	says    string // a part of what is printed
	json    bool   // --json prints JSON then
	texts   bool   // takes any number of words
	needs   bool   // a configuration that is in order
}

const served = -1 // it would serve, or play for long: not run here

func commandLines() map[string]line {
	return map[string]line{
		"run":              {stopped: served, needs: true},
		"demo":             {stopped: served},
		"init":             {args: "--yes", says: "is written"},
		"config check":     {says: "is in order", needs: true},
		"config show":      {says: "agent.model", json: true, needs: true},
		"config schema":    {says: "$schema"},
		"doctor":           {says: "data_dir", json: true, needs: true},
		"status":           {says: "gateway stopped", json: true, needs: true},
		"chat":             {args: "hello", stopped: 68, texts: true, needs: true},
		"sessions ls":      {says: "none", json: true, needs: true},
		"sessions show":    {args: "ses_01AAAAAA", stopped: 1, says: "there is no store yet", needs: true},
		"sessions export":  {args: "ses_01AAAAAA", stopped: 1, says: "there is no store yet", needs: true},
		"sessions end":     {args: "ses_01AAAAAA", stopped: 68, needs: true},
		"queue ls":         {args: "--all", says: "none", json: true, needs: true},
		"queue show":       {args: "cmp_01AAAAAA", stopped: 1, says: "there is no store yet", needs: true},
		"queue retry":      {args: "out_01AAAAAA", stopped: 68, needs: true},
		"queue drop":       {args: "out_01AAAAAA", stopped: 68, needs: true},
		"processes ls":     {says: "none", json: true, needs: true},
		"processes log":    {args: "proc_01AAAAAA", stopped: 1, says: "there is no store yet", needs: true},
		"processes kill":   {args: "proc_01AAAAAA", stopped: 68, needs: true},
		"delegations ls":   {says: "none", json: true, needs: true},
		"delegations show": {args: "del_01AAAAAA", stopped: 1, says: "there is no store yet", needs: true},
		"delegations stop": {args: "del_01AAAAAA", stopped: 68, needs: true},
		"trace":            {args: "cmp_01AAAAAA", stopped: 1, says: "there is no store yet", needs: true},
		"send":             {args: "--to telegram:1 hello", stopped: 68, texts: true, needs: true},
		"backup":           {args: "copy.db", stopped: 1, says: "there is no store yet", needs: true},
		"restore":          {args: "copy.db", stopped: 1, says: "nothing was changed", needs: true},
		"version":          {says: "homing ", json: true},
	}
}

// Every command explains itself with an example, tells a wrong line (2), a wrong configuration (78) and a missing daemon
// (68) apart, and does what it can without one.
func TestEveryCommand(t *testing.T) {
	w := newWorld(t, nil)
	rows := commandLines()
	var found []string
	var look func(path []string)
	look = func(path []string) {
		out := w.do(append(slices.Clone(path), "--help")...)
		if !strings.Contains(out, "\nExamples:\n  homing ") {
			t.Errorf("homing %s --help has no example:\n%s", strings.Join(path, " "), out)
		}
		_, subs, group := strings.Cut(out, "\nAvailable Commands:\n")
		subs, _, _ = strings.Cut(subs, "\n\n")
		for line := range strings.Lines(subs) {
			if name := strings.Fields(line)[0]; name != "help" {
				look(append(slices.Clone(path), name))
			}
		}
		if !group {
			found = append(found, strings.Join(path, " "))
		} else if len(path) > 0 {
			if strings.HasPrefix(strings.TrimSpace(subs), "ls ") || strings.Contains(subs, "\n  ls ") {
				w.do(path...) // to list is what is meant
			} else {
				w.fails(2, "say which: ", path...)
			}
			w.fails(2, "", append(slices.Clone(path), "nonsense")...)
		}
	}
	look(nil)
	slices.Sort(found)
	if want := slices.Sorted(maps.Keys(rows)); !slices.Equal(found, want) {
		t.Fatalf("commands\n%v, known here are\n%v", found, want)
	}
	broken := filepath.Join(w.dir, "broken.yaml")
	if err := os.WriteFile(broken, []byte("nonsense: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range found {
		t.Run(name, func(t *testing.T) {
			w, l := w.on(t), rows[name]
			words := strings.Fields(name)
			right := append(slices.Clone(words), strings.Fields(l.args)...)
			w.fails(2, "unknown flag: --nonsense", append(slices.Clone(words), "--nonsense")...)
			w.fails(2, "homing --help lists the commands", append(slices.Clone(words), "--nonsense")...)
			if !l.texts {
				w.fails(2, "", append(slices.Clone(right), "surplus")...)
			}
			if name == "trace" {
				w.fails(2, "say which id", words...)
			} else if strings.Contains(l.args, "_01") || strings.HasSuffix(l.args, ".db") || name == "send" {
				w.fails(2, "arg", words...)
			}
			if l.needs {
				c := w.program(right...)
				c.Args[2] = broken
				out, _ := c.CombinedOutput()
				if code := c.ProcessState.ExitCode(); code != 78 || !strings.Contains(string(out), "broken.yaml:1: nonsense: unknown key") {
					t.Errorf("a wrong configuration: exit code %d\n%s", code, out)
				}
			}
			if l.stopped == served {
				return
			}
			if name == "init" {
				c := w.program(right...)
				c.Args[2] = filepath.Join(w.dir, "new.yaml")
				if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), l.says) {
					t.Errorf("%v\n%s", err, out)
				}
				return
			}
			r := w.run(right...)
			if l.stopped == 68 {
				l.says = "no daemon is running here: start one with homing run"
			}
			if r.code != l.stopped || !strings.Contains(r.out+r.err, l.says) {
				t.Errorf("homing %s: exit code %d, want %d and %q\n%s%s", strings.Join(right, " "), r.code, l.stopped, l.says, r.out, r.err)
			}
			if l.json {
				if r := w.run(append(slices.Clone(right), "--json")...); r.code != 0 || !json.Valid([]byte(r.out)) {
					t.Errorf("with --json: exit code %d\n%s%s", r.code, r.out, r.err)
				}
			}
		})
	}
}

// What is printed for programs: a list is one array, a show one object, the same one, and each has what every object has.
// What is printed for people is no JSON.
func TestObjects(t *testing.T) {
	w := newWorld(t, settings{"delivery.min_backoff": "1h", "delivery.max_backoff": "1h"})
	p, at, home := w.direct(), w.gate("gate"), make(chan struct{})
	defer close(home)
	w.model.Script(fake.Says("begin"), background("echo over"), background(at.wait()), delegate("the goal\nin two lines"), fake.Say("begun"))
	w.model.When(fake.Brief("the goal"), fake.Held(home, fake.Say("the summary")))
	w.model.When(fake.Notice("process"), fake.Say("it is over"))
	w.start()
	p.ask("begin", "begun")
	p.sees("it is over")
	at.reached()
	w.tg.Block(guest, true)
	w.do("send", "--to", fmt.Sprintf("telegram:%d", guest), "nobody gets this")
	w.dead("outgoing", "refused")
	w.tg.Add(faketelegram.Fault{Method: "sendMessage", Contains: "later", Status: 429, RetryAfter: 3600, Description: "Too Many Requests: retry after 3600"})
	w.do("send", "--to", fmt.Sprintf("telegram:%d:7", forum), "later")
	w.until("it waits for its time", func() bool {
		return slices.ContainsFunc(w.queue(), func(q queued) bool { return q.Text == "later" && q.State == "queued" && q.Detail != "" })
	})
	w.until("the rest is sent", func() bool { return len(w.queue()) == 2 })

	type object = map[string]any
	has := func(o object, keys ...string) {
		t.Helper()
		for _, k := range keys {
			if v, ok := o[k]; !ok || v == "" {
				t.Errorf("%v (%v) has no %s", o["id"], o["kind"], k)
			}
		}
	}
	parse := func(out string) (v any) {
		t.Helper()
		if err := json.Unmarshal([]byte(out), &v); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return v
	}
	list := func(args ...string) (objects []object) {
		t.Helper()
		array, ok := parse(w.do(append(args, "--json")...)).([]any)
		if !ok || len(array) == 0 {
			t.Fatalf("homing %v --json is no array with something in it", args)
		}
		for _, e := range array {
			o := e.(object)
			objects = append(objects, o)
			has(o, "id", "state", "profile", "created_at", "updated_at")
			for k, v := range o {
				if s, ok := v.(string); ok && strings.HasSuffix(k, "_at") {
					if _, err := time.Parse(time.RFC3339, s); err != nil {
						t.Errorf("%v: %s: %v", o["id"], k, err)
					}
				}
			}
		}
		return objects
	}
	show := func(o object, args ...string) {
		t.Helper()
		id := o["id"].(string)
		short := id[:len(id)-2] // still unique
		shown, ok := parse(w.do(append(args, short, "--json")...)).(object)
		if !ok {
			t.Fatalf("homing %v --json is no object", args)
		}
		delete(shown, "entries")
		if a, b := fmt.Sprint(o), fmt.Sprint(shown); a != b {
			t.Errorf("listed %s\nshown  %s", a, b)
		}
		if out := w.do(append(args, strings.ToLower(id[strings.IndexByte(id, '_')-3:]))...); json.Valid([]byte(out)) || !strings.HasPrefix(out, id) {
			t.Errorf("homing %v for people:\n%s", args, out)
		}
	}

	for _, s := range list("sessions", "ls") {
		has(s, "kind", "session")
		if s["kind"] == "subagent" {
			has(s, "delegate_from", "delegation", "owner")
		} else {
			has(s, "route", "route_version", "title")
		}
		show(s, "sessions", "show")
	}
	seen := map[string]bool{}
	for _, q := range list("queue", "ls", "--all") {
		has(q, "queue", "kind", "route")
		what := fmt.Sprintf("%v %v", q["queue"], q["state"])
		seen[what] = true
		switch what {
		case "completion done":
			has(q, "session", "owner", "path", "reason", "subject", "status")
		case "outgoing dead":
			has(q, "reason", "attempts", "class", "platform")
		case "outgoing queued":
			has(q, "next_at", "platform")
		case "outgoing sent":
			has(q, "attempts", "platform")
			has(q["parts"].([]any)[0].(object), "state", "message_id")
		}
		show(q, "queue", "show")
	}
	for _, want := range []string{"completion done", "outgoing dead", "outgoing queued", "outgoing sent"} {
		if !seen[want] {
			t.Errorf("there is no %s in the queue: %v", want, seen)
		}
	}
	for _, x := range list("processes", "ls") {
		has(x, "kind", "session", "command", "owner", "started_by", "pid")
		if _, ok := x["exit_code"]; !ok || (x["exit_code"] == nil) != (x["state"] == "running") {
			t.Errorf("%v %v: exit_code is %v", x["id"], x["state"], x["exit_code"])
		}
	}
	for _, d := range list("delegations", "ls") {
		has(d, "kind", "session", "subagents")
		has(d["subagents"].([]any)[0].(object), "subagent_id", "goal", "state")
		show(d, "delegations", "show")
	}
	s := parse(w.do("status", "--json")).(object)
	has(s, "id", "state", "profile", "created_at", "updated_at", "platforms", "http", "counts")
	has(s["platforms"].([]any)[0].(object), "profile", "platform", "account", "state", "since", "last_inbound")
	for _, f := range parse(w.do("doctor", "--json")).([]any) {
		has(f.(object), "check", "state", "text")
	}
	for _, e := range parse(w.do("config", "show", "--json")).([]any) {
		if got := slices.Sorted(maps.Keys(e.(object))); !slices.Equal(got, []string{"path", "source", "value"}) {
			t.Fatalf("config show: %v", got)
		}
	}

	w.contains("queue show for people", w.do("queue", "show", w.dead("outgoing", "refused").ID), "message dead: refused", "place default:telegram", "1 failed attempt(s)", "refused as blocked", "part 1 dead", "\n  nobody gets this\n")
	w.contains("delegations show for people", w.do("delegations", "show", list("delegations", "ls")[0]["id"].(string)), "running", "in the background", "goal: the goal\n    in two lines\n")
}

// An abbreviated id is taken from six characters after the underscore on, if it is one; what is wrong with another is said.
func TestAbbreviatedIDs(t *testing.T) {
	w := newWorld(t, nil)
	p, other := w.direct(), w.inGroup()
	w.answers("hello", "the answer")
	w.answers("good day", "an answer")
	w.start()
	p.ask("hello", "the answer")
	other.ask("good day", "an answer")
	id, second := p.current().ID, other.current().ID
	common := 0
	for id[common] == second[common] {
		common++
	}
	for _, cut := range []int{common + 1, len(id) - 1, len(id)} {
		if got := read[session](w, "sessions", "show", id[:cut]); got.ID != id {
			t.Errorf("%s is %s, want %s", id[:cut], got.ID, id)
		}
	}
	if common < len("ses_")+6 {
		t.Skip("the two ids have too little in common")
	}
	for _, args := range [][]string{{"sessions", "show"}, {"sessions", "export"}, {"sessions", "end"}, {"trace"}} {
		w.fails(1, fmt.Sprintf("%s is not unique: it could be %s or %s; give more of it", id[:10], min(id, second), max(id, second)), append(args, id[:10])...)
		w.fails(1, "is too short: at least 6 characters after \"ses_\" are needed", append(args, id[:9])...)
		w.fails(1, "there is nothing with the id ses_ZZZZZZ", append(args, "ses_ZZZZZZ")...)
		w.fails(1, "is no id: ids begin with ses_", append(args, "chat_"+id[4:])...)
	}
	for _, args := range [][]string{{"queue", "show"}, {"queue", "drop"}, {"queue", "retry"}, {"delegations", "show"}, {"delegations", "stop"}, {"processes", "log"}, {"processes", "kill"}} {
		if r := w.run(append(args, id)...); r.code != 1 || !regexp.MustCompile(`^homing: .*`+id).MatchString(r.err) {
			t.Errorf("homing %s of a session: exit code %d\n%s%s", strings.Join(args, " "), r.code, r.out, r.err)
		}
	}
}
