package plan

import (
	"math"

	"example.org/ndd/engine/index/table"
	"example.org/ndd/huffman"
)

// huffmanModel models the paper's table. Package table describes the format.
//
// A probe searches its range's first block among the last keys. The first steps of the search jump far, and the last
// ones stay in one line. Then it decodes a quarter of the block on average. It reads both ends of half a block: codes
// and raw bits.
type huffmanModel struct{}

const (
	huffmanRanks  = 8 // blocks per entry of ranks
	huffmanHead   = 88
	timedPerBlock = 164 // keys of a block in the measurement of a unit, with a table of 2^17 uniform keys
	seekLines     = 3   // lines of the last keys in a search by asm.Interpolate
	// rawLines is the number of lines of half a block that a probe reads in addition to its head: raw bits, on
	// average from the end to the middle.
	rawLines = 5
)

func (huffmanModel) layout() table.Layout { return table.LayoutHuffman }

func (huffmanModel) blocks(n float64, e entry) float64 {
	return float64(roundUp((n - 1) / e.perBlock(huffman.BlockBytesDefault)))
}

func (md huffmanModel) parts(n float64, e entry) []table.Part {
	blocks := md.blocks(n, e)
	return []table.Part{
		{Name: "blocks", Bytes: uint64(blocks) * huffman.BlockBytesDefault},
		{Name: "last keys", Bytes: 8 * uint64(blocks)},
		{Name: "ranks", Bytes: 8 * roundUp(blocks/huffmanRanks)},
		{Name: "head", Bytes: huffmanHead},
	}
}

func (md huffmanModel) bucketBits(n float64, e entry) int { return bitsFor(md.blocks(n, e)) }

// units returns the number of blocks: a range begins anywhere in a block.
func (huffmanModel) units(w *work) float64 {
	perBlock := w.entry.perBlock(huffman.BlockBytesDefault)
	return min(1+w.candidates/perBlock, max(1, w.keys/perBlock))
}

// time sums over the tables, because searches of different tables do not overlap. TLB misses of many probes overlap.
// So a single query waits only for the first block in each table, and only for one read: codes and raw bits, at both
// ends of half a block, are read concurrently. (bench: 0.8 to 0.9 reads at 1 M in four to eleven tables, 1.2 at 10
// M).
func (md huffmanModel) time(m *Machine, tables []work) (online, batch float64) {
	c := huffmanCosts
	online, batch = indexNS+c.call, indexBatchNS
	for i := range tables {
		w := &tables[i]
		blocks := md.blocks(w.keys, w.entry)
		units := md.units(w)
		// Between two reads of a line of the last keys, as many probes read other lines as there are lines. These
		// probes also read blocks.
		tableBytes := float64(len(tables)) * blocks * huffman.BlockBytesDefault
		last := float64(len(tables)) * 8 * blocks
		otherLines := (1 + rawLines + (units-1)*huffman.BlockBytesDefault/64) / seekLines
		seek := m.extra(min(tableBytes, last*(1+otherLines)))
		read := m.extra(tableBytes)

		const lines = huffman.BlockBytesDefault / 64
		line := m.line(read)
		first := read.batch + rawLines*line
		further := lines * line
		// A block of skewed keys has more keys to decode.
		unit := c.unit * max(1, w.entry.perBlock(huffman.BlockBytesDefault)/timedPerBlock)
		probe := c.probe + first + (units-1)*(unit+further)

		batch += c.table + w.probes*(probe+seekLines*seek.batch)
		online += c.query + w.probes*probe + read.single - read.batch +
			max(seekLines*seek.single, w.probes*seekLines*seek.batch)
	}
	return online, batch
}

// positions returns the expected counts of the positions h (see package huffman) of n sorted uniform keys: the number
// of neighbours that first differ in bit h.
//
// A count is the number of nodes at depth d = 63-h of the tree of leading bits with keys in both halves. A half has
// Poisson(n / 2^(d+1)) keys, so each of the 2^d nodes is one with probability (1 - exp(-n / 2^(d+1)))^2.
func positions(n float64) (counts [huffman.Positions]float64) {
	for h := range counts {
		depth := 63 - h
		changed := math.Expm1(-n * math.Ldexp(1, -depth-1))
		counts[h] = math.Ldexp(changed*changed, depth)
	}
	return counts
}

// entry is the length in bits of a key in a block: mean and variance.
type entry struct{ mean, variance float64 }

// uniformEntry returns the entry of n uniform keys with their own code.
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

// perBlock returns the average number of keys per block: the last key, which is stored outside the block, and the
// entries that fit in each half. It is the renewal function of the entries' lengths: freeBits/mean + (variance - mean^2
// + mean) / (2 mean^2). The last term is needed because lengths are whole numbers.
func (e entry) perBlock(blockBytes int) float64 {
	const headBytes = 2 // bytes of the head of each half
	freeBits := 8 * float64(blockBytes/2-headBytes)
	m := e.mean
	n := freeBits/m + (e.variance-m*m+m)/(2*m*m)
	return min(1+2*max(n, 0), float64(huffman.MaxKeys(blockBytes)))
}
