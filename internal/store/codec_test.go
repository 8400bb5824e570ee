package store

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/delivery"
	"github.com/homing-gateway/homing/internal/id"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/session"
)

var update = flag.Bool("update", false, "write the golden files anew")

// kind is a type of record.
type kind struct {
	of     reflect.Type
	decode func(v []byte) (any, error)
}

func kindOf[T any]() kind {
	return kind{reflect.TypeFor[T](), func(v []byte) (any, error) {
		var x T
		err := decodeValue(v, &x)
		return x, err
	}}
}

// hot are the types that have a form of their own.
var hot = []kind{
	kindOf[session.Session](), kindOf[session.Route](), kindOf[machine.Lane](), kindOf[machine.Turn](), kindOf[machine.Action](),
	kindOf[machine.Process](), kindOf[delivery.Completion](), kindOf[delivery.Outgoing](), kindOf[machine.Entry](),
	kindOf[machine.Record](), kindOf[machine.Mark](), kindOf[machine.Position](), kindOf[machine.Meta](), kindOf[machine.Preview](),
}

// cold are those that stay JSON.
var cold = []kind{kindOf[machine.Delegation](), kindOf[machine.Alias](), kindOf[machine.SetAside](), kindOf[machine.Pause]()}

func encode(t interface{ Fatal(args ...any) }, record any) []byte {
	v, err := appendValue(nil, record)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// leaf gives a field its value; path leads to it through the names of fields.
type leaf func(path string, v reflect.Value)

// fill builds a value field by field. How long a list is (-1: nil), and whether a pointer leads to anything, is for length
// to say.
func fill(v reflect.Value, path string, length func(path string) int, set leaf) {
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		set(path, v)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), strings.TrimPrefix(path+"."+v.Type().Field(i).Name, "."), length, set)
		}
	case v.Kind() == reflect.Slice:
		if n := length(path); n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(v.Index(i), path, length, set)
			}
		}
	case v.Kind() == reflect.Pointer:
		if length(path) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), path, length, set)
		}
	default:
		set(path, v)
	}
}

// drawn builds a record at random. With sparse any field may be zero, any list nil or empty; else none is. JSON can tell
// nothing but valid text.
func drawn(t *rapid.T, of reflect.Type, sparse bool, text *rapid.Generator[string]) any {
	least := 1
	if sparse {
		least = -1
	}
	length := func(path string) int { return rapid.IntRange(least, 3).Draw(t, "length of "+path) }
	v := reflect.New(of).Elem()
	fill(v, "", length, func(path string, v reflect.Value) {
		if sparse && rapid.Bool().Draw(t, "zero "+path) {
			return
		}
		nonzero := rapid.Int64().Filter(func(n int64) bool { return n != 0 })
		switch v.Kind() {
		case reflect.String:
			v.SetString(text.Draw(t, path))
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Int, reflect.Int64:
			v.SetInt(nonzero.Draw(t, path))
		case reflect.Uint64:
			v.SetUint(uint64(nonzero.Draw(t, path)))
		case reflect.Struct:
			v.Set(reflect.ValueOf(time.Unix(0, rapid.Int64().Draw(t, path)).UTC()))
		default:
			t.Fatalf("%s: this test knows no values of type %s", path, v.Type())
		}
	})
	return v.Interface()
}

// Every field of every record comes back as it was written, whatever bytes its texts are made of. Who adds a field and
// forgets it in records.go finds its name here.
func TestEveryFieldComesBack(t *testing.T) {
	anyBytes := rapid.Map(rapid.SliceOfN(rapid.Byte(), 1, 200), func(b []byte) string { return string(b) })
	for _, k := range hot {
		t.Run(k.of.String(), rapid.MakeCheck(func(t *rapid.T) {
			want := drawn(t, k.of, false, anyBytes)
			v := encode(t, want)
			got, err := k.decode(v)
			if d := cmp.Diff(want, got); err != nil || d != "" {
				t.Fatal(err, d)
			}
			p := reflect.New(k.of)
			p.Elem().Set(reflect.ValueOf(want))
			if fromPointer := encode(t, p.Interface()); string(fromPointer) != string(v) {
				t.Fatalf("a pointer to it is written as %x, itself as %x", fromPointer, v)
			}
		}))
	}
}

