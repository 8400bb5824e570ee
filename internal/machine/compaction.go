package machine

import (
	"slices"

	"github.com/homing-gateway/homing/internal/id"
)

// Estimate guesses how many tokens a text of so many bytes takes. Four bytes to a token is what English and code come to;
// other scripts take more.
func Estimate(bytes int) int { return (bytes + 3) / 4 }

// perEntry is what the frame of an entry adds to its texts, in bytes.
const perEntry = 16

// perFile is what the line about a file takes, in bytes.
const perFile = 160

// Tokens estimates what an entry takes in a request.
func (e Entry) Tokens() int {
	n := perEntry + len(e.Speaker) + len(e.Content) + perFile*len(e.Files)
	for _, c := range e.Calls {
		n += perEntry + len(c.Name) + len(c.Arguments)
	}
	return Estimate(n)
}

// TokensOf estimates what entries take in a request.
func TokensOf(entries []Entry) (n int) {
	for _, e := range entries {
		n += e.Tokens()
	}
	return n
}

// Counted returns what the whole request took that was answered last, as the provider counted, and what has come since,
// estimated. ok is false when no answer bears a count, or the conversation was cut or summed up after it.
func Counted(transcript []Entry) (tokens int, ok bool) {
	for _, e := range slices.Backward(transcript) {
		if e.Kind == EntryCut || e.Kind == EntrySummary {
			return 0, false
		}
		tokens += e.Tokens()
		if e.Request > 0 {
			return e.Request + tokens, true
		}
	}
	return 0, false
}

// Limits bound a compaction, in tokens.
type Limits struct {
	Tail  int // of what stays at the end; it is longer only where it cannot be cut
	Most  int // that one summary may be made from; 0: any number. What is older comes first, the rest another time
	Worth int // that are to be set aside, an earlier summary left out, or it is not done
}

// Compaction is what a summary is to be made from, and what stays.
type Compaction struct {
	Old   []Entry  // in force, up to the first entry that stays
	From  uint64   // that one
	Keep  []uint64 // of Old, what stays as well
	Aside int      // tokens that the summary stands for
	Count int      // entries, earlier summaries left out
	fresh int      // tokens of those
}

// PlanCompaction decides where the cut falls in what is in force of a transcript. The latest exchanges that fit into the
// tail stay as they are; of a last exchange that is too long for it, what people and notices said stays, and the latest
// steps, at least the last one. A notice that is open (its completion has not come to its end) stays wherever it stands. A
// call is never parted from its result. ok is false when that sets too little aside.
func PlanCompaction(force []Entry, open func(id.Completion) bool, l Limits) (c Compaction, ok bool) {
	end := cutAt(force, l.Tail)
	if end == 0 {
		return c, false
	}
	tooMuch := func(at int) bool { return l.Most > 0 && recordTokens(force[:at], l.Most) > l.Most }
	at := end
	for at > 0 && (!mayCut(force, at) || tooMuch(at)) {
		at--
	}
	for at = max(at, 1); at <= end; at++ {
		if !mayCut(force, at) {
			continue
		}
		if c = cutInto(force, at, open); c.fresh >= max(l.Worth, 1) {
			return c, true
		}
	}
	return c, false
}

// cutAt returns the index of the first entry that is to stay, 0 when all of them are.
func cutAt(force []Entry, tail int) int {
	rest := make([]int, len(force)+1) // tokens from there on
	for i, e := range slices.Backward(force) {
		rest[i] = rest[i+1] + e.Tokens()
	}
	if rest[0] <= tail {
		return 0
	}
	last, step := 0, 0 // the beginning of the last exchange, and of its last step
	for i, e := range force {
		if begins(force, i) {
			last, step = i, i
		}
		if e.Kind == EntryAssistant {
			step = i
		}
	}
	for i := 1; i <= last; i++ {
		if begins(force, i) && rest[i] <= tail {
			return i
		}
	}
	for i := last + 1; i <= step; i++ {
		if mayCut(force, i) && rest[i] <= tail {
			return i
		}
	}
	return step
}

// fromOutside tells whether an entry reaches the model as a message of the user's role.
func (e Entry) fromOutside() bool {
	return e.Kind == EntryUser || e.Kind == EntryNotice || e.Kind == EntrySummary
}

// begins tells whether an exchange begins at an entry: people or notices speak, and the turn is not the one in which the
// agent spoke last.
func begins(force []Entry, i int) bool {
	return force[i].fromOutside() && (i == 0 || !force[i-1].fromOutside() && force[i-1].Turn != force[i].Turn)
}

// mayCut tells whether what is before an entry can be parted from it.
func mayCut(force []Entry, i int) bool { return force[i].Kind != EntryTool }

// cutInto is the compaction that leaves what stands from an index on, and what was said right before it.
func cutInto(force []Entry, at int, open func(id.Completion) bool) Compaction {
	for at > 0 && !begins(force, at) && force[at-1].fromOutside() {
		at--
	}
	c := Compaction{Old: force[:at], From: force[at].Seq}
	exchange := at // where the one begins that is cut in two; at: none is
	for exchange > 0 && !begins(force, exchange) {
		exchange--
	}
	for i, e := range c.Old {
		switch {
		case e.Kind == EntrySummary:
			c.Aside += e.Tokens()
		case e.fromOutside() && (i >= exchange || e.Completion != "" && open(e.Completion)):
			c.Keep = append(c.Keep, e.Seq)
		default:
			c.Count++
			c.fresh += e.Tokens()
			c.Aside += e.Tokens()
		}
	}
	return c
}

// What one entry brings into the record that a summary is made from, in bytes: results are shortened to less.
const (
	maxRecorded = 16 << 10
	maxResult   = 4 << 10
)

// Recorded is how many bytes of a text of the entry go into the record for a summary that is made from so many tokens.
func (e Entry) Recorded(most int) int {
	limit := maxRecorded
	if e.Kind == EntryTool {
		limit = maxResult
	}
	if most > 0 {
		limit = min(limit, most) // a quarter of all
	}
	return limit
}

// recordTokens estimates the record that a summary is made from.
func recordTokens(old []Entry, most int) (n int) {
	for _, e := range old {
		limit := e.Recorded(most)
		n += Estimate(perEntry + min(len(e.Content), limit))
		for _, c := range e.Calls {
			n += Estimate(perEntry + len(c.Name) + min(len(c.Arguments), limit))
		}
	}
	return n
}
