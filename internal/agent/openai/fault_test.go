package openai_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/agent/openai"
	"github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

func TestFailuresOnTheWire(t *testing.T) {
	half := fakeopenai.Text("half of")
	for _, tt := range []struct {
		name   string
		answer fakeopenai.Answer
		want   agent.Failure
		says   string
		after  time.Duration
	}{
		{"a rate limit in seconds", fakeopenai.Fail(429, "slow down", "Retry-After", "3"), agent.RateLimited, "slow down", 3 * time.Second},
		{
			"a rate limit by date", fakeopenai.Fail(429, "slow down", "Date", "Wed, 01 Jul 2026 10:00:00 GMT", "Retry-After", "Wed, 01 Jul 2026 10:00:07 GMT"),
			agent.RateLimited, "", 7 * time.Second,
		},
		{"a rate limit in milliseconds", fakeopenai.Fail(429, "slow down", "Retry-After-Ms", "250", "Retry-After", "1"), agent.RateLimited, "", 250 * time.Millisecond},
		{
			"a rate limit by its reset", fakeopenai.Fail(429, "slow down", "X-Ratelimit-Remaining-Requests", "4", "X-Ratelimit-Reset-Requests", "1h",
				"X-Ratelimit-Remaining-Tokens", "0", "X-Ratelimit-Reset-Tokens", "1m2s"),
			agent.RateLimited, "", 62 * time.Second,
		},
		{"a rate limit that names no time", fakeopenai.Fail(429, "slow down"), agent.RateLimited, "", 0},
		{"a rate limit with nonsense", fakeopenai.Fail(429, "slow down", "Retry-After", "soon"), agent.RateLimited, "", 0},
		{"a rate limit for years", fakeopenai.Fail(429, "slow down", "Retry-After", "99999999999999999999"), agent.RateLimited, "", 24 * time.Hour},
		{"no money", fakeopenai.FailAs(429, "insufficient_quota", "You exceeded your current quota"), agent.Refused, "exceeded", 0},
		{"a fault with a page", fakeopenai.Page(502, "text/html", "<html><head><title>Bad\nGateway</title></head><body>"+strings.Repeat("nginx ", 9999)), agent.Unavailable, "Bad Gateway", 0},
		{"overloaded", fakeopenai.Fail(503, "loading the model", "Retry-After", "2"), agent.Unavailable, "loading the model", 2 * time.Second},
		{"a server that has no error text", fakeopenai.Page(500, "text/plain", ""), agent.Unavailable, "HTTP 500", 0},
		{"too slow for a proxy", fakeopenai.Fail(408, "timeout"), agent.Unavailable, "", 0},
		{"a conflict", fakeopenai.Fail(409, "conflict"), agent.Unavailable, "", 0},
		{"a wrong key", fakeopenai.Fail(401, "Incorrect API key provided: "+key), agent.Credential, "Incorrect API key", 0},
		{"a key without the right", fakeopenai.Fail(403, "Country not supported"), agent.Credential, "", 0},
		{"a bad request", fakeopenai.Fail(400, "messages must alternate"), agent.Refused, "messages must alternate", 0},
		{"a bad request, as a list", fakeopenai.Page(400, "application/json", `[{"error":{"code":400,"message":"no such field"}}]`), agent.Refused, "no such field", 0},
		{"a bad request, as a text", fakeopenai.Page(400, "application/json", `{"error":"model is required"}`), agent.Refused, "model is required", 0},
		{"a bad request, as detail", fakeopenai.Page(422, "application/json", `{"detail":[{"msg":"field required"}]}`), agent.Refused, "field required", 0},
		{"an unknown model", fakeopenai.Fail(404, "model m-1 not found"), agent.Refused, "m-1", 0},
		{"too long", fakeopenai.Page(413, "text/plain", "Payload Too Large"), agent.TooLong, "", 0},
		{"too long, by a code", fakeopenai.TooLong(), agent.TooLong, "maximum context length", 0},
		{"too long, by a type and as a fault", fakeopenai.Page(500, "application/json", `{"error":{"code":500,"message":"the request exceeds the size","type":"exceed_context_size_error"}}`), agent.TooLong, "exceeds", 0},
		{"too long, in words", fakeopenai.Page(400, "application/json", `{"object":"error","message":"This model's maximum context length is 16384 tokens. However, you requested 122946 tokens","type":"BadRequestError","code":400}`), agent.TooLong, "16384", 0},
		{"too long, in mid-stream and in words", fakeopenai.Stream(half, fakeopenai.Event(`{"error":{"message":"input exceeds the context window","type":"invalid_request_error"}}`)), agent.TooLong, "", 0},
		{"no credit", fakeopenai.Fail(402, "Insufficient Balance"), agent.Refused, "", 0},
		{"a move", fakeopenai.Page(308, "text/html", "moved", "Location", "https://elsewhere.example/v1/chat/completions?key="+key), agent.Refused, "elsewhere.example", 0},
		{"a web page", fakeopenai.Page(200, "text/html", "<!doctype html><p>Welcome"), agent.Refused, "base URL", 0},
		{"another JSON", fakeopenai.Page(200, "application/json", `{"ok":true}`), agent.Refused, "base URL", 0},
		{"an empty answer", fakeopenai.Page(200, "application/json", ""), agent.Unavailable, "", 0},
		{"a document that is cut", fakeopenai.Page(200, "application/json", `{"choices":[{"message":{"content":"ha`), agent.Unavailable, "", 0},
		{"an event that is no JSON", fakeopenai.Stream(half, fakeopenai.Raw("data: {oops\n\n"), fakeopenai.Done()), agent.Unavailable, "no JSON", 0},
		{"dropped without a byte", fakeopenai.Drop(), agent.Unavailable, "", 0},
		{"cut in mid-stream", fakeopenai.Stream(half, fakeopenai.Cut()), agent.Unavailable, "closed", 0},
		{"ended in mid-stream", fakeopenai.Stream(half), agent.Unavailable, "cut", 0},
		{"ended inside an event", fakeopenai.Stream(half, fakeopenai.Raw(`data: {"choices":[{"delta":{"content":" it`)), agent.Unavailable, "", 0},
		{"done without anything", fakeopenai.Stream(fakeopenai.Done()), agent.Unavailable, "", 0},
		{"an error in mid-stream", fakeopenai.Stream(half, fakeopenai.Event(`{"error":{"message":"worker died `+key+`","type":"server_error"}}`), fakeopenai.Done()), agent.Unavailable, "worker died", 0},
		{"an error in mid-stream as a text", fakeopenai.Stream(half, fakeopenai.Event(`{"error":"worker died"}`), fakeopenai.Done()), agent.Unavailable, "worker died", 0},
		{"an error in mid-stream with a status", fakeopenai.Stream(half, fakeopenai.Event(`{"id":"x","error":{"message":"upstream","code":429},"choices":[{"delta":{},"finish_reason":"error"}]}`)), agent.RateLimited, "upstream", 0},
		{"an error without its prefix", fakeopenai.Stream(half, fakeopenai.Raw(`{"error":{"message":"too long","code":"context_length_exceeded"}}`+"\n")), agent.TooLong, "too long", 0},
		{"an error as the only event", fakeopenai.Page(200, "application/json", `{"error":{"message":"no such model","code":404}}`), agent.Refused, "no such model", 0},
		{"a finish that says error", fakeopenai.Stream(half, fakeopenai.Finish("error"), fakeopenai.Done()), agent.Unavailable, "", 0},
		{"a content filter", fakeopenai.Stream(fakeopenai.Finish("content_filter"), fakeopenai.Done()), agent.Refused, "content filter", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fake, p := start(t, 0)
			fake.Next(tt.answer)
			_, err := p.Complete(t.Context(), question("hello"), nil)
			e := wantFailure(t, err, tt.want)
			if e.RetryAfter != tt.after {
				t.Errorf("retry after: got %v, want %v", e.RetryAfter, tt.after)
			}
			if !strings.Contains(e.Error(), tt.says) {
				t.Errorf("got %q, want %q in it", e, tt.says)
			}
			if n := len(fake.Asks()); n != 1 {
				t.Errorf("%d requests in one attempt", n)
			}
		})
	}
}

