package slack

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/slack-go/slack"
)

// FuzzEvent: whatever Slack sends, reading it ends, with something that the core can take.
func FuzzEvent(f *testing.F) {
	for _, seed := range [][2]string{
		{"events_api", `{"event_id":"Ev1","event":{"type":"message","channel":"C1","channel_type":"channel","user":"U1","text":"<@U0> a <https://x|y> &lt;","ts":"1.5"}}`},
		{"events_api", `{"event":{"type":"app_mention","channel":"D1","ts":"1","files":[1],"thread_ts":"0.1"}}`},
		{"slash_commands", `{"channel_id":"C1","user_id":"U1","text":"status"}`},
		{"interactive", `{"type":"block_actions","user":{"id":"U1"},"channel":{"id":"C1"},"actions":[{"type":"button","value":"/x"}]}`},
		{"new", `[]`},
	} {
		f.Add(seed[0], []byte(seed[1]))
	}
	a := &Adapter{me: Identity{Team: "T0", User: "U0", Bot: "B0"}, options: Options{ReplyInThread: true}}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	a.names = newNames(slack.New("xoxb-none", slack.OptionAPIURL("http://127.0.0.1:1/")))
	f.Fuzz(func(t *testing.T, kind string, payload []byte) {
		if !json.Valid(payload) {
			return
		}
		e, err := a.event(over, envelope{ID: "e", Type: kind, Payload: payload})
		if m := e.Message; err == nil && m != nil && (e.ID == "" || m.Address.Chat == "" || !m.Address.Type.Valid() || m.SentAt.IsZero()) {
			t.Errorf("%s %s: %+v", kind, payload, m)
		}
	})
}

// FuzzSections: every piece fits into a block, and nothing is lost but blanks between them.
func FuzzSections(f *testing.F) {
	f.Add(strings.Repeat("a b\n", 2000))
	f.Add("```\n" + strings.Repeat("code\n", 1500) + "```")
	f.Add(strings.Repeat("&amp;", 1201) + strings.Repeat("<x", 2000))
	f.Add(strings.Repeat("<", 7000))
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || len(text) > 40000 {
			return
		}
		left := func(s string) string { return strings.NewReplacer("`", "", "\n", "", " ", "").Replace(s) }
		pieces := sections(text, false)
		for _, p := range pieces {
			if utf8.RuneCountInString(p) > maxSection || p == "" && len(pieces) > 1 {
				t.Errorf("a piece of %d characters", utf8.RuneCountInString(p))
			}
		}
		if got := left(strings.Join(pieces, "")); got != left(text) {
			t.Errorf("%d of %d characters are left", len(got), len(left(text)))
		}
		blanks := strings.NewReplacer("\n", "", " ", "")
		if got := blanks.Replace(strings.Join(sections(text, true), "")); got != blanks.Replace(text) {
			t.Errorf("plain text is not the same: %d characters of %d", len(got), len(text))
		}
	})
}
