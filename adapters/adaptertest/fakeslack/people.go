package fakeslack

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"time"
)

// Channel is a place: a channel, a private one, a direct chat of a person with the bot, or one of several people.
type Channel struct {
	ID, Name string
	With     string // of a direct chat: the person
	Kind     string // channel, group, im, mpim

	archived, gone, closed, outside bool
	messages                        []*Message
}

// Message is what people see in a channel.
type Message struct {
	Channel, TS, Thread string
	From                string
	Raw                 string // as it was written, with markup and escapes
	Deleted             bool
	Files               []File // of the bot

	literal  bool // markup was switched off
	sections []object
	buttons  []button
	metadata json.RawMessage
	more     map[string]any
}

type button struct{ label, action, value string }

// Text is what is read: without markup.
func (m Message) Text() string {
	if len(m.sections) == 0 {
		if m.literal {
			return unescape(m.Raw)
		}
		return Read(m.Raw)
	}
	var all []string
	for _, o := range m.sections {
		if o.Type == "plain_text" {
			all = append(all, unescape(o.Text))
		} else {
			all = append(all, Read(o.Text))
		}
	}
	return strings.Join(all, "\n")
}

// Buttons are the labels of the buttons under a message.
func (m Message) Buttons() []string {
	var out []string
	for _, b := range m.buttons {
		out = append(out, b.label)
	}
	return out
}

var (
	control = regexp.MustCompile(`<([^<>|]*)(?:\|([^<>]*))?>`)
	fenced  = regexp.MustCompile("(?s)```\n?(.*?)\n?```")
	marked  = []*regexp.Regexp{
		regexp.MustCompile("(^|[^\\w`])`([^`\n]+)`($|[^\\w`])"),
		regexp.MustCompile(`(^|[^\w*])\*(\S|\S[^*\n]*\S)\*($|[^\w*])`),
		regexp.MustCompile(`(^|[^\w_])_(\S|\S[^_\n]*\S)_($|[^\w_])`),
		regexp.MustCompile(`(^|[^\w~])~(\S|\S[^~\n]*\S)~($|[^\w~])`),
	}
)

// Read gives what a text in Slack's markup looks like.
func Read(raw string) string {
	raw = fenced.ReplaceAllString(raw, "$1")
	for _, m := range marked {
		raw = m.ReplaceAllString(raw, "$1$2$3")
	}
	raw = control.ReplaceAllStringFunc(raw, func(s string) string {
		m := control.FindStringSubmatch(s)
		switch {
		case m[2] != "":
			return m[2]
		case strings.HasPrefix(m[1], "!"):
			return "@" + m[1][1:]
		}
		return m[1]
	})
	return unescape(raw)
}

// unescape gives the three characters that have an escape.
func unescape(s string) string {
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(s)
}

// Person makes a person and, if direct is not empty, the direct chat with the bot under that id.
func (s *Server) Person(id, name, direct string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users[id] = User{ID: id, Name: name}
	if direct != "" {
		s.channels[direct] = &Channel{ID: direct, With: id, Kind: "im"}
	}
}

// OtherBot makes a bot of another app.
func (s *Server) OtherBot(id, botID, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users[id] = User{ID: id, Name: name, BotID: botID}
}

// Channel makes a channel that the bot is in. Kind is channel, group (a private one) or mpim (a direct chat of several).
func (s *Server) Channel(id, name, kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.channels[id] = &Channel{ID: id, Name: name, Kind: kind}
}

func (s *Server) alter(id string, f func(*Channel)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.channels[id])
}

// Archive archives a channel, or brings it back.
func (s *Server) Archive(id string, on bool) { s.alter(id, func(c *Channel) { c.archived = on }) }

// Forget lets a channel be unknown from now on.
func (s *Server) Forget(id string) { s.alter(id, func(c *Channel) { c.gone = true }) }

// Restrict forbids the bot to write in a channel, or no more.
func (s *Server) Restrict(id string, on bool) { s.alter(id, func(c *Channel) { c.closed = on }) }

// Remove takes the bot out of a channel, or invites it again.
func (s *Server) Remove(id string, on bool) { s.alter(id, func(c *Channel) { c.outside = on }) }

// Delete removes a message and tells the app.
func (s *Server) Delete(channel, ts string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channels[channel]
	if m := c.message(ts); m != nil {
		m.Deleted = true
		s.event(reply{
			"type": "message", "subtype": "message_deleted", "hidden": true, "channel": c.ID, "channel_type": c.Kind, "deleted_ts": ts, "ts": s.ts(),
			"previous_message": s.present(m, false),
		})
	}
}

// Alter lets the author of a message change its text, and tells the app.
func (s *Server) Alter(channel, ts, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channels[channel]
	if m := c.message(ts); m != nil {
		before := s.present(m, false)
		m.Raw = text
		s.event(reply{
			"type": "message", "subtype": "message_changed", "hidden": true, "channel": c.ID, "channel_type": c.Kind, "ts": s.ts(),
			"message": s.present(m, false), "previous_message": before,
		})
	}
}

// Post is what somebody says.
type Post struct {
	Channel, Thread, From string
	Text                  string // in Slack's form: <@U1> is a mention, &lt; a character
	Files                 []File
	// More holds further fields of the event, such as "subtype", or replaces some.
	More map[string]any
}

