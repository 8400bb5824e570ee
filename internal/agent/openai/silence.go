package openai

import (
	"context"
	"errors"
	"time"
)

var errSilent = errors.New("the server was silent for too long")

// silence ends an attempt whose server sends nothing for longer than limit.
type silence struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	limit  time.Duration
	timer  *time.Timer // nil: no limit
}

// watchSilence starts the watch. The context that it returns ends with it; stop must be called.
func watchSilence(ctx context.Context, limit time.Duration) (context.Context, *silence) {
	ctx, cancel := context.WithCancelCause(ctx)
	s := &silence{ctx: ctx, cancel: cancel, limit: limit}
	if limit > 0 {
		s.timer = time.AfterFunc(limit, func() { cancel(errSilent) })
	}
	return ctx, s
}

// heard is called for whatever the server sends.
func (s *silence) heard() {
	if s.timer != nil {
		s.timer.Reset(s.limit)
	}
}

// shorten lowers the limit from now on.
func (s *silence) shorten(limit time.Duration) {
	switch {
	case s.timer == nil:
		s.limit = limit
		s.timer = time.AfterFunc(limit, func() { s.cancel(errSilent) })
	case limit < s.limit:
		s.limit = limit
		s.timer.Reset(limit)
	}
}

// tooLong tells whether the watch ended the attempt.
func (s *silence) tooLong() bool { return errors.Is(context.Cause(s.ctx), errSilent) }

func (s *silence) stop() {
	if s.timer != nil {
		s.timer.Stop()
	}
	s.cancel(nil)
}
