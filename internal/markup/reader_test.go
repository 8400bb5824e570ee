package markup_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
	"github.com/homing-gateway/homing/internal/chat"
)

// The readers say what a person sees of a text on a platform. They are written from the platforms' documents and know
// nothing of the renderers. What a platform would take as a mention, a command or a construct that we never write is an error.

var readers = map[chat.Dialect]func(string) (string, error){
	chat.TelegramHTML: func(s string) (string, error) { seen, _, err := faketelegram.ParseHTML(s); return seen, err },
	chat.Discord:      readDiscord,
	chat.SlackMrkdwn:  readSlack,
	chat.Zulip:        readZulip,
	chat.FeishuPost:   readFeishu,
	chat.Plain:        func(s string) (string, error) { return s, nil },
}

func wordByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func punct(c byte) bool { return c > ' ' && c < 0x7f && (!wordByte(c) || c == '_') }

var (
	discordBlock   = regexp.MustCompile("^```(?:([A-Za-z0-9_+.#-]+)\n)?\n*((?s).*?)\n*```")
	discordMention = regexp.MustCompile(`^(?:<(?:@[!&]?\d|#\d|a?:\w+:\d|t:-?\d|/|id:)|@everyone|@here)`)
	discordLink    = regexp.MustCompile(`(?i)^<(https?://[^ >]+)>`)
	discordTarget  = regexp.MustCompile(`(?i)^\]\((?:<https?://[^\s>]+>|https?://[^\s>)]+)\)`)
	listMarker     = regexp.MustCompile(`^( *)[-*] `)
)

// readDiscord follows the rules of discord/SimpleAST and of the help page "Markdown Text 101".
func readDiscord(src string) (string, error) {
	var out strings.Builder
	bol, quoted := true, false
	for src != "" {
		if bol {
			bol = false
			if rest, ok := strings.CutPrefix(src, "> "); ok {
				src, quoted = rest, true
			} else if strings.HasPrefix(src, ">>> ") {
				return "", fmt.Errorf("a quotation to the end: %.20q", src)
			} else {
				quoted = false
			}
			for _, h := range []string{"# ", "## ", "### ", "-# "} {
				if rest, ok := strings.CutPrefix(strings.TrimLeft(src, " "), h); ok {
					if h == "-# " {
						return "", fmt.Errorf("a subtext: %.20q", src)
					}
					src = rest
				}
			}
			if m := listMarker.FindString(src); m != "" {
				out.WriteString(strings.Repeat(" ", len(m)-2) + "• ")
				src = src[len(m):]
			}
		}
		if m := discordBlock.FindStringSubmatch(src); m != nil {
			body := m[2]
			if quoted {
				body = strings.TrimPrefix(strings.ReplaceAll(body, "\n> ", "\n"), "> ")
			}
			out.WriteString(strings.Trim(body, "\n"))
			src = src[len(m[0]):]
			continue
		}
		line := strings.IndexByte(src, '\n')
		if line == 0 {
			out.WriteByte('\n')
			src, bol = src[1:], true
			continue
		}
		if line < 0 {
			line = len(src)
		}
		if i := strings.Index(src[:line], "```"); i > 0 && src[i-1] != '`' && src[i-1] != '\\' && src[i-1] != ' ' {
			return "", fmt.Errorf("a block of code within a line: %.40q", src)
		}
		seen, err := discordInline(src[:line])
		if err != nil {
			return "", err
		}
		out.WriteString(seen)
		src = src[line:]
	}
	return out.String(), nil
}

