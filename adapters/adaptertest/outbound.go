package adaptertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
)

// outbound is what sends must be like.
func outbound() []behaviour {
	return []behaviour{
		{"the longest text arrives whole, in one call", longest},
		{"a longer text is refused as too_long, or arrives whole", tooLong},
		{"plain text arrives to the letter", literal},
		{"markup that the platform does not take is refused as markup", badMarkup},
		{"an answer names the message that it answers", answer},
		{"an answer to a message that is gone arrives", answerGone},
		{"messages sent at once arrive once each", atOnce},
		{"a wait that is asked for is rate_limited with that wait, after one call", busy},
		{"a failure of the platform is server_error, after one call", broken},
		{"no answer is unknown, at the deadline and after one call", silentSend},
		{"a connection cut before the answer is unknown, after one call", cutSend},
		{"no connection is unreachable", noConnection},
		{"a connection that died idle costs nothing", idle},
		{"a context that has ended sends nothing", endedContext},
		{"a chat that is gone is chat_gone", func(w *world) { w.refused(ChatGone, Shared, chat.ClassChatGone) }},
		{"a thread that is gone is thread_gone", func(w *world) { w.refused(ThreadGone, Thread, chat.ClassThreadGone) }},
		{"a person who wants no messages is blocked", func(w *world) { w.refused(Blocked, Direct, chat.ClassBlocked) }},
		{"a credential that was revoked is unauthorized", func(w *world) { w.refused(Revoked, Direct, chat.ClassCredential) }},
		{"a repeat under the same key makes one message", idempotent},
	}
}

// full is a text of exactly the longest length, of characters that are as wide as they get.
func full(i chat.Info) string {
	wide := map[chat.Unit]int{chat.UTF16: 2, chat.Runes: 1, chat.Bytes: 4}[i.Unit]
	return strings.Repeat("😀", i.MaxUnits/wide) + strings.Repeat("x", i.MaxUnits%wide)
}

func longest(w *world) {
	i := w.a.Describe()
	text := full(i)
	w.sent(w.out(Direct, text))
	if seen := w.Seen(Direct); len(seen) != 1 || seen[0].Text != text {
		w.Errorf("%d messages, want one of %d units", len(seen), i.MaxUnits)
	}
	if n := w.Sends(); n != 1 {
		w.Errorf("%d calls, want one", n)
	}
	w.fact = fmt.Sprintf("%d %s", i.MaxUnits, i.Unit)
}

func tooLong(w *world) {
	text := full(w.a.Describe()) + "x"
	_, err := w.send(w.out(Direct, text))
	seen := w.Seen(Direct)
	if err == nil && len(seen) == 1 && seen[0].Text == text {
		w.fact = "arrives whole"
		return
	}
	w.want(err, chat.Refused, chat.ClassTooLong)
	if len(seen) != 0 {
		w.Errorf("%d messages, want none", len(seen))
	}
	w.fact = "refused"
}

func literal(w *world) {
	for i, text := range []string{w.Traits().Literal, "a < b && c > d *x* _y_ `z` ~s~ [t](u) <b>v</b> \\w"} {
		w.sent(w.out(Direct, text))
		if seen := w.Seen(Direct); len(seen) != i+1 || seen[i].Text != text {
			w.Errorf("seen: %+v, want %q", seen, text)
		}
	}
}

func badMarkup(w *world) {
	out := w.out(Direct, w.Traits().BadMarkup)
	out.Plain = false
	_, err := w.send(out)
	w.want(err, chat.Refused, chat.ClassMarkup)
	out.Plain = true
	w.sent(out)
	if n := len(w.Seen(Direct)); n != 1 {
		w.Errorf("%d messages, want the one that went as plain text", n)
	}
}

func answer(w *world) {
	out := w.out(Shared, "yes")
	out.ReplyTo = w.say(Shared, Alice, "?")
	w.sent(out)
	if seen := w.Seen(Shared); len(seen) != 1 || seen[0].ReplyTo != out.ReplyTo {
		w.Errorf("%+v, want a reply to %s", seen, out.ReplyTo)
	}
}

func answerGone(w *world) {
	out := w.out(Shared, "yes")
	out.ReplyTo = w.say(Shared, Alice, "?") + "7"
	w.sent(out)
	if seen := w.Seen(Shared); len(seen) != 1 || seen[0].Text != "yes" {
		w.Errorf("%+v", seen)
	}
}

func atOnce(w *world) {
	const each = 10
	var all sync.WaitGroup
	for _, at := range []Place{Direct, Shared} {
		for i := range each {
			out := w.out(at, fmt.Sprintf("%s %d", at, i))
			all.Go(func() {
				if _, err := w.send(out); err != nil {
					w.Errorf("%s: %v", out.Text, err)
				}
			})
		}
	}
	all.Wait()
	for _, at := range []Place{Direct, Shared} {
		var got []string
		for _, s := range w.Seen(at) {
			got = append(got, s.Text)
		}
		slices.Sort(got)
		if len(slices.Compact(got)) != each || len(got) != each {
			w.Errorf("%s: %v", at, got)
		}
	}
}

