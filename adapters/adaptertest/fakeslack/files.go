package fakeslack

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/homing-gateway/homing/adapters/adaptertest/fakeserver"
)

// MaxFile is the size of the largest file, in bytes.
const MaxFile = 1 << 30

// File is a file of a message.
type File struct {
	Name string
	MIME string // empty: application/octet-stream
	Data []byte
	Size int64 // as it is announced; 0: what Data has
	// More holds further fields of the file object, such as "subtype", or replaces some.
	More map[string]any
}

// stored is a file that Slack holds, or the place for one that is awaited.
type stored struct {
	File
	id      string
	awaited int64 // bytes that are still to be uploaded
	shared  bool
}

// Called says by which name files are reached, where that is not the listener's address.
func (s *Server) Called(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.host = host
}

func (s *Server) site() string {
	if s.host != "" {
		return "http://" + s.host
	}
	return "http://" + s.Addr()
}

// object is a file as the API tells of it. The caller holds the lock.
func (s *Server) object(f *stored) reply {
	kind, size := f.MIME, f.Size
	if kind == "" {
		kind = "application/octet-stream"
	}
	if size == 0 {
		size = int64(len(f.Data))
	}
	at := s.site() + "/files-pri/" + Team + "-" + f.id + "/"
	out := reply{
		"id": f.id, "name": f.Name, "title": f.Name, "mimetype": kind, "size": size, "mode": "hosted", "is_external": false, "file_access": "visible",
		"url_private": at + "file", "url_private_download": at + "download/file",
	}
	maps.Copy(out, f.More)
	return out
}

// keep stores a file. The caller holds the lock.
func (s *Server) keep(f File) *stored {
	x := &stored{File: f, id: s.id("F")}
	s.files = append(s.files, x)
	return x
}

func (s *Server) file(id string) *stored {
	for _, f := range s.files {
		if f.id == id {
			return f
		}
	}
	return nil
}

// slot makes a place for an upload.
func (s *Server) slot(p url.Values) reply {
	size, err := strconv.ParseInt(p.Get("length"), 10, 64)
	switch {
	case p.Get("filename") == "" || err != nil || size <= 0:
		return refuse("missing_argument")
	case size > MaxFile:
		return refuse("file_upload_size_restricted")
	}
	x := s.keep(File{Name: p.Get("filename")})
	x.awaited = size
	return reply{"ok": true, "upload_url": s.site() + "/upload/v1/" + x.id, "file_id": x.id}
}

// share posts what was uploaded.
func (s *Server) share(p url.Values) reply {
	var list []struct{ ID, Title string }
	if json.Unmarshal([]byte(p.Get("files")), &list) != nil || len(list) == 0 {
		return refuse("invalid_arguments")
	}
	c, refusal := s.place(url.Values{"channel": {p.Get("channel_id")}})
	if refusal != nil {
		return refusal
	}
	m := &Message{Channel: c.ID, Thread: p.Get("thread_ts"), From: BotUser, Raw: p.Get("initial_comment")}
	if m.Thread != "" && c.message(m.Thread) == nil {
		return refuse("thread_not_found")
	}
	if raw := p.Get("blocks"); raw != "" && m.Raw == "" {
		if refusal := m.build(raw); refusal != nil {
			return refusal
		}
	}
	answers, objects := []reply{}, []reply{}
	for _, x := range list {
		f := s.file(x.ID)
		if f == nil || f.awaited != 0 || f.shared {
			return refuse("file_not_found")
		}
		if f.shared = true; x.Title != "" {
			f.Name = x.Title
		}
		m.Files = append(m.Files, f.File)
		objects = append(objects, s.object(f))
		answers = append(answers, reply{"id": f.id, "title": f.Name})
	}
	m.more = map[string]any{"files": objects}
	s.add(c, m)
	s.tell(c, m, map[string]any{"subtype": "file_share"})
	return reply{"ok": true, "files": answers} // which message it is, Slack does not tell
}

// transfer takes an upload, or hands a file over.
func (s *Server) transfer(w http.ResponseWriter, r *http.Request) {
	method := "download"
	if r.Method == http.MethodPost {
		method = "upload"
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away in mid-request
	}
	authorized := r.Header.Get("Authorization")
	s.mu.Lock()
	params := url.Values{"path": {r.URL.Path}, "authorization": {authorized}}
	s.calls = append(s.calls, Call{Method: method, Params: params})
	fault := s.fault(method, params)
	parts := strings.Split(r.URL.Path, "/")
	var f *stored
	for _, part := range parts {
		if x := s.file(strings.TrimPrefix(part, Team+"-")); x != nil {
			f = x
		}
	}
	known := authorized == "Bearer "+s.botToken && s.revoked == ""
	s.Change()
	s.mu.Unlock()
	if fault != nil && method == "download" && fault.Drop && f != nil {
		w.Header().Set("Content-Length", strconv.Itoa(len(f.Data)))
		_, _ = w.Write(f.Data[:len(f.Data)/2])
		_ = http.NewResponseController(w).Flush()
		fakeserver.CutOff(w)
		return
	}
	if fault != nil && fault.Redirect != "" {
		http.Redirect(w, r, fault.Redirect, http.StatusFound)
		return
	}
	if _, over := s.strike(w, r, fault, func() reply { return reply{"ok": true} }); over {
		return
	}
	switch {
	case f == nil:
		http.NotFound(w, r)
	case method == "upload":
		s.mu.Lock()
		fits := f.awaited == int64(len(body))
		if fits {
			f.Data, f.awaited = body, 0
		}
		s.mu.Unlock()
		if !fits {
			http.Error(w, "length", http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, "OK - "+strconv.Itoa(len(body)))
	case !known:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<html>sign in</html>")
	default:
		kind := f.MIME
		if kind == "" {
			kind = "application/octet-stream"
		}
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Content-Length", strconv.Itoa(len(f.Data)))
		_, _ = w.Write(f.Data)
	}
}
