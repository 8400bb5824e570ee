package machine

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/session"
)

// MarkLife is how long an event of a platform is remembered, so that it is taken once. Telegram redelivers for 24 hours,
// Feishu for six.
const MarkLife = 72 * time.Hour

// receive takes an event of a platform: durable before acknowledged, and once.
func (o *Overlay) receive(r Receive) (Answer, error) {
	var m chat.Message
	var key chat.Key
	if r.Message != nil {
		m = *r.Message
		m.Address = o.inward(m.Address)
		if key = chat.KeyOf(m.Address, r.Keying); len(key) > longestPlace {
			return refuse("the names of this place are %d bytes long, %d are the most", len(key), longestPlace)
		}
	}
	mark := markOf(r.Account, r.Event)
	if r.Event != "" {
		if _, seen := o.marks.get(mark); seen {
			return Answer{Duplicate: true}, nil
		}
		o.marks.put(mark, Mark{Event: mark, At: o.now})
	}
	o.advance(r)
	switch {
	case r.Aside != nil:
		o.appended = append(o.appended, Change{Asides, mark, SetAside{r.Account.String(), r.Event, string(r.Aside.Raw), r.Aside.Reason, o.now}})
		o.note(Record{Kind: "event", ID: r.Event, State: "set_aside", Why: r.Aside.Reason})
		return Answer{}, nil
	case r.Moved != nil:
		o.moved(r.Account, r.Moved.From, r.Moved.To)
		return Answer{}, nil
	case r.Message == nil:
		return Answer{}, nil
	}
	if _, part := o.routes.get(key); r.OnlyIfPart && !part {
		return Answer{}, nil
	}
	if r.OnlyIfAlbum && !o.awaitsAlbum(key, m) {
		return Answer{}, nil
	}
	if r.Command != nil {
		return o.command(key, m, *r.Command)
	}
	if r.Reply != "" {
		mid := o.say(m.Address, r.Reply, replyTo(m), r.Event, "", "")
		if out, ok := o.outgoing.get(mid); ok && len(r.Buttons) > 0 {
			out.Buttons = r.Buttons
			o.outgoing.put(mid, out)
		}
		return Answer{Outgoing: mid}, nil
	}
	o.resetIdle(key, m)
	s := o.conversation(key)
	t := Text{
		Content: m.Text, Person: m.Address.Person, MessageID: m.ID, Event: r.Event, Steer: r.Steer, At: o.now,
		Files: o.takeFiles(r.Files), Album: m.Album,
	}
	if r.Shared {
		t.Speaker = m.PersonName
	}
	o.line(s.ID, t)
	if s.Title == "" {
		s.Title = firstWords(t.words())
		o.sessions.put(s.ID, s)
	}
	o.active(s)
	o.note(Record{Kind: "message", ID: r.Event, State: "taken", Session: s.ID, Route: key})
	busy := o.lane(s.ID).Turn != ""
	o.fetch(s, t)
	o.tellFiles(s.ID)
	o.ripen(s.ID)
	return Answer{Session: s.ID, Turn: o.lane(s.ID).Turn, Waits: busy}, nil
}

// advance keeps how far the account's events are stored. What is known never becomes less.
func (o *Overlay) advance(r Receive) {
	p, _ := o.positions.get(r.Account.String())
	if r.Cursor == "" && !r.Known.After(p.Known) {
		return
	}
	p.Account, p.At = r.Account.String(), o.now
	if r.Cursor != "" {
		p.Cursor = r.Cursor
	}
	if r.Known.After(p.Known) {
		p.Known = r.Known
	}
	o.positions.put(p.Account, p)
}

// longestEvent is how long an event's name may be to stand in a key as it is, in bytes. Platforms' own are far shorter; a
// client may send anything, and the store takes no key without end.
const longestEvent = 256

// longestPlace is how long the key of a place may be, in bytes.
const longestPlace = 4096

// markOf is the key under which an event is remembered.
func markOf(a chat.Account, event string) string {
	if len(event) > longestEvent {
		event = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(event)))
	}
	return a.String() + "|" + event
}

