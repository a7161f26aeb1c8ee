package rows

import (
	"cmp"
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// Forever is the time to live of a document that never expires, whatever the index's own is.
const Forever time.Duration = -1

// JumpMax is how far the system's clock may be from the time of an index before a person has to
// confirm it.
const JumpMax = 24 * time.Hour

// A Clock tells the time by which documents expire. From [Clock.Begin] on it goes by the monotonic
// clock, so that setting the system's clock brings no document back and expires none. While the two
// differ by more than [JumpMax] it stands still. The zero Clock begins when it is first asked.
type Clock struct {
	System    func() time.Time     // nil is time.Now
	Monotonic func() time.Duration // nil is that of System
	Expiring  atomic.Bool          // some document has a time: otherwise nobody asks what time it is
	begun     atomic.Pointer[beginning]
}

// A beginning is a time and what the monotonic clock was then.
type beginning struct {
	at        time.Time
	monotonic time.Duration
	stopped   bool
	stood     time.Time // when it was stopped
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

// Begin starts the clock at the system's time, or at latest, the time when the index was last open,
// if that is later. If confirm is set and the two are more than [JumpMax] apart the clock stands
// still at latest. A latest of 0 is unknown.
func (c *Clock) Begin(latest Time, confirm bool) {
	b := beginning{at: c.system().Round(0), monotonic: c.monotonic()}
	before := time.Unix(int64(latest), 0)
	if jump := b.at.Sub(before); latest != 0 && confirm && jump.Abs() > JumpMax {
		b.at, b.stopped, b.stood = before, true, before
	} else if latest != 0 && jump < 0 {
		b.at = before
	}
	c.begun.Store(&b)
}

func (c *Clock) beginning() *beginning {
	for c.begun.Load() == nil {
		c.Begin(0, false)
	}
	return c.begun.Load()
}

// goesOn returns the time of a clock that was not stopped.
func (b *beginning) goesOn(monotonic time.Duration) time.Time {
	return b.at.Add(monotonic - b.monotonic)
}

func (c *Clock) time() time.Time {
	b := c.beginning()
	if b.stopped {
		return b.stood
	}
	return b.goesOn(c.monotonic())
}

// Jump stops the clock where the system's differs from it by more than [JumpMax], and lets it go on
// where that is over. It returns the difference while the clock is stopped, else 0. It belongs to
// one goroutine, which calls it now and then.
func (c *Clock) Jump() time.Duration {
	b, system, monotonic := c.beginning(), c.system().Round(0), c.monotonic()
	now := b.goesOn(monotonic)
	jump := system.Sub(now)
	switch stop := jump.Abs() > JumpMax; {
	case stop && !b.stopped:
		c.begun.Store(&beginning{b.at, b.monotonic, true, now})
	case !stop && b.stopped:
		c.begun.Store(&beginning{at: now.Add(max(jump, 0)), monotonic: monotonic})
	}
	if jump.Abs() <= JumpMax {
		return 0
	}
	return jump
}

// Now returns the whole second that has begun, 0 as long as no document ever expires.
func (c *Clock) Now() Time {
	if !c.Expiring.Load() {
		return 0
	}
	return Time(max(c.time().Unix(), 0))
}

// After returns when a document expires that is kept for ttl from now on: up to a second later.
func (c *Clock) After(ttl time.Duration) Time {
	if ttl <= 0 {
		return 0
	}
	c.Expiring.Store(true)
	return momentOf(c.time().Add(ttl))
}

// A Match is a fingerprint of a segment or a memtable that is within the distance asked for of a
// query, or one document of a memtable.
type Match struct {
	Query       int // number of the query
	Distance    int32
	Similarity  float32 // of the one document; see [Verifier.Judge]
	Fingerprint uint64
	Source      int   // number of the segment, or of the memtable counted behind them, or oneDoc
	Doc         DocID // of a match whose source is oneDoc
}

// OneDoc is the source of a match that stands for one document. It sorts last, as memtables are
// behind the segments.
const OneDoc = math.MaxInt

// NewMatch returns the match of fingerprint f with q, which is query number query.
func NewMatch(query int, q, f uint64, source int) Match {
	return Match{Query: query, Distance: int32(bits.OnesCount64(f ^ q)), Fingerprint: f, Source: source}
}

// NewDocMatch returns the match of one document, whose fingerprint is f and which has the given
// similarity, with q, which is query number query.
func NewDocMatch(query int, q, f uint64, doc DocID, similarity float32) Match {
	m := NewMatch(query, q, f, OneDoc)
	m.Doc, m.Similarity = doc, similarity
	return m
}

// CompareMatches orders matches by query, distance, fingerprint and source.
func CompareMatches(a, b Match) int {
	return cmp.Or(cmp.Compare(a.Query, b.Query), cmp.Compare(a.Distance, b.Distance),
		cmp.Compare(a.Fingerprint, b.Fingerprint), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Doc, b.Doc))
}
