// Package slack is the adapter for Slack: what comes over Socket Mode becomes events, outgoing parts become calls of the
// Web API, and what went wrong becomes a typed outcome (faults.go).
//
// It holds no session, no policy, no queue and no store. An envelope is acknowledged only once its event was admitted
// (run.go). The socket is our own (socket.go): the client library's acknowledges from a queue that outlives a connection and
// hides failures behind pauses of its own. Sends make one attempt and say how far it came (client.go). Two tokens are in
// play, the bot's for the Web API and the app's for the socket; whatever leaves this package as a text is cleaned of them.
package slack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/slack-go/slack"
	"go.uber.org/zap"

	"github.com/homing-gateway/homing/adapters/attempt"
	"github.com/homing-gateway/homing/internal/chat"
)

// Name is the platform's name in the configuration and in routes.
const Name chat.Platform = "slack"

// Defaults of Options.
const (
	DefaultAPIURL      = "https://slack.com/api"
	DefaultCallTimeout = 30 * time.Second
	DefaultDialTimeout = 10 * time.Second
	DefaultSilence     = 30 * time.Second
)

// maxText is the longest text of a message, in characters as they are written: Slack asks for no more, may take a longer
// one apart by itself, and cuts it at 40000. chat.update refuses more. (docs.slack.dev/changelog/2018-truncating-really-long-messages)
const maxText = 4000

// Identity is who the bot token stands for. It never changes for a token.
type Identity struct {
	Team string `json:"team"` // the workspace, which is the account
	User string `json:"user"` // the bot as people mention it
	Bot  string `json:"bot"`  // the bot as the author of messages
}

// Options are what an account needs. The zero value of a field other than the tokens means its default.
type Options struct {
	Profile  string // the profile that the account serves; "default"
	BotToken string `json:"-"` // xoxb-…
	AppToken string `json:"-"` // xapp-…
	APIURL   string
	// ReplyInThread: a mention in a channel is answered in its thread.
	ReplyInThread bool

	CallTimeout time.Duration // of a call whose context has no deadline
	DialTimeout time.Duration // to connect, and again for each handshake
	Silence     time.Duration // how long a socket may be silent before it counts as dead; Slack pings it every few seconds

	// Dial makes the connections, for tests and unusual networks.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error) `json:"-"`
	Log  *zap.Logger                                                       `json:"-"`
}

// String leaves the tokens out.
func (o Options) String() string {
	return fmt.Sprintf("slack options of %s at %s", o.Profile, o.APIURL)
}

// GoString leaves the tokens out.
func (o Options) GoString() string { return o.String() }

// Adapter serves one bot in one workspace. It implements chat.Adapter, chat.Editor, chat.Remover, chat.Observer,
// chat.Historian, chat.Fetcher and chat.FileSender.
type Adapter struct {
	options Options
	me      Identity
	account chat.Account
	calls   *client
	api     *slack.Client
	names   *names
	log     *zap.Logger
	crowded atomic.Int32 // how many Runs in a row ended because there were too many sockets
}

var (
	_ chat.Adapter    = (*Adapter)(nil)
	_ chat.Editor     = (*Adapter)(nil)
	_ chat.Observer   = (*Adapter)(nil)
	_ chat.Historian  = (*Adapter)(nil)
	_ chat.Remover    = (*Adapter)(nil)
	_ chat.Fetcher    = (*Adapter)(nil)
	_ chat.FileSender = (*Adapter)(nil)
)

// ErrTokens is what New and Identify return for tokens that cannot be ones. It never holds a token.
var ErrTokens = errors.New("bot_token must be the Bot User OAuth Token of the app, which begins with xoxb-, and app_token an App-Level Token, which begins with xapp-")

// Check tells what is wrong with the options. It does no I/O.
func (o Options) Check() error {
	_, err := o.check()
	return err
}

