package dedup

import (
	"cmp"
	"math"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"time"

	"ndd/engine/corpus/format"
	"ndd/engine/storage/spill"
)

// values are what documents are kept by, by one policy: lengths, dates or the values of a field, as
// integers in the same order.
//
//	0          none
//	1          a string: see text
//	from 2     a number, by the bits of a float64, a date or a length; integers that are rounded have their text, too
//
// so that any number is larger than any string.
type values struct {
	by      By
	at      int // of its value among those of a document; -1 where it goes by none
	keys    spill.Column[uint64]
	text    func(row int) string // of a value that is a string or a rounded number
	missing int
	noDate  string
}

const (
	keyNone = iota
	keyText
	keyFirst
)

// valueAt returns the value for list i of fields; of a document without fields there is none.
func valueAt(values []format.Value, i int) format.Value {
	if i >= 0 && i < len(values) {
		return values[i]
	}
	return format.Value{}
}

// key returns the key of a document, and the value if the key is not all of it.
func (b By) key(value format.Value, length uint32, modified int64) (key uint64, text string) {
	switch {
	case b.Policy == Longest:
		return uint64(length) + keyFirst, ""
	case b.Policy == Shortest:
		return math.MaxUint64 - uint64(length), ""
	case b.Policy == Newest && value.Found:
		if ns, ok := parseTime(value.Text); ok {
			return max(uint64(ns)^1<<63, keyFirst), ""
		}
	case b.Policy == Newest && modified != 0:
		return max(uint64(modified)^1<<63, keyFirst), ""
	case b.Policy == Largest && value.Found:
		if f, err := strconv.ParseFloat(value.Text, 64); err == nil && !math.IsNaN(f) {
			key = max(numberKey(f), keyFirst)
			if isRounded(key) {
				text = value.Text
			}
			return key, text
		}
		return keyText, value.Text
	}
	return keyNone, ""
}

// append adds the key of the next row, and returns the value if the key is not all of it.
func (v *values) append(value format.Value, length uint32, modified int64) (text string, err error) {
	key, text := v.by.key(value, length, modified)
	if key == keyNone {
		v.missing++
		v.noDate = cmp.Or(v.noDate, value.Text)
	}
	return text, v.keys.Append(key)
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

// isRounded reports whether the key is that of several integers: of 2^53 or more, or of -2^53 or less.
func isRounded(key uint64) bool { return key >= numberKey(1<<53) || key <= numberKey(-1<<53) }

// compare compares the values of two rows.
func (v *values) compare(a, b int) int {
	key := v.keys.All[a]
	switch c := cmp.Compare(key, v.keys.All[b]); {
	case c == 0 && key == keyText:
		return cmp.Compare(v.text(a), v.text(b))
	case c == 0 && v.by.Policy == Largest && isRounded(key):
		x, isX := new(big.Rat).SetString(v.text(a))
		y, isY := new(big.Rat).SetString(v.text(b))
		if isX && isY {
			return x.Cmp(y)
		}
		return 0
	default:
		return c
	}
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
