package slack

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/slack-go/slack"

	"github.com/homing-gateway/homing/adapters/attempt"
	"github.com/homing-gateway/homing/internal/chat"
)

// The limits of files, in bytes, and of what is written with one, in characters. Slack takes files of 1 GB; what a
// conversation needs is smaller, and it is kept here as well. How long a comment may be, Slack does not say: as a block is.
const (
	maxFile    = 100 << 20
	maxCaption = maxSection
)

// file is what we read of a file in a message (docs.slack.dev/reference/objects/file-object).
type file struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	MIME     string `json:"mimetype"`
	Subtype  string `json:"subtype"` // slack_audio: spoken into the chat
	Mode     string `json:"mode"`
	External bool   `json:"is_external"`
	Access   string `json:"file_access"`
	Size     int64  `json:"size"`
	Private  string `json:"url_private"`
	Download string `json:"url_private_download"`
}

// address is where the file is, empty where Slack has not said.
func (f file) address() string {
	if f.Download != "" {
		return f.Download
	}
	return f.Private
}

func (f file) kind() chat.FileKind {
	what, _, _ := strings.Cut(f.MIME, "/")
	switch {
	case f.Subtype == "slack_audio":
		return chat.Voice
	case what == "image":
		return chat.Photo
	case what == "audio":
		return chat.Audio
	case what == "video", f.Subtype == "slack_video":
		return chat.Video
	}
	return chat.Document
}

// files lists what came with a message. Of what was shared from elsewhere, deleted or hidden, Slack has no content.
func files(list []json.RawMessage) (out []chat.File, unsupported []string) {
	for _, raw := range list {
		var f file
		switch err := json.Unmarshal(raw, &f); {
		case err != nil:
			unsupported = append(unsupported, "file")
		case f.Mode == "tombstone", f.Mode == "hidden_by_limit":
			unsupported = append(unsupported, "deleted file")
		case f.External, f.Mode == "external":
			unsupported = append(unsupported, "file of another service")
		case f.address() == "" && f.ID == "":
			unsupported = append(unsupported, "file")
		default:
			ref := f.address()
			if ref == "" || f.Access == "check_file_info" { // of a channel that workspaces share: the event has the id alone
				ref = f.ID
			}
			out = append(out, chat.File{Kind: f.kind(), Name: f.Name, MIME: f.MIME, Size: f.Size, Ref: ref})
		}
	}
	return out, unsupported
}

// MaxFetch is our own bound.
func (a *Adapter) MaxFetch() int64 { return maxFile }

// Fetch reads a file from where its message said that it is, with the bot token, which goes to Slack alone.
func (a *Adapter) Fetch(ctx context.Context, f chat.File, w io.Writer) error {
	if f.Size > maxFile {
		return attempt.Refused(chat.ClassTooLong, "it is too large")
	}
	ctx, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	at := f.Ref
	if !strings.Contains(at, "://") {
		var info struct {
			File file `json:"file"`
		}
		if err := a.calls.call(ctx, "files.info", url.Values{"file": {f.Ref}}, &info); err != nil {
			return early(err)
		}
		at = info.File.address()
	}
	u, err := url.Parse(at)
	if err != nil || !a.calls.slacks(u) {
		return attempt.Refused(chat.ClassOther, "it does not lie at Slack, and the token goes nowhere else")
	}
	return a.calls.download(ctx, u, f.MIME, w)
}

// slacks tells whether an address is one of Slack, or of the server that stands for it.
func (c *client) slacks(u *url.URL) bool {
	api, err := url.Parse(c.api)
	if err != nil || u.User != nil {
		return false
	}
	if u.Scheme == api.Scheme && u.Host == api.Host {
		return true
	}
	within := func(domain string) bool { return u.Hostname() == domain || strings.HasSuffix(u.Hostname(), "."+domain) }
	return u.Scheme == "https" && (within("slack.com") || within(api.Hostname()))
}

// download reads a file. Who may not read it is sent to a page to sign in, by a redirect or at once.
func (c *client) download(ctx context.Context, u *url.URL, kind string, w io.Writer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return attempt.Refused(chat.ClassOther, "its address is none")
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	return c.Download(req, w, func(resp *http.Response) error {
		page, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
		switch code := resp.StatusCode; {
		case code >= 300 && code < 400, code == http.StatusUnauthorized, code == http.StatusForbidden,
			code == http.StatusOK && page == "text/html" && !strings.HasPrefix(kind, "text/"):
			return attempt.Refused(chat.ClassOther, "Slack wants the gateway to sign in for it: does the bot token have the scope files:read?")
		case code == http.StatusNotFound, code == http.StatusGone:
			return attempt.Refused(chat.ClassOther, "it is not there any more")
		case code != http.StatusOK:
			return sendFault(&apiError{status: code, words: resp.Status, retryAfter: attempt.RetryAfter(resp.Header)})
		}
		return nil
	})
}

