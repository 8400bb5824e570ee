package gateway

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/view"
)

// chatCommand is a command that a person can give in a chat.
type chatCommand struct {
	name, help string
	hidden     bool // another name of one that is shown
}

// chatCommands is the one list of commands: help, menu and parser read it.
func chatCommands() []chatCommand {
	return []chatCommand{
		{"new", "begin a new conversation; the old one is kept", false},
		{"reset", "the same as /new", true},
		{"stop", "stop what is running, and what was delegated", false},
		{"status", "how things stand", false},
		{"sessions", "the conversations of this place", false},
		{"resume", "go back to a conversation: /resume N or an id", false},
		{"branch", "go on in a copy of this conversation; the old one stays as it is", false},
		{"retry", "ask your last text again; what was answered is set aside", false},
		{"undo", "take your last text and all that was said after it out of the agent's mind", false},
		{"compact", "sum up what was said so far, so that the conversation takes less of the model's memory", false},
		{"undelivered", "results that came after their conversation had ended", false},
		{"tasks", "delegated work and processes; /tasks stop ID stops one", false},
		{"why", "why the last result came here", false},
		{"selftest", "for admins: put the gateway to the test in this very chat", false},
		{"platform", "for admins: /platform list, /platform pause NAME, /platform resume NAME", false},
		{"whoami", "who you are to me, and where we are", false},
		{"help", "this list", false},
		{"start", "the same as /help", true},
	}
}

// notBuiltCommands are reserved words that this version does not carry out.
func notBuiltCommands() []string {
	return []string{"queue", "steer", "approve", "deny", "model", "sethome"}
}

// menu is the native command menu.
func menu() []chat.MenuEntry {
	var out []chat.MenuEntry
	for _, c := range chatCommands() {
		if !c.hidden {
			out = append(out, chat.MenuEntry{Name: c.name, Description: c.help})
		}
	}
	return out
}

// parseCommand takes a text that is a command apart: "/name arg", or "!name arg" where a slash can't be typed. A slash
// that begins a path or a sum is no command.
func parseCommand(text string) (name, arg string, ok bool) {
	if len(text) < 2 || text[0] != '/' && text[0] != '!' {
		return "", "", false
	}
	name, arg, _ = strings.Cut(text[1:], " ")
	if line, rest, found := strings.Cut(name, "\n"); found {
		name, arg = line, rest+" "+arg
	}
	name, _, _ = strings.Cut(strings.ToLower(name), "@")
	for _, r := range name {
		if r != '_' && (r < 'a' || r > 'z') {
			return "", "", false
		}
	}
	known := slices.ContainsFunc(chatCommands(), func(c chatCommand) bool { return c.name == name }) || slices.Contains(notBuiltCommands(), name)
	if name == "" || text[0] == '!' && !known { // "!important" is a word
		return "", "", false
	}
	return name, strings.TrimSpace(arg), true
}

// command decides on a command: one that changes something is the machine's, the others are answered with a text.
func (g *Gateway) command(a *account, m chat.Message, key chat.Key, name, arg string) (*machine.Command, string) {
	switch name {
	case "new", "reset":
		return &machine.Command{Name: machine.CommandNew}, ""
	case machine.CommandStop, machine.CommandBranch, machine.CommandRetry, machine.CommandUndo:
		return &machine.Command{Name: name}, ""
	case "resume":
		return g.resume(a, m, key, arg)
	case machine.CommandCompact:
		return g.compactCommand(key)
	case machine.CommandSelftest:
		return g.selftest(a, m)
	case machine.CommandTasks:
		return g.stopTask(key, arg)
	case machine.CommandPlatform:
		return g.platform(a, m, arg)
	}
	reply, err := g.reply(a, m, key, name)
	if err != nil {
		return nil, "That could not be looked up: " + err.Error()
	}
	return nil, reply
}

// tasksReply is the answer to /tasks.
func (g *Gateway) tasksReply(key chat.Key) (string, []chat.Button) {
	text, stops, err := view.Tasks(g.o.Store, key)
	if err != nil {
		return "That could not be looked up: " + err.Error(), nil
	}
	return text, stops
}

