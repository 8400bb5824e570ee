package store

import (
	"fmt"
	"math"
	"time"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
)

// fields is a record on its way to bytes or back, in protobuf's wire format. The functions in records.go name every field
// of a record once, with its number and in the order of the numbers; what they call here appends the field or reads it. So
// writing and reading can't differ. A field that is zero is not written, and one that nobody asks for is passed over: a
// later version may have added it.
type fields struct {
	reading bool
	bytes   []byte // what is written, or what is left to read
	err     error
	// number and kind are those of the next field to read, whose value bytes begin with.
	number protowire.Number
	kind   protowire.Type
}

// over is the number of the next field when none is left.
const over = protowire.MaxValidNumber + 1

// reader reads a record that is stored as b. All texts of the record are parts of one copy: a queue of a million records
// would else be ten million texts to look after.
func reader(b []byte) fields {
	text := string(b)
	return within(unsafe.Slice(unsafe.StringData(text), len(text)))
}

// within reads a record from bytes that nobody ever changes.
func within(b []byte) fields {
	f := fields{reading: true, bytes: b}
	f.next()
	return f
}

// end passes over what is left and says whether everything could be read.
func (f *fields) end() error {
	f.at(over)
	return f.err
}

// next reads the number and the kind of the next field.
func (f *fields) next() {
	if len(f.bytes) == 0 {
		f.number = over
		return
	}
	number, kind, n := protowire.ConsumeTag(f.bytes)
	if n < 0 || number < f.number || number >= over { // records are written in the order of their numbers
		f.fail()
		return
	}
	f.number, f.kind, f.bytes = number, kind, f.bytes[n:]
}

// at tells whether the next field has this number.
func (f *fields) at(n protowire.Number) bool {
	if f.number < n {
		f.pass(n)
	}
	return f.number == n
}

// pass goes on to the first field that does not come before number n.
func (f *fields) pass(n protowire.Number) {
	for f.number < n {
		size := -1
		if f.kind != protowire.StartGroupType {
			size = protowire.ConsumeFieldValue(f.number, f.kind, f.bytes)
		}
		if size < 0 {
			f.fail()
			return
		}
		f.bytes = f.bytes[size:]
		f.next()
	}
}

// fail ends the reading.
func (f *fields) fail() {
	f.err = fmt.Errorf("the record cannot be read from field %d on", f.number)
	f.number, f.bytes = over, nil
}

// varint reads the value of a field that is a number.
func (f *fields) varint() uint64 {
	x, n := protowire.ConsumeVarint(f.bytes)
	if f.kind != protowire.VarintType || n < 0 {
		f.fail()
		return 0
	}
	f.bytes = f.bytes[n:]
	f.next()
	return x
}

// letters reads the value of a field that is a text, as a part of what is read.
func (f *fields) letters() string {
	x := f.chunk()
	return unsafe.String(unsafe.SliceData(x), len(x)) // reader sees to it that nobody changes them
}

// chunk reads the value of a field that is a text or a record. It is a part of what is read, no copy.
func (f *fields) chunk() []byte {
	x, n := protowire.ConsumeBytes(f.bytes)
	if f.kind != protowire.BytesType || n < 0 {
		f.fail()
		return nil
	}
	f.bytes = f.bytes[n:]
	f.next()
	return x
}

func (f *fields) putVarint(n protowire.Number, x uint64) {
	f.bytes = protowire.AppendVarint(protowire.AppendTag(f.bytes, n, protowire.VarintType), x)
}

// word is a field that is a text.
func word[S ~string](f *fields, n protowire.Number, p *S) {
	if f.reading {
		for f.at(n) {
			*p = S(f.letters())
		}
	} else if *p != "" {
		f.bytes = protowire.AppendString(protowire.AppendTag(f.bytes, n, protowire.BytesType), string(*p))
	}
}

// words is a field that is a list of texts. Here as in all lists an empty one comes back as nil.
func words[S ~string](f *fields, n protowire.Number, p *[]S) {
	if f.reading {
		for f.at(n) {
			*p = append(*p, S(f.letters()))
		}
		return
	}
	for _, s := range *p {
		f.bytes = protowire.AppendString(protowire.AppendTag(f.bytes, n, protowire.BytesType), string(s))
	}
}

