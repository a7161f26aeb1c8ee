package huffman

import (
	"cmp"
	"slices"
)

// limitedLengths returns the code lengths, at most lengthMax, that write symbols with these counts in the fewest
// bits. At least two counts must be above 0. Symbols without a count get length 0.
//
// It is the package-merge algorithm (Larmore and Hirschberg, JACM 1990), described here as buying coins. A symbol of
// length l buys one coin of each value 1/2, 1/4, ... 2^-l, each at the price of its count. The cheapest purchase of
// 2s-2 coins of value 1/2 is needed. From the smallest coins up, pairs of the cheapest ones are packed into a coin of
// the next size. The 2s-2 cheapest coins of the last list are the purchase. The length of a symbol is its number of
// occurrences in them.
func limitedLengths(counts *[Positions]uint64) (lengths [Positions]uint8) {
	// A packet counts the occurrences of each symbol in it. With 64 symbols and 12 rounds this is small, and it runs
	// only when a table is built.
	type packet struct {
		price uint64
		times [Positions]uint8
	}
	// Every symbol has one coin of each value. Sort them by price.
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

	// Pack pairs of each list into coins of the next value.
	list := slices.Clone(coins)
	for range lengthMax - 1 {
		pairs := slices.Clone(coins)
		for i := 0; i+1 < len(list); i += 2 {
			p := list[i]
			p.price += list[i+1].price
			for h, n := range list[i+1].times {
				p.times[h] += n
			}
			pairs = append(pairs, p)
		}
		slices.SortStableFunc(pairs, byPrice)
		list = pairs
	}
	// Buy the cheapest coins.
	for _, p := range list[:2*len(coins)-2] {
		for h, n := range p.times {
			lengths[h] += n
		}
	}
	return lengths
}
