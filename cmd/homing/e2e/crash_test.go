package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	fake "github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

// [R-08] [P-09]: the daemon is killed at a point between two durable steps and started again. What people were to
// get they get once, where it belongs; only what was just being sent, of which Telegram cannot tell whether it arrived,
// may come once more, with the mark. A point is a kind of request to the machine, before or after its commit, and which
// one it is in the life that ends there: what happens in a life is fixed by its script.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	var sum tally
	t.Run("matrix", func(t *testing.T) {
		for _, row := range []struct {
			name   string
			play   func(*crash)
			points string
		}{
			{"turn", (*crash).turn, "receive.before receive.after answered.before answered.after claim.before claim.after send_done.before send_done.after"},
			{"command in a turn", (*crash).foreground, "answered.after:1 started.before started.after ended.before ended.after answered.before:2 answered.after:2 send_done.before"},
			{"background process", (*crash).process, "answered.after:1 started.after answered.after:2 send_done.before:1 ended.before ended.after answered.before:3 answered.after:3 claim.before:2 claim.after:2 send_done.before:2"},
			{"background process, owner busy", (*crash).processBusy, "ended.before ended.after"},
			{"delegation", (*crash).delegation, "answered.after:1 answered.after:2 answered.before:3 answered.after:3 answered.before:4 answered.after:4 claim.before:2 claim.after:2 send_done.before:2"},
			{"delegation, owner busy", (*crash).delegationBusy, "answered.before:4 answered.after:4"},
			{"handoff", (*crash).handoff, "answered.after:3 started.after answered.before:4 answered.after:4 answered.after:5 ended.before ended.after answered.after:7 claim.after:3 send_done.before:3"},
			{"file of a person", (*crash).fileIn, "receive.before receive.after fetched.before fetched.after answered.after"},
			{"file of the agent", (*crash).fileOut, "answered.after:1 tool_done.before tool_done.after claim.before claim.after send_done.before send_done.after"},
			{"new", (*crash).newConversation, "receive.before:2 receive.after:2 claim.after:2 send_done.before:2 ended.before ended.after receive.after:4 answered.after:4 send_done.before:5"},
		} {
			for point := range strings.FieldsSeq(row.points) {
				t.Run(row.name+"/"+point, func(t *testing.T) {
					c := &crash{place: newWorld(t, nil).direct(), point: point, sum: &sum}
					c.elsewhere()
					c.startToDieAt(point)
					row.play(c)
					c.judge()
				})
			}
		}
	})
	t.Logf("%d points: %d lost, %d doubled, %d misrouted, %d repeated with the mark", sum.rows.Load(), sum.lost.Load(), sum.doubled.Load(), sum.misrouted.Load(), sum.marked.Load())
}

// tally sums the matrix up.
type tally struct{ rows, lost, doubled, misrouted, marked atomic.Int64 }

// crash is a conversation whose daemon dies once on the way.
type crash struct {
	*place
	point string
	sum   *tally
	due   []string // what the person is told, in the order in which it is sent
	turns int      // conversations that the place has had
}

// elsewhere lets other people and places be the ones that were heard last, in a life before.
func (c *crash) elsewhere() {
	c.start()
	for _, p := range []*place{c.in("guest", guest, 0, guest), c.inTopic()} {
		p.answers(p.word("hello"), p.word("greeting"))
		p.ask(p.word("hello"), p.word("greeting"))
	}
	c.stop()
}

// told waits until the person has been told a text and the daemon knows that it was sent: what is told and what happens
// next are then in no race.
func (c *crash) told(text string) {
	c.Helper()
	c.due = append(c.due, text)
	c.sees(text)
	c.reads("what was sent is known to be", func(q []queued) bool {
		return !slices.ContainsFunc(q, func(m queued) bool { return m.Queue == "outgoing" && strings.Contains(m.Text, text) })
	})
}

// reads waits until the queue is as it should be, whether a daemon lives to tell or not.
func (c *crash) reads(what string, ok func([]queued) bool) {
	c.Helper()
	c.until(what, func() bool {
		var q []queued
		r := c.run("queue", "ls", "--json")
		return r.code == 0 && json.Unmarshal([]byte(r.out), &q) == nil && ok(q)
	})
}

// dies waits until the daemon has died and lives again.
func (c *crash) dies() {
	c.Helper()
	c.until("the daemon dies at "+c.point, func() bool { return c.daemon.deaths > 0 && c.ready() })
}

// traced is a command that leaves a trace each time it is started.
func (c *crash) traced(at *gate, then string) string {
	return fmt.Sprintf("echo %s >>started; %s", c.word("started"), at.then(then))
}

func (c *crash) turn() {
	c.answers(c.word("ask"), c.word("answer"))
	c.say(c.word("ask"))
	c.told(c.word("answer"))
}

func (c *crash) foreground() {
	at := c.gate("gate")
	c.model.Script(fake.Says(c.word("ask")), foreground(c.traced(at, "echo "+c.word("output"))), fake.Dynamic(func(a fake.Ask) fake.Answer {
		if !strings.Contains(a.LastResult(), c.word("output")) {
			return fake.Say("the result is wrong: " + a.LastResult())
		}
		return fake.Say(c.word("answer"))
	}))
	c.say(c.word("ask"))
	at.open()
	c.told(c.word("answer"))
}

// background scripts a background process and gets it running.
func (c *crash) background() *gate {
	at := c.gate("gate")
	c.model.Script(fake.Says(c.word("ask")), background(c.traced(at, "echo "+c.word("output"))), fake.Say(c.word("running")))
	c.model.When(fake.All(fake.Notice("process", c.word("output")), knows(c.word("ask"))), fake.Say(c.word("done")))
	c.say(c.word("ask"))
	c.told(c.word("running"))
	return at
}

