package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.uber.org/zap"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
	"github.com/homing-gateway/homing/internal/store"
	"github.com/homing-gateway/homing/internal/tool"
)

// maxSummaries bounds how many summaries are made in a row: one does where the whole of what is old fits into one request.
const maxSummaries = 8

// talk is a conversation as it stands in the store, and the request that would be sent for its next step.
type talk struct {
	profile *Profile
	// provider answers it, or nil: a self-test's subagent is played by the rehearsal, which need not be there.
	provider agent.Provider
	session  session.Session
	lane     machine.Lane
	entries  uint64 // of the transcript
	force    []machine.Entry
	request  agent.Request
	tokens   int // that the request takes
}

// read reads a conversation.
func (g *Gateway) read(sid id.Session) (talk, error) {
	s, ok, err := store.Get[session.Session](g.o.Store, machine.Sessions, string(sid))
	if err != nil || !ok {
		return talk{}, errors.Join(err, fmt.Errorf("session %s is not there", sid))
	}
	lane, _, err := store.Get[machine.Lane](g.o.Store, machine.Lanes, string(sid))
	if err != nil {
		return talk{}, err
	}
	entries, err := g.o.Store.Entries(sid, 1)
	if err != nil {
		return talk{}, err
	}
	p := g.profile(s.Profile)
	provider, model := p.Provider, p.Model
	if s.Rehearsal {
		provider, model = g.o.Rehearsal, ""
	}
	t := talk{profile: p, provider: provider, session: s, lane: lane, entries: uint64(len(entries)), force: machine.InForce(entries)}
	t.request = agent.Request{
		Model: model, System: systemPrompt(p, s), Messages: messages(t.force, g.o.Media.Dir(), g.images(t.force)),
		Tools: tool.Offer(s.Depth, p.Policy.MaxSpawnDepth), Session: string(sid),
	}
	if t.tokens, ok = machine.Counted(entries); !ok {
		t.tokens = machine.TokensOf(t.force) + frame(t.request)
	}
	return t, nil
}

// frame estimates what a request takes beside its messages.
func frame(r agent.Request) int {
	n := len(r.System)
	for _, m := range r.Messages {
		n += 4 * imageTokens * len(m.Images)
	}
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return machine.Estimate(n)
}

// due tells whether the conversation is to be summed up by itself: at 80 % of agent.context_tokens.
func (t talk) due() bool {
	return t.profile.ContextTokens > 0 && t.tokens >= t.profile.ContextTokens*4/5
}

// fits tells whether the request is within agent.context_tokens.
func (t talk) fits() bool { return t.profile.ContextTokens == 0 || t.tokens < t.profile.ContextTokens }

// minAside is the least that a person's /compact sets aside, in tokens.
const minAside = 200

// byItself are the limits of a compaction that nobody asked for. They are in our estimate of tokens: where the provider
// counts more than that, they shrink.
func (t talk) byItself() machine.Limits {
	c := t.scaled(t.profile.ContextTokens)
	return machine.Limits{Tail: c / 5, Most: c * 3 / 4, Worth: c / 10}
}

// wished are the limits of a compaction that a person asks for: the latest quarter stays.
func (t talk) wished() machine.Limits {
	size := machine.TokensOf(t.force)
	l := machine.Limits{Tail: size / 4, Worth: minAside}
	if c := t.scaled(t.profile.ContextTokens); c > 0 {
		l.Tail, l.Most = min(l.Tail, c/5), c*3/4
	}
	return l
}

// tooLong are the limits when the model has refused the length of the request, whatever agent.context_tokens says: a summary
// of half of it may be taken.
func (t talk) tooLong() machine.Limits {
	size := machine.TokensOf(t.force)
	return machine.Limits{Tail: size / 4, Most: max(size/2, minAside), Worth: minAside}
}

// scaled is a number of the provider's tokens in our estimate, where that falls short.
func (t talk) scaled(tokens int) int {
	if e := machine.TokensOf(t.force) + frame(t.request); e < t.tokens {
		return int(int64(tokens) * int64(e) / int64(t.tokens))
	}
	return tokens
}

