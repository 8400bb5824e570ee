// Package example is an adapter to read before writing one: a small platform with everything that matters, and nothing
// else. docs/adapters.md walks through it, and it passes the suite.
//
// The platform speaks lines of JSON over TCP. Whoever receives sends {"receive":TOKEN} and gets {"kind":"welcome"}, then a
// line for each event and {"kind":"ping"} every 30 seconds; an event is delivered again on the next connection until its
// number came back as {"ack":N}. Whoever sends opens a connection, writes one line, and reads one line that says yes or no.
package example

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
)

const (
	maxText  = 500              // bytes
	silence  = 45 * time.Second // pings come every 30
	patience = 30 * time.Second // with a call whose context has no deadline
)

// Adapter serves one bot.
type Adapter struct {
	Bot   string // its name, which is its id
	Token string
	Addr  string
	Dial  func(ctx context.Context, network, addr string) (net.Conn, error)
}

// String is for logs, and leaves the token out.
func (a *Adapter) String() string { return "example:" + a.Bot }

// GoString leaves it out, too.
func (a *Adapter) GoString() string { return a.String() }

// Describe gives the account and its limits: facts, and no I/O.
func (a *Adapter) Describe() chat.Info {
	account := chat.Account{Profile: "default", Platform: "example", ID: a.Bot}
	return chat.Info{Account: account, Dialect: chat.Plain, MaxUnits: maxText, Unit: chat.Bytes, Idempotent: true}
}

// connect opens a connection, which ends with ctx. Whoever gets it calls end.
func (a *Adapter) connect(ctx context.Context) (conn net.Conn, end func(), err error) {
	dial, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if conn, err = a.Dial(dial, "tcp", a.Addr); err != nil {
		return nil, nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	return conn, func() { stop(); _ = conn.Close() }, nil
}

// head is what every line from the platform may have. An event has a number; its other fields are read only afterwards,
// so that one that makes no sense can be set aside under its number.
type head struct {
	Event int64  `json:"event"`
	Kind  string `json:"kind"`
	Error string `json:"error"`
}

type message struct {
	Chat string    `json:"chat"` // a person's name, or #room
	From string    `json:"from"`
	Bot  bool      `json:"bot"` // From is one
	ID   string    `json:"id"`
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

// Run receives on one connection until that fails or ctx ends. What was not acknowledged comes again on the next one, so
// that the cursor, which the core offers, is not needed.
func (a *Adapter) Run(ctx context.Context, _ string, admit chat.Admit, up func()) error {
	conn, end, err := a.connect(ctx)
	if err != nil {
		return ended(ctx, err)
	}
	defer end()
	say := json.NewEncoder(conn)
	if err := say.Encode(map[string]string{"receive": a.Token}); err != nil {
		return ended(ctx, err)
	}
	lines := bufio.NewScanner(conn)
	for {
		// A connection that is dead looks like one that is quiet. Pings tell them apart, and a missing ping is noticed.
		_ = conn.SetReadDeadline(time.Now().Add(silence))
		if !lines.Scan() {
			return ended(ctx, errors.Join(errors.New("the connection ended"), lines.Err()))
		}
		var h head
		if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
			return ended(ctx, err)
		}
		if h.Error == "token" {
			remedy := "The platform does not know this token. Ask its operator for another one."
			return &chat.RunError{Cause: chat.CauseBadCredential, Park: true, Remedy: remedy, Err: errors.New("the token was refused")}
		}
		up() // the platform has answered, whatever it said
		if h.Event == 0 {
			continue
		}
		if err := admit(ctx, a.event(h, lines.Bytes())); err != nil {
			return fmt.Errorf("admit event %d: %w", h.Event, err)
		}
		// Only now: before this line the platform owes us the event, after it the core has it.
		if err := say.Encode(map[string]int64{"ack": h.Event}); err != nil {
			return ended(ctx, err)
		}
	}
}

// ended is what Run returns when the connection is over: no fault of the platform if we were told to stop.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &chat.RunError{Cause: chat.CauseUnreachable, Err: err}
}

// event translates one line. It is a pure function: the same line is the same event, under the platform's own id.
func (a *Adapter) event(h head, line []byte) chat.Event {
	e := chat.Event{ID: fmt.Sprint(h.Event)}
	if h.Kind != "message" {
		return e // known or not, it is of no interest; edits are of this kind
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		e.Aside = &chat.Aside{Raw: json.RawMessage(strings.Clone(string(line))), Reason: err.Error()}
		return e
	}
	out := chat.Message{
		Address:    chat.Address{Account: a.Describe().Account, Type: chat.Direct, Chat: m.Chat, Person: m.From},
		PersonName: m.From, ID: m.ID, Text: m.Text, FromBot: m.Bot, SentAt: m.At,
	}
	if strings.HasPrefix(m.Chat, "#") {
		out.Address.Type = chat.Channel
	}
	// The model need not read its own name.
	padded := " " + m.Text + " "
	named := strings.Contains(padded, " @"+a.Bot+" ")
	if named {
		out.Text = strings.TrimSpace(strings.ReplaceAll(padded, " @"+a.Bot+" ", " "))
	}
	out.Addressed = (named || out.Address.Type == chat.Direct) && m.From != a.Bot
	e.Message = &out
	return e
}

// Send makes one attempt. How far it came decides what its failure means.
func (a *Adapter) Send(ctx context.Context, out chat.Outbound) (chat.Receipt, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, end, err := a.connect(ctx)
	if err != nil {
		return chat.Receipt{}, &chat.SendError{Fault: chat.Unreachable, Err: err}
	}
	defer end()
	request := map[string]string{"send": out.To.Chat, "text": out.Text, "key": out.Key, "token": a.Token}
	if err := json.NewEncoder(conn).Encode(request); err != nil { // no whole line, no message
		return chat.Receipt{}, &chat.SendError{Fault: chat.Unreachable, Err: err}
	}
	var answer struct {
		ID      string `json:"id"`
		Error   string `json:"error"`
		Seconds int    `json:"seconds"`
	}
	if err := json.NewDecoder(conn).Decode(&answer); err != nil { // it may have arrived, and nobody can know
		return chat.Receipt{}, &chat.SendError{Fault: chat.Unknown, Err: errors.Join(err, ctx.Err())}
	}
	if answer.Error != "" {
		return chat.Receipt{}, fault(answer.Error, time.Duration(answer.Seconds)*time.Second)
	}
	return chat.Receipt{MessageID: answer.ID}, nil
}

// fault says what an answer of the platform means for the message: the one place that decides, from codes.
func fault(code string, wait time.Duration) *chat.SendError {
	e := &chat.SendError{Fault: chat.Refused, Class: chat.ClassOther, Err: errors.New(code)}
	switch code {
	case "wait":
		e.Fault, e.Class, e.RetryAfter = chat.RateLimited, "", wait
	case "server":
		e.Fault, e.Class = chat.ServerError, ""
	case "no chat":
		e.Class = chat.ClassChatGone
	case "blocked":
		e.Class = chat.ClassBlocked
	case "too long":
		e.Class = chat.ClassTooLong
	case "token":
		e.Class = chat.ClassCredential
	}
	return e
}
