package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/homing-gateway/homing/adapters/attempt"
	"github.com/homing-gateway/homing/internal/chat"
)

// The limits of files, in bytes. A bot may send 10 MiB wherever nobody has paid for more
// (discord.com/developers/docs/reference#uploading-files). People may send much more: what is fetched has a bound of ours.
const (
	maxUpload = 10 << 20
	maxFetch  = 100 << 20
)

// flagVoice is a message that was spoken.
const flagVoice = 1 << 13

// attachment is what we read of a file in a message.
type attachment struct {
	ID   string `json:"id"`
	Name string `json:"filename"`
	MIME string `json:"content_type"`
	Size int64  `json:"size"`
	URL  string `json:"url"`
}

func (x attachment) kind(spoken bool) chat.FileKind {
	what, _, _ := strings.Cut(x.MIME, "/")
	switch {
	case what == "audio" && spoken:
		return chat.Voice
	case what == "image":
		return chat.Photo
	case what == "audio":
		return chat.Audio
	case what == "video":
		return chat.Video
	}
	return chat.Document
}

// attachments gives those that can be read; whole tells whether that is all.
func attachments(list []json.RawMessage) (out []attachment, whole bool) {
	whole = true
	for _, raw := range list {
		var x attachment
		if json.Unmarshal(raw, &x) != nil || !isID(x.ID) {
			whole = false
			continue
		}
		out = append(out, x)
	}
	return out, whole
}

// files lists what came with a message in a channel. The address of a file is good for a day and opens it to everybody:
// the reference names the message, which is asked for another one.
func files(m *message, channel string) (out []chat.File, whole bool) {
	if isID(m.ChannelID) {
		channel = m.ChannelID
	}
	list, whole := attachments(m.Attachments)
	for _, x := range list {
		out = append(out, chat.File{
			Kind: x.kind(m.Flags&flagVoice != 0), Name: x.Name, MIME: x.MIME, Size: x.Size, Ref: channel + "/" + m.ID + "/" + x.ID,
		})
	}
	return out, whole
}

// MaxFetch is our own bound.
func (a *Adapter) MaxFetch() int64 { return maxFetch }

// Fetch asks for the message of the file, and reads the file from where that says it is.
func (a *Adapter) Fetch(ctx context.Context, f chat.File, w io.Writer) error {
	if f.Size > maxFetch {
		return attempt.Refused(chat.ClassTooLong, "it is too large")
	}
	ids := strings.Split(f.Ref, "/")
	if len(ids) != 3 || !isID(ids[0]) || !isID(ids[1]) {
		return attempt.Refused(chat.ClassOther, "its reference is none of Discord's")
	}
	ctx, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	path := "channels/" + ids[0] + "/messages/"
	answer, err := a.client.call(ctx, http.MethodGet, path+ids[1], "GET "+path, nil)
	if err != nil {
		return sendFault(chat.Address{Chat: ids[0]}, err)
	}
	var m message
	if err := json.Unmarshal(answer, &m); err != nil {
		return &chat.SendError{Fault: chat.ServerError, Err: errors.New("an answer that is no message")}
	}
	list, _ := attachments(m.Attachments)
	for _, x := range list {
		if x.ID == ids[2] {
			return a.client.download(ctx, x.URL, w)
		}
	}
	return attempt.Refused(chat.ClassOther, "its message does not have it any more")
}

// download reads a file without the token. Its address has a signature in it, and is in no error.
func (c *client) download(ctx context.Context, at string, w io.Writer) error {
	u, err := url.Parse(at)
	if err != nil || !c.holdsFiles(u) {
		return attempt.Refused(chat.ClassOther, "it does not lie at Discord")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return attempt.Refused(chat.ClassOther, "its address is none")
	}
	return c.Download(req, w, func(resp *http.Response) error {
		switch code := resp.StatusCode; {
		case code == http.StatusOK:
			return nil
		case code == http.StatusTooManyRequests, code >= 500:
			_, err := c.judge(resp, nil, nil)
			return sendFault(chat.Address{}, err)
		}
		return attempt.Refused(chat.ClassOther, "it cannot be had: "+resp.Status)
	})
}

// holdsFiles tells whether an address is one of Discord, or of the server that stands for it.
func (c *client) holdsFiles(u *url.URL) bool {
	api, err := url.Parse(c.base)
	if err != nil || u.User != nil {
		return false
	}
	if u.Scheme == api.Scheme && u.Host == api.Host {
		return true
	}
	for _, domain := range []string{"discordapp.com", "discordapp.net", "discord.com"} {
		if u.Scheme == "https" && strings.HasSuffix(u.Hostname(), "."+domain) {
			return true
		}
	}
	return false
}

// FileLimits are the same in every place.
func (a *Adapter) FileLimits(chat.Address) chat.FileLimits {
	return chat.FileLimits{MaxFile: maxUpload, MaxCaption: maxText}
}

// SendFile is Send with a file: one call under the same nonce, and no more than what Send does besides.
func (a *Adapter) SendFile(ctx context.Context, out chat.Outbound, f chat.Upload) (chat.Receipt, error) {
	return a.send(ctx, out, func(ctx context.Context, path string, c content) ([]byte, error) {
		c.Attachments = []described{{ID: 0, Name: f.Name}}
		return a.client.upload(ctx, path, "POST "+path, c, f)
	})
}

// described is a file that comes with a message of ours, as the message tells of it.
type described struct {
	ID   int    `json:"id"`
	Name string `json:"filename"`
}

// upload makes a call with a file. The file is read while it is sent, never into memory as a whole.
func (c *client) upload(ctx context.Context, path, bucket string, message content, f chat.Upload) ([]byte, error) {
	payload, err := json.Marshal(message)
	if err != nil {
		return nil, &attempt.Error{Err: err}
	}
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part := func(disposition, kind string) io.Writer {
		p, _ := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {disposition}, "Content-Type": {kind}})
		return p // a buffer takes everything
	}
	_, _ = part(`form-data; name="payload_json"`, "application/json").Write(payload)
	part(multipart.FileContentDisposition("files[0]", f.Name), "application/octet-stream")
	before := bytes.Clone(form.Bytes())
	_ = w.Close()
	after := form.Bytes()[len(before):]
	return c.request(ctx, http.MethodPost, path, bucket, nil, func(cfg *discordgo.RequestConfig) {
		cfg.Request.Header.Set("Content-Type", w.FormDataContentType())
		cfg.Request.ContentLength = int64(len(before)) + f.Size + int64(len(after))
		cfg.Request.GetBody = func() (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(bytes.NewReader(before), io.NewSectionReader(f.Content, 0, f.Size), bytes.NewReader(after))), nil
		}
		cfg.Request.Body, _ = cfg.Request.GetBody()
	})
}
