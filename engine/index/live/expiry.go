package live

import (
	"sort"
	"sync/atomic"
	"time"
)

// A moment is a time in whole seconds since 1970; 0 is never.
type moment uint64

// momentOf returns the first whole second that is not before t.
func momentOf(t time.Time) moment {
	s := t.Unix()
	if t.Nanosecond() > 0 {
		s++
	}
	return moment(max(s, 0))
}

// expired reports whether what expires at m has expired for a reader that began at now.
func (m moment) expired(now moment) bool { return m != 0 && m <= now }

// Forever is the time to live of a document that never expires, whatever the index's own is.
const Forever time.Duration = -1

// A wallClock tells the time by which documents expire. It never goes back while an index is open, so
// that what has expired once does not come back when the system's clock is set.
type wallClock struct {
	system   func() time.Time // nil is time.Now
	latest   atomic.Uint64    // moment
	expiring atomic.Bool      // some document has a time: otherwise nobody asks what time it is
}

func (c *wallClock) time() time.Time {
	if c.system != nil {
		return c.system()
	}
	return time.Now()
}

// now returns the whole second that has begun, 0 as long as no document ever expires.
func (c *wallClock) now() moment {
	if !c.expiring.Load() {
		return 0
	}
	now := uint64(max(c.time().Unix(), 0))
	for {
		latest := c.latest.Load()
		if latest >= now {
			return moment(latest)
		}
		if c.latest.CompareAndSwap(latest, now) {
			return moment(now)
		}
	}
}

// after returns when a document expires that is kept for ttl from now on: up to a second later.
func (c *wallClock) after(ttl time.Duration) moment {
	if ttl <= 0 {
		return 0
	}
	c.expiring.Store(true)
	begun := c.time()
	if now := time.Unix(int64(c.now()), 0); now.After(begun) {
		begun = now
	}
	return momentOf(begun.Add(ttl))
}

// expiries say when the documents of a segment's rows expire: runs of rows of one moment. What
// comes with one time to live is one run a second, whatever comes in that second.
//
//	row    0   1   2   3   4        rows   0  3
//	       60  60  60  61  61       times 60 61
//
// They are empty where no document expires.
type expiries struct {
	rows  []uint64 // first row of each run
	times []moment
	n     uint64 // rows of all runs
	first moment // when the first document expires; 0 when none does
	last  moment // when the last one does; 0 while one never does
}

// append adds n rows that expire at one moment.
func (e *expiries) append(at moment, n uint64) {
	if n == 0 {
		return
	}
	if len(e.times) == 0 || e.times[len(e.times)-1] != at {
		if forever := at == 0 || e.n > 0 && e.last == 0; forever {
			e.last = 0
		} else {
			e.last = max(e.last, at)
		}
		if at != 0 && (e.first == 0 || at < e.first) {
			e.first = at
		}
		e.rows = append(e.rows, e.n)
		e.times = append(e.times, at)
	}
	e.n += n
}

// of returns when a row expires.
func (e *expiries) of(row uint64) moment {
	if e.first == 0 {
		return 0
	}
	i := sort.Search(len(e.rows), func(i int) bool { return e.rows[i] > row }) - 1
	return e.times[i]
}

// any reports whether a reader that began at now sees some row expired, all whether it sees all.
func (e *expiries) any(now moment) bool { return e.first.expired(now) }
func (e *expiries) all(now moment) bool { return e.n > 0 && e.last.expired(now) }

// count returns how many rows have expired.
func (e *expiries) count(now moment) (n uint64) {
	if !e.any(now) {
		return 0
	}
	for r := range e.runs {
		if r.at.expired(now) {
			n += r.n
		}
	}
	return n
}

// An expiryRun is some rows that expire at one moment.
type expiryRun struct {
	at     moment
	row, n uint64
}

// runs yields the runs in order.
func (e *expiries) runs(yield func(expiryRun) bool) {
	for i, row := range e.rows {
		end := e.n
		if i+1 < len(e.rows) {
			end = e.rows[i+1]
		}
		if !yield(expiryRun{e.times[i], row, end - row}) {
			return
		}
	}
}

// between calls f with when the rows from row to row end expire, and how many of them do then, in order.
func (e *expiries) between(row, end uint64, f func(at moment, n uint64)) {
	if e.first == 0 {
		f(0, end-row)
		return
	}
	for i := sort.Search(len(e.rows), func(i int) bool { return e.rows[i] > row }); row < end; i++ {
		past := end
		if i < len(e.rows) {
			past = min(end, e.rows[i])
		}
		f(e.times[i-1], past-row)
		row = past
	}
}

// readExpiries makes those of n rows from what a file has; ok is false when they cannot be.
func readExpiries(rows []uint64, times []moment, n uint64) (e expiries, ok bool) {
	if len(rows) != len(times) || n == 0 || len(rows) == 0 || rows[0] != 0 {
		return e, false
	}
	for i := range rows {
		end := n
		if i+1 < len(rows) {
			end = rows[i+1]
		}
		if end <= rows[i] || end > n || times[i] > momentMax {
			return e, false
		}
		e.append(times[i], end-rows[i])
	}
	return e, true
}

// momentMax is the last moment that a file or a record may have: about the year 36,000.
const momentMax = 1 << 40
