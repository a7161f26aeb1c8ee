package main

import (
	"bytes"
	"math/bits"
	"slices"
	"strings"
	"testing"
	"time"
)

// misses counts, with nothing of the search but its result, the ways to put k errors on points that no
// set finds.
func misses(sets []uint32, radii []int, points, k int) (count int) {
	errs := make([]int, points)
	var place func(from, left int)
	place = func(from, left int) {
		if left > 0 {
			for p := from; p < points; p++ {
				errs[p]++
				place(p, left-1)
				errs[p]--
			}
			return
		}
		for i, set := range sets {
			hits := 0
			for p, n := range errs {
				hits += n * int(set>>p&1)
			}
			if hits <= radii[i] {
				return
			}
		}
		count++
	}
	place(0, k)
	return count
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		k, points, lead int
		radii           []int
	}{
		{1, 2, 1, []int{0, 0}},
		{2, 4, 2, make([]int, 6)},
		{3, 6, 2, make([]int, 6)},
		{3, 8, 4, make([]int, 14)},
		{3, 11, 5, make([]int, 11)},
		{3, 5, 2, []int{1, 0, 0, 0}},
		{4, 6, 3, []int{1, 1, 1, 1, 1, 1}},
		{5, 7, 3, []int{1, 1, 1, 1, 1, 1, 1}},
	} {
		s := searcher{k: c.k, limit: time.Minute, seed: 1}
		sets, ok := s.find(c.points, c.lead, c.radii)
		if !ok {
			t.Errorf("k = %d, %d of %d points, radii %v: not found in %v", c.k, c.lead, c.points, c.radii, s.limit)
			continue
		}
		for _, set := range sets {
			if bits.OnesCount32(set) != c.lead || set>>c.points != 0 {
				t.Errorf("k = %d: the set %b has not %d of %d points", c.k, set, c.lead, c.points)
			}
		}
		if n := misses(sets, c.radii, c.points, c.k); n != 0 {
			t.Errorf("k = %d, %d of %d points: %s misses %d patterns", c.k, c.lead, c.points, spell(sets, c.radii), n)
		}
	}
}

// There are no three pairs of four points that two errors cannot all hit.
func TestFindGivesUp(t *testing.T) {
	s := searcher{k: 2, limit: 50 * time.Millisecond, seed: 1}
	if sets, ok := s.find(4, 2, []int{0, 0, 0}); ok {
		t.Errorf("found %s", spell(sets, []int{0, 0, 0}))
	}
}

// The cost that swap keeps up to date is what counting anew gives.
func TestSwapKeepsCount(t *testing.T) {
	const points, k = 6, 4
	radii := []int{2, 1, 0}
	pats := spreadErrors(points, k, false)
	f := family{radii: radii, sets: []uint32{0b000111, 0b011100, 0b110000}, found: make([]int16, pats.count)}
	f.count(pats)
	for i := range 300 {
		table, in, out := i%3, (i*7+i/6)%points, (i*5+i/11)%points
		if f.sets[table]>>in&1 == 1 || f.sets[table]>>out&1 == 0 {
			continue
		}
		f.swap(pats, table, in, out)
		if want := misses(f.sets, radii, points, k); f.cost != want {
			t.Fatalf("step %d: cost %d, counted %d", i, f.cost, want)
		}
	}
}

func TestRun(t *testing.T) {
	var out bytes.Buffer
	s := searcher{k: 3, limit: time.Second, seed: 1, out: &out}
	if err := run(&s, "0x6", "", 6, 2, 0); err != nil || len(strings.Fields(out.String())) != 6 {
		t.Errorf("one search: %q, %v", out.String(), err)
	}
	out.Reset()
	s = searcher{k: 1, limit: 20 * time.Millisecond, seed: 1, out: &out}
	if err := run(&s, "", "0x2-3", 0, 0, 3); err != nil || !strings.Contains(out.String(), "k=1 tables=2 points=2 lead=1 bits=32.0 radii=[0 0]: ") {
		t.Errorf("a sweep: %q, %v", out.String(), err)
	}
	for _, c := range []struct {
		radii, sweep string
		points, lead int
	}{{"", "", 4, 2}, {"0x3", "", 4, 5}, {"0x3", "", 27, 5}, {"9x3", "", 4, 2}, {"", "0x5-3", 0, 0}, {"", "0x1-9999", 0, 0}, {"x", "", 4, 2}} {
		if err := run(&s, c.radii, c.sweep, c.points, c.lead, 5); err == nil {
			t.Errorf("accepted: %+v", c)
		}
	}
}

func TestParse(t *testing.T) {
	got, err := parse("2x1-8,1x0-4,0x3")
	want := []tableRange{{2, 1, 8}, {1, 0, 4}, {0, 3, 3}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if got := spell([]uint32{0b101, 0b10}, []int{0, 2}); got != "ac b2" {
		t.Errorf("spelled %q", got)
	}
}
