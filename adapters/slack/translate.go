package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
)

// message is what we read of a message, in an event and in a history. The library's form knows every kind of block and
// fails on the next one that Slack invents.
type message struct {
	Type        string            `json:"type"`
	Subtype     string            `json:"subtype"`
	Channel     string            `json:"channel"`
	ChannelType string            `json:"channel_type"`
	User        string            `json:"user"`
	BotID       string            `json:"bot_id"`
	Username    string            `json:"username"` // of a bot without a user
	Text        string            `json:"text"`
	TS          string            `json:"ts"`
	Thread      string            `json:"thread_ts"`
	ThreadOf    string            `json:"parent_user_id"`
	Files       []json.RawMessage `json:"files"`
	Attachments []json.RawMessage `json:"attachments"`
	Metadata    struct {
		Type    string `json:"event_type"`
		Payload struct {
			Key string `json:"key"`
		} `json:"event_payload"`
	} `json:"metadata"`
}

// event gives what an envelope says. An error means that it cannot be read; an event without anything that it is of no
// interest.
func (a *Adapter) event(ctx context.Context, e envelope) (chat.Event, error) {
	switch e.Type {
	case "events_api":
		var p struct {
			Event json.RawMessage `json:"event"`
		}
		var head struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(e.Payload, &p); err != nil {
			return chat.Event{}, err
		}
		if p.Event == nil { // such as app_rate_limited: about events, but none
			return chat.Event{}, nil
		}
		if err := json.Unmarshal(p.Event, &head); err != nil {
			return chat.Event{}, err
		}
		if head.Type != "message" && head.Type != "app_mention" {
			return chat.Event{}, nil // not asked for
		}
		var m message
		if err := json.Unmarshal(p.Event, &m); err != nil {
			return chat.Event{}, err
		}
		return a.said(ctx, m)
	case "slash_commands":
		return a.slash(ctx, e.Payload)
	case "interactive":
		return a.pressed(ctx, e.Payload)
	}
	return chat.Event{}, fmt.Errorf("an envelope of the kind %q, which is not known", e.Type)
}

