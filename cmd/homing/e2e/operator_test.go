package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
	fake "github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

// The operator lists, shows, and ends what runs, by the beginnings of ids; a beginning that is too short, not unique or
// unknown is told apart.
func TestProcessesAndDelegations(t *testing.T) {
	w := newWorld(t, nil)
	p, one, two := w.direct(), w.gate("one"), w.gate("two")
	home := make(chan struct{})
	defer close(home)
	w.model.Script(fake.Says("begin"), background("echo hello from one; "+one.wait()), background(two.wait()), delegate("the goal"), fake.Say("begun"))
	w.model.When(fake.Brief("the goal"), fake.Held(home, fake.Say("the summary")))
	w.model.When(fake.Notice("process", "killed"), fake.Say("it was killed"))
	w.model.When(fake.Says("what is up?"), fake.Say("nothing"))
	w.start()
	p.ask("begin", "begun")
	one.reached()
	a, b := w.process("hello from one"), w.process("two")
	for _, x := range []process{a, b} {
		if x.State != "running" || x.PID == 0 || x.ExitCode != nil || x.Owner != p.current().ID || x.StartedBy != x.Owner || x.Profile != "default" || x.Created == "" {
			t.Errorf("listed: %+v", x)
		}
	}
	w.contains("processes ls", w.do("processes", "ls"), a.ID, b.ID, "running", "COMMAND")
	short := strings.ToLower(a.ID[len("proc_"):])
	if out := w.do("processes", "log", "proc_"+short); out != "hello from one\n" {
		t.Errorf("log: %q", out)
	}
	w.fails(1, "too short", "processes", "kill", "proc_01M")
	w.fails(1, "not unique", "processes", "kill", a.ID[:11])
	w.fails(1, "there is nothing", "processes", "kill", "proc_ZZZZZZZZ")
	w.fails(1, "is no id", "processes", "kill", "hello")
	w.contains("processes kill", w.do("processes", "kill", a.ID), a.ID)
	p.sees("it was killed")
	if x := w.processIs("hello from one", "killed"); x.Reason != "by a person" {
		t.Errorf("killed: %+v", x)
	}
	w.fails(1, "ended already", "processes", "kill", a.ID)

	d := read[[]delegation](w, "delegations", "ls")[0]
	w.contains("delegations ls", w.do("delegations", "ls"), d.ID, "running", "the goal")
	if shown := read[delegation](w, "delegations", "show", d.ID); shown.State != "running" || len(shown.Subagents) != 1 || shown.Subagents[0].Goal != "the goal" {
		t.Errorf("shown: %+v", shown)
	}
	w.contains("delegations stop", w.do("delegations", "stop", d.ID), "is stopped")
	w.fails(1, "", "delegations", "stop", d.ID)
	w.never("what a person stopped opens a turn", func() bool { return len(w.asked(fake.Notice("delegation"))) > 0 })
	p.ask("what is up?", "nothing")
	if a := w.asked(fake.Says("what is up?"))[0]; !fake.Notice("delegation", "interrupted")(a) {
		t.Errorf("the next turn began with %q", a.Said())
	}
}

// Dead letters are listed, shown, tried again here or elsewhere, and given up.
func TestQueue(t *testing.T) {
	w := newWorld(t, nil)
	w.start()
	w.tg.Block(owner, true)
	to := fmt.Sprintf("telegram:%d", owner)
	w.do("send", "--to", to, "first letter")
	first := w.dead("outgoing", "refused")
	w.contains("queue ls", w.do("queue", "ls"), first.ID, "dead: refused", "first letter")
	shown := read[queued](w, "queue", "show", first.ID[:14])
	if shown.ID != first.ID || shown.Route != w.direct().route() || shown.Class != "blocked" || len(shown.Parts) != 1 || shown.Parts[0].State != "dead" || shown.Attempts != 1 {
		t.Errorf("shown: %+v", shown)
	}
	w.contains("retry", w.do("queue", "retry", first.ID), first.ID)
	w.until("it was tried again", func() bool { return len(w.tg.Calls("sendMessage")) == 2 })
	w.dead("outgoing", "refused")
	w.do("queue", "retry", first.ID, "--to", fmt.Sprintf("telegram:%d:9", forum))
	w.in("nine", forum, 9, owner).sees("first letter")
	w.fails(1, "", "queue", "drop", first.ID)

	w.do("send", "--to", to, "second letter")
	second := w.dead("outgoing", "refused")
	w.contains("drop", w.do("queue", "drop", second.ID), "is dropped")
	if q := w.queue(); len(q) != 0 {
		t.Errorf("left: %+v", q)
	}
	all := w.queue("--all")
	if len(all) != 2 || all[0].State != "sent" || all[0].Parts[0].MessageID == "" {
		t.Errorf("with what is finished: %+v", all)
	}
	w.fails(1, "there is nothing", "queue", "show", "out_ZZZZZZZZ")
	w.hidden("second letter")
}

