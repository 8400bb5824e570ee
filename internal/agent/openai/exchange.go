package openai

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/homing-gateway/homing/internal/agent"
)

const (
	maxErrorBody = 64 << 10
	maxAnswer    = 64 << 20
)

// errStreamOptions marks the refusal of a server that does not know stream_options.
var errStreamOptions = errors.New("stream_options refused")

// exchange is the HTTP side of one attempt. The library sends its request through it and reads from it one plain event per
// line, whatever the server's habits are. Everything that goes wrong on the wire leaves it as a *agent.ProviderError.
type exchange struct {
	provider *Provider
	watch    *silence
	usage    bool // stream_options are in the request
	events   *events
}

// Do sends the request and answers with a response only when an answer has begun.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	if err := respell(req); err != nil {
		return nil, x.broken("build the request", err)
	}
	resp, err := x.provider.http.Do(req)
	if err != nil {
		return nil, x.broken("ask "+req.URL.Host, err)
	}
	x.watch.heard()
	body := &heardBody{ReadCloser: resp.Body, watch: x.watch, left: maxAnswer}
	if resp.StatusCode < 200 || resp.StatusCode >= 300 {
		defer func() { _ = resp.Body.Close() }()
		text, _ := io.ReadAll(io.LimitReader(body, maxErrorBody)) // the status counts, also when its text is cut
		return nil, x.refusal(resp, text)
	}
	x.events, err = readEvents(body)
	if err != nil {
		defer func() { _ = resp.Body.Close() }()
		return nil, x.broken("read the answer", err)
	}
	x.events.broken = func(err error) error { return x.broken("read the answer", err) }
	resp.Body = x.events
	return resp, nil
}

// respell puts our spelling of the messages in place of the library's.
func respell(req *http.Request) error {
	text, err := io.ReadAll(req.Body)
	if err != nil {
		return err
	}
	text = spellContent(text)
	req.ContentLength = int64(len(text))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	req.Body, err = req.GetBody()
	return err
}

// refusal turns an HTTP error into a ProviderError.
func (x *exchange) refusal(resp *http.Response, body []byte) error {
	if resp.StatusCode < 400 {
		where := "elsewhere"
		if to, err := resp.Location(); err == nil {
			where = "to " + to.Host + to.Path
		}
		return fault(agent.Refused, x.provider.presentable(fmt.Sprintf("HTTP %d: the server sends requests %s; check the base URL", resp.StatusCode, where)))
	}
	said := readComplaint(body)
	e := fault(failureOf(resp.StatusCode, said), x.provider.presentable(strings.TrimSuffix(
		fmt.Sprintf("HTTP %d %s: %s", resp.StatusCode, http.StatusText(resp.StatusCode), said.message), ": ")))
	if e.Failure == agent.RateLimited || e.Failure == agent.Unavailable {
		e.RetryAfter = retryAfter(resp.Header, time.Now())
	}
	if e.Failure == agent.Refused && x.usage && bytes.Contains(body, []byte("stream_options")) {
		return errors.Join(errStreamOptions, e)
	}
	return e
}

// broken is a failure of the connection, or of what reads it.
func (x *exchange) broken(doing string, err error) error {
	if e, ok := errors.AsType[*agent.ProviderError](err); ok {
		return e
	}
	if x.watch.tooLong() {
		return fault(agent.Unavailable, fmt.Sprintf("%s: nothing came for %v", doing, x.watch.limit))
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // it repeats the whole address, which may hold secrets
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fault(agent.Unavailable, doing+": the server closed the connection in the middle")
	}
	return fault(agent.Unavailable, x.provider.presentable(doing+": "+err.Error()))
}

// add takes one event into the answer.
func (x *exchange) add(a *answer, event []byte) error {
	complaint, err := a.add(event)
	switch {
	case err != nil:
		return fault(agent.Unavailable, "the stream holds an event that is no JSON of a chat completion")
	case complaint != nil:
		return fault(complaint.midStream(), x.provider.presentable("the server broke the answer off: "+complaint.message))
	}
	return nil
}

// whole tells whether the answer came to its end. A stream that just stops is cut, however good it looks.
func (x *exchange) whole(a *answer) error {
	switch {
	case a.finish == "error":
		return fault(agent.Unavailable, "the server broke the answer off")
	case a.finish == "content_filter" && a.empty():
		return fault(agent.Refused, "the server's content filter held the answer back")
	case a.finish == "" && !x.events.done:
		return fault(agent.Unavailable, "the stream was cut before the answer was complete")
	case !a.started && x.events.plain:
		return fault(agent.Refused, "what answers there is no chat completions server; check the base URL")
	case !a.started:
		return fault(agent.Unavailable, "the stream ended without an answer")
	}
	return nil
}

// heardBody reports what is read, and bounds it.
type heardBody struct {
	io.ReadCloser
	watch *silence
	left  int64
}

func (b *heardBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.watch.heard()
	}
	if b.left -= int64(n); b.left < 0 {
		return 0, fault(agent.Refused, fmt.Sprintf("the answer is longer than %d MiB", maxAnswer>>20))
	}
	return n, err
}

// skipBlank leaves in at the first byte that is no blank, and returns it.
func skipBlank(in *bufio.Reader) (byte, error) {
	for {
		b, err := in.ReadByte()
		if err != nil {
			return 0, err
		}
		switch b {
		case ' ', '\t', '\r', '\n', 0xEF, 0xBB, 0xBF: // the last three are a byte order mark
		default:
			return b, in.UnreadByte()
		}
	}
}
