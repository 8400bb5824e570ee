package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/go-telegram/bot/models"
	"go.uber.org/zap"

	"github.com/homing-gateway/homing/adapters/attempt"
	"github.com/homing-gateway/homing/internal/chat"
)

const (
	maxConflicts  = 5 // refusals in a row that count as the hand-over of another instance
	conflictPause = 250 * time.Millisecond
)

// Run polls until ctx ends or the connection fails. Every Run has fresh connections. Cursor is the offset that Telegram is
// asked to go on from.
func (a *Adapter) Run(ctx context.Context, cursor string, admit chat.Admit, up func()) error {
	offset, err := parseCursor(cursor)
	if err != nil {
		return err
	}
	c := newClient(a.options)
	defer c.Close()
	me, err := a.getMe(ctx, c)
	if err != nil {
		return a.ended(ctx, err)
	}
	a.log.Debug("connected", zap.String("username", me.Username), zap.Bool("private_topics", me.HasTopicsEnabled))
	l := &loop{a: a, client: c, offset: offset, tr: translator{account: a.account, me: *me, moved: map[string]bool{}}, admit: admit}
	defer l.presses.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l.answer = func(press string) { l.presses.Go(func() { a.answerPress(ctx, c, press) }) }
	l.quick = !a.contested.Load() // the first answer comes at once and tells that we are up
	for {
		updates, err := l.poll(ctx)
		if err != nil {
			if err = l.conflict(ctx, err); err != nil {
				return a.ended(ctx, err)
			}
			continue
		}
		a.contested.Store(false)
		up()
		for _, raw := range updates {
			if err := l.take(ctx, raw); err != nil {
				return err
			}
		}
	}
}

// ended is the error that Run ends with.
func (a *Adapter) ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return runFault(err)
}

func (a *Adapter) getMe(ctx context.Context, c *client) (*models.User, error) {
	ctx, cancel := context.WithTimeout(ctx, a.options.CallTimeout)
	defer cancel()
	b, err := a.library(c)
	if err != nil {
		return nil, err
	}
	return b.GetMe(ctx)
}

// loop is one Run.
type loop struct {
	a         *Adapter
	client    *client
	tr        translator
	admit     chat.Admit
	offset    int64 // the next update; everything below is stored
	quick     bool  // the next poll does not wait
	conflicts int
	last      time.Time // of the last conflict
	answer    func(press string)
	presses   sync.WaitGroup // that are being answered
}

// answerPress ends the waiting that a person sees on a button. The press itself is stored by then; that this call fails,
// as it does for one that is old, changes nothing.
func (a *Adapter) answerPress(ctx context.Context, c *client, press string) {
	ctx, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	_, err := c.call(ctx, a.options.APIURL, "answerCallbackQuery", struct {
		ID string `json:"callback_query_id"`
	}{press})
	if err != nil {
		a.log.Debug("press not answered", zap.Error(err))
	}
}

// poll asks for updates once. An answer that is overdue ends it: the connection is dead, however alive it looks.
func (l *loop) poll(ctx context.Context) ([]json.RawMessage, error) {
	wait := l.a.options.PollTime
	if l.quick {
		wait = 0
	}
	ctx, cancel := context.WithTimeoutCause(ctx, wait+l.a.options.PollMargin,
		fmt.Errorf("no answer to a poll of %s within %s", wait, wait+l.a.options.PollMargin))
	defer cancel()
	result, err := l.client.call(ctx, l.a.options.APIURL, "getUpdates", struct {
		Offset  int64    `json:"offset"`
		Limit   int      `json:"limit"`
		Timeout int      `json:"timeout"`
		Allowed []string `json:"allowed_updates"`
	}{l.offset, 100, int(wait / time.Second), []string{
		models.AllowedUpdateMessage, models.AllowedUpdateEditedMessage, models.AllowedUpdateCallbackQuery,
	}})
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	var updates []json.RawMessage
	if err := json.Unmarshal(result, &updates); err != nil {
		return nil, fmt.Errorf("getUpdates: %w", err)
	}
	l.quick = false
	return updates, nil
}

// conflict waits out a short conflict, such as while another instance shuts down. It returns the error that ends the
// Run: err itself, if it is none of that kind or the conflict lasts.
func (l *loop) conflict(ctx context.Context, err error) error {
	if fault := runFault(err); fault.Cause != chat.CauseConflict {
		return err
	}
	if time.Since(l.last) > 2*l.a.options.PollTime {
		l.conflicts = 0
	}
	l.conflicts++
	l.last, l.quick = time.Now(), false
	if l.conflicts >= maxConflicts || l.a.contested.Load() {
		l.a.contested.Store(true)
		return err
	}
	if l.conflicts == 1 {
		l.a.log.Info("another program polls with this token, trying again")
	}
	pause := conflictPause << (l.conflicts - 1)
	t := time.NewTimer(pause + rand.N(pause))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// take hands one update to the core. The offset moves only once it is admitted.
func (l *loop) take(ctx context.Context, raw json.RawMessage) error {
	var head struct {
		ID *int64 `json:"update_id"`
	}
	if err := json.Unmarshal(raw, &head); err != nil || head.ID == nil {
		return &chat.RunError{Cause: chat.CauseUnreachable, Err: errors.New("getUpdates: an update without an id")}
	}
	e := chat.Event{ID: formatID(*head.ID), Cursor: formatID(*head.ID + 1)}
	var update models.Update
	if err := json.Unmarshal(raw, &update); err != nil {
		reason := l.client.Words(err.Error())
		e.Aside = &chat.Aside{Raw: bytes.Clone(raw), Reason: reason}
		l.a.log.Warn("update set aside", zap.String("update", e.ID), zap.String("reason", reason))
	} else {
		l.tr.event(&update, &e)
	}
	if err := l.admit(ctx, e); err != nil {
		return fmt.Errorf("admit update %s: %w", e.ID, err)
	}
	if q := update.CallbackQuery; q != nil && e.Aside == nil {
		l.answer(q.ID)
	}
	// Also when that goes back: Telegram counts from a new number after a quiet week, and on another server.
	l.offset = *head.ID + 1
	return nil
}

func parseCursor(cursor string) (int64, error) {
	if cursor == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(cursor, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("telegram: %q is no cursor", cursor)
	}
	return n, nil
}

func formatID(n int64) string { return strconv.FormatInt(n, 10) }
