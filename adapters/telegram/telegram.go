// Package telegram is the adapter for Telegram's Bot API: updates become events, outgoing parts become calls, and what
// went wrong becomes a typed outcome (faults.go).
//
// It holds no session, no policy, no queue and no store. An update is acknowledged by asking for what comes after it, and
// that happens only once it was admitted (run.go). Sends make one attempt and say how far it came (client.go). The bot's
// token is part of every address, so whatever leaves this package as a text is cleaned at its source (client.go).
package telegram

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-telegram/bot"
	"go.uber.org/zap"

	"github.com/homing-gateway/homing/internal/chat"
)

// Name is the platform's name in the configuration and in routes.
const Name chat.Platform = "telegram"

// Defaults of Options.
const (
	DefaultAPIURL      = "https://api.telegram.org"
	DefaultPollTime    = 25 * time.Second
	DefaultPollMargin  = 15 * time.Second
	DefaultCallTimeout = 30 * time.Second
	DefaultDialTimeout = 10 * time.Second
)

// maxText is the longest visible text of a message, in UTF-16 units.
const maxText = 4096

// Options are what an account needs. The zero value of a field other than Token means its default.
type Options struct {
	Profile string // the profile that the account serves; "default"
	Token   string `json:"-"`
	APIURL  string

	PollTime    time.Duration // how long Telegram may hold a poll that has nothing to tell; whole seconds
	PollMargin  time.Duration // how much longer we wait before the connection counts as dead
	CallTimeout time.Duration // of a call whose context has no deadline
	DialTimeout time.Duration // to connect, and again for the TLS handshake

	// Dial makes the connections, for tests and unusual networks.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error) `json:"-"`
	Log  *zap.Logger                                                       `json:"-"`
}

// String leaves the token out.
func (o Options) String() string {
	return fmt.Sprintf("telegram options of %s at %s", o.Profile, o.APIURL)
}

// GoString leaves the token out.
func (o Options) GoString() string { return o.String() }

// Adapter serves one bot. It implements chat.Adapter, chat.Typer, chat.Menu, and what is in edit.go and files.go.
type Adapter struct {
	options Options
	account chat.Account
	calls   *client // for everything but polls
	bot     *bot.Bot
	log     *zap.Logger
	// contested: the last Run ended because another program polls with the same token.
	contested atomic.Bool
}

var (
	_ chat.Adapter = (*Adapter)(nil)
	_ chat.Typer   = (*Adapter)(nil)
	_ chat.Menu    = (*Adapter)(nil)

	_ chat.Fetcher    = (*Adapter)(nil)
	_ chat.FileSender = (*Adapter)(nil)
)

// ErrToken is what New returns for a token that cannot be one. It never holds the token.
var ErrToken = errors.New("the bot token must look like 123456789:AAExample, as @BotFather gave it")

// New makes the adapter of a bot. It does no I/O.
func New(o Options) (*Adapter, error) {
	if !regexp.MustCompile(`^[0-9]{1,18}:[A-Za-z0-9_-]+$`).MatchString(o.Token) {
		return nil, ErrToken
	}
	id, _, _ := strings.Cut(o.Token, ":")
	if o.Profile == "" {
		o.Profile = "default"
	}
	o.APIURL = strings.TrimRight(o.APIURL, "/")
	if o.APIURL == "" {
		o.APIURL = DefaultAPIURL
	}
	if !strings.HasPrefix(o.APIURL, "http://") && !strings.HasPrefix(o.APIURL, "https://") {
		return nil, fmt.Errorf("telegram api_url: want an http or https address")
	}
	for d, def := range map[*time.Duration]time.Duration{
		&o.PollTime: DefaultPollTime, &o.PollMargin: DefaultPollMargin, &o.CallTimeout: DefaultCallTimeout, &o.DialTimeout: DefaultDialTimeout,
	} {
		if *d <= 0 {
			*d = def
		}
	}
	o.PollTime = max(o.PollTime.Truncate(time.Second), time.Second)
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	a := &Adapter{
		options: o,
		account: chat.Account{Profile: o.Profile, Platform: Name, ID: id},
		calls:   newClient(o),
		log:     o.Log.Named(string(Name)).With(zap.String("account", id)),
	}
	b, err := a.library(a.calls)
	if err != nil {
		return nil, err
	}
	a.bot = b
	return a, nil
}

// library gives the client library on top of c. Its own polling is never started: it acknowledges updates before anybody
// has stored them.
func (a *Adapter) library(c *client) (*bot.Bot, error) {
	return bot.New(a.options.Token,
		bot.WithSkipGetMe(),
		bot.WithServerURL(a.options.APIURL),
		bot.WithHTTPClient(0, c),
		bot.WithUpdatesChannelCap(0),
		bot.WithErrorsHandler(func(err error) { a.log.Debug("client library", zap.String("error", c.Mask(err.Error()))) }),
	)
}

// Describe gives the account and its limits.
func (a *Adapter) Describe() chat.Info {
	return chat.Info{Account: a.account, Dialect: chat.TelegramHTML, MaxUnits: maxText, Unit: chat.UTF16}
}

// String is for logs and never holds the token.
func (a *Adapter) String() string { return a.account.String() }

// GoString is for logs and never holds the token.
func (a *Adapter) GoString() string { return a.String() }

// Close gives up connections that nobody uses. It may be called at any time.
func (a *Adapter) Close() { a.calls.Close() }

// number reads an id of Telegram, which is a number.
func number(id string) (int64, bool) {
	n, err := strconv.ParseInt(id, 10, 64)
	return n, err == nil
}
