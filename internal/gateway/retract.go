package gateway

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/machine"
)

// maxRetracts is how often it is tried to take a preview back while the platform answers; then it is left as it is.
const maxRetracts = 10

// retracted is what is put into a preview that cannot be taken back.
const retracted = "✓"

// retract takes a preview back. It stands beside the queue of the chat and delays nothing there. What is not done when the
// gateway ends is asked for again at the next start; an account that rests is left alone until it goes on.
func (g *Gateway) retract(e machine.Retract) {
	a, ok := g.taker(e.Preview.To.Account, e)
	if !ok {
		return
	}
	pause := time.Second
	for tries := 0; tries < maxRetracts; {
		if !a.takes(e) {
			return
		}
		ctx, cancel := context.WithTimeout(g.work, previewLimit)
		err := a.remove(ctx, e.Preview)
		cancel()
		if err == nil {
			break
		}
		f := chat.AsSendError(err)
		g.log.Debug("preview not taken back", zap.String("turn", string(e.Preview.Turn)), zap.String("fault", string(f.Fault)), zap.Error(f.Err))
		wait := pause
		switch {
		case f.Fault == chat.Refused && f.Class != chat.ClassCredential, f.Fault == chat.MovedChat:
			tries = maxRetracts
			continue
		case f.Fault == chat.RateLimited:
			wait = max(f.RetryAfter, pause)
			tries++
		case f.Fault != chat.Unreachable && f.Class != chat.ClassCredential:
			tries++
		}
		pause = min(2*pause, time.Minute)
		if !rest(g.work, wait) {
			return
		}
	}
	g.report(g.work, machine.Retracted{Turn: e.Preview.Turn})
}

// remove deletes a preview. Where that is not possible, its text goes.
func (a *account) remove(ctx context.Context, p machine.Preview) error {
	if r, ok := a.adapter.(chat.Remover); ok {
		err := r.Remove(ctx, p.To, p.MessageID)
		if f := chat.AsSendError(err); err == nil || f.Fault != chat.Refused || f.Class != chat.ClassOther {
			return err
		}
	}
	editor, ok := a.adapter.(chat.Editor)
	if !ok {
		return nil
	}
	for {
		wait := a.edits.take(p.To.Chat, time.Now(), editPace(p.To))
		if wait == 0 {
			break
		}
		if !rest(ctx, wait) {
			return &chat.SendError{Fault: chat.Unreachable, Err: ctx.Err()}
		}
	}
	return editor.Edit(ctx, p.MessageID, chat.Outbound{To: p.To, Text: retracted, Plain: true})
}
