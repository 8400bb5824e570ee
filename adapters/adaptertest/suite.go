package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/homing-gateway/homing/internal/chat"
)

// behaviour is one row of the table.
type behaviour struct {
	name string // a sentence; the key of Traits.Lacks
	look func(w *world)
}

// behaviours is the table.
func behaviours() []behaviour {
	var all []behaviour
	for _, part := range [][]behaviour{inbound(), outbound(), offered(), files(), connection()} {
		all = append(all, part...)
	}
	return all
}

// Run looks at every behaviour on a platform of its own, which platform makes on the network that it is given, inside a
// bubble. Afterwards it compares what was seen with the platform's column in testdata, or writes that column anew where
// the environment has ADAPTERTEST_UPDATE.
func Run(t *testing.T, platform func(t *testing.T, n *Network) Platform) {
	t.Helper()
	var traits Traits
	synctest.Test(t, func(t *testing.T) {
		n := NewNetwork()
		defer n.Close()
		traits = platform(t, n).Traits()
	})
	table := behaviours()
	lacks := traits.lacks(t, table)
	seen := map[string]string{}
	for _, b := range table {
		t.Run(strings.ReplaceAll(b.name, "/", " "), func(t *testing.T) {
			if why := lacks[b.name]; why != "" {
				seen[b.name] = "– " + why
				t.Skip(why)
			}
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, platform)
				defer w.end()
				b.look(w)
				if !t.Failed() {
					seen[b.name] = strings.TrimSpace("✓ " + w.fact)
				}
			})
		})
	}
	if traits.Name != "" && !t.Failed() && len(seen) == len(table) {
		compare(t, traits.Name, table, seen)
	}
}

// lacks gives the reasons by behaviour, and fails for what is no excuse.
func (f Traits) lacks(t *testing.T, table []behaviour) map[string]string {
	for name, why := range f.Lacks {
		if wrong := excuse(table, name, why); wrong != "" {
			t.Errorf("Traits.Lacks: %q, because %q: %s", name, why, wrong)
		}
	}
	return f.Lacks
}

// excuse says why a reason to lack a behaviour does not count; nothing where it does.
func excuse(table []behaviour, name, why string) string {
	switch {
	case !slices.ContainsFunc(table, func(b behaviour) bool { return b.name == name }):
		return "there is no such behaviour"
	case why == "":
		return "say why the platform has none of it"
	case slices.Contains([]string{
		"the order of a chat is kept", "Run ends with its context", "Run leaves no goroutine", "two accounts live side by side",
		"no secret is in an error or a log",
	}, name):
		return "that is the adapter's own, and no platform stands in its way"
	}
	return ""
}

// world is one platform, and what was heard of its adapters.
type world struct {
	*testing.T
	Platform
	another func(*Network) Platform // makes one on another network
	net     *Network
	a       chat.Adapter
	logs    *observer.ObservedLogs
	fact    string // what the table shows besides that the behaviour holds
	cores   []*core
	others  []chat.Adapter
	keys    int

	mu    sync.Mutex
	words []string // all that errors said, with where
}

func newWorld(t *testing.T, platform func(*testing.T, *Network) Platform) *world {
	// A bubble begins in the year 2000, before some platforms did.
	time.Sleep(time.Until(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)))
	w := &world{T: t, net: NewNetwork()}
	w.another = func(n *Network) Platform { return platform(t, n) }
	w.Platform = w.another(w.net)
	core, logs := observer.New(zapcore.DebugLevel)
	w.logs = logs
	w.a = w.Adapter(zap.New(core))
	return w
}

// anew is another adapter of the account, as after a restart of the daemon.
func (w *world) anew() chat.Adapter {
	core, logs := observer.New(zapcore.DebugLevel)
	a := w.Adapter(zap.New(core))
	w.others = append(w.others, a)
	w.Cleanup(func() { w.silent(logs) })
	return a
}

// end stops all that was started. The bubble finds out whether anything lives on.
func (w *world) end() {
	for _, c := range w.cores {
		c.stop()
	}
	for _, a := range append(w.others, w.a) {
		w.heard("adapter", fmt.Errorf("%v %+v %#v %#v", a, a, a, a.Describe()))
		if c, ok := a.(interface{ Close() }); ok {
			c.Close()
		}
	}
	w.net.Close()
	synctest.Wait()
	w.silent(w.logs)
}

// silent fails if a secret was told, in a log or in what was heard.
func (w *world) silent(logs *observer.ObservedLogs) {
	w.mu.Lock()
	said := append([]string(nil), w.words...)
	w.mu.Unlock()
	for _, l := range logs.All() {
		said = append(said, "log: "+l.Message)
		for k, v := range l.ContextMap() {
			said = append(said, fmt.Sprintf("log field %s: %v %+v %#v", k, v, v, v))
		}
	}
	for _, s := range said {
		for _, secret := range w.Traits().Secrets {
			if strings.Contains(s, secret) {
				where, _, _ := strings.Cut(s, ":")
				w.Errorf("a secret is in what this says: %s", where)
			}
		}
	}
}

// heard keeps what an error says, in every form and layer.
func (w *world) heard(where string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for ; err != nil; err = errors.Unwrap(err) {
		w.words = append(w.words, fmt.Sprintf("%s: %v %+v %#v %q", where, err, err, err, err))
	}
}

// until waits until ok holds, for at most an hour of the bubble's clock.
func (w *world) until(what string, ok func() bool) time.Duration {
	w.Helper()
	began := time.Now()
	for !ok() {
		if time.Since(began) > time.Hour {
			w.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return time.Since(began)
}

// say lets somebody write.
func (w *world) say(at Place, from Person, text string) string {
	return w.Say(Post{At: at, From: from, Text: text})
}

// out is a part that goes to a place, as it is.
func (w *world) out(at Place, text string) chat.Outbound {
	w.keys++
	return chat.Outbound{To: w.At(at), Text: text, Plain: true, Key: fmt.Sprintf("out_01K%023d.aa", w.keys)}
}

// send makes one attempt with the patience of the core.
func (w *world) send(out chat.Outbound) (chat.Receipt, *chat.SendError) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := w.a.Send(ctx, out)
	return r, w.judged(err)
}

// patience is how long the core waits for the answer to a send.
const patience = 30 * time.Second

// judged gives err as what it has to be.
func (w *world) judged(err error) *chat.SendError {
	w.Helper()
	if err == nil {
		return nil
	}
	w.heard("Send", err)
	e, ok := errors.AsType[*chat.SendError](err)
	if !ok {
		w.Fatalf("%T %v, want a SendError", err, err)
	}
	return e
}

// sent makes one attempt that has to succeed.
func (w *world) sent(out chat.Outbound) chat.Receipt {
	w.Helper()
	r, err := w.send(out)
	if err != nil {
		w.Fatalf("send %.40q: %v", out.Text, err)
	}
	if r.MessageID == "" {
		w.Fatalf("send %.40q: a receipt without a message id", out.Text)
	}
	return r
}

// want fails unless e is that fault.
func (w *world) want(e *chat.SendError, fault chat.Fault, class chat.Class) {
	w.Helper()
	if e == nil || e.Fault != fault || e.Class != class {
		w.Errorf("%v, want %s %s", e, fault, class)
	}
}

// lacking is for a behaviour that rests on an optional interface.
func (w *world) lacking(what string) {
	w.Helper()
	w.Fatalf("the adapter is no %s: offer it, or say in Traits.Lacks why the platform has none", what)
}
