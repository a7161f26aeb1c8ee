package table

import (
	"math"
	"math/bits"
	"slices"

	"example.org/ndd/asm"
	"example.org/ndd/permute"
)

const (
	// preparedMax is the maximum number of probes per query that [Search.Prepare] prepares: 64 KiB. For a table with
	// few keys it is a probe per keysPerProbe keys, but at least as many as a chunk has.
	preparedMax  = 1 << 12
	keysPerProbe = 64
	// flipChunk is the number of probes that a search without prepared ones makes at a time: 4 KiB.
	flipChunk = 256
)

// Prepare prepares the probes of a search for all queries, if they are at most a few thousand. Copies of s that search
// t, with the same Leading and K, use them unless their Flips differ. Otherwise a single query spends as much time on
// listing its flips as on a third of its probes. If a probe covers all keys with some leading bits, Prepare also
// creates a list of their starts, of at most 256 KiB. The table keeps the list. It takes about a millisecond.
func (s *Search) Prepare(t Table) {
	s.prepared, s.starts = nil, nil
	if t, ok := t.(*planarTable); ok {
		s.starts = t.startsOf(s)
		s.prepared, s.preparedFor = t.prepare(s), s.Flips
	}
}

// startsBits is the maximum number of leading bits with a list of starts.
const startsBits = 16

// Listed reports whether a planar table of n keys has a list of starts for searches that fix that many leading bits
// and flip up to radius.
func Listed(leading, radius int, bucketBits uint, keys uint64) bool {
	return radius == 0 && leading <= min(startsBits, int(bucketBits)-1) && 1<<leading <= keys/2 && keys <= math.MaxUint32
}

// startsOf returns the rank of the first key for each value of the leading bits of a search, and the number of keys
// at the end. It returns nil if a probe does not cover all these keys, or if there are too many values or keys.
func (t *planarTable) startsOf(s *Search) []uint32 {
	if !Listed(s.Leading, s.Flips.Radius, t.directory.BucketBits, t.Len()) {
		return nil
	}
	if starts := t.starts.Load(); starts != nil && len(*starts) == 1<<s.Leading+1 {
		return *starts
	}
	starts := make([]uint32, 1<<s.Leading+1)
	for value := range uint64(1) << s.Leading {
		start, _, err := t.bucket(value << (t.directory.BucketBits - uint(s.Leading)))
		if err != nil || value > 0 && uint32(start) < starts[value-1] {
			return nil // a search will report the error
		}
		starts[value] = uint32(start)
	}
	starts[1<<s.Leading] = uint32(t.Len())
	t.starts.Store(&starts)
	return starts
}

// probed returns three values: the bits of a bucket that a probe does not fix, the position of the lowest bit of a
// bucket in a key, and the number of buckets to probe. The number is 1 if one probe covers all buckets with the fixed
// bits.
func (t *planarTable) probed(s *Search) (mask uint64, shift uint, buckets uint64) {
	shift = 64 - t.directory.BucketBits
	mask = leadingMask(int(t.directory.BucketBits)) &^ leadingMask(s.Leading)
	if t.spans(s) {
		return mask, shift, 1
	}
	return mask, shift, 1 + mask>>shift
}

// prepare returns the probes of the query 0, or nil if there are too many. XOR turns them into those of any query.
func (t *planarTable) prepare(s *Search) (probes []asm.PlanarProbe) {
	_, shift, buckets := t.probed(s)
	limit := min(preparedMax, max(flipChunk, t.Len()/keysPerProbe))
	if n := uint64(s.Flips.Len()); n == 0 || n > limit/buckets {
		return nil
	}
	return appendProbes(nil, slices.Collect(s.Flips.All()), s.K, shift, buckets)
}

// appendProbes appends the probes of the query 0, for some flips and distance K. Each flip probes the given number of
// buckets.
func appendProbes(dst []asm.PlanarProbe, flips []uint64, K int, shift uint, buckets uint64) []asm.PlanarProbe {
	for _, flip := range flips {
		limit := K - bits.OnesCount64(flip)
		if limit < 0 {
			continue
		}
		for bucket := range buckets {
			dst = append(dst, asm.PlanarProbe{Key: flip | bucket<<shift, Limit: uint16(limit)})
		}
	}
	return dst
}

// A flipList provides the flips of a search in groups of some hundreds, the steps of a walk. A search makes the
// probes of all its queries with one group before it takes the next.
type flipList struct {
	set  permute.FlipSet
	walk permute.FlipWalk
	list []uint64
}

// first returns the first group of a set.
func (l *flipList) first(set permute.FlipSet) []uint64 {
	l.set, l.walk = set, set.Walk()
	return l.next()
}

// next returns the next group. It is empty at the end.
func (l *flipList) next() []uint64 {
	l.list = l.list[:0]
	for len(l.list) == 0 { // a step of the walk may be empty
		base, low := l.walk.Next()
		if low == nil {
			break
		}
		for _, flip := range low {
			l.list = append(l.list, base^flip<<(l.set.Shift&63))
		}
	}
	return l.list
}
