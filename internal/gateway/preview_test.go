package gateway_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/gateway"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/store"
)

// long is a text of many words.
func long(words int) string {
	return strings.TrimSpace(strings.Repeat("streamed words ", words/2)) + " END"
}

// says always answers with the same text over a time.
func says(text string, over time.Duration) script {
	return func(agent.Request, string) reply { return reply{text: text, over: over} }
}

// nothingKept holds that no preview is on record any more.
func (b *bubble) nothingKept() {
	b.Helper()
	list, err := store.Each(b.db, machine.Previews, "", func(machine.Preview) bool { return true })
	if err != nil || len(list) > 0 {
		b.Errorf("previews on record: %+v, %v", list, err)
	}
}

// U-04, D-14, D-20: an answer that is soon there grows in one message, which begins without a word of it and without a
// sound, and ends as the answer. It is changed at the platform's pace, the answer included.
func TestAnswerGrowsInPlace(t *testing.T) {
	inBubble(t, says(long(60), 6*time.Second), func(b *bubble) {
		b.say(alice, alice, "hello")
		b.pass(4 * time.Second)
		if m := b.tg.Visible(alice); len(m) != 1 || !strings.HasPrefix(m[0].Text, "streamed words") || !strings.HasSuffix(m[0].Text, " …") || strings.Contains(m[0].Text, "END") {
			b.Fatalf("in the midst: %+v", m)
		}
		b.pass(6 * time.Second)
		m := b.sees(alice, long(60))
		if m[0].First != "…" || !m[0].Silent {
			b.Errorf("sent as %q, silent %t", m[0].First, m[0].Silent)
		}
		if n := b.paced(alice, 1500*time.Millisecond); n < 3 || n > 5 {
			b.Errorf("%d changes", n)
		}
		b.nothingKept()
	})
}

// An answer that is there at once is one message, and no other call is made for it.
func TestQuickAnswerHasNoPreview(t *testing.T) {
	inBubble(t, says(long(60), 900*time.Millisecond), func(b *bubble) {
		b.say(alice, alice, "hello")
		b.pass(10 * time.Second)
		m := b.sees(alice, long(60))
		if n := b.paced(alice, time.Hour); n != 0 || m[0].Silent || len(b.tg.Calls("sendMessage")) != 1 {
			b.Errorf("%d changes, %+v", n, m)
		}
	})
}

// U-04: an answer that took long is a new message, with a sound, and the preview goes.
func TestLongStreamRings(t *testing.T) {
	inBubble(t, says(long(60), 12*time.Second), func(b *bubble) {
		b.say(alice, alice, "hello")
		b.pass(20 * time.Second)
		if m := b.sees(alice, long(60)); m[0].Silent || m[0].Edits != 0 {
			b.Errorf("%+v", m)
		}
		if n := len(b.tg.Calls("deleteMessage")); n != 1 {
			b.Errorf("%d messages were taken back", n)
		}
		b.nothingKept()
	})
}

// Where a preview cannot be taken back, nothing of the answer stays in it.
func TestPreviewThatCannotBeTakenBack(t *testing.T) {
	inBubble(t, says(long(60), 12*time.Second), func(b *bubble) {
		b.tg.Add(faketelegram.Fault{Method: "deleteMessage", Status: 400, Description: "Bad Request: message can't be deleted"})
		b.say(alice, alice, "hello")
		b.pass(30 * time.Second)
		b.sees(alice, "✓", long(60))
		b.nothingKept()
	})
}

