package discord_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest/fakediscord"
	"github.com/homing-gateway/homing/adapters/discord"
	"github.com/homing-gateway/homing/internal/chat"
)

// neither the token nor an interaction's secret is in any error, log line or printed value, whatever goes wrong.
func TestNoSecretIsTold(t *testing.T) {
	w := start(t, func(o *discord.Options) { o.CallTimeout = 100 * time.Millisecond })
	var said []string
	tell := func(err error) {
		for ; err != nil; err = errors.Unwrap(err) {
			said = append(said, fmt.Sprintf("%v %+v %#v %q", err, err, err, err))
		}
	}
	echo := "what is " + token + "?"
	out := chat.Outbound{To: inDirect(), Text: "x"}
	for _, f := range []fakediscord.Fault{
		{Status: 400, Message: echo},
		{Status: 502, Body: echo},
		{Status: 400, Code: 50035, Errors: map[string]any{"content": echo}},
		{Status: 200, Body: echo},
		{Hang: true},
		{Drop: true},
	} {
		w.dc.Clear()
		w.dc.Add(f)
		_, err := w.a.Send(t.Context(), out)
		tell(err)
		tell(w.a.Edit(t.Context(), "5", out))
		tell(w.a.Typing(t.Context(), inDirect()))
		_, err = w.a.Check(t.Context())
		tell(err)
		tell(w.run(nil).End(t))
	}
	w.dc.Clear()
	w.dc.Add(fakediscord.Fault{Name: "POST callback", Drop: true})
	r := w.connected(w.run(nil))
	w.dc.Slash(direct, alice, "status", "")
	w.dc.Dispatch("INTERACTION_CREATE", map[string]any{"id": 5, "token": "interaction-secret-x"})
	w.until("it fails", func() bool { return len(w.dc.Calls("POST callback")) == 1 })
	w.dc.Down()
	tell(r.End(t))
	_, err := w.a.Send(t.Context(), out)
	tell(err)
	o := w.options
	o.Token = token
	said = append(said, fmt.Sprintf("%v %+v %#v %v %+v %#v", w.a, w.a, w.a, o, o, o))
	for _, l := range w.logs.All() {
		said = append(said, fmt.Sprint(l.Message, l.ContextMap()))
	}
	for _, s := range said {
		if strings.Contains(s, "SecretOfTheBot") || strings.Contains(s, "interaction-secret") {
			t.Errorf("a secret is told: %s", s)
		}
	}
	if len(said) < 25 {
		t.Errorf("only %d things were said", len(said))
	}
}
