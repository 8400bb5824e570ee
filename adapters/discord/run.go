package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"
	"go.uber.org/zap"

	"github.com/homing-gateway/homing/adapters/attempt"
	"github.com/homing-gateway/homing/internal/chat"
)

const (
	resumeLife  = 10 * time.Minute // for longer no gateway keeps a session whose client is away
	steady      = 10 * time.Second // a connection that held for that long worked
	maxResumes  = 3                // in a row that did not hold
	patientWait = 2 * identifySpacing
	breath      = 50 * time.Millisecond
	maxBlank    = 3 // messages without anything in them, in a row
)

// Run is one session of the gateway: it identifies, or goes on with the session that the last Run left behind, and resumes
// for as long as Discord lets it. It ends when a session is over, so that the core looks for what was missed.
func (a *Adapter) Run(ctx context.Context, _ string, admit chat.Admit, up func()) error {
	l := a.line
	a.line = nil
	if l == nil || time.Since(l.lost) > resumeLife {
		var err error
		if l, err = a.begin(ctx); err != nil {
			return a.ended(ctx, err)
		}
	}
	resumable, err := l.run(ctx, admit, up)
	if resumable {
		a.line = l
	}
	return a.ended(ctx, err)
}

// ended is the error that Run ends with.
func (a *Adapter) ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// begin makes a session that has not identified yet, once Discord and our own count allow it.
func (a *Adapter) begin(ctx context.Context) (*line, error) {
	door, err := a.door(ctx)
	if err != nil {
		fault, _ := runFault(err)
		return nil, fault
	}
	if l := door.Limit; l.Total > 0 && l.Remaining <= reserve {
		return nil, &chat.RunError{
			Cause: chat.CauseIdentify, Remedy: remedyBudget, After: time.Duration(l.ResetAfter) * time.Millisecond,
			Err: fmt.Errorf("%d of %d identifies are left", l.Remaining, l.Total),
		}
	}
	wait := a.budget.wait(time.Now())
	if wait > patientWait {
		return nil, &chat.RunError{
			Cause: chat.CauseIdentify, Remedy: remedyBudget, After: wait, Err: fmt.Errorf("identified %d times within an hour", len(a.budget.log)),
		}
	}
	if !rest(ctx, wait) {
		return nil, ctx.Err()
	}
	return a.newLine(door.URL)
}

// rest waits; false when ctx ended first.
func rest(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// entry is where the gateway is, and how often one may still go in.
type entry struct {
	URL   string `json:"url"`
	Limit struct {
		Total      int   `json:"total"`
		Remaining  int   `json:"remaining"`
		ResetAfter int64 `json:"reset_after"`
	} `json:"session_start_limit"`
}

func (a *Adapter) door(ctx context.Context) (entry, error) {
	ctx, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	var e entry
	body, err := a.client.call(ctx, http.MethodGet, "gateway/bot", "gateway/bot", nil)
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(body, &e); err != nil || e.URL == "" {
		return e, &attempt.Error{Sent: true, Err: errors.New("gateway/bot: an answer without an address")}
	}
	return e, nil
}

// line is one session of the gateway. It outlives its connections, and a Run.
type line struct {
	a       *Adapter
	library *discordgo.Session
	fresh   bool      // it has not identified yet
	lost    time.Time // when it last had a connection
	opening context.Context
	socket  atomic.Pointer[socket]
	gone    chan struct{} // has a token when the library has hung up
	failed  chan error    // has the reason when nothing more is taken

	mu    sync.Mutex // held while an event is taken
	ctx   context.Context
	admit chat.Admit // nil between Runs
	over  bool       // something was not stored: nothing that came later may be
	blank int
	limbo map[string][]json.RawMessage // messages of channels that nobody told us of, until they are looked up
	jobs  sync.WaitGroup
}

func (a *Adapter) newLine(url string) (*line, error) {
	library, err := a.options.session()
	if err != nil {
		return nil, err
	}
	l := &line{
		a: a, library: library, fresh: true, lost: time.Now(), gone: make(chan struct{}, 1), failed: make(chan error, 1),
		limbo: map[string][]json.RawMessage{},
	}
	library.Identify.Compress = false
	library.Identify.Intents = discordgo.IntentsGuilds | discordgo.IntentsGuildMessages | discordgo.IntentsDirectMessages | discordgo.IntentMessageContent
	library.Client = &http.Client{Transport: known(url)}
	library.Dialer = a.options.dialer(func() context.Context { return l.opening }, l.keep)
	library.AddHandler(func(_ *discordgo.Session, e *discordgo.Event) { l.take(e) })
	library.AddHandler(func(*discordgo.Session, *discordgo.Disconnect) {
		select {
		case l.gone <- struct{}{}:
		default:
		}
	})
	return l, nil
}

// known answers the library's question for the gateway's address, which it would ask without a deadline.
type known string

func (k known) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := json.Marshal(map[string]string{"url": string(k)})
	return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Body: io.NopCloser(bytes.NewReader(body)), Request: r}, err
}

