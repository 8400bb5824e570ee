package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// report gathers the results of all rounds.
type report struct {
	rounds map[program][]result
	deep   [2][]float64 // rates with nothing and with a million queued, by round
	exits  []float64
	daemon daemonFacts
}

func newReport() *report { return &report{rounds: map[program][]result{}} }

func (r *report) add(p program, got result) { r.rounds[p] = append(r.rounds[p], got) }

// find returns the results of a program by rounds.
func (r *report) find(what string, callers, talks int, wait bool) []result {
	for p, got := range r.rounds {
		if p.What == what && p.Callers == callers && p.Talks == talks && p.Wait == wait {
			return got
		}
	}
	return nil
}

// runs counts the runs of all rounds but River's, and disturbed those of them during which others used the machine.
func (r *report) runs() (n int) {
	for p, got := range r.rounds {
		if p.What != "river" {
			n += len(got)
		}
	}
	return n
}

func (r *report) disturbed() (n int) {
	for p, got := range r.rounds {
		for _, x := range got {
			if p.What != "river" && x.Foreign >= foreignLimit {
				n++
			}
		}
	}
	return n
}

// moduleVersion is the version of a module that this program is built with.
func moduleVersion(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == path {
				return m.Version
			}
		}
	}
	return ""
}

// rates renders the median rate of all rounds with its span.
func rates(x []result) string {
	var v []float64
	for _, r := range x {
		v = append(v, r.Rate)
	}
	return fmt.Sprintf("%.0f [%.0f..%.0f]", median(v), slices.Min(v), slices.Max(v))
}

// ratio is the ratio of two programs, round by round.
func ratio(a, b []result) []float64 {
	var v []float64
	for i := range a {
		v = append(v, a[i].Rate/b[i].Rate)
	}
	return v
}

func span(v []float64, digits int) string {
	return fmt.Sprintf("%.*f [%.*f..%.*f]", digits, median(v), digits, slices.Min(v), digits, slices.Max(v))
}

// verdict sets a figure beside its floor and its goal.
func verdict(got, floor float64, more bool) string {
	if more == (got >= floor) || got == floor {
		return "holds"
	}
	return "**missed**"
}

