package rehearsal

import (
	"regexp"
	"strings"
	"time"

	"github.com/homing-gateway/homing/internal/agent"
)

// script is a loaded script.
type script struct {
	rules []*rule // the fallback is the last one
}

// rule answers what it fits.
type rule struct {
	when  condition
	wait  time.Duration
	fail  *failing
	say   template
	says  bool // say is in the script, perhaps empty
	calls []call
}

// answers tells whether the rule has an answer besides its failures.
func (r *rule) answers() bool { return r.says || len(r.calls) > 0 }

type failing struct {
	kind       agent.Failure
	times      int // 0: always
	retryAfter time.Duration
	message    string
}

type call struct {
	tool string
	args any // a tree of JSON values, with a template for each text
}

// condition holds when all that it names holds.
type condition struct {
	who      string // "person", "subagent", "summary" or "": either of the first two
	says     []string
	matches  *regexp.Regexp
	brief    *regexp.Regexp
	notice   string // "": not a notice but a text; "any"
	status   *regexp.Regexp
	origin   *regexp.Regexp
	step     steps
	result   *resultCondition
	anything bool // the fallback: every text
}

// steps is a range of how many tool results were given since the input came; most is -1 without an upper end.
type steps struct {
	set         bool
	least, most int
}

type resultCondition struct {
	tool     string
	contains string
	matches  *regexp.Regexp
}

func (c *condition) fits(s *scene, in input) bool {
	if s.request.Summary != (c.who == "summary") {
		return false
	}
	if c.anything {
		return in.notice == nil
	}
	switch {
	case c.who == "person" && s.subagent, c.who == "subagent" && !s.subagent,
		!c.fitsNotice(in.notice),
		c.matches != nil && !c.matches.MatchString(in.text),
		c.brief != nil && !c.brief.MatchString(s.brief),
		c.step.set && (len(in.results) < c.step.least || c.step.most >= 0 && len(in.results) > c.step.most),
		c.result != nil && !c.result.fits(in):
		return false
	}
	if len(c.says) == 0 {
		return true
	}
	text := strings.ToLower(in.text)
	for _, want := range c.says {
		if strings.Contains(text, strings.ToLower(want)) {
			return true
		}
	}
	return false
}

func (c *condition) fitsNotice(n *notice) bool {
	if n == nil || c.notice == "" {
		return n == nil && c.notice == ""
	}
	return (c.notice == "any" || c.notice == n.kind) && (c.status == nil || c.status.MatchString(n.status)) &&
		(c.origin == nil || c.origin.MatchString(n.origin))
}

func (c *resultCondition) fits(in input) bool {
	last, ok := in.last()
	return ok && (c.tool == "" || c.tool == last.Name) && strings.Contains(last.Text, c.contains) &&
		(c.matches == nil || c.matches.MatchString(last.Text))
}

// group is what a regular expression of the rule captured: by number of matches (of brief when there is no matches), by
// name of either.
func (r *rule) group(s *scene, in input, number int, name string) string {
	type try struct {
		re   *regexp.Regexp
		text string
	}
	for _, t := range []try{{r.when.matches, in.text}, {r.when.brief, s.brief}} {
		if t.re == nil {
			continue
		}
		i := number
		if name != "" {
			i = t.re.SubexpIndex(name)
		}
		if i < 0 {
			continue
		}
		if found := t.re.FindStringSubmatch(t.text); i < len(found) {
			return strings.TrimSpace(found[i])
		}
		return ""
	}
	return ""
}
