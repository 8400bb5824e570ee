package gateway

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/markup"
	"github.com/homing-gateway/homing/internal/store"
)

// markRoom is left free in every part for what may have to stand before it: the recovery mark, or a note about a topic.
const markRoom = 160

// prepare renders a message that is first in its chat and claims it: after the claim a crash leaves its outcome open. A
// message for an account that is not there waits for it, for free.
func (g *Gateway) prepare(e machine.Prepare) {
	m := e.Outgoing
	a, ok := g.taker(m.To.Account, e)
	if !ok || !a.takes(e) {
		return
	}
	_, observable := a.adapter.(chat.Observer)
	claim := machine.Claim{Outgoing: m.ID, Idempotent: a.info.Idempotent, Observable: observable, Anew: !g.mayEdit(a, m)}
	if len(m.Parts) == 0 {
		claim.Parts = a.parts(m)
	}
	g.report(g.work, claim)
}

// mayEdit tells whether a message may be put into the preview of its turn now, after waiting for the pace of such changes.
// A longer wait that the platform asked for is not waited for.
func (g *Gateway) mayEdit(a *account, m delivery.Outgoing) bool {
	if _, ok := a.adapter.(chat.Editor); !ok || m.Turn == "" || m.Tries > 0 && len(m.Parts) > 0 && m.Parts[0].Edits == "" {
		return false
	}
	if p, standing, err := store.Get[machine.Preview](g.o.Store, machine.Previews, string(m.Turn)); err != nil || !standing || p.Answer != m.ID || !p.Holds(time.Now()) {
		return false
	}
	for !a.edits.isHeld(m.To.Chat, time.Now()) {
		wait := a.edits.take(m.To.Chat, time.Now(), editPace(m.To))
		if wait == 0 {
			return true
		}
		if !rest(g.work, wait) {
			return false
		}
	}
	return false
}

// render makes the parts of a text for a platform.
func render(text string, info chat.Info) []delivery.Part {
	limit := info.MaxUnits - markRoom
	var parts []delivery.Part
	for _, p := range markup.Render(text, info.Dialect, limit, info.Unit) {
		parts = append(parts, delivery.Part{Text: p.Text, Bare: p.Plain})
	}
	if len(parts) == 0 { // nothing of the text is visible; the person is told rather than left alone
		parts = []delivery.Part{{Text: "(empty message)", Bare: "(empty message)", Plain: true}}
	}
	return parts
}

// transmit makes one attempt at one part. A send that has begun is not cut by a stop, only by its own deadline or by the
// end of the grace; then its outcome is open, and the next start treats it so.
func (g *Gateway) transmit(e machine.Transmit) {
	m := e.Outgoing
	a, ok := g.taker(m.To.Account, e)
	if !ok {
		return
	}
	if a.isPaused() { // while the part before it was on its way: this one waits with the rest
		paused := delivery.Outcome{Failure: &chat.SendError{Fault: chat.Unreachable, Err: errors.New("the account is paused")}}
		g.report(context.WithoutCancel(g.work), machine.SendDone{Outgoing: m.ID, Part: e.Part, Try: m.Tries, Outcome: paused})
		return
	}
	ctx, cancel := g.attempt(m, e.Part)
	defer cancel()
	var receipt chat.Receipt
	var err error
	if out := outbound(m, e.Part); m.Parts[e.Part].File {
		receipt, err = g.sendFile(ctx, a, m.File, out)
	} else {
		receipt, err = a.transmit(ctx, m.Parts[e.Part].Edits, out)
	}
	if err != nil && g.hard.Err() != nil {
		return
	}
	outcome := delivery.Outcome{Receipt: receipt}
	if err == nil {
		a.succeeded()
	} else {
		outcome.Failure, outcome.Healthy = chat.AsSendError(err), a.healthy()
		g.log.Warn("send failed", zap.String("platform", string(m.To.Platform)), zap.String("outgoing", string(m.ID)),
			zap.String("fault", string(outcome.Failure.Fault)), zap.Error(outcome.Failure.Err))
		a.sendFailed(outcome.Failure)
	}
	g.report(context.WithoutCancel(g.work), machine.SendDone{Outgoing: m.ID, Part: e.Part, Try: m.Tries, Outcome: outcome})
}

// transmit sends a part, or puts it into the preview of its turn.
func (a *account) transmit(ctx context.Context, edits string, out chat.Outbound) (chat.Receipt, error) {
	if edits == "" {
		return a.adapter.Send(ctx, out)
	}
	editor, ok := a.adapter.(chat.Editor)
	if !ok {
		return chat.Receipt{}, &chat.SendError{Fault: chat.Refused, Class: chat.ClassOther, Err: errors.New("messages cannot be changed here")}
	}
	if err := editor.Edit(ctx, edits, out); err != nil {
		if f := chat.AsSendError(err); f.Fault == chat.RateLimited {
			a.edits.hold(out.To.Chat, time.Now(), f.RetryAfter)
		}
		return chat.Receipt{}, err
	}
	return chat.Receipt{MessageID: edits}, nil
}

// attempt bounds one call for a message.
func (g *Gateway) attempt(m delivery.Outgoing, part int) (context.Context, context.CancelFunc) {
	if limit := patience(g.profile(m.Profile).SendTimeout, m, part); limit > 0 {
		return context.WithTimeout(g.hard, limit)
	}
	return context.WithCancel(g.hard)
}

// outbound is a part as the adapter sends it, or looks for it.
func outbound(m delivery.Outgoing, part int) chat.Outbound {
	text, plain := m.Body(part)
	out := chat.Outbound{To: m.To, Text: text, Plain: plain, ReplyTo: m.ReplyTo, Key: m.Key(part)}
	if part == len(m.Parts)-1 {
		out.Buttons = m.Buttons
	}
	return out
}

// observe asks the platform whether a part arrived whose outcome is not known. For an account that is not there it waits.
func (g *Gateway) observe(e machine.Observe) {
	m := e.Outgoing
	a, ok := g.taker(m.To.Account, e)
	if !ok || !a.takes(e) {
		return
	}
	ctx, cancel := g.attempt(m, e.Part)
	defer cancel()
	var s delivery.Sighting
	if o, asks := a.adapter.(chat.Observer); !asks {
		s.Failure = &chat.SendError{Fault: chat.Refused, Err: errors.New("the platform cannot be asked for it")}
	} else if r, found, err := o.Observe(ctx, outbound(m, e.Part), m.BegunAt); err != nil {
		s.Failure = chat.AsSendError(err)
	} else {
		s.Found, s.Receipt = found, r
	}
	if s.Failure != nil && g.hard.Err() != nil {
		return
	}
	if s.Failure == nil {
		a.succeeded()
	}
	g.log.Info("the platform was asked for a message", zap.String("platform", string(m.To.Platform)), zap.String("outgoing", string(m.ID)),
		zap.Bool("found", s.Found), zap.Error(s.Err()))
	g.report(context.WithoutCancel(g.work), machine.Observed{Outgoing: m.ID, Part: e.Part, Try: m.Tries, Look: m.Waits, Sighting: s})
}
