package session_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homing-gateway/homing/internal/session"
)

func conversation(t *testing.T, s session.Session) *session.Conversation {
	t.Helper()
	c, err := session.AsConversation(s)
	if err != nil {
		t.Fatal(err)
	}
	return &c
}

// A place can be given to a person's conversation only: the type that the switch takes cannot hold anything else. // rule 1
func TestAsConversation(t *testing.T) {
	for name, s := range map[string]session.Session{
		"a subagent":                {ID: "sub_K", Kind: session.Subagent, DelegateFrom: "ses_P"},
		"a subagent without a mark": {ID: "sub_K", Kind: session.Subagent},
		"a marked chat":             {ID: "ses_Q", Kind: session.Chat, DelegateFrom: "ses_P"},
		"a subagent's id":           {ID: "sub_K", Kind: session.Chat},
		"an API session":            {ID: "ses_A", Kind: session.API},
		"no kind":                   {ID: "ses_A"},
	} {
		if _, err := session.AsConversation(s); !errors.Is(err, session.ErrNoConversation) {
			t.Errorf("%s was let in: %v", name, err)
		}
	}
	for _, s := range []session.Session{person("ses_P"), ended(person("ses_P"), session.Reset, 3)} {
		if c, err := session.AsConversation(s); err != nil || c.Session() != s {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

func TestSwitch(t *testing.T) {
	r := session.Route{Key: dm, Current: "ses_P", Version: 4, BoundaryAt: 2}
	p := person("ses_P")
	p.Generation = 7
	q := session.Session{ID: "ses_Q", Kind: session.Chat}

	for _, reason := range session.EndReasons() {
		got, left, came := session.Switch(r, &p, conversation(t, q), reason, now)
		wantRoute := session.Route{Key: dm, Current: "ses_Q", Version: 5, BoundaryAt: 2, UpdatedAt: now}
		if reason.UserBoundary() {
			wantRoute.BoundaryAt = 5
		}
		if diff := cmp.Diff(wantRoute, got); diff != "" {
			t.Errorf("%s: route (-want +got)\n%s", reason, diff)
		}
		wantLeft := p
		wantLeft.EndReason, wantLeft.EndedAt, wantLeft.LeftAt, wantLeft.Epoch, wantLeft.Generation = reason, now, 5, p.Epoch+1, 8
		if diff := cmp.Diff(&wantLeft, left); diff != "" {
			t.Errorf("%s: who left (-want +got)\n%s", reason, diff)
		}
		wantCame := q
		wantCame.Key, wantCame.ActiveAt = dm, now
		if diff := cmp.Diff(&wantCame, came); diff != "" {
			t.Errorf("%s: who came (-want +got)\n%s", reason, diff)
		}
	}
	if p.Ended() || r.Version != 4 {
		t.Error("Switch changed what it was given")
	}
}

// Nobody follows: the place is empty, and the next message opens it.
func TestSwitchToNobodyAndOpen(t *testing.T) {
	p := person("ses_P")
	r, left, came := session.Switch(session.Route{Key: dm, Current: "ses_P", Version: 4}, &p, nil, session.UserExit, now)
	if came != nil || !left.Ended() || r.Current != "" || r.Version != 5 || r.BoundaryAt != 5 {
		t.Errorf("route %+v, left %+v, came %+v", r, left, came)
	}
	next, s := session.Open(r, *conversation(t, session.Session{ID: "ses_Q", Kind: session.Chat}), now)
	if next.Current != "ses_Q" || next.Version != 6 || next.BoundaryAt != 5 || s.Key != dm || s.Epoch != 0 {
		t.Errorf("route %+v, session %+v", next, s)
	}
	// An empty place has nobody to leave.
	r, left, came = session.Switch(r, nil, conversation(t, ended(p, session.Reset, 5)), session.Switched, now)
	if left != nil || came == nil || r.Current != "ses_P" || r.Version != 6 {
		t.Errorf("route %+v, left %+v, came %+v", r, left, came)
	}
}

// Who comes back is reopened, with a new epoch, and no longer counts as having left.
func TestSwitchReopens(t *testing.T) {
	back := ended(person("ses_P"), session.Reset, 2)
	back.Key = "elsewhere"
	q := person("ses_Q")
	_, _, came := session.Switch(session.Route{Key: dm, Current: "ses_Q", Version: 4}, &q, conversation(t, back), session.Switched, now.Add(time.Hour))
	want := back
	want.Key, want.EndReason, want.EndedAt, want.LeftAt, want.Epoch, want.ActiveAt = dm, "", time.Time{}, 0, back.Epoch+1, now.Add(time.Hour)
	if diff := cmp.Diff(&want, came); diff != "" {
		t.Errorf("who came (-want +got)\n%s", diff)
	}
}

// The first end stands.
func TestEndTwice(t *testing.T) {
	once := person("ses_P").End(session.Idle, now)
	if twice := once.End(session.Reset, now.Add(time.Hour)); twice != once {
		t.Errorf("got %+v, want %+v", twice, once)
	}
}
