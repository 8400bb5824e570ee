package markup_test

import (
	"strings"
	"testing"

	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/markup"
)

const telegramLimit = 4096

func telegram(md string, limit int) []markup.Part {
	return markup.Render(md, chat.TelegramHTML, limit, chat.UTF16)
}

func TestTelegram(t *testing.T) {
	for _, c := range []struct{ name, md, want string }{
		{"emphasis", "**b** *i* ~~s~~ ***bi*** `c`", "<b>b</b> <i>i</i> <s>s</s> <b><i>bi</i></b> <code>c</code>"},
		{"nested", "**bold with _italic inside_ it**", "<b>bold with <i>italic inside</i> it</b>"},
		{"heading", "# Title\ntext\n## Sub *x*\nmore", "<b>Title</b>\ntext\n\n<b>Sub <i>x</i></b>\nmore"},
		{"paragraphs", "one\ntwo\n\n\n\nthree  \nfour", "one\ntwo\n\nthree\nfour"},
		{"list", "- a\n- b\n  - c\n    more\n1. x\n2. y", "• a\n• b\n  • c\n    more\n1. x\n2. y"},
		{"numbers", "7) x\n8) y\n   - z", "7) x\n8) y\n   • z"},
		{"list in list", "- - a\n  - b", "• • a\n  • b"},
		{"loose list", "- a\n\n- b", "• a\n\n• b"},
		{"code", "```go\nif a < b {\n\n\treturn\n}\n```", "<pre><code class=\"language-go\">if a &lt; b {\n\n\treturn\n}</code></pre>"},
		{"code without language", "x\n\n    a\n      b", "x\n\n<pre>a\n  b</pre>"},
		{"code with a file name", "```go main.go\nx\n```", "main.go\n<pre><code class=\"language-go\">x</code></pre>"},
		{"code in a list", "- run\n  ```\n  ls\n  ```\n- done", "• run\n<pre>ls</pre>\n• done"},
		{"unclosed fence", "```\nunclosed fence", "<pre>unclosed fence</pre>"},
		{"quote", "> a\n>> b\n\n> c\n\nd", "<blockquote>a\n│ b</blockquote>\n\n<blockquote>c</blockquote>\n\nd"},
		{"table", "| Name | Total |\n|---|--:|\n| apples | 12 |\n| 梨 | 7 |", "<pre>Name   | Total\n-------+------\napples |    12\n梨     |     7</pre>"},
		{"table with too many cells", "|a|\n|-|\n|1|2|3|", "<pre>a\n-------\n1 | 2|3</pre>"},
		{"link", "[t](https://e.com/a_b(c)?x=1&y=\"2\")", `<a href="https://e.com/a_b(c)?x=1&amp;y=%222%22">t</a>`},
		{"link by reference", "[t][r]\n\n[r]: https://e.com", `<a href="https://e.com">t</a>`},
		{"reference that nobody uses", "see [1]\n\n[2]: https://e.com", "see [1]\n\n[2]: https://e.com"},
		{"link of another kind", "[t](javascript:alert(1)) [f](a/b.go) [x](http://)", "t (javascript:alert(1)) f (a/b.go) x (http://)"},
		{"link without text", "[](https://e.com)", `<a href="https://e.com">https://e.com</a>`},
		{"bold link with code", "**[`x`](tg://user?id=1)**", `<a href="tg://user?id=1"><b>x</b></a>`},
		{"image", "![alt](https://e.com/x.png) ![](x.png)", `<a href="https://e.com/x.png">alt</a> x.png`},
		{"autolink", "<https://e.com> <a@e.com>", `<a href="https://e.com">https://e.com</a> <a href="mailto:a@e.com">a@e.com</a>`},
		{"html", "<b>x</b> & &amp; \\<br> <script>1 < 2</script>", "&lt;b&gt;x&lt;/b&gt; &amp; &amp; &lt;br&gt; &lt;script&gt;1 &lt; 2&lt;/script&gt;"},
		{"html block", "<div>\n**x**\n</div>", "&lt;div&gt;\n<b>x</b>\n&lt;/div&gt;"},
		{"line break", "a<br>b<BR/>c", "a\nb\nc"},
		{"entities", "&lt;tag&gt; &#65;&#x42; &nosuch; &copy; \\&amp;", "&lt;tag&gt; AB &amp;nosuch; © &amp;amp;"},
		{"rule", "a\n\n---\n\nb", "a\n\n———\n\nb"},
		{"names with underscores", "__init__.py, snake_case_name, __all__", "__init__.py, snake_case_name, __all__"},
		{"strong with underscores", "__two words__", "<b>two words</b>"},
	} {
		parts := telegram(c.md, telegramLimit)
		if len(parts) != 1 || parts[0].Text != c.want {
			t.Errorf("%s: %q\n got %q\nwant %q", c.name, c.md, parts, c.want)
			continue
		}
		if seen, _, err := faketelegram.ParseHTML(parts[0].Text); err != nil || seen != parts[0].Plain {
			t.Errorf("%s: Telegram shows %q (%v), Plain is %q", c.name, seen, err, parts[0].Plain)
		}
	}
}

