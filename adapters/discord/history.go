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

	"github.com/homing-gateway/homing/internal/chat"
)

// pageLength is how many messages are asked for at once; Discord gives at most 100.
const pageLength = 100

// History admits what people wrote in a place after since. A message has the id that it had live, so that the core knows
// it again.
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
	after := lastID(since)
	for {
		page, whole, err := a.page(ctx, channelOf(in), after)
		if err != nil {
			return sendFault(in, err)
		}
		for _, m := range page {
			after = m.ID
			out := a.message(&m, in)
			if out == nil {
				continue
			}
			if limit == 0 {
				return nil
			}
			limit--
			if err := admit(ctx, chat.Event{ID: m.ID, Message: out}); err != nil {
				return fmt.Errorf("admit message %s: %w", m.ID, err)
			}
		}
		if !whole || len(page) == 0 {
			return nil
		}
	}
}

// direct gives the direct channel of a person. Discord lists none to a bot, but gives the one that there is.
func (a *Adapter) direct(ctx context.Context, person string) (string, error) {
	ctx, cancel := a.deadline(ctx)
	defer cancel()
	answer, err := a.client.call(ctx, http.MethodPost, "users/@me/channels", "users/@me/channels", map[string]any{"recipient_id": person})
	if err != nil {
		return "", err
	}
	var c channel
	if err := json.Unmarshal(answer, &c); err != nil || !isID(c.ID) {
		return "", &netError{sent: true, err: errors.New("a channel without an id")}
	}
	return c.ID, nil
}

// page gives messages after one, the oldest first; whole tells that there may be more. One that cannot be read is left out.
func (a *Adapter) page(ctx context.Context, channel, after string) (out []message, whole bool, err error) {
	ctx, cancel := a.deadline(ctx)
	defer cancel()
	path := "channels/" + channel + "/messages"
	answer, err := a.client.call(ctx, http.MethodGet, fmt.Sprintf("%s?after=%s&limit=%d", path, after, pageLength), "GET "+path, nil)
	if err != nil {
		return nil, false, err
	}
	var list []json.RawMessage
	if err := json.Unmarshal(answer, &list); err != nil {
		return nil, false, &netError{sent: true, err: errors.New("a history that is none")}
	}
	for _, raw := range list {
		var m message
		if json.Unmarshal(raw, &m) == nil && isID(m.ID) {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b message) int { return cmp.Compare(number(a.ID), number(b.ID)) }) // ids count up
	return out, len(list) == pageLength, nil
}

// Standing is what a check on request finds out.
type Standing struct {
	Bot     string // its name
	Content bool   // it may read what people write
}

// Check asks Discord for who we are and what we may. For a check on request; a Run finds out by itself.
func (a *Adapter) Check(ctx context.Context) (Standing, error) {
	ctx, cancel := a.deadline(ctx)
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