// plan decides what is to be summed up. What a notice tells that is not dealt with stays.
func (g *Gateway) plan(t talk, l machine.Limits) (machine.Compaction, bool) {
	return machine.PlanCompaction(t.force, func(cid id.Completion) bool {
		c, ok, err := store.Get[delivery.Completion](g.o.Store, machine.Completions, string(cid))
		return err != nil || ok && c.State != delivery.Done
	}, l)
}

// errUseless is a summary that is no gain; errNothing says that there is nothing to make one from.
var (
	errUseless = errors.New("the model did not sum up")
	errNothing = errors.New("nothing can be set aside")
)

// sumUp sums the conversation up within the limits. A model that finds the record itself too long gets less of it, once.
// The error is errNothing, or as summarize's.
func (g *Gateway) sumUp(ctx context.Context, t talk, l machine.Limits) error {
	err := errNothing
	less := t.tooLong()
	if l.Most > 0 {
		less.Most = min(less.Most, l.Most/2)
	}
	for _, l := range []machine.Limits{l, less} {
		c, ok := g.plan(t, l)
		if !ok {
			return err
		}
		if err = g.summarize(ctx, t, c, l.Most); err == nil || agent.AsProviderError(err).Failure != agent.TooLong {
			return err
		}
	}
	return err
}

// summarize asks the model for a summary and puts it in the place of what it was made from. The error is ctx's, one that
// wraps machine.ErrStale when the conversation has moved meanwhile, or a *agent.ProviderError.
func (g *Gateway) summarize(ctx context.Context, t talk, c machine.Compaction, most int) error {
	log := g.log.With(zap.String("session", string(t.session.ID)), zap.String("turn", string(t.lane.Turn)))
	response, err := t.provider.Complete(ctx, summaryRequest(t, c.Old, g.o.Media.Dir(), most), nil)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return agent.AsProviderError(err)
	}
	before := machine.TokensOf(t.force)
	text := strings.TrimSpace(response.Text)
	after := before - c.Aside + machine.Entry{Content: text}.Tokens()
	switch {
	case text == "":
		err = fmt.Errorf("%w: its summary is empty", errUseless)
	case response.Truncated:
		err = fmt.Errorf("%w: its summary was cut at its limit of tokens", errUseless)
	case after >= before:
		err = fmt.Errorf("%w: its summary is not shorter than what it stands for", errUseless)
	}
	if err != nil {
		return &agent.ProviderError{Failure: agent.Unavailable, Err: err}
	}
	_, err = g.machine.Submit(g.work, machine.Compacted{
		Session: t.session.ID, Generation: t.session.Generation, Turn: t.lane.Turn, Entries: t.entries,
		From: c.From, Keep: c.Keep, Text: text, Count: c.Count, Before: before, After: after,
	})
	switch {
	case err == nil:
		log.Info("conversation summed up", zap.Int("entries", c.Count), zap.Int("tokens_before", before), zap.Int("tokens_after", after))
		return nil
	case errors.Is(err, machine.ErrStale), g.work.Err() != nil:
		return err
	}
	return &agent.ProviderError{Failure: agent.Unavailable, Err: fmt.Errorf("its summary could not be kept: %w", err)}
}

// fit returns the conversation of a turn as its next step is to be asked, summed up before if that is due or a person waits
// for it. When the model fails at that, the turn goes on with what it has as long as it fits; else the failure is the step's.
// The error is ctx's or a *agent.ProviderError.
func (g *Gateway) fit(ctx context.Context, sid id.Session) (talk, error) {
	for n := 0; ; n++ {
		t, err := g.read(sid)
		if err != nil {
			g.log.Error("transcript not read", zap.String("session", string(sid)), zap.Error(err))
			return t, &agent.ProviderError{Failure: agent.Unavailable, Err: errors.New("the transcript could not be read")}
		}
		wish := t.lane.Compact != nil
		if n >= maxSummaries || !wish && (!t.due() || g.steps.unsummed(t.lane.Turn)) {
			return t, nil
		}
		limits := t.byItself()
		if wish {
			limits = t.wished()
		}
		err = g.sumUp(ctx, t, limits)
		switch {
		case err == nil:
			continue
		case errors.Is(err, errNothing):
			if wish {
				g.unfulfilled(t.session, t.lane.Turn, t.tooShort())
			}
			return t, nil
		case ctx.Err() != nil:
			return t, ctx.Err()
		case errors.Is(err, machine.ErrStale):
			return t, nil // so is the step, then
		}
		g.log.Warn("conversation not summed up", zap.String("session", string(sid)), zap.Error(err))
		if wish {
			g.unfulfilled(t.session, t.lane.Turn, notSummedUp(err))
		}
		if t.fits() || errors.Is(err, errUseless) { // a model that sums up badly may still answer; waiting mends nothing
			g.steps.leaveUnsummed(t.lane.Turn)
			return t, nil
		}
		return t, err
	}
}

