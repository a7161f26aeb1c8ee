package scan

import (
	"math/bits"

	"ndd/asm"
)

// keyPartitions are fingerprints in partitions by the leading bits of their permuted keys, so that
// those of one are joined with a part of the queries that fits a near cache. They belong to one goroutine.
type keyPartitions struct{ asm.KeyPartitions }

// newKeyPartitions returns 2^lead empty partitions in words, of the leading bits of keys that are permuted by a mask,
// whose words keep so many bits of the key behind them. len(words) must be 2 or a larger power of two for each
// partition.
func newKeyPartitions(words []uint64, mask uint64, lead, keep int) *keyPartitions {
	p := &keyPartitions{asm.KeyPartitions{
		Words: words, Next: make([]uint32, 1<<lead), Mask: mask, Bits: lead, Room: bits.Len(uint(len(words)>>lead)) - 1, Keep: keep,
	}}
	for i := range p.Next {
		p.Next[i] = uint32(i << p.Room)
	}
	return p
}

// count returns the number of partitions.
func (p *keyPartitions) count() int { return len(p.Next) }

// take empties a partition and returns its words, in order of their rows. They
// stay what they are until the next fingerprints are scattered.
func (p *keyPartitions) take(i int) []uint64 {
	from, to := uint32(i<<p.Room), p.Next[i]
	p.Next[i] = from
	return p.Words[from:to]
}

// row returns the row of a word.
func (p *keyPartitions) row(word uint64) uint64 { return word >> p.Keep }

// halfPartitions are fingerprints in two partitions each, by the leading bits of their halves. They belong to one
// goroutine.
type halfPartitions struct{ asm.HalfPartitions }

// halvesLayout says how the partitions of halves lie in memory.
type halvesLayout struct {
	bits int // leading bits of a half that number its partition
	room int // words that a partition takes: asm.HalvesRoomMin at least
	keep int // bits of a fingerprint that a word keeps
}

// words returns how many words the partitions of both halves need.
func (l halvesLayout) words() int { return 2 << l.bits * l.pitch() }

// pitch returns the distance of two partitions, an odd number of cache lines: at multiples of a power of two, the lines
// where they grow would share few sets of the first-level cache.
func (l halvesLayout) pitch() int { return l.room&^7 | 8 }

// newHalfPartitions returns empty partitions in l.words() words.
func newHalfPartitions(words []uint64, l halvesLayout) *halfPartitions {
	p := &halfPartitions{asm.HalfPartitions{
		Words: words, Next: make([]uint64, 2<<l.bits), Bits: l.bits, Room: l.pitch(), Keep: l.keep,
	}}
	for i := range p.Next {
		p.Next[i] = uint64(i * p.Room)
	}
	return p
}

// count returns the number of partitions of a half.
func (p *halfPartitions) count() int { return 1 << p.Bits }

// take empties partition i of both halves' and returns its words, in order of their rows. They
// stay what they are until the next fingerprints are scattered.
func (p *halfPartitions) take(i int) []uint64 {
	from, to := uint64(i*p.Room), p.Next[i]
	p.Next[i] = from
	return p.Words[from:to]
}
