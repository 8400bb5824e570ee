package config

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Duration is a length of time; 0 means off.
type Duration time.Duration

// Std gives the duration in the form of the standard library.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String gives the shortest text that reads back as the same duration: 5m, 48h, 0.
func (d Duration) String() string {
	if d == 0 {
		return "0"
	}
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// MarshalText gives the same as String.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

func parseDuration(text string) (Duration, error) {
	if text == "0" {
		return 0, nil
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return 0, errors.New("a time needs a unit: write 90s, 5m or 48h; only 0 (off) stands alone")
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, errors.New("is not a time: write it like 90s, 5m, 1h30m or 48h; 0 is off")
	case d < 0:
		return 0, errors.New("a time cannot be negative; 0 is off")
	}
	return Duration(d), nil
}

// Size is a number of bytes.
type Size int64

// Bytes gives the number of bytes.
func (s Size) Bytes() int64 { return int64(s) }

// String gives the size in the largest unit that divides it.
func (s Size) String() string {
	for _, u := range units() {
		if s != 0 && int64(s)%u.bytes == 0 {
			return strconv.FormatInt(int64(s)/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
}

// MarshalText gives the same as String.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

type unit struct {
	name  string
	bytes int64
}

func units() []unit {
	return []unit{{"GiB", 1 << 30}, {"GB", 1e9}, {"MiB", 1 << 20}, {"MB", 1e6}, {"KiB", 1 << 10}, {"KB", 1e3}}
}

var sizeForm = regexp.MustCompile(`^([0-9]{1,18}(?:\.[0-9]{1,9})?) ?([A-Za-z]+)$`)

func parseSize(text string) (Size, error) {
	const form = "is not a size: write a number with KB, MB, GB, KiB, MiB or GiB, like 64KiB"
	m := sizeForm.FindStringSubmatch(text)
	if m == nil {
		return 0, errors.New(form)
	}
	for _, u := range units() {
		if !strings.EqualFold(u.name, m[2]) {
			continue
		}
		n, ok := new(big.Rat).SetString(m[1])
		if !ok {
			return 0, errors.New(form)
		}
		n.Mul(n, new(big.Rat).SetInt64(u.bytes))
		switch {
		case !n.IsInt():
			return 0, fmt.Errorf("is not a whole number of bytes")
		case !n.Num().IsInt64():
			return 0, errors.New("is too large")
		}
		return Size(n.Num().Int64()), nil
	}
	return 0, errors.New(form)
}
