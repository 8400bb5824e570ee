package e2e

import (
	"io"
	"net/http"
	"strings"
	"testing"

	fake "github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

// numbers asks for the metrics with that header.
func (w *world) numbers(authorization string) (code int, text string) {
	w.Helper()
	r, err := http.NewRequest(http.MethodGet, "http://"+w.address()+"/metrics", nil)
	if err != nil {
		w.Fatal(err)
	}
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		w.Fatal(err)
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err != nil {
		w.Fatal(err)
	}
	return a.StatusCode, string(b)
}

// A delegation that came home, a process that told of its end, and a conversation that was left show in the numbers, and
// nothing that was said there does.
func TestMetrics(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	gate := w.gate("metrics-gate")
	w.model.Script(fake.Says("order"), delegate("goal find it out"), fake.Say("started"))
	stay := make(chan struct{})
	w.model.Script(fake.Brief("goal"), fake.Held(stay, fake.Say("summary")))
	w.model.When(fake.Notice("delegation", "summary"), fake.Say("report"))
	w.model.Script(fake.Says("build"), background(gate.then("echo built")), fake.Say("building"))
	w.model.When(fake.Notice("process", "built"), fake.Say("finished"))
	w.start()
	holds := func(lines ...string) string {
		t.Helper()
		text := ""
		for _, l := range lines { // what is seen in the chat is durable a moment later
			w.until("the metrics say "+l, func() bool {
				_, text = w.numbers("")
				return strings.Contains(text, "\n"+l+"\n")
			})
		}
		return text
	}
	holds(
		`homing_platform_up{platform="telegram",profile="default"} 1`, `homing_completions_total{kind="delegation",outcome="answered"} 0`,
		`homing_deliveries_total{outcome="sent",platform="telegram"} 0`,
	)
	p.ask("order", "started")
	holds(`homing_delegations 1`)
	close(stay)
	p.sees("report")
	p.ask("build", "building")
	holds(`homing_processes 1`)
	gate.open()
	p.sees("finished")
	p.command("/new")
	text := holds(
		`homing_completions_total{kind="delegation",outcome="answered"} 1`,
		`homing_completions_total{kind="process",outcome="answered"} 1`,
		`homing_turns_total{outcome="completed"} 5`, // of the person, of the subagent, and of what came home
		`homing_turn_seconds_count 5`,
		`homing_deliveries_total{outcome="sent",platform="telegram"} 5`,
		`homing_delivery_seconds_count{platform="telegram"} 5`,
		`homing_route_switches_total{reason="session_reset"} 1`,
		`homing_delegations 0`, `homing_processes 0`,
		`homing_queue_depth{queue="completion"} 0`, `homing_queue_depth{queue="outgoing"} 0`,
		`homing_queue_oldest_seconds{queue="completion"} 0`, `homing_queue_oldest_seconds{queue="outgoing"} 0`,
	)
	for _, private := range []string{w.token, w.key, "find it out", "order", "report", `"1001`, "_0", `"other"`} {
		if strings.Contains(text, private) {
			t.Errorf("the metrics tell %q:\n%s", private, text)
		}
	}
}

// On a loopback address the metrics are open, with a key too. Elsewhere they are for who has the key, also when asked from
// the same machine; and for nobody when there is none.
func TestMetricsAccess(t *testing.T) {
	for _, c := range []struct {
		name, listen, key, header string
		code                      int
	}{
		{"loopback", "127.0.0.1:0", "", "", http.StatusOK},
		{"loopback with a key", "127.0.0.1:0", "http-secret", "", http.StatusOK},
		{"everywhere, no key", "0.0.0.0:0", "", "Bearer http-secret", http.StatusForbidden},
		{"everywhere, not given", "0.0.0.0:0", "http-secret", "", http.StatusUnauthorized},
		{"everywhere, wrong", "0.0.0.0:0", "http-secret", "Bearer http", http.StatusUnauthorized},
		{"everywhere, right", "0.0.0.0:0", "http-secret", "Bearer http-secret", http.StatusOK},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, settings{"http.listen": c.listen, "http.api_key": c.key})
			w.start()
			code, text := w.numbers(c.header)
			if code != c.code || strings.Contains(text, "homing_processes") != (code == http.StatusOK) || strings.Contains(text, "http-secret") {
				t.Errorf("code %d, want %d: %s", code, c.code, text)
			}
		})
	}
}