// Nothing is done on a platform that was paused: no preview is changed or taken back. Both go on with it.
func TestPreviewOfAPausedPlatform(t *testing.T) {
	inBubble(t, says(long(60), 12*time.Second), func(b *bubble) {
		pause := func(on bool) {
			r := machine.Command{Name: machine.CommandPlatform, Account: b.account().Account, Pause: on}
			if _, err := b.gateway.Submit(b.Context(), machine.Receive{
				Account: chat.Account{Profile: "default", Platform: "console", ID: "local"}, Event: fmt.Sprint(on, time.Now()), Command: &r,
				Message: &chat.Message{Address: b.gateway.Console().Place(), Text: "/platform"},
			}); err != nil {
				b.Error(err)
			}
			b.pass(0)
		}
		b.tg.Add(faketelegram.Fault{Method: "deleteMessage", Status: 429, Description: "Too Many Requests: retry after 60", RetryAfter: 60, Times: 1})
		b.say(alice, alice, "hello")
		b.pass(13 * time.Second) // the answer is there, and the preview is still to be taken back
		b.say(bob, bob, "hello")
		b.pass(3 * time.Second)
		pause(true)
		before := len(b.tg.Calls(""))
		b.pass(time.Hour)
		if n := len(b.tg.Calls("")) - before; n != 0 {
			b.Errorf("%d calls while it is paused", n)
		}
		pause(false)
		b.pass(time.Minute)
		b.sees(alice, long(60))
		b.sees(bob, long(60))
		b.nothingKept()
	})
}

// A preview that cannot be reached to be taken back is, later; the chat does not wait for that.
func TestPreviewIsTakenBackLater(t *testing.T) {
	inBubble(t, says(long(60), 12*time.Second), func(b *bubble) {
		b.tg.Add(faketelegram.Fault{Method: "deleteMessage", Status: 429, Description: "Too Many Requests: retry after 60", RetryAfter: 60, Times: 2})
		b.say(alice, alice, "hello")
		b.pass(14 * time.Second)
		b.say(alice, alice, "/whoami")
		b.pass(time.Second)
		if m := b.tg.Visible(alice); len(m) != 3 || m[1].Text != long(60) || !strings.Contains(m[2].Text, "You are") {
			b.Errorf("%+v", m)
		}
		b.pass(2 * time.Minute)
		if m := b.tg.Visible(alice); len(m) != 2 || m[0].Text != long(60) {
			b.Errorf("%+v", m)
		}
	})
}

// D-14: in a group the pace holds for the chat, however many people are answered there.
func TestPaceOfAGroup(t *testing.T) {
	inBubble(t, says(long(60), 8*time.Second), func(b *bubble) {
		b.say(super, alice, "hello")
		b.say(super, bob, "hello")
		b.pass(30 * time.Second)
		b.sees(super, long(60), long(60))
		if n := b.paced(super, 3*time.Second); n < 3 {
			b.Errorf("%d changes", n)
		}
		b.nothingKept()
	})
}

// D-13: while the platform has asked for a wait, nothing is changed in that chat; the newest text comes after it. A wait
// that lasts does not hold up the answer.
func TestWaitsHoldChanges(t *testing.T) {
	limited := faketelegram.Fault{Method: "editMessageText", Chat: alice, Status: 429, Description: "Too Many Requests", RetryAfter: 5, Times: 1}
	for wait, edits := range map[int]bool{4: true, 30: false} {
		t.Run(fmt.Sprint(wait), func(t *testing.T) {
			inBubble(t, says(long(60), 8*time.Second), func(b *bubble) {
				limited.RetryAfter = wait
				b.tg.Add(limited)
				b.say(alice, alice, "hello")
				b.say(bob, bob, "hello")
				b.pass(9500 * time.Millisecond)
				b.sees(alice, long(60))
				var at time.Time
				n := 0
				for _, c := range b.tg.Calls("editMessageText") {
					if c.Params["chat_id"] != fmt.Sprint(alice) {
						continue
					}
					if n++; !at.IsZero() && c.At.Sub(at) < time.Duration(wait)*time.Second {
						b.Errorf("a change %s after the platform asked for %d s", c.At.Sub(at), wait)
					}
					if c.Status == 429 {
						at = c.At
					}
				}
				if at.IsZero() || (n > 1) != edits {
					b.Errorf("%d changes, refused at %s", n, at)
				}
				if b.paced(bob, 1500*time.Millisecond) < 4 {
					b.Error("another chat was held as well")
				}
				b.nothingKept()
			})
		})
	}
}

