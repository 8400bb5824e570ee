package e2e

import (
	"strings"
	"testing"
)

// [N-02]: a webhook that is left set is named, with a remedy, and left to the operator. What is sound is found sound, with
// the daemon and without it.
func TestDoctor(t *testing.T) {
	w := newWorld(t, nil)
	w.configure()
	if r := w.run("doctor"); r.code != 0 || !strings.Contains(r.out, "no webhook is set") {
		t.Errorf("a sound installation: %+v", r)
	}
	w.start()
	if r := w.run("doctor", "--json"); r.code != 0 || !strings.Contains(r.out, "held by the running daemon") {
		t.Errorf("while it runs: %+v", r)
	}
	w.tg.Webhook("https://elsewhere.example/hook")
	if r := w.run("doctor"); r.code != 1 || !strings.Contains(r.out, "webhook is set") || !strings.Contains(r.out, "deleteWebhook") {
		t.Errorf("with a webhook: %+v", r)
	}
	if calls := w.tg.Calls("deleteWebhook"); len(calls) != 0 {
		t.Error("doctor removed the webhook")
	}
}

// A model that cannot be reached is named with its address, and no secret is.
func TestDoctorNamesTheModel(t *testing.T) {
	w := newWorld(t, settings{"agent.base_url": "http://127.0.0.1:1/v1"})
	w.configure()
	if r := w.run("doctor", "--json"); r.code != 1 || !strings.Contains(r.out, "127.0.0.1:1") {
		t.Errorf("an unreachable model: %+v", r)
	}
}
