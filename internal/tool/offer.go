package tool

import (
	"encoding/json"
	"strings"

	"github.com/homing-gateway/homing/internal/agent"
)

// Offer lists the tools that a session of that depth is offered. A child at the greatest depth is a leaf: it cannot
// delegate, and it sends nobody a file.
func Offer(depth, maxDepth int) []agent.Tool {
	tools := []agent.Tool{
		{
			Name: Terminal,
			Description: "Run a shell command. In the foreground you get its exit code and output; a command that takes long moves to the background by itself, " +
				"and you are told. With background:true you get a process_id at once. When a background process of yours ends you are told in a machine notice" +
				childNote(depth) + " Do not run a command again because its end has not been told yet.",
			Schema: schema(`{"command":{"type":"string","description":"the command line, run by the shell"},
"background":{"type":"boolean","description":"return at once with a process_id"},
"notify":{"type":"boolean","description":"tell me when it ends (default true)"},
"timeout":{"type":"number","description":"seconds after which a foreground command is killed"},
"workdir":{"type":"string","description":"folder to run in; default is the workspace"}}`, "command"),
		},
		{
			Name: ProcessManage,
			Description: "Look after background processes: list, poll (state and output now), log (page through the output), wait (until it ends, at most timeout seconds), " +
				"kill, and handoff: give a running process of yours to the conversation that you work for, with data saying in one sentence what it is for.",
			Schema: schema(`{"action":{"type":"string","enum":["list","poll","log","wait","kill","handoff"]},
"process_id":{"type":"string"},"data":{"type":"string","description":"handoff: one sentence saying what the process is for"},
"timeout":{"type":"number","description":"wait: seconds, default 60"},
"offset":{"type":"integer","description":"log: first byte"},"limit":{"type":"integer","description":"log: bytes, default 16000"}}`, "action"),
		},
	}
	tools = append(tools, fileTools()...)
	if depth == 0 || depth < maxDepth {
		tools = append(tools, agent.Tool{
			Name: SendFile,
			Description: "Send a file to the chat. This is the only way to send one: a path in your answer is text. It must be a regular file of the workspace, " +
				"or of another folder that the operator has opened for this. It is sent as it is now, in the order of your messages.",
			Schema: schema(`{"path":{"type":"string"},"caption":{"type":"string","description":"a text that goes with it"}}`, "path"),
		})
	}
	if depth < maxDepth {
		tools = append(tools, agent.Tool{
			Name: DelegateTask,
			Description: "Give work to subagents. Each starts with a fresh conversation that holds nothing but its goal and context, so write down all that it needs. " +
				"Use tasks for several at once; they come back as one result. " + returnNote(depth) + " action list shows what runs, stop ends one.",
			Schema: schema(`{"action":{"type":"string","enum":["spawn","list","stop"],"description":"default spawn"},
"goal":{"type":"string"},"context":{"type":"string"},
"tasks":{"type":"array","items":{"type":"object","properties":{"goal":{"type":"string"},"context":{"type":"string"}},"required":["goal"]}},
"background":{"type":"boolean"},"delegation_id":{"type":"string"},"subagent_id":{"type":"string"}}`),
		})
	}
	return tools
}

// fileTools work on files of the workspace, and nowhere else.
func fileTools() []agent.Tool {
	return []agent.Tool{
		{
			Name:        ReadFile,
			Description: "Read a text file of the workspace, or one that a person sent, by the path that you were told. A long file comes in pages: go on from next until end is true.",
			Schema: schema(`{"path":{"type":"string"},"offset":{"type":"integer","description":"first byte, default 0"},
"limit":{"type":"integer","description":"bytes, at most 65536"}}`, "path"),
		},
		{
			Name:        WriteFile,
			Description: "Write a text file of the workspace whole, in place of what was there. Missing folders are made.",
			Schema:      schema(`{"path":{"type":"string"},"content":{"type":"string"}}`, "path", "content"),
		},
		{
			Name:        EditFile,
			Description: "Replace a text in a file of the workspace. old must occur exactly once, unless all is set.",
			Schema: schema(`{"path":{"type":"string"},"old":{"type":"string"},"new":{"type":"string"},
"all":{"type":"boolean"}}`, "path", "old", "new"),
		},
		{
			Name:        SearchFiles,
			Description: "Find lines that match a regular expression in the text files of the workspace, or in one that a person sent.",
			Schema: schema(`{"pattern":{"type":"string","description":"a regular expression (RE2)"},
"path":{"type":"string","description":"folder or file to search, default all"},"glob":{"type":"string","description":"names of files, such as *.go"}}`, "pattern"),
		},
	}
}

func childNote(depth int) string {
	if depth == 0 {
		return "."
	}
	return " only if you hand it off: a process that you neither waited for nor handed off is killed when you finish, so wait for it, kill it or hand it off."
}

func returnNote(depth int) string {
	if depth == 0 {
		return "The call returns at once, and the result comes later as a machine notice; with background:false you wait for it."
	}
	return "You wait for the result."
}

// schema wraps properties into the schema of an object.
func schema(properties string, required ...string) json.RawMessage {
	properties = strings.Join(strings.Split(properties, "\n"), "")
	req, _ := json.Marshal(append([]string{}, required...))
	return json.RawMessage(`{"type":"object","properties":` + properties + `,"required":` + string(req) + `}`)
}
