package discord_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/homing-gateway/homing/adapters/adaptertest"
	"github.com/homing-gateway/homing/adapters/adaptertest/fakediscord"
	"github.com/homing-gateway/homing/adapters/discord"
	"github.com/homing-gateway/homing/internal/chat"
)

// key is as long as the core's.
const key = "out_01KBBQZ4S6M5X0R2T9W8V7Y3ZC/0"

func (w *world) sent(out chat.Outbound) fakediscord.Message {
	w.t.Helper()
	r, err := w.a.Send(w.t.Context(), out)
	if err != nil {
		w.t.Fatalf("send: %v", err)
	}
	for _, m := range w.dc.Visible("") {
		if m.ID == r.MessageID {
			return m
		}
	}
	w.t.Fatalf("message %s is not there", r.MessageID)
	return fakediscord.Message{}
}

func TestSend(t *testing.T) {
	w := start(t)
	for _, to := range []chat.Address{inDirect(), inSquare(), inCorner(), {Type: chat.Direct, Chat: square}} {
		channel := to.Chat
		if to.Thread != "" {
			channel = to.Thread
		}
		if m := w.sent(chat.Outbound{To: to, Text: "**hello**", Key: channel}); m.Channel != channel || m.Content != "**hello**" || m.Silent {
			t.Errorf("%+v: %+v", to, m)
		}
	}
	if m := w.sent(chat.Outbound{To: inDirect(), Text: "psst", Silent: true}); !m.Silent {
		t.Errorf("%+v, want it silent", m)
	}
	// A text that is as long as it may be, counted as Discord counts.
	info := w.a.Describe()
	long := strings.Repeat("😀", info.MaxUnits)
	if info.Unit != chat.Runes || utf8.RuneCountInString(w.sent(chat.Outbound{To: inDirect(), Text: long}).Content) != 2000 {
		t.Errorf("%+v", info)
	}
	_, err := w.a.Send(t.Context(), chat.Outbound{To: inDirect(), Text: long + "x"})
	if e := adaptertest.SendError(t, err); e.Fault != chat.Refused || e.Class != chat.ClassTooLong {
		t.Errorf("%v", e)
	}
	for to, class := range map[chat.Address]chat.Class{
		{Chat: "general"}: chat.ClassChatGone, {Chat: "../users/@me"}: chat.ClassChatGone, {}: chat.ClassChatGone,
		{Chat: square, Thread: "topic"}: chat.ClassThreadGone,
	} {
		_, err := w.a.Send(t.Context(), chat.Outbound{To: to, Text: "x"})
		if e := adaptertest.SendError(t, err); e.Fault != chat.Refused || e.Class != class {
			t.Errorf("%+v: %v", to, e)
		}
	}
}

// A text notifies nobody, and least of all everybody.
func TestNobodyIsNotifiedInMasses(t *testing.T) {
	w := start(t)
	text := "@everyone @here <@&5> <@" + alice + ">"
	m := w.sent(chat.Outbound{To: inSquare(), Text: text})
	if len(m.Pings) != 0 {
		t.Errorf("notified: %v", m.Pings)
	}
	if err := w.a.Edit(t.Context(), m.ID, chat.Outbound{To: inSquare(), Text: text}); err != nil {
		t.Fatal(err)
	}
	calls := w.dc.Calls("PATCH messages")
	if got := fmt.Sprint(calls[0].Body["allowed_mentions"]); !strings.Contains(got, "parse:[]") {
		t.Errorf("an edit allows %s", got)
	}
}

// A message of ours is taken back, also where somebody else or the end of its channel was first; one of somebody else stays.
func TestRemove(t *testing.T) {
	w := start(t)
	m := w.sent(chat.Outbound{To: inSquare(), Text: "x"})
	for range 2 {
		if err := w.a.Remove(t.Context(), inSquare(), m.ID); err != nil {
			t.Error(err)
		}
	}
	if seen := w.dc.Visible(square); len(seen) != 0 {
		t.Errorf("seen: %+v", seen)
	}
	theirs := w.dc.Say(fakediscord.Post{Channel: square, From: alice, Text: "mine"})
	for _, id := range []string{theirs, "../../users/@me", ""} {
		if e := adaptertest.SendError(t, w.a.Remove(t.Context(), inSquare(), id)); e.Fault != chat.Refused {
			t.Errorf("%q: %v", id, e)
		}
	}
	m = w.sent(chat.Outbound{To: inSquare(), Text: "y"})
	w.dc.Remove(square)
	if err := w.a.Remove(t.Context(), inSquare(), m.ID); err != nil {
		t.Error(err)
	}
}

