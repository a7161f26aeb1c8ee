package live

import (
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/oracle/must"
)

// A clockTest is an index with a system clock that the test sets, and a monotonic clock.
type clockTest struct {
	*Index
	dir       string
	ttl       time.Duration // default time to live of documents
	system    atomic.Int64  // both clocks, in ns
	monotonic atomic.Int64
	jumps     int
}

func newClocked(t *testing.T, ttl time.Duration) *clockTest {
	t.Helper()
	c := &clockTest{dir: filepath.Join(t.TempDir(), "index"), ttl: ttl}
	c.system.Store(1_000_000_000e9)
	recipe := simhash.Default()
	must.Do(t, Create(c.dir, Config{Design: halves(t), Recipe: &recipe, IDs: true, Table: planar}))
	c.open(t, true, false)
	return c
}

// open opens the index, after a kill if it is open, for a server that confirms the clock or not.
func (c *clockTest) open(t *testing.T, write, accept bool) {
	t.Helper()
	if c.Index != nil {
		must.Do(t, c.end())
	}
	c.jumps = 0
	c.Index = openFolder(t, c.dir, OpenOptions{Write: write, NoSync: true, TTL: c.ttl, AcceptClock: accept,
		Events: Events{ClockJumped: func(time.Duration) { c.jumps++ }},
		simulation: simulation{now: func() time.Time { return time.Unix(0, c.system.Load()) },
			monotonic: func() time.Duration { return time.Duration(c.monotonic.Load()) }}})
	c.upkeep.watchClock(false)
}

func (c *clockTest) pass(d time.Duration) {
	c.set(d)
	c.monotonic.Add(int64(d))
}

// set sets the system's clock forward or back.
func (c *clockTest) set(step time.Duration) { c.system.Add(int64(step)) }

func (c *clockTest) insert(t *testing.T, ttl time.Duration, ids ...string) {
	t.Helper()
	var docs []rows.Doc
	for _, id := range ids {
		docs = append(docs, rows.Doc{Fingerprint: fingerprintOf(id), ID: id, TTL: ttl})
	}
	insert(t, c.Index, docs...)
}

// has reports whether a document is found by its fingerprint. It fails unless the ID gives the same result.
func (c *clockTest) has(t *testing.T, id string) bool {
	t.Helper()
	n := found(t, c.Index, fingerprintOf(id), 0)
	_, there, err := c.Find(id)
	if err != nil || there != (n > 0) {
		t.Fatalf("%s: found by its ID %t, by its fingerprint %d times: %v", id, there, n, err)
	}
	return there
}

// TestClockJumps sets the clock ten years forward while an index is open, and between two openings. Nothing expires
// until the clock is right again or the user confirms it.
func TestClockJumps(t *testing.T) {
	c := newClocked(t, 0)
	const years = 10 * 365 * 24 * time.Hour
	c.insert(t, 90*24*time.Hour, "a")
	expect := func(name string, want, jumps int) {
		t.Helper()
		stopped := c.upkeep.watchClock(c.jumps > 0)
		mergeDue(t, c.Index)
		if got := found(t, c.Index, fingerprintOf("a"), 0); got != want || c.jumps != jumps || stopped != (jumps > 0) {
			t.Errorf("%s: %d documents, told %d times of a jump, stopped %t; want %d and %d", name, got, c.jumps, stopped,
				want, jumps)
		}
	}
	must.Do(t, c.Flush(t.Context()))
	c.set(years)
	expect("while it is open", 1, 1)
	c.pass(1500 * time.Millisecond)
	expect("a second later", 1, 1)
	c.open(t, true, false)
	expect("opened with it", 1, 1)
	c.open(t, false, false)
	expect("opened for reading", 0, 0)
	c.open(t, true, false)
	c.set(-years)
	c.upkeep.watchClock(true)
	c.jumps = 0
	expect("set right", 1, 0)
	c.set(-years)
	c.open(t, true, false)
	expect("set back", 1, 1)
	c.pass(100 * 24 * time.Hour)
	expect("nothing expires meanwhile", 1, 1)
	c.open(t, true, true)
	expect("confirmed", 1, 0)
	c.set(2 * years)
	c.open(t, true, true)
	expect("confirmed and expired", 0, 0)
}

// TestClockSetBack sets the clock back after the process was killed. An expired document and a later document have the
// same ID; exactly one of them is found.
func TestClockSetBack(t *testing.T) {
	for _, flushed := range []bool{false, true} {
		c := newClocked(t, 0)
		pair := func() int {
			return found(t, c.Index, fingerprintOf("a"), 0) + found(t, c.Index, fingerprintOf("b"), 0)
		}
		insert(t, c.Index, rows.Doc{Fingerprint: fingerprintOf("a"), ID: "id", TTL: time.Minute})
		if flushed {
			must.Do(t, c.Flush(t.Context()))
		}
		c.pass(2 * time.Minute)
		insert(t, c.Index, rows.Doc{Fingerprint: fingerprintOf("b"), ID: "id"})
		for _, write := range []bool{false, true} {
			c.set(-time.Hour)
			if c.open(t, write, false); pair() != 1 {
				t.Errorf("flushed %t: %d documents have the ID", flushed, pair())
			}
		}
		if n, err := c.Delete(t.Context(), "id"); n != 1 || err != nil || pair() != 0 {
			t.Errorf("deleted %d: %v; %d are left", n, err, pair())
		}
	}
}

// TestClockIsKept checks that an index with expiring documents stores the time in its manifest, and updates it each
// hour.
func TestClockIsKept(t *testing.T) {
	c := newClocked(t, 0)
	seen := func() rows.Time { return c.folder.current().Live.Time }
	c.upkeep.keep(false)
	if seen() != 0 {
		t.Error("a time, and nothing expires")
	}
	insert(t, c.Index, rows.Doc{Fingerprint: 1, TTL: time.Minute})
	for _, pass := range []struct{ step, monotonic time.Duration }{{0, 0}, {time.Hour - time.Second, time.Hour - time.Second},
		{time.Second, 0}} {
		c.pass(pass.step)
		c.upkeep.keep(false)
		if got, want := seen(), rows.Time((c.system.Load()-int64(pass.monotonic))/1e9); got != want {
			t.Errorf("after %v: %d, want %d", pass.step, got, want)
		}
	}
}