func (r *report) markdown() string {
	var b strings.Builder
	p := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	p("# Performance")
	p("")
	p("Written by `make bench` on %s: %s, %d cores, %s, %s. Change the command, not this page.", time.Now().UTC().Format("2006-01-02"), cpuModel(), runtime.NumCPU(), kernel(), runtime.Version())
	p("")
	p("A number of its own says how fast this machine's disk is today; what can be compared are the ratios. All programs of a round run one after")
	p("the other, in shuffled order, each in a process of its own, after a wait for a quiet machine. A run during which others used more than %.1f of a core is made again,", foreignLimit)
	p("up to %d times; %d of %d runs were disturbed all the same. River's runs are exempt: its server counts as others. Given are medians of the %d rounds", tries, r.disturbed(), r.runs(), len(r.find("log", 1, 0, false)))
	p("[smallest..largest]; a ratio is taken within its round.")
	p("")
	p("## Routed completions")
	p("")
	p("- **The limit** is a bare log: a file whose blocks were written before, one writer that appends what has queued and flushes once. A cycle is two records of")
	p("  512 bytes, each waited for.")
	p("- **Homing** is the product's own machine and store, journal included. A cycle is a process that ends with 512 bytes of output: its owner is proved along")
	p("  three marks of a delegation, the completion is admitted, its notice enters the transcript, a turn binds it, all in one durable step; the turn's end, with")
	p("  a transcript entry and the completion done, is another one. Each caller reports to a conversation of its own. As in the daemon, nobody waits for a turn's")
	p("  end before the next process may end; \"both waited for\" is the same with that wait.")
	p("- **River** %s on PostgreSQL %s (Debian's package, its defaults: every commit is synced), fetching every millisecond instead of its default of 100 ms. A cycle is a job of", moduleVersion("github.com/riverqueue/river"), postgresVersion())
	p("  512 bytes, inserted and brought to its handler; its acknowledgement is not waited for.")
	p("")
	p("Cycles a second:")
	p("")
	p("| callers | limit | Homing | both waited for | River |")
	p("|---|---|---|---|---|")
	for _, c := range []int{1, 16, 256} {
		p("| %d | %s | %s | %s | %s |", c, rates(r.find("log", c, 0, false)), rates(r.find("product", c, c, false)), rates(r.find("product", c, c, true)), rates(r.find("river", c, 0, false)))
	}
	p("")
	p("With 256 callers that report to 16 conversations instead, a turn takes several completions at once: %s.", rates(r.find("product", 256, 16, false)))
	p("")
	p("| callers | Homing / limit | both waited for / limit | Homing / River | flushes a cycle | own CPU a cycle, µs |")
	p("|---|---|---|---|---|---|")
	for _, c := range []int{1, 16, 256} {
		ours, waited, limit, peer := r.find("product", c, c, false), r.find("product", c, c, true), r.find("log", c, 0, false), r.find("river", c, 0, false)
		var flushes, cpu []float64
		for _, x := range ours {
			flushes, cpu = append(flushes, x.Flushes), append(cpu, x.CPU)
		}
		p("| %d | %s | %s | %s | %.3f | %.0f |", c, span(ratio(ours, limit), 2), span(ratio(waited, limit), 2), span(ratio(ours, peer), 1), median(flushes), median(cpu))
	}
	p("")
	p("## Floors and goals")
	p("")
	p("| figure | floor | goal | measured | |")
	p("|---|---|---|---|---|")
	row := func(name string, floor, goal, got float64, digits int, more bool, unit string) {
		sign := "≥"
		if !more {
			sign = "≤"
		}
		aim := ""
		if goal != 0 {
			aim = fmt.Sprintf("%s %g%s", sign, goal, unit)
		}
		p("| %s | %s %g%s | %s | %.*f%s | %s |", name, sign, floor, unit, aim, digits, got, unit, verdict(got, floor, more))
	}
	at256, at16 := r.find("product", 256, 256, false), r.find("product", 16, 16, false)
	row("of the limit, 256 callers", 0.25, 0.5, median(ratio(at256, r.find("log", 256, 0, false))), 2, true, "")
	row("times River, 256 callers", 20, 40, median(ratio(at256, r.find("river", 256, 0, false))), 1, true, "")
	row("of the limit, 16 callers", 0.7, 0, median(ratio(at16, r.find("log", 16, 0, false))), 2, true, "")
	row("flushes a cycle, 256 callers", 0.03, 0.02, medianOf(at256, func(x result) float64 { return x.Flushes }), 3, false, "")
	var deep []float64
	for i := range r.deep[0] {
		deep = append(deep, r.deep[1][i]/r.deep[0][i])
	}
	row("rate with a million completions queued / with none", 0.9, 0.95, median(deep), 2, true, "")
	row("from a command's end to the commit that tells of it, in commits", 4, 0, median(r.exits), 1, false, "")
	row("idle daemon, anonymous memory", 8, 0, float64(r.daemon.RssAnon)/1024, 1, false, " MiB")
	row("start to ready", 30, 0, float64(r.daemon.Ready.Microseconds())/1000, 1, false, " ms")
	row("binary, stripped", 20, 0, float64(r.daemon.Size)/1e6, 1, false, " MB")
	row("a supervisor, anonymous memory", 4, 0, float64(r.daemon.SupervisorAnon)/1024, 1, false, " MiB")
	return b.String()
}

func medianOf(x []result, f func(result) float64) float64 {
	var v []float64
	for _, r := range x {
		v = append(v, f(r))
	}
	return median(v)
}

func cpuModel() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		for line := range strings.Lines(string(b)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				return strings.TrimSpace(value)
			}
		}
	}
	return runtime.GOARCH
}

func kernel() string {
	out, err := exec.Command("uname", "-sr").Output()
	if err != nil {
		return runtime.GOOS
	}
	return strings.TrimSpace(string(out))
}
