package machine

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/session"
)

// A platform delivers what people see as one in pieces: an album message by message, a picture before the question about
// it. So a text with files waits this long for more before a turn takes it. A text without files never waits.
const (
	AlbumWait    = time.Second     // for the rest of an album
	QuestionWait = 3 * time.Second // for words about files that came without any
)

// prefixFile begins the name of a file that a person sent.
const prefixFile = "file_"

// takeFiles gives the files of a message their places below the media folder.
func (o *Overlay) takeFiles(files []File) []File {
	out := make([]File, 0, len(files))
	for _, f := range files {
		f.State, f.Path = FileFailed, ""
		if f.Problem == "" {
			kind, _, _ := strings.Cut(f.MIME, ";")
			f.State = FileOwed
			f.Path = path.Join("in", o.newID(prefixFile)+extensions[strings.ToLower(strings.TrimSpace(kind))])
		}
		out = append(out, f)
	}
	return out
}

// until is how long a text waits for what belongs to it.
func (o *Overlay) until(t Text) time.Time {
	spoken := slices.ContainsFunc(t.Files, func(f File) bool { return f.Kind == chat.Voice })
	switch {
	case len(t.Files) == 0:
		return time.Time{}
	case strings.TrimSpace(t.Content) == "" && !spoken:
		return o.now.Add(QuestionWait)
	case t.Album != "":
		return o.now.Add(AlbumWait)
	}
	return time.Time{}
}

// line puts a person's text behind those that wait in a session. What belongs to an album joins what came of it before.
// What the person said before waits no longer than this does.
func (o *Overlay) line(sid id.Session, t Text) {
	l := o.lane(sid)
	texts := slices.Clone(l.Texts)
	if i := slices.IndexFunc(texts, t.sameAlbum); i >= 0 {
		whole := texts[i]
		whole.Content = strings.TrimSpace(whole.Content + "\n\n" + t.Content)
		whole.Files = slices.Concat(whole.Files, t.Files)
		whole.Events = with(whole.Events, t.Event)
		texts[i], t = whole, whole
	} else {
		texts = append(texts, t)
	}
	until := o.until(t)
	for i, x := range texts {
		if x.Person == t.Person && (x.Until.After(o.now) || x.sameAlbum(t) || i == len(texts)-1) {
			texts[i].Until = until
		}
	}
	l.Texts = texts
	o.setLane(l)
	if !until.IsZero() {
		o.emit(Wake{until, string(sid)})
	}
}

// sameAlbum tells whether two texts are pieces of what their person sent as one.
func (t Text) sameAlbum(x Text) bool {
	return t.Album != "" && t.Album == x.Album && t.Person == x.Person
}

// awaitsAlbum tells whether the rest of the message's album is waited for in its place.
func (o *Overlay) awaitsAlbum(key chat.Key, m chat.Message) bool {
	r, _ := o.routes.get(key)
	piece := Text{Album: m.Album, Person: m.Address.Person}
	return slices.ContainsFunc(o.lane(r.Current).Texts, piece.sameAlbum)
}

// ripe returns the texts that a turn may take, and those that wait: from the first on whose files are owed or whose time
// has not come, so that order holds.
func (o *Overlay) ripe(l Lane) (ripe, waiting []Text) {
	for i, t := range l.Texts {
		if t.owes() || t.Until.After(o.now) {
			return l.Texts[:i:i], l.Texts[i:]
		}
	}
	return l.Texts, nil
}

// ripen lets a session go on with the texts that have waited long enough.
func (o *Overlay) ripen(sid id.Session) {
	l := o.lane(sid)
	ripe, _ := o.ripe(l)
	switch {
	case len(ripe) == 0:
	case l.Turn == "":
		o.openTurn(sid)
	case slices.ContainsFunc(ripe, func(x Text) bool { return x.Steer }):
		o.nudge(l.Turn)
	}
}

// dueText takes the coming of the time that a session's texts waited for.
func (o *Overlay) dueText(sid id.Session) {
	o.ripen(sid)
	if _, waiting := o.ripe(o.lane(sid)); len(waiting) > 0 && waiting[0].Until.After(o.now) { // more came, or the clock was put back
		o.emit(Wake{waiting[0].Until, string(sid)})
	}
}

