package discord

import (
	"encoding/json"
	"strconv"
	"time"
)

// What is read of Discord's objects. The library's own types fail as a whole on a component or field that they do not
// know yet; these take what they need.

type user struct {
	ID         string `json:"id"`
	Username   string `json:"username"`
	GlobalName string `json:"global_name"`
	Bot        bool   `json:"bot"`
}

// name is how people see a user.
func (u user) name() string {
	if u.GlobalName != "" {
		return u.GlobalName
	}
	return u.Username
}

type member struct {
	Nick string `json:"nick"`
	User *user  `json:"user"`
}

// channel is a channel, a thread or a direct conversation.
type channel struct {
	ID       string `json:"id"`
	Type     int    `json:"type"`
	GuildID  string `json:"guild_id"`
	ParentID string `json:"parent_id"`
}

// The types of channels that are not simply channels of a guild.
const (
	typeText         = 0
	typeGroup        = 3
	typeAnnouncement = 5
)

func (c channel) isThread() bool { return c.Type >= 10 && c.Type <= 12 }

// message is a message as the gateway and the history give it.
type message struct {
	ID          string            `json:"id"`
	ChannelID   string            `json:"channel_id"`
	GuildID     string            `json:"guild_id"`
	WebhookID   string            `json:"webhook_id"`
	Author      *user             `json:"author"`
	Member      *member           `json:"member"`
	Content     string            `json:"content"`
	Type        int               `json:"type"`
	Flags       int               `json:"flags"`
	Mentions    []user            `json:"mentions"`
	Attachments []json.RawMessage `json:"attachments"`
	Stickers    []json.RawMessage `json:"sticker_items"`
	Snapshots   []json.RawMessage `json:"message_snapshots"`
	Embeds      []json.RawMessage `json:"embeds"`
	Components  []json.RawMessage `json:"components"`
	Poll        json.RawMessage   `json:"poll"`
	Referenced  *struct {
		Author *user `json:"author"`
	} `json:"referenced_message"`
}

// The types of messages that people write.
const (
	typeDefault = 0
	typeReply   = 19
)

// interaction is a native command or a press of a button.
type interaction struct {
	ID        string   `json:"id"`
	Type      int      `json:"type"`
	Token     string   `json:"token"`
	ChannelID string   `json:"channel_id"`
	GuildID   string   `json:"guild_id"`
	Channel   *channel `json:"channel"`
	Member    *member  `json:"member"`
	User      *user    `json:"user"`
	Data      struct {
		Name     string `json:"name"`
		CustomID string `json:"custom_id"`
		Options  []struct {
			Value any `json:"value"`
		} `json:"options"`
	} `json:"data"`
}

// The types of interactions that are answered.
const (
	typeCommand = 2
	typePress   = 3
)

type ready struct {
	User        user `json:"user"`
	Application struct {
		ID string `json:"id"`
	} `json:"application"`
}

type guild struct {
	ID       string    `json:"id"`
	Channels []channel `json:"channels"`
	Threads  []channel `json:"threads"`
	Roles    []struct {
		ID   string `json:"id"`
		Tags struct {
			BotID string `json:"bot_id"`
		} `json:"tags"`
	} `json:"roles"`
}

// epoch is when Discord's ids begin to count, in milliseconds.
const epoch = 1420070400000

// born is the time that an id holds; zero for what is no id.
func born(id string) time.Time {
	n := number(id)
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(n>>22) + epoch).UTC()
}

// lastID is the greatest id of a time, which an id holds in milliseconds.
func lastID(t time.Time) uint64 { return uint64(max((t.UnixMilli()-epoch)<<22|1<<22-1, 0)) }

// number is an id as a number, 0 for what is no id.
func number(id string) uint64 {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// isID tells whether a text can be an id.
func isID(s string) bool { return number(s) != 0 }