// What is zero, nil or empty comes back as JSON, the older layout, brought it back.
func TestZerosComeBackAsFromJSON(t *testing.T) {
	for _, k := range hot {
		t.Run(k.of.String(), rapid.MakeCheck(func(t *rapid.T) {
			x := drawn(t, k.of, true, rapid.String())
			old, err := json.Marshal(x)
			if err != nil {
				t.Fatal(err)
			}
			want, err := k.decode(old)
			if err != nil {
				t.Fatal(err)
			}
			got, err := k.decode(encode(t, x))
			if d := cmp.Diff(want, got); err != nil || d != "" {
				t.Fatal(err, d)
			}
		}))
	}
}

// named is a record whose fields hold what their names say: all, or the one that a path leads to.
func named(of reflect.Type, only string) any {
	v := reflect.New(of).Elem()
	length := func(path string) int {
		if only == "" || strings.HasPrefix(only+".", path+".") {
			return 1
		}
		return -1
	}
	fill(v, "", length, func(path string, v reflect.Value) {
		if only != "" && path != only {
			return
		}
		h := fnv.New32a()
		_, _ = h.Write([]byte(path))
		n := int64(h.Sum32() % 10_000)
		switch v.Kind() {
		case reflect.String:
			v.SetString(path)
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Uint64:
			v.SetUint(uint64(n))
		case reflect.Float64:
			v.SetFloat(float64(n))
		case reflect.Struct:
			v.Set(reflect.ValueOf(time.Unix(1_767_355_200+n, n).UTC()))
		default:
			v.SetInt(n)
		}
	})
	return v.Interface()
}

func full(of reflect.Type) any { return named(of, "") }

// paths lists the fields of a type.
func paths(of reflect.Type) (out []string) {
	fill(reflect.New(of).Elem(), "", func(string) int { return 1 }, func(path string, _ reflect.Value) { out = append(out, path) })
	return out
}

// The bytes of every field alone, and of every whole record, are what they have always been. A change here is right only
// where it adds a field: stores are full of what the other lines say. Whichever field comes first, no record begins as
// JSON does.
func TestBytesNeverChange(t *testing.T) {
	var b strings.Builder
	for _, k := range hot {
		fmt.Fprintf(&b, "%s\n\t%x\n", k.of, encode(t, full(k.of)))
		for _, path := range paths(k.of) {
			v := encode(t, named(k.of, path))
			if len(v) == 0 || v[0] == '{' {
				t.Errorf("%s: %s alone is written as %q", k.of, path, v)
			}
			fmt.Fprintf(&b, "\t%s %x\n", path, v)
		}
	}
	golden := filepath.Join("testdata", "records.txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")); d != "" {
		t.Errorf("%s differs: run with -update and read the difference\n%s", golden, d)
	}
}

// A value of the older layout is read as if it had been written today.
func TestJSONIsRead(t *testing.T) {
	for _, k := range append(hot, cold...) {
		want := full(k.of)
		v, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := k.decode(v)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%s: %v %s", k.of, err, d)
		}
	}
	// As it lies in stores out there.
	const old = `{"id":"proc_1","profile":"default","state":"exited","command":"make","owner":"ses_1","started_by":"sub_1",` +
		`"pin":"sub_1","turn":"trn_1","turn_no":2,"background":true,"notify":false,"timeout":60000000000,` +
		`"child":{"subagent":"sub_1","delegation":"del_1","goal":"build"},"exit_code":0,"created_at":"2026-01-02T12:00:00.5+01:00",` +
		`"updated_at":"0001-01-01T00:00:00Z"}`
	want := machine.Process{
		ID: "proc_1", Profile: "default", State: machine.ProcessExited, Command: "make", Owner: "ses_1", StartedBy: "sub_1", Pin: "sub_1",
		Turn: "trn_1", TurnNo: 2, Background: true, Timeout: time.Minute, ExitCode: new(0),
		Child:     &delivery.Attribution{Subagent: "sub_1", Delegation: "del_1", Goal: "build"},
		CreatedAt: time.Date(2026, 1, 2, 11, 0, 0, 5e8, time.UTC),
	}
	var got machine.Process
	err := decodeValue([]byte(old), &got)
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Error(err, d)
	}
}

