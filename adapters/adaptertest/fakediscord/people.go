package fakediscord

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// The types of channels.
const (
	kindText   = 0
	kindDirect = 1
	kindThread = 11
	kindForum  = 15
)

type guild struct{ id, name string }

type channel struct {
	id, guild, parent, name string
	kind                    int
	with                    string // of a direct channel: the person
	hidden                  bool   // the bot may not see it
	blocked                 bool   // the bot may not write in it
	archived, locked        bool   // of a thread
	posts                   []*post
}

func (c *channel) thread() bool { return c.kind == kindThread }

// Message is what people see in a channel.
type Message struct {
	ID, Channel, Author string
	Content             string
	ReplyTo             string
	Nonce               string
	Buttons             []Button
	Files               []File
	Pings               []string // whom it notified
	Edits               int
	Reaction            string // ours
	Silent              bool
	At                  time.Time
}

// Button is a button under a message.
type Button struct{ Label, ID string }

type post struct {
	Message
	gone     bool
	threaded bool // a thread was opened from it
	more     map[string]any
}

// Post is what somebody says.
type Post struct {
	Channel, From string
	Text          string
	ReplyTo       string
	Files         []File
	// More holds further fields of the message, such as "poll", or replaces some.
	More map[string]any
}

// Person makes a person.
func (s *Server) Person(id, name string) { s.user(User{ID: id, Name: name}) }

// OtherBot makes another bot.
func (s *Server) OtherBot(id, name string) { s.user(User{ID: id, Name: name, Bot: true}) }

func (s *Server) user(u User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users[u.ID] = u
}

// Guild makes a guild.
func (s *Server) Guild(id, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.guilds[id] = &guild{id, name}
}

// Channel makes a text channel of a guild.
func (s *Server) Channel(id, guild, name string) {
	s.room(&channel{id: id, guild: guild, name: name, kind: kindText})
}

// Forum makes a forum of a guild, whose posts are threads.
func (s *Server) Forum(id, guild, name string) {
	s.room(&channel{id: id, guild: guild, name: name, kind: kindForum})
}

// Direct makes the direct channel of a person.
func (s *Server) Direct(id, person string) {
	s.room(&channel{id: id, with: person, kind: kindDirect})
}

// Thread makes a thread in a channel, or a post in a forum.
func (s *Server) Thread(id, parent, name string) {
	s.mu.Lock()
	guild := s.channels[parent].guild
	s.mu.Unlock()
	s.room(&channel{id: id, guild: guild, parent: parent, name: name, kind: kindThread})
}

func (s *Server) room(c *channel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.channels[c.id] = c
	if c.guild != "" {
		event := "CHANNEL_CREATE"
		if c.thread() {
			event = "THREAD_CREATE"
		}
		s.dispatch(event, intentGuilds, s.wireChannel(c))
	}
}

// Hide makes a channel one that the bot may not see. It is not told of it any more.
func (s *Server) Hide(id string, hidden bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.channels[id].hidden = hidden
}

// Block makes a channel one that the bot may not write in: a direct one is closed to it.
func (s *Server) Block(id string, blocked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.channels[id].blocked = blocked
}

// Archive archives a thread; a locked one is opened by a moderator only.
func (s *Server) Archive(id string, locked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.channels[id].archived, s.channels[id].locked = true, locked
}

// Remove deletes a channel or thread.
func (s *Server) Remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channels[id]
	delete(s.channels, id)
	event := "CHANNEL_DELETE"
	if c.thread() {
		event = "THREAD_DELETE"
	}
	s.dispatch(event, intentGuilds, map[string]any{"id": id, "guild_id": c.guild, "parent_id": c.parent, "type": c.kind})
}

// Delete removes a message.
func (s *Server) Delete(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.posts[id].gone = true
}

// Say posts a message of a person, tells the bot of it, and returns its id.
func (s *Server) Say(p Post) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.Change()
	m := &post{Message: Message{ID: s.id(), Channel: p.Channel, Author: p.From, Content: p.Text, ReplyTo: p.ReplyTo, Files: s.keep(p.Files), At: time.Now()}, more: p.More}
	s.publish(s.channels[p.Channel], m)
	return m.ID
}

// Repeat tells the bot of a message once more.
func (s *Server) Repeat(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell("MESSAGE_CREATE", s.posts[id])
}

// Alter edits a message of a person.
func (s *Server) Alter(id, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.posts[id]
	m.Content = text
	m.Edits++
	s.tell("MESSAGE_UPDATE", m)
}

