package live

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/search"
	"ndd/engine/oracle/must"
)

// A clocked index is opened with a system's clock that the test sets, beside a monotonic one.
type clocked struct {
	*Index
	dir       string
	ttl       time.Duration // of documents that say nothing else
	mu        sync.Mutex    // guards both clocks
	system    time.Time
	monotonic time.Duration
	jumps     int
}

func newClocked(t *testing.T, ttl time.Duration) *clocked {
	t.Helper()
	c := &clocked{dir: filepath.Join(t.TempDir(), "index"), ttl: ttl, system: time.Unix(1_000_000_000, 0)}
	recipe := simhash.Default()
	create(t, c.dir, Config{Design: halves(t), Recipe: &recipe, IDs: true, Table: planar})
	c.open(t, true, false)
	return c
}

// open opens the index, after a kill if it is open, for a server that confirms the clock or not.
func (c *clocked) open(t *testing.T, write, accept bool) {
	t.Helper()
	if c.Index != nil {
		must.Do(t, c.end())
	}
	c.jumps = 0
	c.Index = openFolder(t, c.dir, OpenOptions{Write: write, Sync: -1, TTL: c.ttl, AcceptClock: accept,
		Events: Events{ClockJumped: func(time.Duration) { c.jumps++ }},
		simulation: simulation{now: func() time.Time {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.system
		}, monotonic: func() time.Duration {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.monotonic
		}}})
	c.upkeep.watchClock(false)
}

func (c *clocked) pass(d time.Duration) {
	c.set(d)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.monotonic += d
}

// set sets the system's clock forward or back.
func (c *clocked) set(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.system = c.system.Add(by)
}

func (c *clocked) insert(t *testing.T, ttl time.Duration, ids ...string) {
	t.Helper()
	var docs []rows.Doc
	for _, id := range ids {
		docs = append(docs, rows.Doc{Fingerprint: fingerprintOf(id), ID: id, TTL: ttl})
	}
	insert(t, c.Index, docs...)
}

// found returns how many documents have the fingerprint of an ID.
func (c *clocked) found(t *testing.T, id string) int {
	t.Helper()
	s := c.Searcher()
	defer s.Done()
	hits, err := s.Query(fingerprintOf(id), 0, search.AllDocs)
	must.Do(t, err)
	return len(docsOf(hits))
}

// has reports whether a document is found by its fingerprint, and demands that it is by its ID.
func (c *clocked) has(t *testing.T, id string) bool {
	t.Helper()
	n := c.found(t, id)
	_, found, err := c.Find(id)
	if err != nil || found != (n > 0) {
		t.Fatalf("%s: found by its ID %t, by its fingerprint %d times: %v", id, found, n, err)
	}
	return found
}

// TestClockJumps sets the clock ten years forward while an index is open, and between two openings:
// nothing expires until the clock is right again, or somebody confirms it.
func TestClockJumps(t *testing.T) {
	c := newClocked(t, 0)
	const years = 10 * 365 * 24 * time.Hour
	c.insert(t, 90*24*time.Hour, "a")
	expect := func(what string, want, jumps int) {
		t.Helper()
		stopped := c.upkeep.watchClock(c.jumps > 0)
		must.Do(t, c.upkeep.DropExpired(t.Context()))
		if got := c.found(t, "a"); got != want || c.jumps != jumps || stopped != (jumps > 0) {
			t.Errorf("%s: %d documents, told %d times of a jump, stopped %t; want %d and %d", what, got, c.jumps, stopped,
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

// TestClockSetBack sets the clock back across a kill: of an expired document and the one that has
// its ID since then, one is found.
func TestClockSetBack(t *testing.T) {
	for _, flushed := range []bool{false, true} {
		c := newClocked(t, 0)
		both := func() int { return c.found(t, "a") + c.found(t, "b") }
		insert(t, c.Index, rows.Doc{Fingerprint: fingerprintOf("a"), ID: "id", TTL: time.Minute})
		if flushed {
			must.Do(t, c.Flush(t.Context()))
		}
		c.pass(2 * time.Minute)
		insert(t, c.Index, rows.Doc{Fingerprint: fingerprintOf("b"), ID: "id"})
		for _, write := range []bool{false, true} {
			c.set(-time.Hour)
			if c.open(t, write, false); both() != 1 {
				t.Errorf("flushed %t: %d documents have the ID", flushed, both())
			}
		}
		if n, err := c.Delete(t.Context(), "id"); n != 1 || err != nil || both() != 0 {
			t.Errorf("deleted %d: %v; %d are left", n, err, both())
		}
	}
}

// TestClockIsKept: an index with documents that expire has the time in its manifest, and sets it
// each hour.
func TestClockIsKept(t *testing.T) {
	c := newClocked(t, 0)
	seen := func() rows.Time { return c.folder.current().Live.Time }
	c.upkeep.keep(false)
	if seen() != 0 {
		t.Error("a time, and nothing expires")
	}
	insert(t, c.Index, rows.Doc{Fingerprint: 1, TTL: time.Minute})
	for _, pass := range []struct{ by, late time.Duration }{{0, 0}, {time.Hour - time.Second, time.Hour - time.Second},
		{time.Second, 0}} {
		c.pass(pass.by)
		c.upkeep.keep(false)
		if got, want := seen(), rows.Time(c.system.Add(-pass.late).Unix()); got != want {
			t.Errorf("after %v: %d, want %d", pass.by, got, want)
		}
	}
}
