package slack_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest"
	"github.com/homing-gateway/homing/adapters/adaptertest/fakeslack"
	"github.com/homing-gateway/homing/adapters/slack"
	"github.com/homing-gateway/homing/internal/chat"
)

// inBubble plays f in a world of its own clock.
func inBubble(t *testing.T, f func(w *world, n *adaptertest.Network), change ...func(*slack.Options)) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))) // bubbles begin before Slack did
		n := adaptertest.NewNetwork()
		defer n.Close()
		f(startOn(t, n.Listen(), n.Dial, change...), n)
	})
}

// N-17: asked to make room, another socket is there before the old one falls, and nobody notices.
func TestAnotherSocketBeforeTheOldOneFalls(t *testing.T) {
	for _, reason := range []string{"warning", "refresh_requested"} {
		t.Run(reason, func(t *testing.T) {
			inBubble(t, func(w *world, _ *adaptertest.Network) {
				r := w.run(nil)
				w.sl.Say(fakeslack.Post{Channel: direct, From: alice, Text: "one"})
				w.sl.Disconnect(reason, 10*time.Second)
				w.sl.Say(fakeslack.Post{Channel: direct, From: alice, Text: "two"})
				time.Sleep(5 * time.Second)
				if open, ever := w.sl.Sockets(); open != 1 || ever != 2 {
					t.Errorf("%d sockets are open and %d were, want the second alone", open, ever)
				}
				time.Sleep(10 * time.Second)
				w.sl.Say(fakeslack.Post{Channel: direct, From: alice, Text: "three"})
				got := r.Await(t, 3)
				for i, want := range []string{"one", "two", "three"} {
					if got[i].Message.Text != want {
						t.Errorf("message %d is %q", i, got[i].Message.Text)
					}
				}
				r.Stop(t)
			})
		})
	}
}

// N-17: a socket too many is waited out, longer each time, although each time a hello came first.
func TestTooManySocketsAreWaitedOut(t *testing.T) {
	inBubble(t, func(w *world, _ *adaptertest.Network) {
		var waits []time.Duration
		for range 4 {
			r := w.run(nil)
			w.sl.Disconnect("too_many_websockets", time.Second)
			e := adaptertest.RunError(t, r.End(t))
			if e.Cause != chat.CauseUnreachable || e.Park {
				t.Errorf("%+v", e)
			}
			waits = append(waits, e.After)
		}
		if want := fmt.Sprint([]time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}); fmt.Sprint(waits) != want {
			t.Errorf("waits: %v, want %v", waits, want)
		}
		r := w.run(nil)
		time.Sleep(3 * time.Minute) // a socket that lives is not one too many
		w.sl.Disconnect("too_many_websockets", time.Second)
		if e := adaptertest.RunError(t, r.End(t)); e.After != time.Second {
			t.Errorf("after a good time: %s", e.After)
		}
	})
}

// N-17: Socket Mode that was switched off is for a person to mend.
func TestSocketModeSwitchedOff(t *testing.T) {
	inBubble(t, func(w *world, _ *adaptertest.Network) {
		r := w.run(nil)
		w.sl.Disconnect("link_disabled", time.Second)
		if e := adaptertest.RunError(t, r.End(t)); e.Cause != chat.CauseMissingIntent || !e.Park || !strings.Contains(e.Remedy, "Socket Mode") {
			t.Errorf("%+v", e)
		}
	})
}

// N-19: stopped while frames arrive, a hundred times: nothing panics and nothing is left. The rest is goleak's.
func TestStopWhileFramesArrive(t *testing.T) {
	w := start(t)
	for i := range 100 {
		r := w.run(nil)
		for range 5 {
			w.sl.Say(fakeslack.Post{Channel: direct, From: alice, Text: fmt.Sprint(i)})
		}
		if i%2 == 0 {
			w.sl.Disconnect("refresh_requested", 0)
		}
		r.Stop(t)
	}
}

// N-21: quiet for hours with pings is healthy; open without a sign of life is found, and that is no sign of life to the core.
func TestSilenceIsToldFromQuiet(t *testing.T) {
	inBubble(t, func(w *world, n *adaptertest.Network) {
		r := w.run(nil)
		time.Sleep(6*time.Hour + 5*time.Second) // between two pings
		synctest.Wait()
		if _, ever := w.sl.Sockets(); ever != 1 {
			t.Errorf("%d sockets in six quiet hours", ever)
		}
		w.sl.Deafen()
		began := time.Now()
		var ups int
		r.Until(t, func() bool { ups = r.Ups; return true })
		if e := adaptertest.RunError(t, r.End(t)); e.Cause != chat.CauseUnreachable || time.Since(began) > slack.DefaultSilence+time.Second {
			t.Errorf("%+v after %s", e, time.Since(began))
		}
		if r.Ups != ups {
			t.Error("a dead socket told that it lives")
		}
	})
}

// N-22 R-08: an envelope is acknowledged within three seconds of being stored, and what comes again has its id.
func TestRedeliveryHasTheSameID(t *testing.T) {
	inBubble(t, func(w *world, _ *adaptertest.Network) {
		slow := true
		r := w.run(func(chat.Event) error {
			if slow {
				slow = false
				time.Sleep(4 * time.Second) // the store takes longer than Slack waits
			}
			return nil
		})
		w.sl.Say(fakeslack.Post{Channel: direct, From: alice, Text: "one"})
		r.Until(t, func() bool { return r.Again > 0 })
		time.Sleep(10 * time.Minute)
		if len(r.Events) != 1 || w.sl.Owed() != 0 || w.sl.Lost() != 0 {
			t.Errorf("%+v; %d are owed", r.Events, w.sl.Owed())
		}
		r.Stop(t)
	})
}

