package discord

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/homing-gateway/homing/adapters/attempt"
	"github.com/homing-gateway/homing/internal/chat"
)

// Flags of a message.
const (
	flagNoEmbeds  = 1 << 2 // no previews of links
	flagEphemeral = 1 << 6
	flagSilent    = 1 << 12
)

// content is the body of a message.
type content struct {
	Content   string     `json:"content"`
	Nonce     string     `json:"nonce,omitempty"`
	Enforce   bool       `json:"enforce_nonce,omitempty"`
	Flags     int        `json:"flags,omitempty"`
	Mentions  mentions   `json:"allowed_mentions"`
	Reference *reference `json:"message_reference,omitempty"`
	Rows      []row      `json:"components"`

	Attachments []described `json:"attachments,omitempty"`
}

// mentions says whom a message may notify: the one whom it answers, and nobody whom its text names.
type mentions struct {
	Parse   []string `json:"parse"`
	Replied bool     `json:"replied_user"`
}

type reference struct {
	Message string `json:"message_id"`
	Must    bool   `json:"fail_if_not_exists"`
}

// row is a row of buttons.
type row struct {
	Type    int      `json:"type"`
	Buttons []button `json:"components"`
}

type button struct {
	Type    int    `json:"type"`
	Style   int    `json:"style"`
	Label   string `json:"label"`
	Command string `json:"custom_id"`
}

const (
	typeRow     = 1
	typeButton  = 2
	styleGrey   = 2
	rowLength   = 5
	maxRows     = 5
	maxLabel    = 80 // characters
	maxThread   = 60 // characters of a thread's name; Discord takes 100
	nonceLength = 24 // of 25
)

// rows lays buttons out; those that have no room are left out: the text makes sense without them.
func rows(list []chat.Button) []row {
	out := []row{}
	for i, b := range list {
		if i%rowLength == 0 {
			if len(out) == maxRows {
				break
			}
			out = append(out, row{Type: typeRow})
		}
		last := &out[len(out)-1]
		last.Buttons = append(last.Buttons, button{typeButton, styleGrey, cut(b.Label, maxLabel), b.Command})
	}
	return out
}

// cut shortens a text to so many characters.
func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return strings.TrimSpace(string(r[:most-1])) + "…"
	}
	return s
}

// nonce is the name under which Discord knows a repetition. It has room for 25 characters.
func nonce(channel, key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(channel + " " + key))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:nonceLength]
}

