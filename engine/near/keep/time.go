package keep

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// timeLayouts are the layouts of dates, in addition to numbers and the dates of HTTP. A date without a zone is in UTC.
// Seconds may have a fraction.
var timeLayouts = [...]string{
	time.RFC3339, "2006-01-02", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04",
	"2006-01-02T15:04", "2006-01", "2006/01/02", "2006/01/02 15:04:05", time.RFC1123Z, "2 Jan 2006", "2 January 2006",
	"January 2, 2006", "2-Jan-2006",
	"2-Jan-2006 15:04:05", "2006-01-02 15:04:05 -0700 MST", "2006-01-02 15:04:05 MST", time.UnixDate,
}

// digitLayouts are the layouts of dates that have digits only, by their number. The last one is used by web archives.
var digitLayouts = map[int]string{4: "2006", 8: "20060102", 14: "20060102150405"}

// parseTime returns a date in nanoseconds since 1970. Dates before 1678 or after 2261 do not fit and are clamped.
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

// unix converts a number to nanoseconds since 1970. It guesses from the size of the number whether the unit is seconds,
// milli-, micro- or nanoseconds: values below 1e11 are seconds, and each smaller unit follows after a factor of 1000.
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

// nanoseconds returns t, clamped to the range of 64 bits.
func nanoseconds(t time.Time) int64 {
	switch {
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return t.UnixNano()
}
