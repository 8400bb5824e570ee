// Package discord is the adapter for Discord: what the gateway tells becomes events, outgoing parts become calls of the
// REST API, and what went wrong becomes a typed outcome (faults.go).
//
// It holds no session of ours, no policy, no queue and no store. Under it lies discordgo, which is kept from everything
// that it does by itself: it does not reconnect (run.go), does not identify again on its own and cannot hang on a
// connection (socket.go), does not wait for rate limits and does not repeat calls (client.go), and does not decode what it
// may not know (wire.go). The one thing that the adapter keeps on disk is how often it identified (budget.go): Discord
// counts that for a day, and takes the token away from who does it too often.
package discord

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"
	"go.uber.org/zap"

	"github.com/homing-gateway/homing/adapters/attempt"
	"github.com/homing-gateway/homing/internal/chat"
)

// Name is the platform's name in the configuration and in routes.
const Name chat.Platform = "discord"

// Defaults of Options.
const (
	DefaultAPIURL      = "https://discord.com/api"
	DefaultCallTimeout = 30 * time.Second
	DefaultDialTimeout = 10 * time.Second
	DefaultOpenTimeout = 20 * time.Second
	DefaultAckTimeout  = 15 * time.Second
)

// maxText is the longest content of a message, in characters.
const maxText = 2000

// Options are what an account needs. The zero value of a field other than Token means its default.
type Options struct {
	Profile    string // the profile that the account serves; "default"
	Token      string `json:"-"`
	APIURL     string
	AutoThread bool   // a mention in a channel is answered in a thread of its own
	Dir        string // where the count of identifies is kept; "" keeps none
	Version    string // of the program, for Discord's eyes

	CallTimeout time.Duration // of a call whose context has no deadline
	DialTimeout time.Duration // to connect, and again for the TLS handshake
	OpenTimeout time.Duration // until the gateway has told who we are
	AckTimeout  time.Duration // until a heartbeat is answered

	// Dial makes the connections, for tests and unusual networks.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error) `json:"-"`
	Log  *zap.Logger                                                       `json:"-"`
}

// String leaves the token out.
func (o Options) String() string {
	return fmt.Sprintf("discord options of %s at %s", o.Profile, o.APIURL)
}

// GoString leaves the token out.
func (o Options) GoString() string { return o.String() }

// Adapter serves one bot. It implements chat.Adapter, chat.Typer, chat.Editor, chat.Remover, chat.Reactor,
// chat.Historian, chat.Menu, chat.Fetcher and chat.FileSender.
type Adapter struct {
	options Options
	account chat.Account
	client  *client
	guilds  *guilds // what Discord told of channels, and of us
	budget  *budget
	log     *zap.Logger
	line    *line // a session that the next Run may resume; Run's alone
	menu    menu
}

var (
	_ chat.Adapter    = (*Adapter)(nil)
	_ chat.Typer      = (*Adapter)(nil)
	_ chat.Editor     = (*Adapter)(nil)
	_ chat.Remover    = (*Adapter)(nil)
	_ chat.Reactor    = (*Adapter)(nil)
	_ chat.Historian  = (*Adapter)(nil)
	_ chat.Menu       = (*Adapter)(nil)
	_ chat.Fetcher    = (*Adapter)(nil)
	_ chat.FileSender = (*Adapter)(nil)
)

// ErrToken is what New returns for a token that cannot be one. It never holds the token.
var ErrToken = errors.New("the bot token must have three parts with dots between them, as the Bot page of the Developer Portal gave it")

// New makes the adapter of a bot. It does no I/O.
func New(o Options) (*Adapter, error) {
	o.Token = strings.TrimPrefix(o.Token, "Bot ")
	if !regexp.MustCompile(`^[A-Za-z0-9_=-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$`).MatchString(o.Token) {
		return nil, ErrToken
	}
	if o.Profile == "" {
		o.Profile = "default"
	}
	o.APIURL = strings.TrimRight(o.APIURL, "/")
	if o.APIURL == "" {
		o.APIURL = DefaultAPIURL
	}
	if !strings.HasPrefix(o.APIURL, "http://") && !strings.HasPrefix(o.APIURL, "https://") {
		return nil, fmt.Errorf("discord api_url: want an http or https address")
	}
	for d, def := range map[*time.Duration]time.Duration{
		&o.CallTimeout: DefaultCallTimeout, &o.DialTimeout: DefaultDialTimeout, &o.OpenTimeout: DefaultOpenTimeout, &o.AckTimeout: DefaultAckTimeout,
	} {
		if *d <= 0 {
			*d = def
		}
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	if o.Dial == nil {
		o.Dial = attempt.Dialer(o.DialTimeout)
	}
	account := chat.Account{Profile: o.Profile, Platform: Name, ID: botOf(o.Token)}
	c, err := newClient(o)
	if err != nil {
		return nil, err
	}
	return &Adapter{
		options: o, account: account, client: c, guilds: newGuilds(), budget: newBudget(o.Dir, account.ID),
		log: o.Log.Named(string(Name)).With(zap.String("account", account.ID)),
	}, nil
}

// botOf gives the id of a token's bot. It is the token's first part; of one that was made otherwise, a name that tells
// nothing of it.
func botOf(token string) string {
	first, _, _ := strings.Cut(token, ".")
	id, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(first, "="))
	if err == nil && regexp.MustCompile(`^[0-9]{15,20}$`).Match(id) {
		return string(id)
	}
	sum := sha256.Sum256([]byte(token))
	return "bot-" + hex.EncodeToString(sum[:6])
}

// session gives the client library with all that it does by itself switched off.
func (o Options) session() (*discordgo.Session, error) {
	s, err := discordgo.New("Bot " + o.Token)
	if err != nil {
		return nil, err
	}
	s.LogLevel = discordgo.LogError - 1 // it would write to standard error
	s.StateEnabled, s.Compress, s.SyncEvents = false, false, true
	s.ShouldReconnectOnError, s.ShouldRetryOnRateLimit, s.MaxRestRetries = false, false, 0
	s.UserAgent = "DiscordBot (https://github.com/homing-gateway/homing, " + o.Version + ")"
	return s, nil
}

// Describe gives the account and its limits.
func (a *Adapter) Describe() chat.Info {
	return chat.Info{Account: a.account, Dialect: chat.Discord, MaxUnits: maxText, Unit: chat.Runes, Idempotent: true}
}

// String is for logs and never holds the token.
func (a *Adapter) String() string { return a.account.String() }

// GoString is for logs and never holds the token.
func (a *Adapter) GoString() string { return a.String() }

// Close gives up connections that nobody uses. It may be called at any time.
func (a *Adapter) Close() { a.client.Close() }
