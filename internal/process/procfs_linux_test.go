package process

import "testing"

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