// A person's message is marked as seen, also one from which a thread was opened, or is to be; where that may not be, it is
// refused.
func TestReact(t *testing.T) {
	w := start(t)
	said := w.dc.Say(fakediscord.Post{Channel: square, From: alice, Text: "hello"})
	for _, to := range []chat.Address{inSquare(), {Account: inSquare().Account, Type: chat.Thread, Chat: square, Thread: said}} {
		if err := w.a.React(t.Context(), to, said); err != nil {
			t.Errorf("%+v: %v", to, err)
		}
	}
	if seen := w.dc.Marks(square); len(seen) != 1 || seen[said] != "👀" {
		t.Errorf("marks: %v", seen)
	}
	w.dc.Delete(said)
	for _, id := range []string{said, "../1", ""} {
		if e := adaptertest.SendError(t, w.a.React(t.Context(), inSquare(), id)); e.Fault != chat.Refused || e.Class != chat.ClassOther {
			t.Errorf("%q: %v", id, e)
		}
	}
}

// A send that is repeated under its key makes no second message, also when nobody knows what became of the first one; in
// another channel it is another message.
func TestRepeatedSend(t *testing.T) {
	for name, f := range map[string]fakediscord.Fault{
		"cut": {Drop: true, Stored: true}, "502": {Status: 502, Body: "<html>", Stored: true},
		"no JSON": {Status: 200, Body: "<html>please log in</html>", Stored: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			f.Name, f.Times = "POST messages", 1
			w.dc.Add(f)
			out := chat.Outbound{To: inDirect(), Text: "once", Key: key}
			_, err := w.a.Send(t.Context(), out)
			want := chat.Unknown
			if f.Status == 502 {
				want = chat.ServerError
			}
			if e := adaptertest.SendError(t, err); e.Fault != want {
				t.Errorf("%v, want %s", e, want)
			}
			m := w.sent(out)
			out.To = inSquare()
			w.sent(out)
			if seen := w.dc.Visible(direct); len(seen) != 1 || seen[0].ID != m.ID || len(w.dc.Visible(square)) != 1 {
				t.Errorf("seen: %+v", seen)
			}
		})
	}
	if !start(t).a.Describe().Idempotent {
		t.Error("not declared")
	}
}