func TestEveryStatusHasOneReaction(t *testing.T) {
	fake, p := start(t, 0)
	want := map[int]agent.Failure{401: agent.Credential, 403: agent.Credential, 408: agent.Unavailable, 409: agent.Unavailable, 425: agent.Unavailable, 413: agent.TooLong, 429: agent.RateLimited}
	for status := 400; status < 600; status++ {
		expected, special := want[status]
		switch {
		case special:
		case status >= 500:
			expected = agent.Unavailable
		default:
			expected = agent.Refused
		}
		fake.Next(fakeopenai.Fail(status, "because"))
		_, err := p.Complete(t.Context(), question("hello"), nil)
		if e := wantFailure(t, err, expected); e.RetryAfter != 0 {
			t.Errorf("%d: retry after %v", status, e.RetryAfter)
		}
	}
}

// However a server, a proxy or the network spells the key back at us, nobody else gets to see it.
func TestTheKeyIsNeverShown(t *testing.T) {
	var shown []string
	for _, spelled := range []string{key, "Bearer " + key, url.QueryEscape(key), url.PathEscape(key), strings.ReplaceAll(key, "/", `\/`)} {
		for _, body := range []string{
			spelled,
			strings.Repeat("x", 290) + spelled,
			fmt.Sprintf(`{"error":{"message":"bad key %s","type":"%s","code":"%s"}}`, spelled, spelled, spelled),
			fmt.Sprintf(`{"error":{"stream_options":"%s"}}`, spelled),
			fmt.Sprintf(`<title>%s</title>`, spelled),
		} {
			for _, status := range []int{200, 302, 400, 401, 429, 500} {
				shown = append(shown, showFailure(t, fakeopenai.Page(status, "application/json", body, "Location", "/"+url.PathEscape(key)))...)
			}
		}
	}
	for _, text := range shown {
		for _, half := range []string{"rehearsed", "0123456789"} {
			if strings.Contains(text, half) {
				t.Fatalf("the key is in %s", text)
			}
		}
	}
}

