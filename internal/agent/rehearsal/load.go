package rehearsal

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/homing-gateway/homing/internal/agent"
)

// builtinFallback is said when no rule fits and the script has no fallback of its own.
const builtinFallback = "I am the rehearsal agent: no model, a script of rules, and none of them fits this."

// loader turns the YAML tree into a script, and collects what is wrong with it.
type loader struct {
	file  string
	tools []string
	errs  []error
}

func load(file string, text []byte, tools []string) (*script, error) {
	l := &loader{file: file, tools: tools}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, l.syntax(err)
	}
	s := &script{}
	fallback := &rule{says: true, say: template{{text: builtinFallback}}, when: condition{anything: true}}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, fmt.Errorf("%s:1: a script needs rules", file)
	}
	l.mapping(doc.Content[0], "the script", map[string]func(*yaml.Node){
		"rules": func(n *yaml.Node) {
			for i, item := range l.sequence(n, "rules") {
				s.rules = append(s.rules, l.rule(item, fmt.Sprintf("rules[%d]", i)))
			}
		},
		"fallback": func(n *yaml.Node) { fallback.say = l.template(n, "fallback", fallback) },
	})
	if len(s.rules) == 0 && len(l.errs) == 0 {
		l.fail(doc.Content[0], "a script needs rules")
	}
	s.rules = append(s.rules, fallback)
	return s, errors.Join(l.errs...)
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

func (l *loader) syntax(err error) error {
	text, at := err.Error(), "1"
	if found := yamlLine.FindStringSubmatch(text); found != nil {
		text = text[len(found[0]):]
		if found[1] != "" {
			at = found[1]
		}
	}
	return fmt.Errorf("%s:%s: %s", l.file, at, text)
}

func (l *loader) rule(n *yaml.Node, at string) *rule {
	r := &rule{}
	var say, calls *yaml.Node
	l.mapping(n, at, map[string]func(*yaml.Node){
		"name": func(n *yaml.Node) { l.text(n, at+".name") },
		"when": func(n *yaml.Node) { l.condition(n, at+".when", &r.when) },
		"wait": func(n *yaml.Node) { r.wait = l.duration(n, at+".wait") },
		"fail": func(n *yaml.Node) { r.fail = l.failing(n, at+".fail") },
		"say":  func(n *yaml.Node) { say = n },
		"call": func(n *yaml.Node) { calls = n },
	})
	// These look at the conditions, wherever in the rule they are written.
	if say != nil {
		r.says, r.say = true, l.template(say, at+".say", r)
	}
	if calls != nil {
		for i, item := range l.sequence(calls, at+".call") {
			r.calls = append(r.calls, l.call(item, fmt.Sprintf("%s.call[%d]", at, i), r))
		}
	}
	if n.Kind == yaml.MappingNode && say == nil && calls == nil && r.fail == nil {
		l.fail(n, "%s: a rule needs say, call or fail", at)
	}
	if len(r.calls) > 0 && !r.when.step.set && r.when.result == nil {
		r.when.step = steps{set: true} // else it would call for ever
	}
	return r
}

func (l *loader) condition(n *yaml.Node, at string, c *condition) {
	l.mapping(n, at, map[string]func(*yaml.Node){
		"who": func(n *yaml.Node) { c.who = l.oneOf(n, at+".who", "person", "subagent", "summary") },
		"says": func(n *yaml.Node) {
			if n.Kind == yaml.SequenceNode {
				for _, item := range n.Content {
					c.says = append(c.says, l.text(item, at+".says"))
				}
				return
			}
			c.says = []string{l.text(n, at+".says")}
		},
		"matches": func(n *yaml.Node) { c.matches = l.pattern(n, at+".matches") },
		"brief":   func(n *yaml.Node) { c.brief = l.pattern(n, at+".brief") },
		"notice":  func(n *yaml.Node) { c.notice = l.oneOf(n, at+".notice", "delegation", "process", "watch", "any") },
		"status":  func(n *yaml.Node) { c.status = l.pattern(n, at+".status") },
		"origin":  func(n *yaml.Node) { c.origin = l.pattern(n, at+".origin") },
		"step":    func(n *yaml.Node) { c.step = l.steps(n, at+".step") },
		"result":  func(n *yaml.Node) { c.result = l.result(n, at+".result") },
	})
	if (c.status != nil || c.origin != nil) && c.notice == "" {
		l.fail(n, "%s: status and origin are of a notice, and there is no notice here", at)
	}
}

func (l *loader) result(n *yaml.Node, at string) *resultCondition {
	c := &resultCondition{}
	l.mapping(n, at, map[string]func(*yaml.Node){
		"tool":     func(n *yaml.Node) { c.tool = l.tool(n, at+".tool") },
		"contains": func(n *yaml.Node) { c.contains = l.text(n, at+".contains") },
		"matches":  func(n *yaml.Node) { c.matches = l.pattern(n, at+".matches") },
	})
	return c
}

