package gateway

import (
	"context"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/markup"
	"github.com/homing-gateway/homing/internal/session"
	"github.com/homing-gateway/homing/internal/store"
)

// When a preview comes to be seen, and how often it changes by itself.
const (
	textDelay     = time.Second     // an answer that is whole by then needs none
	toolDelay     = 2 * time.Second // so do tools that are done by then
	refreshPace   = 5 * time.Second // the time that is told, while nothing else changes
	refreshShare  = 10              // later at most one change in so much of the time that is told
	previewPause  = 5 * time.Second // after a change that failed
	previewLimit  = 10 * time.Second
	previewGrace  = 2 * time.Second // how long an answer waits for a change that is on its way
	previewPrefix = "…"             // what is sent first: nothing of an answer is in a message that is not on record
)

// preview is what a person can watch of a turn: what the model has written so far, and the tools at work, in one message
// that is changed in place. Its failures change nothing but itself.
type preview struct {
	g       *Gateway
	account *account
	editor  chat.Editor
	to      chat.Address
	turn    machine.Turn
	streams bool
	log     *zap.Logger
	done    <-chan struct{} // closed when the turn is settled
	stop    context.CancelFunc
	wake    chan struct{} // has a token when something changed
	calls   chan struct{} // holds a token while the platform is called

	mu       sync.Mutex
	text     strings.Builder // of the step in hand
	before   string          // of the steps before it
	began    time.Time       // when the first piece came
	progress progress
	still    bool // the answer is being decided on: nothing is changed
	over     bool // it cannot be shown any more
	plain    bool // the platform has refused its markup
	message  string
	shown    string    // the key of what can be seen
	shownAt  time.Time // since when
	last     string    // as it was sent
	pause    time.Time // nothing is tried before
}

// previewTable knows the previews of running turns.
type previewTable struct {
	mu    sync.Mutex
	turns map[id.Turn]*preview
}

func (t *previewTable) of(turn id.Turn) *preview {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.turns[turn]
}

// take tells previews what the journal tells of tool calls. The writer calls it: it does not block.
func (t *previewTable) take(records []machine.Record) {
	for _, r := range records {
		if r.Kind != "action" {
			continue
		}
		if v := t.of(id.Turn(r.Cause)); v != nil {
			v.mu.Lock()
			v.progress.take(r)
			v.mu.Unlock()
			v.nudge()
		}
	}
}

// settled ends the preview of a turn that is over.
func (t *previewTable) settled(turn id.Turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if v, ok := t.turns[turn]; ok {
		v.stop()
		delete(t.turns, turn)
	}
}

// watch begins the preview of a turn, if it has none and is to have one: a person waits for it, in a place whose messages
// can be changed. A turn that nobody asked for may have nothing to say, and what it says is to ring.
func (g *Gateway) watch(e machine.RunStep) {
	p := g.profile(e.Session.Profile)
	to := e.Session.Key.Address()
	a, served := g.lookup(to.Account)
	if !served || e.Session.Kind != session.Chat || e.Turn.Texts == 0 || !p.Streaming && p.ToolProgress == ProgressOff {
		return
	}
	editor, ok := a.adapter.(chat.Editor)
	if !ok {
		return
	}
	ctx, cancel := context.WithCancel(g.work)
	v := &preview{
		g: g, account: a, editor: editor, to: to, turn: e.Turn, streams: p.Streaming, done: ctx.Done(), stop: cancel,
		log:  g.log.With(zap.String("turn", string(e.Turn.ID))),
		wake: make(chan struct{}, 1), calls: make(chan struct{}, 1), progress: progress{mode: p.ToolProgress},
	}
	if kept, ok, err := store.Get[machine.Preview](g.o.Store, machine.Previews, string(e.Turn.ID)); err == nil && ok {
		v.message = kept.MessageID // of an earlier life
	}
	g.previews.mu.Lock()
	defer g.previews.mu.Unlock()
	if g.previews.turns == nil {
		g.previews.turns = map[id.Turn]*preview{}
	}
	if g.previews.turns[e.Turn.ID] != nil || !g.tasks.begin(v.run) {
		cancel()
		return
	}
	g.previews.turns[e.Turn.ID] = v
}

