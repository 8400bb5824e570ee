package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/session"
	"github.com/homing-gateway/homing/internal/tool"
)

func (o *Overlay) startDelegate(a Action, s session.Session) (string, bool) {
	var args tool.DelegateArgs
	if err := tool.Parse(a.Call.Name, a.Call.Arguments, &args); err != nil {
		return tool.Error(tool.KindArguments, err.Error()), true
	}
	switch args.Action {
	case "", tool.DelegateSpawn:
		return o.spawn(a, s, args)
	case tool.DelegateList:
		list := []tool.Delegated{}
		for _, did := range o.delegated(s.ID) {
			d, _ := o.delegations.get(did)
			list = append(list, delegated(d))
		}
		return tool.JSON(map[string]any{"delegations": list}), false
	case tool.DelegateStop:
		return o.stopByTool(s, args)
	case tool.DelegateSteer:
		return tool.Error(tool.KindNotBuilt, "steer is not available yet: stop the subagent and delegate again with what it should know"), true
	}
	return tool.Error(tool.KindArguments, fmt.Sprintf("action %q is none of spawn, list, stop", args.Action)), true
}

// spawn records a delegation and its subagents in the step that records the call's intent, and lets them begin.
func (o *Overlay) spawn(a Action, s session.Session, args tool.DelegateArgs) (string, bool) {
	policy := o.policy(s.Profile)
	tasks := args.All()
	running := 0
	for _, did := range o.delegated(s.ID) {
		d, _ := o.delegations.get(did)
		for _, c := range d.Children {
			if c.State == DelegationRunning {
				running++
			}
		}
	}
	for i, t := range tasks {
		if strings.TrimSpace(t.Goal) == "" {
			return tool.Error(tool.KindArguments, fmt.Sprintf("task %d has no goal: say what the subagent is to do", i+1)), true
		}
		if len(t.OutputSchema) > 0 && string(t.OutputSchema) != "null" {
			return tool.Error(tool.KindNotBuilt, "output_schema is not available yet: describe the wanted form in the goal"), true
		}
		if t.Group != "" {
			return tool.Error(tool.KindNotBuilt, "group is not available yet: the tasks of one call come back as one result"), true
		}
	}
	if running+len(tasks) > policy.MaxChildren {
		return tool.Error(tool.KindLimit, fmt.Sprintf("%d subagents are running and %d more are asked for; the limit is %d: give fewer tasks, or wait for some to end",
			running, len(tasks), policy.MaxChildren)), true
	}
	t, _ := o.turns.get(a.Turn)
	d := Delegation{
		ID: id.Delegation(o.newID(id.PrefixDelegation)), Profile: s.Profile, State: DelegationRunning, Session: s.ID, Turn: a.Turn, TurnNo: o.ordered(s, t),
		Action: a.ID, Background: s.Kind != session.Subagent && (args.Background == nil || *args.Background), CreatedAt: o.now, UpdatedAt: o.now,
	}
	a.Delegation = d.ID
	o.actions.put(a.ID, a)
	t.Delegated = with(t.Delegated, d.ID)
	if !d.Background {
		t.State = TurnDelegated
	}
	o.turns.put(t.ID, t)
	d = o.hand(d, s, tasks, string(a.ID))
	if !d.Background {
		return "", false
	}
	return tool.JSON(delegated(d)), false
}

