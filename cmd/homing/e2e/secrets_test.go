package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
	fake "github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

// whatever goes wrong with the platform and the model, the bot's token and the model's key are told to nobody: no
// log at any level, no command, no chat, no status, no HTTP answer, no file. Every test looks for them when it ends; this
// one provokes what could tell them.
func TestSecrets(t *testing.T) {
	w := newWorld(t, settings{"delivery.send_timeout": "300ms"})
	p := w.direct()
	w.start()
	echo := "Bad Request: /bot" + w.token + "/sendMessage said no"
	send := func(f faketelegram.Fault) {
		f.Method, f.Times = "sendMessage", 1
		w.tg.Add(f)
		n := len(w.tg.Calls("sendMessage"))
		w.do("send", "--to", fmt.Sprintf("telegram:%d", owner), "a letter")
		w.until("it is tried", func() bool { return len(w.tg.Calls("sendMessage")) > n })
	}
	send(faketelegram.Fault{Status: 400, Description: echo})
	send(faketelegram.Fault{Status: 502, Body: "<html>" + echo + "</html>"})
	send(faketelegram.Fault{Drop: true})
	send(faketelegram.Fault{Hang: true})

	w.model.When(fake.All(fake.Says("hello"), fake.Not(fake.Says("again"))), fake.Fail(401, "Incorrect API key provided: "+w.key))
	w.model.When(fake.Says("again"), fake.Fail(500, "key "+w.key+" broke it"), fake.Say("well"))
	p.ask("hello", "Incorrect API key provided: ***")
	p.say("again")
	w.until("the model failed", func() bool { return strings.Contains(w.log(), "broke it") })
	p.command("/status")
	p.command("/undelivered")
	p.command("/why")

	w.tg.Add(faketelegram.Fault{Method: "getUpdates", Drop: true, Times: 1})
	w.tg.Down()
	w.until("the account is down", func() bool {
		s := w.telegram()
		return s.State != "up" && strings.Contains(w.do("status", "--json"), "last_error")
	})
	w.telegramIsBack()
	w.tg.Add(faketelegram.Fault{Method: "getMe", Status: 401, Description: "Unauthorized: " + w.token, Times: 1})
	w.until("the account is parked or up", func() bool { return w.telegram().State != "degraded" })

	for _, path := range []string{"/readyz", "/healthz", "/metrics", "/status", "/" + w.key} {
		r, err := http.Get("http://" + w.address() + path)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if text := string(b); strings.Contains(text, w.token) || strings.Contains(text, w.key) {
			t.Errorf("%s tells a secret: %s", path, text)
		}
	}
	for _, c := range [][]string{{"config", "show"}, {"config", "check"}, {"queue", "ls", "--all"}, {"sessions", "show", p.current().ID}, {"status"}} {
		w.do(c...)
	}
	for _, c := range [][]string{{"config", "show"}, {"queue", "ls"}, {"sessions", "ls"}, {"status"}} {
		w.do(append(c, "--json")...)
	}
	for _, q := range w.queue("--all") {
		w.do("trace", q.ID)
	}
	if !strings.Contains(w.do("config", "show"), "***") {
		t.Error("config show does not show that there are secrets")
	}
	w.config["platforms.telegram.tokn"] = w.token
	w.config["agent.api_kye"] = w.key
	w.configure()
	w.fails(78, "did you mean", "config", "check")
}