// shorten sums up once a conversation that the model refuses as too long. The error is as fit's: that of the refusal when
// nothing can be set aside.
func (g *Gateway) shorten(ctx context.Context, t talk, refusal error) (talk, error) {
	err := g.sumUp(ctx, t, t.tooLong())
	switch failure := agent.AsProviderError(err); {
	case err == nil:
		return g.read(t.session.ID)
	case ctx.Err() != nil:
		return t, ctx.Err()
	case errors.Is(err, errNothing):
		return t, refusal
	case !errors.Is(err, errUseless) && (failure.Failure == agent.Unavailable || failure.Failure == agent.RateLimited):
		return t, failure // the step waits, and all of this is tried again
	}
	g.log.Warn("conversation not summed up", zap.String("session", string(t.session.ID)), zap.Error(err))
	return t, refusal
}

// compactAtRest sums up a conversation in which no turn runs, for the person who waits for it. What moved it meanwhile (a
// /undo) makes it begin anew; a turn that began stops it and does it at its first step.
func (g *Gateway) compactAtRest(ctx context.Context, e machine.Compact) {
	for range maxSummaries {
		t, err := g.read(e.Session.ID)
		if err != nil {
			g.log.Error("transcript not read", zap.String("session", string(e.Session.ID)), zap.Error(err))
			g.unfulfilled(e.Session, "", notSummedUp(errors.New("it could not be read")))
			return
		}
		if t.lane.Compact == nil || t.lane.Turn != "" || t.session.Ended() || g.draining.Load() {
			return
		}
		err = g.sumUp(ctx, t, t.wished())
		switch {
		case err == nil, ctx.Err() != nil:
			return
		case errors.Is(err, errNothing):
			g.unfulfilled(t.session, "", t.tooShort())
		case !errors.Is(err, machine.ErrStale):
			g.log.Warn("conversation not summed up", zap.String("session", string(e.Session.ID)), zap.Error(err))
			g.unfulfilled(t.session, "", notSummedUp(err))
		}
	}
	if t, err := g.read(e.Session.ID); err == nil { // somebody who waits is not left waiting
		g.unfulfilled(t.session, "", notSummedUp(errors.New("it changed while the model was at it, each time")))
	}
}

// unfulfilled tells the person who waits for a summary that nothing came of it; turn is the one that runs, or none.
func (g *Gateway) unfulfilled(s session.Session, turn id.Turn, why string) {
	g.report(g.work, machine.Compacted{Session: s.ID, Generation: s.Generation, Turn: turn, Failed: why})
}

func (t talk) tooShort() string {
	return fmt.Sprintf("There is nothing to sum up yet: the conversation takes about %d tokens, and what was said last stays as it is.", machine.TokensOf(t.force))
}

func notSummedUp(err error) string {
	if e := agent.AsProviderError(err); e.Err != nil {
		err = e.Err
	}
	return fmt.Sprintf("The conversation could not be summed up (%v). Nothing has changed; /compact tries it again.", err)
}

// compactCommand decides on /compact: where no turn runs and nothing can be summed up, that is the answer.
func (g *Gateway) compactCommand(key chat.Key) (*machine.Command, string) {
	r, _, err := store.Get[session.Route](g.o.Store, machine.Routes, string(key))
	if err == nil && r.Current != "" {
		t, err := g.read(r.Current)
		if err == nil && t.lane.Turn == "" && t.lane.Compact == nil && t.entries > 0 {
			if _, ok := g.plan(t, t.wished()); !ok {
				return nil, t.tooShort()
			}
		}
	}
	return &machine.Command{Name: machine.CommandCompact}, ""
}
