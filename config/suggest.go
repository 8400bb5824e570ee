package config

import (
	"errors"
	"strings"
)

// misspelt is an error with the word that was probably meant.
type misspelt struct {
	err     error
	nearest string
}

func (m *misspelt) Error() string { return m.err.Error() }

// meant gives the word that an error knows to have been meant, or nothing.
func meant(err error) string {
	if m, ok := errors.AsType[*misspelt](err); ok {
		return m.nearest
	}
	return ""
}

// nearest gives the word that is spelt most like s, or nothing when none is close.
func nearest(s string, words []string) string {
	best, found := 2+len(s)/4, ""
	for _, w := range words {
		if d := distance(strings.ToLower(s), strings.ToLower(w)); d < best && d < len(w) {
			best, found = d, w
		}
	}
	return found
}

// distance counts the letters to be put in, taken out, changed or swapped with their neighbour.
func distance(a, b string) int {
	const limit = 80
	if len(a) > limit || len(b) > limit {
		return limit
	}
	two, one, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range one {
		one[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(one[j]+1, row[j-1]+1, one[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], two[j-2]+1)
			}
		}
		two, one, row = one, row, two
	}
	return one[len(b)]
}
