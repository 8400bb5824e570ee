package gateway

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/machine"
)

// admit takes an event of a platform. It returns nil once the event is durable, and does nothing else that takes time:
// who may not talk is turned away before any session or model is touched.
func (a *account) admit(ctx context.Context, e chat.Event) error {
	r := machine.Receive{Account: a.info.Account, Event: e.ID, Cursor: e.Cursor, Known: a.reaches(e), Moved: e.Moved, Aside: e.Aside}
	if e.Message != nil {
		a.hear(&r, *e.Message)
	}
	if e.Aside != nil {
		a.log.Warn("event set aside", zap.String("event", e.ID), zap.String("reason", e.Aside.Reason))
	}
	answer, err := a.g.Submit(ctx, r)
	if err != nil {
		return err
	}
	if answer.Waits {
		m := *r.Message
		a.g.tasks.begin(func() { a.acknowledge(m, r.Steer) })
	}
	a.mu.Lock()
	a.status.LastInbound = time.Now()
	if e.Cursor != "" {
		a.cursor = e.Cursor
	}
	a.mu.Unlock()
	return nil
}

// lateAfter is how long before we came a text must have been written to be told as late.
const lateAfter = 5 * time.Minute

// lateness tells the agent of a text that was written while the account was down, or nothing: what it asks for may be out of
// date. up is when the account came up.
func lateness(sent, up time.Time) string {
	if age := up.Sub(sent); !sent.IsZero() && age >= lateAfter {
		return fmt.Sprintf("(This was written %s before I could read it.)", machine.Age(age))
	}
	return ""
}

// hear turns a message into what is asked of the machine.
func (a *account) hear(r *machine.Receive, m chat.Message) {
	m.Address.Account = a.info.Account
	p := a.g.profile(m.Address.Profile)
	r.Keying = p.keying()
	switch a.access.Hear(m) {
	case Denied:
		a.log.Info("message denied: the person is not on the list", zap.String("person", m.Address.Person), zap.String("chat", m.Address.Chat))
		return
	case BotForUs:
		if !a.hearsBot(m.Address.Chat+":"+m.Address.Thread, time.Now()) {
			a.log.Info("another bot talks too much here: it is not answered for a while", zap.String("chat", m.Address.Chat))
			return
		}
	case NotForUs:
		if m.Album == "" || m.FromBot {
			return
		}
		r.OnlyIfAlbum = true
	case IfTakePart:
		r.OnlyIfPart = true
	case ForUs:
	}
	key := chat.KeyOf(m.Address, r.Keying)
	text := strings.TrimSpace(m.Text)
	if name, arg, ok := parseCommand(text); ok && !r.OnlyIfAlbum {
		if name == machine.CommandTasks && arg == "" {
			r.Reply, r.Buttons = a.g.tasksReply(key)
		} else {
			r.Command, r.Reply = a.g.command(a, m, key, name, arg)
		}
		r.Message = &m
		return
	}
	if len(m.Unsupported) > 0 {
		note := "(" + strings.Join(m.Unsupported, ", ") + " cannot be taken along yet)"
		if text == "" && len(m.Files) == 0 {
			r.Reply = "I can't take this along yet: " + strings.Join(m.Unsupported, ", ") + ". Please write it as text."
			r.Message = &m
			return
		}
		text = strings.TrimSpace(text + "\n\n" + note)
	}
	r.Files = a.files(m)
	if text == "" && len(m.Files) == 0 && m.Addressed && m.Address.Type != chat.Direct {
		r.Reply = "I am here. Write to me what I can do for you."
		r.Message = &m
		return
	}
	if text == "" && len(m.Files) == 0 {
		return
	}
	if text != "" {
		if note := lateness(m.SentAt, a.upSince()); note != "" {
			text += "\n\n" + note
		}
	}
	m.Text = text
	r.Message = &m
	r.Steer = p.Steer
	r.Shared = key.Address().Person == "" && m.Address.Type != chat.Direct
}
