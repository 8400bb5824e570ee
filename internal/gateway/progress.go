package gateway

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
)

// ProgressMode is display.tool_progress: what the preview of a turn tells of its tools.
type ProgressMode string

// The modes.
const (
	ProgressOff ProgressMode = "off"
	ProgressNew ProgressMode = "new" // each tool once
	ProgressAll ProgressMode = "all" // each call
)

// progress is the work of a turn with tools, as far as this life of the daemon has seen it.
type progress struct {
	mode  ProgressMode
	calls []toolCall
}

// toolCall is one call. They are carried out one after the other: each begins when the one before it ends.
type toolCall struct {
	id            id.Action
	name          string
	state         machine.ActionState
	asked, ending time.Time
}

// take takes note of what the journal tells of a call.
func (p *progress) take(r machine.Record) {
	aid := id.Action(r.ID)
	i := slices.IndexFunc(p.calls, func(c toolCall) bool { return c.id == aid })
	if i < 0 {
		p.calls = append(p.calls, toolCall{id: aid, name: r.Why, asked: r.At})
		i = len(p.calls) - 1
	}
	p.calls[i].state = machine.ActionState(r.State)
	if p.calls[i].state.Ended() {
		p.calls[i].ending = r.At
	}
}

// began is when the work with tools began; false when there was none, or none is told of.
func (p *progress) began() (time.Time, bool) {
	if p.mode == ProgressOff || len(p.calls) == 0 {
		return time.Time{}, false
	}
	return p.calls[0].asked, true
}

// maxProgress is how many calls are listed, the latest ones.
const maxProgress = 8

// text is Markdown for the person, and a key that is the same as long as only time has passed.
func (p *progress) text(now time.Time) (text, key string) {
	began, ok := p.began()
	if !ok {
		return "", ""
	}
	if p.mode == ProgressNew {
		var names []string
		for _, c := range p.calls {
			if n := toolName(c.name); !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
		more := ""
		if n := len(names) - maxProgress; n > 0 {
			names, more = names[n:], "… "
		}
		list := more + strings.Join(names, ", ")
		return fmt.Sprintf("⚙ %s · %s", list, lasted(now.Sub(began))), list
	}
	var lines, keys []string
	first := max(0, len(p.calls)-maxProgress)
	if first > 0 {
		lines = append(lines, fmt.Sprintf("… %d before", first))
	}
	for i, c := range p.calls {
		from, to, sign := c.asked, now, "⚙"
		if i > 0 && p.calls[i-1].ending.After(from) {
			from = p.calls[i-1].ending
		}
		switch {
		case c.state.Ended():
			to, sign = c.ending, map[bool]string{true: "✖", false: "✔"}[c.state == machine.ActionFailed]
		case i > 0 && !p.calls[i-1].state.Ended(): // its turn has not come
			continue
		}
		if i < first {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s %s · %s", sign, toolName(c.name), lasted(to.Sub(from))))
		keys = append(keys, string(c.id)+sign)
	}
	return strings.Join(lines, "\n"), strings.Join(keys, " ")
}

// toolName is a tool's name as code. A model may call a tool by any name.
func toolName(name string) string {
	name = strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r <= ' ' || r == '`' }), " ")
	if r := []rune(name); len(r) > 40 {
		name = string(r[:40]) + "…"
	}
	if name == "" {
		name = "?"
	}
	return "`" + name + "`"
}

// lasted is a duration as people read it.
func lasted(d time.Duration) string {
	s := int(max(d, 0) / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	}
	return fmt.Sprintf("%d h %d min", s/3600, s/60%60)
}
