package faketelegram

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/homing-gateway/homing/adapters/adaptertest/fakeserver"
)

// The limits of the Bot API for files, in bytes, and for captions, in UTF-16 units.
const (
	MaxDownload = 20 << 20
	MaxUpload   = 50 << 20
	MaxPhoto    = 10 << 20
	MaxCaption  = 1024
)

// File is a file of a message.
type File struct {
	Kind string // photo, document, voice, audio, video, sticker
	Name string
	MIME string
	Data []byte
	Size int64 // as it is announced; 0: what Data has
}

// stored is a file that can be fetched.
type stored struct {
	id, path string
	size     int64
	data     []byte
}

// keep stores a file of a person. The caller holds the lock.
func (s *Server) keep(f File) *stored {
	n := len(s.files) + 1
	x := &stored{id: fmt.Sprintf("AgAC-file-%d", n), path: fmt.Sprintf("%ss/file_%d.bin", f.Kind, n), size: f.Size, data: f.Data}
	if x.size == 0 {
		x.size = int64(len(f.Data))
	}
	s.files = append(s.files, x)
	return x
}

// attach puts a file into a message of the Bot API.
func attach(body map[string]any, f File, x *stored) {
	ref := map[string]any{"file_id": x.id, "file_unique_id": "u" + x.id, "file_size": x.size}
	if f.Kind == "photo" {
		ref["width"], ref["height"] = 640, 480
		small := map[string]any{"file_id": x.id + "-small", "file_unique_id": "s" + x.id, "file_size": 10, "width": 64, "height": 48}
		body["photo"] = []any{small, ref}
		return
	}
	if f.Name != "" {
		ref["file_name"] = f.Name
	}
	if f.MIME != "" {
		ref["mime_type"] = f.MIME
	}
	body[f.Kind] = ref
}

// getFile says where a file is.
func (s *Server) getFile(id string) reply {
	for _, x := range s.files {
		if x.id != id {
			continue
		}
		if x.size > MaxDownload {
			return refuse(400, "Bad Request: file is too big")
		}
		return result(map[string]any{"file_id": x.id, "file_unique_id": "u" + x.id, "file_size": x.size, "file_path": x.path})
	}
	return refuse(400, "Bad Request: wrong file_id or the file is temporarily unavailable")
}

// download hands a file over.
func (s *Server) download(w http.ResponseWriter, r *http.Request, path string) {
	s.mu.Lock()
	s.calls = append(s.calls, Call{Method: "download", Params: map[string]string{"path": path}})
	var found *stored
	for _, x := range s.files {
		if x.path == path {
			found = x
		}
	}
	fault := s.fault("download", map[string]string{"text": path})
	s.Change()
	s.mu.Unlock()
	if found == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(found.data)))
	if fault != nil && fault.Status != 0 {
		w.Header().Del("Content-Length")
		http.Error(w, fault.Description, fault.Status)
		return
	}
	if fault != nil && fault.Drop {
		_, _ = w.Write(found.data[:len(found.data)/2])
		_ = http.NewResponseController(w).Flush()
		fakeserver.CutOff(w)
		return
	}
	_, _ = w.Write(found.data)
}

// sendFile posts a photo or a document of the bot, with its caption.
func (s *Server) sendFile(kind string, p map[string]string) reply {
	r, refusal := s.place(p)
	if !refusal.OK {
		return refusal
	}
	data, there := p[kind]
	switch {
	case !there || p[kind+".name"] == "":
		return refuse(400, "Bad Request: there is no %s in the request", kind)
	case len(data) > MaxUpload:
		return refuse(413, "Request Entity Too Large")
	case data == "":
		return refuse(400, "Bad Request: file must be non-empty")
	case kind == "photo" && len(data) > MaxPhoto:
		return refuse(400, "Bad Request: file is too big")
	case kind == "photo" && !strings.Contains(http.DetectContentType([]byte(data)), "image/"):
		return refuse(400, "Bad Request: IMAGE_PROCESS_FAILED")
	}
	caption, entities := p["caption"], []Entity(nil)
	if strings.EqualFold(p["parse_mode"], "html") {
		var err error
		if caption, entities, err = ParseHTML(caption); err != nil {
			return refuse(400, "Bad Request: can't parse entities: %v", err)
		}
	}
	if Units(caption) > MaxCaption {
		return refuse(400, "Bad Request: message caption is too long")
	}
	var to struct {
		ID      int64 `json:"message_id"`
		Without bool  `json:"allow_sending_without_reply"`
	}
	_ = json.Unmarshal([]byte(p["reply_parameters"]), &to)
	if to.ID != 0 && r.post(to.ID) == nil {
		if !to.Without {
			return refuse(400, "Bad Request: message to be replied not found")
		}
		to.ID = 0
	}
	m := r.add(&Message{
		Thread: number(p["message_thread_id"]), From: s.bot.ID, Text: caption, Entities: entities, ReplyTo: to.ID,
		File: &File{Kind: kind, Name: p[kind+".name"], Data: []byte(data)},
	})
	return result(s.present(r, m))
}
