package e2e

import (
	"fmt"
	"strings"
	"testing"

	fake "github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

// long is a text of some 900 tokens that begins with a word, and one message on Telegram.
func long(word string) string { return word + " " + strings.Repeat("and so on ", 350) }

// chatter says something long several times, with words of its own each time, and gets long answers.
func (p *place) chatter(from, to int) {
	p.Helper()
	for i := from; i < to; i++ {
		word := p.word(fmt.Sprint("talk", i))
		p.model.When(fake.Says(word), fake.Say(long("answer-"+word)))
		p.ask(long(word), "answer-"+word)
	}
}

// last is the latest request that matches.
func (w *world) last(m fake.Match) fake.Ask {
	w.Helper()
	asks := w.asked(m)
	if len(asks) == 0 {
		w.Fatal("the model was not asked for that")
	}
	return asks[len(asks)-1]
}

// summaries are the requests for a summary so far.
func (w *world) summaries() []fake.Ask { return w.asked(fake.Summary()) }

// A notice that no turn has dealt with stays word for word.
func TestNoticeOutlivesASummary(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	w.model.When(fake.Summary(), fake.Say("they talked"))
	w.model.Script(fake.Says("run it"), background("echo figures"), fake.Say("it runs"))
	w.model.When(fake.Notice("process", "figures"), fake.Fail(400, "refused for once"))
	w.start()
	p.ask("run it", "it runs")
	p.sees("refused for once")
	p.chatter(0, 3)
	p.command("/compact")
	p.sees("Summed up: ")
	w.answers("and now?", "go on")
	p.ask("and now?", "go on")
	w.contains("the request after it", transcript(w.last(fake.Says("and now?"))), "they talked", "[homing:process proc_", "figures")
}

// [S-08]: a long conversation is summed up by itself. The session keeps its id, the next request holds the summary and what
// was said last, and no more what is old, also after a restart; nothing is erased.
func TestLongConversationIsSummedUp(t *testing.T) {
	w := newWorld(t, settings{"agent.context_tokens": 12000})
	p := w.direct()
	w.model.When(fake.Summary(), fake.Say("the person is Ada"))
	w.answers("my name is Ada", "hello Ada")
	w.start()
	p.ask("my name is Ada", "hello Ada")
	s := p.current()
	p.chatter(0, 6)
	if n := len(w.summaries()); n != 1 {
		t.Fatalf("%d summaries were asked for, want one", n)
	}
	record := w.summaries()[0]
	w.contains("the record", transcript(record), "my name is Ada", "hello Ada", p.word("talk0"), "answer-"+p.word("talk0"))
	holds := func(a fake.Ask, last string) {
		t.Helper()
		w.contains("the request after it", transcript(a), "[homing:summary]", "the person is Ada", last)
		for _, old := range []string{"my name is Ada", "hello Ada", p.word("talk0"), "answer-" + p.word("talk1")} {
			if strings.Contains(transcript(a), old) {
				t.Errorf("it still holds %q", old)
			}
		}
	}
	holds(w.last(fake.Says(p.word("talk5"))), "answer-"+p.word("talk4"))
	w.kill()
	w.start()
	w.answers("who am I?", "you are Ada")
	p.ask("who am I?", "you are Ada")
	holds(w.last(fake.Says("who am I?")), p.word("talk5"))
	p.unmoved(s)

	shown := w.do("sessions", "show", s.ID)
	w.contains("sessions show", shown, "summed up 1 time(s)", "summary\n", "the person is Ada", "user (set aside)", "my name is Ada", "answer-"+p.word("talk0"))
	w.contains("trace", w.do("trace", s.ID), "summed up 1 time(s)")
	w.contains("sessions export", w.do("sessions", "export", s.ID), `"kind": "summary"`, "my name is Ada")
	w.hidden("the person is Ada")
}

// The daemon dies around the summary: it is asked for again, or stands; the answer comes once, in the same session.
func TestKilledAroundASummary(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"compacted.before", "compacted.after"} {
		t.Run(point, func(t *testing.T) {
			w := newWorld(t, settings{"agent.context_tokens": 12000})
			p := w.direct()
			w.model.When(fake.Summary(), fake.Say("the person is Ada"))
			w.startToDieAt(point)
			p.chatter(0, 6)
			s := p.current()
			if w.daemon.deaths != 1 {
				t.Errorf("the daemon died %d times", w.daemon.deaths)
			}
			if n, want := len(w.summaries()), map[string]int{"compacted.before": 2, "compacted.after": 1}[point]; n != want {
				t.Errorf("%d summaries were asked for, want %d", n, want)
			}
			if n := strings.Count(transcript(w.last(fake.Says(p.word("talk5")))), "the person is Ada"); n != 1 {
				t.Errorf("the summary is there %d times", n)
			}
			p.once("answer-" + p.word("talk5"))
			if n := len(p.conversations()); n != 1 || s.State != "live" {
				t.Errorf("the place has had %d conversations, %s", n, s.State)
			}
		})
	}
}

