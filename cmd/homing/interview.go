package main

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"golang.org/x/term"

	"github.com/homing-gateway/homing/adapters/discord"
	"github.com/homing-gateway/homing/adapters/telegram"
	"github.com/homing-gateway/homing/config"
	"github.com/homing-gateway/homing/internal/agent/openai"
)

// interview asks a person for what a configuration cannot do without. A value is looked at as soon as it is typed, a secret
// is not shown.
type interview struct {
	terminal *term.Terminal
	env      func(string) (string, bool)
	values   map[string]config.Value
	hints    []string // what is left to do, in words
}

// run asks all questions and gives the text of the file. An error means that the person has gone away.
func (v *interview) run(path string) (text []byte, hints []string, err error) {
	v.tell("This writes %s.\nEnter takes what stands in brackets. Ctrl-C ends this, and nothing is written.\n", path)
	v.tell("Keys and tokens are not shown; $NAME stands for the variable that holds one.\n\n")
	v.tell("The model: any server that speaks OpenAI's protocol, such as one of your own at\nhttp://127.0.0.1:11434/v1.\n")
	if err = v.model(); err == nil {
		err = v.chats()
	}
	if errors.Is(err, io.EOF) { // Ctrl-C, Ctrl-D
		v.tell("\n")
		return nil, nil, errorText("ended; nothing was written")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("nothing was written: %w", err)
	}
	v.tell("\n")
	text, err = config.Fill(v.values)
	return text, v.hints, err
}

func (v *interview) tell(format string, args ...any) { _, _ = fmt.Fprintf(v.terminal, format, args...) }

func (v *interview) model() error {
	url, err := v.text("agent.base_url", "  Base URL ["+openai.DefaultBaseURL+"]: ", nil)
	if err != nil {
		return err
	}
	if _, err = v.text("agent.model", "  Name of the model: ", func(s string) error {
		if s == "" {
			return errors.New("is needed: name a model that the server has")
		}
		return nil
	}); err != nil {
		return err
	}
	return v.credential(config.KeyAt("agent.api_key"), "API key", url != "", nil)
}

// chats asks about the platforms that this version runs, and names the others.
func (v *interview) chats() error {
	var built []config.Platform
	var others []string
	for _, p := range config.KnownPlatforms() {
		if p.Built {
			built = append(built, p)
		} else {
			others = append(others, p.Name)
		}
	}
	v.tell("\nChats")
	if len(others) > 0 {
		v.tell(" (not in this version: %s)", strings.Join(others, ", "))
	}
	v.tell(":\n")
	for i, p := range built {
		if err := v.platform(p, i == 0); err != nil {
			return err
		}
	}
	return nil
}

// platform asks whether to connect one. Of the first one that is taken for granted: who connects none has but the terminal.
func (v *interview) platform(p config.Platform, first bool) error {
	choice := "[y/N]"
	if first {
		choice = "[Y/n]"
	}
	for {
		answer, err := v.line("  Connect " + p.Name + "? " + choice + ": ")
		if err != nil {
			return err
		}
		switch answer = strings.ToLower(answer); {
		case answer == "y", answer == "yes", answer == "" && first:
			return v.connect(p)
		case answer == "n", answer == "no", answer == "":
			return nil
		}
		v.wrong(errors.New("is neither yes nor no"))
	}
}