// stopTask decides on /tasks stop ID.
func (g *Gateway) stopTask(key chat.Key, arg string) (*machine.Command, string) {
	verb, typed, _ := strings.Cut(arg, " ")
	if verb != "stop" || typed == "" {
		return nil, "/tasks lists what runs, " + view.StopTask + "ID stops one of them."
	}
	task, err := view.TaskOf(g.o.Store, key, strings.TrimSpace(typed))
	if err != nil {
		return nil, err.Error()
	}
	return &machine.Command{Name: machine.CommandTasks, Task: task}, ""
}

func (g *Gateway) reply(a *account, m chat.Message, key chat.Key, name string) (string, error) {
	switch name {
	case "help", "start":
		var b strings.Builder
		b.WriteString("What you can say to the gateway (the rest goes to the agent):\n")
		for _, c := range chatCommands() {
			if !c.hidden {
				fmt.Fprintf(&b, "\n/%s — %s", c.name, c.help)
			}
		}
		return b.String(), nil
	case "whoami":
		role := "allowed"
		if a.access.Admin(m.Address.Person) {
			role = "admin"
		}
		return fmt.Sprintf("You are %s (%s) on %s, %s.\nThis place: `%s`, profile %s.", m.Address.Person, m.PersonName, m.Address.Platform, role, key, m.Address.Profile), nil
	case "status":
		return view.StatusText(g.o.Store, key, g.statusFacts(key))
	case "sessions":
		return view.SessionsText(g.o.Store, key, a.access.Admin(m.Address.Person))
	case "undelivered":
		return view.UndeliveredText(g.o.Store, key)
	case "why":
		return view.WhyText(g.o.Store, key, time.Now())
	}
	if slices.Contains(notBuiltCommands(), name) {
		return "/" + name + " is not available in this version. /help lists what is.", nil
	}
	return fmt.Sprintf("I don't know /%s. /help lists what I know.", name), nil
}

// resume finds the conversation that a person means: its number in /sessions, or its id.
func (g *Gateway) resume(a *account, m chat.Message, key chat.Key, arg string) (*machine.Command, string) {
	admin := a.access.Admin(m.Address.Person)
	list, err := view.SessionsOf(g.o.Store, key, admin)
	if err != nil {
		return nil, "That could not be looked up: " + err.Error()
	}
	if arg == "" {
		text, err := view.SessionsText(g.o.Store, key, admin)
		if err != nil {
			return nil, "That could not be looked up: " + err.Error()
		}
		return nil, "Which one? Say /resume N.\n\n" + text
	}
	if n, err := strconv.Atoi(arg); err == nil {
		if n < 1 || n > len(list) {
			return nil, fmt.Sprintf("There is no number %d; /sessions lists %d conversation(s).", n, len(list))
		}
		return &machine.Command{Name: machine.CommandResume, Target: list[n-1].ID, Any: admin}, ""
	}
	prefix, rest, err := id.Split(arg)
	if err != nil {
		return nil, err.Error()
	}
	// Only among what this person may know of: an id of another place is not there for them.
	var found []id.Session
	for _, s := range list {
		if strings.HasPrefix(string(s.ID), prefix+rest) {
			found = append(found, s.ID)
		}
	}
	switch len(found) {
	case 0:
		if full, err := view.Find(g.o.Store, arg); err == nil && admin { // live elsewhere, or no conversation: the machine says which
			return &machine.Command{Name: machine.CommandResume, Target: id.Session(full), Any: true}, ""
		}
		return nil, "There is no conversation " + arg + " here. /sessions lists them."
	case 1:
		return &machine.Command{Name: machine.CommandResume, Target: found[0], Any: admin}, ""
	}
	return nil, fmt.Sprintf("%s could be %s or %s: give more of it.", arg, found[0], found[1])
}

// statusFacts is what /status tells beyond the store.
func (g *Gateway) statusFacts(key chat.Key) view.Facts {
	p := g.profile(key.Address().Profile)
	f := view.Facts{Model: p.Model}
	for _, s := range g.Accounts() {
		line := fmt.Sprintf("%s %s", s.Account.Platform, s.State)
		if s.Cause != "" {
			line += fmt.Sprintf(" (%s)", s.Cause)
		}
		f.Platforms = append(f.Platforms, line)
	}
	slices.Sort(f.Platforms)
	return f
}
