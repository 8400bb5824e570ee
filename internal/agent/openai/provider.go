package openai

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	goopenai "github.com/sashabaranov/go-openai"
	"go.uber.org/zap"

	"github.com/homing-gateway/homing/internal/agent"
)

// DefaultBaseURL is where requests go when Options names no server.
const DefaultBaseURL = "https://api.openai.com/v1"

// afterFinish bounds the wait for what may follow a finished answer (the token counts), so that a server that leaves the
// stream open costs little.
const afterFinish = 5 * time.Second

// Options of a Provider.
type Options struct {
	BaseURL string // with the version's path, such as http://127.0.0.1:8000/v1; empty: DefaultBaseURL
	APIKey  string // empty: none is sent
	Model   string // for requests that name none

	// RequestTimeout is how long a server may be silent, before its first byte and between any two. It does not bound an
	// answer that goes on coming. 0: for ever.
	RequestTimeout time.Duration

	Log  *zap.Logger  // nil: none
	HTTP *http.Client // nil: one of its own. Its Timeout and its redirects are not used.
}

// Provider asks one server. It may be used from many goroutines.
type Provider struct {
	base    string
	key     string
	model   string
	silence time.Duration
	http    *http.Client
	log     *zap.Logger
	faulty  *agent.ProviderError // what is wrong with the options; every attempt answers with it

	withoutUsage atomic.Bool // the server refused stream_options
}

var _ agent.Provider = (*Provider)(nil)

// New returns a provider. It does not connect; options that cannot work are reported by the first Complete.
func New(o Options) *Provider {
	p := &Provider{
		base: strings.TrimSpace(o.BaseURL), key: strings.TrimSpace(o.APIKey), model: o.Model,
		silence: o.RequestTimeout, log: o.Log, http: &http.Client{},
	}
	if p.base == "" {
		p.base = DefaultBaseURL
	}
	if p.log == nil {
		p.log = zap.NewNop()
	}
	p.log = p.log.Named("openai")
	if o.HTTP != nil {
		*p.http = *o.HTTP
	}
	p.http.Timeout = 0
	p.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if p.http.Transport == nil {
		p.http.Transport = transport()
	}
	p.faulty = p.check()
	return p
}

// transport keeps connections for the next step, and notices a dead one long before the server's silence would tell.
func transport() *http.Transport {
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		ForceAttemptHTTP2:   true,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
		TLSHandshakeTimeout: 30 * time.Second,
		MaxIdleConnsPerHost: 16,
		IdleConnTimeout:     90 * time.Second,
	}
}

func (p *Provider) check() *agent.ProviderError {
	if strings.ContainsFunc(p.key, func(r rune) bool { return r < ' ' || r > '~' }) {
		return fault(agent.Credential, "the API key holds characters that no key has, such as a line break")
	}
	u, err := url.Parse(p.base)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return fault(agent.Refused, "the base URL is no http or https address")
	}
	return nil
}

// Complete makes one attempt. It returns ctx's error when ctx ended, else a *agent.ProviderError. A server that refuses a
// request with images is asked without them: many models read text only, and one bad image is not to end a conversation.
func (p *Provider) Complete(ctx context.Context, r agent.Request, onText func(piece string)) (agent.Response, error) {
	resp, err := p.complete(ctx, r, onText)
	if err == nil || ctx.Err() != nil || agent.AsProviderError(err).Failure != agent.Refused {
		return resp, err
	}
	bare, had := withoutImages(r)
	if !had {
		return resp, err
	}
	p.log.Info("server refuses a request with images: asked without them", zap.Error(err))
	return p.complete(ctx, bare, onText)
}

func (p *Provider) complete(ctx context.Context, r agent.Request, onText func(piece string)) (agent.Response, error) {
	if p.faulty != nil {
		return agent.Response{}, p.faulty
	}
	body := p.request(r)
	if !p.withoutUsage.Load() {
		body.StreamOptions = &goopenai.StreamOptions{IncludeUsage: true}
	}
	resp, err := p.attempt(ctx, body, onText)
	if errors.Is(err, errStreamOptions) {
		p.withoutUsage.Store(true)
		p.log.Info("server takes no stream_options: token counts may be missing")
		body.StreamOptions = nil
		resp, err = p.attempt(ctx, body, onText)
	}
	if errors.Is(err, goopenai.ErrReasoningToolsRequireResponses) {
		// The library knows models that take tools here only while they do not reason.
		body.ReasoningEffort = goopenai.ReasoningEffortNone
		resp, err = p.attempt(ctx, body, onText)
	}
	if err == nil {
		return resp, nil
	}
	if ctx.Err() != nil {
		return agent.Response{}, ctx.Err()
	}
	if e, ok := errors.AsType[*agent.ProviderError](err); ok {
		return agent.Response{}, e
	}
	// All that failed on the wire is a ProviderError by now: the library itself refused the request.
	return agent.Response{}, fault(agent.Refused, p.presentable(err.Error()))
}

// Close lets go of the connections that are kept for the next request.
func (p *Provider) Close() { p.http.CloseIdleConnections() }

// attempt sends the request and reads the answer to its end.
func (p *Provider) attempt(ctx context.Context, body goopenai.ChatCompletionRequest, onText func(string)) (agent.Response, error) {
	ctx, watch := watchSilence(ctx, p.silence)
	defer watch.stop()
	x := &exchange{provider: p, watch: watch, usage: body.StreamOptions != nil}
	config := goopenai.DefaultConfig(p.key)
	config.BaseURL = p.base
	config.HTTPClient = x
	config.EmptyMessagesLimit = math.MaxUint // a stream may hold any number of comments that keep it alive
	stream, err := goopenai.NewClientWithConfig(config).CreateChatCompletionStream(ctx, body)
	if err != nil {
		return agent.Response{}, err
	}
	defer func() { _ = stream.Close() }()

	a := answer{onText: onText}
	for {
		event, err := stream.RecvRaw()
		if err == nil {
			err = x.add(&a, event)
		}
		if errors.Is(err, io.EOF) || err != nil && a.finish != "" {
			break // what follows a finished answer may be lost
		}
		if err != nil {
			return agent.Response{}, err
		}
		if a.finish != "" {
			watch.shorten(afterFinish)
		}
	}
	if err := x.whole(&a); err != nil {
		return agent.Response{}, err
	}
	return a.response(), nil
}
