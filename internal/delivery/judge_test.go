package delivery_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/session"
)

// TestJudge is the whole table: what is owed for which completion by which verdict. // C-01
func TestJudge(t *testing.T) {
	child := &delivery.Attribution{Subagent: "sub_K", Delegation: "del_1", Goal: "g"}
	for name, tt := range map[string]struct {
		c                        delivery.Completion
		deliver, terminal, retry delivery.Owing
	}{
		"a delegation":                         {delivery.Completion{Kind: delivery.Delegation, Notify: true}, delivery.OweNotice, delivery.OweNever, delivery.OweLater},
		"a quiet delegation":                   {delivery.Completion{Kind: delivery.Delegation, Notify: true, Quiet: true}, delivery.OweNotice, delivery.OweNever, delivery.OweLater},
		"a delegation, never silent":           {delivery.Completion{Kind: delivery.Delegation, Hidden: true, Child: child}, delivery.OweNotice, delivery.OweNever, delivery.OweLater},
		"one's own process":                    {delivery.Completion{Kind: delivery.Process, Notify: true}, delivery.OweNotice, delivery.OweNever, delivery.OweLater},
		"one's own process, notify: false":     {delivery.Completion{Kind: delivery.Process}, delivery.OweReceipt, delivery.OweNever, delivery.OweLater},
		"a child's process, switch off":        {delivery.Completion{Kind: delivery.Process, Child: child, Hidden: true}, delivery.OweNothing, delivery.OweNothing, delivery.OweNothing},
		"a child's process, switch on":         {delivery.Completion{Kind: delivery.Process, Child: child}, delivery.OweSurfaced, delivery.OweNever, delivery.OweLater},
		"a child's, switch on, notify: true":   {delivery.Completion{Kind: delivery.Process, Child: child, Notify: true}, delivery.OweSurfaced, delivery.OweNever, delivery.OweLater},
		"a self-test's delegation":             {delivery.Completion{Kind: delivery.Delegation, Notify: true, Rehearsal: true}, delivery.OweReceipt, delivery.OweNothing, delivery.OweLater},
		"a self-test's process":                {delivery.Completion{Kind: delivery.Process, Child: child, Rehearsal: true}, delivery.OweReceipt, delivery.OweNothing, delivery.OweLater},
		"a self-test's process, handed off":    {delivery.Completion{Kind: delivery.Process, Notify: true, Rehearsal: true}, delivery.OweReceipt, delivery.OweNothing, delivery.OweLater},
		"a watch match":                        {delivery.Completion{Kind: delivery.Watch, Notify: true}, delivery.OweNotice, delivery.OweNever, delivery.OweLater},
		"a watch match of a child":             {delivery.Completion{Kind: delivery.Watch, Child: child}, delivery.OweSurfaced, delivery.OweNever, delivery.OweLater},
		"a watch match of a child, suppressed": {delivery.Completion{Kind: delivery.Watch, Child: child, Hidden: true}, delivery.OweNothing, delivery.OweNothing, delivery.OweNothing},
	} {
		t.Run(name, func(t *testing.T) {
			for outcome, want := range map[session.Outcome]delivery.Owing{
				session.Deliver: tt.deliver, session.Terminal: tt.terminal, session.Retry: tt.retry,
			} {
				if got := delivery.Judge(tt.c, session.Verdict{Outcome: outcome}); got != want {
					t.Errorf("%s: owes %s, want %s", outcome, got, want)
				}
			}
		})
	}
}

func TestOpensTurn(t *testing.T) {
	for _, tt := range []struct{ notify, quiet, opens bool }{{true, false, true}, {true, true, false}, {false, false, false}, {false, true, false}} {
		if got := (delivery.Completion{Notify: tt.notify, Quiet: tt.quiet}).OpensTurn(); got != tt.opens {
			t.Errorf("%+v: %t", tt, got)
		}
	}
}

// The moves of a completion: what was kept is not any more, and what comes back starts anew.
func TestSettleBuryRevive(t *testing.T) {
	c := delivery.Completion{
		ID: "cmp_1", State: delivery.Bound, Turn: "trn_1", Owner: "ses_P", Pin: "ses_P", PendingSince: now.Add(-1), Notice: "n",
		Entered: []id.Session{"ses_P"},
	}
	dead := c.Bury("boundary", "ses_P", now)
	want := c
	want.State, want.Reason, want.Kept, want.UpdatedAt = delivery.Dead, "boundary", "ses_P", now
	if diff := cmp.Diff(want, dead); diff != "" {
		t.Errorf("buried (-want +got)\n%s", diff)
	}
	back := dead.Revive(now.Add(1))
	want.State, want.Reason, want.Kept, want.Turn, want.Owner = delivery.Pending, "", "", "", ""
	want.UpdatedAt, want.PendingSince = now.Add(1), now.Add(1)
	if diff := cmp.Diff(want, back); diff != "" {
		t.Errorf("revived (-want +got)\n%s", diff)
	}
	done := dead.Settle(delivery.DoneDropped, now)
	want = dead
	want.State, want.Reason, want.Kept = delivery.Done, delivery.DoneDropped, ""
	if diff := cmp.Diff(want, done); diff != "" {
		t.Errorf("settled (-want +got)\n%s", diff)
	}
}
