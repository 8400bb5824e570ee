package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/media"
	"github.com/homing-gateway/homing/internal/process"
	"github.com/homing-gateway/homing/internal/store"
)

// Profile is how one profile's agent runs.
type Profile struct {
	Name         string
	Provider     agent.Provider
	Model        string
	SystemPrompt string
	Workspace    string
	MediaDirs    []string // besides the workspace: folders that files may be sent from
	Policy       machine.Policy
	// ContextTokens is the size of the model's context. At 80 % of it a conversation is summed up; 0: never by itself.
	ContextTokens int

	Streaming    bool         // the answer can be watched while the model writes it
	ToolProgress ProgressMode // and the tools at work

	Steer              bool
	PromoteAfter       time.Duration
	OutputLimit        int64
	KillGrace          time.Duration
	Shell              string
	EnvPassthrough     []string
	SendTimeout        time.Duration
	CatchUp            time.Duration // how old a message may be that was missed while an account was down; 0: none is asked for
	PerPersonInGroups  bool
	PerPersonInThreads bool
}

// keying is how the profile's places are named.
func (p *Profile) keying() chat.Keying {
	return chat.Keying{PerPersonInGroups: p.PerPersonInGroups, PerPersonInThreads: p.PerPersonInThreads}
}

// Options is what a gateway is made of.
type Options struct {
	Store     *store.DB
	Processes *process.Runner
	Media     *media.Folder
	Profiles  []Profile
	Rehearsal agent.Provider // plays the subagents of self-tests; nil: there are no self-tests
	Accounts  []AccountOptions
	Environ   []string // of the daemon, from which commands get what is listed
	Version   string
	Log       *zap.Logger
	// Commit makes a batch durable; nil: the store does. Journal is told what was committed, by the writer's goroutine: it
	// must not block. Nil: nobody is.
	Commit  func([]machine.Change) error
	Journal func([]machine.Record)
}

// Gateway is the doing side of a daemon. Run it once.
type Gateway struct {
	o        Options
	log      *zap.Logger
	profiles map[string]*Profile
	all      []*account // in the order of Options, the console first; what New made of it stays
	joining  sync.Mutex
	accounts map[chat.Account]*account         // those that are known; guarded by joining
	early    map[chat.Account][]machine.Effect // for accounts that are not known yet; guarded by joining
	console  *Console
	machine  *machine.Machine
	effects  *effectQueue
	watchers sync.Map // *Watch: who follows the journal

	work     context.Context // what was begun; ends once the gateway has drained, or at the hard stop
	stopWork context.CancelFunc
	hard     context.Context // ends when the grace of a drain is over
	steps    stepTable
	previews previewTable
	procs    procTable
	fetches  fetchTable
	hand     inHand
	tasks    tasks

	intake   sync.RWMutex // held while something from outside is taken
	draining atomic.Bool
	ready    atomic.Bool
}

// New makes a gateway on a store. It reads what the store holds and starts nothing.
func New(o Options) (*Gateway, error) {
	g := &Gateway{
		o: o, log: o.Log.Named("gateway"), profiles: map[string]*Profile{}, accounts: map[chat.Account]*account{},
		early:   map[chat.Account][]machine.Effect{},
		effects: newEffectQueue(),
	}
	g.work, g.stopWork = context.WithCancel(context.Background())
	for i := range o.Profiles {
		g.profiles[o.Profiles[i].Name] = &o.Profiles[i]
	}
	state := machine.NewState(func(name string) machine.Policy {
		if p, ok := g.profiles[name]; ok {
			return p.Policy
		}
		return o.Profiles[0].Policy // a profile that is not served any more: its records still need rules
	}, id.NewSource(nil))
	if err := o.Store.Load(state); err != nil {
		return nil, err
	}
	g.console = newConsole(g)
	accounts := append([]AccountOptions{g.console.account()}, o.Accounts...)
	for _, a := range accounts {
		acc := newAccount(g, a, state.Position(a.account()))
		if g.all = append(g.all, acc); a.Adapter != nil {
			g.accounts[acc.info.Account] = acc
		}
	}
	g.accounts[g.console.info.Account].absent()
	paused, err := store.Each(o.Store, machine.Pauses, "", func(machine.Pause) bool { return true })
	if err != nil {
		return nil, err
	}
	for _, p := range paused {
		if a, ok := g.named(p.Account); ok {
			a.pause(true)
		}
	}
	commit := o.Commit
	if commit == nil {
		commit = o.Store.Commit
	}
	g.machine = machine.New(state, commit, g.committed, time.Now)
	return g, nil
}

