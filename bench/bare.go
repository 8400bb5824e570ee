package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// bareLog is the limit: a file that does nothing but make records durable. One writer appends what has queued to blocks
// that were written before, flushes once, and wakes all who waited; there is no timer. Its cycle is two records of 512
// bytes, each waited for: one says that something is owed, the other that it is done.
type bareLog struct {
	f     *os.File
	queue chan chan error
	ended chan struct{}
}

// logSize is how much of the file is written before, and used round and round.
const logSize = 256 << 20

func openBareLog(dir string) (*bareLog, error) {
	f, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	zeros := make([]byte, 1<<20)
	for range logSize / len(zeros) {
		if _, err := f.Write(zeros); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	if err := f.Sync(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	l := &bareLog{f: f, queue: make(chan chan error, 1024), ended: make(chan struct{})}
	go l.run() // ends with close
	return l, nil
}

func (l *bareLog) run() {
	defer close(l.ended)
	block := make([]byte, cap(l.queue)*payload)
	var at int64
	batch := make([]chan error, 0, cap(l.queue))
	for first := range l.queue {
		batch = append(batch[:0], first)
	more:
		for len(batch) < cap(l.queue) {
			select {
			case next, ok := <-l.queue:
				if !ok {
					break more
				}
				batch = append(batch, next)
			default:
				break more
			}
		}
		n := len(batch) * payload
		if at+int64(n) > logSize {
			at = 0
		}
		_, err := l.f.WriteAt(block[:n], at)
		at += int64(n)
		if err == nil {
			err = unix.Fdatasync(int(l.f.Fd()))
		}
		for _, c := range batch {
			c <- err
		}
	}
}

func (l *bareLog) cycle(context.Context, int) (bool, error) {
	done := make(chan error, 1)
	for range 2 {
		l.queue <- done
		if err := <-done; err != nil {
			return false, fmt.Errorf("bare log: %w", err)
		}
	}
	return true, nil
}

func (l *bareLog) close() error {
	close(l.queue)
	<-l.ended
	return l.f.Close()
}
