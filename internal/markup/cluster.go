package markup

import (
	"unicode"
	"unicode/utf8"

	"github.com/homing-gateway/homing/internal/chat"
)

// maxRunes bounds what counts as one character, so that a text of nothing but marks can still be cut. Sixteen runes of two
// units each stay below minUnits.
const maxRunes = 16

// cluster is the number of bytes of the first character of s as a reader sees it: a letter with its marks, an emoji with
// its modifiers and joined parts, a flag, a syllable. It follows the usual rules for what a person takes as one
// character closely enough never to tear one apart that people write.
func cluster(s string) int {
	prev, n := utf8.DecodeRuneInString(s)
	if prev == '\n' || prev == '\r' || prev == '\t' {
		return max(n, 1)
	}
	flag := regional(prev)
	for count := 1; n < len(s) && count < maxRunes; count++ {
		r, size := utf8.DecodeRuneInString(s[n:])
		switch {
		case extends(r):
		case prev == '\u200d' && r > 0x2000 && !unicode.IsSpace(r):
		case flag && regional(r):
			flag = false
			n, prev = n+size, r
			continue
		case syllable(prev, r):
		default:
			return n
		}
		flag = false
		n, prev = n+size, r
	}
	return n
}

func regional(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

// extends tells whether r belongs to the character before it.
func extends(r rune) bool {
	return r >= 0x300 && (unicode.In(r, unicode.M) || r == '\u200c' || r == '\u200d' ||
		r >= 0x1F3FB && r <= 0x1F3FF || r >= 0xE0020 && r <= 0xE007F || r == 0xFF9E || r == 0xFF9F)
}

// syllable tells whether two Hangul letters are written as one.
func syllable(a, b rune) bool {
	lead := a >= 0x1100 && a <= 0x115F
	vowel := a >= 0x1160 && a <= 0x11A7
	open := a >= 0xAC00 && a <= 0xD7A3
	switch {
	case b >= 0x1100 && b <= 0x115F || b >= 0xAC00 && b <= 0xD7A3:
		return lead
	case b >= 0x1160 && b <= 0x11A7:
		return lead || vowel || open
	case b >= 0x11A8 && b <= 0x11FF:
		return vowel || open || a >= 0x11A8 && a <= 0x11FF
	}
	return false
}

// measure is the length of s in a unit.
func measure(s string, u chat.Unit) int {
	n := 0
	switch u {
	case chat.Bytes:
		return len(s)
	case chat.Runes:
		return utf8.RuneCountInString(s)
	default:
		for _, r := range s {
			if r > 0xFFFF {
				n++
			}
			n++
		}
	}
	return n
}
