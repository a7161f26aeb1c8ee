package live

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/search"
	"ndd/engine/oracle/must"
)

// A clocked index is opened with a system's clock that the test sets, beside a monotonic one.
type clocked struct {
	*Index
	mu        sync.Mutex // guards both clocks
	dir       string
	system    time.Time
	monotonic time.Duration
	jumps     int
}

// reopen opens the index, after a kill if it is open, for a server that confirms the clock or not.
func (c *clocked) reopen(t *testing.T, write, accept bool) {
	t.Helper()
	if c.Index != nil {
		must.Do(t, c.end())
	}
	c.jumps = 0
	c.Index = openFolder(t, c.dir, OpenOptions{Write: write, AcceptClock: accept,
		ClockJumped: func(time.Duration) { c.jumps++ },
		now: func() time.Time {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.system
		}, monotonic: func() time.Duration {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.monotonic
		}})
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

func (c *clocked) add(t *testing.T, f rows.Doc) {
	t.Helper()
	if _, err := c.Insert(t.Context(), []rows.Doc{f}); err != nil {
		t.Fatal(err)
	}
}

// found returns how many documents with one of two fingerprints are found.
func (c *clocked) found(t *testing.T) (n int) {
	t.Helper()
	s := c.Searcher()
	defer s.Done()
	for f := range 2 {
		hits, err := s.Query(fingerprintOf(string(rune('a'+f))), 0, 0, search.AllDocs)
		must.Do(t, err)
		n += len(hits)
	}
	return n
}

func newClocked(t *testing.T) *clocked {
	c := &clocked{dir: filepath.Join(t.TempDir(), "index"), system: time.Unix(1_000_000_000, 0)}
	newFolder(t, c.dir).Close()
	c.reopen(t, true, false)
	return c
}

// TestClockJumps sets the clock ten years forward while an index is open, and between two openings:
// nothing expires until the clock is right again, or somebody confirms it.
func TestClockJumps(t *testing.T) {
	c := newClocked(t)
	const years = 10 * 365 * 24 * time.Hour
	c.add(t, rows.Doc{Fingerprint: fingerprintOf("a"), ID: "a", TTL: 90 * 24 * time.Hour})
	expect := func(what string, want, jumps int) {
		t.Helper()
		stopped := c.upkeep.watchClock(c.jumps > 0)
		must.Do(t, c.upkeep.DropExpired(t.Context()))
		if got := c.found(t); got != want || c.jumps != jumps || stopped != (jumps > 0) {
			t.Errorf("%s: %d documents, told %d times of a jump, stopped %t; want %d and %d", what, got, c.jumps, stopped,
				want, jumps)
		}
	}
	must.Do(t, c.Flush(t.Context()))
	c.set(years)
	expect("while it is open", 1, 1)
	c.pass(1500 * time.Millisecond)
	expect("a second later", 1, 1)
	c.reopen(t, true, false)
	expect("opened with it", 1, 1)
	c.reopen(t, false, false)
	expect("opened for reading", 0, 0)
	c.reopen(t, true, false)
	c.set(-years)
	c.upkeep.watchClock(true)
	c.jumps = 0
	expect("set right", 1, 0)
	c.set(-years)
	c.reopen(t, true, false)
	expect("set back", 1, 1)
	c.pass(100 * 24 * time.Hour)
	expect("nothing expires meanwhile", 1, 1)
	c.reopen(t, true, true)
	expect("confirmed", 1, 0)
	c.set(2 * years)
	c.reopen(t, true, true)
	expect("confirmed and expired", 0, 0)
}

// TestClockSetBack sets the clock back across a kill: of an expired document and the one that has
// its ID since then, one is found.
func TestClockSetBack(t *testing.T) {
	for _, flushed := range []bool{false, true} {
		c := newClocked(t)
		c.add(t, rows.Doc{Fingerprint: fingerprintOf("a"), ID: "id", TTL: time.Minute})
		if flushed {
			must.Do(t, c.Flush(t.Context()))
		}
		c.pass(2 * time.Minute)
		c.add(t, rows.Doc{Fingerprint: fingerprintOf("b"), ID: "id"})
		for _, write := range []bool{false, true} {
			c.set(-time.Hour)
			if c.reopen(t, write, false); c.found(t) != 1 {
				t.Errorf("flushed %t: %d documents have the ID", flushed, c.found(t))
			}
		}
		if n, err := c.Delete(t.Context(), "id"); n != 1 || err != nil || c.found(t) != 0 {
			t.Errorf("deleted %d: %v; %d are left", n, err, c.found(t))
		}
	}
}

// TestClockIsKept: an index with documents that expire has the time in its manifest, and sets it
// each hour.
func TestClockIsKept(t *testing.T) {
	c := newClocked(t)
	seen := func() rows.Time { return c.folder.current().Live.Time }
	c.upkeep.keep(false)
	if seen() != 0 {
		t.Error("a time, and nothing expires")
	}
	c.add(t, rows.Doc{Fingerprint: 1, TTL: time.Minute})
	for _, pass := range []struct{ by, late time.Duration }{{0, 0}, {time.Hour - time.Second, time.Hour - time.Second},
		{time.Second, 0}} {
		c.pass(pass.by)
		c.upkeep.keep(false)
		if got, want := seen(), rows.Time(c.system.Add(-pass.late).Unix()); got != want {
			t.Errorf("after %v: %d, want %d", pass.by, got, want)
		}
	}
}
