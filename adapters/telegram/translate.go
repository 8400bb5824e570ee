package telegram

import (
	"strings"
	"time"

	"github.com/go-telegram/bot/models"

	"github.com/homing-gateway/homing/internal/chat"
)

// translator turns updates into events. It belongs to one Run.
type translator struct {
	account chat.Account
	me      models.User
	moved   map[string]bool // moves that were told already: Telegram tells each in both chats
}

// event fills e with what u says. An update that is of no interest leaves it as it is.
func (t *translator) event(u *models.Update, e *chat.Event) {
	if u.CallbackQuery != nil {
		e.Message = t.press(u.CallbackQuery)
		return
	}
	m := u.Message // an edited one is not looked at: what was said first is what was answered
	if m == nil || m.Chat.Type == models.ChatTypeChannel {
		return
	}
	if from, to := m.Chat.ID, m.MigrateToChatID; to != 0 {
		e.Moved = t.move(from, to)
		return
	}
	if from, to := m.MigrateFromChatID, m.Chat.ID; from != 0 {
		e.Moved = t.move(from, to)
		return
	}
	e.Message = t.message(m)
}

// press gives the command of a button that a person pressed, or nil for a button that is none of ours. Telegram does not
// say when that was.
func (t *translator) press(q *models.CallbackQuery) *chat.Message {
	if q.Data == "" {
		return nil
	}
	out := &chat.Message{
		Text: q.Data, Addressed: true, FromBot: q.From.IsBot,
		PersonName: fullName(&q.From),
	}
	switch m := q.Message; {
	case m.Message != nil:
		out.Address, out.ID = t.place(m.Message), formatID(int64(m.Message.ID))
	case m.InaccessibleMessage != nil: // too old for Telegram, or deleted
		old := m.InaccessibleMessage
		out.Address, out.ID = t.place(&models.Message{Chat: old.Chat}), formatID(int64(old.MessageID))
	default:
		return nil
	}
	out.Address.Person = formatID(q.From.ID)
	return out
}

func (t *translator) move(from, to int64) *chat.Moved {
	if t.moved[formatID(from)] {
		return nil
	}
	t.moved[formatID(from)] = true
	return &chat.Moved{Account: t.account, From: formatID(from), To: formatID(to), ToType: chat.Group}
}

// message gives what a person said, or nil: a service message, or a command for another bot.
func (t *translator) message(m *models.Message) *chat.Message {
	text, marks := m.Text, m.Entities
	if text == "" {
		text, marks = m.Caption, m.CaptionEntities
	}
	lacking, came := unsupported(m), files(m)
	if text == "" && len(lacking) == 0 && len(came) == 0 || m.From == nil && m.SenderChat == nil {
		return nil
	}
	said := t.read(text, marks)
	if said.foreign {
		return nil
	}
	out := &chat.Message{
		Address: t.place(m),
		ID:      formatID(int64(m.ID)), Text: said.text, SentAt: time.Unix(int64(m.Date), 0).UTC(), Files: came, Album: m.MediaGroupID, Unsupported: lacking,
		Addressed: said.addressed || m.Chat.Type == models.ChatTypePrivate || t.answersUs(m),
	}
	out.Address.Person, out.PersonName, out.FromBot = sender(m)
	return out
}

// place is where m was written, without a person.
func (t *translator) place(m *models.Message) chat.Address {
	a := chat.Address{Account: t.account, Type: chat.Group, Chat: formatID(m.Chat.ID)}
	// A number without the sign belongs to a chain of replies or to the general topic, and makes no place of its own.
	if m.IsTopicMessage && m.MessageThreadID != 0 {
		a.Type, a.Thread = chat.Thread, formatID(int64(m.MessageThreadID))
	}
	if m.Chat.Type == models.ChatTypePrivate {
		a.Type = chat.Direct
	}
	return a
}

// answersUs tells whether m is a reply to a message of ours. In a topic every message that replies to nothing seems to
// reply to the notice that opened the topic, which is ours if we opened it.
func (t *translator) answersUs(m *models.Message) bool {
	r := m.ReplyToMessage
	if r == nil || r.From == nil || r.From.ID != t.me.ID {
		return false
	}
	return r.ForumTopicCreated == nil && (!m.IsTopicMessage || r.ID != m.MessageThreadID)
}

// sender names who wrote m. Who writes in the name of a chat (an anonymous administrator, a channel) is that chat: the
// user that Telegram fills in then stands for all of them.
func sender(m *models.Message) (id, name string, bot bool) {
	if c := m.SenderChat; c != nil {
		return formatID(c.ID), c.Title, false
	}
	return formatID(m.From.ID), fullName(m.From), m.From.IsBot
}

func fullName(u *models.User) string { return strings.TrimSpace(u.FirstName + " " + u.LastName) }

// unsupported lists what a message carries besides its text and its files.
func unsupported(m *models.Message) []string {
	var out []string
	for _, k := range []struct {
		name string
		has  bool
	}{
		{"story", m.Story != nil},
		{"paid_media", m.PaidMedia != nil},
		{"contact", m.Contact != nil},
		{"venue", m.Venue != nil},
		{"location", m.Location != nil && m.Venue == nil},
		{"poll", m.Poll != nil},
		{"checklist", m.Checklist != nil},
		{"dice", m.Dice != nil},
		{"game", m.Game != nil},
	} {
		if k.has {
			out = append(out, k.name)
		}
	}
	return out
}
