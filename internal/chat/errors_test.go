package chat_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/homing-gateway/homing/internal/chat"
)

// An error without a verdict counts as unknown: the request may have arrived.
func TestAsSendError(t *testing.T) {
	cause := errors.New("boom")
	e := &chat.SendError{Fault: chat.Refused, Class: chat.ClassBlocked, Err: cause}
	if got := chat.AsSendError(fmt.Errorf("send: %w", e)); got != e || !errors.Is(got, cause) {
		t.Errorf("got %v", got)
	}
	if got := chat.AsSendError(cause); got.Fault != chat.Unknown || !errors.Is(got, cause) {
		t.Errorf("got %v", got)
	}
	if got, want := e.Error(), "refused (blocked): boom"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := (&chat.SendError{Fault: chat.Unreachable, Err: cause}).Error(), "unreachable: boom"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPlaceTypeValid(t *testing.T) {
	for _, p := range []chat.PlaceType{chat.Direct, chat.Group, chat.Channel, chat.Thread} {
		if !p.Valid() {
			t.Errorf("%s is none", p)
		}
	}
	if chat.PlaceType("").Valid() || chat.PlaceType("party").Valid() {
		t.Error("anything is a place")
	}
}
