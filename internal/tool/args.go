package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The names of the tools.
const (
	Terminal      = "terminal"
	ProcessManage = "process_manage"
	DelegateTask  = "delegate_task"
	ReadFile      = "read_file"
	WriteFile     = "write_file"
	EditFile      = "edit_file"
	SearchFiles   = "search_files"
	SendFile      = "send_file"
)

// OnFiles tells whether the tool works on files of the workspace.
func OnFiles(name string) bool {
	return name == ReadFile || name == WriteFile || name == EditFile || name == SearchFiles
}

// ReadArgs are the arguments of the tool read_file. Offset and limit count bytes.
type ReadArgs struct {
	Path   string `json:"path"`
	Offset int64  `json:"offset"`
	Limit  int64  `json:"limit"`
}

// WriteArgs are the arguments of the tool write_file.
type WriteArgs struct {
	Path    string  `json:"path"`
	Content *string `json:"content"`
}

// EditArgs are the arguments of the tool edit_file.
type EditArgs struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
	All  bool   `json:"all"`
}

// SearchArgs are the arguments of the tool search_files.
type SearchArgs struct {
	Pattern string `json:"pattern"` // a regular expression
	Path    string `json:"path"`
	Glob    string `json:"glob"`
}

// SendArgs are the arguments of the tool send_file.
type SendArgs struct {
	Path    string `json:"path"`
	Caption string `json:"caption"`
}

// TerminalArgs are the arguments of the tool terminal.
type TerminalArgs struct {
	Command       string   `json:"command"`
	Background    bool     `json:"background"`
	Notify        *bool    `json:"notify"`
	Timeout       float64  `json:"timeout"` // seconds; 0: none
	Workdir       string   `json:"workdir"`
	WatchPatterns []string `json:"watch_patterns"`
	Postcondition string   `json:"postcondition"`
}

// ProcessArgs are the arguments of the tool process_manage.
type ProcessArgs struct {
	Action    string   `json:"action"`
	ProcessID string   `json:"process_id"`
	Data      string   `json:"data"`
	Timeout   *float64 `json:"timeout"` // seconds; nil: the default
	Offset    int64    `json:"offset"`
	Limit     int64    `json:"limit"`
}

// The actions of process_manage.
const (
	ProcessList    = "list"
	ProcessPoll    = "poll"
	ProcessLog     = "log"
	ProcessWait    = "wait"
	ProcessKill    = "kill"
	ProcessWrite   = "write"
	ProcessSubmit  = "submit"
	ProcessClose   = "close"
	ProcessHandoff = "handoff"
)

// Task is one goal for one subagent.
type Task struct {
	Goal         string          `json:"goal"`
	Context      string          `json:"context"`
	OutputSchema json.RawMessage `json:"output_schema"`
	Group        string          `json:"group"`
}

// DelegateArgs are the arguments of the tool delegate_task.
type DelegateArgs struct {
	Task
	Tasks        []Task `json:"tasks"`
	Background   *bool  `json:"background"`
	Action       string `json:"action"`
	DelegationID string `json:"delegation_id"`
	SubagentID   string `json:"subagent_id"`
	Message      string `json:"message"`
}

// The actions of delegate_task.
const (
	DelegateSpawn = "spawn"
	DelegateList  = "list"
	DelegateSteer = "steer"
	DelegateStop  = "stop"
)

// All returns the tasks of a spawn, however they were given.
func (a DelegateArgs) All() []Task {
	if len(a.Tasks) > 0 {
		return a.Tasks
	}
	return []Task{a.Task}
}

// ArgumentError says what is wrong with a call's arguments and what to do about it. The model reads it.
type ArgumentError struct{ Text string }

func (e *ArgumentError) Error() string { return e.Text }

// Parse decodes the arguments of a call into v. What models get wrong most is forgiven when its meaning is plain: no
// arguments at all, null values. Everything else is told.
func Parse(name, arguments string, v any) error {
	if strings.TrimSpace(arguments) == "" {
		arguments = "{}"
	}
	d := json.NewDecoder(bytes.NewReader([]byte(arguments)))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return &ArgumentError{fmt.Sprintf("the arguments of %s are not what its schema says: %s. Send one JSON object with the documented fields.", name, plain(err))}
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return &ArgumentError{fmt.Sprintf("the arguments of %s go on after the JSON object. Send one JSON object.", name)}
	}
	return nil
}

// plain rewords the decoder's errors for a reader who does not know our types.
func plain(err error) string {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("%q must not be a %s", strings.TrimPrefix(e.Field, "Task."), e.Value) // an embedded struct has no name in JSON
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return "the JSON breaks off"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}
