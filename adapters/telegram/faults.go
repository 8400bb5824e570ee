package telegram

import (
	"errors"
	"net/http"
	"strings"

	"github.com/homing-gateway/homing/adapters/attempt"
	"github.com/homing-gateway/homing/internal/chat"
)

// sendFault says what a failed call means for the message: the one place that decides.
func sendFault(err error) *chat.SendError {
	if e, ok := errors.AsType[*attempt.Error](err); ok {
		return e.Fault()
	}
	e, ok := errors.AsType[*apiError](err)
	if !ok { // Telegram said yes, and the library could not read how
		return &chat.SendError{Fault: chat.Unknown, Err: err}
	}
	switch {
	case e.code == http.StatusTooManyRequests:
		return &chat.SendError{Fault: chat.RateLimited, RetryAfter: e.retryAfter, Err: e}
	case e.code >= 500 || e.foreign:
		return &chat.SendError{Fault: chat.ServerError, Err: e}
	case e.movedTo != 0:
		return &chat.SendError{Fault: chat.MovedChat, MovedTo: formatID(e.movedTo), Err: e}
	}
	return &chat.SendError{Fault: chat.Refused, Class: refusal(e), Err: e}
}

// already tells whether a change was refused because things are as they are to be. Telegram says so in words only.
func already(err error, words string) bool {
	e, ok := errors.AsType[*apiError](err)
	return ok && e.code == http.StatusBadRequest && strings.Contains(strings.ToLower(e.words), words)
}

// refusal tells why Telegram does not want a message. Most reasons share the code 400 and differ in nothing but words.
func refusal(e *apiError) chat.Class {
	switch e.code {
	case http.StatusUnauthorized, http.StatusNotFound:
		return chat.ClassCredential
	case http.StatusForbidden:
		return chat.ClassBlocked
	case http.StatusRequestEntityTooLarge:
		return chat.ClassTooLong
	}
	words := strings.ToLower(e.words)
	for _, k := range []struct {
		class chat.Class
		words []string
	}{
		{chat.ClassMarkup, []string{
			"can't parse entities", "entity_bounds_invalid", "entity_textlink_url_invalid",
			"photo_invalid_dimensions", "image_process_failed", "photo_save_file_invalid",
		}}, // not to be shown as a photo
		{chat.ClassThreadGone, []string{"message thread not found", "topic_deleted", "topic_id_invalid"}},
		{chat.ClassChatGone, []string{"chat not found", "peer_id_invalid", "group chat was deactivated", "group chat was deleted"}},
		{chat.ClassTooLong, []string{"message is too long", "message_too_long", "caption is too long", "file is too big"}},
		{chat.ClassBlocked, []string{"not enough rights", "have no rights", "chat_write_forbidden", "chat_restricted", "user_is_blocked"}},
	} {
		for _, w := range k.words {
			if strings.Contains(words, w) {
				return k.class
			}
		}
	}
	return chat.ClassOther
}

// The remedies, in the words that an operator reads.
const (
	remedyCredential = "Telegram does not know this bot token. Ask @BotFather for the current one (/mybots, API Token) and put it into TELEGRAM_BOT_TOKEN or platforms.telegram.token."
	remedyConflict   = "Another program receives this bot's messages with the same token. Stop it, or give each program a bot of its own."
	remedyWebhook    = "This bot's messages go to a webhook that another program has set. Remove it there or with the deleteWebhook method, or use another bot."
)

// runFault says what a failed call means for the connection.
func runFault(err error) *chat.RunError {
	if e, ok := errors.AsType[*attempt.Error](err); ok {
		return &chat.RunError{Cause: chat.CauseUnreachable, Err: e}
	}
	e, ok := errors.AsType[*apiError](err)
	if !ok {
		return &chat.RunError{Cause: chat.CauseUnreachable, Err: err}
	}
	switch {
	case e.code == http.StatusTooManyRequests:
		return &chat.RunError{Cause: chat.CauseUnreachable, After: e.retryAfter, Err: e}
	case e.foreign:
		return &chat.RunError{Cause: chat.CauseUnreachable, Err: e}
	case e.code == http.StatusUnauthorized || e.code == http.StatusNotFound:
		return &chat.RunError{Cause: chat.CauseBadCredential, Park: true, Remedy: remedyCredential, Err: e}
	case e.code == http.StatusConflict && strings.Contains(strings.ToLower(e.words), "webhook"):
		return &chat.RunError{Cause: chat.CauseWebhookSet, Remedy: remedyWebhook, Err: e}
	case e.code == http.StatusConflict:
		return &chat.RunError{Cause: chat.CauseConflict, Remedy: remedyConflict, Err: e}
	}
	return &chat.RunError{Cause: chat.CauseUnreachable, Err: e}
}
