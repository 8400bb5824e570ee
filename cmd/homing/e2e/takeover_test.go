package e2e

import (
	"fmt"
	"strings"
	"testing"

	fake "github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

// [C-01]: a process that a subagent has started ends, and the conversation stays with its person: the route does not
// move, the conversation does not end, the report is seen once in its place, and the next message is answered out of the
// conversation's own transcript. One table over how the process ends, whether it is shown, how deep the subagent is, and
// where the person is; the places of one installation all go through it at the same time.
func TestTakeover(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"while the subagent lives", "after it, handed off", "after it, as an orphan", "after a promotion"} {
		for _, surfaced := range []bool{false, true} {
			for _, depth := range []int{1, 2} {
				name := fmt.Sprintf("C-01/%s/surfaced=%v/depth=%d", end, surfaced, depth)
				t.Run(name, func(t *testing.T) {
					changes := settings{"delegation.surface_child_process_notifications": surfaced, "delegation.max_spawn_depth": depth}
					if end == "after a promotion" {
						changes["terminal.promote_after"] = "100ms"
					}
					w := newWorld(t, changes)
					w.withSlack(nil)
					places := []*place{w.direct(), w.inGroup(), w.inTopic(), w.console(), w.slackDirect(), w.slackThread(), w.slackMention()}
					if depth == 1 {
						w.withDiscord()
						places = append(places, w.discordDirect(), w.discordChannel(), w.discordThread())
					}
					w.start()
					for _, p := range places {
						t.Run(p.name, func(t *testing.T) {
							t.Parallel()
							p.world = w.on(t)
							study(p, depth).takeover(end, surfaced)
						})
					}
				})
			}
		}
	}
}

// errand is a conversation that gives work to a subagent.
type errand struct {
	*place
	hello, order, started, goal, worker, output, summary, report, next, owned, stranger string

	at     *gate         // where the subagent's process waits
	stay   chan struct{} // closed: the subagent may go home
	before session
}

// study scripts an errand: the person says hello, orders the work, gets the report, and says something else. The worker
// is the subagent that starts the process: the only one, or at depth 2 the one that it delegates to.
func study(p *place, depth int) *errand {
	e := &errand{
		place: p, hello: p.word("hello"), order: p.word("order"), started: p.word("started"), goal: p.word("goal"), output: p.word("output"),
		summary: p.word("summary"), report: p.word("report"), next: p.word("next"), owned: p.word("owned"), stranger: p.word("stranger"),
		at: p.gate(p.word("gate")), stay: make(chan struct{}),
	}
	p.answers(e.hello, p.word("greeting"))
	p.model.Script(fake.Says(e.order), delegate(e.goal+" find it out"), fake.Say(e.started))
	p.model.When(fake.All(fake.Says(e.next), knows(e.hello, e.order)), fake.Say(e.owned))
	p.answers(e.next, e.stranger)
	p.model.When(fake.Notice("delegation", e.summary), fake.Say(e.report))
	e.worker = e.goal
	if depth == 2 {
		e.worker = p.word("subgoal")
		p.model.Script(fake.Brief(e.goal), delegate(e.worker+" read one page"), fake.Say(e.summary))
	}
	return e
}

// work scripts the worker; what it says last is its summary.
func (e *errand) work(steps ...fake.Answer) {
	e.model.Script(fake.Brief(e.worker), append(steps, fake.Held(e.stay, fake.Say(e.summary)))...)
}

func (e *errand) begin() {
	e.Helper()
	e.ask(e.hello, e.word("greeting"))
	e.before = e.current()
	e.ask(e.order, e.started)
}

// reported waits for the report.
func (e *errand) reported() {
	e.Helper()
	if e.screen != nil { // a terminal that looks too early only looks more often
		e.isAsked("the result", fake.Notice("delegation", e.summary))
	}
	e.sees(e.report)
}

// owns holds that the person's next message is answered by the owner of the conversation, which nothing has moved.
func (e *errand) owns() {
	e.Helper()
	e.say(e.next)
	e.until("an answer to the next message", func() bool {
		seen := e.seen()
		return strings.Contains(seen, e.owned) || strings.Contains(seen, e.stranger)
	})
	e.once(e.owned)
	e.once(e.report)
	e.unmoved(e.before)
	if n := len(e.asked(fake.All(fake.Notice("delegation", e.summary), fake.Not(fake.Says(e.next))))); n != 1 {
		e.Errorf("the result opened %d turns, want 1", n)
	}
}

func (e *errand) takeover(end string, surfaced bool) {
	command := e.at.then("echo " + e.output)
	built := e.word("built")
	e.model.When(fake.Notice("process", e.output), fake.Say(built))
	switch end {
	case "while the subagent lives":
		e.work(background(command))
		e.begin()
		e.at.open()
		e.processIs(e.output, "exited")
		close(e.stay)
		e.reported()
	case "after a promotion": // [P-18]
		e.work(foreground(command))
		e.begin()
		e.isAsked("the promoted command's result", fake.All(fake.Brief(e.worker), fake.Result("promoted_after_seconds")))
		if p := e.process(e.output); p.StartedBy != p.Owner || !strings.HasPrefix(p.Owner, "sub_") {
			e.Errorf("the promoted process belongs to %q, want the subagent", p.Owner)
		}
		e.at.open()
		e.processIs(e.output, "exited")
		close(e.stay)
		e.reported()
	case "after it, handed off":
		e.work(background(command), manage("handoff", "a build"))
		e.begin()
		close(e.stay)
		e.reported()
		if p := e.process(e.output); p.State != "running" || p.Owner != e.before.ID || !strings.HasPrefix(p.StartedBy, "sub_") {
			e.Errorf("the process that was handed off is %s, of %s, started by %s", p.State, p.Owner, p.StartedBy)
		}
		e.at.open()
		e.sees(built)
	case "after it, as an orphan":
		e.work(background(command))
		e.begin()
		e.at.reached()
		close(e.stay)
		e.reported()
		p := e.processIs(e.output, "killed")
		if len(e.asked(fake.All(fake.Either(fake.Notice("delegation", p.ID), fake.Result(p.ID)), fake.Not(fake.Brief(e.worker))))) == 0 {
			e.Errorf("the result does not name the orphan %s", p.ID)
		}
	}
	e.owns()
	e.receipts(end, surfaced)
	if end == "after it, handed off" {
		e.once(built)
	} else {
		e.times(built, 0)
	}
}

// receipts holds what is seen and told of the process itself: nothing, or once with whom it was for when it is to be shown.
func (e *errand) receipts(end string, surfaced bool) {
	e.Helper()
	shown := surfaced && (end == "while the subagent lives" || end == "after a promotion")
	attribution := fmt.Sprintf("): %s ", e.worker) // started by subagent sub_… (del_…): GOAL
	told := e.asked(fake.All(fake.Not(fake.Brief(e.worker)), fake.Not(fake.Brief(e.goal)), knows("[homing:process", e.output, e.worker)))
	if !shown {
		e.times(attribution, 0)
		if len(told) > 0 && end != "after it, handed off" {
			e.Errorf("the owner's transcript has a notice of the subagent's process: %q", told[0].Said())
		}
		return
	}
	e.once(attribution)
	if len(told) == 0 {
		e.Error("the owner's transcript lacks the notice of the process that was shown")
	}
	for _, a := range e.asked(fake.Notice("process", e.output)) {
		if !fake.Either(fake.Notice("delegation"), fake.Says(e.next))(a) {
			e.Errorf("the notice opened a turn of its own: %q", a.Said())
		}
	}
}