// hand puts a delegation on record, gives each task of it to a subagent, and lets them begin.
func (o *Overlay) hand(d Delegation, s session.Session, tasks []tool.Task, cause string) Delegation {
	type begun struct {
		session.Session
		brief string
	}
	children := make([]begun, 0, len(tasks))
	for _, task := range tasks {
		child := session.Session{
			ID: id.Session(o.newID(id.PrefixSubagent)), Profile: s.Profile, Kind: session.Subagent, DelegateFrom: s.ID, Delegation: d.ID,
			Depth: s.Depth + 1, Rehearsal: d.Selftest != nil, Title: strings.TrimSpace(task.Goal), CreatedAt: o.now, ActiveAt: o.now,
		}
		children = append(children, begun{child, brief(task)})
		d.Children = append(d.Children, Child{Session: child.ID, Goal: child.Title, State: DelegationRunning})
	}
	o.delegations.put(d.ID, d)
	l := o.lane(s.ID)
	l.Delegations = with(l.Delegations, d.ID)
	o.setLane(l)
	o.note(Record{Kind: "delegation", ID: string(d.ID), State: string(d.State), Session: s.ID, Cause: cause})
	for _, child := range children {
		o.sessions.put(child.ID, child.Session)
		o.note(Record{Kind: "session", ID: string(child.ID), State: "opened", Session: child.ID, Cause: string(d.ID), Why: oneLine(child.Title, 120)})
		cl := o.lane(child.ID)
		cl.Texts = []Text{{Content: child.brief, At: o.now}}
		o.setLane(cl)
		o.openTurn(child.ID)
	}
	return d
}

// ordered is the number of the person's turn from which the work of a turn comes: its own, or that of the delegation.
func (o *Overlay) ordered(s session.Session, t Turn) int {
	if d, ok := o.delegations.get(s.Delegation); ok {
		return d.TurnNo
	}
	return t.No
}

// brief is the first message of a child's transcript: the goal, an empty line, the context.
func brief(t tool.Task) string {
	if c := strings.TrimSpace(t.Context); c != "" {
		return strings.TrimSpace(t.Goal) + "\n\n" + c
	}
	return strings.TrimSpace(t.Goal)
}

func delegated(d Delegation) tool.Delegated {
	refs := make([]tool.SubagentRef, 0, len(d.Children))
	for _, c := range d.Children {
		refs = append(refs, tool.SubagentRef{SubagentID: string(c.Session), Goal: c.Goal, Status: string(c.State)})
	}
	return tool.Delegated{DelegationID: string(d.ID), Status: string(d.State), Subagents: refs}
}

// delegated lists the running delegations of a conversation, and of those in its place that it goes on from. A self-test is
// none: its agent does not know of it.
func (o *Overlay) delegated(sid id.Session) (list []id.Delegation) {
	for _, of := range session.Line(o, sid) {
		for _, did := range o.lane(of).Delegations {
			if d, _ := o.delegations.get(did); d.Selftest == nil {
				list = append(list, did)
			}
		}
	}
	return list
}

// stopByTool is delegate_task stop: what ended is the call's answer, and no notice follows.
func (o *Overlay) stopByTool(s session.Session, args tool.DelegateArgs) (string, bool) {
	for _, did := range o.delegated(s.ID) {
		d, _ := o.delegations.get(did)
		one := slices.IndexFunc(d.Children, func(c Child) bool { return string(c.Session) == args.SubagentID })
		if string(did) != args.DelegationID && (args.DelegationID != "" || one < 0) {
			continue
		}
		if args.SubagentID != "" {
			if one < 0 {
				break
			}
			if d.Children[one].State != DelegationRunning {
				return tool.Error(tool.KindState, fmt.Sprintf("subagent %s has ended already (%s)", args.SubagentID, d.Children[one].State)), true
			}
			if running(d) == 1 {
				d.Told = true
				o.delegations.put(did, d)
			}
			o.interruptChild(d.Children[one].Session, "stopped by the agent that delegated it")
		} else {
			d.Told = true
			o.delegations.put(did, d)
			o.interruptDelegation(did, "stopped by the agent that delegated it")
		}
		d, ok := o.delegations.get(did)
		if !ok {
			return tool.Error(tool.KindNotFound, "it is over"), true
		}
		return tool.JSON(tool.Returned{DelegationID: string(did), Status: string(d.State), Results: reports(d)}), false
	}
	return tool.Error(tool.KindNotFound, "nothing of yours runs under that delegation_id or subagent_id: use action list"), true
}

func running(d Delegation) int {
	n := 0
	for _, c := range d.Children {
		if c.State == DelegationRunning {
			n++
		}
	}
	return n
}

// interruptDelegation ends all children of a delegation that still run.
func (o *Overlay) interruptDelegation(did id.Delegation, why string) {
	d, _ := o.delegations.get(did)
	for _, c := range d.Children {
		if c.State == DelegationRunning {
			o.interruptChild(c.Session, why)
		}
	}
}

