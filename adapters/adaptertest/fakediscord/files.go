package fakediscord

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/homing-gateway/homing/adapters/adaptertest/fakeserver"
)

// MaxFile is the size of the largest file that a bot may send, in bytes; people may send more.
const MaxFile = 10 << 20

// addressLife is how long the address of a file is good.
const addressLife = 24 * time.Hour

// flagVoice is a message that was spoken.
const flagVoice = 1 << 13

// File is a file of a message.
type File struct {
	Name  string
	MIME  string // empty: by the name
	Data  []byte
	Size  int64 // as it is announced; 0: what Data has
	Voice bool  // spoken into the chat
	id    string
}

// Called says by which name files are reached, where that is not the listener's address.
func (s *Server) Called(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.host = host
}

// attachments gives the files of a message in the form of the API, with fresh addresses. The caller holds the lock.
func (s *Server) attachments(m *post) []any {
	host := s.host
	if host == "" {
		host = s.Addr()
	}
	out := []any{}
	for _, f := range m.Files {
		kind, size := f.MIME, f.Size
		if kind == "" {
			kind = mime.TypeByExtension(path.Ext(f.Name))
		}
		if size == 0 {
			size = int64(len(f.Data))
		}
		good := strconv.FormatInt(time.Now().Add(addressLife).Unix(), 16)
		x := map[string]any{
			"id": f.id, "filename": f.Name, "size": size,
			"url": fmt.Sprintf("http://%s/attachments/%s/%s/%s?ex=%s&hm=signature-of-%s&", host, m.Channel, f.id, url.PathEscape(f.Name), good, f.id),
		}
		if kind != "" {
			x["content_type"] = kind
		}
		out = append(out, x)
	}
	return out
}

// keep gives the files of a message their ids. The caller holds the lock.
func (s *Server) keep(files []File) []File {
	var out []File
	for _, f := range files {
		f.id = s.id()
		s.files[f.id] = f
		out = append(out, f)
	}
	return out
}

// hand hands a file over to everybody who has an address of it that is good.
func (s *Server) hand(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(r.URL.Path, "/") // "", attachments, channel, id, name
	record := Call{At: time.Now(), Name: "GET attachment", Credential: r.Header.Get("Authorization")}
	s.mu.Lock()
	var f File
	there := len(parts) >= 5
	if there {
		record.Channel = parts[2]
		f, there = s.files[parts[3]]
	}
	s.calls = append(s.calls, record)
	fault := s.fault(record)
	s.Change()
	s.mu.Unlock()
	until, err := strconv.ParseInt(r.URL.Query().Get("ex"), 16, 64)
	good := err == nil && time.Now().Unix() < until && r.URL.Query().Get("hm") == "signature-of-"+f.id
	switch {
	case fault != nil && fault.Redirect != "":
		http.Redirect(w, r, fault.Redirect, http.StatusFound)
		return
	case fault != nil && fault.Drop && there:
		w.Header().Set("Content-Length", strconv.Itoa(len(f.Data)))
		_, _ = w.Write(f.Data[:len(f.Data)/2])
		_ = http.NewResponseController(w).Flush()
		fakeserver.CutOff(w)
		return
	case !there || !good:
		http.Error(w, "This content is no longer available.", http.StatusNotFound)
		return
	}
	a, over := s.strike(w, r, fault, func() answer { return answer{} })
	switch {
	case over:
	case a.status != 0:
		write(w, a)
	default:
		w.Header().Set("Content-Length", strconv.Itoa(len(f.Data)))
		_, _ = w.Write(f.Data)
	}
}

// multipartForm reads a call that comes with files.
func multipartForm(c *call, body []byte, boundary string) (fit bool) {
	form := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		p, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return c.body != nil
		}
		if err != nil {
			return false
		}
		data, err := io.ReadAll(p)
		if err != nil {
			return false
		}
		_, head, _ := mime.ParseMediaType(p.Header.Get("Content-Disposition"))
		switch name := p.FormName(); {
		case name == "payload_json":
			if json.Unmarshal(data, &c.body) != nil {
				return false
			}
		case strings.HasPrefix(name, "files["):
			c.files = append(c.files, File{Name: head["filename"], Data: data})
		}
	}
}

// described tells whether the files of a call are those that its attachments name.
func (c *call) described() bool {
	list, there := c.body["attachments"].([]any)
	if !there {
		return true
	}
	for _, x := range list {
		a, _ := x.(map[string]any)
		if n, ok := a["id"].(float64); !ok || int(n) >= len(c.files) {
			return false
		}
	}
	return true
}
