package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/homing-gateway/homing/internal/api"
	"github.com/homing-gateway/homing/internal/id"
)

func chatCommand(g *global) *cobra.Command {
	session := ""
	c := leaf("chat [MESSAGE]", "talk to the running gateway from the terminal",
		"homing chat \"what did the build say?\"\nhoming chat                    a dialogue; end it with Ctrl-D\nhoming chat --session ses_01J9ZK", cobra.ArbitraryArgs,
		func(args []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			return chatWith(c, session, strings.Join(args, " "), os.Stdin, os.Stdout)
		})
	c.Flags().StringVar(&session, "session", "", "go back to this conversation first")
	return c
}

// chatWith says a message and prints what comes back until nothing is left to wait for; without a message it is a
// dialogue over the input, line by line.
func chatWith(c *client, session, message string, in io.Reader, out io.Writer) error {
	conn, err := c.chat()
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	d := &dialogue{conn: conn, lines: bufio.NewReader(conn), out: out, ids: id.NewSource(nil)}
	if session != "" {
		if err := d.send(api.Frame{Type: "resume", ID: d.ids.New("say_", time.Now()), Text: session}); err != nil {
			return lostDaemon(err)
		}
		if err := d.untilIdle(); err != nil {
			return err
		}
	}
	if message != "" {
		return d.ask(message)
	}
	if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return d.interactive(in)
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, api.MaxFrame/2)
	said := session != ""
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		said = true
		if err := d.ask(lines.Text()); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("the input is not taken any more: %w", err)
	}
	if !said { // nothing to say: show what was said meanwhile
		if err := d.send(api.Frame{Type: "wait"}); err != nil {
			return lostDaemon(err)
		}
		return d.untilIdle()
	}
	return nil
}

// dialogue is a terminal's end of the chat protocol.
type dialogue struct {
	conn  io.ReadWriteCloser
	lines *bufio.Reader
	out   io.Writer
	ids   *id.Source
}

func (d *dialogue) send(f api.Frame) error {
	b, err := json.Marshal(f)
	if err != nil {
		return err
	}
	_, err = d.conn.Write(append(b, '\n'))
	return err
}

// ask says a text and prints what comes until the gateway says that nothing is left to wait for.
func (d *dialogue) ask(text string) error {
	if err := d.send(api.Frame{Type: "say", ID: d.ids.New("say_", time.Now()), Text: text}); err != nil {
		return lostDaemon(err)
	}
	return d.untilIdle()
}

// untilIdle prints what comes until the gateway says that nothing is left to wait for.
func (d *dialogue) untilIdle() error {
	for {
		f, err := d.next()
		switch {
		case err != nil:
			return lostDaemon(err)
		case f.Type == "idle":
			return nil
		case f.Type == "error":
			return errorText(f.Text)
		}
	}
}

// next reads a frame; a message is printed, and only then acknowledged.
func (d *dialogue) next() (api.Frame, error) {
	var f api.Frame
	line, err := d.lines.ReadBytes('\n')
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(line, &f); err != nil {
		return f, err
	}
	if f.Type == "message" {
		if _, err := fmt.Fprintln(d.out, f.Text); err != nil {
			return f, err
		}
		return f, d.send(api.Frame{Type: "ack", ID: f.ID})
	}
	return f, nil
}

// interactive is a dialogue at a terminal: what comes by itself is printed when it comes.
func (d *dialogue) interactive(in io.Reader) error {
	_, _ = fmt.Fprintln(d.out, "Talk to the agent; /help lists what the gateway understands. Ctrl-D ends this, and nothing else.")
	failed := make(chan error, 1)
	go func() { // ends when the connection is closed, at the latest by the caller
		for {
			f, err := d.next()
			if err != nil {
				failed <- lostDaemon(err)
				return
			}
			if f.Type == "error" {
				_, _ = fmt.Fprintln(d.out, "⚠", f.Text)
			}
		}
	}()
	lines := make(chan string)
	go func() { // ends with the input, or with the process
		defer close(lines)
		for scan := bufio.NewScanner(in); scan.Scan(); {
			lines <- scan.Text()
		}
	}()
	for {
		select {
		case err := <-failed:
			return err
		case text, more := <-lines:
			if !more {
				return nil
			}
			if strings.TrimSpace(text) == "" {
				continue
			}
			if err := d.send(api.Frame{Type: "say", ID: d.ids.New("say_", time.Now()), Text: text}); err != nil {
				return lostDaemon(err)
			}
		}
	}
}

func lostDaemon(err error) error {
	if errors.Is(err, io.EOF) {
		err = errorText("the daemon has ended; what was said is kept, and what it has to say comes with the next homing chat")
	}
	return exit(exitNoDaemon, err)
}

// chat opens the chat protocol.
func (c *client) chat() (io.ReadWriteCloser, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://homing/chat", http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", api.ChatProtocol)
	res, err := c.http.Do(req)
	if err != nil {
		return nil, exit(exitNoDaemon, err)
	}
	conn, ok := res.Body.(io.ReadWriteCloser)
	if res.StatusCode != http.StatusSwitchingProtocols || !ok {
		_ = res.Body.Close()
		return nil, fmt.Errorf("the daemon does not offer a chat: %s", res.Status)
	}
	return conn, nil
}
