package rehearsal_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/agent/rehearsal"
)

// The subagent of a self-test starts three commands that end by themselves, hands the first over, sees the last one end,
// however long that takes, and goes home.
func TestTheSelftestGoesHome(t *testing.T) {
	p, err := rehearsal.New(rehearsal.Options{
		Script: []byte(rehearsal.Selftest()), Tools: []string{"terminal", "process_manage"},
		Wait: func(context.Context, time.Duration) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	id := func(n int) string { return fmt.Sprintf("proc_%026d", n) }
	var got []string
	started, polled := 0, 0
	c := child(t, p, func(c agent.Call) string {
		args := arguments(t, c)
		if c.Name == "terminal" {
			started++
			command := args["command"].(string)
			if !strings.HasPrefix(command, "sleep ") || args["background"] != true {
				t.Errorf("it runs %v", args)
			}
			got = append(got, strings.Fields(command)[1])
			return fmt.Sprintf(`{"process_id":%q,"status":"running","notify":false}`, id(started))
		}
		got = append(got, fmt.Sprint(args["action"], " ", args["process_id"]))
		if args["action"] == "handoff" {
			return fmt.Sprintf(`{"status":"handed_off","process_id":%q,"owner":"ses_01"}`, id(1))
		}
		if polled++; polled < 4 {
			return fmt.Sprintf(`{"process_id":%q,"state":"running","exit_code":null,"output":""}`, id(3))
		}
		return fmt.Sprintf(`{"process_id":%q,"state":"exited","exit_code":0,"output":"x"}`, id(3))
	})
	c.wants("Put the gateway to the test", "I started three commands")
	poll := "poll " + id(3)
	if d := cmp.Diff([]string{"3;", "handoff " + id(1), "30;", "0.3;", poll, poll, poll, poll}, got); d != "" {
		t.Error(d)
	}
}
