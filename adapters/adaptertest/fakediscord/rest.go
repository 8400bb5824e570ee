package fakediscord

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// answer is what a call comes to.
type answer struct {
	status int
	body   any // nil: none
	code   int
	words  string
	errors any
	header map[string]string
}

func yes(body any) answer { return answer{status: http.StatusOK, body: body} }

func done() answer { return answer{status: http.StatusNoContent} }

func refuse(status, code int, words string) answer {
	return answer{status: status, code: code, words: words}
}

// unfit refuses a body for one of its fields.
func unfit(field, code, words string) answer {
	a := refuse(http.StatusBadRequest, 50035, "Invalid Form Body")
	a.errors = map[string]any{field: map[string]any{"_errors": []any{map[string]any{"code": code, "message": words}}}}
	return a
}

func limited(after float64, global bool) answer {
	h := map[string]string{
		"Retry-After": strconv.Itoa(int(after + 0.999)), "X-RateLimit-Remaining": "0", "X-RateLimit-Limit": "5",
		"X-RateLimit-Reset-After": fmt.Sprintf("%.3f", after), "X-RateLimit-Bucket": "hash", "X-RateLimit-Scope": "user",
		"X-RateLimit-Reset": fmt.Sprintf("%.3f", float64(time.Now().UnixMilli())/1000+after),
	}
	if global {
		h["X-RateLimit-Global"], h["X-RateLimit-Scope"] = "true", "global"
	}
	return answer{
		status: http.StatusTooManyRequests, header: h,
		body: map[string]any{"message": "You are being rate limited.", "retry_after": after, "global": global},
	}
}

var (
	version = regexp.MustCompile(`^/api(/v(9|10))?/`)
	anID    = regexp.MustCompile(`^[0-9]+$`)
)

// call is one request of a client.
type call struct {
	method string
	path   []string // without the version
	query  url.Values
	body   map[string]any
	list   []map[string]any // instead of body, where the body is a list
	files  []File
}

func (c *call) text(key string) string {
	s, _ := c.body[key].(string)
	return s
}

// name is the call without its ids, and the channel that it is about.
func (c *call) name() (name, channel string) {
	switch p := c.path; {
	case p[0] == "channels" && len(p) > 1:
		name, channel = "channel", p[1]
		for _, part := range p[2:] {
			if !anID.MatchString(part) {
				name = part
			}
		}
	case p[0] == "interactions":
		name = "callback"
	case p[0] == "webhooks":
		name = "followup"
	default:
		var kept []string
		for _, part := range p {
			if !anID.MatchString(part) {
				kept = append(kept, part)
			}
		}
		name = strings.Join(kept, "/")
	}
	return c.method + " " + name, channel
}

