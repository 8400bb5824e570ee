package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/homing-gateway/homing/internal/gateway"
)

// gauges are how things stand at the moment in which somebody asks.
type gauges struct {
	o                                         Options
	depth, oldest, up, processes, delegations *prometheus.Desc
}

func newGauges(o Options) *gauges {
	gauge := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return &gauges{
		o:           o,
		depth:       gauge("homing_queue_depth", "Completions and outgoing messages that wait; dead letters do not.", "queue"),
		oldest:      gauge("homing_queue_oldest_seconds", "How long the oldest of them has waited; 0: none waits.", "queue"),
		up:          gauge("homing_platform_up", "1: the account receives; 0: it is connecting, degraded or parked.", "platform", "profile"),
		processes:   gauge("homing_processes", "Processes that run."),
		delegations: gauge("homing_delegations", "Delegations that run."),
	}
}

func (g *gauges) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{g.depth, g.oldest, g.up, g.processes, g.delegations} {
		ch <- d
	}
}

func (g *gauges) Collect(ch chan<- prometheus.Metric) {
	set := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	type account struct{ platform, profile string }
	up := map[account]float64{}
	for _, a := range g.o.Accounts() {
		k := account{string(a.Account.Platform), a.Account.Profile}
		if _, seen := up[k]; !seen {
			up[k] = 1
		}
		if a.State != gateway.Up {
			up[k] = 0
		}
	}
	for k, v := range up {
		set(g.up, v, k.platform, k.profile)
	}
	c, err := g.o.Counts()
	if err != nil { // the other numbers are served
		ch <- prometheus.NewInvalidMetric(g.depth, err)
		return
	}
	age := func(t *time.Time) float64 {
		if t == nil {
			return 0
		}
		return between(*t, time.Now())
	}
	set(g.depth, float64(c.Completions), "completion")
	set(g.depth, float64(c.Outgoing), "outgoing")
	set(g.oldest, age(c.OldestCompletion), "completion")
	set(g.oldest, age(c.OldestOutgoing), "outgoing")
	set(g.processes, float64(c.Processes))
	set(g.delegations, float64(c.Delegations))
}