// A change that hangs holds up neither the answer, which is not put where that change may still arrive, nor other messages.
func TestHangingChangeHoldsNothingUp(t *testing.T) {
	inBubble(t, says(long(60), 5*time.Second), func(b *bubble) {
		b.tg.Add(faketelegram.Fault{Method: "editMessageText", Hang: true, Times: 1})
		b.say(alice, alice, "hello")
		b.pass(2 * time.Second)
		b.say(alice, alice, "/whoami")
		if m := b.tg.Visible(alice); len(m) != 2 || !strings.Contains(m[1].Text, "You are") {
			b.Fatalf("%+v", m)
		}
		b.pass(5 * time.Second)
		m := b.tg.Visible(alice)
		if len(m) != 2 || m[1].Text != long(60) || m[1].Edits != 0 {
			b.Errorf("%+v", m)
		}
		b.pass(time.Minute)
		b.nothingKept()
	})
}

// A change that arrives late, after the answer, does not undo it.
func TestLateChangeUndoesNothing(t *testing.T) {
	for _, late := range []time.Duration{time.Second, 9 * time.Second} {
		inBubble(t, says(long(60), 5*time.Second), func(b *bubble) {
			b.tg.Add(faketelegram.Fault{Method: "editMessageText", Delay: late, Skip: 2, Times: 1}) // it is on its way when the answer is there
			b.say(alice, alice, "hello")
			b.pass(time.Minute)
			b.sees(alice, long(60))
			b.nothingKept()
		})
	}
}

// What the agent says by itself is seen when it is whole, with a sound: nobody waits for it.
func TestNoticeHasNoPreview(t *testing.T) {
	model := func(r agent.Request, last string) reply {
		switch {
		case strings.HasPrefix(last, "[homing:delegation"):
			return reply{text: long(60), over: 6 * time.Second}
		case strings.Contains(r.System, "You are a subagent"):
			return reply{text: "the summary", after: time.Minute}
		case len(r.Messages) > 1:
			return reply{text: "it is under way"}
		}
		return reply{calls: []agent.Call{{ID: "c1", Name: "delegate_task", Arguments: `{"goal":"g"}`}}}
	}
	inBubble(t, model, func(b *bubble) {
		b.say(alice, alice, "hello")
		b.pass(time.Minute + 5*time.Second)
		b.sees(alice, "it is under way")
		b.pass(10 * time.Second)
		if m := b.sees(alice, "it is under way", long(60)); m[1].Silent || m[1].Edits > 0 {
			b.Errorf("%+v", m[1])
		}
	})
}

// Whatever fails about a preview, the answer comes, once.
func TestPreviewFailsAlone(t *testing.T) {
	for name, f := range map[string]faketelegram.Fault{
		"no sight at all":         {Method: "sendMessage", Contains: "…", Status: 500, Description: "Internal Server Error"},
		"its outcome is unknown":  {Method: "sendMessage", Contains: "…", Drop: true},
		"changes are refused":     {Method: "editMessageText", Status: 400, Description: "Bad Request: message to edit not found"},
		"changes fail":            {Method: "editMessageText", Status: 502, Description: "Bad Gateway"},
		"changes are lost":        {Method: "editMessageText", Drop: true},
		"changes arrive unheard":  {Method: "editMessageText", Drop: true, Stored: true},
		"the markup is refused":   {Method: "editMessageText", Status: 400, Description: "Bad Request: can't parse entities: x", Times: 1},
		"nothing is modified":     {Method: "editMessageText", Status: 400, Description: "Bad Request: message is not modified", Stored: true},
		"the typing sign as well": {Method: "sendChatAction", Drop: true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, says("**bold** "+long(60), 5*time.Second), func(b *bubble) {
				b.tg.Add(f)
				b.say(alice, alice, "hello")
				b.pass(30 * time.Second)
				b.sees(alice, "bold "+long(60))
				b.nothingKept()
			})
		})
	}
}

// A person who deletes the preview, or writes below it, gets the answer as a new message.
func TestPreviewIsNoPlaceForTheAnswer(t *testing.T) {
	inBubble(t, says(long(60), 5*time.Second), func(b *bubble) {
		b.say(alice, alice, "hello")
		b.pass(3 * time.Second)
		b.tg.Delete(alice, b.tg.Visible(alice)[0].ID)
		b.pass(10 * time.Second)
		if m := b.sees(alice, long(60)); m[0].Edits != 0 {
			b.Errorf("%+v", m)
		}
		b.say(bob, bob, "hello")
		b.pass(3 * time.Second)
		b.say(bob, bob, "/whoami")
		b.pass(10 * time.Second)
		if m := b.tg.Visible(bob); len(m) != 2 || m[1].Text != long(60) || m[1].Edits != 0 {
			b.Errorf("%+v", m)
		}
		b.nothingKept()
	})
}