// plain writes a text so that it is read to the letter: a backslash before what may be markup, unless that makes it too
// long.
func plain(text string) string {
	escaped := strings.NewReplacer(
		`\`, `\\`, "*", `\*`, "_", `\_`, "~", `\~`, "`", "\\`", "|", `\|`, "<", `\<`, ">", `\>`, "[", `\[`, "#", `\#`, "-", `\-`,
	).Replace(text)
	if utf8.RuneCountInString(escaped) > maxText {
		return text
	}
	return escaped
}

func body(out chat.Outbound) content {
	text := out.Text
	if out.Plain {
		text = plain(text)
	}
	c := content{Content: text, Flags: flagNoEmbeds, Mentions: mentions{Parse: []string{}, Replied: true}, Rows: rows(out.Buttons)}
	if out.Silent {
		c.Flags |= flagSilent
	}
	return c
}

// Send makes one call. Two things it does besides, and both only after Discord has refused the message, so that nothing
// is there twice: a thread that is not there yet is opened from its message, and a message that cannot be replied to is
// answered without a reference.
func (a *Adapter) Send(ctx context.Context, out chat.Outbound) (chat.Receipt, error) {
	return a.send(ctx, out, func(ctx context.Context, path string, c content) ([]byte, error) {
		return a.client.call(ctx, http.MethodPost, path, "POST "+path, c)
	})
}

// send makes a message by post, the one call that creates it.
func (a *Adapter) send(ctx context.Context, out chat.Outbound, post func(ctx context.Context, path string, c content) ([]byte, error)) (chat.Receipt, error) {
	if err := check(out.To); err != nil {
		return chat.Receipt{}, err
	}
	ctx, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	c := body(out)
	c.Nonce = nonce(channelOf(out.To), out.Key)
	c.Enforce = c.Nonce != ""
	if isID(out.ReplyTo) && out.ReplyTo != out.To.Thread { // what opened a thread is not in it
		c.Reference = &reference{Message: out.ReplyTo}
	}
	path := "channels/" + channelOf(out.To) + "/messages"
	id, err := created(post(ctx, path, c))
	if is(err, 10003) && a.opens(out.To) {
		if err = a.openThread(ctx, out.To); err == nil {
			id, err = created(post(ctx, path, c))
		}
	}
	if c.Reference != nil && disliked(err) {
		c.Reference = nil
		id, err = created(post(ctx, path, c))
	}
	if err != nil {
		return chat.Receipt{}, sendFault(out.To, err)
	}
	return chat.Receipt{MessageID: id}, nil
}

// created reads the answer to the call that creates a message.
func created(answer []byte, err error) (string, error) {
	if err != nil {
		return "", err
	}
	var m struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(answer, &m); err != nil || m.ID == "" {
		return "", &attempt.Error{Sent: true, Err: errors.New("a message without an id")}
	}
	return m.ID, nil
}

// opens tells whether a thread that is not there may be one that we are to open.
func (a *Adapter) opens(to chat.Address) bool {
	return a.options.AutoThread && to.Type == chat.Thread && to.Thread != ""
}

// openThread opens the thread of a message. It is named after what the message says.
func (a *Adapter) openThread(ctx context.Context, to chat.Address) error {
	err := a.branch(ctx, to)
	if e, ok := errors.AsType[*apiError](err); ok && e.status < 500 && e.status != http.StatusTooManyRequests && !e.foreign {
		// The message or the permission is missing, or there was a thread and somebody deleted it.
		return &apiError{status: e.status, code: 10003, words: "the thread cannot be opened: " + e.Error()}
	}
	return err
}

func (a *Adapter) branch(ctx context.Context, to chat.Address) error {
	path := "channels/" + to.Chat + "/messages/" + to.Thread
	answer, err := a.client.call(ctx, http.MethodGet, path, "GET channels/"+to.Chat+"/messages/", nil)
	if err != nil {
		return err
	}
	var m message
	name := "Conversation"
	if json.Unmarshal(answer, &m) == nil {
		if words := strings.Join(strings.Fields(read(m.Content, m.Mentions, a.guilds.ours).text), " "); words != "" {
			name = cut(words, maxThread)
		}
	}
	_, err = a.client.call(ctx, http.MethodPost, path+"/threads", "POST channels/"+to.Chat+"/messages/threads", map[string]any{"name": name})
	if err == nil {
		a.guilds.put(channel{ID: to.Thread, Type: 11, ParentID: to.Chat, GuildID: m.GuildID})
	}
	return err
}

// Edit gives a message another text and other buttons.
func (a *Adapter) Edit(ctx context.Context, messageID string, out chat.Outbound) error {
	if err := check(out.To); err != nil {
		return err
	}
	if !isID(messageID) {
		return &chat.SendError{Fault: chat.Refused, Class: chat.ClassOther, Err: fmt.Errorf("%q is no message of Discord", messageID)}
	}
	ctx, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	path := "channels/" + channelOf(out.To) + "/messages/"
	c := body(out)
	c.Flags &^= flagSilent
	_, err := a.client.call(ctx, http.MethodPatch, path+messageID, "PATCH "+path, c)
	switch {
	case is(err, 10008): // nothing is wrong with its place
		return &chat.SendError{Fault: chat.Refused, Class: chat.ClassOther, Err: err}
	case err != nil:
		return sendFault(out.To, err)
	}
	return nil
}

// Remove takes a message of ours back. One that is gone already, with its place or without, is taken back.
func (a *Adapter) Remove(ctx context.Context, to chat.Address, messageID string) error {
	if err := check(to); err != nil {
		return err
	}
	if !isID(messageID) {
		return &chat.SendError{Fault: chat.Refused, Class: chat.ClassOther, Err: fmt.Errorf("%q is no message of Discord", messageID)}
	}
	ctx, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	path := "channels/" + channelOf(to) + "/messages/"
	_, err := a.client.call(ctx, http.MethodDelete, path+messageID, "DELETE "+path, nil)
	if err != nil && !is(err, 10008) && !is(err, 10003) {
		return sendFault(to, err)
	}
	return nil
}

// React puts a pair of eyes under a person's message. One that a thread was opened from is beside the thread, and one that began
// a forum post is in it.
func (a *Adapter) React(ctx context.Context, to chat.Address, messageID string) error {
	if err := check(to); err != nil {
		return err
	}
	if !isID(messageID) {
		return &chat.SendError{Fault: chat.Refused, Class: chat.ClassOther, Err: fmt.Errorf("%q is no message of Discord", messageID)}
	}
	ctx, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	mark := func(channel string) error {
		path := "channels/" + channel + "/messages/"
		_, err := a.client.call(ctx, http.MethodPut, path+messageID+"/reactions/"+url.PathEscape("👀")+"/@me", "PUT "+path+"reactions", nil)
		return err
	}
	err := mark(channelOf(to))
	if messageID == to.Thread && (is(err, 10003) || is(err, 10008)) {
		err = mark(to.Chat)
	}
	switch {
	case is(err, 10008): // nothing is wrong with its place
		return &chat.SendError{Fault: chat.Refused, Class: chat.ClassOther, Err: err}
	case err != nil:
		return sendFault(to, err)
	}
	return nil
}

// Typing shows that we are writing. Where the thread is yet to be opened, the channel shows it.
func (a *Adapter) Typing(ctx context.Context, to chat.Address) error {
	if err := check(to); err != nil {
		return err
	}
	ctx, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	sign := func(channel string) error {
		path := "channels/" + channel + "/typing"
		_, err := a.client.call(ctx, http.MethodPost, path, "POST "+path, nil)
		return err
	}
	err := sign(channelOf(to))
	if is(err, 10003) && a.opens(to) {
		err = sign(to.Chat)
	}
	if err != nil {
		return sendFault(to, err)
	}
	return nil
}

// TypingLasts is after how long the sign ends by itself.
func (a *Adapter) TypingLasts() time.Duration { return 10 * time.Second }

// menu is the native command menu as Discord last took it.
type menu struct {
	mu  sync.Mutex
	set string
}

// maxDescription is the longest description of a command, in characters.
const maxDescription = 100

// SetMenu replaces the native commands. Each takes what follows it as one text. A menu that is the same as before is not
// sent again: Discord counts that, too.
func (a *Adapter) SetMenu(ctx context.Context, commands []chat.MenuEntry) error {
	_, app := a.guilds.self()
	if app == "" {
		return &chat.SendError{Fault: chat.Unreachable, Err: errors.New("not connected yet")}
	}
	list := []map[string]any{}
	for _, c := range commands {
		list = append(list, map[string]any{
			"type": 1, "name": c.Name, "description": cut(c.Description, maxDescription),
			"options": []any{map[string]any{"type": 3, "name": "text", "description": "what follows the command", "required": false}},
		})
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	a.menu.mu.Lock()
	defer a.menu.mu.Unlock()
	if a.menu.set == string(text) {
		return nil
	}
	ctx, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	path := "applications/" + app + "/commands"
	if _, err := a.client.call(ctx, http.MethodPut, path, "PUT "+path, list); err != nil {
		return sendFault(chat.Address{}, err)
	}
	a.menu.set = string(text)
	return nil
}

// check refuses an address that cannot be one of Discord's: it becomes a part of a path.
func check(to chat.Address) error {
	if !isID(to.Chat) {
		return &chat.SendError{Fault: chat.Refused, Class: chat.ClassChatGone, Err: fmt.Errorf("%q is no channel of Discord: want a number", to.Chat)}
	}
	if to.Thread != "" && !isID(to.Thread) {
		return &chat.SendError{Fault: chat.Refused, Class: chat.ClassThreadGone, Err: fmt.Errorf("%q is no thread of Discord: want a number", to.Thread)}
	}
	return nil
}
