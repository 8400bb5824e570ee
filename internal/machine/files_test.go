package machine_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/tool"
)

// sent are the files of a message: photo,voice,document, one that is too large with a ! behind it.
func sent(list string) (files []machine.File) {
	for kind := range strings.SplitSeq(list, ",") {
		name, tooLarge := strings.CutSuffix(kind, "!")
		f := machine.File{File: map[string]chat.File{
			"photo":    {Kind: chat.Photo, MIME: "image/jpeg", Size: 2048, Ref: "r"},
			"voice":    {Kind: chat.Voice, MIME: "audio/ogg; codecs=opus", Size: 4096, Ref: "r"},
			"document": {Kind: chat.Document, Name: "../../a\nb $(id).pdf", MIME: "application/pdf", Size: 100, Ref: "r"},
		}[name]}
		if tooLarge {
			f.Problem = "it is larger than 20 MB"
		}
		files = append(files, f)
	}
	return files
}

// fetched reports on a file: `fetched F1`, or `fetched F1 "why not"`.
func (w *world) fetched(l line) error {
	i := slices.IndexFunc(w.todo, func(e machine.Effect) bool {
		f, ok := e.(machine.Fetch)
		return ok && strings.Contains(f.File.Path, w.names.id(l.word(0)))
	})
	if i < 0 {
		return fmt.Errorf("nobody asks for %s", l.word(0))
	}
	e := w.todo[i].(machine.Fetch)
	w.todo = slices.Delete(w.todo, i, i+1)
	r := machine.Fetched{Session: e.Session, Path: e.File.Path, Size: e.File.Size, Problem: l.text("")}
	if r.Problem != "" {
		r.Size = 0
	}
	w.report(r)
	return nil
}

// discarded reports that what was to be removed first is gone.
func (w *world) discarded(line) error {
	i := slices.IndexFunc(w.todo, func(e machine.Effect) bool { d, ok := e.(machine.Discard); return ok && d.Session != "" })
	if i < 0 {
		return fmt.Errorf("nothing is to be removed")
	}
	e := w.todo[i].(machine.Discard)
	w.todo = slices.Delete(w.todo, i, i+1)
	w.report(machine.Discarded(e))
	return nil
}

// copied is the report that a call of send_file has made its copy.
func copied(a machine.Action) machine.ToolDone {
	return machine.ToolDone{Action: a.ID, Send: &delivery.File{Path: machine.CopyOf(a.ID), Name: "report.txt", MIME: "text/plain", Size: 7}}
}

// sendsFile tells whether a call is one of send_file.
func sendsFile(a machine.Action) bool { return a.Call.Name == tool.SendFile }

// waits tells whether a text may rest although no turn runs: a file of it is owed, or it waits for more, which its Wake ends.
func waits(t machine.Text) bool {
	return !t.Until.IsZero() || slices.ContainsFunc(t.Files, func(f machine.File) bool { return f.State == machine.FileOwed })
}

// fileIn tells whether a file of that path belongs to a text.
func fileIn(texts []machine.Text, path string) bool {
	return slices.ContainsFunc(texts, func(t machine.Text) bool {
		return slices.ContainsFunc(t.Files, func(f machine.File) bool { return f.Path == path })
	})
}

// stillSent tells whether a message that may yet be sent holds the copy.
func stillSent(d disk, path string) bool {
	return slices.ContainsFunc(all[delivery.Outgoing](d, machine.Outgoings), func(m delivery.Outgoing) bool {
		return m.File != nil && m.File.Path == path
	})
}

// sweeps: what messages and calls still need stays.
func sweeps(d disk, e machine.Sweep) error {
	for _, m := range all[delivery.Outgoing](d, machine.Outgoings) {
		if m.File != nil && !slices.Contains(e.Keep, m.File.Path) {
			return fmt.Errorf("the copy of %s is swept away", m.ID)
		}
	}
	for _, a := range all[machine.Action](d, machine.Actions) {
		if sendsFile(a) && !slices.Contains(e.Keep, machine.CopyOf(a.ID)) {
			return fmt.Errorf("the copy of %s is swept away", a.ID)
		}
	}
	return nil
}