// How far a send came decides what the core may do: nothing was sent, or nobody knows.
func TestSendWithoutAnAnswer(t *testing.T) {
	w := start(t, func(o *discord.Options) { o.CallTimeout = 200 * time.Millisecond })
	out := chat.Outbound{To: inDirect(), Text: "x"}
	w.dc.Add(fakediscord.Fault{Name: "POST messages", Hang: true, Times: 1})
	_, err := w.a.Send(t.Context(), out)
	if e := adaptertest.SendError(t, err); e.Fault != chat.Unknown {
		t.Errorf("hanging: %v", e)
	}
	w.a.Close()
	w.dc.Down()
	_, err = w.a.Send(t.Context(), out)
	if e := adaptertest.SendError(t, err); e.Fault != chat.Unreachable {
		t.Errorf("away: %v", e)
	}
	w.until("Discord listens again", func() bool { return w.dc.Up() == nil })
	w.sent(out)
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		to    chat.Address
		make  func(*world)
		fault fakediscord.Fault
		want  chat.SendError
	}{
		"D-15 thread gone":     {to: inCorner(), make: func(w *world) { w.dc.Remove(corner) }, want: chat.SendError{Fault: chat.Refused, Class: chat.ClassThreadGone}},
		"D-25 thread locked":   {to: inCorner(), make: func(w *world) { w.dc.Archive(corner, true) }, want: chat.SendError{Fault: chat.Refused, Class: chat.ClassThreadGone}},
		"channel gone":         {to: inSquare(), make: func(w *world) { w.dc.Remove(square) }, want: chat.SendError{Fault: chat.Refused, Class: chat.ClassChatGone}},
		"channel hidden":       {to: inSquare(), make: func(w *world) { w.dc.Hide(square, true) }, want: chat.SendError{Fault: chat.Refused, Class: chat.ClassBlocked}},
		"no permission":        {to: inSquare(), make: func(w *world) { w.dc.Block(square, true) }, want: chat.SendError{Fault: chat.Refused, Class: chat.ClassBlocked}},
		"direct messages off":  {to: inDirect(), make: func(w *world) { w.dc.Block(direct, true) }, want: chat.SendError{Fault: chat.Refused, Class: chat.ClassBlocked}},
		"a forum is no place":  {to: chat.Address{Type: chat.Channel, Chat: library}, want: chat.SendError{Fault: chat.Refused, Class: chat.ClassOther}},
		"N-16 unauthorized":    {to: inDirect(), fault: fakediscord.Fault{Status: 401, Message: "401: Unauthorized"}, want: chat.SendError{Fault: chat.Refused, Class: chat.ClassCredential}},
		"40001":                {to: inDirect(), fault: fakediscord.Fault{Status: 403, Code: 40001, Message: "Unauthorized"}, want: chat.SendError{Fault: chat.Refused, Class: chat.ClassCredential}},
		"too large":            {to: inDirect(), fault: fakediscord.Fault{Status: 413, Code: 40005}, want: chat.SendError{Fault: chat.Refused, Class: chat.ClassTooLong}},
		"slow mode":            {to: inSquare(), fault: fakediscord.Fault{Status: 400, Code: 20016}, want: chat.SendError{Fault: chat.RateLimited, RetryAfter: time.Second}},
		"500":                  {to: inDirect(), fault: fakediscord.Fault{Status: 500}, want: chat.SendError{Fault: chat.ServerError}},
		"502 of HTML":          {to: inDirect(), fault: fakediscord.Fault{Status: 502, Body: "<html>Bad Gateway</html>"}, want: chat.SendError{Fault: chat.ServerError}},
		"403 of HTML":          {to: inDirect(), fault: fakediscord.Fault{Status: 403, Body: "<html>blocked by a proxy</html>"}, want: chat.SendError{Fault: chat.ServerError}},
		"429":                  {to: inDirect(), fault: fakediscord.Fault{Status: 429, RetryAfter: 2.2}, want: chat.SendError{Fault: chat.RateLimited, RetryAfter: 2200 * time.Millisecond}},
		"429 of HTML":          {to: inDirect(), fault: fakediscord.Fault{Status: 429, Body: "<html>slow down</html>", RetryAfter: 0}, want: chat.SendError{Fault: chat.RateLimited, RetryAfter: time.Second}},
		"a code nobody knows":  {to: inDirect(), fault: fakediscord.Fault{Status: 400, Code: 999999}, want: chat.SendError{Fault: chat.Refused, Class: chat.ClassOther}},
		"empty, D-20 or never": {to: inDirect(), fault: fakediscord.Fault{Status: 400, Code: 50006}, want: chat.SendError{Fault: chat.Refused, Class: chat.ClassOther}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			if c.make != nil {
				c.make(w)
			}
			if c.fault.Status != 0 {
				c.fault.Name = "POST messages"
				w.dc.Add(c.fault)
			}
			_, err := w.a.Send(t.Context(), chat.Outbound{To: c.to, Text: "x", Key: key})
			e := adaptertest.SendError(t, err)
			if e.Fault != c.want.Fault || e.Class != c.want.Class || e.RetryAfter != c.want.RetryAfter {
				t.Errorf("%v after %s, want %+v", e, e.RetryAfter, c.want)
			}
			if n := len(w.dc.Calls("POST messages")); n != 1 {
				t.Errorf("%d attempts, want one", n)
			}
		})
	}
}