// Say posts a message and tells the app, twice when it is mentioned.
func (s *Server) Say(p Post) (ts string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channels[p.Channel]
	more := map[string]any{}
	if len(p.Files) > 0 {
		var list []reply
		for _, f := range p.Files {
			list = append(list, s.object(s.keep(f)))
		}
		more["subtype"], more["files"] = "file_share", list
	}
	maps.Copy(more, p.More)
	m := &Message{Channel: c.ID, Thread: p.Thread, From: p.From, Raw: p.Text, more: more}
	s.add(c, m)
	s.tell(c, m, more)
	return m.TS
}

// tell delivers the events of a message. The caller holds the lock.
func (s *Server) tell(c *Channel, m *Message, more map[string]any) {
	e := s.present(m, false)
	e["channel"], e["channel_type"], e["event_ts"] = c.ID, c.Kind, m.TS
	maps.Copy(e, more)
	s.event(e)
	if kind, _ := more["subtype"].(string); kind != "" && kind != "file_share" && kind != "thread_broadcast" && kind != "bot_message" {
		return // news of the channel
	}
	if strings.Contains(m.Raw, "<@"+BotUser) && c.Kind != "im" && m.From != BotUser {
		mention := maps.Clone(e)
		mention["type"] = "app_mention"
		delete(mention, "channel_type")
		delete(mention, "subtype")
		s.event(mention)
	}
}

// event delivers an event of the Events API. The caller holds the lock.
func (s *Server) event(inner reply) {
	raw, err := json.Marshal(reply{
		"type": "event_callback", "team_id": Team, "api_app_id": App, "event_id": s.id("Ev"), "event_time": time.Now().Unix(), "event": inner,
		"authorizations": []reply{{"team_id": Team, "user_id": BotUser, "is_bot": true}},
	})
	if err != nil {
		panic(err)
	}
	s.deliver("events_api", raw)
}

// Event delivers an event of the Events API as it is.
func (s *Server) Event(inner map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.event(inner)
}

// Slash lets somebody give a slash command.
func (s *Server) Slash(channel, user, command, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	raw, _ := json.Marshal(reply{
		"command": command, "text": text, "channel_id": channel, "channel_name": s.channels[channel].Name, "user_id": user,
		"user_name": strings.ToLower(s.users[user].Name), "team_id": Team, "api_app_id": App, "trigger_id": s.id("trigger"),
		"response_url": "http://" + s.Addr() + "/answer/" + s.id("r"),
	})
	s.deliver("slash_commands", raw)
}

// Press lets somebody press the button with that label under a message.
func (s *Server) Press(channel, ts, user, label string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.channels[channel].message(ts)
	container := reply{"type": "message", "message_ts": ts, "channel_id": channel, "is_ephemeral": false}
	if m.Thread != "" {
		container["thread_ts"] = m.Thread
	}
	for _, b := range m.buttons {
		if b.label != label {
			continue
		}
		raw, _ := json.Marshal(reply{
			"type": "block_actions", "user": reply{"id": user, "username": strings.ToLower(s.users[user].Name), "team_id": Team}, "api_app_id": App,
			"team": reply{"id": Team}, "container": container, "channel": reply{"id": channel, "name": s.channels[channel].Name},
			"message": s.present(m, false), "trigger_id": s.id("trigger"), "response_url": "http://" + s.Addr() + "/answer/" + s.id("r"),
			"actions": []reply{{"type": "button", "action_id": b.action, "block_id": "b", "value": b.value, "action_ts": s.ts(), "text": reply{"type": "plain_text", "text": b.label}}},
		})
		s.deliver("interactive", raw)
		return
	}
}

// ts is the next time stamp, which no other message has. The caller holds the lock.
func (s *Server) ts() string {
	s.lastTS = max(s.lastTS+1, time.Now().UnixMicro())
	return fmt.Sprintf("%d.%06d", s.lastTS/1e6, s.lastTS%1e6)
}

// add gives a message its time stamp and its place. The caller holds the lock.
func (s *Server) add(c *Channel, m *Message) {
	m.TS = s.ts()
	c.messages = append(c.messages, m)
	s.Change()
}

func (c *Channel) message(ts string) *Message {
	for _, m := range c.messages {
		if m.TS == ts && !m.Deleted {
			return m
		}
	}
	return nil
}

// present is a message in the form of the API. The caller holds the lock.
func (s *Server) present(m *Message, metadata bool) reply {
	body := reply{"type": "message", "user": m.From, "text": m.Raw, "ts": m.TS, "team": Team}
	if u := s.users[m.From]; u.BotID != "" {
		body["bot_id"], body["app_id"] = u.BotID, "A0OTHER"
		if m.From == BotUser {
			body["app_id"] = App
		}
	}
	if m.Thread != "" {
		body["thread_ts"] = m.Thread
		if root := s.channels[m.Channel].message(m.Thread); root != nil && root != m {
			body["parent_user_id"] = root.From
		}
	}
	if metadata && m.metadata != nil {
		body["metadata"] = m.metadata
	}
	maps.Copy(body, m.more)
	return body
}

// Visible gives the messages of the bot in a channel that are not deleted, the oldest first, those in threads included.
func (s *Server) Visible(channel string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Message
	if c := s.channels[channel]; c != nil {
		for _, m := range c.messages {
			if m.From == BotUser && !m.Deleted {
				out = append(out, *m)
			}
		}
	}
	return out
}
