package rehearsal_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/agent/rehearsal"
)

// conversation plays the gateway's part: it keeps a transcript, hands the calls to run, and feeds their results back.
type conversation struct {
	t        *testing.T
	provider *rehearsal.Provider
	session  string
	tools    []agent.Tool
	messages []agent.Message
	run      func(agent.Call) string
	called   []string // the tools
	steer    string   // joins the running turn after the next result
}

func offered(names ...string) (tools []agent.Tool) {
	for _, name := range names {
		tools = append(tools, agent.Tool{Name: name})
	}
	return tools
}

func person(t *testing.T, p *rehearsal.Provider, run func(agent.Call) string) *conversation {
	return &conversation{t: t, provider: p, session: "ses_01OWNER0000000000000000000", tools: offered("terminal", "process_manage", "delegate_task"), run: run}
}

func child(t *testing.T, p *rehearsal.Provider, run func(agent.Call) string) *conversation {
	return &conversation{t: t, provider: p, session: "sub_01CHILD0000000000000000000", tools: offered("terminal", "process_manage"), run: run}
}

// turn runs a whole turn and returns its final text.
func (c *conversation) turn(text string) string {
	c.t.Helper()
	c.messages = append(c.messages, agent.Message{Role: agent.User, Text: text})
	for range 20 {
		got, err := c.provider.Complete(c.t.Context(), agent.Request{Session: c.session, Tools: c.tools, Messages: c.messages}, nil)
		if err != nil {
			c.t.Fatalf("%q: %v", text, err)
		}
		c.messages = append(c.messages, agent.Message{Role: agent.Assistant, Text: got.Text, Calls: got.Calls})
		if len(got.Calls) == 0 {
			return got.Text
		}
		for _, call := range got.Calls {
			c.called = append(c.called, call.Name)
			c.messages = append(c.messages, agent.Message{Role: agent.ToolRole, CallID: call.ID, Name: call.Name, Text: c.run(call)})
		}
		if c.steer != "" {
			c.messages = append(c.messages, agent.Message{Role: agent.User, Text: c.steer})
			c.steer = ""
		}
	}
	c.t.Fatalf("%q: the turn does not end", text)
	return ""
}

func (c *conversation) wants(text string, parts ...string) string {
	c.t.Helper()
	got := c.turn(text)
	for _, part := range parts {
		if !strings.Contains(got, part) {
			c.t.Errorf("%q was answered by\n%s\nand %q is not in it", text, got, part)
		}
	}
	return got
}

func arguments(t *testing.T, c agent.Call) map[string]any {
	t.Helper()
	var args map[string]any
	if err := json.Unmarshal([]byte(c.Arguments), &args); err != nil {
		t.Fatalf("%s: %v", c.Arguments, err)
	}
	return args
}

// report is a notice as the agent sees it.
func report(kind, id, status, content string, origin ...string) string {
	return fmt.Sprintf("[homing:%s %s %s]\nThis is a machine notice; no person wrote it.\n%s\n%s", kind, id, status, content,
		strings.Join(append([]string{"Origin: ordered in turn 1 of its conversation (trn_01T); this is turn 3; it ended 3 s ago."}, origin...), "\n"))
}

const (
	proc = "proc_01PROC00000000000000000000"
	del  = "del_01DEL000000000000000000000"
)

