// Package sets makes sets of fingerprints for tests and benchmarks: of every
// shape that real corpora have or that has ever hurt a sorted table. Equal
// seeds give equal sets.
package sets

import "math/rand/v2"

// A Set is a base and queries against it.
type Set struct {
	Name          string
	Base, Queries []uint64
}

// All returns a set of each shape with about n fingerprints and nq queries:
// some queries equal to stored ones, some at distances 0 to k+1 of them, some
// anywhere.
func All(n, nq, k int, seed uint64) []Set {
	rng := rand.New(rand.NewPCG(seed, 0x5e75))
	shapes := []struct {
		name string
		at   func(i int) uint64
	}{
		{"random", func(int) uint64 { return rng.Uint64() }},
		{"clustered", clusters(rng)},
		{"all equal", func(int) uint64 { return 0x0123456789abcdef }},
		{"all zero", func(int) uint64 { return 0 }},
		{"all ones", func(int) uint64 { return ^uint64(0) }},
		{"sequence", func(i int) uint64 { return uint64(i) }},
		{"high sequence", func(i int) uint64 { return uint64(i) << 44 }},
		{"40 equal leading bits", func(int) uint64 { return 0xa5a5a5a5a5<<24 | rng.Uint64()>>40 }},
		{"40 equal trailing bits", func(int) uint64 { return rng.Uint64()>>40<<40 | 0x5a5a5a5a5a }},
		{"few bits", func(int) uint64 { return Near(rng, 0, 2) }},
		{"half equal", func(i int) uint64 { return rng.Uint64() * uint64(i&1) }},
		{"two ends", func(i int) uint64 { return rng.Uint64N(1000) ^ -uint64(i&1) }},
	}
	var all []Set
	for _, shape := range shapes {
		base := make([]uint64, n)
		for i := range base {
			base[i] = shape.at(i)
		}
		all = append(all, Set{shape.name, base, queries(rng, base, nq, k)})
	}
	one := []uint64{rng.Uint64()}
	return append(all,
		Set{"one", one, queries(rng, one, nq, k)},
		Set{"empty", nil, queries(rng, nil, nq, k)})
}

// clusters yields fingerprints near some hundred centres, as templates of
// sites do.
func clusters(rng *rand.Rand) func(int) uint64 {
	centres := make([]uint64, 100)
	for i := range centres {
		centres[i] = rng.Uint64()
	}
	return func(int) uint64 { return Near(rng, centres[rng.IntN(len(centres))], rng.IntN(7)) }
}

func queries(rng *rand.Rand, base []uint64, n, k int) []uint64 {
	q := make([]uint64, n)
	for i := range q {
		if len(base) > 0 && i%4 != 3 {
			q[i] = Near(rng, base[rng.IntN(len(base))], rng.IntN(k+2))
		} else {
			q[i] = rng.Uint64()
		}
	}
	return q
}

// Near is f with exactly d bits flipped.
func Near(rng *rand.Rand, f uint64, d int) uint64 {
	for flipped := uint64(0); d > 0; {
		if bit := uint64(1) << rng.IntN(64); flipped&bit == 0 {
			flipped |= bit
			f ^= bit
			d--
		}
	}
	return f
}