// While the model is still at the summary.
func TestKilledInTheMiddleOfASummary(t *testing.T) {
	w := newWorld(t, settings{"agent.context_tokens": 12000})
	p := w.direct()
	w.model.When(fake.Summary(), fake.Hang(), fake.Say("the person is Ada"))
	w.start()
	p.chatter(0, 5)
	w.answers("one more", "answered")
	p.say(long("one more"))
	w.isAsked("a summary", fake.Summary())
	w.kill()
	w.start()
	p.sees("answered")
	p.once("answered")
	w.contains("the request after it", transcript(w.last(fake.Says("one more"))), "the person is Ada")
}

// /compact at rest: two messages, what is done and what came of it; the same session goes on with a shorter history.
func TestCompactAtRest(t *testing.T) {
	w := newWorld(t, nil)
	p := w.inGroup()
	w.model.When(fake.Summary(), fake.Say("they talked"))
	w.answers("and now?", "go on")
	w.answers("hello", "hello to you")
	w.start()
	w.contains("/compact before all", p.command("/compact"), "nothing has been said yet")
	p.ask("hello", "hello to you")
	w.contains("/compact of little", p.command("/compact"), "nothing to sum up yet")
	p.chatter(0, 4)
	s := p.current()
	w.contains("/compact", p.command("/compact"), "I sum the conversation up")
	p.sees("Summed up: 8 entries, from about ")
	w.contains("/compact again", p.command("/compact"), "nothing to sum up yet")
	p.ask("and now?", "go on")
	a := w.last(fake.Says("and now?"))
	w.contains("the request after it", transcript(a), "they talked", p.word("talk3"))
	if text := transcript(a); strings.Contains(text, p.word("talk2")) || strings.Contains(text, "/compact") || strings.Contains(text, "Summed up") {
		t.Errorf("the request after it: %q", text)
	}
	p.unmoved(s)
	w.contains("/undo", p.command("/undo"), "and now?")
	w.contains("/undo", p.command("/undo"), p.word("talk3"))
	w.contains("/undo of what was summed up", p.command("/undo"), p.word("talk2"))
	w.answers("and then?", "and on")
	p.ask("and then?", "and on")
	a = w.last(fake.Says("and then?"))
	w.contains("the request after /undo", transcript(a), "hello", p.word("talk1"))
	if text := transcript(a); strings.Contains(text, p.word("talk2")) || strings.Contains(text, "they talked") {
		t.Errorf("the request after /undo: %q", text)
	}
}

// /compact during a turn is done at its next step: the step's request holds the summary, the person's text and the results.
func TestCompactDuringATurn(t *testing.T) {
	w := newWorld(t, nil)
	p, at := w.direct(), w.gate("gate")
	w.model.When(fake.Summary(), fake.Say("they talked"))
	w.model.Script(fake.Says("run it"), foreground(at.then("echo figures")), fake.Say("it ran"))
	w.start()
	p.chatter(0, 4)
	p.say("run it")
	at.reached()
	w.contains("/compact", p.command("/compact"), "at the next step")
	if n := len(w.summaries()); n != 0 {
		t.Error("the summary is asked for in the middle of a step")
	}
	at.open()
	p.sees("it ran")
	p.sees("Summed up: ")
	a := w.last(fake.All(fake.Says("run it"), fake.AfterStep(1)))
	w.contains("the step after it", transcript(a), "they talked", "run it", "cat gate", "figures")
	if strings.Contains(transcript(a), p.word("talk0")) {
		t.Error("it still holds what is old")
	}
}

