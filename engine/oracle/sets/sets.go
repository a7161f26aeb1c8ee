// Package sets makes sets of fingerprints for tests and benchmarks. They have all shapes of real corpora, and all
// shapes that once caused a problem in a sorted table. Equal seeds give equal sets.
package sets

import (
	"math/bits"
	"math/rand/v2"
	"slices"

	"example.org/ndd/engine/oracle/long"
)

// A Set is a base of fingerprints, and queries against it.
type Set struct {
	Name          string
	Base, Queries []uint64
}

// All returns a set of each shape with about n fingerprints and nq queries. Some queries equal stored fingerprints,
// some differ from them in up to k+1 bits, and some are random. Under the race detector it returns five of the shapes,
// including the first two.
func All(n, nq, k int, seed uint64) []Set {
	sets := plainSets(n, nq, k, seed)
	if long.Race() {
		return slices.DeleteFunc(sets, func(s Set) bool {
			return !slices.Contains([]string{"random", "clustered", "half equal", "one", "empty"}, s.Name)
		})
	}
	return sets
}

// ByName returns the set of that name, or an empty one.
func ByName(name string, n, nq, k int, seed uint64) Set {
	for _, s := range plainSets(n, nq, k, seed) {
		if s.Name == name {
			return s
		}
	}
	return Set{}
}

func plainSets(n, nq, k int, seed uint64) []Set {
	rng := rand.New(rand.NewPCG(seed, 0x5e75))
	sets := fill(n, []shape{
		{"random", func(int) uint64 { return rng.Uint64() }},
		{"clustered", clusters(rng)},
		{"all equal", func(int) uint64 { return 0x0123456789abcdef }},
		{"all zero", func(int) uint64 { return 0 }},
		{"all ones", func(int) uint64 { return ^uint64(0) }},
		{"sequence", func(i int) uint64 { return uint64(i) }},
		{"high sequence", func(i int) uint64 { return uint64(i) << 44 }},
		{"40 equal leading bits", func(int) uint64 { return 0xa5a5a5a5a5<<24 | rng.Uint64()>>40 }},
		{"40 equal trailing bits", func(int) uint64 { return rng.Uint64()>>40<<40 | 0x5a5a5a5a5a }},
		{"few bits", func(int) uint64 { return Flip(rng, 0, 2) }},
		{"half equal", func(i int) uint64 { return rng.Uint64() * uint64(i&1) }},
		{"two ends", func(i int) uint64 { return rng.Uint64N(1000) ^ -uint64(i&1) }},
	}, func(base []uint64) []uint64 { return queries(rng, base, nq, k) })
	single := []uint64{rng.Uint64()}
	return append(sets,
		Set{"one", single, queries(rng, single, nq, k)},
		Set{"empty", nil, queries(rng, nil, nq, k)})
}

// A shape makes the fingerprints of a set from their numbers.
type shape struct {
	name        string
	fingerprint func(i int) uint64
}

// fill returns a set of n fingerprints of each shape, with the queries that a function makes of them.
func fill(n int, shapes []shape, queries func(base []uint64) []uint64) (sets []Set) {
	for _, shape := range shapes {
		base := Generate(n, shape.fingerprint)
		sets = append(sets, Set{shape.name, base, queries(base)})
	}
	return sets
}

// Skewed returns twenty sets of n fingerprints that are far from uniform. Examples are numbered pages, templates,
// empty documents, and many versions of one document. Tests use them to check that time and memory do not depend on
// the data. The sets have no queries.
func Skewed(n int, seed uint64) []Set {
	rng := rand.New(rand.NewPCG(seed, 20))
	word := rng.Uint64()
	var values [16]uint64
	for i := range values {
		values[i] = rng.Uint64()
	}
	low := bits.Len(uint(n)) // bits that n values need
	flip := func(centre uint64, radius int) uint64 { return Flip(rng, centre, rng.IntN(radius+1)) }
	// Each shape has a function that returns the i-th fingerprint.
	return fill(n, []shape{
		{"consecutive", func(i int) uint64 { return uint64(i) + 1 }},
		{"consecutive in the upper bits", func(i int) uint64 { return uint64(i) << (64 - low) }},
		{"consecutive in the middle", func(i int) uint64 { return word&^(1<<(20+low)-1<<20) | uint64(i)<<20 }},
		{"multiples of 4,096", func(i int) uint64 { return uint64(i) << 12 }},
		{"all equal", func(int) uint64 { return word }},
		{"16 distinct values", func(i int) uint64 { return values[i%16] }},
		{"one bit varying", func(i int) uint64 { return word ^ uint64(i&1)<<40 }},
		{"20 bits varying", func(int) uint64 { return word ^ rng.Uint64()&0xfffff<<17 }},
		{"every third bit varying", func(int) uint64 { return word ^ rng.Uint64()&0x1249249249249249 }},
		{"one dense ball", func(int) uint64 { return flip(word, 8) }},
		{"16 dense balls", func(int) uint64 { return flip(values[rng.IntN(16)], 6) }},
		{"a wide ball", func(int) uint64 { return flip(word, 20) }},
		{"half in one ball", func(i int) uint64 {
			if i%2 == 0 {
				return flip(word, 6)
			}
			return rng.Uint64()
		}},
		{"half with equal leading bits", func(i int) uint64 { return rng.Uint64() >> (i % 2 * 40) }},
		{"few 1-bits", func(int) uint64 { return rng.Uint64() & rng.Uint64() & rng.Uint64() & rng.Uint64() }},
		{"powers", func(i int) uint64 { return rng.Uint64() >> (i % 64) }},
		{"equal halves", func(int) uint64 { x := rng.Uint64() >> 32; return x<<32 | x }},
		{"equal bytes", func(int) uint64 { return uint64(rng.Uint32()&0xffff) * 0x0001000100010001 }},
		{"clusters of 100", func(i int) uint64 { return Flip(rng, word*uint64(i/100|1), rng.IntN(5)) }},
		{"mostly one value", func(i int) uint64 {
			if i%10 > 0 {
				return word
			}
			return rng.Uint64()
		}},
	}, func([]uint64) []uint64 { return nil })
}