// said gives what somebody wrote. Both events of a mention have the id of the message.
func (a *Adapter) said(ctx context.Context, m message) (chat.Event, error) {
	if !speaks(m) {
		return chat.Event{}, nil
	}
	if m.Channel == "" || m.TS == "" {
		return chat.Event{}, errNoEvent
	}
	e := chat.Event{ID: m.Channel + ":" + m.TS}
	if m.User == a.me.User || m.BotID != "" && m.BotID == a.me.Bot {
		return e, nil // our own
	}
	at, err := stamp(m.TS)
	if err != nil {
		return chat.Event{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, namesTimeout)
	defer cancel()
	text, mentioned := a.read(ctx, m.Text)
	out := &chat.Message{
		Address: chat.Address{Account: a.account, Type: chat.Channel, Chat: m.Channel, Person: m.User},
		ID:      m.TS, Text: text, Addressed: mentioned, FromBot: m.BotID != "" || m.User == "USLACKBOT", SentAt: at,
	}
	if m.User == "" {
		out.Address.Person, out.PersonName = m.BotID, m.Username
	} else {
		out.PersonName = a.names.of(ctx, m.User)
	}
	out.Files, out.Unsupported = files(m.Files)
	if len(m.Attachments) > 0 && text == "" {
		out.Unsupported = append(out.Unsupported, "attachment")
	}
	within := m.Thread != "" && m.Thread != m.TS
	switch {
	case m.ChannelType == "im" || strings.HasPrefix(m.Channel, "D"): // what is written in the app's home has a type of its own
		out.Address.Type, out.Addressed = chat.Direct, true
	case within:
		out.Address.Type = chat.Thread
		out.Addressed = mentioned || m.ThreadOf == a.me.User // a thread under a message of ours
	case mentioned && a.options.ReplyInThread: // the answer opens the thread
		out.Address.Type, out.Address.Thread = chat.Thread, m.TS
	}
	if within {
		out.Address.Thread = m.Thread
	}
	e.Message = out
	return e, nil
}

// speaks tells whether a message is somebody's word, and not news about a channel or another message: an edit, a deletion,
// a join.
func speaks(m message) bool {
	switch m.Subtype {
	case "", "file_share", "thread_broadcast", "me_message", "bot_message":
		return true
	}
	return false
}

// slash gives a slash command as the command that stands behind it: `/homing status` is /status.
func (a *Adapter) slash(ctx context.Context, payload json.RawMessage) (chat.Event, error) {
	var p struct {
		Text    string `json:"text"`
		Channel string `json:"channel_id"`
		User    string `json:"user_id"`
		Trigger string `json:"trigger_id"`
	}
	if err := json.Unmarshal(payload, &p); err != nil {
		return chat.Event{}, err
	}
	if p.Channel == "" || p.User == "" {
		return chat.Event{}, errNoEvent
	}
	text := strings.TrimLeft(strings.TrimSpace(unescape(p.Text)), "/!")
	if text == "" {
		text = "help"
	}
	return a.command(ctx, "slash", p.Trigger, payload, p.Channel, "", p.User, "/"+text), nil
}

// pressed gives the press of a button as the command that it stands for.
func (a *Adapter) pressed(ctx context.Context, payload json.RawMessage) (chat.Event, error) {
	var p struct {
		Type string `json:"type"`
		User struct {
			ID string `json:"id"`
		} `json:"user"`
		Channel struct {
			ID string `json:"id"`
		} `json:"channel"`
		Container struct {
			Thread string `json:"thread_ts"`
		} `json:"container"`
		Message struct {
			Thread string `json:"thread_ts"`
		} `json:"message"`
		Trigger string `json:"trigger_id"`
		Actions []struct {
			Type  string `json:"type"`
			Value string `json:"value"`
		} `json:"actions"`
	}
	if err := json.Unmarshal(payload, &p); err != nil {
		return chat.Event{}, err
	}
	if p.Type != "block_actions" || len(p.Actions) == 0 || p.Actions[0].Type != "button" || p.Actions[0].Value == "" {
		return chat.Event{}, nil // of a surface that we do not use
	}
	if p.Channel.ID == "" || p.User.ID == "" {
		return chat.Event{}, errNoEvent
	}
	thread := p.Container.Thread
	if thread == "" {
		thread = p.Message.Thread
	}
	return a.command(ctx, "press", p.Trigger, payload, p.Channel.ID, thread, p.User.ID, p.Actions[0].Value), nil
}

// command is a message that a person need not type.
func (a *Adapter) command(ctx context.Context, kind, trigger string, payload json.RawMessage, channel, thread, user, text string) chat.Event {
	ctx, cancel := context.WithTimeout(ctx, namesTimeout)
	defer cancel()
	m := &chat.Message{
		Address:    chat.Address{Account: a.account, Type: chat.Channel, Chat: channel, Thread: thread, Person: user},
		PersonName: a.names.of(ctx, user), Text: text, Addressed: true, SentAt: time.Now().UTC(),
	}
	switch {
	case strings.HasPrefix(channel, "D"):
		m.Address.Type = chat.Direct
	case thread != "":
		m.Address.Type = chat.Thread
	}
	if trigger == "" {
		trigger = digest(payload)
	}
	return chat.Event{ID: kind + ":" + trigger, Message: m}
}

// stamp reads Slack's time stamps, which are the ids of messages as well: seconds, a dot, microseconds.
func stamp(ts string) (time.Time, error) {
	whole, rest, _ := strings.Cut(ts, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is no time stamp", ts)
	}
	micro, _ := strconv.ParseInt((rest + "000000")[:6], 10, 64)
	return time.Unix(seconds, micro*1000).UTC(), nil
}

// stampOf is the inverse of stamp.
func stampOf(t time.Time) string { return fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/1000) }
