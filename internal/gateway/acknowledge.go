package gateway

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/homing-gateway/homing/internal/chat"
)

// acknowledgeLimit bounds the sign that a text was seen: later it would only confuse.
const acknowledgeLimit = 10 * time.Second

// acknowledge shows a person at once that a text was seen which waits for the running turn: by a mark on it, or where there
// is none by a short text. It stands beside the queue of the chat, is tried once, and its failure changes nothing.
func (a *account) acknowledge(m chat.Message, steers bool) {
	if a.isPaused() {
		return
	}
	ctx, cancel := context.WithTimeout(a.g.work, acknowledgeLimit)
	defer cancel()
	if r, ok := a.adapter.(chat.Reactor); ok {
		err := r.React(ctx, m.Address, m.ID)
		if err == nil {
			return
		}
		a.log.Debug("mark on a message failed", zap.Error(err))
		if chat.AsSendError(err).Fault != chat.Refused { // the text would fail in the same way
			return
		}
	}
	out := chat.Outbound{To: m.Address, Text: "👀 Seen. I come to it when I am done with what I am at.", Plain: true, Silent: true, Key: "seen." + m.ID}
	if steers {
		out.Text = "👀 Seen. I take it up at my next step."
	}
	if m.Address.Type != chat.Direct {
		out.ReplyTo = m.ID
	}
	if _, err := a.adapter.Send(ctx, out); err != nil {
		a.log.Debug("sign for a text that waits failed", zap.Error(err))
	}
}
