package gateway

import (
	"strings"
	"testing"

	"github.com/homing-gateway/homing/internal/chat"
)

// FuzzParseRoute: what a person types as a place is a chat of an account that is served, or is refused in words.
func FuzzParseRoute(f *testing.F) {
	for _, s := range []string{
		"telegram:1001", "telegram:-10088:7", "telegram", "telegram:", "telegram::7", "telegram:1:", "console", "default/telegram:1", "work/telegram:1", "/:", "", ":",
		"default:telegram:4711:direct:1001", "default:telegram:4711:group:-5::1001", "default:telegram:1:direct:1001", "default:console:local:direct:console", "default:telegram:4711:direct:%2F",
	} {
		f.Add(s)
	}
	of := chat.Account{Profile: "default", Platform: "telegram", ID: "4711"}
	g := &Gateway{o: Options{Profiles: []Profile{{Name: "default"}}}}
	g.console = newConsole(g)
	g.accounts = map[chat.Account]*account{of: {access: Access{HomeChat: "-10088:9"}}, g.console.info.Account: {}}
	f.Fuzz(func(t *testing.T, typed string) {
		to, keying, err := g.ParseRoute(typed)
		if err != nil {
			if err.Error() == "" {
				t.Fatalf("%q is refused without a word", typed)
			}
			return
		}
		if _, served := g.accounts[to.Account]; !served || to.Chat == "" {
			t.Fatalf("%q is %+v", typed, to)
		}
		if k := chat.KeyOf(to, keying); strings.ContainsAny(string(k), " \n") || k.Address().Chat != to.Chat {
			t.Fatalf("%q is %+v with the key %q", typed, to, k)
		}
	})
}

// FuzzParseCommand: what counts as a command has a name that can be typed, and keeps what was said after it.
func FuzzParseCommand(f *testing.F) {
	for _, s := range []string{"/new", "!stop now", "/resume@homing_bot  2", "//", "/usr/bin", "/é", "/new\x00", "/NEW\nand more", "! "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, arg, ok := parseCommand(text)
		if !ok {
			return
		}
		if name == "" || name != strings.ToLower(name) || strings.ContainsAny(name, " \n/!@") || !strings.Contains(text, arg) || arg != strings.TrimSpace(arg) {
			t.Fatalf("%q is the command %q with %q", text, name, arg)
		}
	})
}