// Uniform returns n uniform fingerprints, the same for the same seed.
func Uniform(n int, seed uint64) []uint64 {
	rng := rand.New(rand.NewPCG(seed, 0x5e75))
	return Generate(n, func(int) uint64 { return rng.Uint64() })
}

// Generate returns n fingerprints, in order: value computes each one from its number.
func Generate(n int, value func(i int) uint64) []uint64 {
	base := make([]uint64, n)
	for i := range base {
		base[i] = value(i)
	}
	return base
}

// clusters returns fingerprints near some hundred centres, as templates of
// sites do.
func clusters(rng *rand.Rand) func(int) uint64 {
	centres := make([]uint64, 100)
	for i := range centres {
		centres[i] = rng.Uint64()
	}
	return func(int) uint64 { return Flip(rng, centres[rng.IntN(len(centres))], rng.IntN(7)) }
}

func queries(rng *rand.Rand, base []uint64, n, k int) []uint64 {
	q := make([]uint64, n)
	for i := range q {
		if len(base) > 0 && i%4 != 3 {
			q[i] = Flip(rng, base[rng.IntN(len(base))], rng.IntN(k+2))
		} else {
			q[i] = rng.Uint64()
		}
	}
	return q
}

// Signatures returns n sorted sets that resemble the signatures of similar documents. Most are copies of others with
// removed and added values, and some are equal. The rest have up to size values, and some values that all of them
// share.
func Signatures(rng *rand.Rand, n, size int, value func() uint64, common ...uint64) (sets [][]uint64) {
	for i := range n {
		var set []uint64
		switch {
		case i > 0 && rng.IntN(3) > 0:
			set = slices.DeleteFunc(slices.Clone(sets[rng.IntN(i)]), func(uint64) bool { return rng.IntN(6) == 0 })
			for range rng.IntN(4) {
				set = append(set, value())
			}
		case i > 0 && rng.IntN(4) == 0:
			set = slices.Clone(sets[rng.IntN(i)])
		default:
			for range rng.IntN(size) {
				set = append(set, value())
			}
			set = append(set, common...)
		}
		slices.Sort(set)
		sets = append(sets, slices.Compact(set))
	}
	return sets
}

// Flip returns f with exactly d bits flipped.
func Flip(rng *rand.Rand, f uint64, d int) uint64 {
	for mask := uint64(0); d > 0; {
		if bit := uint64(1) << rng.IntN(64); mask&bit == 0 {
			mask |= bit
			f ^= bit
			d--
		}
	}
	return f
}

// Planted returns n uniform fingerprints and nq queries. One in a hundred fingerprints differs from another in 1 to 3
// bits. Half of the queries are within 3 bits of a fingerprint, a quarter differ from one in 4 bits, and a quarter are
// random. Benchmarks use this set. It is the same on every machine: word i of the base is the splitmix64 mix of 42+i
// times an odd constant.
func Planted(n, nq int) (base, queries []uint64) {
	s := &stream{42}
	base = make([]uint64, n)
	for i := range base {
		base[i] = s.next()
		if i > 0 && i%100 == 0 {
			base[i] = base[s.next()%uint64(i)] ^ s.flips(1+s.next()%3)
		}
	}
	s = &stream{1 << 60}
	queries = make([]uint64, nq)
	for i := range queries {
		switch kind := s.next() & 3; {
		case kind == 3:
			queries[i] = s.next()
		case kind == 2:
			queries[i] = base[s.next()%uint64(n)] ^ s.flips(4)
		default:
			queries[i] = base[s.next()%uint64(n)] ^ s.flips(s.next()&3)
		}
	}
	return base, queries
}

// A stream is a sequence of pseudo-random words.
type stream struct{ count uint64 }

func (s *stream) next() uint64 {
	z := s.count*0xd1342543de82ef95 + 0x1234567 + 0x9e3779b97f4a7c15
	s.count++
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// flips returns a word with exactly n bits set.
func (s *stream) flips(n uint64) (mask uint64) {
	for set := uint64(0); set < n; {
		if bit := uint64(1) << (s.next() & 63); mask&bit == 0 {
			mask |= bit
			set++
		}
	}
	return mask
}
