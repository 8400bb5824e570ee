package telegram

import (
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/go-telegram/bot/models"
)

// said is a text and to whom it is said.
type said struct {
	text      string
	addressed bool // to us, in the text itself
	foreign   bool // a command for another bot
}

// read finds out whom a text addresses, and takes our own name out of it. A command without a name is for every bot that
// hears it, as people expect; one with another bot's name is for that bot alone.
func (t *translator) read(text string, marks []models.MessageEntity) said {
	units := utf16.Encode([]rune(text))
	out := said{text: text}
	type hole struct{ from, to int }
	var holes []hole
	for _, m := range marks {
		from, to := m.Offset, m.Offset+m.Length
		if from < 0 || to > len(units) || from >= to {
			continue
		}
		word := string(utf16.Decode(units[from:to]))
		switch m.Type {
		case models.MessageEntityTypeMention:
			if !t.named(strings.TrimPrefix(word, "@")) {
				continue
			}
		case models.MessageEntityTypeTextMention:
			if m.User == nil || m.User.ID != t.me.ID {
				continue
			}
		case models.MessageEntityTypeBotCommand:
			command, bot, named := strings.Cut(word, "@")
			if from != 0 {
				continue // not a command, but talk of one
			}
			if named && !t.named(bot) {
				return said{foreign: true}
			}
			out.addressed = true
			holes = append(holes, hole{from + len(utf16.Encode([]rune(command))), to})
			continue
		default:
			continue
		}
		out.addressed = true
		// One of the blanks around the name goes with it, and at the beginning what separates the name from the rest.
		if from == 0 {
			for to < len(units) && strings.ContainsRune(" ,:\n", rune(units[to])) {
				to++
			}
		} else if units[from-1] == ' ' && (to == len(units) || strings.ContainsRune(" ,.:;!?\n", rune(units[to]))) {
			from--
		}
		holes = append(holes, hole{from, to})
	}
	slices.SortFunc(holes, func(a, b hole) int { return a.from - b.from })
	var left []uint16
	pos := 0
	for _, h := range holes {
		if h.from > pos {
			left = append(left, units[pos:h.from]...)
		}
		pos = max(pos, h.to)
	}
	if len(holes) > 0 {
		out.text = strings.TrimSpace(string(utf16.Decode(append(left, units[pos:]...))))
	}
	return out
}

// named tells whether a user name is ours.
func (t *translator) named(name string) bool {
	return t.me.Username != "" && strings.EqualFold(name, t.me.Username)
}
