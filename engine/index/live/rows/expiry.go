package rows

import "time"

// A Time is a time in whole seconds since 1970; 0 is never.
type Time uint64

// momentOf returns the first whole second that is not before t.
func momentOf(t time.Time) Time {
	s := t.Unix()
	if t.Nanosecond() > 0 {
		s++
	}
	return Time(max(s, 0))
}

// Expired reports whether what expires at m has expired for a reader that began at now.
func (m Time) Expired(now Time) bool { return m != 0 && m <= now }

// Expiries say when the documents of a segment's rows expire: runs of rows of one moment. What
// comes with one time to live is one run a second, whatever comes in that second.
//
//	row    0   1   2   3   4        rows   0  3
//	       60  60  60  61  61       times 60 61
//
// They are empty where no document expires.
type Expiries struct {
	runs[Time]
	First Time // when the first document expires; 0 when none does
	last  Time // when the last one does; 0 while one never does
}

// Append adds n rows that expire at one moment.
func (e *Expiries) Append(at Time, n uint64) {
	if n == 0 {
		return
	}
	if len(e.Values) == 0 || e.Values[len(e.Values)-1] != at {
		if forever := at == 0 || e.N > 0 && e.last == 0; forever {
			e.last = 0
		} else {
			e.last = max(e.last, at)
		}
		if at != 0 && (e.First == 0 || at < e.First) {
			e.First = at
		}
		e.begin(at)
	}
	e.N += n
}

// At returns when a row expires.
func (e *Expiries) At(row uint64) Time {
	if e.First == 0 {
		return 0
	}
	return e.Values[e.of(row)]
}

// Any reports whether a reader that began at now sees some row expired, all whether it sees all.
func (e *Expiries) Any(now Time) bool { return e.First.Expired(now) }
func (e *Expiries) All(now Time) bool { return e.N > 0 && e.last.Expired(now) }

// Count returns how many rows have expired.
func (e *Expiries) Count(now Time) (n uint64) {
	if !e.Any(now) {
		return 0
	}
	for r := range e.Runs {
		if r.Value.Expired(now) {
			n += r.N
		}
	}
	return n
}

// Between calls f with when the rows from row to row end expire, and how many of them do then, in
// order.
func (e *Expiries) Between(row, end uint64, f func(at Time, n uint64)) {
	if e.First == 0 {
		f(0, end-row)
		return
	}
	for i := e.of(row); row < end; i++ {
		past := min(end, e.end(i))
		f(e.Values[i], past-row)
		row = past
	}
}

// ReadExpiries makes those of n rows from what a file has; ok is false when they cannot be.
func ReadExpiries(rows []uint64, times []Time, n uint64) (e Expiries, ok bool) {
	if len(rows) != len(times) || n == 0 || len(rows) == 0 || rows[0] != 0 {
		return e, false
	}
	for i := range rows {
		end := n
		if i+1 < len(rows) {
			end = rows[i+1]
		}
		if end <= rows[i] || end > n || times[i] > TimeMax {
			return e, false
		}
		e.Append(times[i], end-rows[i])
	}
	return e, true
}

// TimeMax is the last moment that a file or a record may have: about the year 36,000.
const TimeMax = 1 << 40
