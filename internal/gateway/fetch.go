package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/media"
)

// The limits of what is fetched.
const (
	maxInbound    = 100 << 20 // bytes of a file, also where the platform hands over more
	maxFetches    = 4         // at once
	fetchTimeout  = 2 * time.Minute
	fetchPatience = 5 * time.Minute // after which a file that cannot be had is given up, so that its text is answered
)

// fetchTable knows which files this life of the daemon is fetching, by their paths.
type fetchTable struct {
	mu   sync.Mutex
	live map[string]*fetching
	room chan struct{} // has a token for each fetch under way
}

type fetching struct {
	session id.Session // that waits for it
	cancel  context.CancelFunc
	done    chan struct{} // closed when it is over
}

// begin registers a fetch. One that is under way is told whom it is for now.
func (t *fetchTable) begin(e machine.Fetch, cancel context.CancelFunc) (*fetching, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f, ok := t.live[e.File.Path]; ok {
		f.session = e.Session
		return f, false
	}
	if t.live == nil {
		t.live, t.room = map[string]*fetching{}, make(chan struct{}, maxFetches)
	}
	f := &fetching{session: e.Session, cancel: cancel, done: make(chan struct{})}
	t.live[e.File.Path] = f
	return f, true
}

// waits is the session that a fetch is for.
func (t *fetchTable) waits(f *fetching) id.Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	return f.session
}

// end forgets a fetch that was reported to a session; false when another session waits for it since.
func (t *fetchTable) end(path string, f *fetching, told id.Session) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f.session != told {
		return false
	}
	delete(t.live, path)
	close(f.done)
	return true
}

// stop ends a fetch and waits until nothing is written any more.
func (t *fetchTable) stop(path string) {
	t.mu.Lock()
	f, ok := t.live[path]
	t.mu.Unlock()
	if ok {
		f.cancel()
		<-f.done
	}
}

// fetch brings a file to its place and reports. A drain does not wait for it: it is asked for again at the next start.
func (g *Gateway) fetch(e machine.Fetch) {
	if g.Serves(e.Account) { // else obtain says that it can't be had
		if a, ok := g.taker(e.Account, e); !ok || !a.takes(e) {
			return // it is asked for again once the account is there
		}
	}
	ctx, cancel := context.WithCancel(g.work)
	f, fresh := g.fetches.begin(e, cancel)
	if !fresh {
		cancel()
		return
	}
	run := func() {
		defer cancel()
		for {
			session := g.fetches.waits(f)
			size, problem := g.obtain(ctx, e)
			if ctx.Err() == nil {
				g.report(ctx, machine.Fetched{Session: session, Path: e.File.Path, Size: size, Problem: problem})
			} else {
				session = g.fetches.waits(f)
			}
			if g.fetches.end(e.File.Path, f, session) {
				return
			}
		}
	}
	if !g.tasks.begin(run) {
		cancel()
		g.fetches.end(e.File.Path, f, e.Session)
	}
}

// obtain fetches a file until it is there, or it is certain enough that it cannot be had: then it says why, for people.
func (g *Gateway) obtain(ctx context.Context, e machine.Fetch) (size int64, problem string) {
	if size, ok := g.o.Media.Size(e.File.Path); ok {
		return size, ""
	}
	a, ok := g.lookup(e.Account)
	if !ok {
		return 0, "its account is not served any more"
	}
	fetcher, ok := a.adapter.(chat.Fetcher)
	if !ok {
		return 0, noFiles(a.info.Account.Platform)
	}
	select {
	case g.fetches.room <- struct{}{}:
		defer func() { <-g.fetches.room }()
	case <-ctx.Done():
		return 0, ""
	}
	limit := min(fetcher.MaxFetch(), maxInbound)
	began := time.Now()
	for pause := time.Second; ; pause = min(2*pause, 30*time.Second) {
		size, err := g.o.Media.Keep(e.File.Path, limit, func(w io.Writer) error {
			ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
			defer cancel()
			return fetcher.Fetch(ctx, e.File.File, w)
		})
		if err == nil {
			a.succeeded()
			return size, ""
		}
		if ctx.Err() != nil {
			return 0, ""
		}
		problem, wait := fetchFailed(err, a.info.Account.Platform, limit)
		a.log.Warn("file not fetched", zap.String("session", string(e.Session)), zap.String("problem", problem), zap.Error(err))
		if problem != "" {
			return 0, problem
		}
		if wait = max(wait, pause); time.Since(began)+wait > fetchPatience {
			return 0, fmt.Sprintf("%s did not hand it over within %s", a.info.Account.Platform, fetchPatience)
		}
		if !rest(ctx, wait) {
			return 0, ""
		}
	}
}

// fetchFailed says what a failed attempt means: for good, with the reason for people, or that it may be tried again after a
// wait.
func fetchFailed(err error, platform chat.Platform, limit int64) (problem string, wait time.Duration) {
	if errors.Is(err, media.ErrTooLarge) {
		return tooLarge(platform, limit), 0
	}
	f, ok := errors.AsType[*chat.SendError](err)
	switch {
	case !ok:
		return "it could not be stored here", 0
	case f.Fault != chat.Refused || f.Class == chat.ClassCredential:
		return "", f.RetryAfter
	case f.Class == chat.ClassTooLong:
		return tooLarge(platform, limit), 0
	case f.Err != nil:
		return fmt.Sprintf("%s does not hand it over: %v", platform, f.Err), 0
	}
	return fmt.Sprintf("%s does not hand it over", platform), 0
}

func noFiles(p chat.Platform) string {
	return fmt.Sprintf("files from %s cannot be taken along yet", p)
}

func tooLarge(p chat.Platform, limit int64) string {
	return fmt.Sprintf("it is larger than %s, the most that can be taken along from %s", machine.Bytes(limit), p)
}

// files are the files of a message as the machine gets them. What cannot be had is known here already.
func (a *account) files(m chat.Message) []machine.File {
	fetcher, ok := a.adapter.(chat.Fetcher)
	var out []machine.File
	for _, f := range m.Files {
		x := machine.File{File: f}
		if !ok {
			x.Problem = noFiles(a.info.Account.Platform)
		} else if limit := min(fetcher.MaxFetch(), maxInbound); f.Size > limit {
			x.Problem = tooLarge(a.info.Account.Platform, limit)
		}
		out = append(out, x)
	}
	return out
}

// discard removes files that nothing refers to any more.
func (g *Gateway) discard(e machine.Discard) {
	g.tasks.begin(func() {
		for _, path := range e.Paths {
			g.fetches.stop(path)
			if err := g.o.Media.Remove(path); err != nil {
				g.log.Error("file not removed", zap.String("file", path), zap.Error(err))
				return // asked for again at the next start
			}
		}
		if e.Session != "" {
			g.report(g.work, machine.Discarded(e))
		}
	})
}

// sweep removes copies of files that nobody sends any more. It is over before anything else begins.
func (g *Gateway) sweep(e machine.Sweep) {
	if err := g.o.Media.Sweep(e.Keep); err != nil {
		g.log.Error("old files not removed", zap.Error(err))
	}
}
