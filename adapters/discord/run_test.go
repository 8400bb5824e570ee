package discord_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest"
	"github.com/homing-gateway/homing/adapters/adaptertest/fakediscord"
	"github.com/homing-gateway/homing/adapters/discord"
	"github.com/homing-gateway/homing/internal/chat"
)

// say posts numbered messages of Alice.
func (w *world) say(texts ...string) {
	for _, s := range texts {
		w.dc.Say(fakediscord.Post{Channel: direct, From: alice, Text: s})
	}
}

func texts(events []chat.Event) string {
	var out []string
	for _, e := range events {
		if e.Message != nil {
			out = append(out, e.Message.Text)
		}
	}
	return strings.Join(out, " ")
}

// A connection that is quiet but healthy is not disturbed.
func TestQuietConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := inBubble(t)
		r := w.connected(w.run(nil))
		time.Sleep(6 * time.Hour)
		w.say("hello")
		r.Await(t, 1)
		if st := w.dc.Gateway(); st.Connects != 1 || st.Heartbeats < 500 {
			t.Errorf("%+v, want one connection", st)
		}
		if r.Ups < 500 {
			t.Errorf("up %d times in six hours", r.Ups)
		}
		r.Stop(t)
		if c := w.dc.Gateway().Closes; !slices.Equal(c, []int{1000}) {
			t.Errorf("closed with %v, want a good-bye", c)
		}
		w.end()
	})
}

// N-08: a connection that is open and dead is found, closed so that the session lives, and resumed; nothing is lost.
func TestZombie(t *testing.T) {
	for name, before := range map[string]time.Duration{"at once": time.Second, "late": 10 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := inBubble(t)
				r := w.connected(w.run(nil))
				w.say("one")
				r.Await(t, 1)
				time.Sleep(before)
				w.dc.Zombies()
				w.say("two")
				began := time.Now()
				if got := texts(r.Await(t, 2)); got != "one two" {
					t.Errorf("stored %q", got)
				}
				if d := time.Since(began); d > 41250*time.Millisecond+20*time.Second {
					t.Errorf("found after %s", d)
				}
				st := w.dc.Gateway()
				if st.Resumes != 1 || st.Identifies != 1 || slices.Contains(st.Closes, 1000) || slices.Contains(st.Closes, 1001) {
					t.Errorf("%+v, want one resume", st)
				}
				r.Stop(t)
				w.end()
			})
		})
	}
}

// N-11: Discord asks for a reconnect while somebody writes: resumed, and each message is taken once.
func TestAskedToReconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := inBubble(t)
		r := w.connected(w.run(nil))
		want := ""
		for i := range 3 {
			w.dc.Reconnect()
			w.say(fmt.Sprint(i))
			want = strings.TrimSpace(fmt.Sprint(want, " ", i))
			time.Sleep(time.Minute)
		}
		if got := texts(r.Await(t, 3)); got != want {
			t.Errorf("stored %q, want %q", got, want)
		}
		if st := w.dc.Gateway(); st.Resumes != 3 || st.Identifies != 1 {
			t.Errorf("%+v, want three resumes", st)
		}
		r.Stop(t)
		w.end()
	})
}

// N-10: what Discord sends first after a resume may be anything; and a session that may be resumed is.
func TestOddPackets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := inBubble(t)
		r := w.connected(w.run(nil))
		for _, first := range []any{
			map[string]any{"op": 0, "t": "SOME_NEW_EVENT", "s": 5, "d": map[string]any{"x": []int{1}}},
			map[string]any{"op": 1, "d": nil},
			map[string]any{"op": 77, "d": nil},
			map[string]any{"op": 7, "d": nil},
		} {
			w.dc.First(first)
			w.dc.Cut()
			time.Sleep(time.Minute)
			w.dc.Dispatch("SOME_NEW_EVENT", []any{"no object"})
		}
		w.dc.Invalidate(true)
		time.Sleep(time.Minute)
		w.say("hello")
		r.Await(t, 1)
		if st := w.dc.Gateway(); st.Identifies != 1 {
			t.Errorf("%+v, want one identify", st)
		}
		r.Stop(t)
		w.end()
	})
}