func (v *interview) connect(p config.Platform) error {
	for _, k := range p.Credentials {
		words := strings.TrimSuffix(k.Doc, ".")
		var form func(string) error
		switch k.Path {
		case "platforms.telegram.token":
			words, form = "Token, from @BotFather", botToken
		case "platforms.slack.bot_token":
			words, form = "Bot User OAuth Token, from api.slack.com/apps", beginsWith("xoxb-")
		case "platforms.slack.app_token":
			words, form = "App-Level Token with connections:write", beginsWith("xapp-")
		case "platforms.discord.token":
			words, form = "Token, from the Bot page of the Developer Portal", discordToken
		}
		if err := v.credential(k, words, false, form); err != nil {
			return err
		}
	}
	_, given := v.env(p.Allowed.Usual)
	nobody := "nobody"
	if given {
		nobody = "$" + p.Allowed.Usual
	}
	like := "1001, 1002"
	if p.Name == "slack" {
		like = "U012AB3CD"
	}
	for {
		typed, err := v.line("  Ids of who may talk to the agent, like " + like + " [" + nobody + "]: ")
		if err != nil {
			return err
		}
		ids := strings.FieldsFunc(typed, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
		switch err := config.Check(p.Allowed.Path, ids...); {
		case err != nil:
			v.wrong(err)
			continue
		case len(ids) > 0:
			v.values[p.Allowed.Path] = config.List(ids...)
		case !given:
			v.hint("Nobody may talk to the agent yet. Say hello to the bot while the gateway runs: the line `message denied` in its log has\nyour id as `person`; it belongs into %s.", p.Allowed.Path)
		}
		return nil
	}
}

// botToken tells whether a text can be the token of a Telegram bot.
func botToken(s string) error {
	if _, err := telegram.New(telegram.Options{Token: s}); errors.Is(err, telegram.ErrToken) {
		return errors.New("is not a token: it is a number, a colon and letters, like 123456789:AAExample")
	}
	return nil
}

// discordToken tells whether a text can be the token of a Discord bot.
func discordToken(s string) error {
	if _, err := discord.New(discord.Options{Token: s}); errors.Is(err, discord.ErrToken) {
		return errors.New("is not a token: it has three parts with dots between them")
	}
	return nil
}

// beginsWith tells whether a text can be a token of Slack.
func beginsWith(prefix string) func(string) error {
	return func(s string) error {
		if !strings.HasPrefix(s, prefix) {
			return fmt.Errorf("is not that token: it begins with %s", prefix)
		}
		return nil
	}
}

// text asks for a value that may be seen; left empty it is not set.
func (v *interview) text(path, prompt string, form func(string) error) (string, error) {
	for {
		typed, err := v.line(prompt)
		if err != nil {
			return "", err
		}
		err = config.Check(path, typed)
		if err == nil && form != nil {
			err = form(typed)
		}
		if err != nil {
			v.wrong(err)
			continue
		}
		if typed != "" {
			v.values[path] = config.Text(typed)
		}
		return typed, nil
	}
}

var (
	variable  = regexp.MustCompile(`^\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))$`)
	forgotten = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$`)
)

// credential asks for a value that must not be seen, or for the variable that holds it. Left empty it comes from the usual
// variable.
func (v *interview) credential(k config.Key, words string, optional bool, form func(string) error) error {
	standard := "$" + k.Usual
	if optional {
		standard += ", or none"
	}
	prompt := fmt.Sprintf("  %s [%s]: ", words, standard)
	ask := func() (string, error) { return v.line(prompt) }
	if k.Secret {
		ask = func() (string, error) {
			s, err := v.terminal.ReadPassword(prompt)
			return strings.TrimSpace(s), err
		}
	}
	for {
		typed, err := ask()
		if err != nil {
			return err
		}
		name := ""
		if m := variable.FindStringSubmatch(typed); m != nil {
			name = m[1] + m[2]
		}
		switch {
		case typed == "" && optional:
			return nil
		case typed == "" || name == k.Usual: // the usual variable is looked at where the file says nothing
			name = k.Usual
		case name != "":
			v.values[k.Path] = config.Variable(name)
		case forgotten.MatchString(typed):
			v.wrong(errors.New("looks like the name of a variable: write a $ before it"))
			continue
		default:
			err := config.Check(k.Path, typed)
			if err == nil && form != nil {
				err = form(typed)
			}
			if err != nil {
				v.wrong(err)
				continue
			}
			v.values[k.Path] = config.Text(typed)
			return nil
		}
		if s, ok := v.env(name); !ok || strings.TrimSpace(s) == "" {
			v.hint("$%s is not set here. It must be set where homing runs.", name)
		}
		return nil
	}
}

func (v *interview) line(prompt string) (string, error) {
	v.terminal.SetPrompt(prompt)
	s, err := v.terminal.ReadLine()
	return strings.TrimSpace(s), err
}

// wrong says what is wrong with what was typed. A text that begins with what it is about needs no subject.
func (v *interview) wrong(err error) {
	text := err.Error()
	if !strings.HasPrefix(text, `"`) {
		text = "That " + text
	}
	v.tell("  %s.\n", text)
}

func (v *interview) hint(format string, args ...any) {
	v.hints = append(v.hints, fmt.Sprintf(format, args...))
}
