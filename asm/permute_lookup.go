package asm

// lookupFrom is the length from which building a lookup (2,048 entries, about 1.5 us) pays: the
// shifts and masks of a compressor take about 15 ns a key, the lookup 2.3 (BenchmarkPermute,
// impl=generic).
const lookupFrom = 128

// lookup is a bit permutation as eight tables: entry [b][v] is where the permutation puts the bits
// of v when v is byte b. A permutation moves every bit alone, so the image of a key is the OR of
// the images of its bytes.
type lookup [8][256]uint64

// permuteLookup permutes with 16 KiB of tables, eight loads a key: six times as fast as the shifts
// and masks, on any CPU.
func permuteLookup(dst, src []uint64, mask uint64, dir direction) {
	var table lookup
	table.fill(mask, dir)
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = table[0][uint8(x)] | table[1][uint8(x>>8)] |
			table[2][uint8(x>>16)] | table[3][uint8(x>>24)] |
			table[4][uint8(x>>32)] | table[5][uint8(x>>40)] |
			table[6][uint8(x>>48)] | table[7][x>>56]
	}
}

// fill builds the tables: an entry is the one without its lowest bit, and that bit's image.
func (t *lookup) fill(mask uint64, dir direction) {
	for to, from := range bitSource(mask, dir) {
		t[from/8][1<<(from%8)] = 1 << to
	}
	for b := range t {
		images := &t[b]
		for v := 1; v < 256; v++ {
			images[v] = images[v&(v-1)] | images[v&-v]
		}
	}
}
