package process

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzRecords: whatever stands in the files of a process directory, reading them gives a record, says that there is none
// or says that it is damaged. An end is taken only from a whole record of that process in a final state.
func FuzzRecords(f *testing.F) {
	for _, s := range []string{
		`{"id":"proc_1","state":"exited","exit_code":0,"started_at":"2026-01-01T00:00:00Z","ended_at":"2026-01-01T00:00:00Z"}`,
		`{"id":"proc_1","state":"killed","reason":"by a person","signal":"SIGKILL"}`, `{"id":"proc_2","state":"lost"}`, `{"id":"proc_1","state":"running"}`,
		`{"id":"proc_1","command":"make","shell":"/bin/sh","workdir":"/","env_names":["PATH"],"output_limit":65536,"kill_grace":3000000000}`,
		`{"supervisor":{"pid":1,"start_ticks":2},"leader":{"pid":3,"start_ticks":4},"boot_id":"x"}`, `{"reason":"r","at":"2026-01-01T00:00:00Z"}`,
		``, `null`, `{`, `[]`, `{"id":1}`, "{\"id\":\"proc_1\",\"state\":\"exited\"}\x00", `{"state":"exited","exit_code":99999999999999999999}`,
	} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	p := &Process{id: "proc_1", dir: dir}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range []string{exitFile, leaderFile, commandFile, startedFile, killFile} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		e, ok, err := p.ended()
		final := e.State == Exited || e.State == Killed || e.State == Lost || e.State == FailedStart
		if err != nil || ok && (e.ID != p.id || !final) {
			t.Fatalf("%q is an end: %+v, %v, %v", data, e, ok, err)
		}
		if _, err := p.Spec(); err != nil && !errors.Is(err, errDamaged) {
			t.Fatalf("%q as a command: %v", data, err)
		}
		if _, ok, err := p.started(); !ok || err != nil { // a damaged one still tells that something may have run
			t.Fatalf("%q as a start: %v, %v", data, ok, err)
		}
		if _, wanted := wantedKill(dir); !wanted {
			t.Fatalf("%q wants no kill", data)
		}
	})
}

// FuzzCounts: the counts beside an output are taken only when their sum is right, and what was written reads back.
func FuzzCounts(f *testing.F) {
	f.Add(string(counts{reserved: 10, written: 10, unkept: 0, head: 512, ring: 512}.line()))
	f.Add(strings.Repeat("0 ", 6))
	f.Add("7fffffffffffffff -1 0 1 1 0")
	f.Fuzz(func(t *testing.T, line string) {
		c, ok := parseCounts(line)
		if !ok {
			return
		}
		if again, ok := parseCounts(string(c.line())); !ok || again != c || c.head <= 0 || c.ring <= 0 || min(c.reserved, c.written, c.unkept) < 0 {
			t.Fatalf("%q is read as %+v, and that as %+v, %v", line, c, again, ok)
		}
		if c.head < 1<<16 && c.ring < 1<<16 && c.written < 1<<20 { // whatever else they claim, there is an output
			for _, size := range []int{0, 7, 1 << 10} {
				assemble(make([]byte, size), c, c)
			}
		}
	})
}
