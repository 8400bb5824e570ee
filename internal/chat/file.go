package chat

import (
	"context"
	"io"
)

// FileKind is what a file is to the person who sent it.
type FileKind string

// The kinds of files.
const (
	Photo     FileKind = "photo"
	Voice     FileKind = "voice message" // spoken into the chat
	Audio     FileKind = "audio"
	Video     FileKind = "video"
	Animation FileKind = "animation"
	Sticker   FileKind = "sticker"
	Document  FileKind = "document"
)

// File is a file that a person sent with a message: what the platform says of it, before anything of it is fetched.
type File struct {
	Kind FileKind
	Name string // as its sender named it, or empty: a text for eyes, never a path
	MIME string // as the platform says, or empty
	Size int64  // in bytes, as the platform says; 0: it does not
	// Ref is what the adapter needs to fetch the file, also after a restart. It is stored and holds no secret.
	Ref string
}

// Fetcher is an adapter that can fetch what people send.
type Fetcher interface {
	// Fetch makes one attempt to write the file's content to w. Its error is a *SendError: refused is for good (too_long: the
	// platform does not hand over a file of that size), all else may be tried again. After an error of w nothing more is
	// written, and the core, whose w it is, does not ask what Fetch returns. What was written before an error is of no use.
	// It may be called from many goroutines, also while Run does not run.
	Fetch(ctx context.Context, f File, w io.Writer) error
	// MaxFetch is the size of the largest file that the platform hands over, in bytes.
	MaxFetch() int64
}

// Upload is a file on its way to a platform.
type Upload struct {
	Name    string // as people are to see it
	MIME    string
	Size    int64
	Content io.ReaderAt // Size bytes; of the core, for as long as the call lasts
}

// FileLimits is what a platform takes of files in a place.
type FileLimits struct {
	MaxFile    int64 // size of a file, in bytes
	MaxCaption int   // length of the text that goes with it, in Info.Unit
}

// FileSender is an adapter that can send files.
type FileSender interface {
	// SendFile makes one attempt at one message: a file, with the text of out as its caption, which may be empty. What holds
	// for Send holds here. An image is shown as one where the platform takes it as one; with out.Plain it goes as a file. A
	// platform that needs several calls makes none visible before the last.
	SendFile(ctx context.Context, out Outbound, f Upload) (Receipt, error)
	// FileLimits does no I/O.
	FileLimits(to Address) FileLimits
}