func demoProvider(t *testing.T) *rehearsal.Provider {
	t.Helper()
	p, err := rehearsal.New(rehearsal.Options{Tools: []string{"terminal", "process_manage", "delegate_task"}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The story that the demo is there for: a subagent's process ends while the subagent still works, the summary comes home,
// and the next message is answered by the conversation that the person began.
func TestTheDemoShowsThatTheConversationStaysItsPersons(t *testing.T) {
	p := demoProvider(t)
	var goal, context string
	owner := person(t, p, func(c agent.Call) string {
		args := arguments(t, c)
		if c.Name != "delegate_task" || args["background"] != true {
			t.Errorf("called %s %s", c.Name, c.Arguments)
		}
		goal, context = args["goal"].(string), args["context"].(string)
		return `{"delegation_id":"` + del + `","status":"running","subagents":[{"subagent_id":"sub_01CHILD0000000000000000000","goal":"x"}]}`
	})
	owner.wants("hello there", "research")
	owner.wants("research sea otters' diet", del)

	var commands []string
	researcher := child(t, p, func(c agent.Call) string {
		args := arguments(t, c)
		switch {
		case c.Name == "terminal" && args["background"] == true:
			commands = append(commands, args["command"].(string))
			return `{"process_id":"` + proc + `","status":"running","notify":false}`
		case c.Name == "terminal":
			commands = append(commands, args["command"].(string))
			return `{"exit_code":0,"output":"notes\n","truncated":false,"duration_seconds":1.6}`
		case args["action"] == "poll" && args["process_id"] == proc:
			return `{"state":"exited","exit_code":0,"output":"three sources on sea otters' diet\n","running_seconds":0.7}`
		}
		t.Errorf("called %s %s", c.Name, c.Arguments)
		return "{}"
	})
	summary := researcher.wants(goal+"\n\n"+context, "Findings on sea otters' diet", proc, "exited", "three sources")
	if want := `sleep 0.7; echo three sources on 'sea otters'\'' diet'`; commands[0] != want {
		t.Errorf("command %q", commands[0])
	}

	said := owner.wants(report("delegation", del, "completed", summary), "back", del, "Findings on sea otters' diet")
	if strings.Contains(said, "Origin:") {
		t.Errorf("the machine's lines are in %q", said)
	}
	owner.wants("what did we talk about?", "You first said: “hello there”", owner.session, "2. research sea otters")
}

func TestTheDemoHandsABuildOff(t *testing.T) {
	p := demoProvider(t)
	var goal string
	owner := person(t, p, func(c agent.Call) string {
		goal = arguments(t, c)["goal"].(string)
		return `{"delegation_id":"` + del + `","status":"running"}`
	})
	owner.wants("Ann: Research boats and hand the build off", del)
	var handed map[string]any
	builder := child(t, p, func(c agent.Call) string {
		if c.Name == "process_manage" {
			handed = arguments(t, c)
			return `{"status":"handed_off","owner":"ses_01"}`
		}
		return `{"process_id":"` + proc + `","status":"running","notify":false}`
	})
	summary := builder.wants(goal+"\n\ncontext", "Findings on boats", proc)
	if handed["action"] != "handoff" || handed["process_id"] != proc || !strings.Contains(fmt.Sprint(handed["data"]), "boats") {
		t.Errorf("handoff: %v", handed)
	}
	owner.wants(report("delegation", del, "completed", summary), "Findings on boats")
	owner.wants(report("process", proc, "exited 0", "Command: sleep 1.8; echo built: 'boats'\nhanded off by subagent sub_01: the build of boats\nOutput:\nbuilt: boats"), "build is ready", proc, "built: boats")
}

func TestTheDemoRunsACommand(t *testing.T) {
	owner := person(t, demoProvider(t), func(c agent.Call) string {
		if args := arguments(t, c); args["command"] != `echo "a: b"` || args["background"] != true {
			t.Errorf("arguments %s", c.Arguments)
		}
		return `{"process_id":"` + proc + `","status":"running","notify":true}`
	})
	owner.wants(`run echo "a: b"`, proc)
	owner.wants(report("process", proc, "exited 0", "Command: echo\nOutput:\na: b\n\nc\n"), "done. It printed:\n\na: b\n\nc")
	owner.wants(report("process", proc, "exited 0", "Command: true\nIt printed nothing."), "is done.")
	owner.wants(report("process", proc, "exited 3", "oh no"), "exited 3", "oh no")
	owner.wants(report("process", proc, "lost", ""), "lost")
	owner.run = func(agent.Call) string { return `{"error":"too many processes","kind":"limit"}` }
	owner.wants("run true", "too many processes")
	if got := strings.Join(owner.called, " "); got != "terminal terminal" {
		t.Errorf("called %s", got)
	}
}

// A command in quotes is what stands in them; quotes of the command itself are its own.
func TestTheDemoReadsQuotes(t *testing.T) {
	for text, want := range map[string]string{
		`Run "sleep 60; date" in the background and tell me when it is done.`: `sleep 60; date`,
		"Ann: run `date`": `date`,
		`run “echo 'a b'”, and tell me what it says`: `echo 'a b'`,
		`run "date".`:                  `date`,
		`run date`:                     `date`,
		`run "my tool" --flag`:         `"my tool" --flag`,
		`run "a" "b"`:                  `"a" "b"`,
		`run echo "in the background"`: `echo "in the background"`,
		`run "" in the background`:     `"" in the background`,
	} {
		got := ""
		owner := person(t, demoProvider(t), func(c agent.Call) string {
			got, _ = arguments(t, c)["command"].(string)
			return `{"process_id":"` + proc + `","status":"running"}`
		})
		owner.wants(text, "It runs as "+proc)
		if got != want {
			t.Errorf("%s runs %s, want %s", text, got, want)
		}
	}
}

func TestTheDemoAnswersWhatComesTogether(t *testing.T) {
	owner := person(t, demoProvider(t), func(agent.Call) string { return `{"process_id":"` + proc + `","status":"running"}` })
	owner.wants(report("delegation", del, "completed", "Subagent sub_1 completed. Goal: x\nFindings on a: one\n\nand more")+"\n\n"+report("process", proc, "exited 0", "built: b")+"\n\nhello",
		"Findings on a: one", "built: b", "Hello!")
	got := owner.wants(report("delegation", del, "failed", "it broke")+"\n\nrun true", "failed", "it broke", "It runs as")
	if strings.Count(got, "it broke") != 1 || len(owner.called) != 1 {
		t.Errorf("got %q after %v", got, owner.called)
	}
}

func TestASteeredSubagentDoesNotBeginAgain(t *testing.T) {
	c := child(t, demoProvider(t), nil)
	started := 0
	c.run = func(call agent.Call) string {
		if arguments(t, call)["background"] == true {
			started++
			return `{"process_id":"` + proc + `","status":"running"}`
		}
		if len(c.called) == 2 {
			c.steer = "only the big ones"
		}
		return `{"exit_code":0,"output":"notes"}`
	}
	c.wants("Research otters\n\ncontext", "Findings on otters", "I was told: only the big ones")
	if started != 1 {
		t.Errorf("started %d searches", started)
	}
}

func TestTheDemoIsFriendly(t *testing.T) {
	owner := person(t, demoProvider(t), nil)
	owner.wants("gobbledygook", "rehearsal agent", "research NAME", "You first said: “gobbledygook”")
	owner.wants("help!", "run COMMAND")
	owner.wants("Who are you?", "rehearsal agent", owner.session)
	owner.wants("thank you", "welcome")
}