// begin takes note that the model is asked for a step.
func (v *preview) begin() {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if text := v.text.String(); !machine.MaySilence(text) {
		v.before = text
	}
	v.text.Reset()
	v.still, v.plain = false, false
}

// write takes a piece of the model's text. It is called for each, and does next to nothing.
func (v *preview) write(piece string) {
	if v == nil || !v.streams || piece == "" {
		return
	}
	v.mu.Lock()
	if v.began.IsZero() {
		v.began = time.Now()
	}
	v.text.WriteString(piece)
	v.mu.Unlock()
	v.nudge()
}

func (v *preview) nudge() {
	select {
	case v.wake <- struct{}{}:
	default:
	}
}

// rest lets nothing be changed from now on, so that no change comes after the answer. One that is on its way is waited for,
// but not for long: then the answer is not put there.
func (v *preview) rest() {
	if v == nil {
		return
	}
	v.mu.Lock()
	v.still = true
	v.mu.Unlock()
	grace := time.NewTimer(previewGrace)
	defer grace.Stop()
	select {
	case v.calls <- struct{}{}:
		<-v.calls
	case <-grace.C:
		v.g.report(v.g.work, machine.Astray{Turn: v.turn.ID})
	}
}

// resume lets changes be made again, of a turn that goes on.
func (v *preview) resume() {
	if v == nil {
		return
	}
	if _, runs, err := store.Get[machine.Turn](v.g.o.Store, machine.Turns, string(v.turn.ID)); err != nil || !runs {
		return
	}
	v.mu.Lock()
	v.still = false
	v.mu.Unlock()
	v.nudge()
}

// sight is what is to be seen.
type sight struct {
	text, tools string // Markdown
	key         string // differs when more than the time has changed
}

// next is what is to be seen next and when; false: nothing.
func (v *preview) next(now time.Time) (s sight, at time.Time, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.still || v.over {
		return s, at, false
	}
	if s.text = v.text.String(); machine.MaySilence(s.text) {
		s.text = v.before
	}
	if s.text != "" {
		at, ok = v.began.Add(textDelay), true
	}
	worked, works := v.progress.began()
	if works {
		s.tools, s.key = v.progress.text(now)
		if from := worked.Add(toolDelay); !ok || from.Before(at) {
			at = from
		}
		ok = true
	}
	if !ok {
		return s, at, false
	}
	s.key += "\n" + s.text
	if v.message != "" {
		at = now
	}
	if s.key == v.shown {
		if !works {
			return s, at, false
		}
		at = v.shownAt.Add(max(refreshPace, now.Sub(worked)/refreshShare))
	}
	if at.Before(v.pause) {
		at = v.pause
	}
	if soonest := now.Add(v.account.edits.until(v.to.Chat, now)); v.message != "" && at.Before(soonest) {
		at = soonest
	}
	return s, at, true
}

// run shows what is to be seen until the turn is over.
func (v *preview) run() {
	for {
		s, at, ok := v.next(time.Now())
		var timer *time.Timer
		var due <-chan time.Time
		if ok {
			if wait := time.Until(at); wait > 0 {
				timer = time.NewTimer(wait)
				due = timer.C
			} else if v.show(s) {
				continue
			}
		}
		select {
		case <-v.wake:
		case <-due:
		case <-v.done:
		}
		if timer != nil {
			timer.Stop()
		}
		select {
		case <-v.done:
			return
		default:
		}
	}
}

// show makes one step: it sends the message, or changes it. False: not now, or never.
func (v *preview) show(s sight) bool {
	select {
	case <-v.done:
		return false
	case v.calls <- struct{}{}:
	}
	defer func() { <-v.calls }()
	v.mu.Lock()
	still, message, plain, last := v.still, v.message, v.plain, v.last
	v.mu.Unlock()
	if still || v.account.isPaused() {
		return false
	}
	if message == "" {
		return v.send()
	}
	now := time.Now()
	out := sightOf(s, v.account.info)
	out.To, out.Plain = v.to, plain
	if plain {
		out.Text = out.bare
	}
	if out.Text == last { // the text has grown beyond what a message holds
		v.mu.Lock()
		defer v.mu.Unlock()
		v.shown, v.shownAt = s.key, now
		return true
	}
	if v.account.edits.take(v.to.Chat, now, editPace(v.to)) > 0 {
		return true // somebody else was first: next says when
	}
	ctx, cancel := context.WithTimeout(v.g.work, previewLimit)
	defer cancel()
	if err := v.editor.Edit(ctx, message, out.Outbound); err != nil {
		v.failed(chat.AsSendError(err), plain)
		return true
	}
	v.account.succeeded()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shown, v.shownAt, v.last = s.key, now, out.Text
	return true
}

