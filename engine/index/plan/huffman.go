package plan

import (
	"ndd/engine/index/table"
	"ndd/huffman"
)

// huffmanModel is the paper's table: see package table for the format.
//
// A probe seeks its range's first block among the last keys, where the first
// steps go far and the last stay on one line, and decodes a quarter of it on average.
// Half a block is read from both ends, codes and raw bits.
type huffmanModel struct{}

const (
	huffmanRanks  = 8 // blocks for each entry of ranks
	huffmanHead   = 88
	timedPerBlock = 164 // keys of a block when the cost of a unit was measured: timedKeys uniform ones
	seekLines     = 3   // of the last keys: package asm's Interpolate
	firstBeside   = 5   // lines of half a block that a probe asks for beside its head: raw bits, from the end to the middle on average
)

func (huffmanModel) layout() table.Layout { return table.LayoutHuffman }

func (huffmanModel) blocks(n float64, e entry) float64 {
	return float64(whole((n - 1) / e.perBlock(huffman.BlockBytesDefault)))
}

func (md huffmanModel) parts(n float64, e entry) []table.Part {
	blocks := md.blocks(n, e)
	return []table.Part{
		{Name: "blocks", Bytes: uint64(blocks) * huffman.BlockBytesDefault},
		{Name: "last keys", Bytes: 8 * uint64(blocks)},
		{Name: "ranks", Bytes: 8 * whole(blocks/huffmanRanks)},
		{Name: "head", Bytes: huffmanHead},
	}
}

func (md huffmanModel) bucketBits(n float64, e entry) int { return bitsFor(md.blocks(n, e)) }

// units returns the number of blocks: a range begins anywhere in one.
func (huffmanModel) units(w *work) float64 {
	perBlock := w.entry.perBlock(huffman.BlockBytesDefault)
	return min(1+w.candidates/perBlock, max(1, w.keys/perBlock))
}

// time adds up the tables: nothing of one is under way while another is searched.
// The pages of the blocks of many probes are looked up together, so only the first
// block in each table of a query that comes alone is waited for: as long as for one read, since codes and raw bits, at both
// ends of half a block, are asked for at once (bench: 0.8 to 0.9 reads at 1 M in four to eleven tables, 1.2 at 10 M).
func (md huffmanModel) time(m *Machine, tables []work) (online, batch float64) {
	c := m.Layouts[md.layout()]
	online, batch = indexNS+c.CallNS, indexBatchNS
	for i := range tables {
		w := &tables[i]
		blocks := md.blocks(w.keys, w.entry)
		units := md.units(w)
		// A line of the last keys is read again after as many others as there are, and what those probes read of the blocks.
		all := float64(len(tables)) * blocks * huffman.BlockBytesDefault
		last := float64(len(tables)) * 8 * blocks
		others := (1 + firstBeside + (units-1)*huffman.BlockBytesDefault/64) / seekLines
		seek := m.extra(min(all, last*(1+others)))
		read := m.extra(all)

		const lines = huffman.BlockBytesDefault / 64
		line := m.lineAmong(read)
		first := read.Together + firstBeside*line
		further := lines * line
		// A block of skewed keys has more of them to decode.
		unit := c.UnitNS * max(1, w.entry.perBlock(huffman.BlockBytesDefault)/timedPerBlock)
		probe := c.ProbeNS + first + (units-1)*(unit+further)

		batch += c.TableNS + w.probes*(probe+seekLines*seek.Together)
		online += c.QueryNS + w.probes*probe + read.Alone - read.Together + max(seekLines*seek.Alone, w.probes*seekLines*seek.Together)
	}
	return online, batch
}
