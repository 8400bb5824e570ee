package gateway_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/gateway"
)

// U-06: the typing sign is renewed before it ends, and ends with the turn, however that ends.
func TestTypingSign(t *testing.T) {
	unavailable := &agent.ProviderError{Failure: agent.Unavailable, RetryAfter: time.Hour, Err: errors.New("busy")}
	refused := &agent.ProviderError{Failure: agent.Refused, Err: errors.New("no")}
	for name, c := range map[string]struct {
		reply reply
		say   string // by the person, in the midst of it
	}{
		"answered":    {reply: reply{text: "well", after: 30 * time.Second}},
		"refused":     {reply: reply{after: 30 * time.Second, err: refused}},
		"unavailable": {reply: reply{after: 30 * time.Second, err: unavailable}},
		"stopped":     {reply: reply{text: "well", after: time.Hour}, say: "/stop"},
		"left":        {reply: reply{text: "well", after: time.Hour}, say: "/new"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(agent.Request, string) reply { return c.reply }, func(b *bubble) {
				b.say(alice, alice, "hello")
				b.pass(29900 * time.Millisecond)
				if c.say != "" {
					b.say(alice, alice, c.say)
				}
				b.pass(time.Second)
				calls := b.tg.Calls("sendChatAction")
				for i, call := range calls[1:] {
					if d := call.At.Sub(calls[i].At); d > 5*time.Second {
						b.Errorf("a gap of %s", d)
					}
				}
				if len(calls) < 6 {
					b.Errorf("%d signs in 30 s", len(calls))
				}
				b.pass(time.Minute)
				if n := len(b.tg.Calls("sendChatAction")); n != len(calls) {
					b.Errorf("%d signs after the end", n-len(calls))
				}
			})
		})
	}
}

// D-13, D-28: a wait that the platform asks for holds the signs, a refusal ends them, and neither touches the answer.
func TestTypingSignFails(t *testing.T) {
	inBubble(t, says("well", 25*time.Second), func(b *bubble) {
		b.tg.Add(faketelegram.Fault{Method: "sendChatAction", Chat: alice, Status: 429, Description: "Too Many Requests", RetryAfter: 20, Times: 1})
		b.tg.Add(faketelegram.Fault{Method: "sendChatAction", Chat: bob, Status: 400, Description: "Bad Request: no"})
		b.say(alice, alice, "hello")
		b.say(bob, bob, "hello")
		b.pass(40 * time.Second)
		count := map[string]int{}
		for _, c := range b.tg.Calls("sendChatAction") {
			count[c.Params["chat_id"]]++
		}
		if count["1001"] != 3 || count["1002"] != 1 { // at 0, 20 and 24 s; once
			b.Errorf("%v", count)
		}
		b.sees(alice, "well")
		b.sees(bob, "well")
	})
}

// U-02: a text that waits gets a sign at once, a mark where the platform takes one, else a short text; the first text of a
// turn, a command, and a text that is delivered twice get none.
func TestWaitingTextIsSeen(t *testing.T) {
	for steer, words := range map[bool]string{true: "👀 Seen. I take it up at my next step.", false: "👀 Seen. I come to it when I am done with what I am at."} {
		inBubble(t, says("well", 30*time.Second), func(b *bubble) {
			first := b.say(alice, alice, "hello")
			second := b.say(alice, alice, "and this")
			command := b.say(alice, alice, "/whoami")
			for message, want := range map[int64]string{first: "", second: "👀", command: ""} {
				if m := b.tg.Post(alice, message); m.Reaction != want {
					b.Errorf("%q bears %q, want %q", m.Text, m.Reaction, want)
				}
			}
			b.tg.Add(faketelegram.Fault{Method: "setMessageReaction", Status: 400, Description: "Bad Request: REACTION_INVALID", Times: 1})
			b.say(alice, alice, "and that")
			b.tg.Add(faketelegram.Fault{Method: "setMessageReaction", Drop: true})
			b.say(alice, alice, "and so on")
			var seen []string
			for _, m := range b.tg.Visible(alice) {
				if strings.HasPrefix(m.Text, "👀") {
					seen = append(seen, m.Text)
				}
			}
			if len(seen) != 1 || seen[0] != words {
				b.Errorf("seen: %q", seen)
			}
			b.pass(2 * time.Minute)
		}, func(o *gateway.Options) { o.Profiles[0].Steer = steer })
	}
}
