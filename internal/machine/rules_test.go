package machine_test

import (
	"errors"
	"fmt"
	"slices"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
)

// rules are what always holds ("What the tests hold" in docs/states.md), checked after every step of every story and history. They remember
// what a single step does not show.
type rules struct {
	w           *world
	transcripts map[id.Session]*reading
	entered     map[string]int // completion in session: how often
	queues      map[string][]id.Outgoing
	queued      map[id.Outgoing]bool
	parts       map[string]*partSent
	texts       map[string]int       // what a person said: how often it entered a transcript
	files       map[string]int       // files in transcripts: how often
	doubtful    map[id.Outgoing]bool // was on its way in a copy that the store was restored from
}

func newRules(w *world) *rules {
	return &rules{
		w: w, transcripts: map[id.Session]*reading{}, entered: map[string]int{}, queues: map[string][]id.Outgoing{},
		queued: map[id.Outgoing]bool{}, parts: map[string]*partSent{}, texts: map[string]int{}, doubtful: map[id.Outgoing]bool{}, files: map[string]int{},
	}
}

// check returns the first rule that does not hold after a step.
func (r *rules) check(s step) error {
	for _, rule := range []struct {
		name string
		f    func(step) error
	}{
		{"what is refused, stale or repeated changes nothing", r.refused},
		{"a route names a live conversation of its place, never a child", r.routes},
		{"each conversation is in the list of its place, and in no other", r.placed},
		{"only a person moves a route, ends or reopens a conversation", r.moves},
		{"each completion is in exactly one state and list", r.completions},
		{"one fact makes one completion", r.facts},
		{"a self-test opens no turn and enters no transcript, and nothing of it is left", r.rehearsals},
		{"one turn at a time, in a live session", r.turns},
		{"what runs stands in its owner's lane", r.running},
		{"transcripts are legal, and each notice and text enters at most once", r.entries},
		{"nothing crosses a person's boundary", r.crossing},
		{"the order of a chat holds, and nothing is sent twice", r.sending},
		{"a preview has a running turn, an answer on its way, or is taken back; an answer never is", r.previews},
		{"effects stand on what is committed", r.effects},
		{"a start asks for all that is outstanding, once, and for nothing else", r.start},
	} {
		if err := rule.f(s); err != nil {
			return fmt.Errorf("%w: %s: after %T: %w", errBroken, rule.name, s.request, err)
		}
	}
	return nil
}

func (r *rules) refused(s step) error {
	if s.lost {
		return nil
	}
	switch _, isRefusal := errors.AsType[*machine.Refusal](s.err); {
	case (s.err != nil || s.answer.Duplicate) && s.changes != nil:
		return fmt.Errorf("it changes %d records (error: %w)", len(s.changes), s.err)
	case s.err != nil && !isRefusal && !errors.Is(s.err, machine.ErrStale):
		return s.err
	}
	return nil
}

func (r *rules) routes(s step) error {
	seen := map[id.Session]bool{}
	for _, x := range all[session.Route](s.after, machine.Routes) {
		if x.Current == "" {
			continue
		}
		c, ok := get[session.Session](s.after, machine.Sessions, string(x.Current))
		switch {
		case !ok:
			return fmt.Errorf("%s names %s, which is not there", x.Key, x.Current)
		case c.Kind != session.Chat || !c.HumanFacing() || c.ID.IsSubagent():
			return fmt.Errorf("%s names the child %s", x.Key, x.Current)
		case c.Ended():
			return fmt.Errorf("%s names %s, which has ended", x.Key, x.Current)
		case c.Key != x.Key:
			return fmt.Errorf("%s names %s of %s", x.Key, x.Current, c.Key)
		case seen[x.Current]:
			return fmt.Errorf("two routes name %s", x.Current)
		}
		seen[x.Current] = true
	}
	for _, c := range all[session.Session](s.after, machine.Sessions) {
		if c.Kind == session.Chat && !c.Ended() && !seen[c.ID] && !slices.Contains(r.w.unreadable, c.ID) { // S-20
			return fmt.Errorf("%s is live and has no place", c.ID)
		}
	}
	return nil
}

func (r *rules) placed(s step) error {
	want := 0
	for _, c := range all[session.Session](s.after, machine.Sessions) {
		if c.Key == "" {
			continue
		}
		want++
		if _, ok := get[machine.Placed](s.after, machine.Places, machine.PlaceKey(c.Key, c.ID)); !ok {
			return fmt.Errorf("%s is not in the list of %s", c.ID, c.Key)
		}
	}
	if n := len(s.after[machine.Places]); n != want {
		return fmt.Errorf("%d are listed, %d are there", n, want)
	}
	return nil
}

func (r *rules) rehearsals(s step) error {
	for _, t := range []machine.Table{machine.Completions, machine.Completions.Done()} {
		for _, c := range all[delivery.Completion](s.after, t) {
			if c.Rehearsal && (c.State != delivery.Done || c.Turn != "" || len(c.Entered) > 0) {
				return fmt.Errorf("%s is %s, in turn %q, in transcripts %v", c.ID, c.State, c.Turn, c.Entered)
			}
		}
	}
	for _, d := range all[machine.Delegation](s.after, machine.Delegations) {
		if d.Selftest == nil || d.Selftest.Report == "" {
			continue
		}
		if d.State == machine.DelegationRunning {
			return fmt.Errorf("%s runs, and its report is told", d.ID)
		}
		for _, p := range all[machine.Process](s.after, machine.Processes) {
			if p.StartedBy == d.Children[0].Session && !p.State.Ended() && p.Kill == "" {
				return fmt.Errorf("%s is left of %s", p.ID, d.ID)
			}
		}
	}
	return nil
}