// once makes one attempt in trouble and checks that it is one call that nobody repeats, also later.
func (w *world) once(trouble Trouble, out chat.Outbound) *chat.SendError {
	w.Helper()
	w.Strike(trouble)
	before, began := w.Sends(), time.Now()
	_, err := w.send(out)
	if d := time.Since(began); trouble != Silent && d > 5*time.Second {
		w.Errorf("%s: it took %s", trouble, d)
	}
	time.Sleep(3 * Wait)
	if n := w.Sends() - before; n != 1 {
		w.Errorf("%s: %d calls, want one", trouble, n)
	}
	w.Heal()
	return err
}

func busy(w *world) {
	for _, at := range []Place{Direct, Shared} {
		err := w.once(Busy, w.out(at, "x"))
		w.want(err, chat.RateLimited, "")
		if err != nil && (err.RetryAfter < Wait || err.RetryAfter > Wait+time.Second) {
			w.Errorf("wait for %s, want %s", err.RetryAfter, Wait)
		}
		w.sent(w.out(at, "after"))
	}
}

func broken(w *world) {
	w.want(w.once(Broken, w.out(Direct, "x")), chat.ServerError, "")
	w.sent(w.out(Direct, "after"))
}

func silentSend(w *world) {
	began := time.Now()
	w.Strike(Silent)
	ctx, cancel := context.WithTimeout(context.Background(), 7*time.Second)
	defer cancel()
	_, err := w.a.Send(ctx, w.out(Direct, "x"))
	w.want(w.judged(err), chat.Unknown, "")
	if d := time.Since(began); d > 7*time.Second+100*time.Millisecond {
		w.Errorf("it took %s, and the deadline was 7s", d)
	}
	time.Sleep(time.Minute)
	if n := w.Sends(); n != 1 {
		w.Errorf("%d calls, want one", n)
	}
	w.Heal()
	w.sent(w.out(Direct, "after"))
}

func cutSend(w *world) {
	w.want(w.once(CutAfter, w.out(Direct, "took effect")), chat.Unknown, "")
	w.sent(w.out(Direct, "between"))
	w.want(w.once(CutBefore, w.out(Direct, "had none")), chat.Unknown, "") // also on a connection that served before
	w.sent(w.out(Direct, "after"))
	if n := len(w.Seen(Direct)); n != 3 {
		w.Errorf("%d messages, want 3", n)
	}
}

func noConnection(w *world) {
	w.net.Behave(Refuses)
	_, err := w.send(w.out(Direct, "x"))
	w.want(err, chat.Unreachable, "")
	w.net.Behave(Accepts)
	w.sent(w.out(Direct, "between"))
	w.net.Behave(Refuses)
	w.net.Cut()
	_, err = w.send(w.out(Direct, "x"))
	w.want(err, chat.Unreachable, "")
	w.net.Behave(Ignores)
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, late := w.a.Send(ctx, w.out(Direct, "x"))
	w.want(w.judged(late), chat.Unreachable, "")
	if d := time.Since(began); d > 5*time.Second+100*time.Millisecond {
		w.Errorf("it took %s, and the deadline was 5s", d)
	}
	w.net.Behave(Accepts)
	w.sent(w.out(Direct, "after"))
	if n := w.Sends(); n != 2 {
		w.Errorf("%d calls, want 2", n)
	}
}

func idle(w *world) {
	for i := range 5 {
		w.sent(w.out(Direct, fmt.Sprint(i)))
		time.Sleep(time.Duration(i) * 7 * time.Second)
		w.net.Cut()
		time.Sleep(time.Millisecond) // our side has seen it
	}
	if n := len(w.Seen(Direct)); n != 5 {
		w.Errorf("%d messages, want 5", n)
	}
}

func endedContext(w *world) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := w.a.Send(ctx, w.out(Direct, "x"))
	w.want(w.judged(err), chat.Unreachable, "")
	time.Sleep(time.Minute)
	if n := w.Sends(); n != 0 {
		w.Errorf("%d calls, want none", n)
	}
}

// refused checks that a send to a place in trouble is refused for good, with its class.
func (w *world) refused(trouble Trouble, at Place, class chat.Class) {
	w.sent(w.out(at, "before"))
	w.want(w.once(trouble, w.out(at, "x")), chat.Refused, class)
	if n := len(w.Seen(at)); n > 1 {
		w.Errorf("%d messages, want no more than the one before", n)
	}
}

func idempotent(w *world) {
	if !w.a.Describe().Idempotent {
		w.lacking("Info.Idempotent")
	}
	out := w.out(Direct, "once")
	w.want(w.once(CutAfter, out), chat.Unknown, "")
	r := w.sent(out)
	if seen := w.Seen(Direct); len(seen) != 1 || seen[0].ID != r.MessageID {
		w.Errorf("%+v, want one message with the id %s", seen, r.MessageID)
	}
	again := w.sent(w.out(Direct, "once"))
	if again.MessageID == r.MessageID || len(w.Seen(Direct)) != 2 {
		w.Error("the same text under another key is another message")
	}
}