func discordInline(s string) (string, error) {
	var out strings.Builder
	inner := func(body string, n int) error {
		seen, err := discordInline(body)
		out.WriteString(seen)
		s = s[n:]
		return err
	}
	before := byte(' ')
	for s != "" {
		was := s
		var err error
		switch c := s[0]; {
		case discordMention.MatchString(s):
			return "", fmt.Errorf("a mention: %.30q", s)
		case c == '\\' && len(s) > 1 && punct(s[1]):
			out.WriteByte(s[1])
			s = s[2:]
		case c == '`':
			if body, n := codeSpan(s); n > 0 {
				out.WriteString(body)
				s = s[n:]
			}
		case c == '<' && discordLink.MatchString(s):
			m := discordLink.FindStringSubmatch(s)
			out.WriteString(m[1])
			s = s[len(m[0]):]
		case c == '[':
			if body, n := discordMasked(s); n > 0 {
				err = inner(body, n)
			}
		case strings.HasPrefix(s, "http://"), strings.HasPrefix(s, "https://"):
			if !wordByte(before) || before == '_' {
				n := strings.IndexAny(s+" ", " <\n")
				out.WriteString(s[:n])
				s = s[n:]
			}
		case strings.HasPrefix(s, "**"):
			if n := pair(s, "**", "*"); n > 0 {
				err = inner(s[2:n], n+2)
			} else if n := star(s); n > 0 {
				return "", fmt.Errorf("italics by stars: %.30q", s)
			}
		case strings.HasPrefix(s, "__"):
			if n := pair(s, "__", "_"); n > 0 {
				return "", fmt.Errorf("underlined: %.30q", s)
			}
			if n := underscore(s); n > 0 {
				err = inner(s[1:n], n+1)
			}
		case strings.HasPrefix(s, "~~"):
			if n := pair(s, "~~", "_"); n > 0 {
				err = inner(s[2:n], n+2)
			}
		case strings.HasPrefix(s, "||"):
			if n := pair(s, "||", ""); n > 0 {
				return "", fmt.Errorf("a spoiler: %.30q", s)
			}
		case c == '_':
			if n := underscore(s); n > 0 {
				err = inner(s[1:n], n+1)
			}
		case c == '*':
			if n := star(s); n > 0 {
				return "", fmt.Errorf("italics by stars: %.30q", s)
			}
		}
		if err != nil {
			return "", err
		}
		if len(s) == len(was) {
			out.WriteByte(s[0])
			before, s = s[0], s[1:]
		} else {
			before = was[len(was)-len(s)-1]
		}
	}
	return out.String(), nil
}

// codeSpan reads code between two runs of backticks of the same length.
func codeSpan(s string) (string, int) {
	fence := s[:len(s)-len(strings.TrimLeft(s, "`"))]
	for at := len(fence); at < len(s); {
		i := strings.IndexByte(s[at:], '`')
		if i < 0 {
			return "", 0
		}
		at += i
		n := len(s[at:]) - len(strings.TrimLeft(s[at:], "`"))
		if n == len(fence) {
			body := s[len(fence):at]
			if strings.HasPrefix(body, " `") {
				body = body[1:]
			}
			if strings.HasSuffix(body, "` ") {
				body = body[:len(body)-1]
			}
			return body, at + n
		}
		at += n
	}
	return "", 0
}

// pair finds the end of what a doubled mark encloses: it is not followed by no.
func pair(s, mark, no string) int {
	for i := len(mark); i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case i > len(mark) && strings.HasPrefix(s[i:], mark) && (no == "" || !strings.HasPrefix(s[i+len(mark):], no)):
			return i
		}
	}
	return 0
}

func underscore(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case strings.HasPrefix(s[i:], "__"):
			i++
		case s[i] == '_':
			if i > 1 && (i+1 == len(s) || !wordByte(s[i+1])) {
				return i
			}
			return 0
		}
	}
	return 0
}

func star(s string) int {
	if len(s) < 3 || s[1] == ' ' || s[1] == '*' {
		return 0
	}
	for i := 2; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '*' && s[i-1] != ' ' && (i+1 == len(s) || s[i+1] != '*'):
			return i
		}
	}
	return 0
}

func discordMasked(s string) (string, int) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			depth++
		case ']':
			if depth--; depth > 0 {
				continue
			}
			m := discordTarget.FindString(s[i:])
			if strings.Contains(m, "@everyone") || strings.Contains(m, "@here") || m == "" || strings.Contains(s[1:i], "://") {
				return "", 0
			}
			return s[1:i], i + len(m)
		}
	}
	return "", 0
}

// token is a character of a Slack text; a fixed one is never markup.
type token struct {
	r     rune
	fixed bool
}

var slackScheme = regexp.MustCompile(`(?i)^(?:https?://|mailto:)`)

