package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// checkURL refuses what is no plain address of a server. It never cites the address: there may be a password in it.
func checkURL(s string) error {
	if s == "" {
		return nil
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		return errors.New("is not an address of a server: write it like https://example.com/v1")
	case u.User != nil:
		return errors.New("has a user or a password in it: credentials have keys of their own")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return errors.New("has a ? or a # in it: only the address of the server and a path can be used")
	}
	return nil
}

func checkListen(s string, t text) error {
	if s == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return fmt.Errorf(`%s is not host:port: write it like 127.0.0.1:8765, or "" for none`, cite(t))
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return fmt.Errorf("%s: the port must be a number from 0 to 65535", cite(t))
	}
	return nil
}

// check looks at what single values cannot tell. What follows from a value that is wrong by itself is left out.
func (r *result) check() {
	single := append(slices.Clone(r.file.problems), r.problems...)
	before := len(r.problems)
	r.sections("", &r.cfg.Delivery, &r.cfg.Platforms)
	for i := range r.cfg.Profiles {
		p := &r.cfg.Profiles[i]
		r.sections(element("profiles", i)+".", &p.Delivery, &p.Platforms)
	}
	r.names()
	r.accounts()
	follows := func(p Problem) bool {
		return slices.ContainsFunc(single, func(q Problem) bool {
			return q.Path == "" || strings.HasPrefix(q.Path, p.Path) || strings.HasPrefix(p.Path, q.Path+".") || strings.Contains(p.Text, q.Path)
		})
	}
	r.problems = append(r.problems[:before], slices.DeleteFunc(r.problems[before:], follows)...)
}

func (r *result) fail(path, text string) { r.add(&r.problems, Invalid, path, path, text) }

func (r *result) sections(prefix string, d *Delivery, p *Platforms) {
	at := prefix + "delivery.min_backoff"
	if d.MinBackoff > d.MaxBackoff {
		other := prefix + "delivery.max_backoff"
		if r.sources[at] == sourceDefault {
			at, other = other, at
		}
		r.fail(at, fmt.Sprintf("min_backoff (%s) is longer than max_backoff (%s); see %s", d.MinBackoff, d.MaxBackoff, other))
	}
	if d.MinBackoff == 0 {
		r.fail(at, "must be more than 0: the wait between two attempts cannot be switched off")
	}
	for _, v := range p.views() {
		r.platform(prefix+"platforms."+v.name, v)
	}
}

func (r *result) platform(path string, v view) {
	missing := v.missing()
	switch {
	case *v.enabled && len(missing) > 0:
		var keys []string
		for _, k := range missing {
			keys = append(keys, path+"."+k)
		}
		r.add(&r.problems, Invalid, path+".enabled", path, "is enabled and has no credentials: set "+strings.Join(keys, " and ")+", or enabled: false")
	case !*v.enabled && v.given() > 0 && len(missing) > 0:
		r.add(&r.warnings, Ignored, "", path, "stays off: "+strings.Join(missing, " and ")+" is missing")
	case !*v.enabled && v.given() > 0 && !platformBuilt(v.name):
		r.add(&r.warnings, Ignored, "", path, "stays off: it has credentials, and this platform is not built yet")
	}
	if v.access.AllowAll {
		r.add(&r.warnings, Warning, path+".allow_all", path+".allow_all", "everybody on the platform may talk to the agent, and the agent runs commands on this machine")
	}
	if peopleHaveNumbers(v.name) {
		r.numeric(path+".allowed_users", v.access.AllowedUsers)
		r.numeric(path+".admins", v.access.Admins)
	}
}

// peopleHaveNumbers tells whether a platform knows people by number.
func peopleHaveNumbers(platform string) bool { return platform == "telegram" }

var numericID = regexp.MustCompile(`^-?[0-9]+$`)

// numeric warns of names where a platform knows people by number: they let nobody in.
func (r *result) numeric(path string, ids []string) {
	for _, id := range ids {
		if !numericID.MatchString(id) {
			r.add(&r.warnings, Warning, path, path, fmt.Sprintf("%q lets nobody in: ids are numbers here, not names", id))
		}
	}
}

var profileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$`)

// names checks that profiles have names of their own, and that routes name them.
func (r *result) names() {
	seen := map[string]bool{}
	for i, p := range r.cfg.Profiles {
		path := element("profiles", i) + ".name"
		switch {
		case p.Name == "":
			r.add(&r.problems, Invalid, element("profiles", i), path, "is missing")
		case !profileName.MatchString(p.Name):
			r.fail(path, "must be letters, digits, - and _, at most 32")
		case seen[p.Name]:
			r.fail(path, fmt.Sprintf("%q is the name of an earlier profile", p.Name))
		}
		seen[p.Name] = true
	}
	for i, to := range r.cfg.Routing {
		path := element("routing", i) + ".profile"
		switch {
		case to.Profile == "":
			r.add(&r.problems, Invalid, element("routing", i), path, "is missing")
		case !seen[to.Profile] && to.Profile != DefaultProfile:
			r.fail(path, fmt.Sprintf("%q is the name of no profile", to.Profile))
		}
		path = element("routing", i) + ".platform"
		if _, ok := r.cfg.Access(to.Platform); !ok && to.Platform != "" {
			r.fail(path, fmt.Sprintf("%q is the name of no platform", to.Platform))
		}
	}
}

// accounts refuses one credential in two places: both would answer the same people.
func (r *result) accounts() {
	holder := map[string]string{}
	claim := func(prefix string, p *Platforms) {
		for _, v := range p.views() {
			if v.given() == 0 {
				continue
			}
			path, account := prefix+"platforms."+v.name, v.name
			for _, c := range v.credentials {
				account += "\x00" + c.value
			}
			if first, taken := holder[account]; taken {
				r.add(&r.problems, Invalid, path+"."+v.credentials[0].key, path, "has the same credentials as "+first+": each profile needs an account of its own")
				continue
			}
			holder[account] = path
		}
	}
	claim("", &r.cfg.Platforms)
	for i := range r.cfg.Profiles {
		claim(element("profiles", i)+".", &r.cfg.Profiles[i].Platforms)
	}
}

// RequireForRun lists what a running gateway needs and does not have.
func (l *Loaded) RequireForRun() []Problem {
	out := requireAgent("", &l.Config.Agent)
	for i := range l.Config.Profiles {
		out = append(out, requireAgent(element("profiles", i)+".", &l.Config.Profiles[i].Agent)...)
	}
	return out
}

func requireAgent(prefix string, a *Agent) []Problem {
	var out []Problem
	need := func(key, text string) {
		out = append(out, Problem{Kind: Missing, Path: prefix + "agent." + key, Text: text})
	}
	switch a.Provider {
	case ProviderOpenAI:
		if a.Model == "" {
			need("model", "is empty: name the model that answers, or set agent.provider to rehearsal for a script without a model")
		}
		if a.BaseURL == "" && !a.APIKey.IsSet() {
			need("api_key", "is empty: set it or OPENAI_API_KEY, or set agent.base_url to a server that needs no key")
		}
	case ProviderAnthropic:
		if a.Model == "" {
			need("model", "is empty: name the model that answers")
		}
		if a.BaseURL == "" && !a.APIKey.IsSet() {
			need("api_key", "is empty: set it or ANTHROPIC_API_KEY")
		}
	case ProviderACP:
		if len(a.Command) == 0 {
			need("command", "is empty: it is the agent's command line")
		}
	case ProviderRehearsal:
	}
	return out
}
