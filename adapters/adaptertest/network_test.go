package adaptertest_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest"
)

// pair makes a connection and gives both ends.
func pair(t *testing.T, n *adaptertest.Network, l net.Listener) (here, there net.Conn) {
	t.Helper()
	here, err := n.Dial(t.Context(), "tcp", "anywhere:1")
	if err != nil {
		t.Fatal(err)
	}
	if there, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	return here, there
}

// The network has to fail as real ones do, or the suite proves little.
func TestNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := adaptertest.NewNetwork()
		l := n.Listen()
		b := make([]byte, 8)

		here, there := pair(t, n, l)
		_, _ = here.Write([]byte("hello")) // nobody has to read for that
		here.Close()
		if k, err := io.ReadFull(there, b[:5]); k != 5 || err != nil {
			t.Errorf("what was written before the end: %d %v", k, err)
		}
		if _, err := there.Read(b); !errors.Is(err, io.EOF) {
			t.Errorf("after the end: %v", err)
		}
		if _, err := there.Write(b); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("to nobody: %v", err)
		}

		here, there = pair(t, n, l)
		began := time.Now()
		_ = here.SetReadDeadline(began.Add(time.Minute))
		if _, err := here.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Minute {
			t.Errorf("at the deadline: %v after %s", err, time.Since(began))
		}
		_ = here.SetReadDeadline(time.Time{})
		go func() { time.Sleep(time.Second); _ = here.SetDeadline(time.Now()) }() // as a server does to end a read
		if _, err := here.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("at a deadline that came later: %v", err)
		}
		_ = here.SetDeadline(time.Time{})
		go func() { time.Sleep(time.Second); n.Cut() }()
		if _, err := here.Read(b); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("cut: %v", err)
		}
		if _, err := there.Write(b); err == nil {
			t.Error("a cut connection takes bytes")
		}

		here, there = pair(t, n, l)
		n.Stall()
		if k, err := here.Write([]byte("lost")); k != 4 || err != nil {
			t.Errorf("into a dead connection: %d %v", k, err)
		}
		_ = there.SetReadDeadline(time.Now().Add(time.Hour))
		if _, err := there.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("from a dead connection: %v", err)
		}

		n.Behave(adaptertest.Refuses)
		if _, err := n.Dial(t.Context(), "tcp", "x"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("refused: %v", err)
		}
		n.Behave(adaptertest.Ignores)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := n.Dial(ctx, "tcp", "x"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ignored: %v", err)
		}
		n.Close()
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
		if n.Dials() != 5 {
			t.Errorf("%d attempts", n.Dials())
		}
	})
}
