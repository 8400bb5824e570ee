package slack_test

import (
	"context"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/homing-gateway/homing/adapters/adaptertest"
	"github.com/homing-gateway/homing/adapters/adaptertest/fakeslack"
	"github.com/homing-gateway/homing/adapters/slack"
	"github.com/homing-gateway/homing/internal/chat"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	botToken = "xoxb-1234-SecretOfTheBot0123456789"
	appToken = "xapp-1-SecretOfTheApp0123456789"

	alice, bob = "U0ALICE", "U0BOB"
	beeper     = "U0BEEPER"
	direct     = "D0ALICE"
	general    = "C0GENERAL"
	random     = "C0RANDOM"

	mention = "<@" + fakeslack.BotUser + ">"
)

var (
	identity = slack.Identity{Team: fakeslack.Team, User: fakeslack.BotUser, Bot: fakeslack.Bot}
	account  = chat.Account{Profile: "default", Platform: slack.Name, ID: fakeslack.Team}
)

// workspace fills a fake.
func workspace() *fakeslack.Server {
	sl := fakeslack.New(botToken, appToken)
	sl.Person(alice, "Alice", direct)
	sl.Person(bob, "Bob", "D0BOB")
	sl.OtherBot(beeper, "B0BEEPER", "Beeper")
	sl.Channel(general, "general", "channel")
	sl.Channel(random, "random", "channel")
	return sl
}

// world is a Slack with people and an adapter that talks to it.
type world struct {
	*testing.T
	sl   *fakeslack.Server
	a    *slack.Adapter
	logs *observer.ObservedLogs
}

// start makes a world on the loopback interface.
func start(t *testing.T, change ...func(*slack.Options)) *world {
	t.Helper()
	sl := workspace()
	if err := sl.Listen(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sl.Close)
	return adapterFor(t, sl, slack.Options{APIURL: sl.URL()}, change...)
}

// startOn makes a world on another network, for the clock of a bubble.
func startOn(t *testing.T, l net.Listener, dial func(context.Context, string, string) (net.Conn, error), change ...func(*slack.Options)) *world {
	t.Helper()
	sl := workspace()
	sl.Serve(l)
	t.Cleanup(sl.Close)
	return adapterFor(t, sl, slack.Options{APIURL: "http://slack.test/api", Dial: dial}, change...)
}

func adapterFor(t *testing.T, sl *fakeslack.Server, o slack.Options, change ...func(*slack.Options)) *world {
	t.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	o.BotToken, o.AppToken, o.ReplyInThread, o.Log = botToken, appToken, true, zap.New(core)
	for _, f := range change {
		f(&o)
	}
	a, err := slack.New(o, identity)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return &world{T: t, sl: sl, a: a, logs: logs}
}

// run starts Run and waits until it is up.
func (w *world) run(refuse func(chat.Event) error) *adaptertest.Session {
	w.Helper()
	r := w.begin(refuse)
	r.Until(w.T, func() bool { return r.Ups > 0 })
	return r
}

// begin starts Run; Stop or End waits for it.
func (w *world) begin(refuse func(chat.Event) error) *adaptertest.Session {
	w.Helper()
	return (&adaptertest.Session{Refuse: refuse, Once: true}).Begin(w.T, w.a, "")
}

// optionsOf are options for another adapter at the same Slack, one that waits for nothing.
func optionsOf(w *world) slack.Options {
	return slack.Options{APIURL: w.sl.URL(), CallTimeout: 100 * time.Millisecond}
}