// ServeHTTP answers one call, or opens a gateway connection.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/gateway") {
		s.connect(w, r)
		return
	}
	if strings.HasPrefix(r.URL.Path, "/attachments/") {
		s.hand(w, r)
		return
	}
	prefix := version.FindString(r.URL.Path)
	c := &call{method: r.Method, path: strings.Split(strings.TrimPrefix(r.URL.Path, prefix), "/"), query: r.URL.Query()}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away in mid-request
	}
	var fit bool
	kind, head, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case kind == "multipart/form-data":
		fit = multipartForm(c, body, head["boundary"])
	case len(body) == 0:
		fit = r.Header.Get("Content-Type") == "" // Discord refuses an empty body that claims to be JSON
	case body[0] == '[':
		fit = json.Unmarshal(body, &c.list) == nil
	default:
		fit = json.Unmarshal(body, &c.body) == nil
	}
	record := Call{At: time.Now(), Content: c.text("content"), Body: c.body, Files: len(c.files), Credential: r.Header.Get("Authorization")}
	record.Name, record.Channel = c.name()
	s.mu.Lock()
	s.calls = append(s.calls, record)
	n, fault := len(s.calls)-1, s.fault(record)
	s.Change()
	s.mu.Unlock()
	a, over := s.strike(w, r, fault, func() answer {
		switch {
		case prefix == "":
			return refuse(http.StatusNotFound, 0, "404: Not Found")
		case !fit:
			return refuse(http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
		case !s.open(c) && !s.knows(r.Header.Get("Authorization")):
			return refuse(http.StatusUnauthorized, 0, "401: Unauthorized")
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		defer s.Change()
		return s.counted(record, func() answer { return s.route(c, r.Host) })
	})
	if over {
		return
	}
	s.mu.Lock()
	s.calls[n].Status = a.status
	s.Change()
	s.mu.Unlock()
	write(w, a)
}

// open tells whether a call needs no token: it carries one of its own.
func (s *Server) open(c *call) bool {
	return c.path[0] == "interactions" || c.path[0] == "webhooks" || len(c.path) == 1 && c.path[0] == "gateway"
}

// knows tells whether a credential is ours, and valid.
func (s *Server) knows(credential string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return credential == "Bot "+s.token && !s.revoked
}

// counted holds a call to the rate limit that is in force.
func (s *Server) counted(record Call, run func() answer) answer {
	key := record.Name + " " + record.Channel
	b := s.buckets[key]
	if b == nil || !time.Now().Before(b.reset) {
		b = &bucket{left: s.limit, reset: time.Now().Add(s.window)}
		s.buckets[key] = b
	}
	left, after := 4, 1.0
	if s.limit > 0 {
		after = time.Until(b.reset).Seconds()
		if b.left == 0 {
			return limited(after, false)
		}
		b.left--
		left = b.left
	}
	a := run()
	a.header = map[string]string{
		"X-RateLimit-Limit": "5", "X-RateLimit-Remaining": strconv.Itoa(left), "X-RateLimit-Reset-After": fmt.Sprintf("%.3f", after),
		"X-RateLimit-Bucket": "hash", "X-RateLimit-Reset": fmt.Sprintf("%.3f", float64(time.Now().UnixMilli())/1000+after),
	}
	return a
}

func write(w http.ResponseWriter, a answer) {
	for k, v := range a.header {
		w.Header().Set(k, v)
	}
	body := a.body
	if a.status >= 400 && body == nil {
		m := map[string]any{"message": a.words, "code": a.code}
		if a.errors != nil {
			m["errors"] = a.errors
		}
		body = m
	}
	if body != nil {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(a.status)
	if body != nil {
		_ = json.NewEncoder(w).Encode(body)
	}
}

// route carries a call out. The caller holds the lock.
func (s *Server) route(c *call, host string) answer {
	p := c.path
	switch {
	case p[0] == "gateway":
		return yes(s.door(host, len(p) > 1))
	case p[0] == "interactions" && len(p) == 4:
		return s.callback(c)
	case p[0] == "webhooks" && len(p) >= 3:
		return s.followUp(c)
	case p[0] == "users" && len(p) == 2 && p[1] == "@me":
		return yes(s.bot.wire())
	case strings.Join(p, "/") == "users/@me/channels" && c.method == http.MethodPost:
		return s.directOf(c.text("recipient_id"))
	case p[0] == "applications" && len(p) == 2 || p[0] == "oauth2":
		return yes(map[string]any{"id": s.bot.ID, "name": s.bot.Name, "flags": s.flags, "bot": s.bot.wire()})
	case p[0] == "applications" && p[len(p)-1] == "commands":
		return s.register(c)
	case p[0] == "guilds" && len(p) == 3 && p[2] == "channels":
		return s.listChannels(p[1])
	case p[0] == "channels" && len(p) >= 2:
		return s.inChannel(c)
	}
	return refuse(http.StatusNotFound, 0, "404: Not Found")
}

// directOf gives the direct channel of a person.
func (s *Server) directOf(person string) answer {
	for _, ch := range s.channels {
		if ch.kind == kindDirect && ch.with == person {
			return yes(s.wireChannel(ch))
		}
	}
	return refuse(http.StatusBadRequest, 50033, "Invalid Recipient(s)")
}

func (s *Server) register(c *call) answer {
	if c.method == http.MethodPut {
		for _, m := range c.list {
			name, _ := m["name"].(string)
			about, _ := m["description"].(string)
			if !regexp.MustCompile(`^[-_a-z0-9]{1,32}$`).MatchString(name) || utf8.RuneCountInString(about) < 1 || utf8.RuneCountInString(about) > 100 {
				return unfit("commands", "APPLICATION_COMMAND_INVALID", "name or description")
			}
			m["id"], m["application_id"] = s.id(), s.bot.ID
		}
		s.commands = c.list
	}
	if s.commands == nil {
		return yes([]any{})
	}
	return yes(s.commands)
}

// Commands gives the names of the commands that are registered.
func (s *Server) Commands() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, c := range s.commands {
		name, _ := c["name"].(string)
		out = append(out, name)
	}
	return out
}

func (s *Server) listChannels(guild string) answer {
	if s.guilds[guild] == nil {
		return refuse(http.StatusNotFound, 10004, "Unknown Guild")
	}
	out := []any{}
	for _, ch := range s.channels {
		if ch.guild == guild && !ch.thread() {
			out = append(out, s.wireChannel(ch))
		}
	}
	return yes(out)
}

func (s *Server) inChannel(c *call) answer {
	ch := s.channels[c.path[1]]
	switch {
	case ch == nil:
		return refuse(http.StatusNotFound, 10003, "Unknown Channel")
	case ch.hidden:
		return refuse(http.StatusForbidden, 50001, "Missing Access")
	case len(c.path) == 2:
		return yes(s.wireChannel(ch))
	}
	switch what := strings.Join(append([]string{c.method}, slices.DeleteFunc(slices.Clone(c.path[2:]), anID.MatchString)...), " "); {
	case what == "POST typing":
		return done()
	case what == "POST messages":
		return s.create(c, ch)
	case what == "GET messages" && len(c.path) == 3:
		return s.page(c, ch)
	case what == "POST messages threads":
		return s.openThread(c, ch, c.path[3])
	}
	m := s.posts[c.path[3]]
	if c.method == http.MethodPut && len(c.path) == 7 && c.path[4] == "reactions" && c.path[6] == "@me" && m != nil && !m.gone && m.Channel == ch.id {
		if ch.blocked {
			return refuse(http.StatusForbidden, 50013, "Missing Permissions")
		}
		m.Reaction = c.path[5]
		return done()
	}
	if len(c.path) != 4 || m == nil || m.gone || m.Channel != ch.id {
		return refuse(http.StatusNotFound, 10008, "Unknown Message")
	}
	switch c.method {
	case http.MethodGet:
		return yes(s.wireMessage(m))
	case http.MethodPatch:
		return s.edit(c, m)
	case http.MethodDelete:
		if m.Author != s.bot.ID {
			return refuse(http.StatusForbidden, 50013, "Missing Permissions")
		}
		m.gone = true
		return done()
	}
	return refuse(http.StatusMethodNotAllowed, 0, "405: Method Not Allowed")
}

// longest is the longest content of a message, in characters.
const longest = 2000

func tooLong(text string) bool { return utf8.RuneCountInString(text) > longest }

func (s *Server) create(c *call, ch *channel) answer {
	content, nonce := c.text("content"), c.text("nonce")
	enforced, _ := c.body["enforce_nonce"].(bool)
	ref, _ := c.body["message_reference"].(map[string]any)
	to, _ := ref["message_id"].(string)
	must := ref["fail_if_not_exists"] != false
	if to != "" && (s.posts[to] == nil || s.posts[to].gone || s.posts[to].Channel != ch.id) {
		if must {
			return unfit("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
		}
		to = ""
	}
	switch {
	case ch.blocked && ch.kind == kindDirect:
		return refuse(http.StatusForbidden, 50007, "Cannot send messages to this user")
	case ch.blocked:
		return refuse(http.StatusForbidden, 50013, "Missing Permissions")
	case ch.kind == kindForum:
		return refuse(http.StatusBadRequest, 50008, "Cannot send messages in a non-text channel")
	case ch.locked:
		return refuse(http.StatusBadRequest, 50083, "Thread is archived")
	case utf8.RuneCountInString(nonce) > 25:
		return unfit("nonce", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.")
	case tooLong(content):
		return unfit("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length.")
	case slices.ContainsFunc(c.files, func(f File) bool { return len(f.Data) > MaxFile }):
		return refuse(http.StatusRequestEntityTooLarge, 40005, "Request entity too large")
	case !c.described():
		return unfit("attachments", "ATTACHMENT_NOT_FOUND", "There is no such file in the request.")
	case strings.TrimSpace(content) == "" && len(c.files) == 0:
		return refuse(http.StatusBadRequest, 50006, "Cannot send an empty message")
	}
	buttons, fit := buttonsOf(c.body["components"])
	if !fit {
		return unfit("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
	}
	if m := s.posts[s.nonces[ch.id+" "+nonce]]; enforced && nonce != "" && m != nil && time.Since(m.At) < nonceLife {
		return yes(s.wireMessage(m))
	}
	flags, _ := c.body["flags"].(float64)
	m := &post{Message: Message{
		ID: s.id(), Channel: ch.id, Author: s.bot.ID, Content: content, ReplyTo: to, Nonce: nonce, Buttons: buttons, Files: s.keep(c.files), At: time.Now(),
		Silent: int(flags)&(1<<12) != 0, Pings: pings(content, c.body["allowed_mentions"]),
	}}
	s.nonces[ch.id+" "+nonce] = m.ID
	ch.archived = false
	s.publish(ch, m)
	return yes(s.wireMessage(m))
}

// nonceLife is how long a nonce is remembered: "the past few minutes".
const nonceLife = 5 * time.Minute

// pings tells whom a content notifies, under what the sender allows.
func pings(content string, allowed any) []string {
	rules, restricted := allowed.(map[string]any)
	parse, _ := rules["parse"].([]any)
	may := func(kind string) bool { return !restricted || slices.Contains(parse, any(kind)) }
	var out []string
	for _, word := range []string{"@everyone", "@here"} {
		if strings.Contains(content, word) && may("everyone") {
			out = append(out, word)
		}
	}
	for _, m := range regexp.MustCompile(`<@(&?)!?([0-9]+)>`).FindAllStringSubmatch(content, -1) {
		if m[1] == "" && may("users") || m[1] == "&" && may("roles") {
			out = append(out, m[2])
		}
	}
	return out
}

// buttonsOf reads message components: rows of at most five buttons.
func buttonsOf(v any) (out []Button, fit bool) {
	rows, _ := v.([]any)
	if len(rows) > 5 {
		return nil, false
	}
	for _, r := range rows {
		row, _ := r.(map[string]any)
		list, _ := row["components"].([]any)
		if row["type"] != 1.0 || len(list) == 0 || len(list) > 5 {
			return nil, false
		}
		for _, b := range list {
			button, _ := b.(map[string]any)
			label, _ := button["label"].(string)
			id, _ := button["custom_id"].(string)
			if button["type"] != 2.0 || id == "" || len(id) > 100 || label == "" || utf8.RuneCountInString(label) > 80 {
				return nil, false
			}
			out = append(out, Button{label, id})
		}
	}
	return out, true
}

func (s *Server) edit(c *call, m *post) answer {
	if m.Author != s.bot.ID {
		return refuse(http.StatusForbidden, 50005, "Cannot edit a message authored by another user")
	}
	if content, ok := c.body["content"].(string); ok {
		if tooLong(content) {
			return unfit("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length.")
		}
		m.Content = content
	}
	if v, ok := c.body["components"]; ok {
		m.Buttons, _ = buttonsOf(v)
	}
	m.Edits++
	s.tell("MESSAGE_UPDATE", m)
	return yes(s.wireMessage(m))
}

// page gives messages of a channel, the newest first.
func (s *Server) page(c *call, ch *channel) answer {
	limit := 50
	if l := c.query.Get("limit"); l != "" {
		if limit = int(number(l)); limit < 1 || limit > 100 {
			return unfit("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 100.")
		}
	}
	after, before := number(c.query.Get("after")), number(c.query.Get("before"))
	var found []*post
	for _, m := range ch.posts {
		if n := number(m.ID); !m.gone && n > after && (before == 0 || n < before) {
			found = append(found, m)
		}
	}
	switch {
	case len(found) > limit && after > 0:
		found = found[:limit]
	case len(found) > limit:
		found = found[len(found)-limit:]
	}
	out := []any{}
	for _, m := range slices.Backward(found) {
		out = append(out, s.wireMessage(m))
	}
	return yes(out)
}

func (s *Server) openThread(c *call, ch *channel, message string) answer {
	m := s.posts[message]
	switch name := c.text("name"); {
	case m == nil || m.gone || m.Channel != ch.id:
		return refuse(http.StatusNotFound, 10008, "Unknown Message")
	case ch.kind != kindText:
		return refuse(http.StatusBadRequest, 50024, "Cannot execute action on this channel type")
	case ch.blocked:
		return refuse(http.StatusForbidden, 50013, "Missing Permissions")
	case m.threaded:
		return refuse(http.StatusBadRequest, 160004, "A thread has already been created for this message")
	case name == "" || utf8.RuneCountInString(name) > 100:
		return unfit("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
	default:
		m.threaded = true
		th := &channel{id: message, kind: kindThread, guild: ch.guild, parent: ch.id, name: name}
		s.channels[message] = th
		wire := s.wireChannel(th)
		wire["newly_created"] = true
		s.dispatch("THREAD_CREATE", intentGuilds, wire)
		return answer{status: http.StatusCreated, body: s.wireChannel(th)}
	}
}