// FileLimits are the same in every place.
func (a *Adapter) FileLimits(chat.Address) chat.FileLimits {
	return chat.FileLimits{MaxFile: maxFile, MaxCaption: maxCaption}
}

// SendFile asks where to put the file, puts it there, and lets Slack post it: only the last of the three calls makes
// anything that people see. Slack posts it a moment later, so that the receipt names no message.
func (a *Adapter) SendFile(ctx context.Context, out chat.Outbound, f chat.Upload) (chat.Receipt, error) {
	ctx, cancel := attempt.Deadline(ctx, a.options.CallTimeout)
	defer cancel()
	channel, err := a.conversation(ctx, out.To)
	if err != nil {
		return chat.Receipt{}, early(err)
	}
	var slot struct {
		Address string `json:"upload_url"`
		File    string `json:"file_id"`
	}
	if err := a.calls.call(ctx, "files.getUploadURLExternal", url.Values{"filename": {f.Name}, "length": {strconv.FormatInt(f.Size, 10)}}, &slot); err != nil {
		return chat.Receipt{}, early(err)
	}
	u, err := url.Parse(slot.Address)
	if err != nil || slot.File == "" || !a.calls.slacks(u) {
		return chat.Receipt{}, &chat.SendError{Fault: chat.ServerError, Err: errors.New("files.getUploadURLExternal: an answer without an address of Slack's")}
	}
	if err := a.calls.upload(ctx, u, f); err != nil {
		return chat.Receipt{}, early(err)
	}
	params, err := completion(out, channel, slot.File, f.Name)
	if err != nil {
		return chat.Receipt{}, attempt.Refused(chat.ClassOther, err.Error())
	}
	if err := a.calls.call(ctx, "files.completeUploadExternal", params, new(json.RawMessage)); err != nil {
		return chat.Receipt{}, sendFault(err)
	}
	return chat.Receipt{}, nil
}

// completion is what files.completeUploadExternal is asked for. Its comment is read as markup; plain text goes into a block.
func completion(out chat.Outbound, channel, id, name string) (url.Values, error) {
	list, err := json.Marshal([]map[string]string{{"id": id, "title": name}})
	if err != nil {
		return nil, err
	}
	params := url.Values{"files": {string(list)}, "channel_id": {channel}}
	if out.To.Thread != "" {
		params.Set("thread_ts", out.To.Thread)
	}
	switch {
	case out.Text == "":
	case out.Plain:
		var blocks []slack.Block
		for _, piece := range sections(escape(out.Text), true) {
			blocks = append(blocks, slack.NewSectionBlock(slack.NewTextBlockObject(slack.PlainTextType, piece, false, false), nil, nil))
		}
		text, err := json.Marshal(blocks)
		if err != nil {
			return nil, err
		}
		params.Set("blocks", string(text))
	default:
		params.Set("initial_comment", out.Text)
	}
	return params, nil
}

// early is the fault of a call before the last one. Nothing is seen of it: it can be made again, whatever became of it.
func early(err error) *chat.SendError {
	f := sendFault(err)
	if f.Fault == chat.Unknown {
		f.Fault = chat.ServerError
	}
	return f
}

// upload puts a file where Slack wants it, without the token: the address is the credential, and it is in no error.
func (c *client) upload(ctx context.Context, u *url.URL, f chat.Upload) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), nil)
	if err != nil {
		return &attempt.Error{Err: errors.New("the address of the upload is none")}
	}
	req.Header.Set("Content-Type", "application/octet-stream")
	a, err := c.Once(req, f.Size, func() io.Reader { return io.NewSectionReader(f.Content, 0, f.Size) })
	switch {
	case err != nil:
		return err
	case a.Code == http.StatusRequestEntityTooLarge:
		return &apiError{code: "file_upload_size_restricted", status: a.Code, words: "the upload is too large: " + a.Status}
	case a.Code != http.StatusOK:
		return &apiError{status: a.Code, words: "the upload: " + a.Status, retryAfter: attempt.RetryAfter(a.Header)}
	}
	return nil
}
