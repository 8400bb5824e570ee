package machine

import (
	"fmt"
	"time"

	"github.com/homing-gateway/homing/internal/chat"
)

// Pause says that a person does not want an account served until somebody resumes it. It outlives a restart.
type Pause struct {
	Account chat.Account `json:"account"`
	By      string       `json:"by,omitempty"` // the person
	At      time.Time    `json:"at"`
}

// pausePlatform lets an account rest, or go on.
func (o *Overlay) pausePlatform(c Command, by string) string {
	a, state := c.Account, "resumed"
	text := fmt.Sprintf("%s is served again. What people wrote there meanwhile comes now, as far as the platform kept it.", a.Platform)
	change := Change{Table: Pauses, Key: a.String()}
	if !c.Pause && a.ID != "" { // it may have been paused before it was learned
		nameless := a
		nameless.ID = ""
		o.appended = append(o.appended, Change{Table: Pauses, Key: nameless.String()})
	}
	if c.Pause {
		state = "paused"
		text = fmt.Sprintf("%s is paused: nothing is received and nothing is sent there, also after a restart, until `/platform resume %s`. What is to be sent waits.", a.Platform, a.Platform)
		change.Value = Pause{Account: a, By: by, At: o.now}
	}
	o.appended = append(o.appended, change)
	o.note(Record{Kind: "account", ID: a.String(), State: state, Cause: by})
	o.emit(PauseAccount{Account: a, Pause: c.Pause})
	return text
}