func TestPlain(t *testing.T) {
	md := "# T\n**b** [t](https://e.com) <https://f.com>\n```go\n<x>\n```"
	want := "T\nb t (https://e.com) https://f.com\n<x>"
	for _, d := range []chat.Dialect{chat.Plain, "unheard-of"} {
		if p := markup.Render(md, d, 100, chat.Runes); len(p) != 1 || p[0].Text != want || p[0].Plain != want {
			t.Errorf("%s: %q", d, p)
		}
	}
}

func TestBlank(t *testing.T) {
	for _, md := range []string{"", "  \n ", "\u200b\u2060", "\r\n\t", "```\n\n```", "[a]: x\n", "****", "# "} {
		for _, p := range telegram(md, telegramLimit) {
			if strings.TrimSpace(p.Plain) == "" {
				t.Errorf("%q gives an empty part", md)
			}
		}
	}
	if p := telegram("```\n", telegramLimit); len(p) != 1 || p[0].Plain != "```" {
		t.Errorf("markup around nothing: %q, want it as it is", p)
	}
	if p := telegram(" \u200b\n", telegramLimit); p != nil {
		t.Errorf("%q", p)
	}
}

// D-08: odd prose keeps its words, and every part is valid by itself.
func TestOddProse(t *testing.T) {
	for _, md := range []string{
		"snake_case_name and *one star, [a bracket, a `tick and a ]( too",
		"5 * 3 = 15, 2_000_000, a < b && c > d, #tag, 1. item - dash + plus = equals | pipe {brace} ~tilde~ !bang",
		"a\\backslash, C:\\path\\to\\file, \\*not bold\\*", "|| spoiler | table ||", "**bold *both** italic*", "*", "_", "`", "[](", "~~gone",
		"> ", "- ", "[x](<y", "![", "<", "&", "&#;", "&#x110000;", "||\n|-", "***a** b*", "_a_b_c_", "__a__b", "\\", "`` ` ``",
	} {
		parts := telegram(md, telegramLimit)
		if len(parts) > 1 {
			t.Errorf("%q: %d parts", md, len(parts))
		}
		for _, p := range parts {
			if _, _, err := faketelegram.ParseHTML(p.Text); err != nil {
				t.Errorf("%q: %q: %v", md, p.Text, err)
			}
			for _, word := range strings.FieldsFunc(md, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') }) {
				if !strings.Contains(p.Plain, word) && !strings.HasPrefix(md, "&#") {
					t.Errorf("%q lost %q: %q", md, word, p.Plain)
				}
			}
		}
	}
}

// D-09: what stands in code is what is shown.
func TestCodeSpans(t *testing.T) {
	spans := []string{"--dry-run", "$HOME/my_dir", "a_b_c", "x-y_z$1", "rm -rf ./tmp_*", "&amp;", "<b>", "a\\b", "**x**"}
	p := telegram("Use `"+strings.Join(spans, "` and `")+"` now", telegramLimit)
	want := "Use " + strings.Join(spans, " and ") + " now"
	seen, entities, err := faketelegram.ParseHTML(p[0].Text)
	if err != nil || seen != want || p[0].Plain != want || len(entities) != len(spans) {
		t.Errorf("got  %q (%v), %d entities\nwant %q", seen, err, len(entities), want)
	}
}

func BenchmarkRender(b *testing.B) {
	md := strings.Repeat("## Head\n\nSome **bold** text with `code` and [a link](https://example.com/x).\n\n- item one\n- item two\n\n```go\nf(1 < 2)\n```\n\n", 25)
	b.SetBytes(int64(len(md)))
	b.ReportAllocs()
	for b.Loop() {
		telegram(md, telegramLimit)
	}
}