// failed decides how to go on after a change that was not made.
func (v *preview) failed(f *chat.SendError, plain bool) {
	if f.Fault == chat.Unknown { // it may still arrive. Not under the lock: the writer takes it
		v.g.report(v.g.work, machine.Astray{Turn: v.turn.ID})
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.log.Debug("preview not changed", zap.String("fault", string(f.Fault)), zap.Error(f.Err))
	now := time.Now()
	switch f.Fault {
	case chat.RateLimited:
		v.account.edits.hold(v.to.Chat, now, f.RetryAfter)
	case chat.Unreachable, chat.ServerError:
		v.pause = now.Add(previewPause)
	default:
		if f.Class == chat.ClassMarkup && !plain {
			v.plain = true
			return
		}
		v.over = true // deleted, or out of reach: the answer comes by itself
	}
}

// send sends the message, without a sound and without a word of the answer. It is on record before it is sent, and its id
// is before anything is put into it.
func (v *preview) send() bool {
	if _, err := v.g.machine.Submit(v.g.work, machine.Showing{Turn: v.turn.ID, Generation: v.turn.Generation, To: v.to}); err != nil {
		v.end()
		return false
	}
	out := chat.Outbound{To: v.to, Text: previewPrefix, Plain: true, Silent: true, Key: "preview." + string(v.turn.ID)}
	if v.to.Type != chat.Direct {
		out.ReplyTo = v.turn.ReplyTo
	}
	ctx, cancel := context.WithTimeout(v.g.hard, previewLimit) // a stop does not cut it: its id would not be known
	defer cancel()
	receipt, err := v.account.adapter.Send(ctx, out)
	v.g.report(context.WithoutCancel(v.g.work), machine.Shown{Turn: v.turn.ID, MessageID: receipt.MessageID})
	v.mu.Lock()
	defer v.mu.Unlock()
	if err == nil {
		v.account.succeeded()
		v.message = receipt.MessageID
		return true
	}
	f := chat.AsSendError(err)
	v.log.Debug("preview not sent", zap.String("fault", string(f.Fault)), zap.Error(f.Err))
	switch f.Fault {
	case chat.RateLimited:
		v.pause = time.Now().Add(f.RetryAfter)
	case chat.Unreachable, chat.ServerError:
		v.pause = time.Now().Add(previewPause)
	default:
		v.over = true
	}
	return true
}

func (v *preview) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.over = true
}

// drawn is a sight on its way to the platform.
type drawn struct {
	chat.Outbound
	bare string
}

// sightOf renders what is to be seen as one message: the beginning of the text, as the answer will begin, and the tools.
func sightOf(s sight, info chat.Info) drawn {
	var d drawn
	add := func(md string, limit int, mark string) {
		parts := markup.Render(md, info.Dialect, limit, info.Unit)
		if len(parts) == 0 {
			return
		}
		if d.Text != "" {
			d.Text, d.bare = d.Text+"\n\n", d.bare+"\n\n"
		}
		d.Text, d.bare = d.Text+parts[0].Text+mark, d.bare+parts[0].Plain+mark
	}
	limit := info.MaxUnits - markRoom
	if most := 8 * info.MaxUnits; len(s.text) > most { // the rest is beyond one message anyway
		s.text = strings.ToValidUTF8(s.text[:most], "")
	}
	tools := markup.Render(s.tools, info.Dialect, limit/2, info.Unit)
	room := 0
	if len(tools) > 0 {
		room = 2*len([]rune(tools[0].Text)) + 4
	}
	add(s.text, max(limit-room, limit/2), " …")
	add(s.tools, limit/2, "")
	if d.Text == "" {
		d.Text, d.bare = previewPrefix, previewPrefix
	}
	return d
}