// A limit is told and not waited out; while it is in force no call of its kind is made, and others go on. One that is for
// the whole bot holds all of them.
func TestLimits(t *testing.T) {
	w := start(t)
	w.dc.Limit(2, 500*time.Millisecond)
	out := chat.Outbound{To: inDirect(), Text: "x"}
	w.sent(out)
	w.sent(out)
	began := time.Now()
	_, err := w.a.Send(t.Context(), out)
	e := adaptertest.SendError(t, err)
	if e.Fault != chat.RateLimited || e.RetryAfter <= 0 || e.RetryAfter > 500*time.Millisecond || time.Since(began) > 250*time.Millisecond {
		t.Errorf("%v, retry after %s", e, e.RetryAfter)
	}
	if n := len(w.dc.Calls("POST messages")); n != 2 {
		t.Errorf("%d calls, want two", n)
	}
	w.sent(chat.Outbound{To: inSquare(), Text: "x"})
	<-time.After(e.RetryAfter)
	w.sent(out)

	w = start(t)
	w.dc.Add(fakediscord.Fault{Name: "POST messages", Status: 429, RetryAfter: 0.4, Global: true, Times: 1})
	for i, to := range []chat.Address{inDirect(), inSquare()} {
		_, err := w.a.Send(t.Context(), chat.Outbound{To: to, Text: "x"})
		if e := adaptertest.SendError(t, err); e.Fault != chat.RateLimited || e.RetryAfter > 400*time.Millisecond || e.RetryAfter <= 0 {
			t.Errorf("send %d: %v after %s", i, e, e.RetryAfter)
		}
	}
	if n := len(w.dc.Calls("POST messages")); n != 1 {
		t.Errorf("%d calls, want one", n)
	}
}

// A call that hangs holds no other one up, not even one of its own kind in its own channel.
func TestHangingCallHoldsNobodyUp(t *testing.T) {
	w := start(t, func(o *discord.Options) { o.CallTimeout = 5 * time.Second })
	w.dc.Add(fakediscord.Fault{Name: "POST messages", Contains: "slow", Hang: true})
	done := make(chan error, 1)
	go func() {
		_, err := w.a.Send(t.Context(), chat.Outbound{To: inDirect(), Text: "slow"})
		done <- err
	}()
	w.until("the slow call", func() bool { return len(w.dc.Calls("POST messages")) == 1 })
	began := time.Now()
	w.sent(chat.Outbound{To: inDirect(), Text: "quick"})
	if d := time.Since(began); d > 2*time.Second {
		t.Errorf("it took %s", d)
	}
	w.dc.Down()
	if e := adaptertest.SendError(t, <-done); e.Fault != chat.Unknown {
		t.Errorf("%v", e)
	}
}

// D-19: what is answered may be gone, or be something that cannot be answered; the answer comes all the same.
func TestReplies(t *testing.T) {
	w := start(t)
	id := w.dc.Say(fakediscord.Post{Channel: square, From: bob, Text: "?"})
	if m := w.sent(chat.Outbound{To: inSquare(), Text: "!", ReplyTo: id}); m.ReplyTo != id {
		t.Errorf("%+v", m)
	}
	w.dc.Delete(id)
	if m := w.sent(chat.Outbound{To: inSquare(), Text: "!", ReplyTo: id}); m.ReplyTo != "" {
		t.Errorf("%+v", m)
	}
	for name, f := range map[string]fakediscord.Fault{
		"D-19 of the system": {Status: 400, Code: 50035, Message: "Invalid Form Body", Errors: map[string]any{"message_reference": "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE"}},
		"D-19 no reason":     {Status: 400, Code: 50035, Message: "Invalid Form Body"},
		"D-19 unreadable":    {Status: 403, Code: 160002},
	} {
		t.Run(name, func(t *testing.T) {
			f.Name, f.Times, f.Contains = "POST messages", 1, name
			w.dc.Add(f)
			if m := w.sent(chat.Outbound{To: inSquare(), Text: name, ReplyTo: id, Key: name}); m.ReplyTo != "" {
				t.Errorf("%+v", m)
			}
		})
	}
}

