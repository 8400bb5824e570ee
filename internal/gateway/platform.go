package gateway

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/machine"
)

// platform decides on /platform: an admin looks at the accounts of the profile, lets one rest, or go on. Others are never
// affected.
func (g *Gateway) platform(a *account, m chat.Message, arg string) (*machine.Command, string) {
	if !a.access.Admin(m.Address.Person) {
		return nil, "Only admins can do that."
	}
	verb, name, _ := strings.Cut(arg, " ")
	name = strings.TrimSpace(name)
	served := g.served(m.Address.Profile)
	if verb = strings.ToLower(verb); verb != "pause" && verb != "resume" {
		if verb != "" && verb != "list" {
			return nil, "/platform list, /platform pause NAME or /platform resume NAME?"
		}
		return nil, platformList(served)
	}
	i := slices.IndexFunc(served, func(s AccountStatus) bool { return strings.EqualFold(string(s.Account.Platform), name) })
	switch {
	case i < 0:
		return nil, fmt.Sprintf("Which one? /platform %s NAME.\n\n%s", verb, platformList(served))
	case verb == "pause" && served[i].Account == a.info.Account:
		return nil, fmt.Sprintf("Not from here: you could not resume %s in this chat. Say it on another platform, or on the gateway's machine: homing chat \"/platform pause %s\"", name, name)
	case (verb == "pause") == (served[i].Cause == chat.CausePaused):
		return nil, fmt.Sprintf("%s is %sd already.", served[i].Account.Platform, verb)
	}
	return &machine.Command{Name: machine.CommandPlatform, Account: served[i].Account, Pause: verb == "pause"}, ""
}

// served lists the accounts of a profile.
func (g *Gateway) served(profile string) []AccountStatus {
	list := slices.DeleteFunc(g.Accounts(), func(s AccountStatus) bool { return s.Account.Profile != profile })
	slices.SortFunc(list, func(a, b AccountStatus) int { return strings.Compare(a.Account.String(), b.Account.String()) })
	return list
}

func platformList(list []AccountStatus) string {
	if len(list) == 0 {
		return "No platform is served besides the terminal."
	}
	lines := make([]string, 0, len(list))
	for _, s := range list {
		line := "• " + string(s.Account.Platform)
		if s.Account.ID != "" { // else it is still to be learned
			line += " (" + s.Account.ID + ")"
		}
		line += ": " + string(s.State)
		if s.Cause != "" {
			line += fmt.Sprintf(" (%s)", s.Cause)
		}
		line += ", since " + s.Since.Local().Format("2006-01-02 15:04")
		if !s.LastInbound.IsZero() {
			line += fmt.Sprintf(", last message %s ago", machine.Age(time.Since(s.LastInbound)))
		}
		if s.Remedy != "" {
			line += "\n  " + s.Remedy
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
