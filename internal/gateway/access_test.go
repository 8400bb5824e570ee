package gateway_test

import (
	"testing"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/gateway"
)

// nobody by default, in direct chats and in groups, whatever the person is called.
func TestHear(t *testing.T) {
	closed := gateway.Access{RequireMention: true}
	listed := gateway.Access{AllowedUsers: []string{"1001"}, RequireMention: true}
	open := gateway.Access{AllowAll: true}
	in := func(kind chat.PlaceType, person string, addressed bool) chat.Message {
		return chat.Message{Address: chat.Address{Type: kind, Chat: "-5", Person: person}, PersonName: "1001", Addressed: addressed}
	}
	bot := func(m chat.Message) chat.Message { m.FromBot = true; return m }
	for name, tt := range map[string]struct {
		access  gateway.Access
		message chat.Message
		want    gateway.Hearing
	}{
		"no list, direct":                      {closed, in(chat.Direct, "1001", true), gateway.Denied},
		"no list, mention in a group":          {closed, in(chat.Group, "1001", true), gateway.Denied},
		"no person":                            {listed, in(chat.Direct, "", true), gateway.Denied},
		"a name that looks like an id":         {listed, in(chat.Direct, "6666", true), gateway.Denied},
		"listed, direct":                       {listed, in(chat.Direct, "1001", false), gateway.ForUs},
		"listed, mention in a group":           {listed, in(chat.Group, "1001", true), gateway.ForUs},
		"listed, a group's own talk":           {listed, in(chat.Group, "1001", false), gateway.NotForUs},
		"listed, a channel's own talk":         {listed, in(chat.Channel, "1001", false), gateway.NotForUs},
		"listed, a thread without a mention":   {listed, in(chat.Thread, "1001", false), gateway.IfTakePart},
		"stranger, a thread without a mention": {listed, in(chat.Thread, "6666", false), gateway.Denied},
		"open, no mention wanted":              {open, in(chat.Group, "6666", false), gateway.ForUs},
		"another bot, direct":                  {open, bot(in(chat.Direct, "7", true)), gateway.NotForUs},
		"another bot, a mention":               {open, bot(in(chat.Channel, "7", true)), gateway.BotForUs},
		"another bot, no mention":              {open, bot(in(chat.Thread, "7", false)), gateway.NotForUs},
		"a bot that is not listed":             {listed, bot(in(chat.Group, "7", true)), gateway.Denied},
	} {
		if got := tt.access.Hear(tt.message); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

func TestAdmin(t *testing.T) {
	for name, tt := range map[string]struct {
		access gateway.Access
		person string
		want   bool
	}{
		"no admins: whoever is listed":   {gateway.Access{AllowedUsers: []string{"1"}}, "1", true},
		"no admins: nobody else":         {gateway.Access{AllowedUsers: []string{"1"}}, "2", false},
		"no admins, open to all: nobody": {gateway.Access{AllowAll: true}, "2", false},
		"admins: only they":              {gateway.Access{AllowedUsers: []string{"1"}, Admins: []string{"9"}}, "1", false},
		"admins: they":                   {gateway.Access{Admins: []string{"9"}}, "9", true},
		"the operator's terminal":        {gateway.Access{Console: true}, "local", true},
	} {
		if got := tt.access.Admin(tt.person); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