// publish puts a message into its channel and tells the bot. The caller holds the lock.
func (s *Server) publish(ch *channel, m *post) {
	s.posts[m.ID] = m
	ch.posts = append(ch.posts, m)
	s.tell("MESSAGE_CREATE", m)
}

// tell tells the sessions of a message that they may see. The caller holds the lock.
func (s *Server) tell(event string, m *post) {
	ch := s.channels[m.Channel]
	if ch == nil || ch.hidden {
		return
	}
	intent, wire := intentGuildMessages, s.wireMessage(m)
	wire["channel_type"] = ch.kind
	if ch.guild == "" {
		s.dispatch(event, intentDirectMessages, wire)
		return
	}
	wire["guild_id"] = ch.guild
	if _, told := wire["member"]; !told {
		wire["member"] = map[string]any{"nick": nil, "roles": []any{}, "joined_at": "2024-01-01T00:00:00Z"}
	}
	bare := maps.Clone(wire)
	bare["content"], bare["attachments"], bare["embeds"], bare["components"] = "", []any{}, []any{}, []any{}
	s.dispatchTo(event, intent, func(intents int) any {
		if intents&intentContent == 0 && m.Author != s.bot.ID && !slices.ContainsFunc(s.mentioned(m.Content), func(u User) bool { return u.ID == s.bot.ID }) {
			return bare
		}
		return wire
	})
}

// Visible gives the messages of the bot in a channel, all of them for "", oldest first.
func (s *Server) Visible(channel string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Message
	for _, m := range s.posts {
		if m.Author == s.bot.ID && !m.gone && (channel == "" || m.Channel == channel) {
			out = append(out, m.Message)
		}
	}
	slices.SortFunc(out, func(a, b Message) int { return int(number(a.ID) - number(b.ID)) })
	return out
}

// Threads gives the ids of the threads of a channel.
func (s *Server) Threads(parent string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, c := range s.channels {
		if c.thread() && c.parent == parent {
			out = append(out, c.id)
		}
	}
	slices.Sort(out)
	return out
}

var userMention = regexp.MustCompile(`<@!?([0-9]+)>`)

func (s *Server) mentioned(text string) []User {
	var out []User
	for _, m := range userMention.FindAllStringSubmatch(text, -1) {
		if u, ok := s.users[m[1]]; ok && !slices.Contains(out, u) {
			out = append(out, u)
		}
	}
	return out
}

func (u User) wire() map[string]any {
	m := map[string]any{"id": u.ID, "username": strings.ToLower(u.Name), "global_name": u.Name, "discriminator": "0", "avatar": nil}
	if u.Bot {
		m["bot"] = true
	}
	return m
}

func (s *Server) wireChannel(c *channel) map[string]any {
	m := map[string]any{"id": c.id, "type": c.kind}
	if c.kind == kindDirect {
		m["recipients"] = []any{s.users[c.with].wire()}
		return m
	}
	m["guild_id"], m["name"] = c.guild, c.name
	if c.parent != "" {
		m["parent_id"] = c.parent
	}
	if c.thread() {
		m["thread_metadata"] = map[string]any{
			"archived": c.archived, "locked": c.locked, "auto_archive_duration": 1440, "archive_timestamp": time.Now().UTC().Format(time.RFC3339),
		}
	}
	return m
}

const stamp = "2006-01-02T15:04:05.000000+00:00"

func (s *Server) wireMessage(m *post) map[string]any {
	mentions, components := []any{}, []any{}
	for _, u := range s.mentioned(m.Content) {
		mentions = append(mentions, u.wire())
	}
	for _, b := range m.Buttons {
		components = append(components, map[string]any{"type": 1, "components": []any{map[string]any{"type": 2, "style": 2, "label": b.Label, "custom_id": b.ID}}})
	}
	out := map[string]any{
		"id": m.ID, "channel_id": m.Channel, "author": s.users[m.Author].wire(), "content": m.Content, "type": 0, "tts": false, "pinned": false,
		"timestamp": m.At.UTC().Format(stamp), "edited_timestamp": nil, "mentions": mentions, "mention_roles": []any{}, "mention_everyone": false,
		"attachments": s.attachments(m), "embeds": []any{}, "components": components,
	}
	if len(m.Files) > 0 && m.Files[0].Voice {
		out["flags"] = flagVoice
	}
	if m.Edits > 0 {
		out["edited_timestamp"] = time.Now().UTC().Format(stamp)
	}
	if m.Nonce != "" {
		out["nonce"] = m.Nonce
	}
	if m.ReplyTo != "" {
		out["type"] = 19
		out["message_reference"] = map[string]any{"message_id": m.ReplyTo, "channel_id": m.Channel}
		out["referenced_message"] = nil
		if r := s.posts[m.ReplyTo]; r != nil && !r.gone {
			first := *r
			first.ReplyTo = ""
			out["referenced_message"] = s.wireMessage(&first)
		}
	}
	maps.Copy(out, m.more)
	return out
}

