package discord

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/bwmarrin/discordgo"
	"go.uber.org/zap"

	"github.com/homing-gateway/homing/adapters/attempt"
	"github.com/homing-gateway/homing/internal/chat"
)

// take takes one event of the gateway. It runs on the library's reading goroutine, one event at a time, and stores; it
// never calls Discord.
func (l *line) take(e *discordgo.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	switch e.Type {
	case "READY":
		var r ready
		if err = json.Unmarshal(e.RawData, &r); err == nil {
			l.a.guilds.introduce(r.User.ID, r.Application.ID)
		}
	case "GUILD_CREATE":
		var g guild
		if err = json.Unmarshal(e.RawData, &g); err == nil {
			l.a.guilds.take(g)
		}
	case "CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE":
		var c channel
		if err = json.Unmarshal(e.RawData, &c); err == nil {
			l.a.guilds.put(c)
		}
	case "THREAD_LIST_SYNC":
		var g guild
		if err = json.Unmarshal(e.RawData, &g); err == nil {
			l.a.guilds.put(g.Threads...)
		}
	case "CHANNEL_DELETE", "THREAD_DELETE":
		var c channel
		if err = json.Unmarshal(e.RawData, &c); err == nil {
			l.a.guilds.remove(c.ID)
		}
	case "MESSAGE_CREATE":
		l.hear(e.RawData)
	case "INTERACTION_CREATE":
		l.press(e.RawData)
	}
	if err != nil {
		l.a.log.Warn("event not understood", zap.String("event", e.Type), zap.String("reason", l.a.client.Words(err.Error())))
	}
}

// hear takes a message. The caller holds the lock.
func (l *line) hear(raw json.RawMessage) {
	var m message
	if err := json.Unmarshal(raw, &m); err != nil || m.ID == "" || m.ChannelID == "" {
		l.setAside(raw, err)
		return
	}
	c, known := l.a.guilds.get(m.ChannelID)
	if m.GuildID != "" && !known {
		l.limbo[m.ChannelID] = append(l.limbo[m.ChannelID], bytes.Clone(raw))
		if len(l.limbo[m.ChannelID]) == 1 && l.admit != nil {
			ctx := l.ctx
			l.jobs.Go(func() { l.lookUp(ctx, m.ChannelID) })
		}
		return
	}
	c.ID = m.ChannelID
	switch {
	case blank(&m):
		if l.blank++; l.blank == maxBlank {
			l.fail(&chat.RunError{
				Cause: chat.CauseMissingIntent, Park: true, Remedy: remedyIntent, Err: fmt.Errorf("%d messages came without their contents", maxBlank),
			})
		}
	case m.GuildID != "" && m.Content != "":
		l.blank = 0
	}
	if out := l.a.message(&m, place(l.a.account, c, m.GuildID == "")); out != nil {
		l.store(chat.Event{ID: m.ID, Message: out})
	}
}

// setAside keeps a message that nobody can read.
func (l *line) setAside(raw json.RawMessage, err error) {
	reason := "a message without an id or a channel"
	if err != nil {
		reason = l.a.client.Words(err.Error())
	}
	var head struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(raw, &head) != nil || head.ID == "" {
		sum := sha256.Sum256(raw)
		head.ID = "unreadable-" + hex.EncodeToString(sum[:12])
	}
	l.store(chat.Event{ID: head.ID, Aside: &chat.Aside{Raw: bytes.Clone(raw), Reason: reason}})
}

// store hands an event to the core; false when it is not stored. After a failure nothing is stored any more: the session
// has moved beyond the event, and what was missed is to be found from the last one that is stored.
func (l *line) store(e chat.Event) bool {
	if l.over || l.admit == nil {
		return false
	}
	if err := l.admit(l.ctx, e); err != nil {
		l.fail(fmt.Errorf("admit event %s: %w", e.ID, err))
		return false
	}
	return true
}

// fail ends the Run.
func (l *line) fail(err error) {
	if !l.over {
		l.over = true
		l.failed <- err
	}
}

// lookUp asks for a channel of which messages have come, and takes them then.
func (l *line) lookUp(ctx context.Context, id string) {
	for pause := time.Second; ; pause = min(2*pause, time.Minute) {
		c, err := l.a.channel(ctx, id)
		e, refused := errors.AsType[*apiError](err)
		if refused && e.status != http.StatusTooManyRequests && e.status < 500 && !e.foreign {
			l.a.log.Info("messages of a channel that cannot be seen are dropped", zap.String("channel", id), zap.Error(err))
			l.mu.Lock()
			delete(l.limbo, id)
			l.mu.Unlock()
			return
		}
		if err == nil {
			l.a.guilds.put(c)
			l.mu.Lock()
			defer l.mu.Unlock()
			if l.admit == nil {
				return // the next Run comes here again
			}
			waiting := l.limbo[id]
			delete(l.limbo, id)
			for _, raw := range waiting {
				l.hear(raw)
			}
			return
		}
		if refused {
			pause = max(pause, e.retryAfter)
		}
		if !rest(ctx, pause) {
			return
		}
	}
}

func (a *Adapter) channel(ctx context.Context, id string) (channel, error) {
	ctx, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	var c channel
	body, err := a.client.call(ctx, http.MethodGet, "channels/"+id, "GET channels/"+id, nil)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(body, &c); err != nil || c.ID != id {
		return c, &attempt.Error{Sent: true, Err: errors.New("a channel without its id")}
	}
	return c, nil
}

// interactionTime is how long Discord waits for the acknowledgement of an interaction.
const interactionTime = 3 * time.Second

// press takes a native command or a button, and acknowledges it once it is stored. The caller holds the lock.
func (l *line) press(raw json.RawMessage) {
	var i interaction
	if err := json.Unmarshal(raw, &i); err != nil || i.ID == "" || i.ChannelID == "" {
		l.a.log.Warn("interaction not understood") // its secret is in it, so that it is not kept
		return
	}
	c, known := l.a.guilds.get(i.ChannelID)
	if !known && i.Channel != nil {
		c = *i.Channel
	}
	c.ID = i.ChannelID
	out := l.a.pressed(&i, place(l.a.account, c, i.GuildID == ""))
	if out == nil || !l.store(chat.Event{ID: i.ID, Message: out}) {
		return
	}
	ctx := l.ctx
	l.jobs.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, interactionTime)
		defer cancel()
		if err := l.a.acknowledge(ctx, &i); err != nil && ctx.Err() == nil {
			l.a.log.Info("interaction not acknowledged", zap.Error(err))
		}
	})
}

// acknowledge tells Discord that an interaction was taken. A command is repeated to its person alone: nothing else shows
// that it was given. What it comes to follows as a message.
func (a *Adapter) acknowledge(ctx context.Context, i *interaction) error {
	answer := map[string]any{"type": 6} // a button needs no words
	if i.Type == typeCommand {
		answer = map[string]any{"type": 4, "data": map[string]any{
			"content": "`/" + i.Data.Name + "`", "flags": flagEphemeral, "allowed_mentions": map[string]any{"parse": []string{}},
		}}
	}
	_, err := a.client.call(ctx, http.MethodPost, "interactions/"+i.ID+"/"+i.Token+"/callback", "interactions/"+i.ID, answer)
	return err
}
