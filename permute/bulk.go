package permute

// bulkLeast is the number of words from which it pays to make tables: the 2048 entries cost as much as
// some 250 words through the network. BenchmarkApplyAll says so.
const bulkLeast = 512

// ApplyAll permutes all words of src into dst, which may be src itself but not overlap it otherwise. It
// panics if dst is shorter.
// Since a permutation is linear, its value is the XOR of the values of the eight bytes of a word; for
// many words these are looked up: 8 loads from 16 KiB of tables that stay in the first-level cache,
// instead of 48 operations.
func (p *Permutation) ApplyAll(dst, src []uint64) {
	dst = dst[:len(src)]
	if len(src) < bulkLeast {
		for i, x := range src {
			dst[i] = p.Apply(x)
		}
		return
	}
	var table [8][256]uint64
	p.fill(&table)
	for i, x := range src {
		dst[i] = table[0][x&0xff] ^ table[1][x>>8&0xff] ^ table[2][x>>16&0xff] ^ table[3][x>>24&0xff] ^
			table[4][x>>32&0xff] ^ table[5][x>>40&0xff] ^ table[6][x>>48&0xff] ^ table[7][x>>56]
	}
}

// fill computes the value of every byte in every place: those of single bits by Apply, the others from
// two that are already there.
func (p *Permutation) fill(table *[8][256]uint64) {
	for place := range table {
		t := &table[place]
		for b := 1; b < 256; b++ {
			low := b & -b
			if b == low {
				t[b] = p.Apply(uint64(b) << (8 * place))
			} else {
				t[b] = t[low] ^ t[b^low]
			}
		}
	}
}