// A mention in a channel is answered in a thread of its own, which the first answer opens; later ones go there, also after
// a restart.
func TestAutoThread(t *testing.T) {
	w := start(t, func(o *discord.Options) { o.AutoThread = true })
	r := w.connected(w.run(nil))
	w.dc.Say(fakediscord.Post{Channel: square, From: bob, Text: "not to you"})
	id := w.dc.Say(fakediscord.Post{Channel: square, From: bob, Text: "<@" + bot + "> look into the matter of the missing keys, and please tell me all that you find out about it"})
	w.dc.Say(fakediscord.Post{Channel: corner, From: bob, Text: "<@" + bot + "> here"})
	w.dc.Say(fakediscord.Post{Channel: direct, From: alice, Text: "and here"})
	got := r.Await(t, 4)
	thread := got[1].Message.Address
	if want := (chat.Address{Account: account, Type: chat.Thread, Chat: square, Thread: id, Person: bob}); thread != want {
		t.Fatalf("%+v, want %+v", thread, want)
	}
	for i, want := range map[int]chat.Address{0: inSquare(), 2: inCorner(), 3: inDirect()} {
		if a := got[i].Message.Address; a.Type != want.Type || a.Thread != want.Thread {
			t.Errorf("%+v, want %+v", a, want)
		}
	}
	if err := w.a.Typing(t.Context(), thread); err != nil {
		t.Errorf("typing before there is a thread: %v", err)
	}
	if m := w.sent(chat.Outbound{To: thread, Text: "I will", ReplyTo: id, Key: key}); m.Channel != id || m.ReplyTo != "" {
		t.Errorf("%+v", m)
	}
	name := w.dc.Calls("POST threads")[0].Body["name"].(string)
	if !strings.HasPrefix(name, "look into the matter") || utf8.RuneCountInString(name) > 60 {
		t.Errorf("the thread is called %q", name)
	}
	w.dc.Say(fakediscord.Post{Channel: id, From: bob, Text: "thanks"})
	if a := r.Await(t, 5)[4].Message.Address; a != thread {
		t.Errorf("in the thread: %+v, want %+v", a, thread)
	}
	r.Stop(t)
	w.adapter()
	w.sent(chat.Outbound{To: thread, Text: "found", Key: key + "1"})
	if n := len(w.dc.Calls("POST threads")); n != 1 {
		t.Errorf("opened %d times", n)
	}
}

// D-15, D-16: a thread that cannot be opened, or that somebody deleted, is gone, and is not opened a second time.
func TestThreadThatCannotBeOpened(t *testing.T) {
	for name, spoil := range map[string]func(w *world, id string){
		"D-15 message deleted": func(w *world, id string) { w.dc.Delete(id) },
		"D-15 no permission": func(w *world, _ string) {
			w.dc.Add(fakediscord.Fault{Name: "POST threads", Status: 403, Code: 50013})
		},
		"D-16 thread deleted": func(w *world, id string) {
			w.sent(chat.Outbound{To: chat.Address{Type: chat.Thread, Chat: square, Thread: id}, Text: "one"})
			w.dc.Remove(id)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, func(o *discord.Options) { o.AutoThread = true })
			id := w.dc.Say(fakediscord.Post{Channel: square, From: bob, Text: "<@" + bot + "> hello"})
			spoil(w, id)
			_, err := w.a.Send(t.Context(), chat.Outbound{To: chat.Address{Type: chat.Thread, Chat: square, Thread: id}, Text: "two"})
			if e := adaptertest.SendError(t, err); e.Fault != chat.Refused || e.Class != chat.ClassThreadGone {
				t.Errorf("%v", e)
			}
		})
	}
}

func TestButtons(t *testing.T) {
	w := start(t)
	r := w.connected(w.run(nil))
	var list []chat.Button
	for i := range 27 {
		list = append(list, chat.Button{Label: fmt.Sprint("Choice ", i), Command: fmt.Sprint("/choose ", i)})
	}
	list[3].Label = strings.Repeat("long ", 30)
	m := w.sent(chat.Outbound{To: inSquare(), Text: "which?", Buttons: list})
	if len(m.Buttons) != 25 || m.Buttons[24].ID != "/choose 24" {
		t.Fatalf("%+v", m.Buttons)
	}
	i := w.dc.Press(m.ID, bob, "/choose 2")
	got := r.Await(t, 1)[0]
	if x := got.Message; got.ID != i || x.Text != "/choose 2" || !x.Addressed || x.Address.Person != bob || x.Address.Chat != square ||
		x.Address.Type != chat.Channel || x.PersonName != "Bob" {
		t.Errorf("%+v", x)
	}
	w.until("the press is acknowledged", func() bool { return w.dc.Interaction(i).Type == 6 })
	if err := w.a.Edit(t.Context(), m.ID, chat.Outbound{To: inSquare(), Text: "chosen: 2"}); err != nil {
		t.Fatal(err)
	}
	if m := w.dc.Visible(square)[0]; m.Content != "chosen: 2" || len(m.Buttons) != 0 || m.Edits != 1 {
		t.Errorf("after the edit: %+v", m)
	}
	r.Stop(t)
}