// D-07: what is longer than a message shows its beginning, and comes in parts.
func TestLongAnswerInPlace(t *testing.T) {
	text := strings.Repeat("👩‍💻x", 2000) + "END"
	inBubble(t, says(text, 5*time.Second), func(b *bubble) {
		b.say(alice, alice, "hello")
		b.pass(20 * time.Second)
		var all string
		for _, m := range b.tg.Visible(alice) {
			all += m.Text
		}
		if all != text {
			b.Errorf("%d of %d bytes are seen", len(all), len(text))
		}
		for _, c := range b.tg.Calls("") {
			if c.Status == 400 {
				b.Errorf("%s was refused", c.Method)
			}
		}
	})
}

// Nothing of a text is seen that may come to mean silence; a turn that no person asked for is not shown at all.
func TestSilenceIsNeverSeen(t *testing.T) {
	model := func(r agent.Request, last string) reply {
		switch {
		case strings.HasPrefix(last, "[homing:delegation"):
			return reply{text: "[SILENT]", over: 5 * time.Second}
		case strings.HasPrefix(last, "[homing:"), strings.Contains(r.System, "You are a subagent"):
			return reply{text: "the summary"}
		case r.Messages[len(r.Messages)-1].Role == agent.ToolRole:
			return reply{text: "NO_REPLY", over: 6 * time.Second}
		}
		return reply{calls: []agent.Call{{ID: "c1", Name: "delegate_task", Arguments: `{"goal":"g"}`}}}
	}
	inBubble(t, model, func(b *bubble) {
		b.say(alice, alice, "hello")
		for range 40 {
			b.pass(250 * time.Millisecond)
			for _, m := range b.tg.Visible(alice) {
				if strings.Contains(m.Text, "NO_") && m.Text != "NO_REPLY" || strings.Contains(m.Text, "SIL") {
					b.Errorf("seen: %q", m.Text)
				}
			}
		}
		b.pass(20 * time.Second)
		b.sees(alice, "NO_REPLY", "the summary") // a person is answered in any words
		b.nothingKept()
	}, func(o *gateway.Options) { o.Profiles[0].ToolProgress = gateway.ProgressOff })
}

// A stream that breaks off is asked again: what had come of it is a preview and never an answer.
func TestBrokenStream(t *testing.T) {
	n := 0
	model := func(agent.Request, string) reply {
		if n++; n == 1 {
			return reply{text: "half of it", over: 3 * time.Second, err: errors.New("the stream was cut")}
		}
		return reply{text: "all of it", after: 2 * time.Second}
	}
	inBubble(t, model, func(b *bubble) {
		b.say(alice, alice, "hello")
		b.pass(4500 * time.Millisecond)
		b.sees(alice, "half of it …")
		b.pass(10 * time.Second)
		b.sees(alice, "all of it")
	})
}

// A model that refuses ends the turn, and its preview with it; so does /stop.
func TestPreviewEndsWithItsTurn(t *testing.T) {
	refused := &agent.ProviderError{Failure: agent.Refused, Err: errors.New("no")}
	inBubble(t, func(agent.Request, string) reply {
		return reply{text: "half of it", over: 8 * time.Second, err: refused}
	}, func(b *bubble) {
		b.say(alice, alice, "hello")
		b.pass(20 * time.Second)
		b.sees(alice, "⚠ The model did not take this: no")
		b.say(bob, bob, "hello")
		b.pass(3 * time.Second)
		b.say(bob, bob, "/stop")
		b.pass(time.Second)
		b.sees(bob, "Stopped.")
		b.nothingKept()
	})
}

