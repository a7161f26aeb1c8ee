package dedup

import (
	"cmp"
	"math"
	"strconv"

	"ndd/engine/corpus/document"
)

// values are what documents are kept by: dates or the values of a field, as
// integers in the same order.
//
//	0          none
//	1          a string: see texts
//	from 2     a number, by the bits of a float64, or a date
//
// so that any number is larger than any string.
type values struct {
	keep    Keep
	keys    []uint64 // empty if the policy needs none
	texts   []string // empty until one is no number
	missing int
	noDate  string
}

const (
	keyNone = iota
	keyText
	keyFirst
)

// append adds the value of the next row.
func (v *values) append(value document.Value, modified int64) {
	if v.keep.Policy != Newest && v.keep.Policy != Largest {
		return
	}
	key, text := uint64(keyNone), ""
	switch {
	case v.keep.Policy == Newest && value.Found:
		if ns, ok := parseTime(value.Text); ok {
			key = max(uint64(ns)^1<<63, keyFirst)
		} else if v.noDate == "" {
			v.noDate = value.Text
		}
	case v.keep.Policy == Newest && modified != 0:
		key = max(uint64(modified)^1<<63, keyFirst)
	case v.keep.Policy == Largest && value.Found:
		if f, err := strconv.ParseFloat(value.Text, 64); err == nil && !math.IsNaN(f) {
			key = max(numberKey(f), keyFirst)
		} else {
			key, text = keyText, value.Text
		}
	}
	if key == keyNone {
		v.missing++
	}
	v.keys = append(v.keys, key)
	if text != "" && v.texts == nil {
		v.texts = make([]string, len(v.keys)-1, cap(v.keys))
	}
	if v.texts != nil {
		v.texts = append(v.texts, text)
	}
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
	if c := cmp.Compare(v.keys[a], v.keys[b]); c != 0 || v.keys[a] != keyText || v.texts == nil {
		return c
	}
	return cmp.Compare(v.texts[a], v.texts[b])
}
