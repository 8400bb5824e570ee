package id_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/homing-gateway/homing/internal/id"
)

var start = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// Ids sort in the order in which they were made, also when the clock is put back.
func TestIdsSort(t *testing.T) {
	s := id.NewSource(nil)
	var ids []string
	for i := range 1000 {
		at := start.Add(time.Duration(i/3) * time.Millisecond)
		if i%7 == 0 {
			at = at.Add(-time.Hour)
		}
		ids = append(ids, s.New(id.PrefixTurn, at))
	}
	if !slices.IsSorted(ids) {
		t.Error("not in order")
	}
	if slices.Sort(ids); len(slices.Compact(ids)) != 1000 {
		t.Error("not all different")
	}
	if len(ids[0]) != len("trn_")+26 || !strings.HasPrefix(ids[0], "trn_") {
		t.Errorf("%q", ids[0])
	}
}

// The same reader gives the same ids.
func TestIdsRepeat(t *testing.T) {
	a, b := id.NewSource(rand.NewChaCha8([32]byte{1})), id.NewSource(rand.NewChaCha8([32]byte{1}))
	for range 10 {
		if x, y := a.New("act_", start), b.New("act_", start); x != y {
			t.Fatalf("%s, %s", x, y)
		}
	}
}

func TestIdsFromManyGoroutines(t *testing.T) {
	s := id.NewSource(nil)
	made := make([][]string, 8)
	var wg sync.WaitGroup
	for i := range made {
		wg.Go(func() {
			for range 200 {
				made[i] = append(made[i], s.New("out_", start))
			}
		})
	}
	wg.Wait()
	all := slices.Concat(made...)
	slices.Sort(all)
	if n := len(slices.Compact(all)); n != 1600 {
		t.Errorf("%d different ids of 1600", n)
	}
}

func TestSplit(t *testing.T) {
	full := id.NewSource(nil).New(id.PrefixSession, start)
	for _, tt := range []struct{ in, prefix, rest string }{
		{full, "ses_", strings.TrimPrefix(full, "ses_")},
		{"proc_01ABCD", "proc_", "01ABCD"},
		{"cmp_01abcd", "cmp_", "01ABCD"},
		{"sub_01ABCD", "sub_", "01ABCD"},
		{"ses_01ABC", "", ""},
		{"ses_", "", ""},
		{"ses", "", ""},
		{"", "", ""},
		{"foo_01ABCD", "", ""},
		{"01ABCDEF", "", ""},
		{"SES_01ABCD", "", ""},
	} {
		prefix, rest, err := id.Split(tt.in)
		if prefix != tt.prefix || rest != tt.rest || (err == nil) != (tt.prefix != "") {
			t.Errorf("%q: %q, %q, %v", tt.in, prefix, rest, err)
		}
	}
}

func TestPrefixes(t *testing.T) {
	for _, p := range id.Prefixes() {
		for _, q := range id.Prefixes() {
			if p != q && strings.HasPrefix(p, q) {
				t.Errorf("%s begins with %s", p, q)
			}
		}
	}
	if !id.Session("sub_1").IsSubagent() || id.Session("ses_1").IsSubagent() || id.Session("").IsSubagent() {
		t.Error("a subagent is known by its id")
	}
}