// What a person waits for is not forgotten when the daemon dies, and /stop gives it up.
func TestCompactIsKeptAndGivenUp(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	gone := make(chan struct{})
	w.model.When(fake.Summary(), fake.Hang(), fake.Say("they talked"), fake.Abandoned(gone))
	w.start()
	p.chatter(0, 3)
	p.command("/compact")
	w.isAsked("a summary", fake.Summary())
	w.kill()
	w.start()
	p.sees("Summed up: ")
	p.chatter(3, 6)
	p.command("/compact")
	w.until("a summary is asked for", func() bool { return len(w.summaries()) == 3 })
	w.contains("/stop", p.command("/stop"), "Stopped", "not summed up")
	w.until("the model is not asked any more", func() bool {
		select {
		case <-gone:
			return true
		default:
			return false
		}
	})
	w.answers("and now?", "go on")
	p.ask("and now?", "go on")
	w.contains("the request after it", transcript(w.last(fake.Says("and now?"))), p.word("talk4"))
	p.once("Summed up: ")
}

// A conversation that changes whenever the model is at its summary is not summed up for ever, and whoever waits is told; the
// next /compact begins anew. Whoever leaves is told as well.
func TestCompactOfAConversationThatMoves(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	const rounds = 8 // as many as one /compact takes
	var frees []chan struct{}
	var answers []fake.Answer
	for range rounds {
		frees = append(frees, make(chan struct{}))
		answers = append(answers, fake.Held(frees[len(frees)-1], fake.Say("never kept")))
	}
	w.model.When(fake.Summary(), append(answers, fake.Say("they talked"), fake.Hang())...)
	w.start()
	p.chatter(0, rounds+3)
	p.command("/compact")
	for i, free := range frees {
		w.until("a summary is asked for", func() bool { return len(w.summaries()) == i+1 })
		w.contains("/undo", p.command("/undo"), "Undone")
		close(free)
	}
	p.sees("it changed while the model was at it")
	p.command("/compact")
	p.sees("Summed up: ")
	p.chatter(20, 23)
	p.command("/compact")
	w.until("a summary is asked for", func() bool { return len(w.summaries()) == rounds+2 })
	p.command("/new")
	p.sees("The conversation that was left is not summed up.")
}

// A model that fails at the summary, or makes none that is a gain, costs nothing: the turn goes on with what it has, nothing
// is set aside, and who asked for it is told.
func TestSummaryThatFails(t *testing.T) {
	for name, tt := range map[string]struct {
		answer fake.Answer
		says   string
	}{
		"unavailable": {fake.Fail(503, "overloaded"), "overloaded"},
		"refused":     {fake.Fail(400, "no"), "HTTP 400"},
		"empty":       {fake.Say(" \n "), "its summary is empty"},
		"longer":      {fake.Say(strings.Repeat("word ", 12000)), "not shorter"},
		"cut":         {fake.Stream(fake.Text("they talked"), fake.Finish("length"), fake.Done()), "its limit of tokens"},
		"calls":       {fake.Call("terminal", args{"command": "touch called"}), "its summary is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, settings{"agent.context_tokens": 12000})
			p := w.direct()
			w.model.When(fake.Summary(), tt.answer)
			w.start()
			p.chatter(0, 6)
			if len(w.summaries()) == 0 {
				t.Fatal("no summary was asked for")
			}
			w.contains("the request", transcript(w.last(fake.Says(p.word("talk5")))), p.word("talk0"), "answer-"+p.word("talk0"))
			p.command("/compact")
			p.sees("could not be summed up")
			w.contains("what it says", p.seen(), tt.says, "Nothing has changed")
			for _, e := range read[session](w, "sessions", "show", p.current().ID).Entries {
				if e.SetAside || e.Kind == "summary" {
					t.Errorf("%s is set aside: %t", e.Kind, e.SetAside)
				}
			}
		})
	}
}

// A model that sums up badly is asked for a summary once in a turn, however many steps that takes.
func TestFailedSummaryIsNotAskedForAtEveryStep(t *testing.T) {
	w := newWorld(t, settings{"agent.context_tokens": 12000})
	p := w.direct()
	w.model.When(fake.Summary(), fake.Say(" "))
	echo := fake.Call("terminal", args{"command": "echo step"})
	w.model.Script(fake.Says("work on it"), echo, echo, echo, fake.Say("worked"))
	w.start()
	p.chatter(0, 6)
	before := len(w.summaries())
	p.ask("work on it", "worked")
	if n := len(w.summaries()) - before; n != 1 {
		t.Errorf("the model was asked for %d summaries in a turn of four steps, want one", n)
	}
}

