package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/gorilla/websocket"

	"github.com/homing-gateway/homing/internal/chat"
)

// socket is one connection of Socket Mode that has said hello. Its frames come one by one: the next one is read once the
// last one was taken.
type socket struct {
	conn   *websocket.Conn
	frames chan []byte   // closed when the connection has fallen
	err    error         // why, once frames is closed
	gone   chan struct{} // closed when nobody takes frames any more
}

// envelope is what comes over a socket.
type envelope struct {
	ID      string          `json:"envelope_id"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload"`
	Reason  string          `json:"reason"` // of a disconnect
}

// Why Slack ends a connection (docs.slack.dev/apis/events-api/using-socket-mode).
const (
	reasonWarning  = "warning"           // it will be cut in about 10 s
	reasonRefresh  = "refresh_requested" // another one is to take its place
	reasonDisabled = "link_disabled"     // somebody switched Socket Mode off
	reasonCrowded  = "too_many_websockets"
)

// connect opens a socket and waits for its hello. alive is told of every sign of life.
func (a *Adapter) connect(ctx context.Context, alive func()) (*socket, error) {
	ctx, cancel := context.WithTimeout(ctx, a.options.CallTimeout)
	defer cancel()
	_, address, err := a.api.StartSocketModeContext(ctx)
	if err != nil {
		return nil, runFault(err, appToken)
	}
	at, err := url.Parse(address)
	if err != nil || at.Host == "" {
		return nil, &chat.RunError{Cause: chat.CauseUnreachable, Err: errors.New("apps.connections.open: an answer without an address")}
	}
	dialer := websocket.Dialer{NetDialContext: a.options.Dial, HandshakeTimeout: a.options.DialTimeout, Proxy: http.ProxyFromEnvironment}
	conn, resp, err := dialer.DialContext(ctx, address, nil)
	if resp != nil {
		_ = resp.Body.Close()
	}
	if err != nil { // the address is a ticket: it is left out
		return nil, &chat.RunError{Cause: chat.CauseUnreachable, Err: fmt.Errorf("connect to %s: %w", at.Host, a.calls.Clean(err))}
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.UnderlyingConn().Close() })
	_ = conn.SetReadDeadline(time.Now().Add(a.options.Silence))
	_, first, err := conn.ReadMessage()
	if !stop() && err == nil {
		err = ctx.Err()
	}
	var hello envelope
	if err == nil {
		err = json.Unmarshal(first, &hello)
	}
	switch {
	case err != nil:
		err = &chat.RunError{Cause: chat.CauseUnreachable, Err: fmt.Errorf("wait for the hello: %w", a.calls.Clean(err))}
	case hello.Type == "disconnect":
		err = a.dismissed(hello.Reason)
	case hello.Type != "hello":
		err = &chat.RunError{Cause: chat.CauseUnreachable, Err: errors.New("the socket does not begin with a hello")}
	}
	if err != nil {
		_ = conn.UnderlyingConn().Close()
		return nil, err
	}
	k := &socket{conn: conn, frames: make(chan []byte), gone: make(chan struct{})}
	go k.read(a.options.Silence, alive)
	return k, nil
}

// read takes frames until the connection falls or is silent for too long. Pings of Slack count, and what it answers to ours.
func (k *socket) read(silence time.Duration, alive func()) {
	defer close(k.frames)
	sign := func() {
		_ = k.conn.SetReadDeadline(time.Now().Add(silence))
		alive()
	}
	k.conn.SetPongHandler(func(string) error { sign(); return nil })
	k.conn.SetPingHandler(func(data string) error {
		sign()
		_ = k.conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(silence))
		return nil
	})
	sign()
	for {
		_, raw, err := k.conn.ReadMessage()
		if err != nil {
			k.err = err
			return
		}
		sign()
		select {
		case k.frames <- raw:
		case <-k.gone:
			return
		}
		_ = k.conn.SetReadDeadline(time.Now().Add(silence)) // taking it may have lasted
	}
}

// ping asks for a sign of life.
func (k *socket) ping() {
	_ = k.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Second))
}

// acknowledge tells Slack that an envelope need not come again.
func (k *socket) acknowledge(id string, limit time.Duration) error {
	_ = k.conn.SetWriteDeadline(time.Now().Add(limit))
	return k.conn.WriteJSON(map[string]string{"envelope_id": id})
}

// close ends the connection and waits until nothing of it runs any more.
func (k *socket) close() {
	close(k.gone)
	_ = k.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseGoingAway, ""), time.Now().Add(100*time.Millisecond))
	_ = k.conn.UnderlyingConn().Close()
	for range k.frames { // until it is closed
		continue
	}
}

// dismissed is the error of a socket that Slack does not want.
func (a *Adapter) dismissed(reason string) *chat.RunError {
	err := fmt.Errorf("Slack ended the connection: %s", a.calls.Words(reason)) //nolint:staticcheck // a name
	switch reason {
	case reasonDisabled:
		return &chat.RunError{Cause: chat.CauseMissingIntent, Park: true, Remedy: remedySocketMode, Err: err}
	case reasonCrowded:
		n := a.crowded.Add(1) - 1
		return &chat.RunError{Cause: chat.CauseUnreachable, After: min(time.Second<<min(n, 10), maxCrowdedPause), Err: err}
	}
	return &chat.RunError{Cause: chat.CauseUnreachable, Err: err}
}
