package rows

import (
	"cmp"
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// Forever is the time to live of a document that never expires, whatever the default of the index is.
const Forever time.Duration = -1

// JumpMax is the maximum difference between the system's clock and the last time of an index. Beyond it a person must
// confirm the clock.
const JumpMax = 24 * time.Hour

// A Clock returns the time for the expiry of documents. After [Clock.Begin] it follows the monotonic clock, so that
// setting the system's clock neither expires documents nor brings them back. It stops while the two differ by more than
// [JumpMax]. The zero Clock begins with its first use.
type Clock struct {
	System    func() time.Time     // nil is time.Now
	Monotonic func() time.Duration // nil uses System
	Expiring  atomic.Bool          // some document expires; otherwise the clock is not read
	begun     atomic.Pointer[clockBase]
}

// A clockBase is a time and the reading of the monotonic clock at that time.
type clockBase struct {
	wall      time.Time
	monotonic time.Duration
	stopped   bool
	stopTime  time.Time // time at which it was stopped
}

func (c *Clock) system() time.Time {
	if c.System != nil {
		return c.System()
	}
	return time.Now()
}

var processBegan = time.Now()

func (c *Clock) monotonic() time.Duration {
	if c.Monotonic != nil {
		return c.Monotonic()
	}
	return c.system().Sub(processBegan)
}

// Begin starts the clock at the system's time, or at latest if that is later: the time when the index was last open. If
// confirm is set and the two differ by more than [JumpMax], the clock stops at latest. A latest of 0 is unknown.
func (c *Clock) Begin(latest Time, confirm bool) {
	b := clockBase{wall: c.system().Round(0), monotonic: c.monotonic()}
	previous := time.Unix(int64(latest), 0)
	if jump := b.wall.Sub(previous); latest != 0 && confirm && jump.Abs() > JumpMax {
		b.wall, b.stopped, b.stopTime = previous, true, previous
	} else if latest != 0 && jump < 0 {
		b.wall = previous
	}
	c.begun.Store(&b)
}

func (c *Clock) base() *clockBase {
	for c.begun.Load() == nil {
		c.Begin(0, false)
	}
	return c.begun.Load()
}

// running returns the time of a clock that was not stopped.
func (b *clockBase) running(monotonic time.Duration) time.Time {
	return b.wall.Add(monotonic - b.monotonic)
}

func (c *Clock) time() time.Time {
	b := c.base()
	if b.stopped {
		return b.stopTime
	}
	return b.running(c.monotonic())
}

// Jump stops the clock if the system's clock differs from it by more than [JumpMax], and restarts it when the
// difference is smaller. It returns the difference while the clock is stopped, else 0. One goroutine calls it from time
// to time.
func (c *Clock) Jump() time.Duration {
	b, system, monotonic := c.base(), c.system().Round(0), c.monotonic()
	now := b.running(monotonic)
	jump := system.Sub(now)
	switch stop := jump.Abs() > JumpMax; {
	case stop && !b.stopped:
		c.begun.Store(&clockBase{b.wall, b.monotonic, true, now})
	case !stop && b.stopped:
		c.begun.Store(&clockBase{wall: now.Add(max(jump, 0)), monotonic: monotonic})
	}
	if jump.Abs() <= JumpMax {
		return 0
	}
	return jump
}

// Now returns the current whole second, or 0 as long as no document expires.
func (c *Clock) Now() Time {
	if !c.Expiring.Load() {
		return 0
	}
	return Time(max(c.time().Unix(), 0))
}

// After returns the time at which a document with a time to live of ttl expires, rounded up to a second.
func (c *Clock) After(ttl time.Duration) Time {
	if ttl <= 0 {
		return 0
	}
	c.Expiring.Store(true)
	return momentOf(c.time().Add(ttl))
}

// A Match is a fingerprint of a segment or memtable within the distance of a query, or one document of a memtable.
type Match struct {
	Query       int // number of the query
	Distance    int32
	Similarity  float32 // similarity of Doc; see [Verifier.Judge]
	Fingerprint uint64
	Source      int   // number of the segment, number of the memtable plus the number of segments, or OneDoc
	Doc         DocID // document of a match with source OneDoc
}

// OneDoc is the source of a match of a single document. It sorts last, because memtables follow the segments.
const OneDoc = math.MaxInt

// NewMatch returns the match of fingerprint f with q, the query with the given number.
func NewMatch(query int, q, f uint64, source int) Match {
	return Match{Query: query, Distance: int32(bits.OnesCount64(f ^ q)), Fingerprint: f, Source: source}
}

// NewDocMatch returns the match of one document, with fingerprint f and the given similarity, with q, the query with
// the given number.
func NewDocMatch(query int, q, f uint64, doc DocID, similarity float32) Match {
	m := NewMatch(query, q, f, OneDoc)
	m.Doc, m.Similarity = doc, similarity
	return m
}

// CompareMatches orders the matches of one query by distance, fingerprint and source.
func CompareMatches(a, b Match) int {
	switch { // cmp.Or would compare all fields
	case a.Distance != b.Distance:
		return cmp.Compare(a.Distance, b.Distance)
	case a.Fingerprint != b.Fingerprint:
		return cmp.Compare(a.Fingerprint, b.Fingerprint)
	case a.Source != b.Source:
		return cmp.Compare(a.Source, b.Source)
	}
	return cmp.Compare(a.Doc, b.Doc)
}