// Where the conversation does not fit any more, a turn waits for a summary as for any answer.
func TestTurnWaitsForASummary(t *testing.T) {
	w := newWorld(t, settings{"agent.context_tokens": 9000})
	p := w.direct()
	w.model.When(fake.Summary(), fake.Fail(503, "overloaded"), fake.Fail(503, "overloaded"), fake.Fail(503, "overloaded"), fake.Say("they talked"))
	w.start()
	p.chatter(0, 3)
	w.answers("a lot", "read it all")
	p.say("a lot " + strings.Repeat("and more of it ", 800))
	p.sees("read it all")
	p.once("read it all")
	if n := len(w.summaries()); n != 4 {
		t.Errorf("%d summaries were asked for, want 4", n)
	}
	if n := len(w.asked(fake.Says("a lot"))); n != 1 {
		t.Errorf("the step was asked %d times, want once", n)
	}
}

// A model that takes less than agent.context_tokens says: the conversation is summed up once, and the step asked again.
// When it is still too long, the turn fails, and its person is told what to do.
func TestModelThatTakesLess(t *testing.T) {
	w := newWorld(t, nil)
	p := w.direct()
	refuse := fake.Match(func(a fake.Ask) bool { return len(a.Body) > 36_000 })
	w.model.When(refuse, fake.TooLong())
	w.model.When(fake.Summary(), fake.Say("they talked"))
	w.start()
	p.chatter(0, 6)
	a := w.last(fake.Says(p.word("talk5")))
	w.contains("the request after it", transcript(a), "they talked", p.word("talk5"))
	s := p.current()
	asked := len(w.asked(refuse))
	if asked == 0 {
		t.Error("nothing was too long")
	}
	p.say(strings.Repeat("a paste ", 5000))
	p.sees("longer than the model takes")
	w.contains("what it says", p.seen(), "/new", "agent.context_tokens", "maximum context length")
	p.unmoved(s)
	w.answers("never mind", "all right")
	w.contains("/undo", p.command("/undo"), "a paste")
	p.ask("never mind", "all right")
}

// agent.context_tokens: 0 switches it off; /compact still works.
func TestCompactionIsOff(t *testing.T) {
	w := newWorld(t, settings{"agent.context_tokens": 0})
	p := w.direct()
	w.model.When(fake.Summary(), fake.Say("they talked"))
	w.start()
	p.chatter(0, 3)
	if n := len(w.summaries()); n != 0 {
		t.Errorf("%d summaries were asked for", n)
	}
	p.command("/compact")
	p.sees("Summed up: ")
}

// A subagent that works for long is summed up like a conversation: its brief stays, and its report comes home.
func TestSubagentIsSummedUp(t *testing.T) {
	w := newWorld(t, settings{"agent.context_tokens": 12000})
	p := w.direct()
	w.model.When(fake.Summary(), fake.Say("it has dug and dug"))
	w.model.Script(fake.Says("delegate it"), delegate("dig deep"), fake.Say("it is delegated"))
	var steps []fake.Answer
	for i := range 12 {
		steps = append(steps, foreground(fmt.Sprintf("echo layer%d; yes rubble | head -n 600", i)))
	}
	child := w.model.When(fake.Brief("dig deep"), append(steps, fake.Say("found at last"))...)
	w.model.When(fake.Notice("delegation", "found at last"), fake.Say("the report"))
	w.start()
	p.ask("delegate it", "it is delegated")
	p.sees("the report")
	if n := child.Hits(); n != 13 {
		t.Errorf("the subagent was asked %d times, want 13", n)
	}
	if len(w.summaries()) == 0 {
		t.Fatal("no summary was asked for")
	}
	a := w.last(fake.Brief("dig deep"))
	w.contains("its last request", transcript(a), "it has dug and dug", "layer11")
	if strings.Contains(transcript(a), "layer0") {
		t.Error("it still holds its first step")
	}
	w.contains("the summary is made of the subagent's work", transcript(w.summaries()[0]), "dig deep", "layer0")
	p.once("the report")
}
