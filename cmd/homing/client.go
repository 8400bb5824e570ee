package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	"github.com/homing-gateway/homing/internal/api"
	"github.com/homing-gateway/homing/internal/process"
	"github.com/homing-gateway/homing/internal/store"
)

// client asks the running daemon over the admin socket.
type client struct{ http *http.Client }

// errNoDaemon says that nothing answers on the admin socket.
var errNoDaemon = errors.New("no daemon is running here: start one with homing run")

// connect reaches the daemon of the configuration, or fails with exit code 68.
func (g *global) connect() (*client, error) {
	loaded, err := g.load()
	if err != nil {
		return nil, err
	}
	path := socketPath(loaded.Config.DataDir)
	c := newClient(path)
	// To get a connection is not enough: that of a gateway that was killed while it started a program stays for a moment.
	res, err := c.http.Head("http://homing/")
	if err != nil {
		return nil, exit(exitNoDaemon, fmt.Errorf("%w (%s)", errNoDaemon, path))
	}
	_ = res.Body.Close()
	return c, nil
}

func newClient(path string) *client {
	return &client{&http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dialSocket(ctx, path) },
	}}}
}

// reader reaches the daemon, or reads the store by itself while none runs.
func (g *global) reader() (*client, func(), error) {
	c, err := g.connect()
	if err == nil {
		return c, func() {}, nil
	}
	if !errors.Is(err, errNoDaemon) {
		return nil, nil, err
	}
	loaded, err := g.load()
	if err != nil {
		return nil, nil, err
	}
	db, err := store.OpenRead(filepath.Join(loaded.Config.DataDir, "homing.db"))
	if errors.Is(err, store.ErrInUse) { // by a daemon that was just starting
		if c, err := g.connect(); err == nil {
			return c, func() {}, nil
		}
	}
	if err != nil {
		return nil, nil, storeError(err)
	}
	processes, err := process.New(filepath.Join(loaded.Config.DataDir, "processes"))
	if err != nil {
		_ = db.Close()
		return nil, nil, err
	}
	done := func() { processes.Close(); _ = db.Close() }
	return &client{&http.Client{Transport: inside{api.Read(db, processes, nil)}}}, done, nil
}

// inside serves requests in this process, so that one code reads with and without a daemon.
type inside struct{ handler http.Handler }

func (t inside) RoundTrip(r *http.Request) (*http.Response, error) {
	w := &recorder{status: http.StatusOK, header: http.Header{}}
	t.handler.ServeHTTP(w, r)
	return &http.Response{StatusCode: w.status, Status: http.StatusText(w.status), Header: w.header, Body: io.NopCloser(&w.body), Request: r}, nil
}

// recorder keeps an answer.
type recorder struct {
	status int
	header http.Header
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }

// get asks for a value.
func (c *client) get(path string, v any) error { return c.do(http.MethodGet, path, nil, v) }

// post asks for a change.
func (c *client) post(path string, body, v any) error { return c.do(http.MethodPost, path, body, v) }

func (c *client) do(method, path string, body, v any) error {
	answer, err := c.ask(method, path, body)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Close() }()
	return json.NewDecoder(answer).Decode(v)
}

// download writes an answer that is no JSON.
func (c *client) download(path string, w io.Writer) error {
	answer, err := c.ask(http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Close() }()
	_, err = io.Copy(w, answer)
	return err
}

// ask makes a request and returns the body of its success.
func (c *client) ask(method, path string, body any) (io.ReadCloser, error) {
	var rd io.Reader = http.NoBody
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		rd = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, "http://homing"+path, rd)
	if err != nil {
		return nil, err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, exit(exitNoDaemon, fmt.Errorf("the daemon does not answer: %w", err))
	}
	if res.StatusCode == http.StatusOK {
		return res.Body, nil
	}
	defer func() { _ = res.Body.Close() }()
	var f api.Failure
	if json.NewDecoder(res.Body).Decode(&f) != nil || f.Error == "" {
		f.Error = res.Status
	}
	return nil, errorText(f.Error)
}

// maxSocketPath is below what a socket address holds on every system (104 bytes on macOS, 108 on Linux).
const maxSocketPath = 100

// shortSocket gives a path to the socket that fits into an address, however deep the folder lies.
func shortSocket(path string) (short string, done func(), err error) {
	if len(path) <= maxSocketPath {
		return path, func() {}, nil
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)), func() { _ = dir.Close() }, nil
}

func dialSocket(ctx context.Context, path string) (net.Conn, error) {
	short, done, err := shortSocket(path)
	if err != nil {
		return nil, err
	}
	defer done()
	var d net.Dialer
	return d.DialContext(ctx, "unix", short)
}

// escapeID keeps what a person typed in one segment of a path.
func escapeID(typed string) string { return url.PathEscape(typed) }
