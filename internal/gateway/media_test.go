package gateway

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/media"
	"github.com/homing-gateway/homing/internal/workspace"
)

// within makes a gateway that has nothing but a workspace and a media folder.
func within(t *testing.T) (g *Gateway, work string) {
	t.Helper()
	dir := t.TempDir()
	work = filepath.Join(dir, "workspace")
	if err := os.MkdirAll(work, 0o700); err != nil {
		t.Fatal(err)
	}
	folder, err := media.Open(filepath.Join(dir, "media"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	return &Gateway{o: Options{Media: folder, Profiles: []Profile{{Workspace: work}}}, log: zaptest.NewLogger(t)}, work
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// what may be sent is a regular file of the workspace or of a folder that the operator has opened, whatever the path
// is made of.
func TestX12OpenToSend(t *testing.T) {
	_, work := within(t)
	dir := filepath.Dir(work)
	opened := filepath.Join(dir, "opened")
	secret := write(t, filepath.Join(dir, "private.key"), "PRIVATE")
	write(t, filepath.Join(work, "out", "report.txt"), "report")
	write(t, filepath.Join(opened, "album", "a.jpg"), "a")
	for link, to := range map[string]string{
		filepath.Join(work, "link.key"): secret, filepath.Join(work, "up"): dir, filepath.Join(opened, "link.key"): secret,
		filepath.Join(work, "inside"): filepath.Join("out", "report.txt"), filepath.Join(opened, "work"): work,
	} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"out/report.txt": "report", "./out/../out/report.txt": "report", "inside": "report",
		filepath.Join(work, "out", "report.txt"): "report", filepath.Join(opened, "album", "a.jpg"): "a",
	} {
		file, err := openToSend(path, work, []string{"/nowhere", opened})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if b, _ := io.ReadAll(file); string(b) != want {
			t.Errorf("%s holds %q", path, b)
		}
		_ = file.Close()
	}
	for path, want := range map[string]error{
		secret: workspace.ErrOutside, "../private.key": workspace.ErrOutside, "link.key": workspace.ErrOutside, "up/private.key": workspace.ErrOutside,
		filepath.Join(opened, "link.key"): workspace.ErrOutside, filepath.Join(opened, "work", "out", "report.txt"): workspace.ErrOutside,
		filepath.Join(opened, "..", "private.key"): workspace.ErrOutside, "/etc/passwd": workspace.ErrOutside, "/proc/self/environ": workspace.ErrOutside,
		"a\x00b": workspace.ErrOutside, "album/a.jpg": workspace.ErrNotFound, "out": workspace.ErrKind, "": workspace.ErrKind, "none.txt": workspace.ErrNotFound,
	} {
		if file, err := openToSend(path, work, []string{opened}); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", path, err, want)
			if err == nil {
				_ = file.Close()
			}
		}
	}
}

// what people see of a file's name is one line that no platform chokes on.
func TestX22PlainName(t *testing.T) {
	for name, want := range map[string]string{
		"report.txt": "report.txt", "a\nb\x00.txt": "a_b_.txt", "$(id)`x`.sh": "$(id)`x`.sh", "é😀.pdf": "é😀.pdf", "\xff.txt": "_.txt",
		strings.Repeat("n", 300) + ".txt": strings.Repeat("n", 116) + ".txt",
	} {
		if got := plainName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// The file tools read what a person sent by the path that was told, and nothing else of that folder; they write nothing there.
func TestReadWhatAPersonSent(t *testing.T) {
	g, work := within(t)
	sent := write(t, filepath.Join(g.o.Media.Dir(), "in", "file_1.txt"), "needle\n")
	write(t, filepath.Join(g.o.Media.Dir(), "out", "act_1"), "needle\n")
	write(t, filepath.Join(work, "own.txt"), "own needle\n")
	call := func(name, arguments string) machine.ToolDone {
		return g.fileTool(machine.RunTool{Action: machine.Action{Call: agent.Call{Name: name, Arguments: arguments}}})
	}
	for _, tt := range []struct{ name, arguments, want string }{
		{"read_file", fmt.Sprintf(`{"path":%q}`, sent), `"content":"needle`},
		{"search_files", fmt.Sprintf(`{"pattern":"needle","path":%q}`, sent), `"matches":[{"path":"file_1.txt","line":1`},
		{"search_files", `{"pattern":"needle"}`, `"matches":[{"path":"own.txt","line":1,"text":"own needle"}]`},
		{"search_files", fmt.Sprintf(`{"pattern":"needle","path":%q}`, filepath.Dir(sent)), "outside of the workspace"},
		{"read_file", fmt.Sprintf(`{"path":%q}`, filepath.Join(g.o.Media.Dir(), "out", "act_1")), "outside of the workspace"},
		{"read_file", fmt.Sprintf(`{"path":%q}`, sent+"/../../../private.key"), "outside of the workspace"},
		{"write_file", fmt.Sprintf(`{"path":%q,"content":"x"}`, sent), "outside of the workspace"},
		{"edit_file", fmt.Sprintf(`{"path":%q,"old":"needle","new":"x"}`, sent), "outside of the workspace"},
	} {
		if got := call(tt.name, tt.arguments); !strings.Contains(got.Result, tt.want) {
			t.Errorf("%s %s: %s, want %s", tt.name, tt.arguments, got.Result, tt.want)
		}
	}
}

// The pictures of the latest turns are shown, as what they are; the rest is left out.
func TestImages(t *testing.T) {
	g, _ := within(t)
	png := "\x89PNG\r\n\x1a\n" + strings.Repeat("p", 100)
	file := func(name, content, mime string) machine.File {
		write(t, filepath.Join(g.o.Media.Dir(), "in", name), content)
		return machine.File{File: chat.File{Kind: chat.Photo, MIME: mime, Size: int64(len(content))}, State: machine.FileHere, Path: "in/" + name}
	}
	text := machine.Entry{Kind: machine.EntryUser, Files: []machine.File{
		file("a", png, "application/octet-stream"), file("b", "no picture at all", "image/png"), file("c", "GIF89a....", "image/gif"),
		{State: machine.FileFailed},
		{State: machine.FileHere, Path: "in/gone"},
	}}
	var entries []machine.Entry
	for i, turn := range []id.Turn{"trn_1", "trn_2", "trn_2", "trn_3", "trn_4"} {
		e := machine.Entry{Kind: machine.EntryUser, Seq: uint64(i + 1), Turn: turn, Files: text.Files[:1]}
		if i == 4 {
			e.Files = text.Files
		}
		entries = append(entries, e, machine.Entry{Kind: machine.EntryAssistant, Turn: turn})
	}
	got := g.images(entries)
	if n := len(got[5]); n != 2 || got[5][0].MIME != "image/png" || string(got[5][0].Data) != png || got[5][1].MIME != "image/gif" {
		t.Errorf("of the latest text: %d", n)
	}
	if len(got[4]) != 1 || len(got[3]) != 1 || len(got[2]) != 1 || len(got[1]) != 0 {
		t.Errorf("of earlier ones: %d %d %d %d", len(got[4]), len(got[3]), len(got[2]), len(got[1]))
	}
	big := file("big", png, "image/png")
	big.Size = maxImageBytes + 1
	if got := g.images([]machine.Entry{{Kind: machine.EntryUser, Seq: 1, Files: []machine.File{big}}}); len(got[1]) != 0 {
		t.Error("one that is too large is shown")
	}
	many := machine.Entry{Kind: machine.EntryUser, Seq: 1}
	for range 12 {
		many.Files = append(many.Files, text.Files[0])
	}
	if got := g.images([]machine.Entry{many}); len(got[1]) != maxImages {
		t.Errorf("%d of many are shown", len(got[1]))
	}
}

// What came of an attempt at a file: for good, or once more.
func TestFetchFailed(t *testing.T) {
	for _, tt := range []struct {
		err     error
		problem string
		wait    time.Duration
	}{
		{media.ErrTooLarge, "it is larger than 20 MB, the most that can be taken along from telegram", 0},
		{&chat.SendError{Fault: chat.Refused, Class: chat.ClassTooLong}, "it is larger than 20 MB, the most that can be taken along from telegram", 0},
		{&chat.SendError{Fault: chat.Refused, Class: chat.ClassOther, Err: errors.New("gone")}, "telegram does not hand it over: gone", 0},
		{&chat.SendError{Fault: chat.Refused, Class: chat.ClassCredential}, "", 0},
		{&chat.SendError{Fault: chat.Unreachable}, "", 0},
		{&chat.SendError{Fault: chat.Unknown}, "", 0},
		{&chat.SendError{Fault: chat.ServerError}, "", 0},
		{&chat.SendError{Fault: chat.RateLimited, RetryAfter: 7 * time.Second}, "", 7 * time.Second},
		{errors.New("no space left on device"), "it could not be stored here", 0},
	} {
		if problem, wait := fetchFailed(tt.err, "telegram", 20<<20); problem != tt.problem || wait != tt.wait {
			t.Errorf("%v: %q after %s", tt.err, problem, wait)
		}
	}
}

// A caption that is too long follows as a message; what a platform cannot take becomes a text that says so. D-27
func TestD27Parts(t *testing.T) {
	m := delivery.Outgoing{Text: "*short*", File: &delivery.File{Name: "a.bin", Size: 100}}
	a := &account{info: chat.Info{Account: chat.Account{Platform: "fake"}, Dialect: chat.Plain, MaxUnits: 4000, Unit: chat.Runes}, adapter: takesFiles{limits: chat.FileLimits{MaxFile: 100, MaxCaption: 1000}}}
	if got := a.parts(m); len(got) != 1 || !got[0].File || got[0].Text != "short" {
		t.Errorf("%+v", got)
	}
	m.Text = ""
	if got := a.parts(m); len(got) != 1 || !got[0].File || got[0].Text != "" {
		t.Errorf("without a caption: %+v", got)
	}
	m.Text = strings.Repeat("word ", 300)
	if got := a.parts(m); len(got) != 2 || !got[0].File || got[0].Text != "" || got[1].File || len(got[1].Text) < 1000 {
		t.Errorf("with a long caption: %+v", got)
	}
	m.Text, m.File.Size = "caption", 101
	if got := a.parts(m); len(got) != 2 || got[0].File || !strings.Contains(got[0].Text, "a.bin (101 bytes): fake takes at most 100 bytes") || got[1].Text != "caption" {
		t.Errorf("too large: %+v", got)
	}
	a.adapter = takesNone{}
	if got := a.parts(m); len(got) != 2 || got[0].File || !strings.Contains(got[0].Text, "no files can be sent to fake") {
		t.Errorf("where none are taken: %+v", got)
	}
}

type takesNone struct{ chat.Adapter }

type takesFiles struct {
	chat.FileSender
	chat.Adapter
	limits chat.FileLimits
}

func (t takesFiles) FileLimits(chat.Address) chat.FileLimits { return t.limits }
