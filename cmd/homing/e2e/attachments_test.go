package e2e

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/homing-gateway/homing/adapters/adaptertest/fakediscord"
	"github.com/homing-gateway/homing/adapters/adaptertest/fakeslack"
	fake "github.com/homing-gateway/homing/internal/agent/openai/fakeopenai"
)

// looking answers with how many pictures came with what was asked, and how many files were told of.
func looking(a fake.Ask) fake.Answer {
	return fake.Say(strings.Repeat("seen ", len(a.Messages[len(a.Messages)-1].Images)) + strings.Repeat("told ", strings.Count(a.Said(), "[homing:file]")) + "all")
}

// holds tells whether the files that people sent are those contents, in any order.
func (w *world) holds(want ...string) {
	w.Helper()
	var got []string
	for _, path := range w.media("in") {
		data, err := os.ReadFile(path)
		if err != nil {
			w.Error(err)
		}
		got = append(got, string(data))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		w.Errorf("%d files are kept, want others: %q", len(got), got)
	}
}

// [U-11] [D-27]: on Slack a picture and a document of one message are one turn, and a file goes into its thread with its
// caption. What is too large is said.
func TestFilesOnSlack(t *testing.T) {
	w := newWorld(t, nil).withSlack(nil)
	p := w.slackThread()
	shot := picture(20)
	w.model.When(fake.Says("what are these?"), fake.Dynamic(looking))
	w.model.When(fake.Says("is larger than 100 MB"), fake.Say("too large for me"))
	w.model.Script(fake.Says("send it"), fake.Call("send_file", args{"path": "report.txt", "caption": "*the* report"}), fake.Say("sent it"))
	w.start()
	if err := os.WriteFile(w.workspace("report.txt"), []byte("figures"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.sl.Say(fakeslack.Post{Channel: slackRandom, Thread: p.slack.root, From: slackOwner, Text: slackMe + " what are these?", Files: []fakeslack.File{
		{Name: "shot.png", MIME: "image/png", Data: shot}, {Name: "../notes.txt", MIME: "text/plain", Data: []byte("notes")},
	}})
	p.sees("seen told told all")
	if n := len(w.asked(fake.Anything())); n != 1 {
		t.Errorf("%d requests, want one", n)
	}
	w.holds(string(shot), "notes")
	p.ask("send it", "sent it")
	w.until("the file is in the thread", func() bool {
		for _, m := range p.slack.visible() {
			if len(m.Files) == 1 && m.Text() == "the report" && m.Files[0].Name == "report.txt" && bytes.Equal(m.Files[0].Data, []byte("figures")) {
				return true
			}
		}
		return false
	})
	w.until("no copy is left", func() bool { return len(w.media("out")) == 0 })
	w.sl.Say(fakeslack.Post{Channel: slackRandom, Thread: p.slack.root, From: slackOwner, Text: "and this", Files: []fakeslack.File{{Name: "film.mkv", Data: []byte("x"), Size: 200 << 20}}})
	p.sees("too large for me")
	p.once("I could not take this along: document \"film.mkv\" (application/octet-stream, 200 MB): it is larger than 100 MB")
}

// [U-11] [D-27]: on Discord a picture and a document of one message are one turn, and a file goes into its thread with its
// caption. What is too large for Discord is said, and not sent.
func TestFilesOnDiscord(t *testing.T) {
	w := newWorld(t, nil)
	w.withDiscord()
	p := w.discordThread()
	shot := picture(20)
	w.model.When(fake.Says("what are these?"), fake.Dynamic(looking))
	w.model.Script(fake.Says("send it"),
		fake.Call("send_file", args{"path": "report.txt", "caption": "*the* report"}), fake.Call("send_file", args{"path": "big.bin"}), fake.Say("sent it"))
	w.start()
	for name, data := range map[string][]byte{"report.txt": []byte("figures"), "big.bin": make([]byte, 11<<20)} {
		if err := os.WriteFile(w.workspace(name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.dc.Say(fakediscord.Post{Channel: fmt.Sprint(thread), From: fmt.Sprint(discordOwner), Text: "<@" + discordBot + "> what are these?", Files: []fakediscord.File{
		{Name: "shot.png", MIME: "image/png", Data: shot}, {Name: "notes.txt", MIME: "text/plain", Data: []byte("notes")},
	}})
	p.sees("seen told told all")
	if n := len(w.asked(fake.Anything())); n != 1 {
		t.Errorf("%d requests, want one", n)
	}
	w.holds(string(shot), "notes")
	p.ask("send it", "sent it")
	p.once("I could not send the file big.bin")
	var sent []fakediscord.Message
	for _, m := range w.dc.Visible("") {
		if len(m.Files) > 0 {
			sent = append(sent, m)
		}
	}
	if len(sent) != 1 || sent[0].Channel != fmt.Sprint(thread) || sent[0].Content != "_the_ report" || sent[0].Files[0].Name != "report.txt" || string(sent[0].Files[0].Data) != "figures" {
		t.Errorf("%d files are there, want the report in the thread: %.300q", len(sent), fmt.Sprint(sent))
	}
	w.until("no copy is left", func() bool { return len(w.media("out")) == 0 })
}