var slackEntity = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// readSlack follows "Formatting message text": the three entities, what stands between < and >, and marks that work beside
// what is no letter and no digit, within a line.
func readSlack(src string) (string, error) {
	var out strings.Builder
	for i, piece := range strings.Split(src, "```") {
		if i%2 == 1 {
			if strings.ContainsAny(piece, "<>") {
				return "", fmt.Errorf("an open bracket in code: %.40q", piece)
			}
			out.WriteString(slackEntity.Replace(strings.Trim(piece, "\n")))
			continue
		}
		for k, line := range strings.Split(piece, "\n") {
			if k > 0 {
				out.WriteByte('\n')
			}
			if k > 0 || i == 0 {
				line = strings.TrimPrefix(line, "> ")
				if strings.HasPrefix(line, ">") || strings.HasPrefix(line, "&gt;") {
					return "", fmt.Errorf("a quotation: %.30q", line)
				}
			}
			tokens, err := slackTokens(line)
			if err != nil {
				return "", err
			}
			for _, t := range slackMarks(tokens) {
				out.WriteRune(t.r)
			}
		}
	}
	if strings.Count(src, "```")%2 != 0 {
		return "", fmt.Errorf("an open block of code")
	}
	return out.String(), nil
}

func slackTokens(line string) ([]token, error) {
	var out []token
	add := func(s string, fixed bool) {
		for _, r := range slackEntity.Replace(s) {
			out = append(out, token{r, fixed})
		}
	}
	for line != "" {
		if line[0] != '<' {
			n := strings.IndexByte(line, '<')
			if n < 0 {
				n = len(line)
			}
			if strings.Contains(line[:n], ">") {
				return nil, fmt.Errorf("an open bracket: %.40q", line)
			}
			add(line[:n], false)
			line = line[n:]
			continue
		}
		n := strings.IndexByte(line, '>')
		if n < 0 {
			return nil, fmt.Errorf("an open bracket: %.40q", line)
		}
		body := line[1:n]
		line = line[n+1:]
		to, label, labelled := strings.Cut(body, "|")
		switch {
		case strings.HasPrefix(to, "!date^00000000^{_}"):
			add(label, true)
		case slackScheme.MatchString(to):
			if labelled {
				if label == "" {
					return nil, fmt.Errorf("a link without text: %.40q", body)
				}
				add(label, false)
			} else {
				add(to, true)
			}
		default:
			return nil, fmt.Errorf("a mention: %.40q", body)
		}
	}
	return out, nil
}

func slackMarks(ts []token) []token {
	word := func(i int) bool {
		return i >= 0 && i < len(ts) && (unicode.IsLetter(ts[i].r) || unicode.IsDigit(ts[i].r))
	}
	blank := func(i int) bool { return i < 0 || i >= len(ts) || unicode.IsSpace(ts[i].r) }
	drop := map[int]bool{}
	for _, mark := range "`*_~" {
		for i := 0; i < len(ts); i++ {
			if ts[i].fixed || ts[i].r != mark || word(i-1) || blank(i+1) {
				continue
			}
			for k := i + 2; k < len(ts); k++ {
				if ts[k].fixed || ts[k].r != mark || blank(k-1) || word(k+1) {
					continue
				}
				drop[i], drop[k] = true, true
				if mark == '`' {
					for m := i; m <= k; m++ {
						ts[m].fixed = true
					}
				}
				i = k
				break
			}
		}
	}
	var out []token
	for i, t := range ts {
		if !drop[i] {
			out = append(out, t)
		}
	}
	return out
}

var (
	zulipEntity  = regexp.MustCompile(`&(?:amp|lt|gt|#\d+);`)
	zulipMention = regexp.MustCompile(`@_?\*|#\*\*|<time:|\$\$`)
	zulipURL     = regexp.MustCompile(`(^|[\s'"(,:<])(https?://[^\s<]+)`)
	zulipStyles  = []*regexp.Regexp{
		regexp.MustCompile(`\*\*\*([^*^\n]+)\*\*\*`), regexp.MustCompile(`\*\*([^\n]+?)\*\*`),
		regexp.MustCompile(`\*([^\s*^][^*^\n]*)\*`), regexp.MustCompile(`~~([^~\n]+?)~~`),
	}
	zulipBlock = regexp.MustCompile("^(`{3,}|~{3,})([a-z]*)")
	zulipHead  = regexp.MustCompile(`^#{1,6} `)
	zulipList  = regexp.MustCompile(`^( *)[-+*] `)
)

