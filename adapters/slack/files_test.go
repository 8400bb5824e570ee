package slack_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest/fakeslack"
	"github.com/homing-gateway/homing/internal/chat"
)

func (w *world) sendFile(out chat.Outbound) (chat.Receipt, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	return w.a.SendFile(ctx, out, chat.Upload{Name: "n.txt", MIME: "text/plain", Size: 3, Content: strings.NewReader("abc")})
}

func in(channel string) chat.Address {
	return chat.Address{Account: account, Type: chat.Channel, Chat: channel}
}

// What comes with a message, by what Slack says of it. Several files of a message are one message.
func TestFilesOfAMessage(t *testing.T) {
	w := start(t)
	r := w.run(nil)
	_, m := w.heard(r, fakeslack.Post{Channel: direct, From: alice, Text: "look", Files: []fakeslack.File{
		{Name: "a.png", MIME: "image/png", Data: []byte("1")},
		{Name: "clip", MIME: "audio/webm", Data: []byte("2"), More: map[string]any{"subtype": "slack_audio"}},
		{Name: "song.mp3", MIME: "audio/mpeg", Data: []byte("3")},
		{Name: "f.mp4", MIME: "video/mp4", Data: []byte("4")},
		{Name: "b.pdf", MIME: "application/pdf", Data: []byte("5")},
		{Name: "shared", Data: []byte("6"), More: map[string]any{"file_access": "check_file_info", "url_private": "", "url_private_download": ""}},
		{Name: "drive", More: map[string]any{"is_external": true, "mode": "external", "url_private": "https://drive.example/x"}},
		{Name: "gone", More: map[string]any{"mode": "tombstone"}},
		{Name: "odd", More: map[string]any{"size": "much"}},
	}})
	var kinds []chat.FileKind
	for _, f := range m.Files {
		kinds = append(kinds, f.Kind)
	}
	if want := []chat.FileKind{chat.Photo, chat.Voice, chat.Audio, chat.Video, chat.Document, chat.Document}; !slices.Equal(kinds, want) || m.Text != "look" {
		t.Errorf("%v, want %v", kinds, want)
	}
	if want := []string{"file of another service", "deleted file", "file"}; !slices.Equal(m.Unsupported, want) {
		t.Errorf("without %q, want %q", m.Unsupported, want)
	}
	for i, f := range m.Files {
		var got bytes.Buffer
		if err := w.a.Fetch(t.Context(), f, &got); err != nil || got.String() != string(rune('1'+i)) {
			t.Errorf("%s: %q, %v", f.Name, got.String(), err)
		}
	}
}

// the bot token goes to Slack alone, whatever an address says or where a redirect leads, and never in an address.
func TestX13TokenGoesToSlackOnly(t *testing.T) {
	var heard atomic.Int32
	foreign := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { heard.Add(1) }))
	defer foreign.Close()
	w := start(t)
	site := strings.TrimSuffix(w.sl.URL(), "/api")
	host := strings.TrimPrefix(site, "http://")
	for _, ref := range []string{
		foreign.URL + "/x", "http://" + host + "@" + strings.TrimPrefix(foreign.URL, "http://") + "/x", "http://user@" + host + "/x",
		"http://files.slack.com/x", "https://files.slack.com.example/x", "https://notslack.com/x", "file:///etc/passwd", "ftp://" + host + "/x", "http://%zz",
	} {
		err := w.a.Fetch(t.Context(), chat.File{Ref: ref}, &bytes.Buffer{})
		if e := chat.AsSendError(err); e.Fault != chat.Refused || !strings.Contains(e.Error(), "token goes nowhere else") {
			t.Errorf("%s: %v", ref, err)
		}
	}
	r := w.run(nil)
	_, m := w.heard(r, fakeslack.Post{Channel: direct, From: alice, Text: "look", Files: []fakeslack.File{{Name: "a", Data: []byte("x")}}})
	w.sl.Add(fakeslack.Fault{Method: "download", Redirect: foreign.URL})
	if e := chat.AsSendError(w.a.Fetch(t.Context(), m.Files[0], &bytes.Buffer{})); e.Fault != chat.Refused || !strings.Contains(e.Error(), "files:read") {
		t.Errorf("a redirect: %v", e)
	}
	if heard.Load() != 0 {
		t.Errorf("%d requests elsewhere", heard.Load())
	}
	for _, c := range w.sl.Calls("download") {
		if strings.Contains(c.Params.Get("path"), "xoxb") || c.Params.Get("authorization") != "Bearer "+botToken {
			t.Errorf("%v", c.Params)
		}
	}
	w.sl.Clear()
	if _, err := w.sendFile(chat.Outbound{To: in(general)}); err != nil {
		t.Fatal(err)
	}
	if up := w.sl.Calls("upload"); len(up) != 1 || up[0].Params.Get("authorization") != "" {
		t.Errorf("an upload with the token: %v", up)
	}
	if c := w.sl.Calls("files.completeUploadExternal"); len(c) != 1 || strings.Contains(c[0].Params.Encode(), "xoxb") {
		t.Errorf("%v", c)
	}
}