// Interaction is a slash command or a press of a button, and what came back.
type Interaction struct {
	ID      string
	Channel string
	Type    int // of the first answer, 0: there was none yet
	Took    time.Duration
	Texts   []string // what was answered to it

	token string
	at    time.Time
}

// Slash gives a native command; text is the value of its option, if there is one.
func (s *Server) Slash(channel, person, name, text string) string {
	options := []any{}
	if text != "" {
		options = append(options, map[string]any{"name": "text", "type": 3, "value": text})
	}
	return s.interact(channel, person, 2, map[string]any{"id": "1", "name": name, "type": 1, "options": options}, nil)
}

// Press presses a button of a message.
func (s *Server) Press(message, person, button string) string {
	s.mu.Lock()
	m := s.posts[message]
	wire := s.wireMessage(m)
	s.mu.Unlock()
	return s.interact(m.Channel, person, 3, map[string]any{"custom_id": button, "component_type": 2}, wire)
}

func (s *Server) interact(in, person string, kind int, data map[string]any, message map[string]any) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := &Interaction{ID: s.id(), Channel: in, token: "interaction-secret-" + s.id(), at: time.Now()}
	s.acts[i.ID] = i
	ch := s.channels[in]
	event := map[string]any{
		"id": i.ID, "application_id": s.bot.ID, "type": kind, "data": data, "token": i.token, "version": 1, "channel_id": in,
		"channel": s.wireChannel(ch), "locale": "en-US", "entitlements": []any{},
		"app_permissions": "0", "authorizing_integration_owners": map[string]string{"0": "0"}, "context": 1, // a chat with the bot
	}
	if ch.guild != "" {
		event["guild_id"], event["context"] = ch.guild, 0
		event["authorizing_integration_owners"] = map[string]string{"0": ch.guild}
		event["member"] = map[string]any{"user": s.users[person].wire(), "roles": []any{}, "joined_at": "2024-01-01T00:00:00Z", "permissions": "0"}
	} else {
		event["user"] = s.users[person].wire()
	}
	if message != nil {
		event["message"] = message
	}
	s.dispatch("INTERACTION_CREATE", 0, event)
	return i.ID
}

// Interaction gives what has become of an interaction.
func (s *Server) Interaction(id string) Interaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := *s.acts[id]
	i.Texts = slices.Clone(i.Texts)
	return i
}

// callback is the first answer to an interaction, due within three seconds.
func (s *Server) callback(c *call) answer {
	i := s.acts[c.path[1]]
	kind, _ := c.body["type"].(float64)
	switch {
	case i == nil || i.token != c.path[2] || time.Since(i.at) > 3*time.Second:
		return refuse(http.StatusNotFound, 10062, "Unknown interaction")
	case i.Type != 0:
		return refuse(http.StatusBadRequest, 40060, "Interaction has already been acknowledged.")
	}
	i.Type, i.Took = int(kind), time.Since(i.at)
	if data, ok := c.body["data"].(map[string]any); ok && i.Type == 4 {
		content, _ := data["content"].(string)
		i.Texts = append(i.Texts, content)
	}
	return done()
}

// followUp is a further answer to an interaction, or a change of the first one.
func (s *Server) followUp(c *call) answer {
	for _, i := range s.acts {
		if i.token == c.path[2] {
			if c.method != http.MethodDelete {
				i.Texts = append(i.Texts, c.text("content"))
			}
			return done()
		}
	}
	return refuse(http.StatusNotFound, 10015, "Unknown Webhook")
}

// Marks are the reactions of the bot in a channel, by the message under which they stand.
func (s *Server) Marks(channel string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]string{}
	for id, m := range s.posts {
		if m.Channel == channel && m.Reaction != "" {
			out[id] = m.Reaction
		}
	}
	return out
}
