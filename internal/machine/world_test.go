package machine_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
)

// world is a daemon without a disk, a platform, a model and a shell. It commits what the machine decides, keeps what was
// asked for until a command carries it out, and can crash between any two steps. The clock is the test's.
type world struct {
	now     time.Time
	policy  machine.Policy
	keying  chat.Keying
	state   *machine.State
	disk    disk
	names   *names
	lives   byte
	todo    []machine.Effect // asked for, not carried out
	timers  []timer
	elapsed time.Duration    // since the beginning, whatever the clock says
	last    *machine.Overlay // was decided, and is not folded yet: the next one is decided upon it
	full    int              // so many commits will find the disk full
	// unreadable are sessions whose records on the disk are damaged.
	unreadable []id.Session
	events     int
	calls      int
	reports    []machine.Request // that were accepted, to be repeated
	check      func(step) error  // the rules, after every step; nil: none
	broken     error             // the first rule that did not hold
	quiet      bool              // nobody reads what is told
	told       strings.Builder
}

// timer is a Wake on its way. Timers run by the time that passes: a clock that is put back does not delay them.
type timer struct {
	after time.Duration
	id    string
}

// step is one batch as it went: for the rules.
type step struct {
	request       machine.Request
	answer        machine.Answer
	err           error
	before, after disk
	changes       []machine.Change
	effects       []machine.Issued
	lost          bool // the commit failed
}

var errBroken = errors.New("a rule is broken")

func newWorld() *world {
	w := &world{
		now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), disk: disk{}, names: newNames(),
		policy: machine.Policy{
			Delivery:    delivery.Policy{MaxAttempts: 5, MinBackoff: time.Second, MaxBackoff: time.Minute, ToParent: true},
			ExpireAfter: 24 * time.Hour, InboxLimit: 100, MaxChildren: 3, MaxSpawnDepth: 2, MaxIterations: 90, ChildIterations: 90,
			MaxSummaryChars: 4000, MaxProcesses: 64, Receipts: machine.ReceiptConcise,
		},
	}
	w.start()
	return w
}

// start begins a life on what the disk holds.
func (w *world) start() {
	w.lives++
	w.state = machine.NewState(func(string) machine.Policy { return w.policy }, id.NewSource(rand.NewChaCha8([32]byte{w.lives})))
	w.last = nil
	readable := w.disk.clone()
	for _, s := range w.unreadable {
		delete(readable[machine.Sessions], string(s))
		w.state.Load(machine.Change{Table: machine.Sessions, Key: string(s)})
	}
	readable.load(w.state)
	w.todo, w.timers = nil, nil
	_, _ = w.apply(machine.Recover{})
}

// apply takes one request through the machine as a batch of its own, again as long as the disk is full.
func (w *world) apply(r machine.Request) (machine.Answer, error) {
	o := w.state.Overlay()
	s := step{request: r}
	if w.last != nil { // as if it were on its way to the disk
		o = w.last.Next()
	}
	s.answer, s.err = o.Apply(w.now, r)
	if w.last != nil {
		w.last.Fold()
		w.last = nil
	}
	s.changes = plain(o.Changes())
	s.effects = o.Effects()
	if w.check != nil {
		s.before = w.disk.clone()
	}
	switch {
	case s.changes == nil:
	case w.full > 0:
		w.full--
		s.lost, s.err, s.answer = true, machine.ErrNoSpace, machine.Answer{}
	default:
		w.disk.write(s.changes)
	}
	if !s.lost {
		w.last = o
	} else {
		s.effects = nil
	}
	for _, e := range s.effects {
		if wake, ok := e.Effect.(machine.Wake); ok {
			w.timers = append(w.timers, timer{w.elapsed + max(wake.At.Sub(w.now), 0), wake.ID})
		} else {
			w.todo = append(w.todo, e.Effect)
		}
	}
	if w.check != nil && w.broken == nil {
		s.after = w.disk
		w.broken = w.check(s)
	}
	if !w.quiet {
		w.tell(s, o.Journal())
	}
	if s.lost { // whoever asked waits and asks again: a report is the only witness of what happened
		return w.apply(r)
	}
	return s.answer, s.err
}

// report takes what came of an effect through the machine, and remembers it as one that may come again.
func (w *world) report(r machine.Request) {
	if _, err := w.apply(r); err == nil {
		w.reports = append(w.reports, r)
	}
}

// carried takes effects off the list of what is to be done.
func (w *world) carried(is func(machine.Effect) bool) {
	if i := slices.IndexFunc(w.todo, is); i >= 0 {
		w.todo = slices.Delete(w.todo, i, i+1)
	}
}

// crash drops everything but the disk.
func (w *world) crash() { w.start() }

// restore starts a daemon on a copy of the disk: what went on since is not known.
func (w *world) restore() {
	meta, _ := get[machine.Meta](w.disk, machine.Metas, "meta")
	meta.Restored = true
	w.disk.write([]machine.Change{{Table: machine.Metas, Key: "meta", Value: meta}})
	w.start()
}

// reopen ends the daemon in order and starts it again.
func (w *world) reopen() {
	_, _ = w.apply(machine.Shutdown{})
	w.start()
}

// tick lets time pass; what was to be awaited comes at its time.
func (w *world) tick(d time.Duration) {
	until := w.elapsed + d
	for {
		i := -1
		for j, x := range w.timers {
			if x.after <= until && (i < 0 || x.after < w.timers[i].after) {
				i = j
			}
		}
		if i < 0 {
			break
		}
		due := w.timers[i]
		w.timers = slices.Delete(w.timers, i, i+1)
		w.pass(due.after - w.elapsed)
		_, _ = w.apply(machine.Due{ID: due.id})
	}
	w.pass(until - w.elapsed)
}

func (w *world) pass(d time.Duration) {
	w.elapsed += d
	w.now = w.now.Add(d)
}

func (w *world) printf(format string, a ...any) {
	if !w.quiet {
		fmt.Fprintf(&w.told, format+"\n", a...)
	}
}

// takeTold returns what was told since the last call, with short names.
func (w *world) takeTold() string {
	out := w.told.String()
	w.told.Reset()
	return out
}

// plain gives changes that hold records, not pointers to them.
func plain(changes []machine.Change) []machine.Change {
	for i, c := range changes {
		if v := reflect.ValueOf(c.Value); v.Kind() == reflect.Pointer {
			changes[i].Value = v.Elem().Interface()
		}
	}
	return changes
}
