package machine

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/homing-gateway/homing/internal/chat"
)

// FileState is a state of a file that a person sent.
type FileState string

// The states of a file.
const (
	FileOwed   FileState = "owed" // to be fetched
	FileHere   FileState = "here" // below the media folder
	FileFailed FileState = "failed"
)

// File is a file that came with a person's text.
type File struct {
	chat.File
	State   FileState
	Path    string // below the media folder, once it is there
	Problem string // failed: why, for people
	Told    bool   // failed: its person knows
}

func (f File) owed() bool { return f.State == FileOwed }

// extensions gives a file its ending by what the platform says it is. What is not listed has none: the name is ours, and
// nothing of it comes from its sender.
var extensions = map[string]string{
	"image/jpeg": ".jpg", "image/png": ".png", "image/gif": ".gif", "image/webp": ".webp", "image/svg+xml": ".svg", "image/heic": ".heic",
	"audio/ogg": ".ogg", "audio/opus": ".opus", "audio/mpeg": ".mp3", "audio/mp4": ".m4a", "audio/x-m4a": ".m4a", "audio/wav": ".wav", "audio/x-wav": ".wav", "audio/flac": ".flac",
	"video/mp4": ".mp4", "video/webm": ".webm", "video/quicktime": ".mov", "video/x-matroska": ".mkv",
	"text/plain": ".txt", "text/markdown": ".md", "text/csv": ".csv", "text/html": ".html", "application/json": ".json", "application/xml": ".xml", "text/xml": ".xml",
	"application/pdf": ".pdf", "application/zip": ".zip", "application/gzip": ".gz", "application/x-tar": ".tar", "application/x-tgsticker": ".tgs",
	"application/msword": ".doc", "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
	"application/vnd.ms-excel": ".xls", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
	"application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx", "application/vnd.oasis.opendocument.text": ".odt",
}

// longestName is how much of a file's name is told, in characters.
const longestName = 120

// Label names a file for people and the agent, on one line whatever its sender called it.
func (f File) Label() string {
	label := string(f.Kind)
	if f.Name != "" {
		label += " " + quoted(f.Name)
	}
	var facts []string
	if f.MIME != "" {
		facts = append(facts, oneLine(f.MIME, longestName))
	}
	if f.Size > 0 {
		facts = append(facts, Bytes(f.Size))
	}
	if len(facts) > 0 {
		label += " (" + strings.Join(facts, ", ") + ")"
	}
	return label
}

// quoted is a name of a file between quotation marks. What could break a line or hide something is spelled out.
func quoted(name string) string {
	if r := []rune(name); len(r) > longestName {
		name = string(r[:longestName]) + "…"
	}
	return fmt.Sprintf("%q", name)
}

// Bytes is a size as people read it.
func Bytes(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%d KB", (n+1<<9)>>10)
	case n%(1<<20) == 0:
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

// Said is what a person said in an entry, with a line for each file that came with it. dir is where the media folder is, as
// the reader is to know it.
func (e Entry) Said(dir string) string {
	if len(e.Files) == 0 {
		return e.Content
	}
	return strings.TrimSpace(e.Content + "\n\n" + e.Attached(dir))
}

// FileMarker begins a line about a file. Only the gateway writes a line that begins so.
const FileMarker = "[homing:file]"

// Attached is a line for each file that came with an entry.
func (e Entry) Attached(dir string) string {
	lines := make([]string, 0, len(e.Files))
	for _, f := range e.Files {
		line := FileMarker + " " + f.Label()
		switch {
		case f.State != FileHere:
			line += " is not here: " + f.Problem + ". The person was told."
		case f.Kind == chat.Voice:
			line += ": " + path.Join(dir, f.Path) + " (nothing here has written down what was said; the person was told that you get the recording)"
		default:
			line += ": " + path.Join(dir, f.Path)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// words is what a text is called by: what was said, or the files that came without words.
func (t Text) words() string {
	if strings.TrimSpace(t.Content) != "" || len(t.Files) == 0 {
		return t.Content
	}
	names := make([]string, 0, len(t.Files))
	for _, f := range t.Files {
		name := f.Name
		if name == "" {
			name = string(f.Kind)
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// owes tells whether a file of the text is to be fetched.
func (t Text) owes() bool { return slices.ContainsFunc(t.Files, File.owed) }