// no error holds a token, or the address of an upload, which is a credential.
func TestX13NoSecretInErrorsOfFiles(t *testing.T) {
	w := start(t)
	r := w.run(nil)
	_, m := w.heard(r, fakeslack.Post{Channel: direct, From: alice, Text: "look", Files: []fakeslack.File{{Name: "a", Data: []byte("x")}}})
	check := func(what string, err error) {
		t.Helper()
		if err == nil || strings.Contains(err.Error(), botToken[5:]) || strings.Contains(err.Error(), "/upload/") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, f := range []fakeslack.Fault{{Status: 502}, {Status: 404}, {Status: 403}, {Drop: true}, {Hang: true}} {
		f.Method = "download"
		w.sl.Add(f)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		check("download", w.a.Fetch(ctx, m.Files[0], &bytes.Buffer{}))
		cancel()
		w.sl.Clear()
		f.Method = "upload"
		w.sl.Add(f)
		_, err := w.sendFile(chat.Outbound{To: in(general)})
		check("upload", err)
		w.sl.Clear()
	}
	w.sl.Down()
	check("no connection", w.a.Fetch(t.Context(), m.Files[0], &bytes.Buffer{}))
	r.Cancel()
	_ = r.End(t)
}

// A token that may not read files gets a page to sign in, which is no file.
func TestSignInPageIsNoFile(t *testing.T) {
	w := start(t)
	r := w.run(nil)
	_, m := w.heard(r, fakeslack.Post{Channel: direct, From: alice, Text: "look", Files: []fakeslack.File{{Name: "a", Data: []byte("x")}}})
	w.sl.Revoke("token_revoked")
	var got bytes.Buffer
	e := chat.AsSendError(w.a.Fetch(t.Context(), m.Files[0], &got))
	if e.Fault != chat.Refused || e.Class != chat.ClassOther || got.Len() != 0 || !strings.Contains(e.Error(), "files:read") {
		t.Errorf("%v, %q", e, got.String())
	}
	_ = r.End(t)
}

// D-03: before the last call nothing is seen, so that only the last one can leave a doubt.
func TestD03DoubtBeginsWithTheLastCall(t *testing.T) {
	for _, tt := range []struct {
		method string
		fault  fakeslack.Fault
		want   chat.Fault
		class  chat.Class
	}{
		{"files.getUploadURLExternal", fakeslack.Fault{Drop: true, Stored: true}, chat.ServerError, ""},
		{"files.getUploadURLExternal", fakeslack.Fault{Hang: true}, chat.ServerError, ""},
		{"files.getUploadURLExternal", fakeslack.Fault{Error: "file_upload_size_restricted"}, chat.Refused, chat.ClassTooLong},
		{"files.getUploadURLExternal", fakeslack.Fault{Error: "file_uploads_disabled"}, chat.Refused, chat.ClassOther},
		{"files.getUploadURLExternal", fakeslack.Fault{Error: "missing_scope", Needed: "files:write"}, chat.Refused, chat.ClassCredential},
		{"upload", fakeslack.Fault{Drop: true}, chat.ServerError, ""},
		{"upload", fakeslack.Fault{Hang: true}, chat.ServerError, ""},
		{"upload", fakeslack.Fault{Status: 413}, chat.Refused, chat.ClassTooLong},
		{"upload", fakeslack.Fault{Status: 500}, chat.ServerError, ""},
		{"upload", fakeslack.Fault{Status: 429, RetryAfter: 3}, chat.RateLimited, ""},
		{"files.completeUploadExternal", fakeslack.Fault{Drop: true, Stored: true}, chat.Unknown, ""},
		{"files.completeUploadExternal", fakeslack.Fault{Hang: true}, chat.Unknown, ""},
		{"files.completeUploadExternal", fakeslack.Fault{Error: "internal_error"}, chat.Unknown, ""},
		{"files.completeUploadExternal", fakeslack.Fault{Error: "invalid_channel"}, chat.Refused, chat.ClassChatGone},
	} {
		w := start(t)
		f := tt.fault
		f.Method = tt.method
		w.sl.Add(f)
		_, err := w.sendFile(chat.Outbound{To: in(general), Text: "c"})
		if e := chat.AsSendError(err); e.Fault != tt.want || e.Class != tt.class {
			t.Errorf("%s %+v: %v, want %s %s", tt.method, tt.fault, e, tt.want, tt.class)
		}
		if n := len(w.sl.Visible(general)); n != 0 && tt.want != chat.Unknown {
			t.Errorf("%s: %d messages are seen", tt.method, n)
		}
	}
}

// A caption is markup, or plain to the letter; a person's id stands for the direct chat; a thread is kept.
func TestFileInItsPlace(t *testing.T) {
	w := start(t)
	root := w.sl.Say(fakeslack.Post{Channel: general, From: bob, Text: "a root"})
	for _, out := range []chat.Outbound{
		{To: chat.Address{Account: account, Type: chat.Thread, Chat: general, Thread: root}, Text: "*bold*"},
		{To: chat.Address{Account: account, Type: chat.Direct, Chat: alice}, Text: "*a* <b> & c", Plain: true},
	} {
		if _, err := w.sendFile(out); err != nil {
			t.Fatal(err)
		}
	}
	if m := w.sl.Visible(general); len(m) != 1 || m[0].Thread != root || m[0].Text() != "bold" || m[0].Raw != "*bold*" || string(m[0].Files[0].Data) != "abc" {
		t.Errorf("in the thread: %+v", m)
	}
	if m := w.sl.Visible(direct); len(m) != 1 || m[0].Text() != "*a* <b> & c" || m[0].Files[0].Name != "n.txt" {
		t.Errorf("in the direct chat: %+v", m)
	}
}
