package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"go.uber.org/zap/zaptest"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/gateway"
	"github.com/homing-gateway/homing/internal/metrics"
	"github.com/homing-gateway/homing/internal/view"
)

// What a small run did is counted: two turns, three messages, one conversation that was left.
func TestNumbersOfARun(t *testing.T) {
	defer goleak.VerifyNone(t)
	var m *metrics.Metrics
	var g *gateway.Gateway
	p := newPlace()
	g, _, end := serve(t, p, echo{}, func(o *gateway.Options) {
		db := o.Store
		m = metrics.New(metrics.Options{
			Platforms: []chat.Platform{p.account.Platform}, Log: zaptest.NewLogger(t),
			Counts:   func() (view.Counts, error) { return view.Count(db) },
			Accounts: func() []gateway.AccountStatus { return g.Accounts() },
		})
		o.Commit, o.Journal = m.Timed(db.Commit), m.Count
	})
	scrape := func() string {
		w := httptest.NewRecorder()
		m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		return w.Body.String()
	}
	holds := func(got string, lines ...string) {
		t.Helper()
		for _, l := range lines {
			if !strings.Contains(got, "\n"+l+"\n") {
				t.Errorf("no line %s in\n%s", l, got)
			}
		}
	}
	p.say(t, "1", "7", "first words")
	next(t, p)
	p.say(t, "2", "7", "/new")
	next(t, p)
	p.say(t, "3", "7", "second words")
	next(t, p)
	holds(scrape(), `homing_platform_up{platform="here",profile="default"} 1`)
	end()
	got := scrape()
	holds(
		got,
		`homing_turns_total{outcome="completed"} 2`, `homing_turn_seconds_count 2`,
		`homing_deliveries_total{outcome="sent",platform="here"} 3`, `homing_delivery_seconds_count{platform="here"} 3`,
		`homing_route_switches_total{reason="session_reset"} 1`,
	)
	if strings.Contains(got, "homing_store_commit_seconds_count 0\n") {
		t.Error("no commit was timed")
	}
	if strings.Contains(got, "words") {
		t.Error("a text is told")
	}
}
