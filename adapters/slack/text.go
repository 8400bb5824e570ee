package slack

import (
	"context"
	"strings"
	"unicode/utf8"
)

var (
	toText   = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")
	toMarkup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
)

// unescape gives the three characters that Slack escapes, and escape writes them.
func unescape(s string) string { return toText.Replace(s) }

func escape(s string) string { return toMarkup.Replace(s) }

// read makes plain text of what a person wrote: names in place of ids, links as they are read, and without our own name. It
// tells whether that stood in it.
func (a *Adapter) read(ctx context.Context, raw string) (text string, mentioned bool) {
	var b strings.Builder
	for raw != "" {
		from := strings.IndexByte(raw, '<')
		to := -1
		if from >= 0 {
			to = strings.IndexByte(raw[from:], '>')
		}
		if to < 0 {
			b.WriteString(unescape(raw))
			break
		}
		b.WriteString(unescape(raw[:from]))
		target, label, _ := strings.Cut(raw[from+1:from+to], "|")
		raw = raw[from+to+1:]
		if target != "@"+a.me.User {
			b.WriteString(a.shown(ctx, target, label))
			continue
		}
		mentioned = true
		// One of the blanks around our name goes with it, and at the beginning what separates it from the rest.
		if before := b.String(); strings.TrimSpace(before) == "" {
			b.Reset()
			raw = strings.TrimLeft(raw, " ,:\n")
		} else if strings.HasSuffix(before, " ") && (raw == "" || strings.ContainsRune(" ,.:;!?\n", rune(raw[0]))) {
			b.Reset()
			b.WriteString(before[:len(before)-1])
		}
	}
	return strings.TrimSpace(b.String()), mentioned
}

// shown is how a person sees what stands in angle brackets.
func (a *Adapter) shown(ctx context.Context, target, label string) string {
	label = unescape(label)
	switch {
	case strings.HasPrefix(target, "@"):
		if label == "" {
			label = a.names.of(ctx, target[1:])
		}
		return "@" + strings.TrimPrefix(label, "@")
	case strings.HasPrefix(target, "#"):
		if label == "" {
			label = target[1:]
		}
		return "#" + label
	case strings.HasPrefix(target, "!"):
		if label == "" {
			label, _, _ = strings.Cut("@"+target[1:], "^")
		}
		return label
	}
	link := unescape(target)
	switch bare := strings.TrimPrefix(link, "mailto:"); {
	case label == "" || label == link || label == bare:
		return bare
	case strings.HasSuffix(link, "://"+label) || strings.HasSuffix(link, "://"+label+"/"): // typed without a scheme
		return label
	}
	return label + " (" + link + ")"
}

// maxSection is the longest text of a section block, in characters.
const maxSection = 3000

// sections cuts a text into pieces that a section block takes: at a line's end or a blank where there is one, never within
// an escape or a link. In markup, a block of code that is cut is closed and opened again.
func sections(text string, plain bool) []string {
	const fence = "```"
	var out []string
	for utf8.RuneCountInString(text) > maxSection {
		end := len(string([]rune(text)[:maxSection-2*len(fence)]))
		if i := strings.LastIndexByte(text[:end], '<'); i > end/2 && !strings.Contains(text[i:end], ">") {
			end = i
		}
		if i := strings.LastIndexByte(text[:end], '&'); i > end/2 && end-i < len("&amp;") && !strings.Contains(text[i:end], ";") {
			end = i
		}
		cut, skip := end, 0
		if i := strings.LastIndexByte(text[:end], '\n'); i > end/2 {
			cut, skip = i, 1
		} else if i := strings.LastIndexByte(text[:end], ' '); i > end/2 {
			cut, skip = i, 1
		}
		piece := text[:cut]
		text = text[cut+skip:]
		if !plain && strings.Count(piece, fence)%2 == 1 {
			piece, text = piece+"\n"+fence, fence+"\n"+text
		}
		out = append(out, piece)
	}
	return append(out, text)
}
