package chat_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/homing-gateway/homing/internal/chat"
)

var bot = chat.Account{Profile: "default", Platform: "fake", ID: "42"}

func TestKeyOf(t *testing.T) {
	both := chat.Keying{PerPersonInGroups: true, PerPersonInThreads: true}
	at := func(t chat.PlaceType, c, thread, person string) chat.Address {
		return chat.Address{Account: bot, Type: t, Chat: c, Thread: thread, Person: person}
	}
	for _, tt := range []struct {
		a    chat.Address
		k    chat.Keying
		want chat.Key
	}{
		{at(chat.Direct, "7", "", "7"), chat.Keying{}, "default:fake:42:direct:7"},
		{at(chat.Direct, "7", "", "7"), both, "default:fake:42:direct:7"},
		{at(chat.Direct, "7", "1", "7"), both, "default:fake:42:direct:7:1"},
		{at(chat.Group, "-100", "", "7"), chat.Keying{}, "default:fake:42:group:-100"},
		{at(chat.Group, "-100", "", "7"), chat.Keying{PerPersonInThreads: true}, "default:fake:42:group:-100"},
		{at(chat.Group, "-100", "", "7"), both, "default:fake:42:group:-100::7"},
		{at(chat.Channel, "C1", "", "7"), chat.Keying{PerPersonInGroups: true}, "default:fake:42:channel:C1::7"},
		{at(chat.Thread, "-100", "9", "7"), chat.Keying{PerPersonInGroups: true}, "default:fake:42:thread:-100:9"},
		{at(chat.Thread, "-100", "9", "7"), both, "default:fake:42:thread:-100:9:7"},
		{at(chat.Group, "a:b/c%d é", "", ""), chat.Keying{}, "default:fake:42:group:a%3Ab%2Fc%25d%20%C3%A9"},
	} {
		if got := chat.KeyOf(tt.a, tt.k); got != tt.want {
			t.Errorf("%+v: got %s, want %s", tt.a, got, tt.want)
		}
	}
}

// Places that people took for one. // S-01 S-02 S-04
func TestKeysOfDifferentPlacesDiffer(t *testing.T) {
	forum := func(thread string) chat.Address {
		return chat.Address{Account: bot, Type: chat.Thread, Chat: "-100", Thread: thread}
	}
	direct := func(c, thread string) chat.Address {
		return chat.Address{Account: bot, Type: chat.Direct, Chat: c, Thread: thread}
	}
	named := func(c string) chat.Address { return chat.Address{Account: bot, Type: chat.Group, Chat: c} }
	other := forum("7")
	other.Profile = "work"
	account := forum("7")
	account.ID = "43"
	platform := forum("7")
	platform.Platform = "other"
	places := []chat.Address{
		forum("7"), forum("9"), named("-100"), other, account, platform, // S-01
		direct("1", "1"), direct("2", "1"), direct("1", ""), direct("1:1", ""), // S-02
		named("a:b"), named("a/b"), named("a_b"), named("A_b"), named("a%b"), named("a%3Ab"), named("a b"), named("a\x00b"), named("ab"), // S-04
		{Account: bot, Type: chat.Group, Chat: "a", Thread: "b"},
		{Account: bot, Type: chat.Channel, Chat: "a"},
		{Account: chat.Account{Profile: "a", Platform: "b:c", ID: "d"}, Type: chat.Group, Chat: "a"},
		{Account: chat.Account{Profile: "a:b", Platform: "c", ID: "d"}, Type: chat.Group, Chat: "a"},
	}
	seen := map[chat.Key]chat.Address{}
	for _, a := range places {
		k := chat.KeyOf(a, chat.Keying{})
		if b, twice := seen[k]; twice {
			t.Errorf("%+v and %+v share the key %s", a, b, k)
		}
		seen[k] = a
		back, err := chat.ParseKey(k)
		if err != nil || back != a {
			t.Errorf("%s gives %+v (%v), want %+v", k, back, err, a)
		}
	}
}

// A message that goes out is keyed as one that comes in: there is one function. // S-05
func TestInAndOutShareAKey(t *testing.T) {
	in := chat.Address{Account: bot, Type: chat.Direct, Chat: "7", Thread: "5", Person: "7"}
	k := chat.KeyOf(in, chat.Keying{})
	if out := chat.KeyOf(k.Address(), chat.Keying{}); out != k {
		t.Errorf("in %s, out %s", k, out)
	}
}

