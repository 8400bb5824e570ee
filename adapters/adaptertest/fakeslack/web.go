package fakeslack

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The limits of messages: chat.postMessage truncates a longer text, chat.update refuses it, and a block has its own.
const (
	MaxText    = 40000
	MaxUpdate  = 4000
	maxSection = 3000
	maxBlocks  = 50
	maxActions = 25
	maxLabel   = 75
	maxValue   = 2000
	maxMeta    = 16 << 10
)

func (s *Server) call(method, token string, p url.Values) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.Change()
	want := s.botToken
	if method == "apps.connections.open" {
		want = s.appToken
	}
	switch {
	case s.revoked != "":
		return refuse(s.revoked)
	case token == "":
		return refuse("not_authed")
	case token != want && (token == s.botToken || token == s.appToken):
		return refuse("not_allowed_token_type")
	case token != want:
		return refuse("invalid_auth")
	}
	switch method {
	case "auth.test":
		return reply{"ok": true, "team": "Homing", "team_id": Team, "user": "homing", "user_id": BotUser, "bot_id": Bot, "url": "https://homing.slack.com/"}
	case "apps.connections.open":
		ticket := s.id("ticket")
		s.tickets[ticket] = true
		return reply{"ok": true, "url": "ws://" + s.Addr() + "/link?ticket=" + ticket + "&app_id=" + App}
	case "users.info":
		u, ok := s.users[p.Get("user")]
		if !ok {
			return refuse("user_not_found")
		}
		return reply{"ok": true, "user": reply{
			"id": u.ID, "team_id": Team, "name": strings.ToLower(u.Name), "is_bot": u.BotID != "", "profile": reply{"display_name": u.Name, "real_name": u.Name},
		}}
	case "conversations.open":
		for _, c := range s.channels {
			if c.With != "" && c.With == p.Get("users") {
				return reply{"ok": true, "channel": reply{"id": c.ID}}
			}
		}
		return refuse("user_not_found")
	case "conversations.info":
		c := s.channels[p.Get("channel")]
		if c == nil {
			return refuse("channel_not_found")
		}
		return reply{"ok": true, "channel": reply{
			"id": c.ID, "name": c.Name, "is_im": c.With != "", "is_channel": c.With == "", "is_archived": c.archived, "is_member": !c.outside,
		}}
	case "chat.postMessage":
		return s.post(p)
	case "chat.postEphemeral":
		if _, refusal := s.place(p); refusal != nil {
			return refusal
		}
		return reply{"ok": true, "message_ts": s.ts()}
	case "chat.update":
		return s.update(p)
	case "chat.delete":
		c, refusal := s.place(p)
		if refusal != nil {
			return refusal
		}
		m := c.message(p.Get("ts"))
		switch {
		case m == nil:
			return refuse("message_not_found")
		case m.From != BotUser:
			return refuse("cant_delete_message")
		}
		m.Deleted = true
		return reply{"ok": true, "channel": c.ID, "ts": m.TS}
	case "files.getUploadURLExternal":
		return s.slot(p)
	case "files.completeUploadExternal":
		return s.share(p)
	case "files.info":
		f := s.file(p.Get("file"))
		if f == nil {
			return refuse("file_not_found")
		}
		whole := *f
		whole.More = nil
		return reply{"ok": true, "file": s.object(&whole)}
	case "conversations.history":
		return s.history(p)
	case "conversations.replies":
		return s.replies(p)
	}
	return refuse("unknown_method")
}

// place finds the channel of a call, or says why there is none.
func (s *Server) place(p url.Values) (*Channel, reply) {
	c := s.channels[p.Get("channel")]
	if c == nil {
		for _, d := range s.channels { // a person's id stands for the direct chat
			if d.With != "" && d.With == p.Get("channel") {
				c = d
			}
		}
	}
	switch {
	case c == nil || c.gone:
		return nil, refuse("channel_not_found")
	case c.archived:
		return nil, refuse("is_archived")
	case c.outside:
		return nil, refuse("not_in_channel")
	case c.closed:
		return nil, refuse("restricted_action")
	}
	return c, nil
}

func (s *Server) post(p url.Values) reply {
	c, refusal := s.place(p)
	if refusal != nil {
		return refusal
	}
	thread := p.Get("thread_ts")
	if thread != "" {
		root := c.message(thread)
		if root == nil {
			return refuse("thread_not_found")
		}
		if root.Thread != "" {
			thread = root.Thread
		}
	}
	m := &Message{Channel: c.ID, Thread: thread, From: BotUser, Raw: p.Get("text"), literal: p.Get("mrkdwn") == "false"}
	answer := reply{"ok": true, "channel": c.ID}
	if runes := []rune(m.Raw); len(runes) > MaxText {
		m.Raw = string(runes[:MaxText])
		answer["response_metadata"] = reply{"warnings": []string{"message_truncated"}}
	}
	if refusal := m.furnish(p); refusal != nil {
		return refusal
	}
	s.add(c, m)
	answer["ts"], answer["message"] = m.TS, s.present(m, false)
	s.tell(c, m, nil) // an app hears itself
	return answer
}

// furnish gives a message the blocks and the metadata of a call.
func (m *Message) furnish(p url.Values) reply {
	if raw := p.Get("blocks"); raw != "" {
		if refusal := m.build(raw); refusal != nil {
			return refusal
		}
	}
	if m.Raw == "" && len(m.sections) == 0 {
		return refuse("no_text")
	}
	if raw := p.Get("metadata"); raw != "" {
		var meta struct {
			Type    string         `json:"event_type"`
			Payload map[string]any `json:"event_payload"`
		}
		switch {
		case json.Unmarshal([]byte(raw), &meta) != nil || meta.Type == "" || meta.Payload == nil:
			return refuse("invalid_metadata_format")
		case len(raw) > maxMeta:
			return refuse("metadata_too_large")
		}
		m.metadata = json.RawMessage(raw)
	}
	return nil
}

