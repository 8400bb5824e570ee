package store

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/homing-gateway/homing/internal/machine"
)

// FuzzValue: whatever stands in a value of the file, it is read as a record, which is written and read again as the same
// and taken into the state of a machine, or it is refused.
func FuzzValue(f *testing.F) {
	for _, s := range []string{
		`{"id":"ses_1","profile":"default","kind":"chat","key":"default:x:1:direct:7","epoch":3,"created_at":"2026-01-02T12:00:00Z"}`,
		`{"key":"default:x:1:direct:7","current":"ses_1","version":2}`, `{"session":"ses_1","texts":[{}],"inbox":["cmp_1"],"kept":["cmp_2"]}`,
		`{"id":"cmp_1","kind":"process","state":"admitted","verdict":{"outcome":"deliver","path":[{"session":"ses_1","epoch":3}]}}`,
		`{"id":"out_1","state":"queued","to":{"chat":"7"},"parts":[{"state":"queued"}]}`, `{"id":"proc_1","state":"running","exit_code":null}`,
		`{"id":"del_1","children":[{"session":"sub_1","report":null}]}`, `{"at":"2026-01-02T12:00:00Z"}`, ``, `null`, `[]`, `{"id":7}`, `{`, `{"created_at":"yesterday"}`,
	} {
		for i := range live() {
			f.Add(i, []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, at int, value []byte) {
		table := live()[(at%len(live())+len(live()))%len(live())]
		x, err := decode(table, value)
		if err != nil {
			return
		}
		once, err := json.Marshal(x)
		if err != nil {
			t.Fatalf("%s %q is read and cannot be written: %v", table, value, err)
		}
		again, err := decode(table, once)
		if err != nil {
			t.Fatalf("%s %q is written as %s, which cannot be read: %v", table, value, once, err)
		}
		if twice, err := json.Marshal(again); err != nil || !bytes.Equal(twice, once) {
			t.Fatalf("%s %q is written as %s and as %s (%v)", table, value, once, twice, err)
		}
		s := machine.NewState(nil, nil)
		for range 2 { // a state may know the record already
			s.Load(machine.Change{Table: table, Key: "key", Value: x})
		}
	})
}
