package discord_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest"
	"github.com/homing-gateway/homing/adapters/adaptertest/fakediscord"
	"github.com/homing-gateway/homing/adapters/discord"
	"github.com/homing-gateway/homing/internal/chat"
)

func (w *world) sendFile(out chat.Outbound, data []byte) (chat.Receipt, error) {
	ctx, cancel := context.WithTimeout(w.t.Context(), 2*time.Second)
	defer cancel()
	return w.a.SendFile(ctx, out, chat.Upload{Name: "n.txt", MIME: "text/plain", Size: int64(len(data)), Content: bytes.NewReader(data)})
}

// received lets Alice send files and gives them as the adapter tells of them.
func (w *world) received(r *adaptertest.Session, list ...fakediscord.File) *chat.Message {
	w.t.Helper()
	n := len(r.Await(w.t, 0))
	w.dc.Say(fakediscord.Post{Channel: direct, From: alice, Text: "look", Files: list})
	return r.Await(w.t, n+1)[n].Message
}

// What comes with a message, by what Discord says of it. Several files of a message are one message, and no reference holds
// the signature of an address.
func TestFilesOfAMessage(t *testing.T) {
	w := start(t)
	r := w.connected(w.run(nil))
	m := w.received(r,
		fakediscord.File{Name: "a.png", MIME: "image/png", Data: []byte("1")},
		fakediscord.File{Name: "song.mp3", MIME: "audio/mpeg", Data: []byte("2")},
		fakediscord.File{Name: "f.mp4", MIME: "video/mp4", Data: []byte("3")},
		fakediscord.File{Name: "b.pdf", MIME: "application/pdf", Data: []byte("4")},
		fakediscord.File{Name: "no-kind", Data: []byte("5")})
	var kinds []chat.FileKind
	for i, f := range m.Files {
		kinds = append(kinds, f.Kind)
		var got bytes.Buffer
		if err := w.a.Fetch(t.Context(), f, &got); err != nil || got.String() != string(rune('1'+i)) || strings.Contains(f.Ref, "signature") {
			t.Errorf("%+v: %q, %v", f, got.String(), err)
		}
	}
	if want := []chat.FileKind{chat.Photo, chat.Audio, chat.Video, chat.Document, chat.Document}; !slices.Equal(kinds, want) || m.Text != "look" {
		t.Errorf("%v, want %v", kinds, want)
	}
	r.Stop(t)
}

// The address of a file is good for a day. It is asked for each time, so that a file can be fetched later as well.
func TestAddressIsAskedForAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := inBubble(t)
		w.dc.Called("discord.test")
		r := w.connected(w.run(nil))
		m := w.received(r, fakediscord.File{Name: "a", Data: []byte("x")})
		r.Stop(t)
		time.Sleep(48 * time.Hour)
		var got bytes.Buffer
		if err := w.a.Fetch(t.Context(), m.Files[0], &got); err != nil || got.String() != "x" {
			t.Errorf("%q, %v", got.String(), err)
		}
		w.dc.Delete(m.ID)
		if e := adaptertest.SendError(t, w.a.Fetch(t.Context(), m.Files[0], &got)); e.Fault != chat.Refused {
			t.Errorf("its message is gone: %v", e)
		}
		w.end()
	})
}