// What waits for a platform that was switched off says so, and a person may give it up.
func TestQueueOfAPlatformThatIsOff(t *testing.T) {
	w := newWorld(t, settings{"delivery.min_backoff": "1h", "delivery.max_backoff": "1h"})
	w.start()
	w.tg.Down()
	to := fmt.Sprintf("telegram:%d", owner)
	w.do("send", "--to", to, "first letter")
	w.do("send", "--to", to, "second letter")
	w.until("the first waits for the platform", func() bool {
		q := w.queue()
		return len(q) == 2 && q[0].State == "queued" && q[0].Attempts == 0 && q[0].Next != ""
	})
	w.stop()
	delete(w.config, "platforms.telegram.token")
	w.configure()
	if q := w.queue(); q[0].Reason != "" || q[0].Next == "" { // nobody knows what the next start serves
		t.Errorf("while the gateway is stopped: %+v", q[0])
	}
	w.start()
	q := w.queue()
	if len(q) != 2 || q[0].Reason != "not_served" || q[0].Next != "" || q[1].Reason != "not_served" {
		t.Fatalf("listed: %+v", q)
	}
	w.contains("queue ls", w.do("queue", "ls"), "queued: its platform is not served")
	shown := w.do("queue", "show", q[0].ID)
	w.contains("queue show", shown, "queued: its platform is not served")
	if strings.Contains(shown, "the next at") {
		t.Errorf("a next attempt is promised:\n%s", shown)
	}
	for _, m := range q {
		w.contains("queue drop", w.do("queue", "drop", m.ID), "is dropped")
	}
	if left := w.queue(); len(left) != 0 {
		t.Errorf("left: %+v", left)
	}
	if all := w.queue("--all"); len(all) != 2 || all[0].State != "dead" || all[0].Reason != "dropped" || all[1].Reason != "dropped" {
		t.Errorf("with what is finished: %+v", all)
	}
}

// send goes to a place as people type it, a route as it is printed, and the home chat.
func TestSend(t *testing.T) {
	w := newWorld(t, settings{"platforms.telegram.home_chat": fmt.Sprintf("%d:9", forum)})
	w.start()
	p := w.inGroup()
	w.answers("hello", "the answer")
	p.ask("hello", "the answer")
	for to, there := range map[string]*place{
		"telegram":                        w.in("nine", forum, 9, owner),
		fmt.Sprintf("telegram:%d", guest): w.in("guest", guest, 0, guest),
		p.route():                         p,
		fmt.Sprintf("default/telegram:%d", owner): w.direct(),
	} {
		text := there.word("sent")
		w.contains("send", w.do("send", "--to", to, text, "with **more**"), "out_")
		there.sees(text + " with more")
		there.once(text)
	}
	w.fails(1, "discord", "send", "--to", "discord:1", "text")
	w.fails(2, "to", "send", "text")
	w.do("send", "--to", "console", "for the terminal")
	if out := w.do("chat", "/help"); !strings.HasPrefix(out, "for the terminal\n") {
		t.Errorf("the terminal shows %q", out)
	}
}

// trace tells of any id what caused it and why it went where it went: the pin, the walk, the proof, the platform's message.
func TestTrace(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.model.Script(fake.Says("delegate it"), delegate("the goal"), fake.Say("it is delegated"))
	w.model.Script(fake.Brief("the goal"), background("echo figures"), fake.Dynamic(func(a fake.Ask) fake.Answer {
		return fake.Call("process_manage", args{"action": "wait", "process_id": a.Field("process_id")})
	}), fake.Say("the summary"))
	w.model.When(fake.Notice("delegation", "the summary"), fake.Say("the report"))
	w.start()
	p.say("delegate it")
	p.sees("the report")
	w.until("all is sent", func() bool { return len(w.queue()) == 0 })
	s, d := p.current(), read[[]delegation](w, "delegations", "ls")[0]
	var completion, report queued
	for _, q := range w.queue("--all") {
		if q.Queue == "completion" {
			completion = q
		} else if strings.Contains(q.Text, "the report") {
			report = q
		}
	}
	proc := w.process("figures")
	for _, id := range []string{proc.ID, d.Subagents[0].SubagentID} {
		w.contains("trace "+id, w.do("trace", id), d.ID, "the goal", s.ID, "answers the message(s)", p.route())
	}
	for _, id := range []string{completion.ID, "cmp_" + strings.ToLower(completion.ID[4:]), d.ID} {
		w.contains("trace "+id, w.do("trace", id), d.ID, completion.ID, "the goal", "pin "+s.ID, "walk "+s.ID+": the owner is "+s.ID, p.route(), "version", report.ID, "platform message",
			"The person wrote: “delegate it”", "was sent to telegram chat "+fmt.Sprint(owner)+" as message "+report.Parts[0].MessageID)
	}
	w.contains("why", w.do("why", report.ID), completion.ID, "telegram "+fmt.Sprint(owner), "platform message "+report.Parts[0].MessageID)
	var trace struct {
		ID    string
		Steps []struct {
			ID, Kind, State string
			Why, Causes     []string
		}
	}
	if err := json.Unmarshal([]byte(w.do("trace", completion.ID, "--json")), &trace); err != nil || trace.ID != completion.ID || len(trace.Steps) < 5 {
		t.Errorf("%v: %+v", err, trace)
	}
	kinds := map[string]int{}
	for _, step := range trace.Steps {
		kinds[step.Kind]++
	}
	if kinds["delegation"] != 1 || kinds["completion"] != 1 || kinds["turn"] < 2 || kinds["message"] < 1 || kinds["chat"] != 1 {
		t.Errorf("kinds: %v", kinds)
	}
}

