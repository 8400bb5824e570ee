package faketelegram_test

import (
	"strings"
	"testing"

	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
)

// The parser has to be as strict as Telegram's: what it lets pass is what tests call valid.
func TestParseHTML(t *testing.T) {
	for src, complaint := range map[string]string{
		"<b>x":               "end tag corresponding to start tag \"b\"",
		"x</b>":              "Unexpected end tag",
		"<b><i>x</b></i>":    "Unmatched end tag",
		"<h1>x</h1>":         "Unsupported start tag \"h1\"",
		"a < b > c":          "Unsupported start tag",
		"a < b":              "Unclosed start tag",
		"<b":                 "Unclosed start tag",
		"<a href=x>y</a>":    "Unexpected attribute",
		"\xff":               "UTF-8",
		"<a href=\"a\"b\">x": "Unexpected attribute",
	} {
		if _, _, err := faketelegram.ParseHTML(src); err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%q: %v, want %q", src, err, complaint)
		}
	}
	seen, entities, err := faketelegram.ParseHTML(`😀<b>a <i>b</i></b> &amp;&lt;&#65;&x; <a href="http://x/?a=1&amp;b">l</a><pre><code class="language-go">c</code></pre><i></i>`)
	if err != nil || seen != "😀a b &<A&x; lc" || len(entities) != 4 {
		t.Fatalf("%q %+v %v", seen, entities, err)
	}
	if e := entities[1]; e.Type != "bold" || e.Offset != 2 || e.Length != 3 {
		t.Errorf("%+v", e)
	}
	if e := entities[2]; e.URL != "http://x/?a=1&b" {
		t.Errorf("%+v", e)
	}
	if e := entities[3]; e.Type != "pre" || e.Language != "go" {
		t.Errorf("%+v", e)
	}
}
