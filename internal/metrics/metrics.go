// Package metrics counts what a daemon does, in the form that Prometheus reads. Ends are counted from the journal as it is
// committed, so that a number never runs ahead of the store; how things stand is looked up when somebody asks.
//
// A label is a word of a closed list: never an id, a name, or a text.
package metrics

import (
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/gateway"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
	"github.com/homing-gateway/homing/internal/view"
)

// Options is what metrics are made of.
type Options struct {
	Platforms []chat.Platform // where messages are brought to
	Counts    func() (view.Counts, error)
	Accounts  func() []gateway.AccountStatus
	Log       *zap.Logger
}

// Metrics are the numbers of one daemon.
type Metrics struct {
	registry    *prometheus.Registry
	platforms   []string
	log         *zap.Logger
	completions *prometheus.CounterVec
	deliveries  *prometheus.CounterVec
	delivery    *prometheus.HistogramVec
	turns       *prometheus.CounterVec
	turn        prometheus.Histogram
	switches    *prometheus.CounterVec
	commit      prometheus.Histogram
}

// New makes the metrics of a daemon. What can be counted stands at zero from the beginning, so that the first end of a kind
// is seen as a rise.
func New(o Options) *Metrics {
	m := &Metrics{
		registry:    prometheus.NewRegistry(),
		log:         o.Log.Named("metrics"),
		completions: counter("homing_completions_total", "Completions that were done or became dead letters, by how or why.", "kind", "outcome"),
		deliveries:  counter("homing_deliveries_total", "Outgoing messages that were sent, became dead letters, or are unknown.", "platform", "outcome"),
		turns:       counter("homing_turns_total", "Turns that ended, by how.", "outcome"),
		switches:    counter("homing_route_switches_total", "Places whose conversation was left, by why.", "reason"),
		delivery: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "homing_delivery_seconds", Help: "Time from queued to sent of an outgoing message.",
			Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200},
		}, []string{"platform"}),
		turn: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "homing_turn_seconds", Help: "Time from the beginning of a turn to its end.",
			Buckets: []float64{.25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 7200},
		}),
		commit: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "homing_store_commit_seconds", Help: "Time that a commit of the store took until it was durable.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5},
		}),
	}
	m.registry.MustRegister(m.completions, m.deliveries, m.delivery, m.turns, m.turn, m.switches, m.commit, newGauges(o))
	for _, kind := range kinds {
		for _, outcome := range completionOutcomes {
			m.completions.WithLabelValues(kind, outcome)
		}
	}
	for _, p := range o.Platforms {
		m.platforms = append(m.platforms, string(p))
		m.delivery.WithLabelValues(string(p))
		for _, outcome := range deliveryOutcomes {
			m.deliveries.WithLabelValues(string(p), outcome)
		}
	}
	for _, outcome := range turnOutcomes {
		m.turns.WithLabelValues(outcome)
	}
	for _, r := range switchReasons() {
		m.switches.WithLabelValues(r)
	}
	return m
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// The words that labels are made of. What is not among them is counted as other.
var (
	kinds              = []string{string(delivery.Delegation), string(delivery.Process), string(delivery.Watch)}
	completionOutcomes = []string{
		delivery.DoneAnswered, delivery.DoneEntered, delivery.DoneReceipt, delivery.DoneSuppressed, delivery.DoneConsumed,
		delivery.DoneInterrupted, delivery.DoneDropped,
		string(session.Boundary), string(session.OwnerMissing), string(session.OwnerCorrupt), string(session.Cycle), string(session.TooDeep),
		string(session.NoProvenance), string(session.PlaceTaken),
		delivery.ReasonExpired, delivery.ReasonTurnFailed, delivery.ReasonQuarantined,
	}
	deliveryOutcomes = []string{
		string(delivery.Sent), string(delivery.Unknown), delivery.ReasonAttempts, delivery.ReasonExpired, delivery.ReasonRefused, delivery.DoneDropped,
	}
	turnOutcomes = []string{
		string(machine.TurnCompleted), string(machine.TurnFailed), string(machine.TurnInterrupted), string(machine.TurnQuarantined),
	}
)

// switchReasons lists why a place goes from one conversation to another.
func switchReasons() []string {
	var out []string
	for _, r := range session.EndReasons() {
		if !r.OfChild() {
			out = append(out, string(r))
		}
	}
	return out
}

func among(words []string, w string) string {
	if slices.Contains(words, w) {
		return w
	}
	return "other"
}

// Count counts what a commit made durable. It is called by the writer's goroutine, and does not block.
func (m *Metrics) Count(journal []machine.Record) {
	for _, r := range journal {
		switch r.Kind {
		case "completion":
			if s := delivery.CompletionState(r.State); s == delivery.Done || s == delivery.Dead {
				m.completions.WithLabelValues(among(kinds, r.Of), among(completionOutcomes, r.Why)).Inc()
			}
		case "outgoing":
			m.countMessage(r)
		case "turn":
			if machine.TurnState(r.State).Ended() {
				m.turns.WithLabelValues(among(turnOutcomes, r.State)).Inc()
				m.turn.Observe(between(r.Since, r.At))
			}
		case "route":
			if r.State == "switched" {
				m.switches.WithLabelValues(among(switchReasons(), r.Why)).Inc()
			}
		}
	}
}

// countMessage counts a message that came to its end. Why may be a platform's own words: only a dead letter is counted by it.
func (m *Metrics) countMessage(r machine.Record) {
	outcome, platform := r.State, among(m.platforms, r.Of)
	switch s := delivery.MessageState(r.State); {
	case s == delivery.Sent:
		m.delivery.WithLabelValues(platform).Observe(between(r.Since, r.At))
	case (s == delivery.Unknown || s == delivery.Buried) && r.Why == delivery.DoneDropped:
		outcome = r.Why
	case s == delivery.Buried:
		outcome = among(deliveryOutcomes, r.Why)
	case s != delivery.Unknown:
		return // on its way
	}
	m.deliveries.WithLabelValues(platform, outcome).Inc()
}

// between is never negative: clocks are put back.
func between(from, to time.Time) float64 { return max(to.Sub(from), 0).Seconds() }

// Timed is commit with its time measured. A commit that failed counts as well: a slow disk shows before it fails.
func (m *Metrics) Timed(commit func([]machine.Change) error) func([]machine.Change) error {
	return func(changes []machine.Change) error {
		began := time.Now()
		defer func() { m.commit.Observe(time.Since(began).Seconds()) }()
		return commit(changes)
	}
}

// Handler serves the numbers.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog: zap.NewStdLog(m.log), ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 4,
	})
}