// showFailure returns all that is to be seen when a server answers so.
func showFailure(t *testing.T, answer fakeopenai.Answer) []string {
	t.Helper()
	fake := fakeopenai.New()
	defer fake.Close()
	fake.When(fakeopenai.Anything(), answer)
	core, logs := observer.New(zap.DebugLevel)
	p := openai.New(openai.Options{BaseURL: fake.URL(), APIKey: key + "\n", Log: zap.New(core)})
	defer p.Close()
	_, err := p.Complete(t.Context(), question("hello"), nil)
	if err == nil {
		t.Fatal("no error")
	}
	if sent := fake.Asks()[0].Key; sent != key {
		t.Errorf("the key that was sent: %q", sent)
	}
	shown := []string{fmt.Sprintf("%v %+v %#v", err, err, err), fmt.Sprint(agent.AsProviderError(err).Unwrap())}
	for _, entry := range logs.All() {
		shown = append(shown, entry.Message, fmt.Sprint(entry.ContextMap()))
	}
	return shown
}

func TestOptionsThatCannotWork(t *testing.T) {
	for name, tt := range map[string]struct {
		options openai.Options
		want    agent.Failure
	}{
		"no address":        {openai.Options{BaseURL: "not an address"}, agent.Refused},
		"another scheme":    {openai.Options{BaseURL: "ftp://127.0.0.1/v1"}, agent.Refused},
		"a broken address":  {openai.Options{BaseURL: "http://user:" + key + "@[::1/v1"}, agent.Refused},
		"a key in two rows": {openai.Options{BaseURL: "http://127.0.0.1:1/v1", APIKey: key + "\n" + key}, agent.Credential},
		"nobody listens":    {openai.Options{BaseURL: "http://user:sk-inTheAddress@127.0.0.1:1/v1", APIKey: "sk-inTheAddress"}, agent.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			p := openai.New(tt.options)
			defer p.Close()
			_, err := p.Complete(t.Context(), question("hello"), nil)
			if e := wantFailure(t, err, tt.want); strings.Contains(e.Error(), "sk-inTheAddress") {
				t.Error(e)
			}
		})
	}
}