// One mention makes two events in Slack and one message here.
func TestAMentionIsOneMessage(t *testing.T) {
	w := start(t)
	r := w.run(nil)
	ts := w.sl.Say(fakeslack.Post{Channel: general, From: alice, Text: mention + " hello"})
	r.Until(t, func() bool { return r.Again == 1 })
	got := r.Await(t, 1)
	if len(got) != 1 || got[0].ID != general+":"+ts || got[0].Message.Text != "hello" || !got[0].Message.Addressed {
		t.Errorf("%+v", got)
	}
	r.Stop(t)
}

// N-30 N-16: what is wrong with a token is said with what to do about it, at the start and later.
func TestTokens(t *testing.T) {
	for _, k := range []struct {
		method, code, needed string
		cause                chat.Cause
		remedy               string
	}{
		{"auth.test", "invalid_auth", "", chat.CauseBadCredential, "SLACK_BOT_TOKEN"},
		{"auth.test", "account_inactive", "", chat.CauseBadCredential, "SLACK_BOT_TOKEN"},
		{"auth.test", "token_revoked", "", chat.CauseBadCredential, "SLACK_BOT_TOKEN"},
		{"apps.connections.open", "invalid_auth", "", chat.CauseBadCredential, "SLACK_APP_TOKEN"},
		{"apps.connections.open", "not_allowed_token_type", "", chat.CauseBadCredential, "xapp-"},
		{"apps.connections.open", "missing_scope", "connections:write", chat.CauseMissingIntent, "connections:write"},
		{"auth.test", "missing_scope", "", chat.CauseMissingIntent, "docs/operations.md"},
	} {
		t.Run(k.method+"/"+k.code, func(t *testing.T) {
			w := start(t)
			w.sl.Add(fakeslack.Fault{Method: k.method, Error: k.code, Needed: k.needed})
			r := w.begin(nil)
			e := adaptertest.RunError(t, r.End(t))
			if e.Cause != k.cause || !e.Park || !strings.Contains(e.Remedy, k.remedy) || r.Ups != 0 {
				t.Errorf("%+v", e)
			}
		})
	}
	t.Run("revoked at runtime", func(t *testing.T) {
		w := start(t)
		r := w.run(nil)
		w.sl.Revoke("token_revoked")
		if e := adaptertest.RunError(t, r.End(t)); e.Cause != chat.CauseUnreachable { // a socket that fell; the next Run finds out
			t.Errorf("%+v", e)
		}
		if e := adaptertest.RunError(t, w.begin(nil).End(t)); e.Cause != chat.CauseBadCredential || !e.Park {
			t.Errorf("%+v", e)
		}
	})
	t.Run("another workspace", func(t *testing.T) {
		w := start(t)
		a, err := slack.New(slack.Options{BotToken: botToken, AppToken: appToken, APIURL: w.sl.URL()}, slack.Identity{Team: "T0OTHER", User: "U1"})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		if e := adaptertest.RunError(t, a.Run(t.Context(), "", nil, nil)); e.Cause != chat.CauseBadCredential || !e.Park || e.Remedy == "" {
			t.Errorf("%+v", e)
		}
	})
}

// Slack asks for a pause before a connection: the core is told how long.
func TestRateLimitOfTheConnection(t *testing.T) {
	w := start(t)
	for _, f := range []fakeslack.Fault{{Status: 429, RetryAfter: 20, Times: 1}, {Error: "ratelimited", Times: 1}} {
		f.Method = "apps.connections.open"
		w.sl.Add(f)
		if e := adaptertest.RunError(t, w.begin(nil).End(t)); e.Cause != chat.CauseUnreachable || e.Park || e.After < time.Second || f.RetryAfter > 0 && e.After != 20*time.Second {
			t.Errorf("%+v", e)
		}
	}
}

// The workspace is learned from Slack, and what the token may do.
func TestIdentify(t *testing.T) {
	w := start(t)
	o := slack.Options{BotToken: botToken, AppToken: appToken, APIURL: w.sl.URL() + "/"}
	me, scopes, err := slack.Inspect(t.Context(), o)
	if err != nil || me != identity || len(scopes) < 5 {
		t.Errorf("%+v %v %v", me, scopes, err)
	}
	w.sl.Revoke("invalid_auth")
	if _, err := slack.Identify(t.Context(), o); adaptertest.RunError(t, err).Cause != chat.CauseBadCredential {
		t.Error(err)
	}
	w.sl.Close()
	if _, err := slack.Identify(t.Context(), o); adaptertest.RunError(t, err).Cause != chat.CauseUnreachable {
		t.Error(err)
	}
	for _, pair := range [][2]string{{"", appToken}, {botToken, ""}, {appToken, botToken}, {"xoxp-1-x-user", appToken}, {botToken, "xapp-1 2"}} {
		_, err := slack.New(slack.Options{BotToken: pair[0], AppToken: pair[1]}, identity)
		if !errors.Is(err, slack.ErrTokens) || strings.Contains(err.Error(), "Secret") {
			t.Errorf("%q: %v", pair, err)
		}
	}
	if _, err := slack.New(o, slack.Identity{}); err == nil {
		t.Error("an account without a workspace")
	}
}