// The cold types are written as JSON still.
func TestColdRecordsStayJSON(t *testing.T) {
	for _, k := range cold {
		if v := encode(t, full(k.of)); !json.Valid(v) || v[0] != '{' {
			t.Errorf("%s is written as %q", k.of, v)
		}
	}
}

// An exit code of 0 is not the same as none, and a subagent without a name not the same as no subagent.
func TestNilIsNotZero(t *testing.T) {
	for _, want := range []machine.Process{{}, {ID: "1"}, {ID: "1", ExitCode: new(0)}, {ID: "1", ExitCode: new(-1)}, {ID: "1", Child: &delivery.Attribution{}}} {
		var got machine.Process
		err := decodeValue(encode(t, want), &got)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Error(err, d)
		}
	}
}

// Times come back in UTC and without the monotonic clock's part; of one that nanoseconds since 1970 can't tell, the nearest.
func TestTimes(t *testing.T) {
	now := time.Now().In(time.FixedZone("", 3600))
	var got machine.Mark
	if err := decodeValue(encode(t, machine.Mark{At: now}), &got); err != nil || got.At != now.Round(0).UTC() {
		t.Errorf("%v came back as %v, %v", now, got.At, err)
	}
	for _, at := range []time.Time{time.Unix(0, 0), time.Unix(0, -1)} {
		if err := decodeValue(encode(t, machine.Mark{At: at}), &got); err != nil || !got.At.Equal(at) {
			t.Errorf("%v came back as %v, %v", at, got.At, err)
		}
	}
	for year, nearest := range map[int]int{1: 1677, 1600: 1677, 2300: 2262, 9999: 2262} {
		at := time.Date(year, 2, 2, 0, 0, 0, 0, time.UTC)
		if err := decodeValue(encode(t, machine.Mark{At: at}), &got); err != nil || got.At.Year() != nearest {
			t.Errorf("%v came back as %v, %v", at, got.At, err)
		}
	}
}

// What a later version added is passed over, whatever kind of value it has.
func TestUnknownFieldsArePassedOver(t *testing.T) {
	for _, k := range hot {
		v := encode(t, full(k.of))
		v = protowire.AppendVarint(protowire.AppendTag(v, 100, protowire.VarintType), 1<<40)
		v = protowire.AppendFixed32(protowire.AppendTag(v, 101, protowire.Fixed32Type), 1)
		v = protowire.AppendFixed64(protowire.AppendTag(v, 102, protowire.Fixed64Type), 1)
		v = protowire.AppendString(protowire.AppendTag(v, 103, protowire.BytesType), "news")
		got, err := k.decode(v)
		if d := cmp.Diff(full(k.of), got); err != nil || d != "" {
			t.Errorf("%s: %v %s", k.of, err, d)
		}
	}
	var h session.Hop // an unknown one before a known one, as when a field was given up
	f := reader([]byte("\x08\x01\x10\x07"))
	number(&f, 2, &h.Epoch)
	if err := f.end(); err != nil || h.Epoch != 7 {
		t.Errorf("%+v, %v", h, err)
	}
}