// interruptChild ends one child where it stands.
func (o *Overlay) interruptChild(sid id.Session, why string) {
	s, _ := o.sessions.get(sid)
	s.Generation++
	o.sessions.put(sid, s)
	t, ok := o.turns.get(o.lane(sid).Turn)
	if ok {
		o.interrupt(t, why) // no completion is ever bound in a subagent's turn
	}
	o.endChild(s, t, TurnInterrupted, "", why)
}

// endChild ends a subagent's run: what it left is killed and named, its result is on record, and the delegation ends with
// its last child.
func (o *Overlay) endChild(s session.Session, t Turn, state TurnState, text, why string) {
	d, ok := o.delegations.get(s.Delegation)
	i := slices.IndexFunc(d.Children, func(c Child) bool { return c.Session == s.ID })
	if s.Ended() || !ok || i < 0 || d.Children[i].State != DelegationRunning {
		return
	}
	outcome, reason := DelegationCompleted, session.Completed
	switch state {
	case TurnInterrupted:
		outcome, reason = DelegationInterrupted, session.Interrupted
	case TurnQuarantined:
		outcome, reason = DelegationQuarantined, session.Failed
	case TurnFailed:
		outcome, reason = DelegationFailed, session.Failed
	}
	s = s.End(reason, o.now)
	s.ActiveAt = o.now
	o.sessions.put(s.ID, s)
	o.note(Record{Kind: "session", ID: string(s.ID), State: "ended", Session: s.ID, Cause: string(t.ID), Why: string(reason)})
	for _, did := range o.lane(s.ID).Delegations { // it waited for them itself: nobody is left to be told
		if x, ok := o.delegations.get(did); ok {
			x.Told = true
			o.delegations.put(did, x)
		}
	}
	o.stopChildren(s.ID, true, "the subagent that delegated it ended")
	l := o.lane(s.ID)
	handed := make([]string, 0, len(l.HandedOff))
	for _, p := range l.HandedOff {
		handed = append(handed, string(p))
	}
	summary, truncated := shorten(text, o.policy(s.Profile).MaxSummaryChars)
	report := tool.Report{
		Summary: summary, Error: why, ExitReason: string(state), Truncated: truncated, ModelCalls: t.Calls,
		DurationSeconds: tool.Seconds(o.now.Sub(s.CreatedAt)), HandedOff: handed, Orphaned: o.orphans(l), UnreadCompletions: l.Unread,
	}
	o.reported(d.ID, i, outcome, report)
}

// reported puts the result of a delegation's child on record. The delegation ends with its last child.
func (o *Overlay) reported(did id.Delegation, i int, outcome DelegationState, report tool.Report) {
	d, _ := o.delegations.get(did)
	report.Index, report.SubagentID, report.Status = i, string(d.Children[i].Session), string(outcome)
	if outcome == DelegationQuarantined {
		report.Status = string(DelegationFailed)
	}
	d.Children = slices.Clone(d.Children)
	d.Children[i].State, d.Children[i].Report = outcome, &report
	d.UpdatedAt = o.now
	o.delegations.put(d.ID, d)
	if running(d) == 0 {
		o.endDelegation(d)
	}
}

// shorten cuts a text to at most that many characters, and says so.
func shorten(text string, most int) (string, bool) {
	r := []rune(text)
	if most <= 0 || len(r) <= most {
		return text, false
	}
	return fmt.Sprintf("%s\n[shortened: %d of %d characters]", string(r[:most]), most, len(r)), true
}

// badness orders the outcomes of children: a batch is as bad as its worst child.
func badness(s DelegationState) int {
	return slices.Index([]DelegationState{
		DelegationRunning, DelegationCompleted, DelegationInterrupted, DelegationTimeout, DelegationStalled, DelegationFailed,
		DelegationUnknown, DelegationQuarantined,
	}, s)
}

