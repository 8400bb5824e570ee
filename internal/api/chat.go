package api

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"sync"

	"github.com/homing-gateway/homing/internal/gateway"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/view"
)

// Frame is one line of the chat protocol: JSON, in both directions, on a connection that was upgraded to ChatProtocol.
type Frame struct {
	// Type is "say", "resume", "wait" or "ack" from a terminal, "message", "taken", "idle" or "error" from the gateway. After "say",
	// "resume" (Text is the session) and "wait" an "idle" follows once nothing is left to wait for.
	Type string `json:"type"`
	ID   string `json:"id,omitempty"`   // of the text that is said, or of the message that is shown
	Text string `json:"text,omitempty"` // what is said, shown, or wrong
}

// MaxFrame bounds a line of the chat protocol, in bytes.
const MaxFrame = 4 << 20

// ChatProtocol is what a terminal asks a connection to be upgraded to.
const ChatProtocol = "homing-chat"

// serveChat connects a terminal to the console.
func serveChat(g *gateway.Gateway, w http.ResponseWriter, r *http.Request) {
	hj, ok := w.(http.Hijacker)
	if r.Header.Get("Upgrade") != ChatProtocol || !ok {
		answer(w, nil, errUpgrade)
		return
	}
	terminal, err := g.Console().Attach()
	if err != nil {
		answer(w, nil, err)
		return
	}
	defer terminal.Detach()
	conn, buf, err := hj.Hijack()
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write([]byte("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + ChatProtocol + "\r\n\r\n")); err != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	t := &terminalConn{conn: conn, g: g, terminal: terminal, done: ctx.Done()}
	t.serve(ctx, cancel, buf.Reader)
}

type protocolError string

func (e protocolError) Error() string { return string(e) }

const errUpgrade = protocolError("this is for terminals: ask for an upgrade to " + ChatProtocol)

// terminalConn is one terminal's connection.
type terminalConn struct {
	g        *gateway.Gateway
	terminal *gateway.Terminal
	done     <-chan struct{} // closed when the terminal is gone

	mu   sync.Mutex
	conn net.Conn
}

func (t *terminalConn) write(f Frame) bool {
	b, err := json.Marshal(f)
	if err != nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, err = t.conn.Write(append(b, '\n'))
	return err == nil
}

// serve reads what the terminal says until it goes away, and writes what is for it.
func (t *terminalConn) serve(ctx context.Context, gone context.CancelFunc, r *bufio.Reader) {
	var writing sync.WaitGroup
	watch, stop := t.g.Follow()
	defer stop()
	asked := make(chan bool, 64)
	ask := func(later bool) {
		select {
		case asked <- later:
		case <-t.done:
		}
	}
	writing.Go(func() { t.show() })
	writing.Go(func() { // a gateway that ends disconnects its terminals
		select {
		case <-t.terminal.Gone():
			_ = t.conn.Close()
		case <-t.done:
		}
	})
	writing.Go(func() { t.tellIdle(watch, asked) })
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, MaxFrame)
	for lines.Scan() {
		var f Frame
		if json.Unmarshal(lines.Bytes(), &f) != nil {
			t.write(Frame{Type: "error", Text: "that line is not JSON"})
			continue
		}
		switch f.Type {
		case "ack":
			t.terminal.Ack(f.ID)
		case "say":
			later, err := t.terminal.Say(ctx, f.ID, f.Text)
			if err != nil {
				t.write(Frame{Type: "error", ID: f.ID, Text: err.Error()})
				continue
			}
			t.write(Frame{Type: "taken", ID: f.ID})
			ask(later)
		case "resume":
			target, err := view.Find(t.g.Store(), f.Text)
			if err == nil {
				err = t.terminal.Resume(ctx, f.ID, id.Session(target))
			}
			if err != nil {
				t.write(Frame{Type: "error", ID: f.ID, Text: err.Error()})
				continue
			}
			ask(true)
		case "wait":
			ask(false)
		default:
			t.write(Frame{Type: "error", Text: "there is no frame of type " + strconv.Quote(f.Type)})
		}
	}
	if lines.Err() != nil {
		t.write(Frame{Type: "error", Text: "that is too long: at most " + strconv.Itoa(MaxFrame/2>>20) + " MiB at once"})
	}
	gone()
	t.terminal.Detach()
	writing.Wait()
}

// show passes messages on.
func (t *terminalConn) show() {
	for {
		select {
		case m := <-t.terminal.Messages:
			if !t.write(Frame{Type: "message", ID: m.Key, Text: m.Text}) {
				return
			}
		case <-t.done:
			return
		}
	}
}

// tellIdle tells the terminal, after it said something, when nothing is left to wait for.
func (t *terminalConn) tellIdle(watch *gateway.Watch, asked <-chan bool) {
	waiting, later := false, false // for anything at all, and for more than replies
	for {
		select {
		case more := <-asked:
			waiting, later = true, later || more
		case <-watch.C:
		case <-t.done:
			return
		}
		if !waiting {
			continue
		}
		idle, err := t.g.Console().Shown()
		if later && err == nil {
			idle, err = t.g.Console().Idle()
		}
		if err != nil {
			t.write(Frame{Type: "error", Text: err.Error()})
			continue
		}
		if idle {
			waiting, later = false, false
			t.write(Frame{Type: "idle"})
		}
	}
}
