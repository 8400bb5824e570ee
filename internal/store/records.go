package store

import (
	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
)

// The records' fields with their numbers. A number is given for ever: one whose field is gone is not used again, and a new
// field comes last, with the next number.

func (f *fields) session(s *session.Session) {
	word(f, 1, &s.ID)
	word(f, 2, &s.Profile)
	word(f, 3, &s.Kind)
	word(f, 4, &s.Key)
	word(f, 5, &s.DelegateFrom)
	word(f, 6, &s.Delegation)
	number(f, 7, &s.Depth)
	number(f, 8, &s.Epoch)
	number(f, 9, &s.Generation)
	number(f, 10, &s.LeftAt)
	word(f, 11, &s.Parent)
	word(f, 12, &s.Title)
	moment(f, 13, &s.CreatedAt)
	moment(f, 14, &s.ActiveAt)
	moment(f, 15, &s.EndedAt)
	word(f, 16, &s.EndReason)
	truth(f, 17, &s.Rehearsal)
}

func (f *fields) route(r *session.Route) {
	word(f, 1, &r.Key)
	word(f, 2, &r.Current)
	number(f, 3, &r.Version)
	number(f, 4, &r.BoundaryAt)
	moment(f, 5, &r.UpdatedAt)
}

func (f *fields) verdict(v *session.Verdict) {
	word(f, 1, &v.Outcome)
	word(f, 2, &v.Owner)
	many(f, 3, &v.Path)
	word(f, 4, &v.Key)
	number(f, 5, &v.Version)
	word(f, 6, &v.Reason)
	word(f, 7, &v.At)
	word(f, 8, &v.End)
}

func (f *fields) hop(h *session.Hop) {
	word(f, 1, &h.Session)
	number(f, 2, &h.Epoch)
}

func (f *fields) lane(l *machine.Lane) {
	word(f, 1, &l.Session)
	word(f, 2, &l.Turn)
	word(f, 3, &l.Last)
	number(f, 4, &l.Turns)
	number(f, 5, &l.Entries)
	word(f, 6, &l.LastEntry)
	many(f, 7, &l.Texts)
	words(f, 8, &l.Inbox)
	words(f, 9, &l.Overflow)
	words(f, 10, &l.Kept)
	words(f, 11, &l.Delegations)
	words(f, 12, &l.Processes)
	words(f, 13, &l.HandedOff)
	number(f, 14, &l.Unread)
	many(f, 15, &l.Asked)
	word(f, 16, &l.Came)
	maybe(f, 17, &l.Compact)
	number(f, 18, &l.Summaries)
	words(f, 19, &l.Discard)
	truth(f, 20, &l.SpokeTo)
}

func (f *fields) compactAsked(c *machine.CompactAsked) {
	word(f, 1, &c.ReplyTo)
}

func (f *fields) text(t *machine.Text) {
	word(f, 1, &t.Content)
	word(f, 2, &t.Speaker)
	word(f, 3, &t.Person)
	word(f, 4, &t.MessageID)
	word(f, 5, &t.Event)
	truth(f, 6, &t.Steer)
	moment(f, 7, &t.At)
	many(f, 8, &t.Files)
	word(f, 9, &t.Album)
	words(f, 10, &t.Events)
	moment(f, 11, &t.Until)
}

func (f *fields) received(x *machine.File) {
	word(f, 1, &x.Kind)
	word(f, 2, &x.Name)
	word(f, 3, &x.MIME)
	number(f, 4, &x.Size)
	word(f, 5, &x.Ref)
	word(f, 6, &x.State)
	word(f, 7, &x.Path)
	word(f, 8, &x.Problem)
	truth(f, 9, &x.Told)
}

func (f *fields) asked(a *machine.Asked) {
	number(f, 1, &a.From)
	number(f, 2, &a.Texts)
	word(f, 3, &a.ReplyTo)
	word(f, 4, &a.Words)
}

