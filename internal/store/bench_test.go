package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/store"
)

// flushesPerCommit is what a bbolt transaction costs: one flush for the data, one for the meta page.
const flushesPerCommit = 2

// BenchmarkTurn is the whole way of a person's message, journal included: taken, answered, claimed, sent; four requests,
// each waited for. Beside the rate it reports the flushes of the disk for each request, and the rate as a ratio of a bare
// log that makes the same number of records durable with the same number of callers, measured in the same run.
func BenchmarkTurn(b *testing.B) {
	for _, callers := range []int{1, 16, 256} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			bare := bareLog(b, callers, 4*b.N)
			w := newWriter(b)
			b.ResetTimer()
			began := time.Now()
			spread(callers, b.N, func(caller, n int) { w.turn(caller, n) })
			took := time.Since(began)
			b.StopTimer()
			b.ReportMetric(float64(b.N)/took.Seconds(), "turns/s")
			b.ReportMetric(flushesPerCommit*float64(w.commits.Load())/float64(4*b.N), "flushes/request")
			b.ReportMetric(bare.Seconds()/took.Seconds(), "of_bare_log")
		})
	}
}

// spread runs n cycles on so many callers.
func spread(callers, n int, f func(caller, n int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for {
				i := int(next.Add(1))
				if i > n {
					return
				}
				f(c, i)
			}
		})
	}
	wg.Wait()
}

// bareLog is the limit: one writer that appends what has queued and flushes once, callers that wait for their record.
func bareLog(b *testing.B, callers, records int) time.Duration {
	b.Helper()
	f, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	queue := make(chan chan struct{}, 1024)
	record := make([]byte, 512)
	go func() { // ends when the queue is closed
		for first := range queue {
			batch := []chan struct{}{first}
		more:
			for {
				select {
				case next, ok := <-queue:
					if !ok {
						break more
					}
					batch = append(batch, next)
				default:
					break more
				}
			}
			for range batch {
				_, _ = f.Write(record)
			}
			_ = f.Sync()
			for _, c := range batch {
				close(c)
			}
		}
	}()
	began := time.Now()
	spread(callers, records, func(int, int) {
		done := make(chan struct{})
		queue <- done
		<-done
	})
	took := time.Since(began)
	close(queue)
	return took
}

// writer is a machine on a real store, with somebody who claims and sends what it asks for.
type writer struct {
	b       *testing.B
	m       *machine.Machine
	commits atomic.Int64
	mu      sync.Mutex
	waiting map[string]chan machine.Effect // by chat
}

func newWriter(b *testing.B) *writer {
	b.Helper()
	db, err := store.Open(filepath.Join(b.TempDir(), "homing.db"))
	if err != nil {
		b.Fatal(err)
	}
	w := &writer{b: b, waiting: map[string]chan machine.Effect{}}
	policy := machine.Policy{InboxLimit: 100, MaxIterations: 250, Delivery: delivery.Policy{MaxAttempts: 8, MinBackoff: time.Second, MaxBackoff: time.Minute}}
	state := machine.NewState(func(string) machine.Policy { return policy }, id.NewSource(nil))
	w.m = machine.New(state, func(c []machine.Change) error { w.commits.Add(1); return db.Commit(c) }, w.effects, time.Now)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = w.m.Run(ctx) }() // ends with ctx
	b.Cleanup(func() { cancel(); <-ended; _ = db.Close() })
	return w
}

func (w *writer) channel(chat string) chan machine.Effect {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, ok := w.waiting[chat]
	if !ok {
		c = make(chan machine.Effect, 64)
		w.waiting[chat] = c
	}
	return c
}

func (w *writer) effects(effects []machine.Issued, _ []machine.Record) {
	for _, e := range effects {
		switch e := e.Effect.(type) {
		case machine.RunStep:
			w.channel(e.Session.Key.Address().Chat) <- e
		case machine.Prepare:
			w.channel(e.Outgoing.To.Chat) <- e
		}
	}
}

// turn is one message on its whole way; each caller has a chat of its own.
func (w *writer) turn(caller, n int) {
	place := chat.Address{Account: chat.Account{Profile: "default", Platform: "x", ID: "1"}, Type: chat.Direct, Chat: fmt.Sprint(caller), Person: "7"}
	submit := func(r machine.Request) {
		if _, err := w.m.Submit(context.Background(), r); err != nil {
			w.b.Errorf("%T: %v", r, err)
		}
	}
	effects := w.channel(place.Chat)
	submit(machine.Receive{Account: place.Account, Event: fmt.Sprint(n), Message: &chat.Message{Address: place, Text: "a question of some length, as people ask them"}})
	step := (<-effects).(machine.RunStep)
	submit(machine.Answered{Turn: step.Turn.ID, Generation: step.Turn.Generation, Step: step.Turn.Step, Text: "an answer that is a little longer than the question was"})
	out := (<-effects).(machine.Prepare).Outgoing
	submit(machine.Claim{Outgoing: out.ID, Parts: []delivery.Part{{Text: out.Text, Bare: out.Text}}})
	submit(machine.SendDone{Outgoing: out.ID, Try: 1, Outcome: delivery.Outcome{Receipt: chat.Receipt{MessageID: "1"}}})
}
