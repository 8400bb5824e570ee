package gateway

import (
	"context"

	"go.uber.org/zap"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/markup"
)

// markRoom is left free in every part for what may have to stand before it: the recovery mark, or a note about a topic.
const markRoom = 160

// prepare renders a message that is first in its chat and claims it: after the claim a crash leaves its outcome open. A
// message for an account that is not there waits for it, for free.
func (g *Gateway) prepare(e machine.Prepare) {
	m := e.Outgoing
	a, ok := g.accounts[m.To.Account]
	if !ok || !a.takes(e) {
		return
	}
	claim := machine.Claim{Outgoing: m.ID, Idempotent: a.info.Idempotent}
	if len(m.Parts) == 0 {
		claim.Parts = render(m.Text, a.info)
	}
	g.report(g.work, claim)
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
	a, ok := g.accounts[m.To.Account]
	if !ok {
		return
	}
	text, plain := m.Body(e.Part)
	ctx := g.hard
	if limit := g.profile(m.Profile).SendTimeout; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	receipt, err := a.adapter.Send(ctx, chat.Outbound{
		To: m.To, Text: text, Plain: plain, ReplyTo: m.ReplyTo, Key: m.Key(e.Part),
	})
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