// With display.streaming off an answer is one message, however long it takes.
func TestStreamingOff(t *testing.T) {
	inBubble(t, says(long(60), 12*time.Second), func(b *bubble) {
		b.say(alice, alice, "hello")
		b.pass(8 * time.Second)
		b.sees(alice)
		b.pass(8 * time.Second)
		b.sees(alice, long(60))
		if b.paced(alice, time.Hour) != 0 {
			b.Error("it was changed")
		}
	}, func(o *gateway.Options) { o.Profiles[0].Streaming = false })
}

// worksFor delegates twice, for 7 s and for 20 s, reads a file that is not there, and then answers. What its subagents say
// is not seen.
func worksFor(r agent.Request, last string) reply {
	call := func(name, args string) reply {
		return reply{text: "Let me see.", calls: []agent.Call{{ID: fmt.Sprint("c", len(r.Messages)), Name: name, Arguments: args}}}
	}
	switch {
	case strings.Contains(r.System, "You are a subagent") && last == "short":
		return reply{text: "words of a subagent", over: 7 * time.Second}
	case strings.Contains(r.System, "You are a subagent"):
		return reply{text: "words of a subagent", over: 20 * time.Second}
	case len(r.Messages) == 1:
		return call("delegate_task", `{"goal":"short","background":false}`)
	case len(r.Messages) == 3:
		return call("delegate_task", `{"goal":"far","background":false}`)
	case len(r.Messages) == 5:
		return call("read_file", `{"path":"none"}`)
	}
	return reply{text: "done", over: 3 * time.Second}
}

// U-03: within 5 s of the beginning of work with tools a message tells which, and for how long; it is changed in place, and
// goes with the answer.
func TestToolProgress(t *testing.T) {
	for mode, want := range map[gateway.ProgressMode][3]string{
		gateway.ProgressNew: {"⚙ delegate_task · 1 s", "⚙ delegate_task · 6 s", "⚙ delegate_task, read_file · 27 s"},
		gateway.ProgressAll: {"⚙ delegate_task · 1 s", "✔ delegate_task · 7 s\n⚙ delegate_task · 0 s", "✔ delegate_task · 7 s\n✔ delegate_task · 20 s\n✖ read_file · 0 s"},
	} {
		t.Run(string(mode), func(t *testing.T) {
			inBubble(t, worksFor, func(b *bubble) {
				b.say(alice, alice, "hello")
				b.pass(2 * time.Second)
				b.sees(alice, "Let me see. …\n\n"+want[0])
				b.pass(6 * time.Second)
				b.sees(alice, "Let me see. …\n\n"+want[1])
				b.pass(20800 * time.Millisecond)
				if m := b.tg.Visible(alice); len(m) != 1 || !strings.HasSuffix(m[0].Text, " …\n\n"+want[2]) {
					b.Errorf("%+v", m)
				}
				b.pass(time.Minute)
				if m := b.sees(alice, "done"); m[0].Silent {
					b.Error("the answer does not ring")
				}
				b.paced(alice, 1500*time.Millisecond)
				b.nothingKept()
			}, func(o *gateway.Options) { o.Profiles[0].ToolProgress = mode })
		})
	}
}

// Without streaming the tools alone are told of, and with display.tool_progress off, nothing.
func TestToolProgressAlone(t *testing.T) {
	for mode, want := range map[gateway.ProgressMode][]string{gateway.ProgressNew: {"⚙ delegate_task · 2 s"}, gateway.ProgressOff: nil} {
		inBubble(t, worksFor, func(b *bubble) {
			b.say(alice, alice, "hello")
			b.pass(4 * time.Second)
			b.sees(alice, want...)
			b.pass(time.Minute)
			b.sees(alice, "done")
		}, func(o *gateway.Options) { o.Profiles[0].Streaming, o.Profiles[0].ToolProgress = false, mode })
	}
}

// A stop in the midst of it leaves a preview that the next life goes on with: the answer is there once.
func TestPreviewOutlivesALife(t *testing.T) {
	model := script(worksFor)
	inBubble(t, model, func(b *bubble) {
		b.say(alice, alice, "hello")
		b.pass(3 * time.Second)
		b.stop()
		b.sees(alice, "Let me see. …\n\n⚙ delegate_task · 1 s")
		b.serve(model)
		b.pass(time.Minute)
		b.sees(alice, "done")
		b.nothingKept()
	})
}
