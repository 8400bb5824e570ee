package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/homing-gateway/homing/adapters/attempt"
	"github.com/homing-gateway/homing/internal/chat"
)

// pageLength is how many messages are asked for at once; Discord gives at most 100.
const pageLength = 100

// History admits what people wrote in a place after since: the newest of it, the oldest first. A message has the id that it
// had live, so that the core knows it again.
func (a *Adapter) History(ctx context.Context, in chat.Address, since time.Time, limit int, admit chat.Admit) error {
	if in.Type == chat.Direct && in.Chat == "" && isID(in.Person) {
		var err error
		if in.Chat, err = a.direct(ctx, in.Person); err != nil {
			return sendFault(in, err)
		}
	}
	if err := check(in); err != nil {
		return err
	}
	in.Account, in.Person = a.account, ""
	if me, _ := a.guilds.self(); me == "" {
		return &chat.SendError{Fault: chat.Unreachable, Err: errors.New("not connected yet")}
	}
	events, err := a.since(ctx, in, lastID(since), limit)
	if err != nil {
		return sendFault(in, err)
	}
	for _, e := range slices.Backward(events) {
		if err := admit(ctx, e); err != nil {
			return fmt.Errorf("admit message %s: %w", e.ID, err)
		}
	}
	return nil
}

// since gives what people wrote in a place after the message with the id oldest, the newest first.
func (a *Adapter) since(ctx context.Context, in chat.Address, oldest uint64, limit int) (events []chat.Event, err error) {
	for before := ""; ; {
		page, more, err := a.page(ctx, channelOf(in), before)
		if err != nil {
			return nil, err
		}
		for _, m := range page {
			if number(m.ID) <= oldest || len(events) == limit {
				return events, nil
			}
			before = m.ID
			if out := a.message(&m, in); out != nil {
				events = append(events, chat.Event{ID: m.ID, Message: out})
			}
		}
		if !more || len(page) == 0 {
			return events, nil
		}
	}
}

// direct gives the direct channel of a person. Discord lists none to a bot, but gives the one that there is.
func (a *Adapter) direct(ctx context.Context, person string) (string, error) {
	ctx, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	answer, err := a.client.call(ctx, http.MethodPost, "users/@me/channels", "users/@me/channels", map[string]any{"recipient_id": person})
	if err != nil {
		return "", err
	}
	var c channel
	if err := json.Unmarshal(answer, &c); err != nil || !isID(c.ID) {
		return "", &attempt.Error{Sent: true, Err: errors.New("a channel without an id")}
	}
	return c.ID, nil
}

// page gives the messages before one, or with "" the latest, the newest first; more tells that there may be more. One that
// cannot be read is left out.
func (a *Adapter) page(ctx context.Context, channel, before string) (out []message, more bool, err error) {
	ctx, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	path := "channels/" + channel + "/messages"
	query := fmt.Sprintf("?limit=%d", pageLength)
	if before != "" {
		query += "&before=" + before
	}
	answer, err := a.client.call(ctx, http.MethodGet, path+query, "GET "+path, nil)
	if err != nil {
		return nil, false, err
	}
	var list []json.RawMessage
	if err := json.Unmarshal(answer, &list); err != nil {
		return nil, false, &attempt.Error{Sent: true, Err: errors.New("a history that is none")}
	}
	for _, raw := range list {
		var m message
		if json.Unmarshal(raw, &m) == nil && isID(m.ID) {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b message) int { return cmp.Compare(number(b.ID), number(a.ID)) }) // ids count up
	return out, len(list) == pageLength, nil
}

// Standing is what a check on request finds out.
type Standing struct {
	Bot     string // its name
	Content bool   // it may read what people write
}

// Check asks Discord for who we are and what we may. For a check on request; a Run finds out by itself.
func (a *Adapter) Check(ctx context.Context) (Standing, error) {
	ctx, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	var me user
	var app struct {
		Flags int `json:"flags"`
	}
	for path, v := range map[string]any{"users/@me": &me, "applications/@me": &app} {
		answer, err := a.client.call(ctx, http.MethodGet, path, path, nil)
		if err == nil {
			err = json.Unmarshal(answer, v)
		}
		if err != nil {
			fault, _ := runFault(err)
			return Standing{}, fault
		}
	}
	const content, contentOfFew = 1 << 18, 1 << 19 // the second one is for bots in less than 100 servers
	return Standing{Bot: me.name(), Content: app.Flags&(content|contentOfFew) != 0}, nil
}