// N-10: a session that is over ends the Run, so that the core looks for what was missed; the next identify waits a random
// time, and at least five seconds after the last one.
func TestInvalidSession(t *testing.T) {
	for name, end := range map[string]func(*world){
		"while connected": func(w *world) { w.dc.Invalidate(false) },
		"at a resume":     func(w *world) { w.dc.Forget(); w.dc.Cut() },
		"timed out":       func(w *world) { w.dc.Hang(4009); w.dc.Refuse(4009) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := inBubble(t)
				r := w.connected(w.run(nil))
				end(w)
				e := adaptertest.RunError(t, r.End(t))
				w.dc.Refuse(0)
				if e.Cause != chat.CauseUnreachable || e.Park || e.After < time.Second || e.After > 5*time.Second {
					t.Errorf("%+v, want a pause of one to five seconds", e)
				}
				if n := w.dc.Gateway().Identifies; n != 1 {
					t.Errorf("%d identifies before the pause", n)
				}
				began := time.Now()
				r = w.connected(w.run(nil))
				w.say("hello")
				r.Await(t, 1)
				if st := w.dc.Gateway(); st.Identifies != 2 || time.Since(began) > 6*time.Second {
					t.Errorf("%+v after %s", st, time.Since(began))
				}
				r.Stop(t)
				w.end()
			})
		})
	}
}

// N-15: a code that only a person can do something about ends the Run with its cause and remedy, after one attempt.
func TestFatalCloseCodes(t *testing.T) {
	for code, want := range map[int]struct {
		cause  chat.Cause
		remedy string
	}{
		4004: {chat.CauseBadCredential, "Reset Token"},
		4010: {chat.CauseUnreachable, "shards"},
		4011: {chat.CauseUnreachable, "shards"},
		4012: {chat.CauseUnreachable, "newer Homing"},
		4013: {chat.CauseMissingIntent, "message content intent"},
		4014: {chat.CauseMissingIntent, "message content intent"},
	} {
		t.Run(fmt.Sprint("N-15/", code), func(t *testing.T) {
			w := start(t)
			w.dc.Refuse(code)
			e := adaptertest.RunError(t, w.run(nil).End(t))
			if e.Cause != want.cause || !e.Park || !strings.Contains(e.Remedy, want.remedy) {
				t.Errorf("%+v", e)
			}
			if st := w.dc.Gateway(); st.Connects != 1 {
				t.Errorf("%+v, want one attempt", st)
			}
		})
	}
	t.Run("N-15/while connected", func(t *testing.T) {
		w := start(t)
		r := w.connected(w.run(nil))
		w.dc.Refuse(4014)
		w.dc.Hang(4014)
		if e := adaptertest.RunError(t, r.End(t)); e.Cause != chat.CauseMissingIntent || !e.Park {
			t.Errorf("%+v", e)
		}
	})
}

// The content intent is asked for, and where it is switched off that is told with what to do.
func TestContentIntent(t *testing.T) {
	w := start(t)
	w.dc.ContentIntent(false)
	if e := adaptertest.RunError(t, w.run(nil).End(t)); e.Cause != chat.CauseMissingIntent || e.Remedy == "" {
		t.Errorf("%+v", e)
	}
	if s, err := w.a.Check(t.Context()); err != nil || s.Content || s.Bot != "homer" {
		t.Errorf("%+v %v", s, err)
	}
	w.dc.ContentIntent(true)
	if s, err := w.a.Check(t.Context()); err != nil || !s.Content {
		t.Errorf("%+v %v", s, err)
	}
}

