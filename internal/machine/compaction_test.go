package machine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/homing-gateway/homing/internal/agent"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
)

// conversation is a transcript in short: a word for each entry, its first letter the kind (u user, a answer, c call, t result,
// n notice, o open notice, s summary, x cut), a number behind it the turn. Each takes 100 tokens.
func conversation(words string) (out []machine.Entry) {
	kinds := map[byte]machine.EntryKind{
		'u': machine.EntryUser, 'a': machine.EntryAssistant, 'c': machine.EntryAssistant, 't': machine.EntryTool, 'n': machine.EntryNotice,
		'o': machine.EntryNotice, 's': machine.EntrySummary, 'x': machine.EntryCut,
	}
	for i, w := range strings.Fields(words) {
		e := machine.Entry{Seq: uint64(i + 1), Kind: kinds[w[0]], Turn: id.Turn("trn_" + w[1:]), Content: strings.Repeat("x", 400-16)}
		switch w[0] {
		case 'n':
			e.Completion = "cmp_done"
		case 'o':
			e.Completion = "cmp_open"
		case 'c':
			e.Calls, e.Content = []agent.Call{{ID: fmt.Sprint("c", i)}}, strings.Repeat("x", 400-32)
		case 't':
			e.CallID = fmt.Sprint("c", i-1)
		}
		out = append(out, e)
	}
	return out
}

func isOpen(c id.Completion) bool { return c == "cmp_open" }