func (c *crash) process() {
	c.background().open()
	c.told(c.word("done"))
}

func (c *crash) processBusy() {
	at := c.background()
	c.busy(at.open)
	c.told(c.word("done"))
}

// busy occupies the conversation, lets something end meanwhile that kills the daemon, and comes to an end.
func (c *crash) busy(end func()) {
	free := make(chan struct{})
	c.model.When(fake.Says(c.word("more")), fake.Held(free, fake.Say(c.word("moreanswer"))))
	c.say(c.word("more"))
	c.isAsked("what keeps it busy", fake.Says(c.word("more")))
	end()
	c.dies()
	close(free)
	c.told(c.word("moreanswer"))
}

// delegate scripts a delegation and gets it running; home lets the subagent go home.
func (c *crash) delegate(steps ...fake.Answer) (home func()) {
	stay := make(chan struct{})
	c.model.Script(fake.Says(c.word("ask")), delegate(c.word("goal")), fake.Say(c.word("running")))
	if len(steps) == 0 {
		steps = []fake.Answer{fake.Say(c.word("summary"))}
	}
	steps[0] = fake.Held(stay, steps[0])
	c.model.Script(fake.Brief(c.word("goal")), steps...)
	c.model.When(fake.All(fake.Notice("delegation", c.word("summary")), knows(c.word("ask"))), fake.Say(c.word("report")))
	c.say(c.word("ask"))
	c.told(c.word("running"))
	return func() { close(stay) }
}

func (c *crash) delegation() {
	c.delegate()()
	c.told(c.word("report"))
}

func (c *crash) delegationBusy() {
	home := c.delegate()
	free := make(chan struct{})
	c.model.Script(fake.Says(c.word("more")), foreground("true"), fake.Held(free, fake.Say(c.word("moreanswer"))))
	c.say(c.word("more"))
	c.isAsked("what keeps it busy", fake.All(fake.Says(c.word("more")), fake.AfterStep(1)))
	home()
	c.dies()
	close(free)
	c.told(c.word("moreanswer"))
	c.told(c.word("report"))
}

func (c *crash) handoff() {
	at := c.gate("gate")
	home := c.delegate(background(c.traced(at, "echo "+c.word("output"))), manage("handoff", "a build"), fake.Say(c.word("summary")))
	c.model.When(fake.All(fake.Notice("process", c.word("output")), knows(c.word("ask"))), fake.Say(c.word("built")))
	home()
	c.told(c.word("report"))
	at.open()
	c.told(c.word("built"))
}

// newConversation: what ends after /new is kept, and told once its person is back.
func (c *crash) newConversation() {
	after := make(chan struct{}) // it was said that the person is back
	c.model.When(fake.Notice("process"), fake.Held(after, fake.Say(c.word("done"))))
	at := c.background()
	c.turns = 2
	c.say("/new")
	c.told("A new conversation begins")
	_, old, _ := strings.Cut(c.seen(), "/resume ")
	at.open()
	c.reads("the end is kept", func(q []queued) bool { return len(q) == 1 && q[0].Reason == "boundary" })
	c.model.When(fake.All(fake.Says(c.word("fresh")), fake.Not(knows(c.word("ask")))), fake.Say(c.word("freshanswer")))
	c.say(c.word("fresh"))
	c.told(c.word("freshanswer"))
	c.times(c.word("done"), 0)
	c.say("/resume " + strings.Fields(old)[0])
	c.told("Back in the conversation")
	close(after)
	c.told(c.word("done"))
}

// judge counts.
func (c *crash) judge() {
	c.Helper()
	c.sum.rows.Add(1)
	c.dies()
	c.reads("all is settled", func(q []queued) bool { return len(q) == 0 })
	if c.daemon.deaths != 1 {
		c.Errorf("the daemon died %d times at %s, want once", c.daemon.deaths, c.point)
	}
	for i, text := range c.due {
		plain, marked := 0, 0
		for _, m := range c.everywhere() {
			switch here := m.Chat == c.chat && m.Thread == c.thread; {
			case !strings.Contains(m.Text, text):
			case !here:
				c.sum.misrouted.Add(1)
				c.Errorf("%q is in %d/%d", text, m.Chat, m.Thread)
			case strings.HasPrefix(m.Text, "♻ recovered, may be a duplicate"):
				marked++
			default:
				plain++
			}
		}
		c.sum.marked.Add(int64(marked))
		wantPlain, wantMarked := c.want(i + 1)
		if plain+marked < wantPlain+wantMarked {
			c.sum.lost.Add(1)
		} else if plain+marked > wantPlain+wantMarked {
			c.sum.doubled.Add(1)
		}
		if plain != wantPlain || marked != wantMarked {
			c.Errorf("%q was told %d times plainly and %d times with the mark, want %d and %d", text, plain, marked, wantPlain, wantMarked)
		}
	}
	if n := len(c.conversations()) - 2; n != max(c.turns, 1) { // two are elsewhere
		c.Errorf("the place has had %d conversations, want %d", n, max(c.turns, 1))
	}
	if trace, err := os.ReadFile(c.workspace("started")); err == nil && strings.Count(string(trace), "\n") != 1 {
		c.Errorf("the command was started %d times, want once", strings.Count(string(trace), "\n"))
	}
}

// want is how often the n-th message that is sent comes: where the daemon dies between the claim and the first byte, only
// with the mark; where it dies before it has noted that the platform took it, twice.
func (c *crash) want(n int) (plain, marked int) {
	kind, count, _ := strings.Cut(c.point, ":")
	at, err := strconv.Atoi(count)
	if err != nil {
		at = 1
	}
	switch {
	case at != n:
	case kind == "claim.after":
		return 0, 1
	case kind == "send_done.before":
		return 1, 1
	}
	return 1, 0
}
