package process_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/homing-gateway/homing/internal/process"
)

// P-05: an endless writer is never held up, and neither memory nor disk grows with what it writes.
func TestEndlessWriter(t *testing.T) {
	r, root := newRunner(t)
	spec := testSpec("p", "exec yes 'all work and no play'")
	spec.OutputLimit = 64 << 10
	p := start(t, r, spec)
	s := started(t, p)
	written := func(n int64) func() bool { return func() bool { return output(t, p).Total >= n } }
	eventually(t, "5 MB written", written(5e6))
	before := statusKB(t, s.Supervisor.PID, "RssAnon")
	eventually(t, "100 MB written", written(100e6))
	o := output(t, p)
	if after := statusKB(t, s.Supervisor.PID, "RssAnon"); after > before+2048 && !raceDetector {
		t.Errorf("the supervisor's memory grew from %d to %d KB", before, after)
	}
	var size int64
	for _, name := range []string{"output.log", "output.count"} {
		info, err := os.Stat(filepath.Join(root, "p", name))
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size > spec.OutputLimit+256 {
		t.Errorf("%d bytes on disk", size)
	}
	if !o.Truncated || o.Dropped < 99e6 || int64(len(o.Text)) > spec.OutputLimit+200 {
		t.Errorf("truncated %v, dropped %d, %d bytes of text", o.Truncated, o.Dropped, len(o.Text))
	}
	if err := p.Kill(deadline(t), "enough"); err != nil {
		t.Fatal(err)
	}
	e := wait(t, p)
	if e.State != process.Killed || e.Output.Kept != spec.OutputLimit || e.Output.Total < 100e6 || e.Output.Error != "" {
		t.Errorf("ended %+v", e)
	}
}

// P-07: 100 MB of output cost the client no more than what is kept.
func TestLargeOutput(t *testing.T) {
	r, _ := newRunner(t)
	p := start(t, r, testSpec("p", "echo first; head -c 100000000 /dev/zero | tr '\\0' x; echo; echo last"))
	if e := wait(t, p); *e.Code != 0 || e.Output.Total != 100000012 {
		t.Errorf("ended %+v", e)
	}
	o := output(t, p)
	if !o.Truncated || o.Total != 100000012 || o.Dropped != o.Total-process.DefaultOutputLimit {
		t.Errorf("truncated %v, total %d, dropped %d", o.Truncated, o.Total, o.Dropped)
	}
	note := fmt.Sprintf("x\n[… %d of %d bytes of output not kept …]\nx", o.Dropped, o.Total)
	if !strings.HasPrefix(o.Text, "first\nx") || !strings.HasSuffix(o.Text, "x\nlast\n") || !strings.Contains(o.Text, note) {
		t.Errorf("output begins %q, ends %q", o.Text[:20], o.Text[len(o.Text)-20:])
	}
}

// What was written before an end is readable when the end is, however slow the pipe is emptied otherwise.
func TestOutputIsThereBeforeTheEnd(t *testing.T) {
	r, _ := newRunner(t, self(t), superviseStuck, "before pump")
	p := start(t, r, testSpec("p", "sleep 1000 & echo said; exit 1"))
	if e, err := p.Leader(deadline(t)); err != nil || !e.LeftRunning || e.Output.Total != 5 || output(t, p).Text != "said\n" {
		t.Errorf("leader ended %+v, %v, with output %q", e, err, output(t, p).Text)
	}
	p = start(t, r, testSpec("q", "echo said"))
	if e := wait(t, p); e.Output.Total != 5 || output(t, p).Text != "said\n" {
		t.Errorf("ended %+v with output %q", e, output(t, p).Text)
	}
}

// What is read in pages is what was written, but for a gap that is told.
func TestPages(t *testing.T) {
	r, _ := newRunner(t)
	for _, c := range []struct {
		id    string
		lines int
		limit int64
	}{{"whole", 100, 64 << 10}, {"wrapped", 2000, 4 << 10}, {"nothing", 0, 1 << 10}} {
		t.Run(c.id, func(t *testing.T) {
			var want bytes.Buffer
			for i := range c.lines {
				fmt.Fprintf(&want, "zeile %d äöü€😀\n", i+1)
			}
			spec := testSpec(c.id, fmt.Sprintf("i=0; while [ $i -lt %d ]; do i=$((i+1)); echo \"zeile $i äöü€😀\"; done", c.lines))
			spec.OutputLimit = c.limit
			p := start(t, r, spec)
			wait(t, p)
			var got, gap int64
			for next, end := int64(0), false; !end; {
				page, err := p.ReadLog(next, 100)
				if err != nil {
					t.Fatal(err)
				}
				if page.Offset != next+page.Dropped || page.Next != page.Offset+int64(len(page.Text)) || page.Total != int64(want.Len()) {
					t.Fatalf("page at %d: %+v", next, page)
				}
				if whole := want.Bytes()[page.Offset:page.Next]; string(whole) != page.Text || !utf8.Valid(whole) {
					t.Fatalf("page at %d is %q, want %q", next, page.Text, whole)
				}
				got, gap = got+int64(len(page.Text)), gap+page.Dropped
				next, end = page.Next, page.End
			}
			if got+gap != int64(want.Len()) || (gap > 0) != (int64(want.Len()) > c.limit) || got < min(int64(want.Len()), c.limit-8) {
				t.Errorf("read %d bytes, %d dropped, of %d", got, gap, want.Len())
			}
			last, err := p.ReadLog(-10, 100)
			if err != nil || !strings.HasSuffix(want.String(), last.Text) || !last.End || (c.lines > 0 && last.Text != "ü€😀\n") {
				t.Errorf("the last 10 bytes: %+v, %v", last, err)
			}
			if beyond, err := p.ReadLog(1<<40, 10); err != nil || beyond.Text != "" || !beyond.End {
				t.Errorf("beyond the end: %+v, %v", beyond, err)
			}
		})
	}
}

// Output that is no UTF-8 comes out as text that JSON can carry.
func TestInvalidUTF8(t *testing.T) {
	r, _ := newRunner(t)
	p := start(t, r, testSpec("p", `printf 'a\377b\303\000c\342\202'; exec sleep 1000`))
	eventually(t, "it has written", func() bool { return output(t, p).Total == 8 })
	if got := output(t, p).Text; got != "a\uFFFDb\uFFFD\x00c" { // the rest of the last character may be on its way
		t.Errorf("output so far is %q", got)
	}
	if page, err := p.ReadLog(0, 100); err != nil || page.Next != 6 || !page.End {
		t.Errorf("page so far: %+v, %v", page, err)
	}
	if err := p.Kill(deadline(t), "x"); err != nil {
		t.Fatal(err)
	}
	o := output(t, p)
	if o.Text != "a\uFFFDb\uFFFD\x00c\uFFFD" {
		t.Errorf("output is %q", o.Text)
	}
	data, err := json.Marshal(o)
	var back process.Output
	if err != nil || json.Unmarshal(data, &back) != nil || back != o {
		t.Errorf("through JSON: %s, %v", data, err)
	}
}
