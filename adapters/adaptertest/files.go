package adaptertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"strings"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
)

// files is what files must be like, on their way in and out.
func files() []behaviour {
	return []behaviour{
		{"a file comes with its message and is fetched whole, also after a restart", fetches},
		{"pieces of an album say that they belong together", album},
		{"a file that the platform does not hand over is refused as too_long", fetchTooLarge},
		{"a file that breaks off is an error, and whole the next time", fetchCut},
		{"a file arrives whole, with its name and its caption", sendsFile},
		{"an image is shown as one, and in plain form as a file", sendsImage},
		{"the longest caption arrives whole", longestCaption},
		{"trouble of a file is told as that of a send", troubledFile},
	}
}

// content is what a file of the suite holds: every byte, and more than one buffer of them.
func content() []byte {
	b := make([]byte, 100<<10)
	for i := range b {
		b[i] = byte(i + i>>8)
	}
	return b
}

// fetch makes one attempt with the patience of the core.
func (w *world) fetch(a chat.Adapter, f chat.File) ([]byte, error) {
	fetcher, ok := a.(chat.Fetcher)
	if !ok {
		w.lacking("chat.Fetcher")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var b bytes.Buffer
	err := fetcher.Fetch(ctx, f, &b)
	w.heard("Fetch", err)
	return b.Bytes(), err
}

// posted lets Alice send a file and gives it as the adapter tells of it.
func (w *world) posted(c *core, p Post) chat.File {
	w.Helper()
	n := len(c.messages())
	w.Say(p)
	m := c.await(n + 1)[n]
	if len(m.Files) != 1 || m.Text != p.Text || len(m.Unsupported) > 0 {
		w.Fatalf("%+v, want the text %q and one file", m, p.Text)
	}
	return m.Files[0]
}

func fetches(w *world) {
	c := w.start(w.a, nil).connected()
	const name = "a b/../$(id)\"é.bin"
	f := w.posted(c, Post{At: Direct, From: Alice, Text: "this one", File: &PostFile{Kind: chat.Document, Name: name, Data: content()}})
	if f.Kind != chat.Document || f.Name != name || f.Ref == "" || f.Size != 0 && f.Size != int64(len(content())) {
		w.Errorf("%+v", f)
	}
	photo := w.posted(c, Post{At: Shared, From: Bob, File: &PostFile{Kind: chat.Photo, MIME: "image/png", Data: picture()}})
	voice := w.posted(c, Post{At: Direct, From: Alice, File: &PostFile{Kind: chat.Voice, MIME: "audio/ogg", Data: []byte("OggS")}})
	if photo.Kind != chat.Photo || voice.Kind != chat.Voice {
		w.Errorf("a photo is a %s, a spoken message a %s", photo.Kind, voice.Kind)
	}
	for _, a := range []chat.Adapter{w.a, w.anew()} {
		for want, x := range map[string]chat.File{string(content()): f, string(picture()): photo, "OggS": voice} {
			if got, err := w.fetch(a, x); err != nil || string(got) != want {
				w.Errorf("%s: %d of %d bytes, %v", x.Kind, len(got), len(want), err)
			}
		}
	}
	full := errors.New("no space left on device")
	if err := w.a.(chat.Fetcher).Fetch(context.Background(), f, failing{full}); err == nil {
		w.Error("a writer that fails: no error")
	}
	w.fact = fmt.Sprintf("up to %d MB", w.a.(chat.Fetcher).MaxFetch()>>20)
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func album(w *world) {
	c := w.start(w.a, nil).connected()
	for _, of := range []string{"one", "one", "two"} {
		w.Say(Post{At: Direct, From: Alice, File: &PostFile{Kind: chat.Photo, MIME: "image/png", Data: picture()}, Album: of})
	}
	w.say(Direct, Alice, "alone")
	m := c.await(4)
	if m[0].Album == "" || m[0].Album != m[1].Album || m[2].Album == "" || m[2].Album == m[0].Album || m[3].Album != "" {
		w.Errorf("%q %q %q %q", m[0].Album, m[1].Album, m[2].Album, m[3].Album)
	}
}

func fetchTooLarge(w *world) {
	c := w.start(w.a, nil).connected()
	fetcher, ok := w.a.(chat.Fetcher)
	if !ok {
		w.lacking("chat.Fetcher")
	}
	f := w.posted(c, Post{At: Direct, From: Alice, File: &PostFile{Kind: chat.Document, Name: "big", Data: []byte("x"), Size: fetcher.MaxFetch() + 1}})
	if f.Size != fetcher.MaxFetch()+1 {
		w.Errorf("its size is told as %d", f.Size)
	}
	_, err := w.fetch(w.a, f)
	w.want(w.judged(err), chat.Refused, chat.ClassTooLong)
}

func fetchCut(w *world) {
	c := w.start(w.a, nil).connected()
	f := w.posted(c, Post{At: Direct, From: Alice, File: &PostFile{Kind: chat.Document, Name: "n", Data: content()}})
	w.Strike(CutFile)
	_, err := w.fetch(w.a, f)
	if e := w.judged(err); e == nil || e.Fault == chat.Refused {
		w.Errorf("it breaks off: %v, want an error that lets it be tried again", e)
	}
	w.Heal()
	w.net.Behave(Refuses)
	w.net.Cut()
	_, err = w.fetch(w.a, f)
	w.want(w.judged(err), chat.Unreachable, "")
	w.net.Behave(Accepts)
	if got, err := w.fetch(w.a, f); err != nil || !bytes.Equal(got, content()) {
		w.Errorf("afterwards: %d bytes, %v", len(got), err)
	}
}

// sendFile makes one attempt at a file.
func (w *world) sendFile(out chat.Outbound, name, mime string, data []byte) (chat.Receipt, *chat.SendError) {
	sender, ok := w.a.(chat.FileSender)
	if !ok {
		w.lacking("chat.FileSender")
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := sender.SendFile(ctx, out, chat.Upload{Name: name, MIME: mime, Size: int64(len(data)), Content: bytes.NewReader(data)})
	return r, w.judged(err)
}

func sendsFile(w *world) {
	const name = "a report \"é\" $(id).txt"
	for _, at := range []Place{Direct, Shared, Thread} {
		out := w.out(at, "see <b>here</b>")
		if at == Thread && w.At(Thread) == (chat.Address{}) {
			continue
		}
		if at == Shared && w.Traits().Lacks["an answer names the message that it answers"] == "" {
			out.ReplyTo = w.say(Shared, Alice, "?")
		}
		r, err := w.sendFile(out, name, "text/plain", content())
		if err != nil {
			w.Fatalf("%s: %v", at, err)
		}
		seen := w.Seen(at)
		if len(seen) != 1 || r.MessageID != "" && seen[0].ID != r.MessageID || seen[0].Text != out.Text || seen[0].ReplyTo != out.ReplyTo ||
			seen[0].File == nil || seen[0].File.Name != name || seen[0].File.Image || !bytes.Equal(seen[0].File.Data, content()) {
			w.Errorf("%s: %+v", at, seen)
		}
	}
	if _, err := w.sendFile(w.out(Direct, ""), "bare.bin", "application/octet-stream", []byte("x")); err != nil || len(w.Seen(Direct)) != 2 {
		w.Errorf("without a caption: %v", err)
	}
	w.fact = fmt.Sprintf("up to %d MB", w.a.(chat.FileSender).FileLimits(w.At(Direct)).MaxFile>>20)
}

func sendsImage(w *world) {
	plain := w.out(Direct, "p")
	w.keys++
	shown := plain
	shown.Key, shown.Plain, shown.Text = plain.Key+"2", false, ""
	for i, out := range []chat.Outbound{shown, plain} {
		if _, err := w.sendFile(out, "p.png", "image/png", picture()); err != nil {
			w.Fatal(err)
		}
		seen := w.Seen(Direct)
		if f := seen[i].File; f == nil || f.Image != (i == 0) || i == 1 && !bytes.Equal(f.Data, picture()) {
			w.Errorf("plain %t: %+v", out.Plain, f)
		}
	}
}

func longestCaption(w *world) {
	sender, ok := w.a.(chat.FileSender)
	if !ok {
		w.lacking("chat.FileSender")
	}
	i := w.a.Describe()
	i.MaxUnits = sender.FileLimits(w.At(Direct)).MaxCaption
	if _, err := w.sendFile(w.out(Direct, full(i)), "n.txt", "text/plain", []byte("x")); err != nil {
		w.Fatal(err)
	}
	if seen := w.Seen(Direct); len(seen) != 1 || seen[0].Text != full(i) {
		w.Errorf("%d messages, want one with %d units", len(seen), i.MaxUnits)
	}
	w.fact = fmt.Sprintf("%d %s", i.MaxUnits, i.Unit)
}

func troubledFile(w *world) {
	try := func(trouble Trouble, at Place) *chat.SendError {
		w.Strike(trouble)
		before := w.Sends()
		_, err := w.sendFile(w.out(at, "c"), "n.txt", "text/plain", content())
		time.Sleep(3 * Wait)
		if n := w.Sends() - before; n > 1 {
			w.Errorf("%s: %d calls, want one", trouble, n)
		}
		w.Heal()
		return err
	}
	if err := try(Busy, Direct); err == nil || err.Fault != chat.RateLimited || err.RetryAfter < Wait {
		w.Errorf("busy: %v", err)
	}
	w.want(try(Broken, Direct), chat.ServerError, "")
	w.want(try(CutAfter, Direct), chat.Unknown, "")
	w.want(try(Silent, Direct), chat.Unknown, "")
	w.want(try(Blocked, Direct), chat.Refused, chat.ClassBlocked)
	w.want(try(ChatGone, Shared), chat.Refused, chat.ClassChatGone)
	w.net.Behave(Refuses)
	w.net.Cut()
	_, err := w.sendFile(w.out(Direct, "c"), "n.txt", "text/plain", content())
	w.want(err, chat.Unreachable, "")
	w.net.Behave(Accepts)
	for _, s := range w.Seen(Direct) {
		if s.File == nil || !strings.HasPrefix(s.File.Name, "n") || !bytes.Equal(s.File.Data, content()) {
			w.Errorf("a part of a file is seen: %+v", s)
		}
	}
}

// picture is a small PNG.
func picture() []byte {
	var b bytes.Buffer
	_ = png.Encode(io.Writer(&b), image.NewGray(image.Rect(0, 0, 32, 24))) // a buffer takes everything
	return b.Bytes()
}
