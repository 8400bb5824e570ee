package config

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// raw is a value as it was written: one text, or a list of texts.
type raw struct {
	texts []text
	list  bool
}

// text is one scalar as it was written. Its type is decided by the key that it stands at, never by its looks; how it was
// written only matters where a writer of YAML may have meant something else than a text.
type text struct {
	s        string
	shown    string // for messages: before variables were replaced
	unquoted bool   // a number could have lost digits on its way here
	boolean  bool   // an unquoted true or false of YAML
}

// parse turns what was written into the field's value; the error says what is wrong, without the path.
func (f *field) parse(r raw) (reflect.Value, error) {
	if f.list() != r.list {
		if r.list {
			return reflect.Value{}, fmt.Errorf("must be %s, not a list", f.wants())
		}
		return reflect.Value{}, errors.New(`must be a list, like ["one", "two"]`)
	}
	if !r.list {
		v := reflect.New(f.typ).Elem()
		return v, f.parseOne(v, r.texts[0])
	}
	v := reflect.MakeSlice(f.typ, 0, len(r.texts))
	for i, t := range r.texts {
		e := reflect.New(f.typ.Elem()).Elem()
		err := f.parseOne(e, t)
		if err == nil && e.String() == "" {
			err = errors.New("is empty")
		}
		if err != nil {
			return v, fmt.Errorf("element %d: %w", i+1, err)
		}
		v = reflect.Append(v, e)
	}
	return v, nil
}

func (f *field) parseOne(v reflect.Value, t text) error {
	switch {
	case f.secret():
		s := strings.TrimSpace(t.s)
		if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return errors.New("contains a line break or another control character")
		}
		v.Set(reflect.ValueOf(NewSecret(s)))
		return nil
	case v.Type() == reflect.TypeFor[Duration]():
		d, err := parseDuration(strings.TrimSpace(t.s))
		v.SetInt(int64(d))
		return f.said(t, err, d.String(), int64(d))
	case v.Type() == reflect.TypeFor[Size]():
		s, err := parseSize(strings.TrimSpace(t.s))
		v.SetInt(int64(s))
		return f.said(t, err, s.String(), int64(s))
	case v.Kind() == reflect.Bool:
		b, err := parseBool(t.s)
		v.SetBool(b)
		return f.said(t, err, "", 0)
	case v.Kind() == reflect.Int:
		n, err := parseInt(strings.TrimSpace(t.s))
		v.SetInt(n)
		return f.said(t, err, strconv.FormatInt(n, 10), n)
	case f.words() != nil:
		return f.parseWord(v, t)
	}
	return f.parseText(v, t)
}

// said puts the value before what is wrong with it, and checks the limits of a number.
func (f *field) said(t text, err error, canonical string, n int64) error {
	if err != nil {
		return fmt.Errorf("%s: %w", cite(t), err)
	}
	if limit, perr := strconv.ParseInt(f.min, 10, 64); perr == nil && n < limit {
		return fmt.Errorf("%s is too small: the least is %d", canonical, limit)
	}
	if limit, perr := strconv.ParseInt(f.max, 10, 64); perr == nil && n > limit {
		return fmt.Errorf("%s is too large: the most is %d", canonical, limit)
	}
	return nil
}

// parseBool is the one table of true and false.
func parseBool(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "true", "yes", "on":
		return true, nil
	case "false", "no", "off":
		return false, nil
	}
	return false, errors.New("is neither true nor false: write true, false, yes, no, on or off")
}

var intForm = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)$`)

func parseInt(s string) (int64, error) {
	if !intForm.MatchString(s) {
		return 0, errors.New("is not a whole number")
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return 0, errors.New("is too large")
	}
	return n, nil
}

func (f *field) parseWord(v reflect.Value, t text) error {
	s := strings.ToLower(strings.TrimSpace(t.s))
	if s == "" && f.def == "" {
		return nil
	}
	for _, w := range f.words() {
		if s == w {
			v.SetString(w)
			return nil
		}
	}
	return &misspelt{
		err:     fmt.Errorf("%s is not one of %s", cite(t), strings.Join(f.words(), ", ")),
		nearest: nearest(s, f.words()),
	}
}

var exponent = regexp.MustCompile(`^[-+]?[0-9]*\.?[0-9]+[eE][-+]?[0-9]+$|^[-+]?[0-9]+\.[eE][-+]?[0-9]+$`)

func (f *field) parseText(v reflect.Value, t text) error {
	if t.boolean {
		return fmt.Errorf(`%s is true or false in YAML, and a text is wanted: put it in quotes`, cite(t))
	}
	s := t.s
	if f.kind != "" {
		s = strings.TrimSpace(s)
	}
	if f.require && s == "" {
		return errors.New("must not be empty")
	}
	var err error
	switch f.kind {
	case "id":
		err = checkID(s, t)
	case "url":
		s = strings.TrimRight(s, "/")
		err = checkURL(s)
	case "listen":
		err = checkListen(s, t)
	}
	v.SetString(s)
	return err
}

func checkID(s string, t text) error {
	switch {
	case t.unquoted && exponent.MatchString(s):
		return fmt.Errorf("%s is a number that has lost digits: write the whole id, in quotes", cite(t))
	case strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return fmt.Errorf("%s is not an id: it has a space in it", cite(t))
	case s == "*":
		return errors.New(`"*" is not an id: allow_all: true lets everybody in`)
	}
	return nil
}

// wants says in words what the field takes.
func (f *field) wants() string {
	switch {
	case f.typ.Kind() == reflect.Slice:
		return "a list"
	case f.typ == reflect.TypeFor[Duration]():
		return "a time like 90s"
	case f.typ == reflect.TypeFor[Size]():
		return "a size like 64KiB"
	case f.typ.Kind() == reflect.Bool:
		return "true or false"
	case f.typ.Kind() == reflect.Int:
		return "a whole number"
	case f.words() != nil:
		return "one of " + strings.Join(f.words(), ", ")
	}
	return "one text"
}

// cite quotes what was written, as far as a message has room for it.
func cite(t text) string {
	const room = 40
	s := []rune(t.shown)
	if len(s) > room {
		return strconv.Quote(string(s[:room]) + "…")
	}
	return strconv.Quote(string(s))
}
