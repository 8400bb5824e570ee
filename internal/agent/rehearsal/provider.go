package rehearsal

import (
	"context"
	_ "embed" // the built-in scripts
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/homing-gateway/homing/internal/agent"
)

//go:embed demo.yaml
var demo string

// Demo is the built-in script.
func Demo() string { return demo }

//go:embed selftest.yaml
var selftest string

// Selftest is the script that plays the subagent of /selftest.
func Selftest() string { return selftest }

// Options of a Provider.
type Options struct {
	Script []byte   // the script itself; empty: Path is read
	Path   string   // the script's file, also its name in errors; with Script empty too: the built-in script
	Tools  []string // when set, a script that calls another tool is refused

	// Wait plays a rule's wait. nil: it really waits.
	Wait func(ctx context.Context, d time.Duration) error
}

// Provider plays one script. It may be used from many goroutines.
type Provider struct {
	script *script
	wait   func(context.Context, time.Duration) error

	mu     sync.Mutex
	failed map[*rule]int // how often each failing rule has failed
}

var _ agent.Provider = (*Provider)(nil)

// New loads a script. Its error names every fault with file and line.
func New(o Options) (*Provider, error) {
	text, file := o.Script, o.Path
	switch {
	case len(text) > 0 && file == "":
		file = "script"
	case len(text) == 0 && file != "":
		var err error
		if text, err = os.ReadFile(file); err != nil {
			return nil, fmt.Errorf("read the rehearsal script: %w", err)
		}
	case len(text) == 0:
		text, file = []byte(demo), "demo.yaml"
	}
	s, err := load(file, text, o.Tools)
	if err != nil {
		return nil, err
	}
	p := &Provider{script: s, wait: o.Wait, failed: map[*rule]int{}}
	if p.wait == nil {
		p.wait = sleep
	}
	return p, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Complete answers as the script says. It returns ctx's error when ctx ended, else a *agent.ProviderError.
func (p *Provider) Complete(ctx context.Context, r agent.Request, onText func(piece string)) (agent.Response, error) {
	s := newScene(r)
	lines := make([]line, 0, len(s.inputs))
	var pause time.Duration
	for _, in := range s.inputs {
		l := p.choose(s, in)
		if l.rule != nil {
			pause = max(pause, l.rule.wait)
		}
		lines = append(lines, l)
	}
	if pause > 0 {
		if err := p.wait(ctx, pause); err != nil {
			return agent.Response{}, err
		}
	}
	if err := ctx.Err(); err != nil {
		return agent.Response{}, err
	}
	for _, l := range lines {
		if l.fails {
			return agent.Response{}, l.rule.fail.failure()
		}
	}
	resp := respond(s, lines)
	if onText != nil {
		for piece := range strings.SplitAfterSeq(resp.Text, " ") {
			if piece != "" {
				onText(piece)
			}
		}
	}
	resp.InputTokens, resp.OutputTokens = s.size/4, (len(resp.Text)+3)/4
	return resp, nil
}

// line is what one input is answered with.
type line struct {
	input input
	rule  *rule // nil: none fits
	fails bool
}

// choose returns the first rule that fits the input.
func (p *Provider) choose(s *scene, in input) line {
	for _, r := range p.script.rules {
		if !r.when.fits(s, in) {
			continue
		}
		if r.fail != nil && p.fail(r) {
			return line{input: in, rule: r, fails: true}
		}
		if r.when.anything && len(in.results) > 0 && p.called(s, in) {
			break // the input is known: its tool's answer is the answer
		}
		if r.answers() {
			return line{input: in, rule: r}
		}
	}
	return line{input: in}
}

// called tells whether a rule calls a tool as soon as the input comes.
func (p *Provider) called(s *scene, in input) bool {
	in.results = nil
	for _, r := range p.script.rules {
		if r.when.fits(s, in) && r.answers() {
			return len(r.calls) > 0
		}
	}
	return false
}

// fail counts a failure of the rule, and tells whether there was one left.
func (p *Provider) fail(r *rule) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.fail.times > 0 && p.failed[r] >= r.fail.times {
		return false
	}
	p.failed[r]++
	return true
}

// respond makes one answer of the lines. Tools come first: while one input still calls, only it is heard, and the others
// speak when the calls are done.
func respond(s *scene, lines []line) agent.Response {
	for _, l := range lines {
		if l.rule != nil && len(l.rule.calls) > 0 {
			return agent.Response{Text: l.rule.say.render(s, l), Calls: s.calls(l)}
		}
	}
	var said []string
	for _, l := range lines {
		if text := s.text(l); text != "" {
			said = append(said, text)
		}
	}
	if len(said) == 0 && len(lines) == 0 {
		return agent.Response{Text: "Nothing was said, so there is nothing to answer."}
	}
	return agent.Response{Text: strings.Join(said, "\n\n")}
}

func (f *failing) failure() *agent.ProviderError {
	return &agent.ProviderError{Failure: f.kind, RetryAfter: f.retryAfter, Err: errors.New(f.message)}
}
