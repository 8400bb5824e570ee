package machine_test

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/homing-gateway/homing/internal/machine"
)

// shortest leaves out of a failing history what is not needed for it to fail, and returns how it fails then. What is left
// out made names; the names that come after are counted anew.
func shortest(lines []string, failure error) ([]string, error) {
	for again := true; again; {
		again = false
		for size := len(lines) / 2; size > 0; size /= 2 {
			for at := 0; at+size <= len(lines); {
				made, _ := replay(lines)
				fewer := slices.Clone(lines[:at])
				for _, l := range lines[at+size:] {
					fewer = append(fewer, renamed(l, made[at], made[at+size]))
				}
				if _, err := replay(fewer); err != nil {
					lines, failure, again = fewer, err, true
				} else {
					at += size
				}
			}
		}
	}
	return lines, failure
}

// replay plays a history that may have lost some lines: what makes no sense any more is passed over. made tells how many
// names of each kind there were before each line.
func replay(lines []string) (made []map[string]int, failure error) {
	h := newHistory()
	for _, line := range lines {
		made = append(made, maps.Clone(h.w.names.counts))
		if h.w.broken == nil {
			if err := h.w.do(line); errors.Is(err, errBroken) {
				h.w.broken = err
			}
			h.w.nameAll()
		}
	}
	return append(made, maps.Clone(h.w.names.counts)), h.settle()
}

// nameAll names everything on the disk, so that names do not depend on what was looked at.
func (w *world) nameAll() {
	for _, rows := range w.disk {
		for _, k := range slices.Sorted(maps.Keys(rows)) {
			if idPattern.MatchString(k) {
				w.names.of(idPattern.FindString(k))
			}
			if l, ok := rows[k].(machine.Lane); ok {
				for _, t := range l.Texts {
					for _, f := range t.Files {
						w.names.shorten(f.Path)
					}
				}
			}
		}
	}
}

var namePattern = regexp.MustCompile(`\b(proc|[A-Z])([0-9]*)\b`)

// renamed counts the names in a line anew: those between before and after are not made any more.
func renamed(line string, before, after map[string]int) string {
	kinds := map[string]string{"K": "sub", "proc": "proc", "T": "trn", "D": "del", "C": "cmp", "M": "out", "A": "act", "F": "file"}
	return namePattern.ReplaceAllStringFunc(line, func(name string) string {
		m := namePattern.FindStringSubmatch(name)
		kind, isNumbered := kinds[m[1]]
		n, _ := strconv.Atoi(m[2])
		if !isNumbered {
			letter := strings.Index(conversations, m[1])
			if letter < 0 {
				return name
			}
			kind, n = "ses", letter+1+len(conversations)*max(n-1, 0)
		}
		switch {
		case n <= before[kind]:
			return name
		case n <= after[kind]:
			return "nobody"
		case isNumbered:
			return m[1] + strconv.Itoa(n-(after[kind]-before[kind]))
		}
		return conversationName(n - (after[kind] - before[kind]))
	})
}
