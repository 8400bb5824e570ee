package gateway

import (
	"fmt"
	"strings"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
	"github.com/homing-gateway/homing/internal/store"
)

// ParseRoute reads a place as people type it: a route as it is printed, `platform:chat[:thread]`, or `platform` alone for
// its home chat; `profile/…` in front for a further profile.
func (g *Gateway) ParseRoute(typed string) (chat.Address, chat.Keying, error) {
	profile, rest, ok := strings.Cut(typed, "/")
	if !ok {
		profile, rest = g.o.Profiles[0].Name, typed
	}
	if a, err := chat.ParseKey(chat.Key(typed)); err == nil {
		if _, served := g.lookup(a.Account); !served {
			return a, chat.Keying{}, fmt.Errorf("no account serves the route %s", typed)
		}
		return a, chat.Keying{PerPersonInGroups: a.Person != "", PerPersonInThreads: a.Person != ""}, nil
	}
	platform, place, _ := strings.Cut(rest, ":")
	g.joining.Lock()
	defer g.joining.Unlock()
	for account, a := range g.accounts {
		if account.Profile != profile || string(account.Platform) != platform {
			continue
		}
		if place == "" {
			place = a.access.HomeChat
		}
		if account == g.console.info.Account {
			return g.console.Place(), chat.Keying{}, nil
		}
		if place == "" {
			return chat.Address{}, chat.Keying{}, fmt.Errorf("%s has no home chat: name one, as in %s:CHAT, or set platforms.%s.home_chat", platform, platform, platform)
		}
		to := chat.Address{Account: account, Type: chat.Direct}
		to.Chat, to.Thread, _ = strings.Cut(place, ":")
		if to.Chat == "" {
			return to, chat.Keying{}, fmt.Errorf("%s names no chat: write %s:CHAT or %s:CHAT:THREAD", typed, platform, platform)
		}
		return to, chat.Keying{}, nil
	}
	for _, a := range g.all {
		a.mu.Lock()
		of := a.status.Account
		a.mu.Unlock()
		if of.ID == "" && of.Profile == profile && string(of.Platform) == platform {
			return chat.Address{}, chat.Keying{}, fmt.Errorf("%s was not connected yet: homing status says why", platform)
		}
	}
	return chat.Address{}, chat.Keying{}, fmt.Errorf("no account of profile %s serves the platform %q", profile, platform)
}

// ParseConversation is ParseRoute for what belongs to a conversation and not just to a chat: the place must be one where
// people have talked to the agent, and only one of them.
func (g *Gateway) ParseConversation(typed string) (chat.Address, chat.Keying, error) {
	to, keying, err := g.ParseRoute(typed)
	if _, whole := chat.ParseKey(chat.Key(typed)); err != nil || whole == nil {
		return to, keying, err
	}
	list, err := store.Each(g.o.Store, machine.Routes, "", func(r session.Route) bool {
		a := r.Key.Address()
		return a.Account == to.Account && a.Chat == to.Chat && a.Thread == to.Thread
	})
	switch {
	case err != nil:
		return to, keying, err
	case len(list) == 0:
		return to, keying, fmt.Errorf("nobody has talked to the agent in %s yet: there is no conversation to give it to", typed)
	case len(list) > 1:
		return to, keying, fmt.Errorf("several people have conversations in %s: name one of their routes, such as %s", typed, list[0].Key)
	}
	a := list[0].Key.Address()
	return a, chat.Keying{PerPersonInGroups: a.Person != "", PerPersonInThreads: a.Person != ""}, nil
}