// Commands that only read do so without a daemon as well, and print the same; the others say that there is none.
func TestReadingWithoutADaemon(t *testing.T) {
	w := newWorld(t, nil)
	p, at := w.direct(), w.gate("gate")
	w.model.Script(fake.Says("begin"), background("echo hello; "+at.wait()), delegate("the goal"), fake.Say("begun"))
	w.model.When(fake.Brief("the goal"), fake.Say("the summary"))
	w.model.When(fake.Notice("delegation"), fake.Say("the report"))
	commands := [][]string{{"sessions", "ls"}, {"queue", "ls"}, {"queue", "ls", "--all"}, {"processes", "ls"}, {"delegations", "ls"}}
	for _, c := range commands { // before there is a store
		if out := w.do(append(c, "--json")...); strings.TrimSpace(out) != "[]" {
			t.Errorf("homing %s without a store: %q", strings.Join(c, " "), out)
		}
	}
	if s := read[status](w, "status"); s.State != "stopped" {
		t.Errorf("status: %+v", s)
	}
	w.start()
	p.say("begin")
	p.sees("the report")
	at.reached()
	w.until("all is sent", func() bool { return len(w.queue()) == 0 })
	s, x := p.current(), w.process("hello")
	commands = append(commands, []string{"sessions", "show", s.ID}, []string{"delegations", "show", read[[]delegation](w, "delegations", "ls")[0].ID}, []string{"trace", x.ID})
	var before []string
	for _, c := range commands {
		before = append(before, w.do(append(c, "--json")...))
	}
	w.kill()
	for i, c := range commands {
		if after := w.do(append(c, "--json")...); after != before[i] {
			t.Errorf("homing %s: %q with a daemon, %q without", strings.Join(c, " "), before[i], after)
		}
	}
	if out := w.do("processes", "log", x.ID); out != "hello\n" {
		t.Errorf("log: %q", out)
	}
	w.contains("status", w.do("status"), "gateway stopped", "1 process(es)")
	for _, c := range [][]string{
		{"chat", "hello"},
		{"send", "--to", "telegram:1001", "hello"},
		{"sessions", "end", s.ID},
		{"processes", "kill", x.ID},
		{"queue", "retry", "out_01AAAAAA"},
		{"queue", "drop", "out_01AAAAAA"},
		{"delegations", "stop", "del_01AAAAAA"},
	} {
		w.fails(68, "no daemon is running here: start one with homing run", c...)
	}
}

// While a daemon starts, what only reads is answered by it or by the store, and never refused.
func TestReadingWhileADaemonStarts(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.answers("hello", "the answer")
	w.start()
	p.ask("hello", "the answer")
	for range 3 {
		w.kill()
		w.begin("")
		for !w.ready() {
			w.contains("sessions ls", w.do("sessions", "ls"), "ses_")
			w.contains("status", w.do("status"), "1 live session(s)")
		}
	}
}

// status and the HTTP listener tell how the gateway stands.
func TestStatus(t *testing.T) {
	w := newWorld(t, nil)
	w.start()
	s := read[status](w, "status")
	if w.telegram().State != "up" || s.HTTP.Listen != w.address() || s.PID != w.daemon.command.Process.Pid {
		t.Errorf("status: %+v", s)
	}
	w.contains("status", w.do("status"), "gateway running", "telegram", ": up", "http on "+w.address(), "dead letters")
	get := func(path string) (int, string) {
		r, err := http.Get("http://" + w.address() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, _ := io.ReadAll(r.Body)
		return r.StatusCode, string(b)
	}
	if code, body := get("/healthz"); code != 200 || !strings.Contains(body, "alive") {
		t.Errorf("/healthz: %d %s", code, body)
	}
	if code, body := get("/readyz"); code != 200 || !strings.Contains(body, `"telegram"`) {
		t.Errorf("/readyz: %d %s", code, body)
	}
	if code, _ := get("/sessions"); code != 404 {
		t.Errorf("/sessions is served to everybody: %d", code)
	}
	w.tg.Add(faketelegram.Fault{Method: "getUpdates", Status: 401, Description: "Unauthorized"})
	w.direct().say("/help") // ends the poll that waits
	w.until("the account is parked", func() bool {
		p := w.telegram()
		return p.State == "parked" && p.Cause == "bad_credential" && strings.Contains(p.Remedy, "@BotFather")
	})
	w.contains("status", w.do("status"), "parked (bad_credential)", "@BotFather")
}
