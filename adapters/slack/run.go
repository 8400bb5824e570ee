package slack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/homing-gateway/homing/internal/chat"
)

const (
	maxCrowdedPause = 2 * time.Minute
	steady          = time.Minute      // a socket that lived so long was not one too many
	ackTimeout      = 10 * time.Second // to write an acknowledgement
	namesTimeout    = 1500 * time.Millisecond
)

// Run receives over Socket Mode until ctx ends or the connection fails. Slack has no cursor: what was not acknowledged comes
// again, for some minutes.
func (a *Adapter) Run(ctx context.Context, _ string, admit chat.Admit, up func()) error {
	defer a.calls.Close() // what was idle may be as dead as the socket
	me, _, err := whoami(ctx, a.api, a.options.CallTimeout)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return runFault(err, botToken)
	case me.Team != a.me.Team:
		return &chat.RunError{Cause: chat.CauseBadCredential, Park: true, Remedy: remedyWorkspace, Err: fmt.Errorf("the bot token belongs to the workspace %s, not %s", me.Team, a.me.Team)}
	}
	l := &loop{a: a, admit: admit, up: up}
	if l.now, err = a.connect(ctx, up); err == nil {
		err = l.serve(ctx)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// loop is one Run: a socket, and for a moment its successor.
type loop struct {
	a     *Adapter
	admit chat.Admit
	up    func()
	now   *socket
	next  chan successor // of a successor that is being opened; nil: none is
	last  *chat.RunError // what Slack said when it asked the socket to go
}

type successor struct {
	socket *socket
	err    error
}

// serve takes frames until the last socket falls.
func (l *loop) serve(ctx context.Context) error {
	opening, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		if l.next != nil {
			if s := <-l.next; s.socket != nil {
				s.socket.close()
			}
		}
		l.now.close()
	}()
	began := time.Now()
	pings := time.NewTicker(l.a.options.Silence / 3)
	defer pings.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-pings.C:
			l.now.ping()
			if time.Since(began) > steady {
				l.a.crowded.Store(0)
			}
		case s := <-l.next:
			l.next = nil
			if s.err != nil { // the old one may live on for a while
				l.a.log.Warn("no other socket in place of this one", zap.Error(s.err))
				continue
			}
			l.now.close() // what it had not brought yet comes again on the new one
			l.now, l.last, began = s.socket, nil, time.Now()
		case raw, ok := <-l.now.frames:
			if !ok {
				if l.next == nil {
					return l.fell()
				}
				select { // the successor decides
				case s := <-l.next:
					if l.next = nil; s.err != nil {
						return s.err
					}
					l.now.close()
					l.now, l.last, began = s.socket, nil, time.Now()
				case <-ctx.Done():
					return ctx.Err()
				}
				continue
			}
			if err := l.take(ctx, opening, raw); err != nil {
				return err
			}
		}
	}
}

// fell is the error of a socket that has fallen.
func (l *loop) fell() error {
	if l.last != nil {
		return l.last
	}
	return &chat.RunError{Cause: chat.CauseUnreachable, Err: fmt.Errorf("the socket fell: %w", l.a.calls.Clean(l.now.err))}
}

// take handles one frame. opening is how long a successor may be opened.
func (l *loop) take(ctx, opening context.Context, raw []byte) error {
	var e envelope
	if err := json.Unmarshal(raw, &e); err != nil {
		text, _ := json.Marshal(string(raw))
		return l.store(ctx, chat.Event{ID: digest(raw), Aside: &chat.Aside{Raw: text, Reason: "a frame that is no JSON object: " + l.a.calls.Words(err.Error())}}, "")
	}
	switch {
	case e.Type == "disconnect":
		return l.dismiss(opening, e.Reason)
	case e.ID == "": // hello, or a word between Slack and us that is new
		l.a.log.Debug("frame without an envelope", zap.String("type", e.Type))
		return nil
	}
	event, err := l.a.event(ctx, e)
	if err != nil {
		reason := l.a.calls.Words(err.Error())
		event = chat.Event{ID: eventID(e), Aside: &chat.Aside{Raw: append(json.RawMessage(nil), raw...), Reason: reason}}
		l.a.log.Warn("envelope set aside", zap.String("type", e.Type), zap.String("reason", reason))
	}
	return l.store(ctx, event, e.ID)
}

// store has an event admitted and acknowledges its envelope. What is of no interest is acknowledged only.
func (l *loop) store(ctx context.Context, e chat.Event, envelope string) error {
	if e.Message != nil || e.Aside != nil {
		if err := l.admit(ctx, e); err != nil {
			return fmt.Errorf("admit %s: %w", e.ID, err)
		}
	}
	if envelope == "" {
		return nil
	}
	if err := l.now.acknowledge(envelope, ackTimeout); err != nil { // it comes again, under the id that is stored
		l.a.log.Debug("not acknowledged", zap.String("event", e.ID), zap.Error(l.a.calls.Clean(err)))
	}
	return nil
}

// dismiss handles Slack's wish that the socket go. In good time another one is opened before the old one is let go, so that
// nothing has to come again.
func (l *loop) dismiss(opening context.Context, reason string) error {
	l.a.log.Debug("Slack asks the socket to go", zap.String("reason", reason))
	if reason != reasonWarning && reason != reasonRefresh {
		return l.a.dismissed(reason)
	}
	if l.last = l.a.dismissed(reason); l.next == nil {
		next := make(chan successor, 1)
		l.next = next
		go func() {
			k, err := l.a.connect(opening, l.up)
			next <- successor{k, err}
		}()
	}
	return nil
}

// eventID is the id of an envelope that could not be read: it is the same whenever its content comes again.
func eventID(e envelope) string {
	var p struct {
		ID string `json:"event_id"`
	}
	if json.Unmarshal(e.Payload, &p) == nil && p.ID != "" {
		return p.ID
	}
	return digest(e.Payload)
}

func digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:12])
}

var errNoEvent = errors.New("an event without a type, a channel or a time")