func (f *fields) turn(t *machine.Turn) {
	word(f, 1, &t.ID)
	word(f, 2, &t.Profile)
	word(f, 3, &t.Session)
	number(f, 4, &t.Generation)
	number(f, 5, &t.No)
	word(f, 6, &t.State)
	number(f, 7, &t.Step)
	number(f, 8, &t.Calls)
	words(f, 9, &t.Actions)
	words(f, 10, &t.Bound)
	number(f, 11, &t.Texts)
	words(f, 12, &t.Events)
	word(f, 13, &t.ReplyTo)
	number(f, 14, &t.Crashes)
	number(f, 15, &t.Waits)
	moment(f, 16, &t.NextAt)
	word(f, 17, &t.Detail)
	word(f, 18, &t.Reason)
	words(f, 19, &t.Outgoing)
	words(f, 20, &t.Processes)
	words(f, 21, &t.Delegated)
	moment(f, 22, &t.CreatedAt)
	moment(f, 23, &t.UpdatedAt)
	moment(f, 24, &t.EndedAt)
	number(f, 25, &t.From)
	moment(f, 26, &t.AskedAt)
}

func (f *fields) action(a *machine.Action) {
	word(f, 1, &a.ID)
	word(f, 2, &a.Profile)
	word(f, 3, &a.Turn)
	word(f, 4, &a.Session)
	number(f, 5, &a.Step)
	one(f, 6, &a.Call)
	word(f, 7, &a.State)
	word(f, 8, &a.Process)
	word(f, 9, &a.Delegation)
	word(f, 10, &a.Result)
	moment(f, 11, &a.CreatedAt)
	moment(f, 12, &a.UpdatedAt)
}

func (f *fields) call(c *agent.Call) {
	word(f, 1, &c.ID)
	word(f, 2, &c.Name)
	word(f, 3, &c.Arguments)
}

func (f *fields) process(p *machine.Process) {
	word(f, 1, &p.ID)
	word(f, 2, &p.Profile)
	word(f, 3, &p.State)
	word(f, 4, &p.Command)
	word(f, 5, &p.Workdir)
	word(f, 6, &p.Owner)
	word(f, 7, &p.StartedBy)
	word(f, 8, &p.Pin)
	word(f, 9, &p.Turn)
	number(f, 10, &p.TurnNo)
	word(f, 11, &p.Action)
	word(f, 12, &p.Waiter)
	truth(f, 13, &p.Background)
	truth(f, 14, &p.Notify)
	number(f, 15, &p.Timeout)
	maybe(f, 16, &p.Child)
	word(f, 17, &p.HandedOff)
	word(f, 18, &p.Purpose)
	word(f, 19, &p.Kill)
	truth(f, 20, &p.Mute)
	number(f, 21, &p.Promoted)
	truth(f, 22, &p.LeftRunning)
	truth(f, 23, &p.Seen)
	word(f, 24, &p.Completion)
	known(f, 25, &p.ExitCode)
	word(f, 26, &p.Signal)
	word(f, 27, &p.Detail)
	number(f, 28, &p.PID)
	word(f, 29, &p.Tail)
	moment(f, 30, &p.CreatedAt)
	moment(f, 31, &p.StartedAt)
	moment(f, 32, &p.EndedAt)
	moment(f, 33, &p.UpdatedAt)
	truth(f, 34, &p.Rehearsal)
}

func (f *fields) attribution(a *delivery.Attribution) {
	word(f, 1, &a.Subagent)
	word(f, 2, &a.Delegation)
	word(f, 3, &a.Goal)
}

func (f *fields) completion(c *delivery.Completion) {
	word(f, 1, &c.ID)
	word(f, 2, &c.Profile)
	word(f, 3, &c.Kind)
	word(f, 4, &c.Subject)
	word(f, 5, &c.Status)
	word(f, 6, &c.State)
	word(f, 7, &c.Reason)
	word(f, 8, &c.Pin)
	one(f, 9, &c.Verdict)
	word(f, 10, &c.Owner)
	word(f, 11, &c.Turn)
	word(f, 12, &c.Kept)
	word(f, 13, &c.Origin)
	number(f, 14, &c.OriginNo)
	maybe(f, 15, &c.Child)
	truth(f, 16, &c.Hidden)
	truth(f, 17, &c.Notify)
	truth(f, 18, &c.Quiet)
	word(f, 19, &c.Notice)
	word(f, 20, &c.Summary)
	word(f, 21, &c.Receipt)
	words(f, 22, &c.Entered)
	moment(f, 23, &c.CreatedAt)
	moment(f, 24, &c.UpdatedAt)
	moment(f, 25, &c.PendingSince)
	truth(f, 26, &c.Rehearsal)
	word(f, 27, &c.Message)
}

