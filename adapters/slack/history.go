package slack

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/homing-gateway/homing/adapters/attempt"
	"github.com/homing-gateway/homing/internal/chat"
)

const (
	pageSize  = 200
	clockSkew = 5 * time.Minute // how far our clock may be from Slack's
)

// pages gives what stands in a place since a time, page by page, until there is no more or take does not want any. In a
// thread its first message always comes along.
func (a *Adapter) pages(ctx context.Context, place chat.Address, since time.Time, take func(page []message) (more bool)) error {
	channel, err := a.conversation(ctx, place)
	if err != nil {
		return err
	}
	params := url.Values{"channel": {channel}, "oldest": {stampOf(since)}, "limit": {strconv.Itoa(pageSize)}, "include_all_metadata": {"true"}}
	method := "conversations.history"
	if place.Thread != "" {
		method = "conversations.replies"
		params.Set("ts", place.Thread)
	}
	for {
		var page struct {
			Messages []message `json:"messages"`
			Metadata struct {
				Next string `json:"next_cursor"`
			} `json:"response_metadata"`
		}
		if err := a.calls.call(ctx, method, params, &page); err != nil {
			return err
		}
		if !take(page.Messages) || page.Metadata.Next == "" {
			return nil
		}
		params.Set("cursor", page.Metadata.Next)
	}
}

// Observe looks for a message by the key in its metadata.
func (a *Adapter) Observe(ctx context.Context, out chat.Outbound, since time.Time) (chat.Receipt, bool, error) {
	ctx, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	var r chat.Receipt
	err := a.pages(ctx, out.To, since.Add(-clockSkew), func(page []message) bool {
		i := slices.IndexFunc(page, func(m message) bool {
			return m.Metadata.Type == keyed && m.Metadata.Payload.Key == out.Key && (m.User == a.me.User || m.BotID != "" && m.BotID == a.me.Bot)
		})
		if i >= 0 {
			r.MessageID = page[i].TS
		}
		return i < 0
	})
	if err != nil {
		return chat.Receipt{}, false, sendFault(err)
	}
	return r, r.MessageID != "", nil
}

// History admits what people wrote in a place after since: the newest of it, the oldest first.
func (a *Adapter) History(ctx context.Context, place chat.Address, since time.Time, limit int, admit chat.Admit) error {
	asking, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	channel, err := a.conversation(asking, place)
	if err != nil {
		return sendFault(err)
	}
	place.Chat = channel
	var all []message
	if err := a.pages(asking, place, since, func(page []message) bool {
		all = append(all, page...)
		return place.Thread != "" || len(all) < 4*limit // a channel comes with the newest first, and not all of it is of people
	}); err != nil {
		return sendFault(err)
	}
	slices.SortFunc(all, func(x, y message) int { return compare(x.TS, y.TS) })
	var events []chat.Event
	for _, m := range all {
		if m.Channel = channel; place.Type == chat.Direct {
			m.ChannelType = "im"
		}
		e, err := a.said(ctx, m)
		if err != nil || e.Message == nil || !e.Message.SentAt.After(since) || place.Thread != "" && e.Message.Address.Thread != place.Thread {
			continue // what cannot be read was not said to us live, either; and the root of a thread belongs to the channel
		}
		events = append(events, e)
	}
	for _, e := range events[max(0, len(events)-limit):] {
		if err := admit(ctx, e); err != nil {
			return fmt.Errorf("admit %s: %w", e.ID, err)
		}
	}
	return nil
}

// compare orders time stamps.
func compare(x, y string) int {
	a, _ := stamp(x)
	b, _ := stamp(y)
	return a.Compare(b)
}