// number is a field that is a number.
func number[N ~int | ~int64 | ~uint64](f *fields, n protowire.Number, p *N) {
	if f.reading {
		for f.at(n) {
			*p = N(f.varint())
		}
	} else if *p != 0 {
		f.putVarint(n, uint64(*p))
	}
}

// numbers is a field that is a list of numbers.
func numbers(f *fields, n protowire.Number, p *[]uint64) {
	if f.reading {
		for f.at(n) {
			*p = append(*p, f.varint())
		}
		return
	}
	for _, x := range *p {
		f.putVarint(n, x)
	}
}

// known is a field that is a number, zero included, or nil.
func known(f *fields, n protowire.Number, p **int) {
	if f.reading {
		for f.at(n) {
			*p = new(int(f.varint()))
		}
	} else if *p != nil {
		f.putVarint(n, uint64(**p))
	}
}

// truth is a field that is true or false.
func truth(f *fields, n protowire.Number, p *bool) {
	if f.reading {
		for f.at(n) {
			*p = f.varint() != 0
		}
	} else if *p {
		f.putVarint(n, 1)
	}
}

// moment is a field that is a time, to the nanosecond. It comes back in UTC. One that nanoseconds since 1970 can't tell (before
// 1678, after 2262) comes back as the nearest that they can: it stands in somebody's damaged record, and is no reason to
// refuse a batch.
func moment(f *fields, n protowire.Number, p *time.Time) {
	if f.reading {
		for f.at(n) {
			*p = time.Unix(0, int64(f.varint())).UTC()
		}
	} else if !p.IsZero() {
		x := p.UnixNano()
		switch {
		case p.Before(time.Unix(0, math.MinInt64)):
			x = math.MinInt64
		case p.After(time.Unix(0, math.MaxInt64)):
			x = math.MaxInt64
		}
		f.putVarint(n, uint64(x))
	}
}

// one is a field that is a record.
func one[T any](f *fields, n protowire.Number, p *T) {
	if f.reading {
		for f.at(n) {
			f.readRecord(p)
		}
		return
	}
	from := len(f.bytes)
	if f.putRecord(n, p) == 0 {
		f.bytes = f.bytes[:from]
	}
}

// maybe is a field that is a record, zero included, or nil.
func maybe[T any](f *fields, n protowire.Number, p **T) {
	if f.reading {
		for f.at(n) {
			*p = new(T)
			f.readRecord(*p)
		}
	} else if *p != nil {
		f.putRecord(n, *p)
	}
}

// many is a field that is a list of records.
func many[T any](f *fields, n protowire.Number, p *[]T) {
	if f.reading {
		for f.at(n) {
			*p = append(*p, *new(T))
			f.readRecord(&(*p)[len(*p)-1])
		}
		return
	}
	for i := range *p {
		f.putRecord(n, &(*p)[i])
	}
}

// readRecord reads a record within this one into what x points to.
func (f *fields) readRecord(x any) {
	inner := within(f.chunk())
	inner.record(x)
	if inner.end() != nil {
		f.fail()
	}
}

// putRecord writes the record that x points to, and returns its length.
func (f *fields) putRecord(n protowire.Number, x any) int {
	f.bytes = protowire.AppendTag(f.bytes, n, protowire.BytesType)
	at := len(f.bytes)
	f.bytes = append(f.bytes, 0) // room for the length, which most often is one byte
	f.record(x)
	size := len(f.bytes) - at - 1
	if size < 0x80 {
		f.bytes[at] = byte(size)
		return size
	}
	var length [9]byte
	more := len(protowire.AppendVarint(length[:0], uint64(size))) - 1
	f.bytes = append(f.bytes, length[:more]...)
	copy(f.bytes[at+1+more:], f.bytes[at+1:at+1+size])
	copy(f.bytes[at:], length[:more+1])
	return size
}
