package id_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/homing-gateway/homing/internal/id"
)

// FuzzSplit: what a person types is one of our prefixes and enough of an id, or is refused in words; taken apart and put
// together again it means the same.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{"ses_01J9ZK", "sub_01j9zk0000000000000000ABCD", "proc_01J9Z", "out_", "_01J9ZK", "ses_ses_01J9ZK", "ses_é01J9ZK\x00", "SES_01J9ZK", " ses_01J9ZK"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, typed string) {
		prefix, rest, err := id.Split(typed)
		if err != nil {
			if err.Error() == "" || prefix != "" || rest != "" {
				t.Fatalf("%q gives %q, %q and %v", typed, prefix, rest, err)
			}
			return
		}
		if !slices.Contains(id.Prefixes(), prefix) || len(rest) < id.MinPrefix || rest != strings.ToUpper(rest) {
			t.Fatalf("%q gives %q and %q", typed, prefix, rest)
		}
		if p, r, err := id.Split(prefix + rest); err != nil || p != prefix || r != rest {
			t.Fatalf("%q gives %q, and that %q, %q, %v", typed, prefix+rest, p, r, err)
		}
	})
}
