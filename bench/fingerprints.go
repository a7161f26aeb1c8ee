package main

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"

	"ndd/asm"
	"ndd/engine/corpus/simhash"
	"ndd/engine/result"
)

// uniform returns n uniform fingerprints, the same for the same seed.
func uniform(n int, seed uint64) []uint64 {
	rng := rand.New(rand.NewPCG(seed, 0x5e75))
	base := make([]uint64, n)
	for i := range base {
		base[i] = rng.Uint64()
	}
	return base
}

// planted returns n uniform fingerprints, of which one in a hundred is 1 to 3 bits from another,
// and queries: half of them within 3 bits of a stored one, a quarter 4 bits from one, a quarter
// anywhere. They are the same on every machine.
func planted(n, count int) (base, queries []uint64) {
	s := stream(42)
	base = make([]uint64, n)
	for i := range base {
		base[i] = s.next()
		if i > 0 && i%100 == 0 {
			base[i] = base[s.next()%uint64(i)] ^ s.flips(1+s.next()%3)
		}
	}
	s = 1 << 60
	queries = make([]uint64, count)
	for i := range queries {
		switch kind := s.next() & 3; kind {
		case 3:
			queries[i] = s.next()
		case 2:
			queries[i] = base[s.next()%uint64(n)] ^ s.flips(4)
		default:
			queries[i] = base[s.next()%uint64(n)] ^ s.flips(s.next()&3)
		}
	}
	return base, queries
}

// A stream is a sequence of pseudo-random words.
type stream uint64

func (s *stream) next() uint64 {
	*s++
	return mix(uint64(*s-1)*0xd1342543de82ef95 + 0x1234567 + 0x9e3779b97f4a7c15)
}

// flips returns a word with exactly n bits set.
func (s *stream) flips(n uint64) (mask uint64) {
	for bits.OnesCount64(mask) < int(n) {
		mask |= 1 << (s.next() & 63)
	}
	return mask
}

// mix is a bijection of 64-bit words without visible pattern (splitmix64's finaliser).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// An answer counts hits and sums their terms (see [result.Term]), so that the answers of two
// programs can be compared whatever their order.
type answer struct {
	hits int
	sum  uint64
}

// add adds the hit of a query.
func (a *answer) add(query int, fingerprint uint64) {
	a.hits++
	a.sum += result.Term(query, simhash.Fingerprint(fingerprint))
}

// plus adds another answer.
func (a *answer) plus(o answer) { a.hits, a.sum = a.hits+o.hits, a.sum+o.sum }

func (a answer) String() string { return fmt.Sprintf("%d hits of checksum %016x", a.hits, a.sum) }

// distinct returns the distinct fingerprints of base, sorted.
func distinct(base []uint64) []uint64 { return slices.Compact(slices.Sorted(slices.Values(base))) }

// compareAll answers queries by comparing each with every distinct fingerprint of base.
func compareAll(base, queries []uint64) (a answer) {
	base = distinct(base)
	found := make([]uint32, 1<<16)
	for i, q := range queries {
		for rest := base; len(rest) > 0; {
			n, scanned := asm.Within64(found, rest, q, distance)
			for _, at := range found[:n] {
				a.add(i, rest[at])
			}
			rest = rest[scanned:]
		}
	}
	return a
}

// pairsOf counts the pairs of distinct fingerprints within the distance.
func pairsOf(base []uint64) (pairs int) {
	base = distinct(base)
	for i, a := range base {
		for _, b := range base[i+1:] {
			if bits.OnesCount64(a^b) <= distance {
				pairs++
			}
		}
	}
	return pairs
}
