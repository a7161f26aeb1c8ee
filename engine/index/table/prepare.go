package table

import (
	"math"
	"math/bits"
	"slices"

	"ndd/asm"
	"ndd/permute"
)

// PreparedMost is how many probes of a query [Search.Prepare] makes in advance at most: 4 KiB of them.
const PreparedMost = 256

// Prepare makes the probes of a search in advance, for all queries, where they are a few hundred at
// most. Searches of t, and of no other table, that are copies of s and have its Leading and K, have
// them ready, unless they are given other Flips: a query by itself spends as long on listing its
// flips as on looking at a third of them. Where a probe is all keys with some leading bits, Prepare
// also makes a list of where those begin for each value of the bits, of at most 256 KiB, which the
// table keeps: that takes about a millisecond.
func (s *Search) Prepare(t Table) {
	s.prepared, s.starts = nil, nil
	if t, ok := t.(*planarTable); ok {
		s.starts = t.startsOf(s)
		s.prepared, s.preparedFor = t.prepare(s), s.Flips
	}
}

// startsBits is how many leading bits the keys have at most of which a list says where they begin.
const startsBits = 16

// Listed reports whether a planar table of n keys has an index of its leading bits for searches that fix
// leading of them and flip up to radius.
func Listed(leading, radius int, bucketBits uint, keys uint64) bool {
	return radius == 0 && leading <= min(startsBits, int(bucketBits)-1) && 1<<leading <= keys/2 && keys <= math.MaxUint32
}

// startsOf returns where the keys begin that have each value of the leading bits of a search, and
// where the last of them end; nil where a probe is not all of them, or where there are more values
// or keys than the list is for.
func (t *planarTable) startsOf(s *Search) []uint32 {
	if !Listed(s.Leading, s.Flips.Radius, t.directory.BucketBits, t.Len()) {
		return nil
	}
	if kept := t.starts.Load(); kept != nil && len(*kept) == 1<<s.Leading+1 {
		return *kept
	}
	starts := make([]uint32, 1<<s.Leading+1)
	for value := range uint64(1) << s.Leading {
		start, _, err := t.bucket(value << (t.directory.BucketBits - uint(s.Leading)))
		if err != nil || value > 0 && uint32(start) < starts[value-1] {
			return nil // a search will find what is wrong
		}
		starts[value] = uint32(start)
	}
	starts[1<<s.Leading] = uint32(t.Len())
	t.starts.Store(&starts)
	return starts
}

// probed returns the bits of a bucket that a probe does not fix, how far the lowest bit of a bucket
// is from that of a key, and how many buckets begin with what a probe fixes, all of which it looks
// at: one where it is all of them at once.
func (t *planarTable) probed(s *Search) (more uint64, below uint, buckets uint64) {
	below = 64 - t.directory.BucketBits
	more = leadingMask(int(t.directory.BucketBits)) &^ leadingMask(s.Leading)
	if t.spans(s) {
		return more, below, 1
	}
	return more, below, 1 + more>>below
}

// prepare returns the probes of a query that is 0, nil where they are too many.
func (t *planarTable) prepare(s *Search) (probes []asm.PlanarProbe) {
	_, below, buckets := t.probed(s)
	if n := uint64(s.Flips.Len()); n == 0 || n > PreparedMost/buckets {
		return nil
	}
	return appendProbes(nil, slices.Collect(s.Flips.All()), s.K, below, buckets)
}

// appendProbes appends the probes of a query that is 0, by some flips, for distance K: each looks at that many buckets.
func appendProbes(dst []asm.PlanarProbe, flips []uint64, K int, below uint, buckets uint64) []asm.PlanarProbe {
	for _, flip := range flips {
		limit := K - bits.OnesCount64(flip)
		if limit < 0 {
			continue
		}
		for bucket := range buckets {
			dst = append(dst, asm.PlanarProbe{Key: flip | bucket<<below, Limit: uint16(limit)})
		}
	}
	return dst
}

// flipList hands out the flips of a search, as many at a time as a step of a walk has: some hundreds.
// A search makes the probes of all its queries with what it has, and goes on to the next.
type flipList struct {
	set  permute.FlipSet
	walk permute.FlipWalk
	list []uint64
}

// first returns the first patterns of a set.
func (l *flipList) first(set permute.FlipSet) []uint64 {
	l.set, l.walk = set, set.Walk()
	return l.next()
}

// next returns the patterns that follow, none at the end.
func (l *flipList) next() []uint64 {
	l.list = l.list[:0]
	for len(l.list) == 0 { // a step of the walk may have none, and be followed by others
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
