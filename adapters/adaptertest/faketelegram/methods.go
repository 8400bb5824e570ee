package faketelegram

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
)

// MaxText is the longest text of a message, in UTF-16 units and without markup.
const MaxText = 4096

func (s *Server) call(ctx context.Context, method string, p map[string]string) reply {
	if strings.EqualFold(method, "getUpdates") {
		return s.getUpdates(ctx, p)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.Change()
	switch strings.ToLower(method) {
	case "getme":
		return result(s.bot)
	case "getwebhookinfo":
		return result(map[string]any{"url": s.webhook, "has_custom_certificate": false, "pending_update_count": len(s.queue)})
	case "deletewebhook":
		s.webhook = ""
		return result(true)
	case "sendmessage":
		return s.send(p)
	case "senddocument":
		return s.sendFile("document", p)
	case "sendphoto":
		return s.sendFile("photo", p)
	case "getfile":
		return s.getFile(p["file_id"])
	case "editmessagetext":
		return s.edit(p)
	case "deletemessage":
		return s.remove(p)
	case "setmessagereaction":
		return s.react(p)
	case "sendchataction":
		if _, refusal := s.place(p); !refusal.OK {
			return refusal
		}
		return result(true)
	case "answercallbackquery":
		return s.answerPress(p["callback_query_id"])
	case "setmycommands":
		return s.setCommands(p["commands"])
	}
	return refuse(404, "Not Found: method not found")
}

// place finds the chat of a call, or says why there is none.
func (s *Server) place(p map[string]string) (*room, reply) {
	r := s.chats[number(p["chat_id"])]
	switch {
	case r == nil || r.gone:
		return nil, refuse(400, "Bad Request: chat not found")
	case r.movedTo != 0:
		a := refuse(400, "Bad Request: group chat was upgraded to a supergroup chat")
		a.Parameters = &hints{MigrateTo: r.movedTo}
		return nil, a
	case r.blocked && r.kind == "private":
		return nil, refuse(403, "Forbidden: bot was blocked by the user")
	case r.blocked:
		return nil, refuse(403, "Forbidden: bot was kicked from the %s chat", r.kind)
	}
	if t := number(p["message_thread_id"]); t != 0 && r.topics[t] == "" {
		return nil, refuse(400, "Bad Request: message thread not found")
	}
	return r, reply{OK: true}
}

func (s *Server) send(p map[string]string) reply {
	r, refusal := s.place(p)
	if !refusal.OK {
		return refusal
	}
	text, entities, refusal := content(p)
	if !refusal.OK {
		return refusal
	}
	buttons, refusal := parseButtons(p["reply_markup"])
	if !refusal.OK {
		return refusal
	}
	var to struct {
		ID      int64 `json:"message_id"`
		Without bool  `json:"allow_sending_without_reply"`
	}
	if raw := p["reply_parameters"]; raw != "" {
		if json.Unmarshal([]byte(raw), &to) != nil {
			return refuse(400, "Bad Request: can't parse reply parameters JSON object")
		}
		if r.post(to.ID) == nil {
			if !to.Without {
				return refuse(400, "Bad Request: message to be replied not found")
			}
			to.ID = 0
		}
	}
	m := r.add(&Message{
		Thread: number(p["message_thread_id"]), From: s.bot.ID, Text: text, Entities: entities, ReplyTo: to.ID,
		Silent: p["disable_notification"] == "true", Buttons: buttons,
	})
	return result(s.present(r, m))
}

// content is the text of a call as it is read, or why it cannot be.
func content(p map[string]string) (string, []Entity, reply) {
	text, entities := p["text"], []Entity(nil)
	switch strings.ToLower(p["parse_mode"]) {
	case "":
	case "html":
		var err error
		if text, entities, err = ParseHTML(text); err != nil {
			return "", nil, refuse(400, "Bad Request: can't parse entities: %v", err)
		}
	default:
		return "", nil, refuse(400, "Bad Request: unsupported parse_mode")
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", nil, refuse(400, "Bad Request: message text is empty")
	}
	if Units(text) > MaxText {
		return "", nil, refuse(400, "Bad Request: message is too long")
	}
	return text, entities, reply{OK: true}
}

func (s *Server) setCommands(raw string) reply {
	var list []Command
	if json.Unmarshal([]byte(raw), &list) != nil {
		return refuse(400, "Bad Request: can't parse commands")
	}
	name := regexp.MustCompile(`^[a-z0-9_]{1,32}$`)
	for _, c := range list {
		if !name.MatchString(c.Command) {
			return refuse(400, "Bad Request: BOT_COMMAND_INVALID")
		}
		if c.Description == "" || len([]rune(c.Description)) > 256 {
			return refuse(400, "Bad Request: BOT_COMMAND_DESCRIPTION_INVALID")
		}
	}
	s.commands = list
	return result(true)
}