// endDelegation makes the delegation's result known: as the result of the call that waits for it, or as a completion.
func (o *Overlay) endDelegation(d Delegation) {
	for _, c := range d.Children {
		if badness(c.State) > badness(d.State) {
			d.State = c.State
		}
	}
	d.EndedAt, d.UpdatedAt = o.now, o.now
	l := o.lane(d.Session)
	l.Delegations = without(l.Delegations, d.ID)
	o.setLane(l)
	action := d.Action
	wait := !d.Background && action != ""
	if !wait && !d.Told {
		d.Completion = id.Completion(o.newID(id.PrefixCompletion))
	}
	o.delegations.put(d.ID, d)
	o.note(Record{Kind: "delegation", ID: string(d.ID), State: string(d.State), Session: d.Session, Cause: string(d.Turn)})
	switch {
	case wait:
		if t, ok := o.turns.get(d.Turn); ok && t.State == TurnDelegated {
			t.State = TurnRunning
			o.turns.put(t.ID, t)
		}
		o.resolve(action, tool.JSON(tool.Returned{DelegationID: string(d.ID), Status: string(d.State), Results: reports(d)}), false)
		o.resume(action)
	case !d.Told:
		c := delivery.Completion{
			ID: d.Completion, Profile: d.Profile, Kind: delivery.Delegation, Subject: string(d.ID), Status: string(d.State),
			State: delivery.Pending, Pin: d.Session, Origin: d.Turn, OriginNo: d.TurnNo, Notify: true,
			Quiet: d.Quiet, Notice: delegationNotice(d), Summary: delegationSummary(d), CreatedAt: o.now, UpdatedAt: o.now, PendingSince: o.now,
		}
		if d.Selftest != nil {
			c.Rehearsal, c.Receipt = true, fmt.Sprintf("%sthe subagent's result came home: %s (%s)", selftestMark, d.State, d.ID)
		}
		o.route(c)
	}
}

func reports(d Delegation) []tool.Report {
	out := make([]tool.Report, 0, len(d.Children))
	for _, c := range d.Children {
		if c.Report != nil {
			out = append(out, *c.Report)
		}
	}
	return out
}

// delegationNotice is the body of a notice about an ended delegation.
func delegationNotice(d Delegation) string {
	var b strings.Builder
	for i, c := range d.Children {
		if i > 0 {
			b.WriteString("\n\n")
		}
		r := c.Report
		if r == nil {
			continue
		}
		fmt.Fprintf(&b, "Subagent %s %s after %d model calls and %.1f s. Goal: %s\n", c.Session, c.State, r.ModelCalls, r.DurationSeconds, oneLine(c.Goal, 300))
		if r.Summary != "" {
			b.WriteString(r.Summary)
		} else if r.Error == "" {
			b.WriteString("(It said nothing.)")
		}
		if r.Error != "" {
			b.WriteString("Why: " + r.Error)
		}
		if len(r.HandedOff) > 0 {
			b.WriteString("\nHanded off to you, still running: " + strings.Join(r.HandedOff, ", "))
		}
		if len(r.Orphaned) > 0 {
			b.WriteString("\nKilled at its end, because it had neither waited for them nor handed them off: " + strings.Join(r.Orphaned, ", "))
		}
	}
	return b.String()
}

// delegationSummary is what the children said, for a person's eyes.
func delegationSummary(d Delegation) string {
	var said []string
	for _, c := range d.Children {
		switch r := c.Report; {
		case r == nil:
		case r.Summary != "":
			said = append(said, r.Summary)
		default:
			said = append(said, fmt.Sprintf("(%s: %s)", oneLine(c.Goal, 120), c.State))
		}
	}
	return strings.Join(said, "\n\n")
}

// stopDelegation is a person's wish to end a delegation: its result is a quiet notice.
func (o *Overlay) stopDelegation(r StopDelegation) (Answer, error) {
	d, ok := o.delegations.get(r.Delegation)
	switch {
	case !ok:
		return refuse("there is no running delegation %s", r.Delegation)
	case d.State != DelegationRunning:
		return refuse("delegation %s has ended already (%s)", d.ID, d.State)
	}
	d.Quiet = true
	o.delegations.put(d.ID, d)
	o.interruptDelegation(d.ID, "stopped by a person")
	return Answer{Text: fmt.Sprintf("Delegation %s is stopped.", d.ID)}, nil
}
