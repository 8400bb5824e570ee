package process

import (
	"fmt"
	"testing"
)

func TestParseStat(t *testing.T) {
	line := "4242 (a) b) (c) S 17 4240 4239 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 987654 1 2\n"
	got, err := parseStat([]byte(line))
	want := stat{pid: 4242, name: "a) b) (c", state: 'S', parent: 17, group: 4240, session: 4239, start: 987654}
	if err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	for _, bad := range []string{"", "1 (x", "1 (x) S 1 2", ") 1 ("} {
		if _, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// FuzzParseStat: a name is chosen by whoever runs a program, and must not make a line mean another process.
func FuzzParseStat(f *testing.F) {
	for _, name := range []string{"sh", "a) b) (c", ") S 1 1 1 ", "", "\n", "\xff"} {
		f.Add([]byte(name), 17, uint64(987654))
	}
	f.Fuzz(func(t *testing.T, name []byte, parent int, start uint64) {
		line := fmt.Sprintf("4242 (%s) S %d 4240 4239 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 %d 1 2\n", name, parent, start)
		want := stat{pid: 4242, name: string(name), state: 'S', parent: parent, group: 4240, session: 4239, start: start}
		if got, err := parseStat([]byte(line)); err != nil || got != want {
			t.Fatalf("%q: %+v, %v, want %+v", line, got, err, want)
		}
		_, _ = parseStat(name) // as a whole line: an error or not, but no fault
	})
}
