package table

import (
	"math"
	"math/bits"

	"example.org/ndd/permute"
)

// The fixed costs of this package, in nanoseconds. A search uses them to decide how many leading bits a probe fixes,
// and whether to scan instead. They hold for a table in memory, not in the cache, on one thread with AVX-512. Only
// their ratios matter. BenchmarkCosts prints them for the current machine.
var searchCosts = map[Layout]costs{
	LayoutPlanar:  {probe: 20, candidate: 0.1, pass: 12, walk: 5},
	LayoutHuffman: {probe: 110, candidate: 1, pass: 0, walk: 2},
}

type costs struct {
	probe     float64 // a probe of a bucket or block, with its share of the misses
	candidate float64 // one more compared key of a run
	pass      float64 // one more key with near low bits, whose rest is read
	walk      float64 // unpacking one key of a whole table in order
}

// matchNS is the additional cost of a match in a query that probes, compared with one that scans. Several flips or
// tables find the match, it is compared completely, and matches are sorted. A query of skewed keys may have very many
// matches.
const matchNS = 100

// compareNS is the cost of comparing an unpacked key with one query.
const compareNS = 0.15

// A ProbePlan describes how to probe a table for queries that resemble its keys.
type ProbePlan struct {
	Leading    int     // number of bits that a probe fixes
	Probes     float64 // number of probes per query
	Candidates float64 // number of keys to compare per query
	NS         float64 // time per query, by the fixed costs of this package
}

// ScanFromNS is the minimum time of a query with probes: a faster query is never replaced by a scan. Below it,
// queries of a batch share cache misses, which the costs of single probes do not show.
const ScanFromNS = 20_000

// ScanNS returns the time to compare queries with every key of a table, with the costs of [ProbePlan.NS]. See [Scan].
func ScanNS(layout Layout, keys float64, queries int) float64 {
	return keys * (searchCosts[layout].walk + float64(queries)*compareNS)
}

// A KeySample is a sample of the keys of a table. [KeySample.PlanProbes] estimates from it how to answer queries that
// resemble the keys. A table samples its own keys. Package plan permutes a sample by the table's mask.
type KeySample struct {
	Layout     Layout
	Keys       []uint64 // ascending, at equal distances of rank
	Table      float64  // number of keys in the whole table
	BucketBits int      // number of leading bits that distinguish its buckets or blocks
}

const (
	sampleKeys    = 1 << 11 // approximate number of keys in a sample
	sampleQueries = 1 << 5  // number of them that are compared with all others
)

// SampleOf returns a sample of keys at equal distances from keys, which ascend. The table of that layout has that
// many keys, in buckets or blocks that bucketBits leading bits distinguish.
func SampleOf(keys []uint64, layout Layout, table float64, bucketBits int) KeySample {
	s := KeySample{Layout: layout, Table: table, BucketBits: bucketBits}
	for i := 0; i < len(keys); i += max(1, len(keys)/sampleKeys) {
		s.Keys = append(s.Keys, keys[i])
	}
	return s
}

// candidates returns, for every number of leading bits, how many keys of the table differ from a query in at most
// radius of these bits. The query resembles the keys. The result is the maximum of the value for uniform keys and the
// share of all pairs in the sample. matches is the number of keys within distance k of the query. It takes at most
// 65,536 comparisons.
func (s *KeySample) candidates(radius, k int) (expected [65]float64, matches float64) {
	// Begin with uniform keys.
	for leading := range expected {
		expected[leading] = s.Table * math.Ldexp(float64(permute.Ball(leading, radius)), -leading)
	}
	// Count the pairs of the sample by the number of leading bits that agree.
	step := max(1, len(s.Keys)/sampleQueries)
	var agree [65]int // number of pairs by the number of leading bits that agree
	queries, count := 0, 0
	for q := 0; q < len(s.Keys); q += step {
		queries++
		for i, key := range s.Keys {
			diff := key ^ s.Keys[q]
			if i != q && bits.OnesCount64(diff) <= k {
				count++
			}
			for range radius {
				diff &^= 1 << 63 >> bits.LeadingZeros64(diff)
			}
			if i != q {
				agree[bits.LeadingZeros64(diff)]++
			}
		}
	}
	// Take the larger of both values.
	scale := s.Table / float64(max(len(s.Keys), 1)) / float64(max(queries, 1))
	pairs := 0
	for leading := 64; leading >= 0; leading-- {
		if pairs += agree[leading]; pairs > 0 {
			expected[leading] = min(s.Table, max(expected[leading], float64(pairs)*scale))
		}
	}
	return expected, float64(count) * scale
}

// PlanProbes returns the best way to probe a table within radius flips of p leading bits, for distance k. A probe fixes
// at least the smaller of p and BucketBits. Each further bit adds patterns of flips and shortens runs. Without flips,
// a probe fixes all p bits.
func (s *KeySample) PlanProbes(p, radius, k int) (best ProbePlan) {
	if radius < 0 {
		return ProbePlan{Leading: p}
	}
	c := searchCosts[s.Layout]
	unit, probe := c.candidate, c.probe
	if s.Layout == LayoutPlanar {
		unit += c.pass * min(1, float64(permute.Ball(lowBits, k))/(1<<lowBits))
		if width := s.BucketBits - p; width > 0 && width <= spanBits {
			probe = math.Ldexp(probe, width) // each bucket needs its own probe
		}
	}
	expected, matches := s.candidates(radius, k)
	leastBits := min(p, s.BucketBits)
	if radius == 0 {
		leastBits = p
	}
	best.NS = math.Inf(1)
	for leading := leastBits; leading <= p; leading++ {
		probes := float64(permute.Ball(leading, radius))
		if ns := probes*probe + expected[leading]*unit; ns < best.NS {
			best = ProbePlan{Leading: leading, Probes: probes, Candidates: expected[leading], NS: ns}
		}
		if probes*probe > best.NS {
			break
		}
	}
	best.NS += matches * matchNS
	return best
}

// PlanProbes fixes the bits of a bucket. In a skewed table with long runs it fixes more.
func (t *planarTable) PlanProbes(p, radius, k int) ProbePlan {
	s := SampleOf(t.fences, LayoutPlanar, float64(t.Len()), int(t.directory.BucketBits))
	return s.PlanProbes(p, radius, k)
}

// PlanProbes fixes the bits that distinguish the blocks, because flips of further bits would mostly decode the same
// blocks again. In a skewed table with long runs it fixes more.
func (t *huffmanTable) PlanProbes(p, radius, k int) ProbePlan {
	s := KeySample{LayoutHuffman, t.keysByRank(sampleKeys), float64(t.Len()), bitsFor(len(t.last))}
	return s.PlanProbes(p, radius, k)
}

// keysByRank returns at most limit last keys of blocks, at about equal distances of rank. Blocks in a dense part of
// the table have more keys than others.
func (t *huffmanTable) keysByRank(limit int) (keys []uint64) {
	n := min(limit, len(t.last))
	group := 0
	for i := range uint64(n) {
		rank := i * t.keys / uint64(n)
		for group+1 < len(t.ranks) && t.ranks[group+1] <= rank {
			group++
		}
		stop := t.keys
		if group+1 < len(t.ranks) {
			stop = t.ranks[group+1]
		}
		start, end := group*blocksPerRank, min((group+1)*blocksPerRank, len(t.last))
		share := float64(rank-min(t.ranks[group], rank)) / float64(max(stop, rank+1)-min(t.ranks[group], rank))
		keys = append(keys, t.last[start+int(share*float64(end-start))])
	}
	return keys
}