// fetch asks for the files that a text owes.
func (o *Overlay) fetch(s session.Session, t Text) {
	for _, f := range t.Files {
		if f.owed() {
			o.emit(Fetch{Session: s.ID, Account: s.Key.Address().Account, File: f})
		}
	}
}

// outstandingFiles asks for all that a session's texts wait for, and for the removal of what it holds no longer.
func (o *Overlay) outstandingFiles(sid id.Session) {
	l := o.lane(sid)
	if len(l.Discard) > 0 {
		o.emit(Discard{Session: sid, Paths: l.Discard})
	}
	s, presence := o.Session(sid)
	if presence != session.Present {
		return
	}
	for _, t := range l.Texts {
		o.fetch(s, t)
	}
	if i := slices.IndexFunc(l.Texts, func(t Text) bool { return !t.Until.IsZero() }); i >= 0 {
		o.emit(Wake{l.Texts[i].Until, string(sid)}) // also when that time has passed
	}
}

// fetched takes what came of a file.
func (o *Overlay) fetched(r Fetched) (Answer, error) {
	l := o.lane(r.Session)
	for i, t := range l.Texts {
		j := slices.IndexFunc(t.Files, func(f File) bool { return f.owed() && f.Path == r.Path })
		if j < 0 {
			continue
		}
		t.Files = slices.Clone(t.Files)
		f := &t.Files[j]
		if f.Problem = r.Problem; r.Problem == "" {
			f.State, f.Size = FileHere, r.Size
		} else {
			f.State, f.Path = FileFailed, ""
		}
		l.Texts = slices.Clone(l.Texts)
		l.Texts[i] = t
		o.setLane(l)
		o.note(Record{Kind: "message", ID: t.Event, State: "file_" + string(f.State), Session: r.Session, Why: r.Problem})
		o.tellFiles(r.Session)
		o.ripen(r.Session)
		return Answer{Session: r.Session}, nil
	}
	return Answer{}, ErrStale
}

// tellFiles tells people, once nothing of a text is owed any more, what could not be taken along; and once in a
// conversation, that nobody here listens to what they speak.
func (o *Overlay) tellFiles(sid id.Session) {
	s, _ := o.sessions.get(sid)
	l := o.lane(sid)
	for i, t := range l.Texts {
		if t.owes() || len(t.Files) == 0 {
			continue
		}
		var lines []string
		files := slices.Clone(t.Files)
		for j, f := range files {
			if f.State == FileFailed && !f.Told {
				files[j].Told = true
				lines = append(lines, "⚠ I could not take this along: "+f.Label()+": "+f.Problem+".")
			}
			if f.State == FileHere && f.Kind == chat.Voice && !l.SpokeTo {
				l.SpokeTo = true
				lines = append(lines, "I have no transcriber for voice messages: the agent gets the recording as a file, not your words.")
			}
		}
		if len(lines) == 0 {
			continue
		}
		l.Texts = slices.Clone(l.Texts)
		l.Texts[i].Files = files
		o.setLane(l)
		to, reply := s.Key.Address(), t.MessageID
		if to.Type == chat.Direct {
			reply = ""
		}
		o.say(to, strings.Join(lines, "\n"), reply, t.Event, sid, "")
	}
}

// discard sees to it that the files of texts that are not run are removed.
func (o *Overlay) discard(sid id.Session, dropped []Text) {
	var paths []string
	for _, t := range dropped {
		for _, f := range t.Files {
			if f.Path != "" {
				paths = append(paths, f.Path)
			}
		}
	}
	if len(paths) == 0 {
		return
	}
	l := o.lane(sid)
	l.Discard = slices.Concat(l.Discard, paths)
	o.setLane(l)
	o.emit(Discard{Session: sid, Paths: paths})
}

// discarded takes note that files are gone.
func (o *Overlay) discarded(r Discarded) (Answer, error) {
	l := o.lane(r.Session)
	left := len(l.Discard)
	for _, p := range r.Paths {
		l.Discard = without(l.Discard, p)
	}
	if len(l.Discard) == left {
		return Answer{}, ErrStale
	}
	o.setLane(l)
	return Answer{}, nil
}