// check fills in what was left out.
func (o Options) check() (Options, error) {
	word := regexp.MustCompile(`^(xoxb|xapp)-[A-Za-z0-9._-]{3,}$`)
	if !word.MatchString(o.BotToken) || !word.MatchString(o.AppToken) || !strings.HasPrefix(o.BotToken, "xoxb") || !strings.HasPrefix(o.AppToken, "xapp") {
		return o, ErrTokens
	}
	if o.Profile == "" {
		o.Profile = "default"
	}
	if o.APIURL = strings.TrimRight(o.APIURL, "/"); o.APIURL == "" {
		o.APIURL = DefaultAPIURL
	}
	if !strings.HasPrefix(o.APIURL, "http://") && !strings.HasPrefix(o.APIURL, "https://") {
		return o, errors.New("slack api_url: want an http or https address")
	}
	for d, def := range map[*time.Duration]time.Duration{
		&o.CallTimeout: DefaultCallTimeout, &o.DialTimeout: DefaultDialTimeout, &o.Silence: DefaultSilence,
	} {
		if *d <= 0 {
			*d = def
		}
	}
	if o.Dial == nil {
		o.Dial = attempt.Dialer(o.DialTimeout)
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	return o, nil
}

// Identify asks Slack who the bot token stands for. Its error is a *chat.RunError, or says what is wrong with o.
func Identify(ctx context.Context, o Options) (Identity, error) {
	o, err := o.check()
	if err != nil {
		return Identity{}, err
	}
	c := newClient(o)
	defer c.Close()
	me, _, err := whoami(ctx, library(o, c), o.CallTimeout)
	if err != nil {
		return Identity{}, runFault(err, botToken)
	}
	return me, nil
}

// Inspect looks at both tokens: whom the bot token stands for, what it may do, by the names of the scopes, and whether the
// app token opens sockets. Its errors are those of Identify.
func Inspect(ctx context.Context, o Options) (Identity, []string, error) {
	o, err := o.check()
	if err != nil {
		return Identity{}, nil, err
	}
	c := newClient(o)
	defer c.Close()
	api := library(o, c)
	me, scopes, err := whoami(ctx, api, o.CallTimeout)
	if err != nil {
		return me, nil, runFault(err, botToken)
	}
	ctx, cancel := context.WithTimeout(ctx, o.CallTimeout)
	defer cancel()
	if _, _, err := api.StartSocketModeContext(ctx); err != nil {
		return me, nil, runFault(err, appToken)
	}
	return me, scopes, nil
}

func whoami(ctx context.Context, api *slack.Client, limit time.Duration) (Identity, []string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r, err := api.AuthTestContext(ctx)
	if err != nil {
		return Identity{}, nil, err
	}
	if r.TeamID == "" || r.UserID == "" {
		return Identity{}, nil, errors.New("auth.test: an answer without a workspace or a user")
	}
	var scopes []string
	for s := range strings.SplitSeq(r.Header.Get("X-OAuth-Scopes"), ",") {
		if s = strings.TrimSpace(s); s != "" {
			scopes = append(scopes, s)
		}
	}
	return Identity{Team: r.TeamID, User: r.UserID, Bot: r.BotID}, scopes, nil
}

// New makes the adapter of a bot whose identity is known. It does no I/O.
func New(o Options, me Identity) (*Adapter, error) {
	o, err := o.check()
	if err != nil {
		return nil, err
	}
	if me.Team == "" || me.User == "" {
		return nil, errors.New("slack: the workspace is not known: ask for it with Identify")
	}
	a := &Adapter{
		options: o, me: me, account: chat.Account{Profile: o.Profile, Platform: Name, ID: me.Team}, calls: newClient(o),
		log: o.Log.Named(string(Name)).With(zap.String("account", me.Team)),
	}
	a.api = library(o, a.calls)
	a.names = newNames(a.api)
	return a, nil
}

// library gives the client library on top of c. It repeats nothing by itself.
func library(o Options, c *client) *slack.Client {
	return slack.New(o.BotToken, slack.OptionAppLevelToken(o.AppToken), slack.OptionAPIURL(o.APIURL+"/"), slack.OptionHTTPClient(c))
}

// Describe gives the account and its limits.
func (a *Adapter) Describe() chat.Info {
	return chat.Info{Account: a.account, Dialect: chat.SlackMrkdwn, MaxUnits: maxText, Unit: chat.Runes}
}

// String is for logs and never holds a token.
func (a *Adapter) String() string { return a.account.String() }

// GoString is for logs and never holds a token.
func (a *Adapter) GoString() string { return a.String() }

// Close gives up connections that nobody uses. It may be called at any time.
func (a *Adapter) Close() { a.calls.Close() }