// Bytes that are no record are an error, not a record, and are not believed what lengths they claim.
func TestDamagedBytes(t *testing.T) {
	for name, v := range map[string]string{
		"no JSON":                        "{not json",
		"a text that is cut":             "\x0a\x05abc",
		"a text longer than memory":      "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7fabc",
		"a number where a text is":       "\x08\x00",
		"a text where a number is":       "\x72\x00",
		"a number without its end":       "\x70\xff",
		"a number too long":              "\x70\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
		"no number of a field":           "\x00\x01",
		"a number of a field too large":  "\xf8\xff\xff\xff\xff\x01\x01",
		"fields out of order":            "\x1a\x01a\x0a\x01a",
		"a group":                        "\x0b\x0c",
		"a group later on":               "\xa3\x06\xa4\x06",
		"the end of a group":             "\x0c",
		"an unknown field that is cut":   "\xa2\x06\x05abc",
		"damage in what stands within":   "\x7a\x02\x22\x09",
		"an unknown kind within":         "\x7a\x02\x0f\x00",
		"what stands within is too long": "\x7a\x7f\x08\x01",
	} {
		var l machine.Lane
		if err := decodeValue([]byte(v), &l); err == nil {
			t.Errorf("%s is read as %+v", name, l)
		}
	}
}

// FuzzDecode reads anything as a record of each type: nothing panics, and what can be read is written and read again as it
// is.
func FuzzDecode(f *testing.F) {
	kinds := append(hot, cold...)
	for i, k := range kinds {
		v := encode(f, full(k.of))
		old, _ := json.Marshal(full(k.of))
		for _, v := range [][]byte{v, v[:len(v)/2], old, nil} {
			f.Add(i, v)
		}
	}
	f.Fuzz(func(t *testing.T, i int, v []byte) {
		if i < 0 || i >= len(kinds) {
			return
		}
		read := bytes.Clone(v)
		x, err := kinds[i].decode(read)
		if err != nil || bytes.HasPrefix(v, []byte("{")) {
			return
		}
		for i := range read {
			read[i] = 0xff // the record keeps nothing of it
		}
		y, err := kinds[i].decode(encode(t, x))
		if d := cmp.Diff(x, y); err != nil || d != "" {
			t.Fatal(err, d)
		}
	})
}

