package markup_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/markup"
)

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// dialects are all of them, with the unit in which each platform counts.
var dialects = []struct {
	name    chat.Dialect
	unit    chat.Unit
	least   int  // the smallest limit that it honours
	written bool // what is written counts
}{
	{chat.TelegramHTML, chat.UTF16, 64, false},
	{chat.Discord, chat.Runes, 512, true},
	{chat.SlackMrkdwn, chat.Runes, 512, true},
	{chat.Zulip, chat.Runes, 512, true},
	{chat.FeishuPost, chat.Bytes, 512, true},
	{chat.Plain, chat.Bytes, 64, false},
}

func units(s string, u chat.Unit) int {
	switch u {
	case chat.Bytes:
		return len(s)
	case chat.Runes:
		return utf8.RuneCountInString(s)
	}
	return faketelegram.Units(s)
}

// lawful checks what holds for the parts of any text, in every dialect: a limit above the least of a dialect is its limit.
func lawful(t failer, md string, limit int) {
	t.Helper()
	for _, d := range dialects {
		lawfulIn(t, md, d.name, d.unit, max(limit, d.least), d.written)
	}
}

func lawfulIn(t failer, md string, d chat.Dialect, u chat.Unit, limit int, written bool) {
	t.Helper()
	parts := markup.Render(md, d, limit, u)
	for i, p := range parts {
		if !utf8.ValidString(p.Text) || !utf8.ValidString(p.Plain) {
			t.Fatalf("%s: part %d is not UTF-8: %q", d, i, p.Text)
		}
		counted := p.Plain
		if written {
			counted = p.Text
		}
		if n := units(counted, u); n > limit {
			t.Fatalf("%s: part %d has %d units of %d: %q", d, i, n, limit, p.Text)
		}
		if len(p.Text) > 35000 {
			t.Fatalf("%s: part %d has %d bytes with its markup", d, i, len(p.Text))
		}
		seen, err := readers[d](p.Text)
		if err != nil {
			t.Fatalf("%s: part %d: %v\n%q", d, i, err, p.Text)
		}
		if same := map[bool]func(string) string{true: squash, false: strings.Clone}[written]; same(seen) != same(p.Plain) {
			t.Fatalf("%s: part %d shows\n%q, Plain is\n%q, written\n%q", d, i, seen, p.Plain, p.Text)
		}
		if unseen(p.Plain) == len(p.Plain) {
			t.Fatalf("%s: part %d is blank: %q", d, i, p.Plain)
		}
	}
	whole := ""
	for _, p := range markup.Render(md, d, 0, u) {
		whole += p.Plain
	}
	if d == chat.Zulip { // a table that is too long for a part looks different, and shows the addresses of its links
		all := ""
		for _, p := range parts {
			all += p.Plain
		}
		if a, b := barren(all), barren(whole); a != b && (!strings.Contains(md, "|") || !strings.Contains(md, "://")) {
			t.Fatalf("%s: the parts show\n%q, the whole is\n%q", d, a, b)
		}
		return
	}
	rest := whole
	for i, p := range parts {
		at := strings.Index(rest, p.Plain)
		if at < 0 || unseen(rest[:at]) != at {
			t.Fatalf("%s: part %d is %q, but %q is what follows", d, i, p.Plain, rest)
		}
		rest = rest[at+len(p.Plain):]
	}
	if unseen(rest) != len(rest) {
		t.Fatalf("%s: the parts lack %q", d, rest)
	}
}

// squash leaves what a person makes out: no unseen characters, and of white space only that there is some.
func squash(s string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)), " ")
}

// barren is a text without what tables are drawn with.
func barren(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("|-+:", r) {
			return -1
		}
		return r
	}, s)
}

// unseen is how many bytes at the beginning of s nobody sees.
func unseen(s string) int {
	for i, r := range s {
		if !unicode.IsSpace(r) && !unicode.Is(unicode.Cf, r) && !unicode.IsControl(r) {
			return i
		}
	}
	return len(s)
}

// pieces are what markup and trouble are made of.
var pieces = []string{
	"a", "b ", "word ", "\n", "\n\n", " ", "  ", "    ", "\t", "*", "**", "***", "_", "__", "~~", "`", "``", "```", "```go\n", "~~~", "[", "]", "](",
	"](https://e.com)", "(", ")", "![", "<", ">", "> ", "- ", "1. ", "# ", "## ", "|", "|-|", "---", "\\", "&", "&lt;", "&#x1F600;", "<b>", "</b>", "<br>",
	"[a]: https://e.com\n", "[a]", "😀", "👩‍💻", "e\u0301", "\u0301", "\u200d", "\u200b", "🇩🇪", "漢字。", "각", "\u00a0", "\r\n", "\x00", "\xff", "x\"y", "'", ". ", "! ", ": ",
	"@everyone", "@here", "<@123>", "<@&1>", "<!channel>", "@**all**", "@", "#", "#**x**", "||", "-# ", "+ ", "1) ", "[x] ", "https://e.com/a_b", "snake_case",
	"~", "$", "/me ", "^", "=", "│", "- > ", "> # ", "a*b*c", "_x_ ", "2. ", "<time:1>", "[x](https://e.com/@**all**)", "<https://e.com/@**all**>", "https://e.com/@**all**", "<br>", "| a | b |\n|---|--:|\n| c | d |\n",
}

