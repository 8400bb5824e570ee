package adaptertest

import (
	"time"

	"go.uber.org/zap"

	"github.com/homing-gateway/homing/internal/chat"
)

// Platform is a fake platform with one bot, three places and the people in them, as the suite needs it. It is made inside
// a bubble, on the Network that Run gives; whatever it starts ends with its test (t.Cleanup) or when that network is closed.
type Platform interface {
	// Traits says what the suite has to know beforehand. It is constant.
	Traits() Traits
	// Adapter makes an adapter of the account, as each start of the daemon does. It logs to log.
	Adapter(log *zap.Logger) chat.Adapter
	// At is the address of a place, without a person.
	At(Place) chat.Address
	// Who is the id of a person in an address.
	Who(Person) string
	// Say lets somebody write, tells the bot of it, and gives the id of the message.
	Say(Post) (messageID string)
	// Alter lets the author of a message change its text, and tells the bot of it.
	Alter(at Place, messageID, text string)
	// Press lets Alice press the button with that label under a message of the bot.
	Press(at Place, messageID, label string)
	// Again delivers the last event once more, as after an acknowledgement that was lost.
	Again()
	// Strange delivers events that the adapter cannot know: of a kind that is new, and of a known kind in a form that is not.
	Strange()
	// Owed is how many events wait for the bot's acknowledgement, delivered or not.
	Owed() int
	// Seen gives the messages of the bot that people see in a place, the oldest first.
	Seen(Place) []Seen
	// Sends is how many calls arrived so far that were to make a message, whatever came of them.
	Sends() int
	// Strike lets trouble begin; it lasts until Heal.
	Strike(Trouble)
	// Heal ends all trouble. What is gone stays gone.
	Heal()
}

// Traits are the facts of a platform that the suite cannot find out by itself.
type Traits struct {
	Name      string        // as the table's head has it: "Telegram"; empty: no column
	Mention   string        // how a text names the bot
	BadMarkup string        // a text in the adapter's dialect that the platform refuses
	Literal   string        // a text full of the platform's markup, which has to arrive to the letter when it is sent as plain
	Notices   time.Duration // the bound within which a connection that is dead but open is noticed
	Secrets   []string      // what no error and no log may hold
	// Lacks gives, by the name of a behaviour, the reason why the platform has none of it.
	Lacks map[string]string
}

// Place is one of the places of every fake.
type Place string

// The places.
const (
	Direct Place = "direct" // Alice and the bot
	Shared Place = "shared" // a group or channel, with Alice, Bob and another bot
	Thread Place = "thread" // a thread or topic in Shared or in another shared chat
)

// Person is somebody in the places.
type Person string

// The people.
const (
	Alice    Person = "alice"
	Bob      Person = "bob"
	OtherBot Person = "other bot"
	Ourself  Person = "ourself" // what our own bot wrote, told to us as some platforms do
)

// Post is what somebody writes.
type Post struct {
	At      Place
	From    Person
	Text    string
	ReplyTo string // id of the message that it answers, or empty
	File    *PostFile
	Album   string // the same for files that are sent as one, or empty
}

// PostFile is a file that somebody sends.
type PostFile struct {
	Kind chat.FileKind
	Name string
	MIME string
	Data []byte
	Size int64 // as the platform tells it; 0: what Data has
}

// Seen is a message of the bot as people see it.
type Seen struct {
	ID      string
	Text    string // as it is read, without markup
	ReplyTo string
	Buttons []string // labels
	File    *SeenFile
}

// SeenFile is a file in a message of the bot.
type SeenFile struct {
	Name  string
	Data  []byte // of an image that is shown as one: whatever the platform makes of it
	Image bool   // shown as an image
}

// Trouble is what may befall an account.
type Trouble string

// The troubles. Those of a send strike the calls that make or change a message.
const (
	Busy        Trouble = "busy"          // every send is refused with the request to wait for Wait
	Broken      Trouble = "broken"        // every send fails with a status of 500 or more
	Silent      Trouble = "silent"        // a send takes effect and is never answered
	CutAfter    Trouble = "cut after"     // a send takes effect, and then its connection is cut without an answer
	CutBefore   Trouble = "cut before"    // a send arrives, has no effect, and its connection is cut without an answer
	CutFile     Trouble = "cut file"      // a file that is fetched breaks off in its middle
	ChatGone    Trouble = "chat gone"     // Shared does not exist for us any more
	ThreadGone  Trouble = "thread gone"   // Thread does not exist any more
	Blocked     Trouble = "blocked"       // Alice wants no messages from us: Direct
	Revoked     Trouble = "revoked"       // our credential is valid no longer, for calls and for what receives
	Forgotten   Trouble = "forgotten"     // the platform forgets the session or the numbering of the connection that receives
	AskedToMove Trouble = "asked to move" // the platform asks for another connection in place of this one
)

// Wait is how long Busy asks to wait.
const Wait = 17 * time.Second
