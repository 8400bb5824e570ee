package chat

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Unit is what a platform counts the length of a text in.
type Unit string

// The units that platforms count in.
const (
	UTF16 Unit = "utf16" // UTF-16 code units (Telegram)
	Runes Unit = "runes" // Unicode code points (Discord, Slack)
	Bytes Unit = "bytes" // UTF-8 bytes
)

// Dialect names the markup that a platform reads. The renderers live in package markup.
type Dialect string

// The dialects.
const (
	Plain        Dialect = "plain"
	TelegramHTML Dialect = "telegram-html"
	Discord      Dialect = "discord"
	SlackMrkdwn  Dialect = "slack-mrkdwn"
	Zulip        Dialect = "zulip"
	FeishuPost   Dialect = "feishu-post" // the JSON of a post's content
)

// Info is what an adapter declares about its account: facts, constant for its life.
type Info struct {
	Account  Account
	Dialect  Dialect
	MaxUnits int  // length of one message as a person sees it
	Unit     Unit // what MaxUnits counts
	// Idempotent: a send that is repeated under the same Outbound.Key makes no second message.
	Idempotent bool
}

// Admit hands an event to the core. It returns nil once the event is durable, and only then may the adapter acknowledge
// it to the platform. It never waits for an agent. On an error nothing was stored: the adapter returns the error from Run.
type Admit func(ctx context.Context, e Event) error

// Adapter translates one account of a platform, and does nothing else: it keeps no session, no policy, no retries and no
// store of its own.
type Adapter interface {
	// Describe does no I/O.
	Describe() Info
	// Run receives events until ctx ends or the connection fails; it blocks, and its goroutines are gone when it returns.
	// cursor is the last Event.Cursor that was stored, or empty. up is called whenever the platform has answered and taken our
	// credential, so that the core knows that the connection lives. Run is called again by the core after an error, never twice at once. A
	// *RunError tells the core how to go on.
	Run(ctx context.Context, cursor string, admit Admit, up func()) error
	// Send makes one attempt at one API call. It returns an error of type *SendError, which says what the core has to do.
	// It may be called from many goroutines, also while Run does not run.
	Send(ctx context.Context, out Outbound) (Receipt, error)
}

// Typer is an adapter that can show that we are writing. The sign ends by itself; TypingLasts says after how long.
type Typer interface {
	Typing(ctx context.Context, to Address) error
	TypingLasts() time.Duration
}

// Editor is an adapter whose messages can be changed after they were sent. A *SendError says why one was not; a text that
// is the same as before is no error.
type Editor interface {
	// Edit gives the message with that id the text of out, in out.To; Key, ReplyTo and Silent mean nothing here.
	Edit(ctx context.Context, messageID string, out Outbound) error
}

// Remover is an adapter that can take back a message of ours. A message that is gone already is no error.
type Remover interface {
	Remove(ctx context.Context, to Address, messageID string) error
}

// Reactor is an adapter that can mark a person's message as seen, without a message of its own.
type Reactor interface {
	React(ctx context.Context, to Address, messageID string) error
}

// Observer is an adapter that can be asked whether a message arrived, where a send's outcome is unknown. It is not asked for
// what SendFile sent.
type Observer interface {
	// Observe looks for what was sent under out.Key in out.To since then; found is false only if the platform has shown
	// everything since and it is not there.
	Observe(ctx context.Context, out Outbound, since time.Time) (r Receipt, found bool, err error)
}

// Historian is an adapter that can be asked for what people wrote while it was not connected.
type Historian interface {
	// History admits what was written in a place after since, oldest first, each under the ID that it would have had live; of
	// more than limit events the newest ones. It returns the first error of the platform or of admit. A direct place without a chat is the
	// one of its person, if there is one.
	History(ctx context.Context, place Address, since time.Time, limit int, admit Admit) error
}

// Menu is an adapter with a native command menu.
type Menu interface {
	SetMenu(ctx context.Context, commands []MenuEntry) error
}

// MenuEntry is one line of a native command menu.
type MenuEntry struct {
	Name        string // without the slash
	Description string
}

// Fault says what the core has to do after a send that did not succeed. Decided by the adapter, once, from codes and
// never from the words of an error where a code exists.
type Fault string

// The faults of a send.
const (
	// Unreachable: nothing was sent (no connection). It costs no attempt.
	Unreachable Fault = "unreachable"
	// RateLimited: not sent; the platform asked to wait SendError.RetryAfter for this chat. It costs no attempt.
	RateLimited Fault = "rate_limited"
	// ServerError: the platform failed and said so. It costs an attempt while other calls of the account succeed.
	ServerError Fault = "server_error"
	// Refused: never again in this form; SendError.Class says why.
	Refused Fault = "refused"
	// Unknown: the request may have arrived.
	Unknown Fault = "unknown"
	// MovedChat: the chat has a new id, SendError.MovedTo; send again there.
	MovedChat Fault = "moved"
)

// Class says why a platform refuses a message for good.
type Class string

// The classes of a refusal.
const (
	ClassMarkup     Class = "markup"       // the part goes again as plain text
	ClassThreadGone Class = "thread_gone"  // the thread or topic does not exist any more
	ClassChatGone   Class = "chat_gone"    // the chat does not exist for us
	ClassBlocked    Class = "blocked"      // the person or the chat does not want us
	ClassTooLong    Class = "too_long"     // over the platform's limit
	ClassCredential Class = "unauthorized" // our credential is not valid
	ClassOther      Class = "refused"
)

// SendError is the outcome of a send that did not succeed. Its text holds no secret: adapters mask at the source.
type SendError struct {
	Fault      Fault
	Class      Class         // with Refused
	RetryAfter time.Duration // with RateLimited
	MovedTo    string        // with MovedChat: the new chat id
	Err        error
}

func (e *SendError) Error() string {
	if e.Class != "" {
		return fmt.Sprintf("%s (%s): %v", e.Fault, e.Class, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Fault, e.Err)
}

// Unwrap returns the cause.
func (e *SendError) Unwrap() error { return e.Err }

// AsSendError returns err as a *SendError. An error of another type counts as Unknown: the request may have arrived.
func AsSendError(err error) *SendError {
	if e, ok := errors.AsType[*SendError](err); ok {
		return e
	}
	return &SendError{Fault: Unknown, Err: err}
}

// Cause names why an account is not up, in the words of `homing status`.
type Cause string

// The causes.
const (
	CauseConflict      Cause = "conflict"        // another program receives with the same credential
	CauseTokenInUse    Cause = "token_in_use"    // another Homing on this machine holds the credential
	CauseBadCredential Cause = "bad_credential"  // the platform does not know it
	CauseWebhookSet    Cause = "webhook_set"     // events go to a webhook
	CauseUnreachable   Cause = "unreachable"     // no connection, or the platform fails
	CauseMissingIntent Cause = "missing_intent"  // the platform withholds events that we need
	CauseIdentify      Cause = "identify_budget" // no more connections today
	CausePaused        Cause = "paused"          // a person let it rest: the core's word, never an adapter's
)

// RunError is why Run ended, as far as the core has to know it.
type RunError struct {
	Cause  Cause
	Park   bool          // trying again by ourselves cannot help; Remedy says what a person has to do
	Remedy string        // with every cause but unreachable: what to do about it
	After  time.Duration // the platform asked to wait that long; 0: the core's own pace
	Err    error
}

func (e *RunError) Error() string { return fmt.Sprintf("%s: %v", e.Cause, e.Err) }

// Unwrap returns the cause.
func (e *RunError) Unwrap() error { return e.Err }
