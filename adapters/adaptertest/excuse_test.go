package adaptertest

import "testing"

// What a platform has not, its adapter need not do; what is the adapter's own has no excuse.
func TestExcuse(t *testing.T) {
	table := behaviours()
	for _, c := range []struct {
		name, why string
		counts    bool
	}{
		{"a typing sign is shown", "the platform has none", true},
		{"a typing sign is shown", "", false},
		{"a typing sign", "the platform has none", false},
		{"no secret is in an error or a log", "it has no secrets", false},
		{"Run leaves no goroutine", "it needs one", false},
	} {
		if wrong := excuse(table, c.name, c.why); (wrong == "") != c.counts {
			t.Errorf("%q because %q: %q", c.name, c.why, wrong)
		}
	}
}
