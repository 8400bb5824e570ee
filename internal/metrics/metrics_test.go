package metrics_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"go.uber.org/zap/zaptest"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/gateway"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/metrics"
	"github.com/homing-gateway/homing/internal/view"
)

var now = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func newMetrics(t *testing.T, counts func() (view.Counts, error)) *metrics.Metrics {
	return metrics.New(metrics.Options{
		Platforms: []chat.Platform{"here"}, Counts: counts, Log: zaptest.NewLogger(t),
		Accounts: func() []gateway.AccountStatus {
			return []gateway.AccountStatus{
				{Account: chat.Account{Profile: "default", Platform: "here", ID: "1"}, State: gateway.Up},
				{Account: chat.Account{Profile: "work", Platform: "here", ID: "2"}, State: gateway.Parked, LastError: "secret words"},
			}
		},
	})
}

func standing() (view.Counts, error) {
	since := time.Now().Add(-90 * time.Second)
	return view.Counts{Completions: 2, OldestCompletion: &since, Delegations: 3, Processes: 4}, nil
}

func scrape(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("code %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// Names, types and labels are a promise, kept from the first scrape on.
func TestNamesAndLabels(t *testing.T) {
	want := map[string]string{
		"homing_completions_total":    "COUNTER kind,outcome",
		"homing_queue_depth":          "GAUGE queue",
		"homing_queue_oldest_seconds": "GAUGE queue",
		"homing_deliveries_total":     "COUNTER outcome,platform",
		"homing_delivery_seconds":     "HISTOGRAM platform",
		"homing_turns_total":          "COUNTER outcome",
		"homing_turn_seconds":         "HISTOGRAM ",
		"homing_platform_up":          "GAUGE platform,profile",
		"homing_route_switches_total": "COUNTER reason",
		"homing_store_commit_seconds": "HISTOGRAM ",
		"homing_processes":            "GAUGE ",
		"homing_delegations":          "GAUGE ",
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(scrape(t, newMetrics(t, standing))))
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName())
			}
			slices.Sort(labels)
			if got := f.GetType().String() + " " + strings.Join(labels, ","); got != want[name] {
				t.Errorf("%s is %q, want %q", name, got, want[name])
			}
		}
		if f.GetHelp() == "" {
			t.Errorf("%s has no help", name)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

// Each end counts once, by a word of a closed list: whatever else stands in a record never becomes a label.
func TestCount(t *testing.T) {
	const private = "secret words"
	m := newMetrics(t, standing)
	m.Count([]machine.Record{
		{Kind: "message", State: "taken", ID: private},
		{Kind: "completion", State: "pending", Of: "process"},
		{Kind: "completion", State: "admitted"},
		{Kind: "completion", State: "bound"},
		{Kind: "completion", State: "done", Of: "delegation", Why: "answered", Cause: private},
		{Kind: "completion", State: "dead", Of: "process", Why: "boundary"},
		{Kind: "completion", State: "done", Of: "process", Why: "dropped"},
		{Kind: "completion", State: "dead", Of: private, Why: private},
		{Kind: "outgoing", State: "queued", Why: private},
		{Kind: "outgoing", State: "sending"},
		{Kind: "outgoing", State: "sent", Of: "here", Why: private, At: now, Since: now.Add(-2 * time.Second)},
		{Kind: "outgoing", State: "sent", Of: "here", At: now, Since: now.Add(time.Hour)}, // the clock was put back
		{Kind: "outgoing", State: "unknown", Of: "here", Why: private},
		{Kind: "outgoing", State: "dead", Of: "here", Why: "refused"},
		{Kind: "outgoing", State: "dead", Of: "here", Why: "dropped"},
		{Kind: "outgoing", State: "dead", Of: private, Why: private},
		{Kind: "turn", State: "running"},
		{Kind: "turn", State: "waiting_for_environment", Why: private},
		{Kind: "turn", State: "completed", At: now, Since: now.Add(-3 * time.Second)},
		{Kind: "turn", State: "failed", Why: private, At: now, Since: now.Add(-3 * time.Second)},
		{Kind: "route", State: "opened"},
		{Kind: "route", State: "switched", Why: "session_reset"},
	})
	got := scrape(t, m)
	for _, line := range []string{
		`homing_completions_total{kind="delegation",outcome="answered"} 1`,
		`homing_completions_total{kind="process",outcome="boundary"} 1`,
		`homing_completions_total{kind="process",outcome="dropped"} 1`,
		`homing_completions_total{kind="process",outcome="answered"} 0`,
		`homing_completions_total{kind="other",outcome="other"} 1`,
		`homing_deliveries_total{outcome="sent",platform="here"} 2`,
		`homing_deliveries_total{outcome="unknown",platform="here"} 1`,
		`homing_deliveries_total{outcome="refused",platform="here"} 1`,
		`homing_deliveries_total{outcome="dropped",platform="here"} 1`,
		`homing_deliveries_total{outcome="other",platform="other"} 1`,
		`homing_delivery_seconds_sum{platform="here"} 2`,
		`homing_delivery_seconds_count{platform="here"} 2`,
		`homing_turns_total{outcome="completed"} 1`,
		`homing_turns_total{outcome="failed"} 1`,
		`homing_turns_total{outcome="quarantined"} 0`,
		`homing_turn_seconds_sum 6`,
		`homing_turn_seconds_count 2`,
		`homing_route_switches_total{reason="session_reset"} 1`,
		`homing_route_switches_total{reason="session_switch"} 0`,
		`homing_queue_depth{queue="completion"} 2`,
		`homing_queue_depth{queue="outgoing"} 0`,
		`homing_queue_oldest_seconds{queue="completion"} 9`, // and a little
		`homing_queue_oldest_seconds{queue="outgoing"} 0`,
		`homing_platform_up{platform="here",profile="default"} 1`,
		`homing_platform_up{platform="here",profile="work"} 0`,
		`homing_delegations 3`,
		`homing_processes 4`,
	} {
		if !strings.Contains(got, "\n"+line) {
			t.Errorf("no line %s in\n%s", line, got)
		}
	}
	if strings.Contains(got, private) {
		t.Errorf("a text of a record is told:\n%s", got)
	}
}

// A store that can't be read takes away what is looked up there, and nothing else.
func TestUnreadable(t *testing.T) {
	m := newMetrics(t, func() (view.Counts, error) { return view.Counts{}, errors.New("damaged") })
	commit := m.Timed(func([]machine.Change) error { return machine.ErrNoSpace })
	if err := commit(nil); !errors.Is(err, machine.ErrNoSpace) {
		t.Errorf("the error of a commit became %v", err)
	}
	got := scrape(t, m)
	if !strings.Contains(got, "homing_store_commit_seconds_count 1\n") || !strings.Contains(got, "homing_platform_up{") || strings.Contains(got, "homing_queue_depth") {
		t.Error(got)
	}
}