// Any two addresses share a key only if they are the same place, and a key gives the place back.
func TestKeysAreInjectiveAndReversible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := address(t, "a"), address(t, "b")
		k := chat.Keying{PerPersonInGroups: rapid.Bool().Draw(t, "groups"), PerPersonInThreads: rapid.Bool().Draw(t, "threads")}
		ka, kb := chat.KeyOf(a, k), chat.KeyOf(b, k)
		if (ka == kb) != (place(a, k) == place(b, k)) {
			t.Fatalf("%+v has %s, %+v has %s", a, ka, b, kb)
		}
		back, err := chat.ParseKey(ka)
		if err != nil || back != place(a, k) {
			t.Fatalf("%s gives %+v (%v), want %+v", ka, back, err, place(a, k))
		}
		if again := chat.KeyOf(back, chat.Keying{PerPersonInGroups: true, PerPersonInThreads: true}); again != ka {
			t.Fatalf("%s gives %s", ka, again)
		}
	})
}

// place is what of an address belongs to the place.
func place(a chat.Address, k chat.Keying) chat.Address {
	if a.Type == chat.Direct || a.Type == chat.Thread && !k.PerPersonInThreads || a.Type != chat.Thread && !k.PerPersonInGroups {
		a.Person = ""
	}
	return a
}

func address(t *rapid.T, name string) chat.Address {
	word := rapid.OneOf(rapid.SampledFrom([]string{"a", "b", "A", "a:b", "%", "%3A", "é", "a/b", " "}), rapid.StringN(1, 6, -1))
	maybe := rapid.OneOf(rapid.Just(""), word)
	return chat.Address{
		Account: chat.Account{
			Profile: word.Draw(t, name+" profile"), Platform: chat.Platform(word.Draw(t, name+" platform")), ID: word.Draw(t, name+" account"),
		},
		Type: rapid.SampledFrom([]chat.PlaceType{chat.Direct, chat.Group, chat.Channel, chat.Thread}).Draw(t, name+" type"),
		Chat: word.Draw(t, name+" chat"), Thread: maybe.Draw(t, name+" thread"), Person: maybe.Draw(t, name+" person"),
	}
}

func TestParseKeyRefuses(t *testing.T) {
	for _, k := range []chat.Key{
		"", "a", "a:b:c:direct", "a:b:c:direct:", ":b:c:direct:d", "a::c:direct:d", "a:b::direct:d", "a:b:c::d", "a:b:c:party:d", "a:b:c:DIRECT:d",
		"a:b:c:direct:d:", "a:b:c:direct:d::", "a:b:c:direct:d:e:f", "a:b:c:direct:d::f", "a:b:c:group:d:e:", "a:b:c:group:d:e:f:g",
		"a:b:c:direct:d e", "a:b:c:direct:d/e", "a:b:c:direct:é", "a:b:c:direct:%", "a:b:c:direct:%4", "a:b:c:direct:%zz", "a:b:c:direct:%3a",
		"a:b:c:direct:%41", "a:b:c:direct:a\n", "a:b:c:direct:%25%",
	} {
		if a, err := chat.ParseKey(k); !errors.Is(err, chat.ErrBadKey) {
			t.Errorf("%q gives %+v (%v)", k, a, err)
		}
		if a := k.Address(); a != (chat.Address{}) {
			t.Errorf("%q has the address %+v", k, a)
		}
	}
}

// FuzzParseKey: what ParseKey takes, KeyOf makes again, to the letter.
func FuzzParseKey(f *testing.F) {
	for _, k := range []string{
		"default:fake:42:direct:7", "default:fake:42:thread:-100:9:7", "d:f:4:group:a%3Ab%2F::%C3%A9", "a:b:c:channel:%25", ":::::", "%",
	} {
		f.Add(k)
	}
	f.Fuzz(func(t *testing.T, k string) {
		a, err := chat.ParseKey(chat.Key(k))
		if err != nil {
			return
		}
		if again := chat.KeyOf(a, chat.Keying{PerPersonInGroups: true, PerPersonInThreads: true}); string(again) != k {
			t.Errorf("%q gives %+v, and that %q", k, a, again)
		}
		if strings.ContainsAny(k, " /\n") {
			t.Errorf("%q would mislead who types it", k)
		}
	})
}
