package dedup

import (
	"cmp"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"ndd/engine/corpus/document"
)

// values are what documents are kept by, by one policy: dates or the values of a field, as
// integers in the same order.
//
//	0          none
//	1          a string: see text
//	from 2     a number, by the bits of a float64, or a date
//
// so that any number is larger than any string.
type values struct {
	by      By
	keys    column[uint64]
	text    func(row int) string // of a value that is a string
	missing int
	noDate  string
}

const (
	keyNone = iota
	keyText
	keyFirst
)

// valueAt returns the value for list i of fields; of a document without fields there is none.
func valueAt(values []document.Value, i int) document.Value {
	if i >= 0 && i < len(values) {
		return values[i]
	}
	return document.Value{}
}

// append adds the value of the next row, and returns it if it is a string.
func (v *values) append(value document.Value, modified int64) (text string, err error) {
	key := uint64(keyNone)
	switch {
	case v.by.Policy == Newest && value.Found:
		if ns, ok := parseTime(value.Text); ok {
			key = max(uint64(ns)^1<<63, keyFirst)
		} else if v.noDate == "" {
			v.noDate = value.Text
		}
	case v.by.Policy == Newest && modified != 0:
		key = max(uint64(modified)^1<<63, keyFirst)
	case v.by.Policy == Largest && value.Found:
		if f, err := strconv.ParseFloat(value.Text, 64); err == nil && !math.IsNaN(f) {
			key = max(numberKey(f), keyFirst)
		} else {
			key, text = keyText, value.Text
		}
	}
	if key == keyNone {
		v.missing++
	}
	return text, v.keys.append(key)
}

// numberKey orders numbers as their values: the bits of positive ones above
// the inverted bits of negative ones.
func numberKey(f float64) uint64 {
	b := math.Float64bits(f + 0) // one zero
	if b>>63 == 1 {
		return ^b
	}
	return b | 1<<63
}

// compare compares the values of two rows.
func (v *values) compare(a, b int) int {
	if c := cmp.Compare(v.keys.all[a], v.keys.all[b]); c != 0 || v.keys.all[a] != keyText {
		return c
	}
	return cmp.Compare(v.text(a), v.text(b))
}

// timeLayouts are the dates that are understood beside numbers and those of
// HTTP. Without a zone they are UTC. Seconds may have a fraction.
var timeLayouts = [...]string{
	time.RFC3339, "2006-01-02", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04",
	"2006-01-02T15:04", "2006-01", "2006/01/02", "2006/01/02 15:04:05", time.RFC1123Z, "2 Jan 2006", "2 January 2006",
	"January 2, 2006", "2-Jan-2006",
	"2-Jan-2006 15:04:05", "2006-01-02 15:04:05 -0700 MST", "2006-01-02 15:04:05 MST", time.UnixDate,
}

// digitLayouts are dates of digits only, by their number: the last is that of
// web archives.
var digitLayouts = map[int]string{4: "2006", 8: "20060102", 14: "20060102150405"}

// parseTime returns a date in nanoseconds since 1970, as far as 64 bits reach:
// years 1678 to 2261; others are clamped.
func parseTime(s string) (ns int64, ok bool) {
	s = strings.TrimSpace(s)
	if layout, digits := digitLayouts[len(s)]; digits && strings.Trim(s, "0123456789") == "" {
		if t, err := time.Parse(layout, s); err == nil {
			return nanoseconds(t), true
		}
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
		return unix(s, f), true
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return nanoseconds(t), true
		}
	}
	if t, err := http.ParseTime(s); err == nil {
		return nanoseconds(t), true
	}
	return 0, false
}

// unix returns the nanoseconds of a number that is taken for seconds, milli-, micro- or nanoseconds
// since 1970 by its size: each reaches as far as the year 5138 would be in the one before.
func unix(s string, f float64) int64 {
	scale := 1e9
	for limit := 1e11; scale > 1 && math.Abs(f) >= limit; limit *= 1e3 {
		scale /= 1e3
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		if hi := n * int64(scale); hi/int64(scale) == n {
			return hi // exactly
		}
	}
	if f *= scale; math.Abs(f) < math.MaxInt64 {
		return int64(f)
	}
	if f < 0 {
		return math.MinInt64
	}
	return math.MaxInt64
}

// nanoseconds returns t, or the end of what 64 bits can say.
func nanoseconds(t time.Time) int64 {
	switch {
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return t.UnixNano()
}
