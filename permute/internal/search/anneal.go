package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"time"
)

type searcher struct {
	k     int
	limit time.Duration // for one family
	seed  uint64
	out   io.Writer
}

// family is the state of the annealing.
type family struct {
	sets  []uint32
	radii []int
	hits  [][]int8 // per table and pattern: errors of the pattern among the leading blocks
	found []int16  // per pattern: tables that find it
	cost  int      // patterns that no table finds
}

// patterns are the ways to spread k errors over points; where every radius is 0 it does not matter
// how many a block has, and the ways to choose k blocks will do.
type patterns struct {
	count int
	with  [][]entry // per point: the patterns that have errors in it
}

type entry struct {
	pattern int32
	errors  int8
}

func spreadErrors(points, k int, once bool) patterns {
	p := patterns{with: make([][]entry, points)}
	errs := make([]int8, points)
	var fill func(point, left int)
	fill = func(point, left int) {
		if left == 0 {
			for at, e := range errs {
				if e > 0 {
					p.with[at] = append(p.with[at], entry{int32(p.count), e})
				}
			}
			p.count++
			return
		}
		if point == points {
			return
		}
		most := left
		if once {
			most = 1
		}
		for e := most; e >= 0; e-- {
			errs[point] = int8(e)
			fill(point+1, left-e)
		}
		errs[point] = 0
	}
	fill(0, k)
	return p
}

// find looks for a family of sets of lead points with the given radii that misses no pattern.
func (s *searcher) find(points, lead int, radii []int) ([]uint32, bool) {
	once := true
	for _, r := range radii {
		once = once && r == 0
	}
	if once && points <= s.k {
		return nil, false
	}
	pats := spreadErrors(points, s.k, once)
	random := rand.New(rand.NewPCG(s.seed, uint64(points*100+lead)))
	deadline := time.Now().Add(s.limit)
	for time.Now().Before(deadline) {
		f := randomFamily(pats, points, lead, radii, random)
		if f.anneal(pats, points, random, deadline) {
			return f.sets, true
		}
	}
	return nil, false
}

func randomFamily(pats patterns, points, lead int, radii []int, random *rand.Rand) *family {
	f := &family{radii: radii, found: make([]int16, pats.count)}
	for range radii {
		set := uint32(0)
		for _, p := range random.Perm(points)[:lead] {
			set |= 1 << p
		}
		f.sets = append(f.sets, set)
	}
	f.count(pats)
	return f
}

// count fills in hits, found and cost for the sets as they are.
func (f *family) count(pats patterns) {
	for i, set := range f.sets {
		hits := make([]int8, pats.count)
		for p, with := range pats.with {
			for _, e := range with {
				hits[e.pattern] += e.errors * int8(set>>p&1)
			}
		}
		for at, h := range hits {
			if int(h) <= f.radii[i] {
				f.found[at]++
			}
		}
		f.hits = append(f.hits, hits)
	}
	for _, n := range f.found {
		if n == 0 {
			f.cost++
		}
	}
}

// anneal cools from a temperature at which a few more misses are accepted to one where hardly any are.
func (f *family) anneal(pats patterns, points int, random *rand.Rand, deadline time.Time) bool {
	const cooling = 0.999
	movesEach := 20 + len(f.sets)
	for heat := 2.0; heat > 0.12; heat *= cooling {
		for range movesEach {
			if f.cost == 0 {
				return true
			}
			table := random.IntN(len(f.sets))
			in, out := random.IntN(points), random.IntN(points)
			if f.sets[table]>>in&1 == 1 || f.sets[table]>>out&1 == 0 {
				continue
			}
			before := f.cost
			f.swap(pats, table, in, out)
			worse := f.cost - before
			if worse > 0 && random.Float64() >= math.Exp(-float64(worse)/heat) {
				f.swap(pats, table, out, in)
			}
		}
		if time.Now().After(deadline) {
			break
		}
	}
	return f.cost == 0
}

// swap puts point in into a table's set and takes point out from it.
func (f *family) swap(pats patterns, table, in, out int) {
	f.sets[table] ^= 1<<in | 1<<out
	hits, radius := f.hits[table], int8(f.radii[table])
	for _, e := range pats.with[in] {
		if h := hits[e.pattern]; h <= radius && h+e.errors > radius {
			if f.found[e.pattern]--; f.found[e.pattern] == 0 {
				f.cost++
			}
		}
		hits[e.pattern] += e.errors
	}
	for _, e := range pats.with[out] {
		if h := hits[e.pattern]; h > radius && h-e.errors <= radius {
			if f.found[e.pattern]++; f.found[e.pattern] == 1 {
				f.cost--
			}
		}
		hits[e.pattern] -= e.errors
	}
}

// mostRatio is where a sweep ends: 37 leading bits tell 2^33 fingerprints apart with room to spare.
const mostRatio = 0.58

// sweep prints, for growing numbers of tables, the families with a larger share of leading blocks than
// any with fewer tables.
func (s *searcher) sweep(ranges []tableRange, most int) {
	var radii []int
	best := 0.0
	var extend func(at int)
	extend = func(at int) {
		if at < len(ranges) {
			r := ranges[at]
			kept := len(radii)
			for range r.from {
				radii = append(radii, r.radius)
			}
			for n := r.from; n <= r.to; n++ {
				extend(at + 1)
				radii = append(radii[:kept+n], r.radius)
			}
			radii = radii[:kept]
			return
		}
		if len(ranges) > 1 {
			best = 0
		}
		s.improve(radii, most, &best)
	}
	extend(0)
}

// improve raises best as far as families with these radii are found.
func (s *searcher) improve(radii []int, most int, best *float64) {
	for points := 2; points <= most; points++ {
		for lead := 1; lead < points; lead++ {
			ratio := float64(lead) / float64(points)
			if ratio <= *best || ratio > mostRatio {
				continue
			}
			sets, ok := s.find(points, lead, radii)
			if !ok {
				break // a larger share is harder still
			}
			*best = ratio
			fmt.Fprintf(s.out, "k=%d tables=%d points=%d lead=%d bits=%.1f radii=%v: %s\n",
				s.k, len(radii), points, lead, 64*ratio, radii, spell(sets, radii))
		}
	}
}