// D-20: a text that is the same as before is no error. Of a message that is gone the place is not to blame.
func TestEdit(t *testing.T) {
	w := start(t)
	m := w.sent(chat.Outbound{To: inCorner(), Text: "same"})
	if err := w.a.Edit(t.Context(), m.ID, chat.Outbound{To: inCorner(), Text: "same"}); err != nil {
		t.Errorf("the same text: %v", err)
	}
	w.dc.Delete(m.ID)
	for _, id := range []string{m.ID, "no id", ""} {
		if e := adaptertest.SendError(t, w.a.Edit(t.Context(), id, chat.Outbound{To: inCorner(), Text: "x"})); e.Fault != chat.Refused || e.Class != chat.ClassOther {
			t.Errorf("%q: %v", id, e)
		}
	}
}

// N-22: a native command is acknowledged after it is stored, within three seconds, and not at all if it is not.
func TestCommands(t *testing.T) {
	w := start(t)
	menu := []chat.MenuEntry{{Name: "status", Description: strings.Repeat("how things stand ", 20)}, {Name: "resume", Description: "go back"}}
	if e := adaptertest.SendError(t, w.a.SetMenu(t.Context(), menu)); e.Fault != chat.Unreachable {
		t.Errorf("before we know who we are: %v", e)
	}
	hold := make(chan struct{})
	full := fmt.Errorf("no space")
	r := w.connected(w.run(func(e chat.Event) error {
		if e.Message.Text == "/resume 2" {
			<-hold
		}
		if e.Message.Text == "/stop" {
			return full
		}
		return nil
	}))
	for range 2 {
		if err := w.a.SetMenu(t.Context(), menu); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(w.dc.Commands()); got != "[status resume]" || len(w.dc.Calls("PUT applications/commands")) != 1 {
		t.Errorf("commands %s, set %d times", got, len(w.dc.Calls("PUT applications/commands")))
	}
	i := w.dc.Slash(corner, bob, "status", "")
	got := r.Await(t, 1)[0]
	if m := got.Message; got.ID != i || m.Text != "/status" || !m.Addressed || m.Address.Type != chat.Thread || m.Address.Chat != square ||
		m.Address.Thread != corner || m.Address.Person != bob || time.Since(m.SentAt) > time.Minute {
		t.Errorf("%+v", m)
	}
	w.until("the command is acknowledged", func() bool { return w.dc.Interaction(i).Type == 4 })
	i = w.dc.Slash(direct, alice, "resume", "2")
	<-time.After(100 * time.Millisecond)
	if w.dc.Interaction(i).Type != 0 {
		t.Error("acknowledged before it was stored")
	}
	close(hold)
	w.until("the command is acknowledged", func() bool { return w.dc.Interaction(i).Type == 4 })
	if m := r.Await(t, 2)[1].Message; m.Text != "/resume 2" || m.Address.Type != chat.Direct || m.Address.Person != alice {
		t.Errorf("%+v", m)
	}
	i = w.dc.Slash(direct, alice, "stop", "")
	if err := r.End(t); err == nil || !strings.Contains(err.Error(), "no space") {
		t.Errorf("Run: %v", err)
	}
	if w.dc.Interaction(i).Type != 0 {
		t.Error("acknowledged although it was not stored")
	}
}

func TestTyping(t *testing.T) {
	w := start(t)
	for _, to := range []chat.Address{inDirect(), inCorner()} {
		if err := w.a.Typing(t.Context(), to); err != nil {
			t.Error(err)
		}
	}
	if calls := w.dc.Calls("POST typing"); len(calls) != 2 || calls[1].Channel != corner || w.a.TypingLasts() != 10*time.Second {
		t.Errorf("%+v", calls)
	}
	w.dc.Remove(corner)
	if e := adaptertest.SendError(t, w.a.Typing(t.Context(), inCorner())); e.Class != chat.ClassThreadGone {
		t.Errorf("%v", e)
	}
}
