// Package skewed makes sets of fingerprints that are far from uniform, for tests of what must stay
// quick and small whatever the data: a collection of numbered pages, of templates, of empty
// documents, of one document in many versions.
//
// Each set is made from its size and a seed alone. Sets return fresh slices and may be called from
// many goroutines.
package skewed

import (
	"math/bits"
	"math/rand/v2"

	"ndd/engine/oracle/sets"
)

// A Set is a set of fingerprints, some of which may be equal.
type Set struct {
	Name         string
	Fingerprints []uint64
}

// Sets returns twenty sets of n fingerprints.
func Sets(n int, seed uint64) []Set {
	rng := rand.New(rand.NewPCG(seed, 20))
	word := rng.Uint64()
	var values [16]uint64
	for i := range values {
		values[i] = rng.Uint64()
	}
	low := bits.Len(uint(n)) // bits that n values need
	near := func(centre uint64, most int) uint64 { return sets.Near(rng, centre, rng.IntN(most+1)) }
	shapes := []struct {
		name string
		at   func(i int) uint64
	}{
		{"consecutive", func(i int) uint64 { return uint64(i) + 1 }},
		{"consecutive in the upper bits", func(i int) uint64 { return uint64(i) << (64 - low) }},
		{"consecutive in the middle", func(i int) uint64 { return word&^(1<<(20+low)-1<<20) | uint64(i)<<20 }},
		{"multiples of 4,096", func(i int) uint64 { return uint64(i) << 12 }},
		{"all equal", func(int) uint64 { return word }},
		{"16 distinct values", func(i int) uint64 { return values[i%16] }},
		{"one bit varying", func(i int) uint64 { return word ^ uint64(i&1)<<40 }},
		{"20 bits varying", func(int) uint64 { return word ^ rng.Uint64()&0xfffff<<17 }},
		{"every third bit varying", func(int) uint64 { return word ^ rng.Uint64()&0x1249249249249249 }},
		{"one dense ball", func(int) uint64 { return near(word, 8) }},
		{"16 dense balls", func(int) uint64 { return near(values[rng.IntN(16)], 6) }},
		{"a wide ball", func(int) uint64 { return near(word, 20) }},
		{"half in one ball", func(i int) uint64 {
			if i%2 == 0 {
				return near(word, 6)
			}
			return rng.Uint64()
		}},
		{"half with equal leading bits", func(i int) uint64 { return rng.Uint64() >> (i % 2 * 40) }},
		{"few 1-bits", func(int) uint64 { return rng.Uint64() & rng.Uint64() & rng.Uint64() & rng.Uint64() }},
		{"powers", func(i int) uint64 { return rng.Uint64() >> (i % 64) }},
		{"equal halves", func(int) uint64 { x := rng.Uint64() >> 32; return x<<32 | x }},
		{"equal bytes", func(int) uint64 { return uint64(rng.Uint32()&0xffff) * 0x0001000100010001 }},
		{"clusters of 100", func(i int) uint64 { return sets.Near(rng, word*uint64(i/100|1), rng.IntN(5)) }},
		{"mostly one value", func(i int) uint64 {
			if i%10 > 0 {
				return word
			}
			return rng.Uint64()
		}},
	}
	var all []Set
	for _, shape := range shapes {
		s := Set{Name: shape.name, Fingerprints: make([]uint64, n)}
		for i := range s.Fingerprints {
			s.Fingerprints[i] = shape.at(i)
		}
		all = append(all, s)
	}
	return all
}