func (l *loader) failing(n *yaml.Node, at string) *failing {
	f := &failing{kind: agent.Unavailable, message: "the script wants this attempt to fail"}
	l.mapping(n, at, map[string]func(*yaml.Node){
		"kind": func(n *yaml.Node) {
			f.kind = agent.Failure(l.oneOf(n, at+".kind",
				string(agent.Unavailable), string(agent.RateLimited), string(agent.Refused), string(agent.TooLong), string(agent.Credential)))
		},
		"times": func(n *yaml.Node) {
			if f.times = l.number(n, at+".times"); f.times < 1 {
				l.fail(n, "%s.times: a number from 1 up; without it the rule always fails", at)
			}
		},
		"retry_after": func(n *yaml.Node) { f.retryAfter = l.duration(n, at+".retry_after") },
		"message":     func(n *yaml.Node) { f.message = l.text(n, at+".message") },
	})
	return f
}

func (l *loader) call(n *yaml.Node, at string, r *rule) call {
	c := call{args: map[string]any{}}
	l.mapping(n, at, map[string]func(*yaml.Node){
		"tool": func(n *yaml.Node) { c.tool = l.tool(n, at+".tool") },
		"args": func(n *yaml.Node) {
			if n.Kind != yaml.MappingNode {
				l.fail(n, "%s.args: names with values are expected here", at)
				return
			}
			c.args = l.value(n, at+".args", r)
		},
	})
	if c.tool == "" && n.Kind == yaml.MappingNode {
		l.fail(n, "%s: a call needs a tool", at)
	}
	return c
}

// value reads any YAML value; texts are templates.
func (l *loader) value(n *yaml.Node, at string, r *rule) any {
	switch n.Kind {
	case yaml.MappingNode:
		out := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := l.text(n.Content[i], at)
			if _, twice := out[key]; twice {
				l.fail(n.Content[i], "%s: %s is there twice", at, key)
			}
			out[key] = l.value(n.Content[i+1], at+"."+key, r)
		}
		return out
	case yaml.SequenceNode:
		out := []any{}
		for i, item := range n.Content {
			out = append(out, l.value(item, fmt.Sprintf("%s[%d]", at, i), r))
		}
		return out
	case yaml.ScalarNode:
		return l.scalar(n, at, r)
	}
	l.fail(n, "%s: anchors and aliases are not used in scripts", at)
	return nil
}

func (l *loader) scalar(n *yaml.Node, at string, r *rule) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return b
		}
	case "!!int":
		if i, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
			return i
		}
	case "!!float":
		if f, err := strconv.ParseFloat(n.Value, 64); err == nil && f-f == 0 { // JSON has no infinity
			return f
		}
	}
	return l.template(n, at, r)
}

// template reads a text with expressions, and checks that the rule has what they ask for.
func (l *loader) template(n *yaml.Node, at string, r *rule) template {
	t, err := parse(l.text(n, at))
	if err != nil {
		l.fail(n, "%s: %v", at, err)
		return nil
	}
	for _, p := range t {
		switch {
		case p.name == "group" && !r.has(p):
			l.fail(n, "%s: the rule's regular expressions have no such group: {{group %s}}", at, cmp.Or(p.word, strconv.Itoa(p.number)))
		case p.name == "notice" && r.when.notice == "":
			l.fail(n, "%s: {{notice …}} is for rules whose when names a notice", at)
		}
	}
	return t
}

// has tells whether one of the rule's regular expressions has the group.
func (r *rule) has(p piece) bool {
	for _, re := range []*regexp.Regexp{r.when.matches, r.when.brief} {
		if re == nil {
			continue
		}
		if p.word == "" {
			return p.number <= re.NumSubexp() // the first one counts
		}
		if slices.Contains(re.SubexpNames(), p.word) {
			return true
		}
	}
	return false
}

func (l *loader) steps(n *yaml.Node, at string) steps {
	text := l.text(n, at)
	open := strings.HasSuffix(text, "+")
	least, err := strconv.Atoi(strings.TrimSuffix(text, "+"))
	if err != nil || least < 0 {
		l.fail(n, "%s: a number of tool results is expected here, such as 0, 2 or 3+", at)
		return steps{}
	}
	if open {
		return steps{set: true, least: least, most: -1}
	}
	return steps{set: true, least: least, most: least}
}

func (l *loader) duration(n *yaml.Node, at string) time.Duration {
	d, err := time.ParseDuration(l.text(n, at))
	if err != nil || d < 0 {
		l.fail(n, "%s: a duration is expected here, such as 300ms or 2s", at)
	}
	return max(d, 0)
}

func (l *loader) tool(n *yaml.Node, at string) string {
	name := l.text(n, at)
	if len(l.tools) > 0 && !slices.Contains(l.tools, name) {
		l.fail(n, "%s: unknown tool %q%s", at, name, suggest(name, l.tools))
	}
	return name
}

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
