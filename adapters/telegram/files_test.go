package telegram_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/homing-gateway/homing/adapters/adaptertest/faketelegram"
	"github.com/homing-gateway/homing/internal/chat"
)

func pngOf(width, height int) []byte {
	var b bytes.Buffer
	_ = png.Encode(&b, image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black}))
	return b.Bytes()
}

func (w *world) sendFile(out chat.Outbound, name, mime string, data []byte) (chat.Receipt, error) {
	return w.a.SendFile(context.Background(), out, chat.Upload{Name: name, MIME: mime, Size: int64(len(data)), Content: bytes.NewReader(data)})
}

// D-27: an image is a photo as far as Telegram shows it as one, else a file.
func TestD27PhotoOrDocument(t *testing.T) {
	w := start(t)
	var shot bytes.Buffer
	if err := jpeg.Encode(&shot, image.NewGray(image.Rect(0, 0, 8, 8)), nil); err != nil {
		t.Fatal(err)
	}
	webp := append([]byte("RIFF\x00\x00\x00\x00WEBPVP8 "), make([]byte, 20)...)
	cases := []struct {
		name, mime string
		data       []byte
		plain      bool
		want       string
	}{
		{"a.png", "image/png", pngOf(9, 9), false, "photo"},
		{"a.jpg", "image/jpeg", shot.Bytes(), false, "photo"},
		{"a.webp", "image/webp", webp, false, "photo"},
		{"a.png", "image/png", pngOf(9, 9), true, "document"},
		{"large.png", "image/png", append(pngOf(9, 9), make([]byte, faketelegram.MaxPhoto)...), false, "document"},
		{"long.png", "image/png", pngOf(2100, 100), false, "document"},
		{"wide.png", "image/png", pngOf(6000, 4001), false, "document"},
		{"broken.png", "image/png", []byte("\x89PNG\r\n\x1a\nand no more"), false, "document"},
		{"a.gif", "image/gif", []byte("GIF89a"), false, "document"},
		{"a.txt", "text/plain", []byte("text"), false, "document"},
		{"most.bin", "application/octet-stream", make([]byte, faketelegram.MaxUpload), false, "document"},
	}
	for i, c := range cases {
		if _, err := w.sendFile(chat.Outbound{To: to(alice), Plain: c.plain}, c.name, c.mime, c.data); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if f := w.tg.Visible(alice)[i].File; f.Kind != c.want || f.Name != c.name || !bytes.Equal(f.Data, c.data) {
			t.Errorf("%s: a %s of %d bytes, want a %s of %d", c.name, f.Kind, len(f.Data), c.want, len(c.data))
		}
	}
}

// What Telegram says against a file has its class: one that cannot be a photo goes as a file, one that is too large is told,
// and so is a chat that takes no files.
func TestRefusedFiles(t *testing.T) {
	for _, tt := range []struct {
		status int
		words  string
		class  chat.Class
	}{
		{400, "Bad Request: PHOTO_INVALID_DIMENSIONS", chat.ClassMarkup},
		{400, "Bad Request: IMAGE_PROCESS_FAILED", chat.ClassMarkup},
		{400, "Bad Request: can't parse entities: x", chat.ClassMarkup},
		{413, "Request Entity Too Large", chat.ClassTooLong},
		{400, "Bad Request: file is too big", chat.ClassTooLong},
		{400, "Bad Request: message caption is too long", chat.ClassTooLong},
		{400, "Bad Request: not enough rights to send documents to the chat", chat.ClassOther},
		{403, "Forbidden: bot was blocked by the user", chat.ClassBlocked},
		{400, "Bad Request: chat not found", chat.ClassChatGone},
	} {
		w := start(t)
		w.tg.Add(faketelegram.Fault{Method: "sendDocument", Status: tt.status, Description: tt.words})
		_, err := w.sendFile(chat.Outbound{To: to(super)}, "a.txt", "text/plain", []byte("x"))
		if e := chat.AsSendError(err); e.Fault != chat.Refused || e.Class != tt.class {
			t.Errorf("%s: %v, want %s", tt.words, e, tt.class)
		}
	}
}

// the token is part of the address of a file, and in no error.
func TestX13NoTokenInDownloads(t *testing.T) {
	w := start(t)
	_, secret, _ := strings.Cut(token, ":")
	w.tg.Say(faketelegram.Post{Chat: alice, From: alice, File: &faketelegram.File{Kind: "document", Name: "n", Data: []byte("x")}})
	f := w.run("", nil).Await(t, 1)[0].Message.Files[0]
	for _, fault := range []faketelegram.Fault{
		{Method: "download", Status: 404, Description: "no /file/bot" + token + "/x"},
		{Method: "download", Status: 502, Description: "https://api/file/bot" + token},
		{Method: "download", Drop: true},
		{Method: "getFile", Status: 400, Description: "bad " + token},
	} {
		w.tg.Add(fault)
		err := w.a.Fetch(t.Context(), f, &bytes.Buffer{})
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%+v: %v", fault, err)
		}
		w.tg.Clear()
	}
	w.tg.Down()
	if err := w.a.Fetch(t.Context(), f, &bytes.Buffer{}); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("without a connection: %v", err)
	}
}