// Messages without anything in them are what a missing intent leaves of them. One that is empty for a reason of its own is no
// alarm.
func TestEmptyMessages(t *testing.T) {
	w := start(t)
	r := w.connected(w.run(nil))
	if w.dc.Gateway().Intents&(1<<15) == 0 {
		t.Error("the intent is not asked for")
	}
	empty := func() { w.dc.Say(fakediscord.Post{Channel: square, From: bob, Text: ""}) }
	empty()
	empty()
	w.dc.Say(fakediscord.Post{Channel: square, From: bob, Text: "there is something"})
	empty()
	empty()
	r.Await(t, 1)
	empty()
	if e := adaptertest.RunError(t, r.End(t)); e.Cause != chat.CauseMissingIntent || !e.Park || e.Remedy == "" {
		t.Errorf("three empty messages: %+v", e)
	}
}

// N-16: a token that Discord does not know costs one call, and no identify.
func TestBadToken(t *testing.T) {
	w := start(t, func(o *discord.Options) { o.Token = "MTAw.Gother.NotTheSecret" })
	e := adaptertest.RunError(t, w.run(nil).End(t))
	if e.Cause != chat.CauseBadCredential || !e.Park || e.Remedy == "" {
		t.Errorf("%+v", e)
	}
	if n, st := len(w.dc.Calls("")), w.dc.Gateway(); n != 1 || st.Connects != 0 {
		t.Errorf("%d calls, %+v", n, st)
	}
	for _, bad := range []string{"", "abc", "a.b", "a.b.c.d", "a.b.c d", "a.b.\nc", "a/b.c.d"} {
		if a, err := discord.New(discord.Options{Token: bad}); err == nil {
			t.Errorf("%q was taken as the token of %s", bad, a)
		}
	}
}

// A gateway that accepts and says nothing is given up, and so is one that nobody reaches.
func TestSilentGateway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := inBubble(t)
		w.dc.Silent(true)
		began := time.Now()
		e := adaptertest.RunError(t, w.run(nil).End(t))
		if e.Cause != chat.CauseUnreachable || e.Park || time.Since(began) != discord.DefaultOpenTimeout {
			t.Errorf("%+v after %s", e, time.Since(began))
		}
		r := w.run(nil) // and a stop does not wait for it
		time.Sleep(time.Second)
		began = time.Now()
		r.Stop(t)
		if d := time.Since(began); d > 2*time.Second {
			t.Errorf("stopped after %s", d)
		}
		if n := w.dc.Gateway().Identifies; n != 0 {
			t.Errorf("%d identifies", n)
		}
		w.end()
	})
	t.Run("away", func(t *testing.T) {
		w := start(t)
		w.dc.Down()
		if e := adaptertest.RunError(t, w.run(nil).End(t)); e.Cause != chat.CauseUnreachable || e.Park || !strings.Contains(e.Remedy, "api_url") {
			t.Errorf("%+v", e)
		}
	})
}

// A Discord that goes away and comes back finds the session resumed by the next Run: what came meanwhile is replayed.
func TestResumeAcrossRuns(t *testing.T) {
	w := start(t)
	r := w.connected(w.run(nil))
	w.dc.Down()
	if e := adaptertest.RunError(t, r.End(t)); e.Cause != chat.CauseUnreachable || e.Park {
		t.Fatalf("%+v", e)
	}
	w.say("meanwhile")
	w.until("Discord listens again", func() bool { return w.dc.Up() == nil })
	r = w.run(nil)
	if got := texts(r.Await(t, 1)); got != "meanwhile" {
		t.Errorf("stored %q", got)
	}
	if st := w.dc.Gateway(); st.Identifies != 1 || st.Resumes != 1 {
		t.Errorf("%+v", st)
	}
	r.Stop(t)
}

