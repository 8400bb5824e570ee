package faketelegram

import (
	"encoding/json"
	"slices"
	"time"
)

// Lasting is how long a message can be deleted.
const Lasting = 48 * time.Hour

// edit changes a message of the bot. What the call leaves out, buttons included, is gone.
func (s *Server) edit(p map[string]string) reply {
	r, refusal := s.place(p)
	if !refusal.OK {
		return refusal
	}
	m := r.post(number(p["message_id"]))
	switch {
	case m == nil:
		return refuse(400, "Bad Request: message to edit not found")
	case m.From != s.bot.ID:
		return refuse(400, "Bad Request: message can't be edited")
	}
	text, entities, refusal := content(p)
	if !refusal.OK {
		return refusal
	}
	buttons, refusal := parseButtons(p["reply_markup"])
	if !refusal.OK {
		return refusal
	}
	if m.Text == text && slices.Equal(m.Entities, entities) && slices.Equal(m.Buttons, buttons) {
		return refuse(400, "Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message")
	}
	m.Text, m.Entities, m.Buttons, m.EditedAt = text, entities, buttons, time.Now()
	m.Edits++
	return result(s.present(r, m))
}

// remove deletes a message of the bot.
func (s *Server) remove(p map[string]string) reply {
	r, refusal := s.place(p)
	if !refusal.OK {
		return refusal
	}
	m := r.post(number(p["message_id"]))
	switch {
	case m == nil:
		return refuse(400, "Bad Request: message to delete not found")
	case m.From != s.bot.ID || time.Since(m.At) > Lasting:
		return refuse(400, "Bad Request: message can't be deleted")
	}
	m.Deleted = true
	return result(true)
}

// react sets the bot's reaction, one of those that bots may use.
func (s *Server) react(p map[string]string) reply {
	r, refusal := s.place(p)
	if !refusal.OK {
		return refusal
	}
	m := r.post(number(p["message_id"]))
	if m == nil {
		return refuse(400, "Bad Request: message to react not found")
	}
	var list []struct{ Type, Emoji string }
	if err := json.Unmarshal([]byte(p["reaction"]), &list); err != nil || len(list) > 1 {
		return refuse(400, "Bad Request: can't parse reaction")
	}
	m.Reaction = ""
	for _, x := range list {
		if x.Type != "emoji" || !slices.Contains([]string{"👍", "👎", "❤", "🔥", "👏", "🤔", "👀", "✍", "👌", "🫡"}, x.Emoji) {
			return refuse(400, "Bad Request: REACTION_INVALID")
		}
		m.Reaction = x.Emoji
	}
	return result(true)
}
