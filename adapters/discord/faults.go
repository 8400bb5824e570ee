package discord

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"github.com/homing-gateway/homing/adapters/attempt"
	"github.com/homing-gateway/homing/internal/chat"
)

// sendFault says what a failed call means for a message to that address: the one place that decides.
func sendFault(to chat.Address, err error) *chat.SendError {
	if e, ok := errors.AsType[*attempt.Error](err); ok {
		return e.Fault()
	}
	e, ok := errors.AsType[*apiError](err)
	if !ok {
		return &chat.SendError{Fault: chat.Unknown, Err: err}
	}
	switch {
	case e.status == http.StatusTooManyRequests, e.code == 20016, e.code == 20028: // slow mode; too many writes in the channel
		return &chat.SendError{Fault: chat.RateLimited, RetryAfter: e.retryAfter, Err: e}
	case e.status >= 500 || e.foreign && e.status != http.StatusRequestEntityTooLarge: // a proxy has the last word on sizes
		return &chat.SendError{Fault: chat.ServerError, Err: e}
	}
	return &chat.SendError{Fault: chat.Refused, Class: refusal(to, e), Err: e}
}

// refusal tells why Discord does not want a message.
func refusal(to chat.Address, e *apiError) chat.Class {
	switch e.code {
	case 10003: // unknown channel: a thread is one
		if to.Thread != "" {
			return chat.ClassThreadGone
		}
		return chat.ClassChatGone
	case 10008: // unknown message: the one that a thread was to be opened from, or that was to be edited
		return chat.ClassThreadGone
	case 50083, 160005: // archived, and nobody but a moderator opens it; locked
		return chat.ClassThreadGone
	case 10004, 10013: // unknown guild, unknown user
		return chat.ClassChatGone
	case 50001, 50007, 50013, 50278: // no access; no messages to this user; no permission; no guild in common
		return chat.ClassBlocked
	case 40001, 50014: // unauthorized; invalid token
		return chat.ClassCredential
	case 40005: // too large
		return chat.ClassTooLong
	case 50035: // invalid form body
		if strings.Contains(e.fields, `"content"`) && strings.Contains(e.fields, "BASE_TYPE_MAX_LENGTH") {
			return chat.ClassTooLong
		}
		return chat.ClassOther
	}
	switch e.status {
	case http.StatusUnauthorized:
		return chat.ClassCredential
	case http.StatusForbidden:
		return chat.ClassBlocked
	case http.StatusRequestEntityTooLarge:
		return chat.ClassTooLong
	}
	return chat.ClassOther
}

// disliked tells whether a message was refused for what it replies to, and for nothing else.
func disliked(err error) bool {
	e, ok := errors.AsType[*apiError](err)
	return ok && (e.code == 160002 || // no permission to read what is replied to
		e.code == 50035 && (e.fields == "" || strings.Contains(e.fields, `"message_reference"`)))
}

// is tells whether err is a refusal with that code of Discord's.
func is(err error, code int) bool {
	e, ok := errors.AsType[*apiError](err)
	return ok && e.code == code
}

// The remedies, in the words that an operator reads.
const (
	remedyCredential  = "Discord does not know this bot token. Get a new one (Developer Portal, your application, Bot, Reset Token) and put it into DISCORD_BOT_TOKEN or platforms.discord.token."
	remedyIntent      = "Discord withholds what people write. Switch the message content intent on (Developer Portal, your application, Bot, Privileged Gateway Intents), then restart the gateway."
	remedySharding    = "Discord serves this bot only with shards, which Homing does not have: the bot is in too many servers. Use a bot of its own for Homing."
	remedyVersion     = "Discord does not speak this version of its gateway any more. Install a newer Homing."
	remedyUnreachable = "It connects again by itself. If that does not help, check the network, and platforms.discord.api_url where it is set."
	remedyBudget      = "The bot has connected too often, and Discord takes away the token of one that goes on. It connects again by itself; if that comes again, look for a second program with this token, or for restarts in a loop."
)

// errInvalid is a session that Discord does not go on with.
var errInvalid = errors.New("discord has ended the session")

// runFault says what a failure means for the connection, and whether the session may be resumed after it.
func runFault(err error) (e *chat.RunError, resumable bool) {
	if c, ok := errors.AsType[*websocket.CloseError](err); ok {
		return closeFault(c)
	}
	if errors.Is(err, errInvalid) { // an identify is to come after a random pause
		return &chat.RunError{Cause: chat.CauseUnreachable, After: time.Second + rand.N(4*time.Second), Err: err}, false
	}
	a, ok := errors.AsType[*apiError](err)
	switch {
	case !ok || a.foreign:
		return &chat.RunError{Cause: chat.CauseUnreachable, Remedy: remedyUnreachable, Err: err}, true
	case a.status == http.StatusTooManyRequests:
		return &chat.RunError{Cause: chat.CauseUnreachable, After: a.retryAfter, Err: a}, true
	case a.status == http.StatusUnauthorized:
		return &chat.RunError{Cause: chat.CauseBadCredential, Park: true, Remedy: remedyCredential, Err: a}, false
	}
	return &chat.RunError{Cause: chat.CauseUnreachable, Err: a}, true
}

// closeFault says what the gateway means by the code that it closes with.
func closeFault(err *websocket.CloseError) (e *chat.RunError, resumable bool) {
	e = &chat.RunError{Cause: chat.CauseUnreachable, Err: err}
	switch err.Code {
	case 4004:
		e.Cause, e.Park, e.Remedy = chat.CauseBadCredential, true, remedyCredential
	case 4013, 4014:
		e.Cause, e.Park, e.Remedy = chat.CauseMissingIntent, true, remedyIntent
	case 4010, 4011:
		e.Park, e.Remedy = true, remedySharding
	case 4012:
		e.Park, e.Remedy = true, remedyVersion
	case 4003, 4005, 4007, 4009: // not authenticated, twice authenticated, a bad sequence, timed out: a new session is wanted
		e.After = time.Second + rand.N(4*time.Second)
	default:
		return e, true
	}
	return e, false
}
