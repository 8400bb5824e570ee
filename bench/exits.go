package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/process"
)

// exits lets real commands end, one after the other, under real supervisors. It measures the time from the last act of a
// command, by the command's own clock, to the commit that makes its end durable, in commits: the median of the one by the
// median of the other.
func exits(ctx context.Context, dir string) (r result, err error) {
	const commands = 100
	s, err := openProduct(dir, 1, commands, 0)
	if err != nil {
		return r, err
	}
	defer func() { err = firstOf(err, s.close()) }()
	commits := make([]float64, 0, commands)
	for i := range commands {
		began := time.Now()
		a := chat.Account{Profile: "default", Platform: "x", ID: "1"}
		if _, err := s.m.Submit(ctx, machine.Receive{Account: a, Event: strconv.Itoa(i), Cursor: strconv.Itoa(i)}); err != nil {
			return r, err
		}
		commits = append(commits, time.Since(began).Seconds())
	}
	runner, err := process.New(filepath.Join(dir, "processes"))
	if err != nil {
		return r, err
	}
	defer runner.Close()
	took := make([]float64, 0, commands)
	for _, pid := range s.talks[0].processes {
		p, err := runner.Start(ctx, process.Spec{ID: string(pid), Command: "exec date +%s.%N", Workdir: dir, Env: []string{"PATH=/usr/bin:/bin"}})
		if err != nil {
			return r, err
		}
		e, err := p.Wait(ctx)
		if err != nil {
			return r, err
		}
		if _, err := s.m.Submit(ctx, machine.Ended{Process: pid, State: machine.ProcessExited, ExitCode: e.Code, EndedAt: e.EndedAt}); err != nil {
			return r, err
		}
		now := time.Now()
		o, err := p.Output()
		if err != nil {
			return r, err
		}
		sec, nano, _ := strings.Cut(strings.TrimSpace(o.Text), ".")
		whole, err1 := strconv.ParseInt(sec, 10, 64)
		part, err2 := strconv.ParseInt(nano, 10, 64)
		if err := firstOf(err1, err2); err != nil {
			return r, fmt.Errorf("the time of a command: %w", err)
		}
		took = append(took, now.Sub(time.Unix(whole, part)).Seconds())
	}
	r.P50 = median(took) / median(commits)
	return r, nil
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}
