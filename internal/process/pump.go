package process

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// pump empties the pipe that the command writes into as fast as it is filled, whatever becomes of the bytes, so that the
// command is never held up. Its memory is one buffer.
type pump struct {
	pipe *os.File
	conn syscall.RawConn

	mu      sync.Mutex // held from reading a piece until it is in the log
	buf     []byte
	log     *outputLog
	stopped bool
}

// newPump returns a pump and the descriptor of the pipe's write end, which is the caller's to close.
func newPump(log *outputLog) (*pump, int, error) {
	var ends [2]int
	if err := pipe(&ends); err != nil {
		return nil, -1, fmt.Errorf("make output pipe: %w", err)
	}
	p := &pump{pipe: os.NewFile(uintptr(ends[0]), "output"), buf: make([]byte, 32<<10), log: log}
	conn, err := p.pipe.SyscallConn()
	if err != nil {
		return nil, -1, fmt.Errorf("output pipe: %w", err)
	}
	p.conn = conn
	return p, ends[1], nil
}

// run returns when nobody can write into the pipe any more, or the pump is stopped.
func (p *pump) run() {
	_ = p.conn.Read(func(fd uintptr) bool {
		for {
			n, err := p.take(int(fd), len(p.buf))
			switch {
			case errors.Is(err, unix.EAGAIN):
				return false
			case n == 0:
				return true
			}
		}
	})
}

// take moves at most limit bytes into the log; 0 without an error means that no more will come.
func (p *pump) take(fd, limit int) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if p.stopped {
			return 0, nil
		}
		n, err := unix.Read(fd, p.buf[:min(limit, len(p.buf))])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n <= 0 || err != nil {
			return 0, err
		}
		p.log.append(p.buf[:n])
		return n, nil
	}
}

// catchUp moves into the log what is in the pipe now. It does not wait for the end of the pipe, which somebody who left
// the group may hold open for ever.
func (p *pump) catchUp() {
	_ = p.conn.Control(func(fd uintptr) {
		waiting, err := unix.IoctlGetInt(int(fd), inputQueue)
		for err == nil && waiting > 0 {
			var n int
			n, err = p.take(int(fd), waiting)
			if n == 0 {
				return
			}
			waiting -= n
		}
	})
}

func (p *pump) totals() Totals {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.totals()
}

// stop ends the pumping: the log and its totals are final when it returns, whoever still writes.
func (p *pump) stop() {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	_ = p.pipe.Close()
}
