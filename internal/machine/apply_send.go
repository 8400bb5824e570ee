package machine

import (
	"path"
	"strings"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/session"
	"github.com/homing-gateway/homing/internal/tool"
)

// CopyOf names the copy that a call of send_file makes, below the media folder. It follows from the call, so that one that is
// carried out again finds what it has made.
func CopyOf(a id.Action) string { return path.Join("out", string(a)) }

// destination is the chat that a session's file goes to, and the conversation that it belongs to.
type destination struct {
	address chat.Address
	session id.Session
}

// chatFor finds the chat of the conversation that a session works for. An API session has none.
func (o *Overlay) chatFor(sid id.Session) (destination, bool) {
	v := session.Resolve(o, sid)
	if v.Outcome != session.Deliver || v.Key == "" {
		return destination{}, false
	}
	return destination{v.Key.Address(), v.Owner}, true
}

// startSend begins a call of send_file: a copy of the file is made first.
func (o *Overlay) startSend(a Action, s session.Session, again bool) (string, bool) {
	var args tool.SendArgs
	if err := tool.Parse(a.Call.Name, a.Call.Arguments, &args); err != nil {
		return tool.Error(tool.KindArguments, err.Error()), true
	}
	if strings.TrimSpace(args.Path) == "" {
		return tool.Error(tool.KindArguments, "path is missing: name a file of the workspace"), true
	}
	to, ok := o.chatFor(s.ID)
	if !ok {
		return tool.Error(tool.KindState, "there is no chat here to send a file to: say in your answer where it is"), true
	}
	o.emit(RunTool{Action: a, To: o.outward(to.address), Again: again})
	return "", false
}

// sendFile queues the copy of a file, behind what its chat waits for already.
func (o *Overlay) sendFile(a Action, f delivery.File) (string, bool) {
	var args tool.SendArgs
	to, ok := o.chatFor(a.Session)
	if err := tool.Parse(a.Call.Name, a.Call.Arguments, &args); err != nil || !ok {
		return tool.Error(tool.KindState, "the conversation that the file was for is not there any more: it was not sent"), true
	}
	m := delivery.Outgoing{
		ID: id.Outgoing(o.newID(id.PrefixOutgoing)), Profile: to.address.Profile, To: o.inward(to.address), Session: to.session, Turn: a.Turn,
		Cause: string(a.Turn), Text: strings.TrimSpace(args.Caption), File: &f, State: delivery.Queued,
		CreatedAt: o.now, UpdatedAt: o.now, QueuedAt: o.now, NextAt: o.now,
	}
	t, _ := o.turns.get(a.Turn)
	if to.address.Type != chat.Direct && to.session == a.Session {
		m.ReplyTo = t.ReplyTo
	}
	o.enqueue(m)
	o.pass(m.To, "") // the answer comes below the file, not into what stands above it
	t.Outgoing = with(t.Outgoing, m.ID)
	o.turns.put(t.ID, t)
	return tool.JSON(tool.Queued{Status: "queued", Outgoing: string(m.ID), Name: f.Name, Bytes: f.Size}), false
}

// letGo removes the copy that a message held which is over.
func (o *Overlay) letGo(m delivery.Outgoing) {
	if m.File != nil {
		o.emit(Discard{Paths: []string{m.File.Path}})
	}
}

// sweep asks for the removal of copies that are of no use any more: the daemon died before it had removed them, or before
// their message was queued.
func (o *Overlay) sweep() {
	var keep []string
	for _, mid := range o.outgoing.all() {
		if m, _ := o.outgoing.get(mid); m.File != nil {
			keep = append(keep, m.File.Path)
		}
	}
	for _, aid := range o.actions.all() {
		if a, _ := o.actions.get(aid); a.Call.Name == tool.SendFile {
			keep = append(keep, CopyOf(aid))
		}
	}
	o.emit(Sweep{keep})
}