func garbage(t *rapid.T) string {
	var b strings.Builder
	for _, p := range rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 300).Draw(t, "pieces") {
		times := rapid.SampledFrom([]int{1, 1, 1, 1, 2, 7, 40}).Draw(t, "times")
		if strings.HasPrefix(p, "https:") { // an address does not consist of addresses
			times = 1
		}
		b.WriteString(strings.Repeat(p, times))
	}
	return b.String()
}

func TestAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lawful(t, garbage(t), rapid.SampledFrom([]int{64, 65, 100, 600, 1000, telegramLimit}).Draw(t, "limit"))
	})
}

// D-08: no markup swallows a letter. Left out is what has its letters elsewhere: addresses, languages and references.
func TestNoLetterIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		marks := []string{"a", "b", "c d", "Zz", "\n", "\n\n", " ", "   ", "\t", "*", "**", "_", "__", "~~", "`", "``", "[", "]", "[]", "!", "<", ">", "> ", "- ", "+ ", "# ", "|", "|-|\n", "|--|--|\n", "\\", "."}
		md := strings.Join(rapid.SliceOfN(rapid.SampledFrom(marks), 0, 200).Draw(t, "marks"), "")
		if strings.Contains(md, "```") || strings.Contains(md, "~~~") {
			t.Skip()
		}
		for _, d := range dialects {
			got := ""
			for _, p := range markup.Render(md, d.name, 200, d.unit) {
				seen, err := readers[d.name](p.Text)
				if err != nil {
					t.Fatalf("%s: %v: %q", d.name, err, p.Text)
				}
				got += seen
			}
			if letters(got) != letters(md) {
				t.Fatalf("%s: %q has the letters %q, shown are %q: %q", d.name, md, letters(md), letters(got), got)
			}
		}
	})
}

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, s)
}

// Texts that only machines write take time in proportion to their length: they are parsed while that is cheap, and plain
// otherwise. The bound is far above what is measured (well under 0.1 s each) and far below what the parser alone takes.
func TestMachineMadeTexts(t *testing.T) {
	begin := time.Now()
	for _, unit := range []string{
		"[", "*", "**", "_", "https://", "https://e.com/)", "**a** ", "`a`", "**a ", "*a _b ", "*a**b_", "[a](", "[a](<b", "[](", "![", "<", "`", "> ", ">", "- ", "1. ", "~", "~~a", "[a]: x\n\n", "[a][b] ",
		"&amp;", "|a", "|a|\n|-|\n", "a\n", "\\", "a_b_", "> - ", "\u0301", "<a href=\"", "  - a\n", "#", "a\t",
	} {
		for _, size := range []int{30 << 10, 190 << 10, 1 << 20} {
			if size > 256<<10 && unit != "[" && unit != "**" { // all are plain text then
				continue
			}
			md := strings.Repeat(unit, size/len(unit))
			for _, d := range dialects {
				from := time.Now()
				parts := markup.Render(md, d.name, telegramLimit, d.unit)
				if took := time.Since(from); took > 5*time.Second {
					t.Errorf("%s: %d bytes of %q take %s", d.name, size, unit, took)
				}
				if len(parts) == 0 {
					t.Errorf("%s: %d bytes of %q give nothing", d.name, size, unit)
				}
			}
		}
	}
	wide := "|" + strings.Repeat("a|", 2000) + "\n|" + strings.Repeat("-|", 2000) + "\n" + strings.Repeat("|\n", 20000)
	from := time.Now()
	telegram(wide, telegramLimit)
	if d := time.Since(from); d > 5*time.Second {
		t.Errorf("a table of empty cells takes %s", d)
	}
	if p := telegram(strings.Repeat("**b** words\n\n", 30000), telegramLimit); !strings.Contains(p[0].Plain, "**") {
		t.Errorf("360 KB are parsed: %.40q", p[0].Plain)
	}
	t.Logf("all of them: %s", time.Since(begin))
}

func FuzzRender(f *testing.F) { fuzz(f, chat.TelegramHTML, chat.Plain) }

func FuzzDiscord(f *testing.F) { fuzz(f, chat.Discord) }

func FuzzSlack(f *testing.F) { fuzz(f, chat.SlackMrkdwn) }

func FuzzZulip(f *testing.F) { fuzz(f, chat.Zulip) }

func FuzzFeishu(f *testing.F) { fuzz(f, chat.FeishuPost) }

// fuzz renders any text for some dialects. The time for one text is bounded, far above what the longest of them takes.
func fuzz(f *testing.F, names ...chat.Dialect) {
	for _, p := range pieces {
		f.Add(p+" x "+p, 64)
	}
	f.Add("**bold _both** italic_ `code", 64)
	f.Add("| a | b |\n|---|:-:|\n| 1 | `x\\|y` |\n", 100)
	f.Add("> a\n>> b\n\n```go\n```\n- [x] https://e.com/a_b*", 600)
	f.Fuzz(func(t *testing.T, md string, limit int) {
		limit = max(64, min(limit, telegramLimit))
		for _, d := range dialects {
			if !slices.Contains(names, d.name) {
				continue
			}
			from := time.Now()
			markup.Render(md, d.name, max(limit, d.least), d.unit)
			if took := time.Since(from); took > 10*time.Second {
				t.Fatalf("%s: %d bytes take %s", d.name, len(md), took)
			}
			lawfulIn(t, md, d.name, d.unit, max(limit, d.least), d.written)
		}
	})
}
