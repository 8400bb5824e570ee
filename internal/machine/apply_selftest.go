package machine

import (
	"fmt"
	"slices"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/tool"
)

// selftestMark begins the receipts of a self-test.
const selftestMark = "Self-test: "

// SelftestGoal is what the subagent of a self-test is given; the script that plays it knows it by this.
const SelftestGoal = "Put the gateway to the test"

// selftest lets a subagent work for the place's conversation in earnest, with a script in the place of its model. What comes
// of it takes the way that any work takes, but for its end: the place sees receipts, and the agent hears nothing.
func (o *Overlay) selftest(key chat.Key, m chat.Message) (id.Session, string) {
	for _, did := range o.delegations.all() {
		if d, _ := o.delegations.get(did); untold(d) && d.Selftest.Key == key {
			return d.Session, fmt.Sprintf("A self-test runs here already (%s); its report follows.", d.ID)
		}
	}
	s := o.conversation(key)
	r, _ := o.routes.get(key)
	d := Delegation{
		ID: id.Delegation(o.newID(id.PrefixDelegation)), Profile: s.Profile, State: DelegationRunning, Session: s.ID, TurnNo: o.lane(s.ID).Turns,
		Background: true, CreatedAt: o.now, UpdatedAt: o.now,
		Selftest: &Selftest{To: m.Address, ReplyTo: replyTo(m), Key: key, Version: r.Version, Epoch: s.Epoch},
	}
	d = o.hand(d, s, []tool.Task{{Goal: SelftestGoal}}, CommandSelftest)
	o.emit(Examine{d})
	return s.ID, "The self-test begins: a subagent starts real commands, hands one over, and goes home; a script plays it, no model. " +
		"You see three receipts and then a report, in a few seconds. Talk to me meanwhile, if you like."
}

// untold tells whether a delegation is a self-test whose report is owed.
func untold(d Delegation) bool { return d.Selftest != nil && d.Selftest.Report == "" }

// examined ends a self-test: its person is told what held, and whatever still runs of it is stopped without a word.
func (o *Overlay) examined(r Examined) (Answer, error) {
	d, ok := o.delegations.get(r.Delegation)
	if !ok || !untold(d) {
		return Answer{}, ErrStale
	}
	const why = "the self-test is over"
	if d.State == DelegationRunning {
		d.Told = true
		o.delegations.put(d.ID, d)
		o.interruptDelegation(d.ID, why)
		d, _ = o.delegations.get(d.ID)
	}
	for _, pid := range o.processes.all() {
		p, _ := o.processes.get(pid)
		if !p.State.Ended() && p.Kill == "" && slices.ContainsFunc(d.Children, func(c Child) bool { return c.Session == p.StartedBy }) {
			p.Mute = true
			o.kill(p, why)
		}
	}
	test := *d.Selftest
	test.Report = o.say(test.To, r.Text, test.ReplyTo, string(d.ID), d.Session, "")
	d.Selftest, d.UpdatedAt = &test, o.now
	o.delegations.put(d.ID, d)
	o.note(Record{Kind: "delegation", ID: string(d.ID), State: "examined", Session: d.Session, Route: test.Key, Why: oneLine(r.Text, 120)})
	return Answer{Session: d.Session, Outgoing: test.Report, Text: r.Text}, nil
}
