package faketelegram

import (
	"maps"
	"regexp"
	"slices"
	"time"
)

// Message is what people see in a chat.
type Message struct {
	ID, Chat, Thread int64
	From             int64
	Text             string // as it is read, without markup
	Entities         []Entity
	ReplyTo          int64
	Silent           bool
	Deleted          bool
	Edits            int    // how often it was changed
	First            string // its text before that
	Reaction         string // of the bot
	At               time.Time
	EditedAt         time.Time
	Buttons          []Button
	File             *File
}

// room is a chat.
type room struct {
	id      int64
	kind    string // private, group, supergroup
	title   string
	forum   bool
	blocked bool
	gone    bool
	movedTo int64
	topics  map[int64]string
	posts   []*Message
	nextID  int64
}

// Post is what somebody says.
type Post struct {
	Chat, Thread, From int64
	Text               string
	ReplyTo            int64
	File               *File
	Album              string
	// More holds further fields of the message, such as "photo", or replaces some; with Text in "caption" for media.
	More map[string]any
}

func (s *Server) room(id int64, kind, title string) *room {
	r := &room{id: id, kind: kind, title: title, topics: map[int64]string{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats[id] = r
	return r
}

// Person makes a person and the private chat with the bot.
func (s *Server) Person(id int64, name string) {
	s.room(id, "private", name)
	s.user(User{ID: id, Name: name})
}

// OtherBot makes a bot that can write in groups.
func (s *Server) OtherBot(id int64, username string) {
	s.user(User{ID: id, IsBot: true, Name: username, Username: username})
}

func (s *Server) user(u User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users[u.ID] = u
}

// Group makes a basic group.
func (s *Server) Group(id int64, title string) { s.room(id, "group", title) }

// Supergroup makes a supergroup without topics.
func (s *Server) Supergroup(id int64, title string) { s.room(id, "supergroup", title) }

// Forum makes a supergroup with topics.
func (s *Server) Forum(id int64, title string, topics ...int64) {
	s.room(id, "supergroup", title).forum = true
	for _, t := range topics {
		s.Topic(id, t, true)
	}
}

// Topic makes or deletes a topic, also in a private chat.
func (s *Server) Topic(chat, thread int64, exists bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.chats[chat]; exists {
		r.topics[thread] = "Topic"
		s.bot.Topics = s.bot.Topics || r.kind == "private"
	} else {
		delete(r.topics, thread)
	}
}

// Block lets the bot be blocked in a chat, or not.
func (s *Server) Block(chat int64, blocked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats[chat].blocked = blocked
}

// Forget lets a chat be unknown from now on.
func (s *Server) Forget(chat int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats[chat].gone = true
}

// Delete removes a message.
func (s *Server) Delete(chat, message int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.chats[chat].post(message); m != nil {
		m.Deleted = true
	}
}

// Say posts a message of a person and delivers it to the bot.
func (s *Server) Say(p Post) (message, updateID int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.chats[p.Chat]
	m := r.add(&Message{Thread: p.Thread, From: p.From, Text: p.Text, ReplyTo: p.ReplyTo, Entities: Notice(p.Text)})
	body := s.present(r, m)
	switch {
	case p.ReplyTo != 0 && r.kind == "supergroup" && !r.forum:
		body["message_thread_id"] = p.ReplyTo // a reply chain has an id and is no topic
	case p.Thread != 0 && p.ReplyTo == 0 && r.forum:
		body["reply_to_message"] = map[string]any{
			"message_id": p.Thread, "chat": map[string]any{"id": r.id, "type": r.kind}, "date": 1, "from": s.bot, "message_thread_id": p.Thread,
			"is_topic_message": true, "forum_topic_created": map[string]any{"name": r.topics[p.Thread], "icon_color": 1},
		}
	}
	if p.File != nil {
		if body["text"] != nil {
			body["caption"], body["caption_entities"] = body["text"], m.Entities
			delete(body, "text")
			delete(body, "entities")
		}
		attach(body, *p.File, s.keep(*p.File))
	}
	if p.Album != "" {
		body["media_group_id"] = p.Album
	}
	maps.Copy(body, p.More)
	return m.ID, s.push("message", encode(body))
}

// Alter lets the author of a message change its text, and tells the bot of it.
func (s *Server) Alter(chat, message int64, text string) (updateID int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.chats[chat]
	m := r.post(message)
	m.Text, m.Entities, m.EditedAt = text, Notice(text), time.Now()
	return s.push("edited_message", encode(s.present(r, m)))
}

// Upgrade turns a basic group into a supergroup, with the two service messages that tell of it.
func (s *Server) Upgrade(from, to int64) {
	s.Supergroup(to, "upgraded")
	s.mu.Lock()
	s.chats[from].movedTo = to
	s.mu.Unlock()
	s.Say(Post{Chat: from, From: s.bot.ID, More: map[string]any{"migrate_to_chat_id": to}})
	s.Say(Post{Chat: to, From: s.bot.ID, More: map[string]any{"migrate_from_chat_id": from}})
}

func (r *room) add(m *Message) *Message {
	r.nextID++
	m.ID, m.Chat, m.At, m.First = r.nextID, r.id, time.Now(), m.Text
	r.posts = append(r.posts, m)
	return m
}

func (r *room) post(id int64) *Message {
	for _, m := range r.posts {
		if m.ID == id && !m.Deleted {
			return m
		}
	}
	return nil
}

// present is a message in the form of the Bot API. The caller holds the lock.
func (s *Server) present(r *room, m *Message) map[string]any {
	from := s.users[m.From]
	if m.From == s.bot.ID {
		from = s.bot
	}
	body := map[string]any{
		"message_id": m.ID, "date": m.At.Unix(), "from": from,
		"chat": map[string]any{"id": r.id, "type": r.kind, "title": r.title, "is_forum": r.forum},
	}
	if m.Text != "" {
		body["text"] = m.Text
	}
	if !m.EditedAt.IsZero() {
		body["edit_date"] = m.EditedAt.Unix()
	}
	if len(m.Buttons) > 0 {
		body["reply_markup"] = keyboard{[][]Button{m.Buttons}}
	}
	if len(m.Entities) > 0 {
		body["entities"] = m.Entities
	}
	if m.Thread != 0 {
		body["message_thread_id"], body["is_topic_message"] = m.Thread, true
	}
	if o := r.post(m.ReplyTo); o != nil {
		inner := *o
		inner.ReplyTo = 0
		body["reply_to_message"] = s.present(r, &inner)
	}
	return body
}

// Visible gives the messages of the bot in a chat that are not deleted, the oldest first.
func (s *Server) Visible(chat int64) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Message
	if r := s.chats[chat]; r != nil {
		for _, m := range r.posts {
			if m.From == s.bot.ID && !m.Deleted && (m.Text != "" || m.File != nil) {
				out = append(out, *m)
			}
		}
	}
	return out
}

// Post gives a message of anybody.
func (s *Server) Post(chat, message int64) Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.chats[chat].post(message); m != nil {
		return *m
	}
	return Message{}
}

// Commands gives the command menu.
func (s *Server) Commands() []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.commands)
}

// Notice finds the mentions and commands that Telegram marks in a text by itself.
func Notice(text string) []Entity {
	var out []Entity
	for _, m := range regexp.MustCompile(`(^|\s|[(,])(@\w{3,}|/\w+(@\w+)?)`).FindAllStringSubmatchIndex(text, -1) {
		kind := "mention"
		if text[m[4]] == '/' {
			kind = "bot_command"
		}
		out = append(out, Entity{Type: kind, Offset: Units(text[:m[4]]), Length: Units(text[m[4]:m[5]])})
	}
	return out
}
