package machine_test

import (
	"errors"
	"strings"
	"testing"

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
