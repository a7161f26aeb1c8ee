package huffman

import (
	"cmp"
	"slices"
)

// limitedLengths returns the code lengths, at most lengthMax, that write symbols with these counts
// in the fewest bits. At least two counts must be above 0; symbols without a count get length 0.
//
// Package-merge (Larmore and Hirschberg, JACM 1990), seen as buying coins: a symbol of length l
// buys one coin of each worth 1/2, 1/4, ... 2^-l, each at the price of its count, and 2s-2 halves
// must be bought as cheaply as they can be. From the smallest coins up, pairs of the cheapest are
// packed into one of the next size; the 2s-2 cheapest of the last list are the purchase, and a
// symbol's length is how often it is in them.
func limitedLengths(counts *[Positions]uint64) (lengths [Positions]uint8) {
	// A packet carries how often each symbol is inside. 64 symbols and 12 rounds make this small,
	// and only a table's build runs it.
	type packet struct {
		price uint64
		times [Positions]uint8
	}
	var coins []packet
	for h, n := range counts {
		if n > 0 {
			p := packet{price: n}
			p.times[h] = 1
			coins = append(coins, p)
		}
	}
	byPrice := func(a, b packet) int { return cmp.Compare(a.price, b.price) }
	slices.SortStableFunc(coins, byPrice)

	list := slices.Clone(coins)
	for range lengthMax - 1 {
		merged := slices.Clone(coins)
		for i := 0; i+1 < len(list); i += 2 {
			p := list[i]
			p.price += list[i+1].price
			for h, n := range list[i+1].times {
				p.times[h] += n
			}
			merged = append(merged, p)
		}
		slices.SortStableFunc(merged, byPrice)
		list = merged
	}
	for _, p := range list[:2*len(coins)-2] {
		for h, n := range p.times {
			lengths[h] += n
		}
	}
	return lengths
}
