package chat

import (
	"encoding/json"
	"time"
)

// Event is one thing that a platform delivered. Exactly one of Message, Moved and Aside is set; none of them means that
// the event is known and of no interest, and only its cursor counts.
type Event struct {
	// ID is the platform's id of the event, unique within the account. It is the duplicate key: the same event delivered
	// again, also after a restart, changes nothing.
	ID string
	// Cursor is the position from which the platform is to go on once this event is stored, in the adapter's own form.
	// Empty where the platform has none.
	Cursor  string
	Message *Message
	Moved   *Moved
	Aside   *Aside
}

// Message is what a person said, in the form in which the core knows it.
type Message struct {
	Address    Address   // with Person
	PersonName string    // for the model's eyes in shared places; never decides anything
	ID         string    // the platform's message id, to be answered
	Text       string    // plain text; an address to us ("@bot") is stripped
	Addressed  bool      // to us: direct chat, mention, or reply to one of our messages
	FromBot    bool      // written by another bot
	SentAt     time.Time // the platform's time stamp
	// Files came with the message; the core fetches them once the event is durable. Album is the same for messages that
	// people see as one; empty: the message stands alone.
	Files []File
	Album string
	// Unsupported names parts of the message that are no files and could not be taken along ("location", "poll"), in the
	// platform's words.
	Unsupported []string
}

// Moved tells that the platform gave a chat a new id.
type Moved struct {
	Account  Account
	From, To string // chat ids
	ToType   PlaceType
}

// Aside is an event that the adapter could not decode. It is kept with its reason, and the next events go on.
type Aside struct {
	Raw    json.RawMessage
	Reason string
}

// Outbound is one message part on its way to a platform: one API call, one attempt.
type Outbound struct {
	To Address
	// Text is in the dialect that the adapter declared, or plain when Plain is set.
	Text    string
	Plain   bool
	ReplyTo string // message id that is answered, or empty; a message that is gone must not make the send fail
	Silent  bool   // without a sound where the platform knows that
	// Key is the same for every attempt at this part, so that a platform that can deduplicate does.
	Key string
	// Buttons stand under the text where the platform has them; the text makes sense without them.
	Buttons []Button
}

// Button is a command that a person need not type: pressing it is a Message whose text is the command.
type Button struct {
	Label   string `json:"label"`
	Command string `json:"command"` // with its slash, at most 64 bytes (Telegram's limit of callback_data)
}

// Receipt is what a platform says of a message that it took.
type Receipt struct {
	MessageID string // empty for a file where the platform posts it later (Slack)
}
