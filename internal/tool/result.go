package tool

import (
	"encoding/json"
	"time"
)

// The kinds of tool errors.
const (
	KindArguments   = "bad_arguments" // the call itself is wrong
	KindUnknownTool = "unknown_tool"
	KindNotFound    = "not_found"
	KindLimit       = "limit"       // a limit of the configuration is reached
	KindState       = "wrong_state" // not possible as things stand
	KindFailed      = "failed"      // it was tried and did not work
	KindInterrupted = "interrupted" // a person stopped it
	KindUnknown     = "unknown"     // nobody knows whether it happened: look before repeating
	KindNotBuilt    = "not_available"
)

// JSON renders a result. Results are made of our own values, so that they can always be rendered.
func JSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return `{"error":"the result could not be rendered","kind":"failed"}`
	}
	return string(b)
}

// Error renders a tool error: what is wrong and what to do about it.
func Error(kind, text string) string {
	return JSON(struct {
		Error string `json:"error"`
		Kind  string `json:"kind"`
	}{text, kind})
}

// Ran is the result of a foreground command that ended.
type Ran struct {
	Status          string  `json:"status,omitempty"` // "timeout", or empty
	ExitCode        *int    `json:"exit_code"`
	Signal          string  `json:"signal,omitempty"`
	Output          string  `json:"output"`
	Truncated       bool    `json:"truncated"`
	DurationSeconds float64 `json:"duration_seconds"`
	// LeftRunning tells that the command ended and something in its group goes on as a background process.
	LeftRunning bool   `json:"left_running,omitempty"`
	ProcessID   string `json:"process_id,omitempty"`
	Note        string `json:"note,omitempty"`
}

// Queued is the result of a file that is on its way to the chat.
type Queued struct {
	Status   string `json:"status"`
	Outgoing string `json:"outgoing"`
	Name     string `json:"name"`
	Bytes    int64  `json:"bytes"`
}

// Started is the result of a background command.
type Started struct {
	ProcessID string `json:"process_id"`
	Status    string `json:"status"`
	Notify    bool   `json:"notify"`
}

// Promoted is the result of a foreground command that went on in the background.
type Promoted struct {
	Started
	PromotedAfterSeconds float64 `json:"promoted_after_seconds"`
	Output               string  `json:"output"`
	Truncated            bool    `json:"truncated"`
	Note                 string  `json:"note"`
}

// Polled is the result of poll, wait and kill.
type Polled struct {
	Status         string  `json:"status,omitempty"` // "still_running" after a wait that was not enough
	ProcessID      string  `json:"process_id"`
	State          string  `json:"state"`
	ExitCode       *int    `json:"exit_code"`
	Signal         string  `json:"signal,omitempty"`
	Output         string  `json:"output"`
	Truncated      bool    `json:"truncated"`
	RunningSeconds float64 `json:"running_seconds"`
}

// Logged is the result of log.
type Logged struct {
	ProcessID string `json:"process_id"`
	Output    string `json:"output"`
	Offset    int64  `json:"offset"`
	Total     int64  `json:"total"`
	End       bool   `json:"end"`
}

// HandedOff is the result of handoff.
type HandedOff struct {
	Status    string `json:"status"`
	ProcessID string `json:"process_id"`
	Owner     string `json:"owner"`
}

// Listed is one process in the result of list.
type Listed struct {
	ProcessID      string  `json:"process_id"`
	State          string  `json:"state"`
	Command        string  `json:"command"`
	ExitCode       *int    `json:"exit_code"`
	Notify         bool    `json:"notify"`
	StartedBy      string  `json:"started_by"`
	RunningSeconds float64 `json:"running_seconds"`
}

// SubagentRef names a subagent that was started.
type SubagentRef struct {
	SubagentID string `json:"subagent_id"`
	Goal       string `json:"goal"`
	Status     string `json:"status,omitempty"`
}

// Delegated is the result of a delegation in the background, and of list and stop for one.
type Delegated struct {
	DelegationID string        `json:"delegation_id"`
	Status       string        `json:"status"`
	Subagents    []SubagentRef `json:"subagents"`
}

// Returned is the result of a synchronous delegation.
type Returned struct {
	DelegationID string   `json:"delegation_id"`
	Status       string   `json:"status"`
	Results      []Report `json:"results"`
}

// Report is the result entry of one subagent.
type Report struct {
	Index             int      `json:"index"`
	SubagentID        string   `json:"subagent_id"`
	Status            string   `json:"status"`
	Summary           string   `json:"summary"`
	Error             string   `json:"error,omitempty"`
	ExitReason        string   `json:"exit_reason"`
	Truncated         bool     `json:"truncated"`
	SchemaValid       *bool    `json:"schema_valid,omitempty"`
	SchemaErrors      []string `json:"schema_errors,omitempty"`
	ModelCalls        int      `json:"model_calls"`
	DurationSeconds   float64  `json:"duration_seconds"`
	HandedOff         []string `json:"handed_off_processes"`
	Orphaned          []string `json:"orphaned_processes"`
	UnreadCompletions int      `json:"unread_completions"`
}

// maxDuration bounds what a model may ask to wait for.
const maxDuration = 30 * 24 * time.Hour

// Duration is a number of seconds as a model gives it; a negative one is none, a huge one a month.
func Duration(seconds float64) time.Duration {
	if seconds >= maxDuration.Seconds() {
		return maxDuration
	}
	return max(0, time.Duration(seconds*float64(time.Second)))
}

// Seconds rounds a duration to milliseconds and gives it in seconds.
func Seconds(d time.Duration) float64 {
	return float64(d.Round(time.Millisecond).Milliseconds()) / 1000
}