// the token goes to the API alone. A file is fetched without it, from Discord only, and no redirect is followed; no
// error holds the token or the signature of an address.
func TestX13TokenAndFiles(t *testing.T) {
	var heard atomic.Int32
	foreign := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { heard.Add(1) }))
	defer foreign.Close()
	w := start(t)
	r := w.connected(w.run(nil))
	f := w.received(r, fakediscord.File{Name: "a", Data: []byte("x")}).Files[0]
	if err := w.a.Fetch(t.Context(), f, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range w.dc.Calls("GET attachment") {
		if c.Credential != "" {
			t.Errorf("a file was asked for with %q", c.Credential)
		}
	}
	for _, at := range []string{foreign.URL + "/x", "http://cdn.discordapp.com/x", "https://cdn.discordapp.com.example/x", "https://notdiscord.com/x", "file:///etc/passwd", "http://%zz"} {
		id := w.dc.Say(fakediscord.Post{Channel: direct, From: alice, Text: "x", More: map[string]any{"attachments": []any{map[string]any{"id": "7", "url": at}}}})
		e := adaptertest.SendError(t, w.a.Fetch(t.Context(), chat.File{Ref: direct + "/" + id + "/7"}, &bytes.Buffer{}))
		if e.Fault != chat.Refused || !strings.Contains(e.Error(), "does not lie at Discord") {
			t.Errorf("%s: %v", at, e)
		}
	}
	for _, ref := range []string{"", "1/2", "1/2/3/4", "../users/@me/7", "x/y/z"} {
		if e := adaptertest.SendError(t, w.a.Fetch(t.Context(), chat.File{Ref: ref}, &bytes.Buffer{})); e.Fault != chat.Refused {
			t.Errorf("%q: %v", ref, e)
		}
	}
	for _, tt := range []struct {
		fault fakediscord.Fault
		want  chat.Fault
	}{
		{fakediscord.Fault{Redirect: foreign.URL}, chat.Refused},
		{fakediscord.Fault{Status: 404}, chat.Refused},
		{fakediscord.Fault{Status: 503, Body: "signature-of-" + token}, chat.ServerError},
		{fakediscord.Fault{Status: 429, RetryAfter: 3}, chat.RateLimited},
		{fakediscord.Fault{Drop: true}, chat.Unreachable},
		{fakediscord.Fault{Hang: true}, chat.Unreachable},
	} {
		tt.fault.Name = "GET attachment"
		w.dc.Add(tt.fault)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		e := adaptertest.SendError(t, w.a.Fetch(ctx, f, &bytes.Buffer{}))
		cancel()
		if e.Fault != tt.want || strings.Contains(e.Error(), "signature") || strings.Contains(e.Error(), token[30:]) {
			t.Errorf("%+v: %v, want %s", tt.fault, e, tt.want)
		}
		w.dc.Clear()
	}
	if heard.Load() != 0 {
		t.Errorf("%d requests elsewhere", heard.Load())
	}
	r.Stop(t)
}

// D-27: the largest file goes out; a larger one is refused as too large, whoever says so.
func TestD27LargestFile(t *testing.T) {
	w := start(t)
	out := chat.Outbound{To: inDirect(), Key: "k1"}
	if _, err := w.sendFile(out, make([]byte, fakediscord.MaxFile)); err != nil {
		t.Errorf("the largest: %v", err)
	}
	out.Key = "k2"
	_, err := w.sendFile(out, make([]byte, fakediscord.MaxFile+1))
	if e := adaptertest.SendError(t, err); e.Fault != chat.Refused || e.Class != chat.ClassTooLong {
		t.Errorf("a larger one: %v", e)
	}
	for _, f := range []fakediscord.Fault{{Status: 413, Body: "<html>too large</html>"}, {Status: 400, Code: 40005, Message: "Request entity too large"}} {
		f.Name = "POST messages"
		w.dc.Add(f)
		_, err := w.sendFile(out, []byte("x"))
		if e := adaptertest.SendError(t, err); e.Fault != chat.Refused || e.Class != chat.ClassTooLong {
			t.Errorf("%+v: %v", f, e)
		}
		w.dc.Clear()
	}
}

// D-03: a file that is sent again under its key is one message, as a text is; so is one that opens its thread.
func TestD03FileOnce(t *testing.T) {
	w := start(t, func(o *discord.Options) { o.AutoThread = true })
	w.dc.Add(fakediscord.Fault{Name: "POST messages", Drop: true, Stored: true, Times: 1})
	out := chat.Outbound{To: inDirect(), Key: "k", Text: "**c**"}
	if _, err := w.sendFile(out, []byte("x")); chat.AsSendError(err).Fault != chat.Unknown {
		t.Errorf("the answer is lost: %v", err)
	}
	receipt, err := w.sendFile(out, []byte("x"))
	if seen := w.dc.Visible(direct); err != nil || len(seen) != 1 || seen[0].ID != receipt.MessageID || seen[0].Content != "**c**" || string(seen[0].Files[0].Data) != "x" {
		t.Errorf("%v, %+v", err, seen)
	}
	root := w.dc.Say(fakediscord.Post{Channel: square, From: alice, Text: "send it"})
	out = chat.Outbound{To: chat.Address{Account: account, Type: chat.Thread, Chat: square, Thread: root}, Key: "k2"}
	if _, err := w.sendFile(out, []byte("y")); err != nil {
		t.Fatal(err)
	}
	if seen := w.dc.Visible(root); len(seen) != 1 || string(seen[0].Files[0].Data) != "y" {
		t.Errorf("in the thread: %+v", seen)
	}
}