// Where the cut falls.
func TestPlanCompaction(t *testing.T) {
	for _, tt := range []struct {
		name, force string
		limits      machine.Limits
		want        string // the first that stays, and what stays before it
	}{
		{"as many exchanges as fit", "u1 a1 u2 a2 u3 a3 u4", machine.Limits{Tail: 350}, "5 []"},
		{"all of them fit", "u1 a1 u2", machine.Limits{Tail: 300}, "no"},
		{"the last one is too long: its text stays, and its latest steps", "u1 a1 u2 c2 t2 c2 t2 c2 t2", machine.Limits{Tail: 400}, "6 [3]"},
		{"never between a call and its result", "u1 a1 u2 c2 t2 c2 t2 c2 t2", machine.Limits{Tail: 300}, "8 [3]"},
		{"the last step stays, however long", "u1 a1 u2 c2 t2 t2 t2 t2", machine.Limits{Tail: 10}, "3 []"},
		{"a turn that has not begun stays", "u1 a1 u2 n2", machine.Limits{Tail: 10}, "3 []"},
		{"a subagent: its brief stays", "u1 c1 t1 c1 t1 c1 t1", machine.Limits{Tail: 450}, "4 [1]"},
		{"a text that joined a turn is no new exchange", "u1 a1 u2 c2 t2 u2 c2 t2", machine.Limits{Tail: 300}, "6 [3]"},
		{"an open notice stays", "u1 a1 n2 a2 o3 a3 u4 a4", machine.Limits{Tail: 200}, "7 [5]"},
		{"a text that is asked again, and its steps", "u1 a1 u2 c5 t5 c5 t5", machine.Limits{Tail: 200}, "6 [3]"},
		{"what an earlier summary left stays as long as it fits", "u3 s3 c3 t3 c3 t3 u4 a4", machine.Limits{Tail: 200}, "7 []"},
		{"a summary, and a brief that is kept", "u1 s1 c1 t1 c1 t1", machine.Limits{Tail: 200}, "5 [1]"},
		{"not worth it", "u1 a1 u2 a2", machine.Limits{Tail: 200, Worth: 201}, "no"},
		{"an earlier summary is no gain", "s1 u1 a1 u2 a2", machine.Limits{Tail: 200, Worth: 201}, "no"},
		{"just worth it", "u1 a1 u2 a2", machine.Limits{Tail: 200, Worth: 200}, "3 []"},
		{"more than one request takes: the oldest first", "u1 a1 u2 a2 u3 a3 u4 a4", machine.Limits{Tail: 200, Most: 450}, "5 []"},
		{"in the middle of an exchange, if need be", "u1 a1 u2 c2 t2 c2 t2 a2 u3 a3", machine.Limits{Tail: 200, Most: 550}, "6 [3]"},
		{"no less than it is worth", "u1 c1 t1 t1 t1 a1 u2", machine.Limits{Tail: 100, Most: 100, Worth: 100}, "6 [1]"},
		{"nothing", "", machine.Limits{}, "no"},
		{"one entry", "u1", machine.Limits{}, "no"},
	} {
		force := conversation(tt.force)
		c, ok := machine.PlanCompaction(force, isOpen, tt.limits)
		got := "no"
		if ok {
			got = fmt.Sprint(c.From, c.Keep)
			aside := 0
			for _, e := range force {
				if e.Seq < c.From && !slices.Contains(c.Keep, e.Seq) {
					aside += e.Tokens()
				}
			}
			if c.Aside != aside {
				t.Errorf("%s: %d tokens are set aside, want %d", tt.name, c.Aside, aside)
			}
		}
		if got != strings.Replace(tt.want, " []", "[]", 1) && got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// What is in force with summaries: one stands for what came before its tail, before which it comes; a later one stands for
// it as well; a cut that takes back what it tells of lifts it.
func TestInForceWithSummaries(t *testing.T) {
	type set struct {
		from  uint64
		keep  []uint64
		texts bool
	}
	for _, tt := range []struct {
		name, transcript string
		sets             []set // of its summaries and cuts, in order
		want             []uint64
	}{
		{"a summary", "u1 a1 u2 a2 s2 u3", []set{{from: 3}}, []uint64{5, 3, 4, 6}},
		{"what is kept comes before it", "o1 a1 u2 a2 s2", []set{{from: 3, keep: []uint64{1}}}, []uint64{1, 5, 3, 4}},
		{"a second one stands for the first", "u1 a1 u2 a2 s2 u3 a3 s3", []set{{from: 3}, {from: 6}}, []uint64{8, 6, 7}},
		{"whatever stays of its tail", "u1 a1 u2 a2 s2 u3 a3 s3", []set{{from: 3}, {from: 4, keep: []uint64{3}}}, []uint64{3, 8, 4, 6, 7}},
		{"undo of an exchange that stands", "u1 a1 u2 a2 s2 x2", []set{{from: 3}, {from: 3, texts: true}}, []uint64{5}},
		{"retry of it", "u1 a1 u2 a2 s2 x2", []set{{from: 3}, {from: 3}}, []uint64{5, 3}},
		{"undo of one that was summed up", "u1 a1 u2 a2 u3 a3 s3 x3", []set{{from: 5}, {from: 3, texts: true}}, []uint64{1, 2}},
		{"retry of it", "u1 a1 u2 a2 u3 a3 s3 x3", []set{{from: 5}, {from: 3}}, []uint64{1, 2, 3, 5}},
		{"undo of one of whose steps it tells", "u1 a1 u2 c2 t2 c2 t2 s2 x2", []set{{from: 6, keep: []uint64{3}}, {from: 3, texts: true}}, []uint64{1, 2}},
		{"only the summaries that tell of it are lifted", "u1 a1 u2 a2 s2 u3 a3 u4 s4 x4", []set{{from: 3}, {from: 8}, {from: 6, texts: true}}, []uint64{5, 3, 4}},
		{"what was taken back before stays so", "u1 a1 x1 u2 a2 u3 s3 x3", []set{{from: 1, texts: true}, {from: 6}, {from: 4, texts: true}}, nil},
	} {
		entries := conversation(tt.transcript)
		for i := range entries {
			if k := entries[i].Kind; k == machine.EntrySummary || k == machine.EntryCut {
				entries[i].From, entries[i].Keep, entries[i].Texts = tt.sets[0].from, tt.sets[0].keep, tt.sets[0].texts
				tt.sets = tt.sets[1:]
			}
		}
		if got := numbers(machine.InForce(entries)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// Whatever is planned for whatever conversation, as often as one likes: calls and results stay together, what people said
// last stays, open notices stay, and it ends.
func TestPlanCompactionHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var words []string
		for turn := range rapid.IntRange(1, 6).Draw(t, "turns") {
			opened := rapid.SampledFrom([]string{"u", "n", "o", "n u", "u u", "o u"}).Draw(t, "opened")
			for w := range strings.FieldsSeq(opened) {
				words = append(words, fmt.Sprint(w, turn))
			}
			for range rapid.IntRange(0, 5).Draw(t, "steps") {
				words = append(words, fmt.Sprint("c", turn), fmt.Sprint("t", turn))
				if rapid.IntRange(0, 4).Draw(t, "steered") == 4 {
					words = append(words, fmt.Sprint("u", turn))
				}
			}
			words = append(words, fmt.Sprint("a", turn))
		}
		words = words[:len(words)-rapid.IntRange(0, 1).Draw(t, "running")]
		transcript := conversation(strings.Join(words, " "))
		for round := 0; ; round++ {
			force := machine.InForce(transcript)
			c, ok := machine.PlanCompaction(force, isOpen, machine.Limits{
				Tail: rapid.IntRange(0, 900).Draw(t, "tail"), Most: rapid.IntRange(0, 1500).Draw(t, "most"), Worth: rapid.IntRange(0, 300).Draw(t, "worth"),
			})
			if !ok {
				return
			}
			if round > len(words) {
				t.Fatal("it goes on for ever")
			}
			transcript = append(transcript, machine.Entry{
				Seq: uint64(len(transcript) + 1), Kind: machine.EntrySummary, Turn: force[len(force)-1].Turn, From: c.From, Keep: c.Keep,
			})
			now := machine.InForce(transcript)
			if err := legal(now); err != nil {
				t.Fatal(err)
			}
			has := func(seq uint64) bool { return slices.Contains(numbers(now), seq) }
			last := force[len(force)-1].Turn
			for _, e := range force {
				if !has(e.Seq) && (e.Completion == "cmp_open" || e.Turn == last && e.Kind == machine.EntryUser) {
					t.Fatalf("%v: %d is set aside of %v", words, e.Seq, numbers(force))
				}
			}
			if !has(force[len(force)-1].Seq) {
				t.Fatalf("the last of %v is set aside", numbers(force))
			}
		}
	})
}

// The provider's count goes before the estimate, as long as it is of this conversation.
func TestCounted(t *testing.T) {
	for _, tt := range []struct {
		transcript string
		counts     int // the entry that bears a count of 1000
		want       int
	}{
		{"u1 a1 u2", 2, 1200}, {"u1 a1 u2 a2", 2, 1300}, {"u1 a1 u2", 0, 0}, {"u1 a1 s1 u2", 2, 0}, {"u1 a1 x1 u2", 2, 0}, {"u1 s1 u2 a2", 4, 1100},
	} {
		entries := conversation(tt.transcript)
		if tt.counts > 0 {
			entries[tt.counts-1].Request = 1000
		}
		if got, ok := machine.Counted(entries); ok != (tt.want > 0) || ok && got != tt.want {
			t.Errorf("%s: %d, %t, want %d", tt.transcript, got, ok, tt.want)
		}
	}
}
