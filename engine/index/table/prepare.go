package table

import (
	"math/bits"

	"ndd/asm"
)

// preparedMost is how many probes of a query are made in advance: 4 KiB of them.
const preparedMost = 256

// Prepare makes the probes of a search in advance, for all queries, where they are a few hundred at most. Searches of t, and of no other
// table, that are copies of s and have its Leading and K, have them ready, unless they are given other Flips: a query by itself spends as long on listing its
// flips as on looking at a third of them.
func (s *Search) Prepare(t Table) {
	s.prepared = nil
	if t, ok := t.(*planarTable); ok {
		s.prepared, s.preparedFor = t.prepare(s), s.Flips
	}
}

// probed returns the bits of a bucket that a probe does not fix, how far the lowest bit of a bucket is from that of a key, and how
// many buckets begin with what a probe fixes, all of which it looks at: one where it is all of them at once.
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
	if n := uint64(s.Flips.Len()); n == 0 || n > preparedMost/buckets {
		return nil
	}
	for flip := range s.Flips.All() {
		limit := s.K - bits.OnesCount64(flip)
		if limit < 0 {
			continue
		}
		for bucket := range buckets {
			probes = append(probes, asm.PlanarProbe{Key: flip | bucket<<below, Limit: uint16(limit)})
		}
	}
	return probes
}