// routed returns the records that one completion writes on its way: a process ends, its owner is proved along three marks,
// the notice enters the transcript and a turn binds it; the model's answer ends the turn.
func routed(t testing.TB) []machine.Change {
	t.Helper()
	ids, now := id.NewSource(nil), time.Date(2026, 1, 2, 12, 0, 0, 123456789, time.UTC)
	policy := machine.Policy{InboxLimit: 100, MaxIterations: 250, SurfaceChildProcesses: true}
	state := machine.NewState(func(string) machine.Policy { return policy }, ids)
	load := func(table machine.Table, key string, v any) {
		state.Load(machine.Change{Table: table, Key: key, Value: v})
	}
	place := chat.Address{Account: chat.Account{Profile: "default", Platform: "x", ID: "1"}, Type: chat.Direct, Chat: "7", Person: "7"}
	key := chat.KeyOf(place, chat.Keying{})
	owner := id.Session(ids.New(id.PrefixSession, now))
	load(machine.Sessions, string(owner), session.Session{ID: owner, Profile: "default", Kind: session.Chat, Key: key, Title: "a question", CreatedAt: now, ActiveAt: now})
	load(machine.Routes, string(key), session.Route{Key: key, Current: owner, Version: 1, UpdatedAt: now})
	load(machine.Lanes, string(owner), machine.Lane{Session: owner, Turns: 1, Entries: 2, LastEntry: machine.EntryAssistant})
	pin := owner
	for depth := range 3 {
		child := id.Session(ids.New(id.PrefixSubagent, now))
		load(machine.Sessions, string(child), session.Session{ID: child, Profile: "default", Kind: session.Subagent, DelegateFrom: pin, Depth: depth + 1, CreatedAt: now, ActiveAt: now, EndedAt: now, EndReason: session.Completed})
		pin = child
	}
	p := machine.Process{
		ID: id.Process(ids.New(id.PrefixProcess, now)), Profile: "default", State: machine.ProcessRunning, Command: "make all", Owner: owner, StartedBy: pin, Pin: pin,
		Turn: id.Turn(ids.New(id.PrefixTurn, now)), TurnNo: 1, Background: true, Notify: true, PID: 4711, CreatedAt: now, StartedAt: now, UpdatedAt: now,
	}
	load(machine.Processes, string(p.ID), p)

	var changes []machine.Change
	commit := func(batch []machine.Change) error {
		for _, c := range batch {
			if lines, ok := c.Value.([]machine.Record); ok {
				for _, r := range lines {
					changes = append(changes, machine.Change{Table: c.Table, Key: machine.SeqKey(r.Seq), Value: r})
				}
			} else if c.Value != nil {
				c.Value = reflect.Indirect(reflect.ValueOf(c.Value)).Interface()
				changes = append(changes, c)
			}
		}
		return nil
	}
	steps := make(chan machine.RunStep, 1)
	m := machine.New(state, commit, func(effects []machine.Issued, _ []machine.Record) {
		for _, e := range effects {
			if s, ok := e.Effect.(machine.RunStep); ok {
				steps <- s
			}
		}
	}, func() time.Time { return now })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = m.Run(ctx) }() // ends with ctx
	submit := func(r machine.Request) {
		if _, err := m.Submit(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	output := strings.Repeat("all went well so far; ", 24)[:512]
	submit(machine.Ended{Process: p.ID, State: machine.ProcessExited, ExitCode: new(0), Output: output, Tail: output[:80], EndedAt: now})
	step := <-steps
	submit(machine.Answered{Turn: step.Turn.ID, Generation: step.Turn.Generation, Step: step.Turn.Step, Text: "[SILENT]"})
	cancel()
	<-ended
	return changes
}

// Writing the records of a completion allocates nothing but room for them.
func TestEncodingAllocatesNothing(t *testing.T) {
	changes, dst := routed(t), make([]byte, 0, 1<<16)
	if n := testing.AllocsPerRun(100, func() {
		for _, c := range changes {
			_, _ = appendValue(dst, c.Value)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if len(changes) < 15 {
		t.Errorf("a completion writes only %d records", len(changes))
	}
}

// BenchmarkCodec writes and reads the records of one routed completion. Beside the time of all of them it reports how often
// encoding/json would take it, measured in the same run, and the bytes as a share of JSON's.
func BenchmarkCodec(b *testing.B) {
	changes := routed(b)
	var values, olds [][]byte
	var kinds []kind
	ours, theirs := 0, 0
	for _, c := range changes {
		v := encode(b, c.Value)
		old, err := json.Marshal(c.Value)
		if err != nil {
			b.Fatal(err)
		}
		ours, theirs = ours+len(v), theirs+len(old)
		values, olds = append(values, v), append(olds, old)
		for _, k := range append(hot, cold...) {
			if k.of == reflect.TypeOf(c.Value) {
				kinds = append(kinds, k)
			}
		}
	}
	dst := make([]byte, 0, 1<<16)
	compare := func(b *testing.B, f, as func()) {
		b.ReportAllocs()
		for b.Loop() {
			f()
		}
		per := b.Elapsed() / time.Duration(b.N)
		began, n := time.Now(), max(100, b.N/20)
		for range n {
			as()
		}
		b.ReportMetric(float64(len(changes)), "records")
		b.ReportMetric(float64(time.Since(began)/time.Duration(n))/float64(per), "×_faster_than_json")
		b.ReportMetric(float64(ours)/float64(theirs), "of_json's_bytes")
	}
	b.Run("encode", func(b *testing.B) {
		compare(b, func() {
			for _, c := range changes {
				_, _ = appendValue(dst, c.Value)
			}
		}, func() {
			for _, c := range changes {
				v, _ := json.Marshal(c.Value)
				_ = append(dst, v...)
			}
		})
	})
	b.Run("decode", func(b *testing.B) {
		decode := func(values [][]byte) func() {
			return func() {
				for i, v := range values {
					if _, err := kinds[i].decode(v); err != nil {
						b.Fatal(err)
					}
				}
			}
		}
		compare(b, decode(values), decode(olds))
	})
}
