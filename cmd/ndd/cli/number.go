package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/plan"
)

// Number returns a count with its noun in the singular or plural: "1 document", "2,000 queries".
func Number[T int | uint64](n T, noun string) string {
	text := humanize.Comma(int64(n)) + " "
	stem, y := strings.CutSuffix(noun, "y")
	switch {
	case n == 1:
		return text + noun
	case y:
		return text + stem + "ies"
	}
	return text + noun + "s"
}

// ParseCount parses numbers such as 8e9, 8G, 100M, 1.5e6 and 8,000,000,000.
func ParseCount(s string) (uint64, error) {
	number, scale := strings.ReplaceAll(s, ",", ""), 1.0
	for suffix, by := range map[string]float64{"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "B": 1e9, "T": 1e12} {
		if strings.HasSuffix(number, suffix) {
			number, scale = strings.TrimSuffix(number, suffix), by
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if v *= scale; err != nil || !(v >= 1 && v <= plan.FingerprintsMax) {
		return 0, fmt.Errorf("must be a number from 1 to 2^40, such as 8e9 or 100M")
	}
	return uint64(math.Round(v)), nil
}

// ParseMemory returns --memory in bytes, or 0 if it was not given.
func ParseMemory(s string) (uint64, error) {
	if s == "" {
		return 0, nil
	}
	bytes, err := humanize.ParseBytes(s)
	if err != nil || bytes == 0 {
		return 0, Usagef("--memory %q: must be a size such as 16GiB", s)
	}
	return bytes, nil
}

// ttlUnits are the units of a time to live.
var ttlUnits = map[byte]time.Duration{'d': 24 * time.Hour, 'h': time.Hour, 'm': time.Minute, 's': time.Second}

// ParseTTL reads a time to live: a whole number of days, hours, minutes or seconds, or forever.
func ParseTTL(text string) (time.Duration, error) {
	if text == "forever" {
		return rows.Forever, nil
	}
	last := max(len(text)-1, 0)
	n, err := strconv.ParseUint(text[:last], 10, 31)
	if err != nil || n == 0 || last > 6 || text[0] == '0' || ttlUnits[text[last]] == 0 {
		return 0, errors.New("must be a time such as 90d, 36h, 10m or 30s, of at most 6 digits, or forever")
	}
	if unit := ttlUnits[text[last]]; n <= math.MaxInt64/uint64(unit) {
		return time.Duration(n) * unit, nil
	}
	return rows.Forever, nil // more than 292 years
}