func (f *fields) outgoing(m *delivery.Outgoing) {
	word(f, 1, &m.ID)
	word(f, 2, &m.Profile)
	one(f, 3, &m.To)
	word(f, 4, &m.Session)
	word(f, 5, &m.Turn)
	word(f, 6, &m.Cause)
	word(f, 7, &m.Text)
	word(f, 8, &m.ReplyTo)
	word(f, 9, &m.State)
	many(f, 10, &m.Parts)
	truth(f, 11, &m.Idempotent)
	truth(f, 12, &m.Doubtful)
	number(f, 13, &m.Order)
	number(f, 14, &m.Tries)
	number(f, 15, &m.Attempts)
	number(f, 16, &m.Waits)
	truth(f, 17, &m.Unreached)
	moment(f, 18, &m.NextAt)
	word(f, 19, &m.Reason)
	word(f, 20, &m.Class)
	word(f, 21, &m.Detail)
	moment(f, 22, &m.CreatedAt)
	moment(f, 23, &m.UpdatedAt)
	moment(f, 24, &m.QueuedAt)
	truth(f, 25, &m.Observable)
	word(f, 26, &m.Doubt)
	moment(f, 27, &m.BegunAt)
	maybe(f, 28, &m.File)
	many(f, 29, &m.Buttons)
}

func (f *fields) button(b *chat.Button) {
	word(f, 1, &b.Label)
	word(f, 2, &b.Command)
}

func (f *fields) sent(x *delivery.File) {
	word(f, 1, &x.Path)
	word(f, 2, &x.Name)
	word(f, 3, &x.MIME)
	number(f, 4, &x.Size)
}

func (f *fields) address(a *chat.Address) {
	word(f, 1, &a.Profile)
	word(f, 2, &a.Platform)
	word(f, 3, &a.ID)
	word(f, 4, &a.Type)
	word(f, 5, &a.Chat)
	word(f, 6, &a.Thread)
	word(f, 7, &a.Person)
}

func (f *fields) part(p *delivery.Part) {
	word(f, 1, &p.Text)
	word(f, 2, &p.Bare)
	truth(f, 3, &p.Plain)
	truth(f, 4, &p.Marked)
	word(f, 5, &p.State)
	word(f, 6, &p.MessageID)
	word(f, 7, &p.Edits)
	truth(f, 8, &p.File)
}

func (f *fields) preview(p *machine.Preview) {
	word(f, 1, &p.Turn)
	one(f, 2, &p.To)
	word(f, 3, &p.MessageID)
	moment(f, 4, &p.SentAt)
	moment(f, 5, &p.AskedAt)
	truth(f, 6, &p.Spent)
	word(f, 7, &p.Answer)
	truth(f, 8, &p.Leaving)
}

func (f *fields) entry(e *machine.Entry) {
	word(f, 1, &e.Session)
	number(f, 2, &e.Seq)
	word(f, 3, &e.Turn)
	word(f, 4, &e.Kind)
	word(f, 5, &e.Content)
	word(f, 6, &e.Speaker)
	many(f, 7, &e.Calls)
	word(f, 8, &e.CallID)
	word(f, 9, &e.Tool)
	word(f, 10, &e.Completion)
	number(f, 11, &e.From)
	truth(f, 12, &e.Texts)
	moment(f, 13, &e.At)
	numbers(f, 14, &e.Keep)
	number(f, 15, &e.Request)
	many(f, 16, &e.Files)
}

// line is a record of the journal.
func (f *fields) line(r *machine.Record) {
	number(f, 1, &r.Seq)
	number(f, 2, &r.Commit)
	moment(f, 3, &r.At)
	word(f, 4, &r.Kind)
	word(f, 5, &r.ID)
	word(f, 6, &r.State)
	word(f, 7, &r.Session)
	word(f, 8, &r.Route)
	word(f, 9, &r.Cause)
	word(f, 10, &r.Why)
	word(f, 11, &r.Of)
	moment(f, 12, &r.Since)
}

func (f *fields) mark(m *machine.Mark) {
	word(f, 1, &m.Event)
	moment(f, 2, &m.At)
}

func (f *fields) position(p *machine.Position) {
	word(f, 1, &p.Account)
	word(f, 2, &p.Cursor)
	moment(f, 3, &p.At)
	moment(f, 4, &p.Known)
}

func (f *fields) meta(m *machine.Meta) {
	number(f, 1, &m.Seq)
	number(f, 2, &m.Commit)
	truth(f, 3, &m.Clean)
	moment(f, 4, &m.At)
	truth(f, 5, &m.Restored)
}
