package discord

import (
	"sync"

	"github.com/homing-gateway/homing/internal/chat"
)

// guilds is what Discord told of places, and of who we are. It only makes places out of channel ids, and may be behind.
type guilds struct {
	mu       sync.Mutex
	me, app  string
	channels map[string]channel
	roles    map[string]bool // the roles that stand for us: people mention them instead
}

func newGuilds() *guilds { return &guilds{channels: map[string]channel{}, roles: map[string]bool{}} }

// self gives our id and that of our application; empty before the first connection.
func (g *guilds) self() (me, app string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.me, g.app
}

func (g *guilds) introduce(me, app string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.me, g.app = me, app
}

func (g *guilds) put(list ...channel) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range list {
		g.channels[c.ID] = c
	}
}

func (g *guilds) remove(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.channels, id)
}

func (g *guilds) get(id string) (channel, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, ok := g.channels[id]
	return c, ok
}

// take takes a whole guild.
func (g *guilds) take(whole guild) {
	g.put(whole.Channels...)
	g.put(whole.Threads...)
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range whole.Roles {
		if r.Tags.BotID != "" && r.Tags.BotID == g.me {
			g.roles[r.ID] = true
		}
	}
}

// ours tells whether a mention means us.
func (g *guilds) ours(kind, id string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if kind == "&" {
		return g.roles[id]
	}
	return id == g.me && id != ""
}

// place makes an address of a channel.
func place(account chat.Account, c channel, direct bool) chat.Address {
	to := chat.Address{Account: account, Type: chat.Channel, Chat: c.ID}
	switch {
	case c.Type == typeGroup:
		to.Type = chat.Group
	case direct:
		to.Type = chat.Direct
	case c.isThread():
		to.Type, to.Chat, to.Thread = chat.Thread, c.ParentID, c.ID
	}
	return to
}

// channelOf is the channel that an address stands for: a thread is one.
func channelOf(to chat.Address) string {
	if to.Thread != "" {
		return to.Thread
	}
	return to.Chat
}
