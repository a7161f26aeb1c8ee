package keep

import (
	"cmp"
	"math"
	"math/big"
	"strconv"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/storage/spill"
)

// A Column has the values of documents for one policy: lengths, dates or the values of a field, as integers in the
// same order.
//
//	0          none
//	1          a string: see Text
//	from 2     a number, by the bits of a float64, a date or a length; integers that are rounded have their text, too
//
// so that any number is larger than any string.
type Column struct {
	Missing
	Keys spill.Column[uint64]
	Text func(row int) string // returns a value that is a string or a rounded number
}

// Missing has the number of documents without a value for a policy.
type Missing struct {
	By
	Documents int
	NoDate    string // an example of a value that is no date
}

const (
	keyNone = iota
	keyText
	keyFirst
)

// key returns the key of a document, and its value if the key does not tell all values apart.
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

// HasKey reports whether a document has a value for the policy. Its length does not matter.
func (b By) HasKey(value format.Value, modified int64) bool {
	key, _ := b.key(value, 0, modified)
	return key != keyNone
}

// Append adds the value of the next row. It returns the value if Text must return it later.
func (c *Column) Append(value format.Value, length uint32, modified int64) (text string, err error) {
	key, text := c.key(value, length, modified)
	if key == keyNone {
		c.Documents++
		c.NoDate = cmp.Or(c.NoDate, value.Text)
	}
	return text, c.Keys.Append(key)
}

// numberKey maps numbers to integers of the same order: the bits of positive numbers are above the inverted bits of
// negative ones.
func numberKey(f float64) uint64 {
	b := math.Float64bits(f + 0) // one zero
	if b>>63 == 1 {
		return ^b
	}
	return b | 1<<63
}

// isRounded reports whether several integers have the key: integers from 2^53 or to -2^53.
func isRounded(key uint64) bool { return key >= numberKey(1<<53) || key <= numberKey(-1<<53) }

// Compare compares the values of two rows.
func (c *Column) Compare(a, b int) int {
	key := c.Keys.All[a]
	switch order := cmp.Compare(key, c.Keys.All[b]); {
	case order == 0 && key == keyText:
		return cmp.Compare(c.Text(a), c.Text(b))
	case order == 0 && c.Policy == Largest && isRounded(key):
		x, isX := new(big.Rat).SetString(c.Text(a))
		y, isY := new(big.Rat).SetString(c.Text(b))
		if isX && isY {
			return x.Cmp(y)
		}
		return 0
	default:
		return order
	}
}
