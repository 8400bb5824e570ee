package slack

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/homing-gateway/homing/adapters/attempt"
	"github.com/homing-gateway/homing/internal/chat"
)

// What Slack's errors mean, by their names (docs.slack.dev/reference/methods/chat.postMessage, chat.update,
// files.getUploadURLExternal, files.completeUploadExternal and the errors that all methods share).
var (
	// badCredentials: the token is not valid, or no more.
	badCredentials = []string{
		"invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive", "not_allowed_token_type", "missing_scope", "no_permission",
		"org_login_required", "two_factor_setup_required", "team_access_not_granted",
	}
	// halfDone: the call failed, and "it's possible some aspect of the operation succeeded".
	halfDone = []string{"fatal_error", "internal_error"}
	// failing: the call did nothing, and may be made again.
	failing = []string{"service_unavailable", "team_added_to_org", "request_timeout", "external_channel_migrating", "update_failed"}
	refused = map[chat.Class][]string{
		chat.ClassChatGone: {"channel_not_found", "invalid_channel", "is_archived", "is_inactive", "team_not_found"},
		// cannot_reply_to_message: what the thread hangs on is no message to which anybody can reply.
		chat.ClassThreadGone: {"thread_not_found", "invalid_thread_ts", "cannot_reply_to_message", "restricted_action_thread_locked", "restricted_action_non_threadable_channel"},
		chat.ClassBlocked: {
			"not_in_channel", "restricted_action", "restricted_action_read_only_channel", "restricted_action_thread_only_channel", "messages_tab_disabled",
			"cannot_dm_bot", "user_not_found", "user_not_visible", "user_disabled", "access_denied", "ekm_access_denied", "accesslimited", "enterprise_is_restricted",
		},
		chat.ClassTooLong: {"msg_too_long", "msg_blocks_too_long", "file_upload_size_restricted"},
		chat.ClassMarkup:  {"invalid_blocks", "invalid_blocks_format", "block_mismatch"},
	}
)

// sendFault says what a failed call means for the message: the one place that decides.
func sendFault(err error) *chat.SendError {
	if e, ok := errors.AsType[*attempt.Error](err); ok {
		return e.Fault()
	}
	e, ok := errors.AsType[*apiError](err)
	if !ok { // Slack said yes, and the answer could not be read
		return &chat.SendError{Fault: chat.Unknown, Err: err}
	}
	switch {
	case limited(e):
		return &chat.SendError{Fault: chat.RateLimited, RetryAfter: e.retryAfter, Err: e}
	case slices.Contains(halfDone, e.code), e.status == http.StatusGatewayTimeout:
		return &chat.SendError{Fault: chat.Unknown, Err: e}
	case slices.Contains(failing, e.code), e.code == "": // a status without a word of the Web API: a proxy, or Slack as a whole
		return &chat.SendError{Fault: chat.ServerError, Err: e}
	case slices.Contains(badCredentials, e.code):
		return &chat.SendError{Fault: chat.Refused, Class: chat.ClassCredential, Err: e}
	}
	for class, codes := range refused {
		if slices.Contains(codes, e.code) {
			return &chat.SendError{Fault: chat.Refused, Class: class, Err: e}
		}
	}
	return &chat.SendError{Fault: chat.Refused, Class: chat.ClassOther, Err: e}
}

// limited: Slack asks to wait. The names are those of the Web API as a whole and of chat.postMessage.
func limited(e *apiError) bool {
	return e.status == http.StatusTooManyRequests || e.code == "ratelimited" || e.code == "rate_limited"
}

// token names one of the two tokens for people.
type token string

const (
	botToken token = "bot token (SLACK_BOT_TOKEN or platforms.slack.bot_token)"
	appToken token = "app token (SLACK_APP_TOKEN or platforms.slack.app_token)"
)

// remedy says where to find a token that works.
func (t token) remedy() string {
	if t == botToken {
		return "Copy the Bot User OAuth Token (xoxb-…) of your app from api.slack.com/apps, OAuth & Permissions, and put it into SLACK_BOT_TOKEN or platforms.slack.bot_token. If the app was removed from the workspace, install it again first."
	}
	return "Make an App-Level Token (xapp-…) with the scope connections:write at api.slack.com/apps, Basic Information, and put it into SLACK_APP_TOKEN or platforms.slack.app_token."
}

const (
	remedySocketMode = "Socket Mode is switched off for this app, so that its messages do not come here. Switch it on at api.slack.com/apps, Socket Mode."
	remedyWorkspace  = "The bot token belongs to another workspace than before. Put the old one back, or restart: conversations of the old workspace stay as they are."
)

// runFault says what a failed call with that token means for the connection.
func runFault(err error, t token) *chat.RunError {
	e, ok := errors.AsType[*apiError](err)
	if !ok {
		return &chat.RunError{Cause: chat.CauseUnreachable, Err: err}
	}
	switch {
	case limited(e):
		return &chat.RunError{Cause: chat.CauseUnreachable, After: e.retryAfter, Err: e}
	case e.code == "missing_scope":
		what := e.needed
		if what == "" {
			what = "that docs/operations.md lists"
		}
		return &chat.RunError{Cause: chat.CauseMissingIntent, Park: true, Err: e, Remedy: fmt.Sprintf(
			"The %s lacks the scope %s. Add it at api.slack.com/apps and install the app into the workspace again.", t, what)}
	case e.code == "not_allowed_token_type":
		return &chat.RunError{Cause: chat.CauseBadCredential, Park: true, Err: e, Remedy: "The " + string(t) + " is a token of another kind. " + t.remedy()}
	case slices.Contains(badCredentials, e.code):
		return &chat.RunError{Cause: chat.CauseBadCredential, Park: true, Err: e, Remedy: "Slack does not accept the " + string(t) + ". " + t.remedy()}
	}
	return &chat.RunError{Cause: chat.CauseUnreachable, Err: e}
}
