package plan

import (
	"math"

	"ndd/huffman"
)

// positions returns the expected counts of the positions h (see package huffman) of
// n sorted uniform keys: how many neighbours first differ in bit h.
//
// They are the nodes at depth d = 63-h of the tree of leading bits that have keys
// in both halves. A half has Poisson(n / 2^(d+1)) keys, so each of the 2^d nodes
// is one with chance (1 - exp(-n / 2^(d+1)))^2.
func positions(n float64) (counts [huffman.Positions]float64) {
	for h := range counts {
		depth := 63 - h
		both := math.Expm1(-n * math.Ldexp(1, -depth-1))
		counts[h] = math.Ldexp(both*both, depth)
	}
	return counts
}

// entry is the length in bits of a key in a block: mean and variance.
type entry struct{ mean, variance float64 }

// uniformEntry returns that of n uniform keys under their own code.
func uniformEntry(n float64) entry {
	expected := positions(n)
	var counts [huffman.Positions]uint64
	for h, c := range expected {
		counts[h] = uint64(math.Round(c * min(1, math.Ldexp(1, 50)/n)))
	}
	return entryOf(&counts)
}

func entryOf(counts *[huffman.Positions]uint64) entry {
	lengths := huffman.NewCode(counts).Lengths()
	total, sum, squares := 0.0, 0.0, 0.0
	for h, c := range counts {
		bits := float64(int(lengths[h]) + h)
		total += float64(c)
		sum += float64(c) * bits
		squares += float64(c) * bits * bits
	}
	if total == 0 {
		return entry{1, 0}
	}
	mean := sum / total
	return entry{mean, max(0, squares/total-mean*mean)}
}

// perBlock returns how many keys a block of blockBytes holds on average: the last, which is
// not in it, and as many entries as fit in each half. That is the
// renewal function of the entries' lengths: free/mean + (variance - mean^2 +
// mean) / (2 mean^2), the last term because lengths are whole numbers.
func (e entry) perBlock(blockBytes int) float64 {
	const headBytes = 2 // of a half
	free := 8 * float64(blockBytes/2-headBytes)
	m := e.mean
	n := free/m + (e.variance-m*m+m)/(2*m*m)
	return min(1+2*max(n, 0), float64(huffman.MaxKeys(blockBytes)))
}