// asked tells what a request may do to routes: move one, or open an empty one.
func asked(r machine.Request) (moves, opens bool) {
	switch r := r.(type) {
	case machine.Receive:
		return r.Command != nil && slices.Contains([]string{"new", "resume", "branch"}, r.Command.Name), r.Message != nil
	case machine.EndSession:
		return true, false
	case machine.Requeue:
		return false, r.To != nil
	}
	return false, false
}

// idled tells whether a message came to a conversation that had been silent for longer than it may be.
func (r *rules) idled(s step, sid id.Session) bool {
	q, ok := s.request.(machine.Receive)
	was, now, limit := s.before.session(sid), s.after.session(sid), r.w.policy.IdleReset
	return ok && q.Message != nil && q.Command == nil && q.Reply == "" && limit > 0 && r.w.now.Sub(was.ActiveAt) > limit &&
		s.before.lane(sid).Turn == "" && now.EndReason == session.Idle
}

func (r *rules) moves(s step) error {
	moves, opens := asked(s.request)
	for _, now := range all[session.Route](s.after, machine.Routes) {
		was := s.before.route(now.Key)
		switch {
		case now.Current == was.Current:
			if now != was {
				return fmt.Errorf("%s changed without a move", now.Key)
			}
		case now.Version != was.Version+1:
			return fmt.Errorf("%s went from version %d to %d", now.Key, was.Version, now.Version)
		case moves, r.idled(s, was.Current), opens && (was.Current == "" || slices.Contains(r.w.unreadable, was.Current)):
		default:
			return fmt.Errorf("%s went from %q to %q", now.Key, was.Current, now.Current)
		}
	}
	for _, now := range all[session.Session](s.after, machine.Sessions) {
		was, there := get[session.Session](s.before, machine.Sessions, string(now.ID))
		if !there {
			continue
		}
		switch {
		case was.Ended() != now.Ended() && now.Epoch != was.Epoch+1:
			return fmt.Errorf("%s ended or came back without a new epoch", now.ID)
		case was.Ended() == now.Ended() && now.Epoch != was.Epoch:
			return fmt.Errorf("the epoch of %s moved by itself", now.ID)
		case was.Ended() != now.Ended() && now.HumanFacing() && !moves && !r.idled(s, now.ID):
			return fmt.Errorf("%s: ended %t → %t", now.ID, was.Ended(), now.Ended())
		case was.Ended() && !now.Ended() && !now.HumanFacing():
			return fmt.Errorf("the child %s came back", now.ID)
		case now.DelegateFrom != was.DelegateFrom || now.Kind != was.Kind:
			return fmt.Errorf("the mark of %s changed", now.ID)
		case now.Generation < was.Generation:
			return fmt.Errorf("the generation of %s went back", now.ID)
		}
	}
	return nil
}

func (r *rules) turns(s step) error {
	running := map[id.Session]id.Turn{}
	for _, t := range all[machine.Turn](s.after, machine.Turns) {
		if other, two := running[t.Session]; two {
			return fmt.Errorf("%s and %s run in %s", other, t.ID, t.Session)
		}
		running[t.Session] = t.ID
		x := s.after.session(t.Session)
		switch {
		case t.State.Ended():
			return fmt.Errorf("%s is over (%s) and still in hand", t.ID, t.State)
		case x.Ended() || x.Generation != t.Generation:
			return fmt.Errorf("%s runs in %s, which was left or stopped", t.ID, t.Session)
		case s.after.lane(t.Session).Turn != t.ID:
			return fmt.Errorf("the lane of %s does not know %s", t.Session, t.ID)
		}
		acting := 0
		for _, aid := range t.Actions {
			a, ok := get[machine.Action](s.after, machine.Actions, string(aid))
			if !ok || a.Turn != t.ID {
				return fmt.Errorf("%s has no action %s", t.ID, aid)
			}
			if a.State == machine.ActionRunning {
				acting++
			}
		}
		if len(t.Actions) > 0 && acting != 1 {
			return fmt.Errorf("%s carries out %d calls at once", t.ID, acting)
		}
	}
	for _, l := range all[machine.Lane](s.after, machine.Lanes) {
		x := s.after.session(l.Session)
		switch {
		case l.Turn != running[l.Session]:
			return fmt.Errorf("the lane of %s thinks that %q runs", l.Session, l.Turn)
		case len(l.Texts) > 0 && l.Turn == "" && !waits(l.Texts[0]):
			return fmt.Errorf("a text waits in %s and no turn runs", l.Session)
		case x.Ended() && len(l.Texts)+len(l.Inbox)+len(l.Overflow) > 0:
			return fmt.Errorf("%s has ended and something waits in it", l.Session)
		case !x.Ended() && len(l.Kept) > 0:
			return fmt.Errorf("%s is live and something is kept with it", l.Session)
		}
	}
	for _, a := range all[machine.Action](s.after, machine.Actions) {
		if t, ok := get[machine.Turn](s.after, machine.Turns, string(a.Turn)); !ok || t.Session != a.Session {
			return fmt.Errorf("%s belongs to no turn", a.ID)
		}
	}
	return nil
}

// ownerOf walks the one ownership edge, without asking the resolver, and goes on to who is in the place now if no person
// left it since.
func ownerOf(d disk, pin id.Session) session.Session {
	s := d.session(pin)
	for range 50 {
		if s.DelegateFrom == "" {
			r := d.route(s.Key)
			if (s.EndReason == session.Branched || s.EndReason == session.Idle) && r.BoundaryAt <= s.LeftAt {
				return d.session(r.Current)
			}
			return s
		}
		s = d.session(s.DelegateFrom)
	}
	return session.Session{}
}

// chatOf names the chat in which order holds.
func chatOf(a chat.Address) string { return a.Account.String() + "|" + a.Chat }
