package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/media"
	"github.com/homing-gateway/homing/internal/tool"
	"github.com/homing-gateway/homing/internal/workspace"
)

// maxOutbound bounds a file that is sent, in bytes, also where the platform takes more.
const maxOutbound = 100 << 20

// uploadPace is how fast an upload has to be at least, in bytes a second: its deadline grows with its size.
const uploadPace = 256 << 10

// copyFile carries out a call of send_file: it makes the copy that is sent, whatever becomes of the file. Carried out again
// after a crash, it keeps the copy that it has made.
func (g *Gateway) copyFile(e machine.RunTool) machine.ToolDone {
	done := machine.ToolDone{Action: e.Action.ID}
	fail := func(kind, text string) machine.ToolDone {
		done.Result, done.Failed = tool.Error(kind, text), true
		return done
	}
	var args tool.SendArgs
	if err := tool.Parse(tool.SendFile, e.Action.Call.Arguments, &args); err != nil {
		return fail(tool.KindArguments, err.Error())
	}
	name := filepath.Base(filepath.Clean(args.Path))
	a, ok := g.lookup(e.To.Account)
	if !ok {
		return fail(tool.KindState, "the account of this chat is not served any more")
	}
	sender, ok := a.adapter.(chat.FileSender)
	if !ok {
		return fail(tool.KindNotBuilt, fmt.Sprintf("no files can be sent to %s: say in your answer where it is", a.info.Account.Platform))
	}
	limit := min(sender.FileLimits(e.To).MaxFile, maxOutbound)
	copied := machine.CopyOf(e.Action.ID)
	size, there := g.o.Media.Size(copied)
	if !e.Again || !there {
		p := g.profile(e.Action.Profile)
		file, err := openToSend(args.Path, p.Workspace, p.MediaDirs)
		switch {
		case errors.Is(err, workspace.ErrNotFound):
			return fail(tool.KindNotFound, err.Error())
		case err != nil:
			g.log.Warn("send_file refused", zap.String("session", string(e.Action.Session)), zap.Error(err))
			return fail(tool.KindFailed, err.Error()+": only regular files of the workspace and of delivery.media_dirs are sent")
		}
		defer func() { _ = file.Close() }()
		size, err = g.o.Media.Keep(copied, limit, func(w io.Writer) error { _, err := io.Copy(w, file); return err })
		if errors.Is(err, media.ErrTooLarge) {
			why := fmt.Sprintf("larger than %s, the most that can be sent to %s", machine.Bytes(limit), a.info.Account.Platform)
			if st, err := file.Stat(); err == nil {
				why = machine.Bytes(st.Size()) + ", " + why
			}
			done.Tell = fmt.Sprintf("⚠ I could not send the file %s: it is %s.", plainName(name), why)
			return fail(tool.KindLimit, "not sent: the file is "+why+". The person was told.")
		}
		if err != nil {
			g.log.Error("file not copied", zap.Error(err))
			return fail(tool.KindFailed, "the file could not be copied: "+err.Error())
		}
	}
	if size == 0 {
		_ = g.o.Media.Remove(copied)
		return fail(tool.KindFailed, "the file is empty: platforms take none")
	}
	done.Send = &delivery.File{Path: copied, Name: plainName(name), MIME: g.kindOf(copied, name), Size: size}
	return done
}

// openToSend opens a file that may be sent: a regular one below one of the folders, however the path leads there. A path
// that is not absolute begins in the workspace.
func openToSend(path, work string, dirs []string) (*os.File, error) {
	err := workspace.ErrOutside
	for _, dir := range append([]string{work}, dirs...) {
		if !filepath.IsAbs(path) && dir != work {
			break
		}
		folder, bad := workspace.Open(dir)
		if bad != nil {
			continue // a folder that is not there opens nothing
		}
		file, failed := folder.Open(path)
		_ = folder.Close()
		if failed == nil {
			return file, nil
		}
		if !errors.Is(failed, workspace.ErrOutside) {
			err = failed
		}
	}
	return nil, err
}

// plainName is a file's name as people are to see it: one line, of a length that every platform takes.
func plainName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '/' || r == '\\' {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
	const most = 120
	if r := []rune(name); len(r) > most {
		ext := []rune(filepath.Ext(name))
		if len(ext) > 12 {
			ext = nil
		}
		name = string(r[:most-len(ext)]) + string(ext)
	}
	return name
}

// kindOf is the MIME type of a copy: what its bytes say if they are an image, else what its name says.
func (g *Gateway) kindOf(copied, name string) string {
	kind := "application/octet-stream"
	if file, err := g.o.Media.Open(copied); err == nil {
		head := make([]byte, 512)
		n, _ := io.ReadFull(file, head)
		_ = file.Close()
		kind = http.DetectContentType(head[:n])
	}
	if strings.HasPrefix(kind, "image/") {
		return kind
	}
	if byName := mime.TypeByExtension(filepath.Ext(name)); byName != "" && !strings.HasPrefix(byName, "image/") {
		return byName
	}
	return kind
}

// parts makes the parts of a message for an account.
func (a *account) parts(m delivery.Outgoing) []delivery.Part {
	if m.File == nil {
		return render(m.Text, a.info)
	}
	var caption []delivery.Part
	if m.Text != "" {
		caption = render(m.Text, a.info)
	}
	sender, ok := a.adapter.(chat.FileSender)
	if !ok {
		return delivery.WithoutFile(fmt.Sprintf("⚠ I could not send the file %s: no files can be sent to %s.", m.File.Name, a.info.Account.Platform), caption)
	}
	limits := sender.FileLimits(m.To)
	if m.File.Size > limits.MaxFile {
		return delivery.WithoutFile(fmt.Sprintf("⚠ I could not send the file %s (%s): %s takes at most %s.",
			m.File.Name, machine.Bytes(m.File.Size), a.info.Account.Platform, machine.Bytes(limits.MaxFile)), caption)
	}
	short := a.info
	short.MaxUnits = limits.MaxCaption
	if m.Text == "" {
		return []delivery.Part{{File: true}}
	}
	if fits := render(m.Text, short); len(fits) == 1 {
		fits[0].File = true
		return fits
	}
	return append([]delivery.Part{{File: true}}, caption...) // what is too long for a caption follows as a message
}

// sendFile makes one attempt at the part of a message that is its file.
func (g *Gateway) sendFile(ctx context.Context, a *account, f *delivery.File, out chat.Outbound) (chat.Receipt, error) {
	sender, ok := a.adapter.(chat.FileSender)
	if !ok {
		return chat.Receipt{}, refusedFile("no files can be sent here")
	}
	file, err := g.o.Media.Open(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return chat.Receipt{}, refusedFile("its copy is not there any more")
	}
	if err != nil {
		return chat.Receipt{}, &chat.SendError{Fault: chat.Unreachable, Err: err}
	}
	defer func() { _ = file.Close() }()
	return sender.SendFile(ctx, out, chat.Upload{Name: f.Name, MIME: f.MIME, Size: f.Size, Content: file})
}

func refusedFile(why string) error {
	return &chat.SendError{Fault: chat.Refused, Class: chat.ClassOther, Err: errors.New(why)}
}

// patience is how long an attempt at a part may take.
func patience(limit time.Duration, m delivery.Outgoing, part int) time.Duration {
	if limit > 0 && m.Parts[part].File {
		limit += time.Duration(m.File.Size/uploadPace) * time.Second
	}
	return limit
}