// readZulip follows zerver/lib/markdown: fences line by line, one within the other, then what is in a line in the order of
// its patterns: code, mentions, links, addresses, references, and marks.
func readZulip(src string) (string, error) {
	if strings.HasPrefix(src, "/") {
		return "", fmt.Errorf("a command: %.20q", src)
	}
	var open, out []string
	for line := range strings.SplitSeq(src, "\n") {
		coded := len(open) > 0 && open[len(open)-1][0] == '`'
		if len(open) > 0 && line == open[len(open)-1] {
			open = open[:len(open)-1]
			continue
		}
		if coded {
			out = append(out, line)
			continue
		}
		if m := zulipBlock.FindStringSubmatch(line); m != nil {
			if (m[1][0] == '~') != (m[2] == "quote") {
				return "", fmt.Errorf("a block that is none of ours: %q", line)
			}
			open = append(open, m[1])
			continue
		}
		if strings.HasPrefix(line, ">") {
			return "", fmt.Errorf("a quotation: %q", line)
		}
		line = strings.TrimPrefix(line, zulipHead.FindString(line))
		if m := zulipList.FindString(line); m != "" {
			line = strings.Repeat(" ", len(m)-2) + "• " + line[len(m):]
		}
		seen, err := zulipInline(line)
		if err != nil {
			return "", err
		}
		out = append(out, seen)
	}
	if len(open) > 0 {
		return "", fmt.Errorf("open fences: %q", open)
	}
	return strings.Join(out, "\n"), nil
}

func zulipInline(line string) (string, error) {
	var stash []string
	keep := func(s string) string {
		stash = append(stash, s)
		return string(rune(0xF0000 + len(stash) - 1))
	}
	var b strings.Builder
	for i := 0; i < len(line); { // code
		if line[i] == '`' && (i == 0 || line[i-1] != '\\') {
			if body, n := codeSpan(line[i:]); n > 0 {
				b.WriteString(keep(body))
				i += n
				continue
			}
		}
		b.WriteByte(line[i])
		i++
	}
	line = b.String()
	if m := zulipMention.FindString(line); m != "" {
		return "", fmt.Errorf("a mention: %q in %.60q", m, line)
	}
	for at := 0; ; { // links
		i := strings.IndexByte(line[at:], '[')
		if i < 0 {
			break
		}
		at += i
		depth := 0
		for k := at; k < len(line); k++ {
			switch line[k] {
			case '[':
				depth++
			case ']':
				depth--
			}
			if depth == 0 {
				if end := strings.IndexByte(line[k:], ')'); end > 0 && strings.HasPrefix(line[k:], "](") {
					line = line[:at] + keep(line[at+1:k]) + line[k+end+1:]
				}
				break
			}
		}
		at++
	}
	line = zulipURL.ReplaceAllStringFunc(line, func(s string) string {
		at := strings.Index(s, "http")
		return s[:at] + keep(s[at:])
	})
	line = zulipEntity.ReplaceAllStringFunc(line, func(e string) string {
		var n int
		if _, err := fmt.Sscanf(e, "&#%d;", &n); err == nil {
			return keep(string(rune(n)))
		}
		return keep(slackEntity.Replace(e))
	})
	for _, re := range zulipStyles {
		line = re.ReplaceAllString(line, "$1")
	}
	for strings.ContainsFunc(line, func(r rune) bool { return r >= 0xF0000 && r < 0xF0000+rune(len(stash)) }) {
		b.Reset()
		for _, r := range line {
			if r >= 0xF0000 && r < 0xF0000+rune(len(stash)) {
				b.WriteString(stash[r-0xF0000])
			} else {
				b.WriteRune(r)
			}
		}
		line = b.String()
	}
	return line, nil
}

// readFeishu follows the content of a post: paragraphs of elements.
func readFeishu(src string) (string, error) {
	var post struct {
		ZhCN struct {
			Content [][]struct {
				Tag, Text, Href, Language string
				Style                     []string
			} `json:"content"`
		} `json:"zh_cn"`
	}
	if err := json.Unmarshal([]byte(src), &post); err != nil {
		return "", err
	}
	var out strings.Builder
	for i, paragraph := range post.ZhCN.Content {
		if i > 0 {
			out.WriteByte('\n')
		}
		if len(paragraph) == 0 {
			return "", fmt.Errorf("an empty paragraph")
		}
		for _, e := range paragraph {
			switch {
			case e.Tag == "a" && !strings.HasPrefix(strings.ToLower(e.Href), "http"), e.Tag == "code_block" && len(paragraph) > 1:
				return "", fmt.Errorf("not allowed: %+v", e)
			case e.Tag != "a" && e.Tag != "text" && e.Tag != "code_block":
				return "", fmt.Errorf("an element %q", e.Tag)
			}
			out.WriteString(e.Text)
		}
	}
	return out.String(), nil
}