// object is a text object of Block Kit.
type object struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// build reads the blocks of a message: sections and rows of buttons.
func (m *Message) build(raw string) reply {
	var blocks []struct {
		Type     string  `json:"type"`
		Text     *object `json:"text"`
		Elements []struct {
			Type   string  `json:"type"`
			Text   *object `json:"text"`
			Action string  `json:"action_id"`
			Value  string  `json:"value"`
		} `json:"elements"`
	}
	if json.Unmarshal([]byte(raw), &blocks) != nil {
		return refuse("invalid_blocks_format")
	}
	if len(blocks) > maxBlocks {
		return refuse("invalid_blocks")
	}
	actions := map[string]bool{}
	m.sections, m.buttons = nil, nil
	for _, b := range blocks {
		switch b.Type {
		case "section":
			if b.Text == nil || b.Text.Text == "" || utf8.RuneCountInString(b.Text.Text) > maxSection || b.Text.Type != "mrkdwn" && b.Text.Type != "plain_text" {
				return refuse("invalid_blocks")
			}
			m.sections = append(m.sections, *b.Text)
		case "actions":
			if len(b.Elements) == 0 || len(b.Elements) > maxActions {
				return refuse("invalid_blocks")
			}
			for _, e := range b.Elements {
				if e.Type != "button" || e.Text == nil || e.Text.Type != "plain_text" || e.Text.Text == "" || utf8.RuneCountInString(e.Text.Text) > maxLabel ||
					len(e.Value) > maxValue || e.Action == "" || actions[e.Action] {
					return refuse("invalid_blocks")
				}
				actions[e.Action] = true
				m.buttons = append(m.buttons, button{unescape(e.Text.Text), e.Action, e.Value})
			}
		default:
			return refuse("invalid_blocks")
		}
	}
	return nil
}

func (s *Server) update(p url.Values) reply {
	c, refusal := s.place(p)
	if refusal != nil {
		return refusal
	}
	m := c.message(p.Get("ts"))
	switch {
	case m == nil:
		return refuse("message_not_found")
	case m.From != BotUser:
		return refuse("cant_update_message")
	case utf8.RuneCountInString(p.Get("text")) > MaxUpdate:
		return refuse("msg_too_long")
	}
	next := *m
	next.Raw, next.literal = p.Get("text"), false // blocks that are not given stay as they are
	if refusal := next.furnish(p); refusal != nil {
		return refusal
	}
	*m = next
	return reply{"ok": true, "channel": c.ID, "ts": m.TS, "text": m.Raw, "message": s.present(m, false)}
}

// history gives the messages of a channel without those in threads, the newest first.
func (s *Server) history(p url.Values) reply {
	c, refusal := s.readable(p)
	if refusal != nil {
		return refusal
	}
	var list []*Message
	for _, m := range slices.Backward(c.messages) {
		if !m.Deleted && (m.Thread == "" || m.Thread == m.TS) && within(m.TS, p) {
			list = append(list, m)
		}
	}
	return s.page(list, p)
}

// replies gives a thread: its root, which is always there, and what followed, the oldest first.
func (s *Server) replies(p url.Values) reply {
	c, refusal := s.readable(p)
	if refusal != nil {
		return refusal
	}
	root := c.message(p.Get("ts"))
	if root == nil {
		return refuse("thread_not_found")
	}
	list := []*Message{root}
	for _, m := range c.messages {
		if !m.Deleted && m.Thread == root.TS && m != root && within(m.TS, p) {
			list = append(list, m)
		}
	}
	return s.page(list, p)
}

// readable is place for reading, which archives and restrictions do not hinder.
func (s *Server) readable(p url.Values) (*Channel, reply) {
	c := s.channels[p.Get("channel")]
	switch {
	case c == nil || c.gone:
		return nil, refuse("channel_not_found")
	case c.outside:
		return nil, refuse("not_in_channel")
	}
	return c, nil
}

func within(ts string, p url.Values) bool {
	inclusive := p.Get("inclusive") == "1" || p.Get("inclusive") == "true"
	after, before := p.Get("oldest"), p.Get("latest")
	if after != "" && ts <= pad(after) && (!inclusive || ts < pad(after)) {
		return false
	}
	return before == "" || ts < pad(before) || inclusive && ts == pad(before)
}

// pad brings a time that was given with fewer digits into the form of a ts.
func pad(at string) string {
	whole, rest, _ := strings.Cut(at, ".")
	return whole + "." + (rest + "000000")[:6]
}

func (s *Server) page(list []*Message, p url.Values) reply {
	limit, _ := strconv.Atoi(p.Get("limit"))
	if limit <= 0 || limit > 999 {
		limit = 100
	}
	from, _ := strconv.Atoi(p.Get("cursor"))
	from = min(max(from, 0), len(list))
	to := min(from+limit, len(list))
	out := []reply{}
	for _, m := range list[from:to] {
		out = append(out, s.present(m, p.Get("include_all_metadata") == "1" || p.Get("include_all_metadata") == "true"))
	}
	answer := reply{"ok": true, "messages": out, "has_more": to < len(list)}
	if to < len(list) {
		answer["response_metadata"] = reply{"next_cursor": strconv.Itoa(to)}
	}
	return answer
}