// Run serves until ctx ends, then drains: intake stops, what is in hand comes to a durable point, answers that are ready
// go out. hard ends the grace. ready is called once everything outstanding is known: only then may anybody else submit
// requests or attach to the console. The error is that of a failed commit, or ErrHardStop when the grace was not enough.
func (g *Gateway) Run(ctx, hard context.Context, ready func()) error {
	defer g.stopWork()
	g.hard = hard
	writing, stopWriting := context.WithCancel(context.Background())
	defer stopWriting()

	written := make(chan error, 1)
	go func() { written <- g.machine.Run(writing) }()
	dispatched := make(chan struct{})
	go func() { defer close(dispatched); g.dispatch(writing) }()

	if _, err := g.machine.Submit(context.WithoutCancel(ctx), machine.Recover{}); err != nil {
		stopWriting()
		return errors.Join(fmt.Errorf("recover: %w", err), <-written)
	}
	g.ready.Store(true)
	ready()
	intake, stopIntake := context.WithCancel(ctx)
	defer stopIntake()
	var accounts sync.WaitGroup
	for _, a := range g.all {
		accounts.Go(func() { a.supervise(intake) })
	}
	accounts.Go(func() { g.watchSleep(intake) })

	var failed error
	writes := true
	select {
	case <-ctx.Done():
	case failed = <-written:
		writes = false
	}
	stopIntake()
	accounts.Wait()
	if failed == nil {
		failed = g.drain(hard)
	}
	g.stopWork()
	g.console.close()
	g.tasks.close()
	if _, err := g.machine.Submit(context.WithoutCancel(ctx), machine.Shutdown{}); err != nil && failed == nil && !errors.Is(err, machine.ErrStopped) {
		failed = err
	}
	stopWriting()
	<-dispatched
	if writes {
		failed = errors.Join(failed, <-written)
	}
	return failed
}

// Submit hands in what somebody from outside asks for and waits until it is durable. While the gateway drains nothing new
// is taken: what would follow from it could not be waited for any more.
func (g *Gateway) Submit(ctx context.Context, r machine.Request) (machine.Answer, error) {
	g.intake.RLock()
	defer g.intake.RUnlock()
	if g.draining.Load() {
		return machine.Answer{}, machine.ErrStopped
	}
	return g.machine.Submit(ctx, r)
}

// report hands in what came of an effect. A full disk is waited out: the report is the only witness of what happened. What
// is over by now is dropped.
func (g *Gateway) report(ctx context.Context, r machine.Request) {
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		_, err := g.machine.Submit(ctx, r)
		switch {
		case err == nil, errors.Is(err, machine.ErrStale), errors.Is(err, machine.ErrStopped), errors.Is(err, context.Canceled):
			return
		case g.work.Err() != nil:
			return // the next start finds out by itself
		case !errors.Is(err, machine.ErrNoSpace):
			g.log.Error("report refused", zap.String("request", fmt.Sprintf("%T", r)), zap.Error(err))
			return
		}
		g.log.Error("no space for the store", zap.Error(err))
		select {
		case <-time.After(wait):
		case <-g.work.Done():
		case <-ctx.Done():
			return
		}
	}
}

// Ready tells whether the gateway serves: the store is open and everything outstanding is known.
func (g *Gateway) Ready() bool { return g.ready.Load() && !g.draining.Load() }

// Console is where local chats connect.
func (g *Gateway) Console() *Console { return g.console }

// Store is the committed data.
func (g *Gateway) Store() *store.DB { return g.o.Store }

// Processes is where processes keep their output.
func (g *Gateway) Processes() *process.Runner { return g.o.Processes }

func (g *Gateway) profile(name string) *Profile {
	if p, ok := g.profiles[name]; ok {
		return p
	}
	return &g.o.Profiles[0]
}
