package markup_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/markup"
)

// D-07: 5000 emoji of two units each, and emoji that belong together.
func TestEmoji(t *testing.T) {
	n := 5000
	for _, unit := range []string{"😀", "👩\u200d💻", "🇩🇪", "👍🏽", "e\u0301", "\u1100\u1161\u11a8"} {
		for _, lead := range []string{"", "a", "ab", "abc", "abcd"} { // so that the limit falls on every place within
			parts := telegram(lead+strings.Repeat(unit, n)+" END", telegramLimit)
			all := ""
			for i, p := range parts {
				if u := faketelegram.Units(p.Plain); u > telegramLimit {
					t.Errorf("%s: a part of %d units", unit, u)
				}
				piece := strings.TrimPrefix(strings.TrimSuffix(p.Plain, " END"), lead)
				if rest := strings.ReplaceAll(piece, unit, ""); rest != "" {
					t.Errorf("%s: part %d holds pieces: %q", unit, i, rest)
				}
				all += p.Plain
			}
			if all != lead+strings.Repeat(unit, n)+" END" {
				t.Errorf("%s: the text is not whole", unit)
			}
			if most := faketelegram.Units(unit)*n/telegramLimit + 2; len(parts) > most {
				t.Errorf("%s: %d parts, want at most %d", unit, len(parts), most)
			}
		}
	}
}

// D-08: a long bold span stays bold in every part.
func TestLongBold(t *testing.T) {
	parts := telegram("**"+strings.TrimSpace(strings.Repeat("bold words here ", 600))+"** END", telegramLimit)
	if len(parts) != 3 {
		t.Errorf("%d parts", len(parts))
	}
	n := 0
	for _, p := range parts {
		seen, entities, err := faketelegram.ParseHTML(p.Text)
		if err != nil || seen != p.Plain || entities[0].Type != "bold" || entities[0].Offset != 0 {
			t.Errorf("%v %+v", err, entities)
		}
		n += strings.Count(seen, "bold words here")
	}
	if n != 600 {
		t.Errorf("%d of 600 phrases are whole", n)
	}
}

// A block of code is closed and opened again with its language, and cut between lines; indentation stays.
func TestLongCode(t *testing.T) {
	var b strings.Builder
	for i := range 600 {
		fmt.Fprintf(&b, "    line %03d < of the block\n", i)
	}
	parts := telegram("Here:\n\n```python\n"+b.String()+"```\n\n> END", telegramLimit)
	all := ""
	for i, p := range parts {
		seen, entities, err := faketelegram.ParseHTML(p.Text)
		if err != nil || entities[0].Type != "pre" || entities[0].Language != "python" {
			t.Fatalf("part %d: %v %+v", i, err, entities)
		}
		if i > 0 && !strings.HasPrefix(seen, "    line ") {
			t.Errorf("part %d begins with %q", i, seen[:20])
		}
		all += seen + "\n"
	}
	if !strings.Contains(all, b.String()) {
		t.Error("the code is not whole")
	}
}

// D-12: 300 lines of code for Discord: every part is a whole block with its language, and no line is lost.
func TestLongCodeOnDiscord(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "line %03d of the long block\n", i)
	}
	parts := markup.Render("Here:\n```python\n"+b.String()+"```\nEND", chat.Discord, 2000, chat.Runes)
	all := ""
	for i, p := range parts {
		if n := len([]rune(p.Text)); n > 2000 {
			t.Errorf("part %d has %d characters", i, n)
		}
		body := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(p.Text, "Here:\n"), "END"))
		if !strings.HasPrefix(body, "```python\n") || !strings.HasSuffix(body, "\n```") || strings.Count(p.Text, "```") != 2 {
			t.Errorf("part %d is no whole block: %q", i, p.Text)
		}
		all += strings.TrimSuffix(strings.TrimPrefix(body, "```python\n"), "```")
	}
	if all != b.String() {
		t.Error("the code is not whole")
	}
	if len(parts) > 6 {
		t.Errorf("%d parts for 8400 characters", len(parts))
	}
}

// Where a reader would cut.
func TestWhereToCut(t *testing.T) {
	word := strings.Repeat("x", 19)
	for _, c := range []struct {
		name, md string
		want     []string // how the parts begin
	}{
		{"paragraph before line", strings.Repeat(word+" ", 2) + "\n" + word + "\n\nP " + word + "\nL " + word, []string{word, "P"}},
		{"line before sentence", word + " " + word + " " + word + ".\nL " + word + ". S " + word + " " + word, []string{word, "L"}},
		{"sentence before word", word + " " + word + ". S " + word + " W " + word + " " + word, []string{word, "S"}},
		{"word", strings.Repeat("ab ", 60), []string{"ab", "ab"}},
		{"nothing but a word", strings.Repeat("z", 150), []string{"z", "z"}},
		{"address after words", word + " " + strings.Repeat("u", 70), []string{word, "uuu", ""}},
		{"no blanks", strings.Repeat("漢", 40) + "。" + strings.Repeat("字", 40), []string{"漢", "字"}},
		{"heading goes with its text", strings.TrimSpace(strings.Repeat("ab ", 18)) + "\n\n# H\n\n" + word + " " + word + " " + word, []string{"ab", "H"}},
		{"no-break space", strings.Repeat("y", 60) + "\u00a0" + strings.Repeat("y", 60), []string{strings.Repeat("y", 60) + "\u00a0", "y"}},
	} {
		parts := markup.Render(c.md, chat.TelegramHTML, 100, chat.UTF16)
		for i, p := range parts {
			if i >= len(c.want) || !strings.HasPrefix(p.Plain, c.want[i]) {
				t.Errorf("%s: %q", c.name, parts)
				break
			}
		}
	}
}

// Markup that is much longer than the text counts too, on the bytes that Telegram reads.
func TestRawSize(t *testing.T) {
	link := "[x](https://example.com/" + strings.Repeat("a", 1000) + ") "
	parts := telegram(strings.Repeat(link, 60), telegramLimit)
	if len(parts) < 2 {
		t.Fatal("one part")
	}
	for _, p := range parts {
		if len(p.Text) > 32000 {
			t.Errorf("%d bytes", len(p.Text))
		}
	}
}