// after something was not stored, nothing that came later is, and the session is not gone on with: what is missing
// is to be found from the last event that is stored.
func TestNothingIsStoredBehindAGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := inBubble(t)
		full := errors.New("no space left on device")
		r := w.connected(w.run(func(e chat.Event) error {
			if e.Message.Text == "two" {
				return full
			}
			return nil
		}))
		began := time.Now()
		w.say("one", "two", "three")
		if err := r.End(t); !errors.Is(err, full) {
			t.Fatalf("Run: %v, want the error of admit", err)
		}
		if got := texts(r.Events); got != "one" {
			t.Errorf("stored %q", got)
		}
		r = w.connected(w.run(nil))
		if err := w.a.History(t.Context(), inDirect(), began.Add(-time.Second), 50, r.Admit); err != nil {
			t.Fatal(err)
		}
		if got := texts(r.Await(t, 3)); got != "one two three" {
			t.Errorf("history: %q", got)
		}
		if st := w.dc.Gateway(); st.Resumes != 0 || st.Identifies != 2 {
			t.Errorf("%+v", st)
		}
		r.Stop(t)
		w.end()
	})
}

// A program that dies and is started again, over and over, keeps Discord's five seconds and does not use up the identifies
// of a day.
func TestCrashLoopKeepsIdentifies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		w := inBubble(t, func(o *discord.Options) { o.Dir = dir })
		began, told := time.Now(), false
		for time.Since(began) < 24*time.Hour {
			before := w.dc.Gateway().Identifies
			r := w.run(nil)
			for w.dc.Gateway().Identifies == before {
				time.Sleep(100 * time.Millisecond)
				select {
				case err := <-r.Ended():
					e := adaptertest.RunError(t, err)
					if e.Cause != chat.CauseIdentify || e.Park || e.After <= 0 || e.Remedy == "" {
						t.Fatalf("%+v", e)
					}
					told = true
					time.Sleep(e.After)
					r = w.run(nil)
				default:
				}
			}
			w.connected(r) // else it was too soon: Discord ends the session at once
			r.Stop(t)
			w.adapter() // nothing is left in memory
		}
		if n := w.dc.Gateway().Identifies; n > 500 || n < 50 || !told {
			t.Errorf("%d identifies in a day, told: %t", n, told)
		}
		w.end()
	})
}

// What Discord itself says is left is held to, with a reserve for a person who looks for the fault.
func TestIdentifyBudget(t *testing.T) {
	w := start(t)
	w.dc.Budget(3)
	e := adaptertest.RunError(t, w.run(nil).End(t))
	if e.Cause != chat.CauseIdentify || e.Park || e.After != time.Hour || e.Remedy == "" {
		t.Errorf("%+v", e)
	}
	if n := w.dc.Gateway().Identifies; n != 0 {
		t.Errorf("%d identifies", n)
	}
}

// A count that cannot be read counts as none, and one that cannot be kept stops nobody.
func TestUnreadableBudget(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "discord-"+bot+".json"), []byte("{no"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := start(t, func(o *discord.Options) { o.Dir = dir })
	w.connected(w.run(nil)).Stop(t)
	w = start(t, func(o *discord.Options) { o.Dir = filepath.Join(dir, "missing") })
	w.connected(w.run(nil)).Stop(t)
	if w.logs.FilterMessage("the count of identifies was not kept").Len() != 1 {
		t.Error("nobody was told")
	}
}

// A message that cannot be read is set aside whole, once under its id, and the next ones go on.
func TestPoisonIsSetAside(t *testing.T) {
	w := start(t)
	r := w.connected(w.run(nil))
	w.say("before")
	w.dc.Dispatch("MESSAGE_CREATE", map[string]any{"id": "55", "channel_id": direct, "author": "nobody", "content": "kept"})
	w.dc.Dispatch("MESSAGE_CREATE", map[string]any{"channel_id": direct})
	w.say("after")
	got := r.Await(t, 4)
	r.Stop(t)
	if texts(got) != "before after" || got[1].ID != "55" || got[1].Aside == nil || got[2].Aside == nil || got[2].ID == "" {
		t.Fatalf("%+v", got)
	}
	if a := got[1].Aside; a.Reason == "" || !strings.Contains(string(a.Raw), "kept") {
		t.Errorf("%+v", a)
	}
}
