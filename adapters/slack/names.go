package slack

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/slack-go/slack"
)

const (
	nameLasts   = time.Hour
	unnamedFor  = time.Minute // no second question soon where there was no answer
	maxNames    = 10000
	nameTimeout = time.Second
)

// names knows how people are called. Events bear ids alone.
type names struct {
	api *slack.Client
	mu  sync.Mutex
	all map[string]name
}

type name struct {
	text  string
	until time.Time
}

func newNames(api *slack.Client) *names { return &names{api: api, all: map[string]name{}} }

// of gives the name of a person, or the id where Slack does not tell it soon: a name is for the eyes, and an event waits
// for its acknowledgement meanwhile.
func (n *names) of(ctx context.Context, user string) string {
	n.mu.Lock()
	known, ok := n.all[user]
	n.mu.Unlock()
	if ok && time.Now().Before(known.until) {
		return known.text
	}
	ctx, cancel := context.WithTimeout(ctx, nameTimeout)
	defer cancel()
	now := name{text: user, until: time.Now().Add(unnamedFor)}
	if ok {
		now.text = known.text
	}
	if u, err := n.api.GetUserInfoContext(ctx, user); err == nil {
		now = name{text: cmp.Or(u.Profile.DisplayName, u.Profile.RealName, u.RealName, u.Name, user), until: time.Now().Add(nameLasts)}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.all) >= maxNames {
		clear(n.all)
	}
	n.all[user] = now
	return now.text
}
