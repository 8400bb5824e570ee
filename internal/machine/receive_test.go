package machine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/homing-gateway/homing/internal/machine"
)

// Names that come from outside are no keys without end: an event with a long one is taken, once, and a place with one is
// refused without harm to anybody else.
func TestLongNamesFromOutside(t *testing.T) {
	u := newUnit(t)
	r := message("hello")
	r.Event = strings.Repeat("e", 60_000)
	for i, again := range []bool{false, true} {
		if got, _ := u.do(r); got.Duplicate != again {
			t.Errorf("time %d: duplicate is %v", i+1, got.Duplicate)
		}
	}
	r.Event += "x"
	if got, _ := u.do(r); got.Duplicate {
		t.Error("another event counts as the same")
	}
	o := u.st.Overlay()
	far := *r.Message
	far.Address.Chat = strings.Repeat("c", 60_000)
	r.Event, r.Message = "another", &far
	if _, err := o.Apply(u.at, r); err == nil {
		t.Error("a place with a name of 60,000 bytes is taken")
	} else if _, refused := errors.AsType[*machine.Refusal](err); !refused {
		t.Errorf("it ends in %v", err)
	}
	if o.Changes() != nil {
		t.Error("what was refused changes something")
	}
}

// How far an account's events are known only grows, and is kept beside the cursor.
func TestWhatIsKnownGrows(t *testing.T) {
	u := newUnit(t)
	at := u.at.UTC()
	for i, c := range []struct {
		cursor string
		known  time.Duration
		want   machine.Position
	}{
		{"", time.Minute, machine.Position{Known: at.Add(time.Minute)}},
		{"c1", 0, machine.Position{Cursor: "c1", Known: at.Add(time.Minute)}},
		{"", time.Second, machine.Position{Cursor: "c1", Known: at.Add(time.Minute)}},
		{"c2", time.Hour, machine.Position{Cursor: "c2", Known: at.Add(time.Hour)}},
	} {
		r := message("hello")
		r.Event, r.Message, r.Cursor = fmt.Sprint(i), nil, c.cursor
		if c.known != 0 {
			r.Known = at.Add(c.known)
		}
		u.do(r)
		if got := u.st.Position(r.Account); got.Cursor != c.want.Cursor || !got.Known.Equal(c.want.Known) {
			t.Errorf("%d: %+v, want %+v", i, got, c.want)
		}
	}
}
