package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-telegram/bot/models"

	"github.com/homing-gateway/homing/adapters/attempt"
	"github.com/homing-gateway/homing/internal/chat"
)

// The limits of the Bot API for files, in bytes, and for captions, in UTF-16 units.
const (
	maxDownload = 20 << 20
	maxUpload   = 50 << 20
	maxPhoto    = 10 << 20
	maxCaption  = 1024
)

// The limits of what is shown as a photo, in pixels.
const (
	maxPhotoSides = 10000 // width and height together
	maxPhotoRatio = 20
)

// files lists what came with a message. A photo comes in several sizes: the largest is the one that was sent.
func files(m *models.Message) []chat.File {
	var out []chat.File
	add := func(kind chat.FileKind, id, name, mime string, size int64) {
		out = append(out, chat.File{Kind: kind, Name: name, MIME: mime, Size: size, Ref: id})
	}
	if n := len(m.Photo); n > 0 {
		p := m.Photo[n-1]
		add(chat.Photo, p.FileID, "", "image/jpeg", int64(p.FileSize))
	}
	if f := m.Voice; f != nil {
		add(chat.Voice, f.FileID, "", f.MimeType, f.FileSize)
	}
	if f := m.Audio; f != nil {
		add(chat.Audio, f.FileID, f.FileName, f.MimeType, f.FileSize)
	}
	if f := m.Video; f != nil {
		add(chat.Video, f.FileID, f.FileName, f.MimeType, f.FileSize)
	}
	if f := m.VideoNote; f != nil {
		add(chat.Video, f.FileID, "", "video/mp4", int64(f.FileSize))
	}
	if f := m.Animation; f != nil {
		add(chat.Animation, f.FileID, f.FileName, f.MimeType, f.FileSize)
	}
	if f := m.Document; f != nil && m.Animation == nil { // an animation comes as both
		add(chat.Document, f.FileID, f.FileName, f.MimeType, f.FileSize)
	}
	if f := m.Sticker; f != nil {
		mime := "image/webp"
		switch {
		case f.IsAnimated:
			mime = "application/x-tgsticker"
		case f.IsVideo:
			mime = "video/webm"
		}
		add(chat.Sticker, f.FileID, f.Emoji, mime, int64(f.FileSize))
	}
	return out
}

// MaxFetch is the size up to which the Bot API hands files over.
func (a *Adapter) MaxFetch() int64 { return maxDownload }

// Fetch asks where the file is and reads it from there. Its address is good for an hour, so that it is asked for each time.
func (a *Adapter) Fetch(ctx context.Context, f chat.File, w io.Writer) error {
	result, err := a.calls.call(ctx, a.options.APIURL, "getFile", map[string]string{"file_id": f.Ref})
	if err != nil {
		return sendFault(err)
	}
	var at struct {
		Path string `json:"file_path"`
	}
	if err := json.Unmarshal(result, &at); err != nil || at.Path == "" {
		return &chat.SendError{Fault: chat.ServerError, Err: errors.New("getFile names no path")}
	}
	return a.calls.download(ctx, a.options.APIURL, at.Path, w)
}

// download reads a file of Telegram. The token is part of its address.
func (c *client) download(ctx context.Context, base, path string, w io.Writer) error {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/file/bot"+c.token+"/"+strings.Join(segments, "/"), nil)
	if err != nil {
		return &chat.SendError{Fault: chat.ServerError, Err: c.Clean(err)}
	}
	return c.Download(req, w, func(resp *http.Response) error {
		if resp.StatusCode == http.StatusOK {
			return nil
		}
		text, _ := attempt.Read(resp)
		return sendFault(&apiError{code: resp.StatusCode, words: resp.Status + ": " + c.Words(string(text)), retryAfter: attempt.RetryAfter(resp.Header), foreign: true})
	})
}

// FileLimits are those of the Bot API.
func (a *Adapter) FileLimits(chat.Address) chat.FileLimits {
	return chat.FileLimits{MaxFile: maxUpload, MaxCaption: maxCaption}
}

// SendFile makes one sendPhoto or sendDocument call.
func (a *Adapter) SendFile(ctx context.Context, out chat.Outbound, f chat.Upload) (chat.Receipt, error) {
	to, thread, err := place(out.To)
	if err != nil {
		return chat.Receipt{}, err
	}
	method, field := "sendDocument", "document"
	if !out.Plain && isPhoto(f) {
		method, field = "sendPhoto", "photo"
	}
	params := map[string]string{"chat_id": strconv.FormatInt(to, 10)}
	if thread != 0 {
		params["message_thread_id"] = strconv.Itoa(thread)
	}
	if out.Text != "" {
		params["caption"] = out.Text
		if !out.Plain {
			params["parse_mode"] = string(models.ParseModeHTML)
		}
	}
	if out.Silent {
		params["disable_notification"] = "true"
	}
	if n, ok := number(out.ReplyTo); ok {
		params["reply_parameters"] = fmt.Sprintf(`{"message_id":%d,"allow_sending_without_reply":true}`, n)
	}
	ctx, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	result, err := a.calls.upload(ctx, a.options.APIURL, method, params, field, f)
	if err != nil {
		fault := sendFault(err)
		if e, ok := errors.AsType[*apiError](err); ok && fault.Class == chat.ClassBlocked && e.code != http.StatusForbidden {
			fault.Class = chat.ClassOther // this chat takes texts and no files
		}
		return chat.Receipt{}, fault
	}
	var m struct {
		ID int64 `json:"message_id"`
	}
	if err := json.Unmarshal(result, &m); err != nil || m.ID == 0 {
		return chat.Receipt{}, &chat.SendError{Fault: chat.Unknown, Err: errors.New("an answer without a message")}
	}
	return chat.Receipt{MessageID: formatID(m.ID)}, nil
}

// isPhoto tells whether a file is an image that Telegram shows as a photo.
func isPhoto(f chat.Upload) bool {
	if f.Size > maxPhoto {
		return false
	}
	var c image.Config
	var err error
	switch r := io.NewSectionReader(f.Content, 0, f.Size); f.MIME {
	case "image/jpeg":
		c, err = jpeg.DecodeConfig(r)
	case "image/png":
		c, err = png.DecodeConfig(r)
	case "image/webp":
		return true // one that is too large for a photo is refused as one, and goes as a file then
	default:
		return false
	}
	return err == nil && c.Width+c.Height <= maxPhotoSides && c.Width <= maxPhotoRatio*c.Height && c.Height <= maxPhotoRatio*c.Width
}

// upload makes a call with a file. The file is read while it is sent, never into memory as a whole.
func (c *client) upload(ctx context.Context, base, method string, params map[string]string, field string, f chat.Upload) (json.RawMessage, error) {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	for k, v := range params {
		_ = w.WriteField(k, v) // a buffer takes everything
	}
	head := textproto.MIMEHeader{}
	head.Set("Content-Disposition", multipart.FileContentDisposition(field, f.Name))
	head.Set("Content-Type", "application/octet-stream")
	_, _ = w.CreatePart(head)
	before := bytes.Clone(form.Bytes())
	_ = w.Close()
	after := form.Bytes()[len(before):]
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/bot"+c.token+"/"+method, nil)
	if err != nil {
		return nil, &attempt.Error{Err: c.Clean(err)}
	}
	req.Header.Set("Content-Type", w.FormDataContentType())
	return c.exchangeBody(req, int64(len(before))+f.Size+int64(len(after)), func() io.Reader {
		return io.MultiReader(bytes.NewReader(before), io.NewSectionReader(f.Content, 0, f.Size), bytes.NewReader(after))
	})
}
