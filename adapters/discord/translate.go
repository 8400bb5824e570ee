package discord

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/homing-gateway/homing/internal/chat"
)

// said is a text and whether it is said to us.
type said struct {
	text      string
	addressed bool
}

var mention = regexp.MustCompile(`<@([!&]?)([0-9]+)>`)

// read finds out whether a text addresses us, takes our own name out of it, and writes the names of others as they are
// seen.
func read(text string, others []user, ours func(kind, id string) bool) said {
	var out said
	var b strings.Builder
	pos := 0
	for _, m := range mention.FindAllStringSubmatchIndex(text, -1) {
		from, to, kind, id := m[0], m[1], text[m[2]:m[3]], text[m[4]:m[5]]
		if from < pos {
			continue
		}
		b.WriteString(text[pos:from])
		pos = to
		if !ours(kind, id) {
			b.WriteString(named(text[from:to], kind, id, others))
			continue
		}
		out.addressed = true
		// One of the blanks around the name goes with it, and at the beginning what separates the name from the rest.
		if before := b.String(); strings.TrimSpace(before) == "" {
			for pos < len(text) && strings.ContainsRune(" ,:\n", rune(text[pos])) {
				pos++
			}
		} else if strings.HasSuffix(before, " ") && (pos == len(text) || strings.ContainsRune(" ,.:;!?\n", rune(text[pos]))) {
			b.Reset()
			b.WriteString(strings.TrimSuffix(before, " "))
		}
	}
	b.WriteString(text[pos:])
	if out.text = b.String(); out.addressed {
		out.text = strings.TrimSpace(out.text)
	}
	return out
}

func named(whole, kind, id string, others []user) string {
	for _, u := range others {
		if kind != "&" && u.ID == id && u.name() != "" {
			return "@" + u.name()
		}
	}
	return whole
}

// message gives what a person said in a place, or nil: what the system says, and what we said ourselves.
func (a *Adapter) message(m *message, in chat.Address) *chat.Message {
	me, _ := a.guilds.self()
	if m.Author == nil || m.Author.ID == me || m.Type != typeDefault && m.Type != typeReply {
		return nil
	}
	said, lacking := read(m.Content, m.Mentions, a.guilds.ours), unsupported(m)
	files, _ := files(m, channelOf(in))
	if m.Content == "" && len(lacking) == 0 && len(files) == 0 {
		return nil
	}
	out := &chat.Message{
		Address: in, PersonName: m.Author.name(), ID: m.ID, Text: said.text, SentAt: born(m.ID), Files: files, Unsupported: lacking,
		FromBot:   m.Author.Bot || m.WebhookID != "",
		Addressed: said.addressed || in.Type == chat.Direct || answers(m, me),
	}
	if m.Member != nil && m.Member.Nick != "" {
		out.PersonName = m.Member.Nick
	}
	// A thread that is opened from a message has that message's id: the place is known before it is there.
	if c, _ := a.guilds.get(in.Chat); a.options.AutoThread && out.Addressed && !out.FromBot && in.Type == chat.Channel &&
		(c.Type == typeText || c.Type == typeAnnouncement) {
		out.Address.Type, out.Address.Thread = chat.Thread, m.ID
	}
	out.Address.Person = m.Author.ID
	return out
}

// answers tells whether m is a reply to a message of ours.
func answers(m *message, me string) bool {
	return m.Referenced != nil && m.Referenced.Author != nil && m.Referenced.Author.ID == me
}

// blank tells whether a person's message came without anything in it: that is what Discord leaves of it where the message
// content intent is missing.
func blank(m *message) bool {
	return m.GuildID != "" && m.Content == "" && m.Author != nil && !m.Author.Bot && m.WebhookID == "" && len(unsupported(m)) == 0 &&
		len(m.Attachments) == 0 && len(m.Embeds) == 0 && len(m.Components) == 0 && (m.Type == typeDefault || m.Type == typeReply)
}

// unsupported lists what a message carries besides its text and its files.
func unsupported(m *message) []string {
	_, whole := attachments(m.Attachments)
	var out []string
	for _, k := range []struct {
		name string
		has  bool
	}{
		{"attachment", !whole},
		{"sticker", len(m.Stickers) > 0},
		{"forwarded message", len(m.Snapshots) > 0},
		{"poll", len(m.Poll) > 0 && string(m.Poll) != "null"},
	} {
		if k.has {
			out = append(out, k.name)
		}
	}
	return out
}

// pressed gives what a person asks for by a native command or a button; nil for other interactions.
func (a *Adapter) pressed(i *interaction, in chat.Address) *chat.Message {
	who := i.User
	if i.Member != nil {
		who = i.Member.User
	}
	if who == nil {
		return nil
	}
	out := &chat.Message{Address: in, PersonName: who.name(), SentAt: born(i.ID), Addressed: true, FromBot: who.Bot}
	if i.Member != nil && i.Member.Nick != "" {
		out.PersonName = i.Member.Nick
	}
	out.Address.Person = who.ID
	switch i.Type {
	case typeCommand:
		out.Text = "/" + i.Data.Name
		for _, o := range i.Data.Options {
			out.Text += fmt.Sprintf(" %v", o.Value)
		}
	case typePress:
		out.Text = i.Data.CustomID
	default:
		return nil
	}
	return out
}
