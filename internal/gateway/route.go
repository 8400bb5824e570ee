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
		if _, served := g.accounts[a.Account]; !served {
			return a, chat.Keying{}, fmt.Errorf("no account serves the route %s", typed)
		}
		return a, chat.Keying{PerPersonInGroups: a.Person != "", PerPersonInThreads: a.Person != ""}, nil
	}
	platform, place, _ := strings.Cut(rest, ":")
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
		return g.known(to), g.profile(profile).keying(), nil
	}
	return chat.Address{}, chat.Keying{}, fmt.Errorf("no account of profile %s serves the platform %q", profile, platform)
}

// known completes an address with what is known of its place from an earlier conversation there.
func (g *Gateway) known(to chat.Address) chat.Address {
	list, err := store.Each(g.o.Store, machine.Routes, "", func(r session.Route) bool {
		a := r.Key.Address()
		return a.Account == to.Account && a.Chat == to.Chat && a.Thread == to.Thread && a.Person == ""
	})
	if err == nil && len(list) > 0 {
		return list[0].Key.Address()
	}
	return to
}