// keep holds the connection that is being opened, so that it can be closed under the library, which cannot be told to stop.
func (l *line) keep(s *socket) {
	s.speaks = func() {
		if !l.fresh {
			return
		}
		if err := l.a.budget.spend(time.Now()); err != nil {
			l.a.log.Warn("the count of identifies was not kept", zap.Error(err))
		}
	}
	l.socket.Store(s)
	if l.opening.Err() != nil {
		_ = s.Close()
	}
}

// run goes on with the session until it is over. resumable tells whether it may be gone on with later.
func (l *line) run(ctx context.Context, admit chat.Admit, up func()) (resumable bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	l.serve(ctx, admit)
	defer func() {
		cancel()
		l.mu.Lock() // an event in hand is taken to its end
		l.admit = nil
		l.mu.Unlock()
		l.jobs.Wait()
	}()
	for short := 0; ; {
		began := time.Now()
		switch err := l.open(ctx); {
		case err == nil:
			up()
			err = l.live(ctx, up)
			l.lost = time.Now()
			if !errors.Is(err, errGone) {
				return false, err
			}
		case ctx.Err() != nil:
			return false, ctx.Err()
		case errors.Is(err, errAsked) && !l.fresh:
		default:
			if err := l.failure(); err != nil {
				return false, err
			}
			fault, resumable := runFault(err)
			return resumable && !l.fresh, fault
		}
		if time.Since(began) > steady {
			short = 0
		}
		if short++; short > maxResumes {
			return true, &chat.RunError{Cause: chat.CauseUnreachable, Err: fmt.Errorf("the gateway hung up %d times in a row", short)}
		}
		l.a.log.Debug("connection lost, resuming")
	}
}

// serve lets events be taken, also those that waited for a look at their channel.
func (l *line) serve(ctx context.Context, admit chat.Admit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ctx, l.admit = ctx, admit
	for id := range l.limbo {
		l.jobs.Go(func() { l.lookUp(ctx, id) })
	}
}

// open connects and waits until Discord has told who we are, or what we missed.
func (l *line) open(ctx context.Context) error {
	opening, cancel := context.WithTimeoutCause(ctx, l.a.options.OpenTimeout, errors.New("the gateway does not speak"))
	defer cancel()
	l.opening = opening
	l.socket.Store(nil)
	stop := context.AfterFunc(opening, func() {
		if s := l.socket.Load(); s != nil {
			_ = s.Close()
		}
	})
	select { // of the connection before
	case <-l.gone:
	default:
	}
	err := l.library.Open()
	stop()
	s := l.socket.Load()
	switch {
	case err == nil && s != nil:
		s.opening.Store(false)
		l.fresh = false
		return nil
	case s != nil && s.invalid.Load():
		return errInvalid
	case opening.Err() != nil:
		return context.Cause(opening)
	}
	return l.a.client.Clean(err)
}

// errGone is a connection that was lost and may be resumed.
var errGone = errors.New("the connection is lost")

// live waits until the connection is lost. A heartbeat is answered before the next one is due and within AckTimeout, else
// the connection is dead, however alive it looks; a quiet one is not disturbed.
func (l *line) live(ctx context.Context, up func()) error {
	s := l.socket.Load()
	due := time.NewTimer(time.Hour)
	due.Stop()
	defer due.Stop()
	var beat time.Time
	for {
		select {
		case <-ctx.Done():
			l.hangUp(s, websocket.CloseNormalClosure)
			return ctx.Err()
		case err := <-l.failed:
			l.hangUp(s, websocket.CloseNormalClosure)
			return err
		case <-l.gone:
			return errGone
		case at := <-s.beat:
			patience := l.a.options.AckTimeout
			if !beat.IsZero() {
				patience = min(patience, max(9*at.Sub(beat)/10, 500*time.Millisecond))
			}
			beat = at
			due.Reset(patience - time.Since(at))
		case <-due.C:
			if s.heardSince(beat) {
				up()
				continue
			}
			l.a.log.Info("a heartbeat was not answered: the connection is dead")
			l.hangUp(s, closeResumable)
			return errGone
		}
	}
}

// failure is why nothing more is taken, or nil.
func (l *line) failure() error {
	select {
	case err := <-l.failed:
		return err
	default:
		return nil
	}
}

// hangUp closes the connection and waits until the library has noticed, which takes it a second.
func (l *line) hangUp(s *socket, code int) {
	_ = rest(context.Background(), breath) // a heartbeat that is just going out is not to meet the library's lock
	s.hangUp(code)
	<-l.gone
}
