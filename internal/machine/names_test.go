package machine_test

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/homing-gateway/homing/internal/chat"
)

// names gives short names to ids in the order in which they appear, so that a story reads well: P and Q are
// conversations, K1 a subagent, T1 a turn, D1 a delegation, proc1 a process, C1 a completion, M1 a message, A1 an action.
type names struct {
	short  map[string]string
	long   map[string]string
	counts map[string]int
}

func newNames() *names {
	return &names{short: map[string]string{}, long: map[string]string{}, counts: map[string]int{}}
}

var idPattern = regexp.MustCompile(`\b(ses|sub|trn|del|proc|cmp|out|act|file)_[0-9A-Z]{26}\b`)

const conversations = "PQRSUVWXYZ"

// of returns the short name of an id.
func (n *names) of(id string) string {
	if s, ok := n.short[id]; ok {
		return s
	}
	prefix, _, ok := strings.Cut(id, "_")
	if !ok {
		return id
	}
	n.counts[prefix]++
	i := n.counts[prefix]
	var s string
	switch prefix {
	case "ses":
		s = conversationName(i)
	case "sub":
		s = fmt.Sprintf("K%d", i)
	case "proc":
		s = fmt.Sprintf("proc%d", i)
	default:
		s = fmt.Sprintf("%s%d", map[string]string{"trn": "T", "del": "D", "cmp": "C", "out": "M", "act": "A", "file": "F"}[prefix], i)
	}
	n.short[id], n.long[s] = s, id
	return s
}

// conversationName is the i-th name of a conversation: P, Q … Z, P2, Q2 …
func conversationName(i int) string {
	s := string(conversations[(i-1)%len(conversations)])
	if i > len(conversations) {
		s += fmt.Sprint((i-1)/len(conversations) + 1)
	}
	return s
}

// id returns the id with the short name; a text that is none stays as it is.
func (n *names) id(short string) string {
	if id, ok := n.long[short]; ok {
		return id
	}
	return short
}

// shorten replaces all ids and route keys in a text.
func (n *names) shorten(text string) string {
	return idPattern.ReplaceAllStringFunc(placeNames().Replace(text), n.of)
}

// placeNames replaces route keys; longer ones first, because the key of a chat begins those of its topics.
var placeNames = sync.OnceValue(func() *strings.Replacer {
	names := map[string]string{}
	for name, a := range places() {
		if !strings.Contains(name, "/u") {
			names[string(chat.KeyOf(a, chat.Keying{}))] = name
		}
		names[string(chat.KeyOf(a, perPerson))] = name
	}
	var pairs []string
	for _, k := range slices.SortedFunc(maps.Keys(names), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }) {
		pairs = append(pairs, k, names[k])
	}
	return strings.NewReplacer(pairs...)
})

// expand replaces the short names in the arguments of a tool call.
func (n *names) expand(text string) string {
	return shortPattern.ReplaceAllStringFunc(text, n.id)
}

var shortPattern = regexp.MustCompile(`\b(proc|K|D)[0-9]+\b`)

var perPerson = chat.Keying{PerPersonInGroups: true, PerPersonInThreads: true}

// places are where people talk in the tests.
func places() map[string]chat.Address {
	account := chat.Account{Profile: "default", Platform: "fake", ID: "bot"}
	at := func(t chat.PlaceType, c, thread, person string) chat.Address {
		return chat.Address{Account: account, Type: t, Chat: c, Thread: thread, Person: person}
	}
	return map[string]chat.Address{
		"dm":        at(chat.Direct, "chat-1", "", "u1"),
		"dm2":       at(chat.Direct, "chat-2", "", "u2"),
		"dm/topic1": at(chat.Direct, "chat-1", "1", "u1"),
		"group":     at(chat.Group, "chat-g", "", "u1"),
		"group/u2":  at(chat.Group, "chat-g", "", "u2"),
		"topic7":    at(chat.Thread, "chat-f", "7", "u1"),
		"topic9":    at(chat.Thread, "chat-f", "9", "u1"),
		"console":   {Account: chat.Account{Profile: "default", Platform: "console", ID: "local"}, Type: chat.Direct, Chat: "local", Person: "local"},
	}
}
