package openai_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/agent/openai"
)

// answering answers every request with one body.
type answering struct {
	status int
	body   []byte
}

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
	return &http.Response{StatusCode: a.status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(a.body)), Request: r}, nil
}

// FuzzStream: whatever a server sends, as a stream or at once, an attempt ends with an answer or with an error of the
// provider that can be shown. What was streamed is what was answered, and no two calls share an id.
func FuzzStream(f *testing.F) {
	for _, body := range []string{
		"data: {\"choices\":[{\"delta\":{\"content\":\"he\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"llo\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"t\",\"arguments\":\"{\\\"x\\\"\"}},{\"index\":1,\"id\":\"a\",\"function\":{\"name\":\"u\"}}]}}]}\n" +
			"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\":1}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n",
		"{\"choices\":[{\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"whole\"}]},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}",
		"data: {\"error\":{\"message\":\"overloaded\",\"type\":\"server_error\",\"code\":429}}\n\n", "\xef\xbb\xbf: comment\r\nevent: x\r\ndata:{\"choices\":[]}\r\n\r\n", "<html><title>no</title>",
		"", "data: [DONE]", "data: {", "null", "[]", "{\"error\":\"" + key + "\"}", "data: {\"choices\":[{\"index\":1}]}\n", "data: {\"choices\":[{\"delta\":{\"content\":7,\"tool_calls\":[{\"id\":7,\"function\":{\"arguments\":{}}}]},\"finish_reason\":true}]}\n",
	} {
		f.Add([]byte(body), 200)
		f.Add([]byte(body), 429)
	}
	f.Fuzz(func(t *testing.T, body []byte, status int) {
		status = 200 + max(status, -status)%400
		p := openai.New(openai.Options{BaseURL: "http://model.test/v1", APIKey: key, Model: "m-1", HTTP: &http.Client{Transport: answering{status, body}}})
		defer p.Close()
		var streamed strings.Builder
		r, err := p.Complete(t.Context(), question("hello"), func(piece string) { streamed.WriteString(piece) })
		if err != nil {
			e, ok := errors.AsType[*agent.ProviderError](err)
			if !ok || e.Error() == "" || strings.Contains(e.Error(), key) {
				t.Fatalf("%d %q: %v", status, body, err)
			}
			return
		}
		if r.Text != streamed.String() {
			t.Fatalf("%d %q: streamed %q, answered %q", status, body, streamed.String(), r.Text)
		}
		seen := map[string]bool{}
		for _, c := range r.Calls {
			if c.ID == "" || seen[c.ID] || c.Arguments == "" {
				t.Fatalf("%d %q: calls %+v", status, body, r.Calls)
			}
			seen[c.ID] = true
		}
	})
}
