package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/homing-gateway/homing/internal/agent"
)

// events is an answer's body as the library reads it: one "data: …" line per event, without comments, event names and blank
// lines. A server that answers with plain JSON instead of a stream gives one event.
type events struct {
	body   io.Closer
	in     *bufio.Reader
	broken func(error) error // names a failure
	plain  bool              // one JSON document
	done   bool              // the end was announced: [DONE], or the whole document is there
	out    []byte            // of the current line, not yet handed out
	err    error
}

// readEvents waits for the first byte and tells from it what the server answers with; its content type is often wrong.
func readEvents(body io.ReadCloser) (*events, error) {
	e := &events{body: body, in: bufio.NewReaderSize(body, 16<<10)}
	first, err := skipBlank(e.in)
	if err != nil {
		return nil, err
	}
	switch first {
	case '{':
		e.plain = true
	case '<':
		return nil, fault(agent.Refused, "a web page answers there instead of a model; check the base URL")
	}
	return e, nil
}

// Read implements io.Reader.
func (e *events) Read(p []byte) (int, error) {
	for len(e.out) == 0 {
		if e.err != nil {
			return 0, e.err
		}
		if e.plain {
			e.out, e.err = e.document()
		} else {
			e.out, e.err = e.line()
		}
	}
	n := copy(p, e.out)
	e.out = e.out[n:]
	return n, nil
}

// farewell is how long the end of the body may take after the end of the answer was announced.
const farewell = 100 * time.Millisecond

// Close implements io.Closer. After the announced end it reads the little that is left, so that the server sees a client
// that stayed to the end, and the connection can serve the next request.
func (e *events) Close() error {
	if e.done && !e.plain {
		late := time.AfterFunc(farewell, func() { _ = e.body.Close() })
		defer late.Stop()
		_, _ = io.Copy(io.Discard, io.LimitReader(e.in, 4<<10))
	}
	return e.body.Close()
}

// document reads a plain JSON answer.
func (e *events) document() ([]byte, error) {
	text, err := io.ReadAll(e.in)
	if err != nil {
		return nil, e.broken(err)
	}
	line := bytes.NewBufferString("data: ")
	if err := json.Compact(line, text); err != nil {
		return nil, e.broken(errors.New("it is no JSON, or it is cut"))
	}
	e.done = true
	line.WriteByte('\n')
	return line.Bytes(), io.EOF
}

// line reads the stream's next line and returns it when it is an event. After the end it returns io.EOF.
func (e *events) line() ([]byte, error) {
	line, err := e.in.ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, e.broken(err)
	}
	data := bytes.TrimSpace(line)
	switch rest, ok := bytes.CutPrefix(data, []byte("data:")); {
	case ok:
		data = bytes.TrimSpace(rest)
	case !bytes.HasPrefix(data, []byte("{")): // an error is sometimes written without its prefix
		return nil, err
	}
	switch {
	case len(data) == 0:
		return nil, err
	case string(data) == "[DONE]":
		e.done = true
		return nil, io.EOF
	case data[0] == '{':
		// The blank hides an error event from the library, which loses those that are not spelled as OpenAI's.
		return append(append([]byte("data: { "), data[1:]...), '\n'), err
	}
	return append(append([]byte("data: "), data...), '\n'), err
}
