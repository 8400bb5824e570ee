package adaptertest

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// Foreign is a bot on a client library that shares no line with ours: a fake platform that suits it is not only what we
// believe of the platform.
type Foreign struct {
	t     *testing.T
	node  *exec.Cmd
	lines chan string
}

// StartForeign runs a script with node, where make fakes-check has installed the libraries, and else skips the test. The
// script prints a line for each thing that it sees.
func StartForeign(t *testing.T, script string, args ...string) *Foreign {
	t.Helper()
	if os.Getenv("NODE_MODULES") == "" {
		t.Skip("make fakes-check runs this with the client libraries installed")
	}
	ctx, cancel := context.WithCancel(context.Background())
	f := &Foreign{t: t, node: exec.CommandContext(ctx, "node", append([]string{script}, args...)...), lines: make(chan string, 1<<10)}
	f.node.Stderr = os.Stderr
	out, err := f.node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.node.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(f.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			f.lines <- s.Text()
		}
		_, _ = io.Copy(io.Discard, out)
	}()
	t.Cleanup(func() {
		cancel()
		<-read
		_ = f.node.Wait()
	})
	return f
}

// Sees waits for the next line of the script, which has to be want.
func (f *Foreign) Sees(want string) {
	f.t.Helper()
	select {
	case got, more := <-f.lines:
		if got != want {
			f.t.Fatalf("the client says %q (and goes on: %t), want %q", got, more, want)
		}
	case <-time.After(20 * time.Second):
		f.t.Fatalf("the client says nothing, want %q", want)
	}
}

// Ends waits until the script has ended, which has to be without an error and another word.
func (f *Foreign) Ends() {
	f.t.Helper()
	select {
	case got, more := <-f.lines:
		if more {
			f.t.Fatalf("the client says %q, want its end", got)
		}
	case <-time.After(20 * time.Second):
		f.t.Fatal("the client goes on")
	}
	if err := f.node.Wait(); err != nil {
		f.t.Error(err)
	}
}
