package table

import (
	"math"
	"math/bits"

	"ndd/permute"
)

// The fixed costs of this package, in nanoseconds, by which a search decides how many leading bits
// its probes fix, and whether to probe at all. They are those of a table that lies in memory, not in
// cache, on one thread with AVX-512; what counts is how they stand to each other. BenchmarkCosts
// prints the same figures for the machine that runs it.
var searchCosts = map[Layout]costs{
	LayoutPlanar:  {probe: 20, candidate: 0.1, pass: 12, walk: 5},
	LayoutHuffman: {probe: 110, candidate: 1, pass: 0, walk: 2},
}

type costs struct {
	probe     float64 // one probe of a bucket or block, and its share of the misses
	candidate float64 // one more key of a run that is compared
	pass      float64 // one more key whose low bits are near and whose rest is read
	walk      float64 // one key of a whole table that is unpacked in order
}

// matchNS is what a match costs a query that probes beyond what it costs one that scans: it is found under
// several flips or in several tables, looked at whole and put back into its order. On skewed keys a query
// may have very many.
const matchNS = 100

// compareNS is what it costs to compare an unpacked key with one query.
const compareNS = 0.15

// Probing is how a table should be probed by queries that are like its keys.
type Probing struct {
	Leading    int     // bits that a probe fixes
	Probes     float64 // that a query makes
	Candidates float64 // keys that a query is compared with
	NS         float64 // that a query takes, by the fixed costs of this package
}

// ScanFromNS is what a query must take by probing for a scan to be thought of. Below it, queries in
// a batch share misses that the costs of single probes know nothing of.
const ScanFromNS = 20_000

// ScanNS returns the time to compare queries with every key of a table, by the same costs
// as [Probing.NS]: see [Scan].
func ScanNS(layout Layout, keys float64, queries int) float64 {
	return keys * (searchCosts[layout].walk + float64(queries)*compareNS)
}

// A KeySample is some keys of a table, from which [KeySample.Probing] estimates how queries like them are
// best answered. A table takes its own keys, package plan those of a sample under the table's mask.
type KeySample struct {
	Layout     Layout
	Keys       []uint64 // ascending, from ranks that are equally far apart
	Table      float64  // keys in the whole table
	BucketBits int      // leading bits that tell its buckets or blocks apart
}

const (
	sampleKeys    = 1 << 11 // of a table that are looked at, about,
	sampleQueries = 1 << 5  // and how many of them are compared with all of those
)

// SampleOf returns a sample of keys that are equally far apart in the order of given ones, which ascend. The table of
// that layout has so many keys in buckets or blocks that so many bits tell apart.
func SampleOf(keys []uint64, layout Layout, table float64, bucketBits int) KeySample {
	s := KeySample{Layout: layout, Table: table, BucketBits: bucketBits}
	for i := 0; i < len(keys); i += max(1, len(keys)/sampleKeys) {
		s.Keys = append(s.Keys, keys[i])
	}
	return s
}

// candidates returns, for every number of leading bits, how many keys of the table agree in them, but
// for at most radius flips, with a query that is like the table's keys: beside what uniform
// keys would show, the part of all pairs that agree. matches is how many keys are within distance k of the
// query. It takes 65,536 comparisons at most.
func (s *KeySample) candidates(radius, k int) (expected [65]float64, matches float64) {
	for leading := range expected {
		expected[leading] = s.Table * math.Ldexp(float64(permute.Ball(leading, radius)), -leading)
	}
	every := max(1, len(s.Keys)/sampleQueries)
	var agree [65]int // pairs that agree in so many bits and not in one more
	queries, near := 0, 0
	for q := 0; q < len(s.Keys); q += every {
		queries++
		for i, key := range s.Keys {
			diff := key ^ s.Keys[q]
			if i != q && bits.OnesCount64(diff) <= k {
				near++
			}
			for range radius {
				diff &^= 1 << 63 >> bits.LeadingZeros64(diff)
			}
			if i != q {
				agree[bits.LeadingZeros64(diff)]++
			}
		}
	}
	scale := s.Table / float64(max(len(s.Keys), 1)) / float64(max(queries, 1))
	pairs := 0
	for leading := 64; leading >= 0; leading-- {
		if pairs += agree[leading]; pairs > 0 {
			expected[leading] = min(s.Table, max(expected[leading], float64(pairs)*scale))
		}
	}
	return expected, float64(near) * scale
}

// Probing returns how a table is best probed within radius flips of p leading bits, from BucketBits of
// them on, for distance k: one more bit that a probe fixes makes more patterns of flips, and shorter runs.
// Without flips all p are fixed.
func (s *KeySample) Probing(p, radius, k int) (best Probing) {
	if radius < 0 {
		return Probing{Leading: p}
	}
	c := searchCosts[s.Layout]
	unit, probe := c.candidate, c.probe
	if s.Layout == LayoutPlanar {
		unit += c.pass * min(1, float64(permute.Ball(lowBits, k))/(1<<lowBits))
		if fewer := s.BucketBits - p; fewer > 0 && fewer <= spanBits {
			probe = math.Ldexp(probe, fewer) // each bucket is a probe of its own
		}
	}
	expected, matches := s.candidates(radius, k)
	from := min(p, s.BucketBits)
	if radius == 0 {
		from = p
	}
	best.NS = math.Inf(1)
	for leading := from; leading <= p; leading++ {
		probes := float64(permute.Ball(leading, radius))
		if ns := probes*probe + expected[leading]*unit; ns < best.NS {
			best = Probing{Leading: leading, Probes: probes, Candidates: expected[leading], NS: ns}
		}
		if probes*probe > best.NS {
			break
		}
	}
	best.NS += matches * matchNS
	return best
}

// Probing fixes the bits of a bucket, and more of a table so skewed that this leaves long runs to scan.
func (t *planarTable) Probing(p, radius, k int) Probing {
	s := SampleOf(t.fences, LayoutPlanar, float64(t.Len()), int(t.directory.BucketBits))
	return s.Probing(p, radius, k)
}

// Probing fixes as many bits as tell the blocks apart, as flips of further ones would mostly decode the
// same blocks again, and more of a table so skewed that this leaves long runs.
func (t *huffmanTable) Probing(p, radius, k int) Probing {
	s := KeySample{LayoutHuffman, t.keysByRank(sampleKeys), float64(t.Len()), bitsFor(len(t.last))}
	return s.Probing(p, radius, k)
}

// keysByRank returns at most most keys, last keys of blocks, from ranks that are about equally far
// apart: the blocks of a dense part of the table have more keys than others.
func (t *huffmanTable) keysByRank(most int) (keys []uint64) {
	n := min(most, len(t.last))
	group := 0
	for i := range uint64(n) {
		rank := i * t.keys / uint64(n)
		for group+1 < len(t.ranks) && t.ranks[group+1] <= rank {
			group++
		}
		past := t.keys
		if group+1 < len(t.ranks) {
			past = t.ranks[group+1]
		}
		from, to := group*blocksPerRank, min((group+1)*blocksPerRank, len(t.last))
		share := float64(rank-min(t.ranks[group], rank)) / float64(max(past, rank+1)-min(t.ranks[group], rank))
		keys = append(keys, t.last[from+int(share*float64(to-from))])
	}
	return keys
}