// conversation returns the place's current session. An empty place gets a fresh one, and so does one whose conversation
// cannot be read.
func (o *Overlay) conversation(key chat.Key) session.Session {
	r, ok := o.routes.get(key)
	if s, present := o.Session(r.Current); ok && r.Current != "" && present == session.Present {
		return s
	}
	r.Key = key
	fresh := o.fresh(key)
	if r.Current != "" {
		o.switchTo(r, &fresh, session.Idle)
		s, _ := o.sessions.get(fresh.ID)
		return s
	}
	c, err := session.AsConversation(fresh)
	if err != nil { // fresh makes human-facing chat sessions only
		panic(err)
	}
	r, s := session.Open(r, c, o.now)
	o.routes.put(key, r)
	o.seat(s)
	o.note(Record{Kind: "route", ID: string(key), State: "opened", Session: s.ID, Route: key})
	return s
}

// resetIdle ends the place's conversation if it was silent for longer than session.idle_reset, and tells its person why.
// The message in hand begins the next one. No person leaves: what the old one still runs or gets is the next one's.
func (o *Overlay) resetIdle(key chat.Key, m chat.Message) {
	r, _ := o.routes.get(key)
	s, presence := o.Session(r.Current)
	limit, silence := o.policy(key.Address().Profile).IdleReset, o.now.Sub(s.ActiveAt)
	if presence != session.Present || limit <= 0 || silence <= limit || o.lane(s.ID).Turn != "" {
		return
	}
	fresh := o.fresh(key)
	fresh.Parent = s.ID
	o.switchTo(r, &fresh, session.Idle)
	o.say(m.Address, fmt.Sprintf("A new conversation begins: nothing was said here for %s, and session.idle_reset is %s. The old one is kept: /resume %s",
		span(silence), span(limit), s.ID), replyTo(m), "", fresh.ID, "")
}

// active takes note that something goes on in a session. That is kept to the second: silence is not counted finer, and a
// session in which much goes on is not written at every step for it.
func (o *Overlay) active(s session.Session) session.Session {
	if o.now.Sub(s.ActiveAt) >= time.Second {
		s.ActiveAt = o.now
		o.sessions.put(s.ID, s)
	}
	return s
}

// span is a duration without the zeros at its end: 1h30m, 2h, 45s.
func span(d time.Duration) string {
	text := d.Truncate(time.Second).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// fresh is a new chat session for the place; it is not stored yet.
func (o *Overlay) fresh(key chat.Key) session.Session {
	return session.Session{
		ID: id.Session(o.newID(id.PrefixSession)), Profile: key.Address().Profile, Kind: session.Chat, Key: key,
		CreatedAt: o.now, ActiveAt: o.now,
	}
}

// moved remembers that a chat has a new id. Nothing moves and nothing ends: the first id stays the place's name, however
// often the chat moves on.
func (o *Overlay) moved(a chat.Account, from, to string) {
	from = o.inward(chat.Address{Account: a, Chat: from}).Chat
	if from == to || to == "" {
		return
	}
	o.aliases.put("in:"+a.String()+":"+to, Alias{From: from, To: to})
	o.aliases.put("out:"+a.String()+":"+from, Alias{From: from, To: to})
	o.note(Record{Kind: "chat", ID: from, State: "moved", Why: to})
}

// inward gives an address the chat id that its place was named by.
func (o *Overlay) inward(a chat.Address) chat.Address {
	if al, ok := o.aliases.get("in:" + a.Account.String() + ":" + a.Chat); ok {
		a.Chat = al.From
	}
	return a
}

// outward gives an address the chat id that the platform knows now.
func (o *Overlay) outward(a chat.Address) chat.Address {
	if al, ok := o.aliases.get("out:" + a.Account.String() + ":" + a.Chat); ok {
		a.Chat = al.To
	}
	return a
}

// replyTo names the message to answer where several people talk.
func replyTo(m chat.Message) string {
	if m.Address.Type == chat.Direct {
		return ""
	}
	return m.ID
}

// firstWords is a title made of what a person said first.
func firstWords(text string) string {
	const most = 60
	words := strings.Join(strings.Fields(text), " ")
	if r := []rune(words); len(r) > most {
		return strings.TrimSpace(string(r[:most])) + "…"
	}
	return words
}
