package table

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"ndd/asm"
	"ndd/engine/succinct"
)

// A planarDirectory is the sections "groups" and "wide" as they are made. Blocks may
// be set in any order and at the same time.
type planarDirectory struct {
	head   *planarHead
	groups []uint64
	wide   succinct.Packed // when finished

	mu     sync.Mutex
	blocks []wideBlock
}

// wideBlock is a block whose line cannot say where its groups begin.
type wideBlock struct {
	block  uint64
	starts [groupsPerBlock]uint64
}

func newPlanarDirectory(h *planarHead) *planarDirectory {
	return &planarDirectory{head: h, groups: make([]uint64, h.groupsWords())}
}

// set says at which ranks a block's groups begin, and the one behind them.
func (d *planarDirectory) set(block uint64, starts *[groupsPerBlock + 1]uint64) {
	directory := asm.Planar{Groups: d.groups}
	inside := (*[groupsPerBlock]uint64)(starts[:])
	if directory.SetBlock(block, inside, starts[groupsPerBlock]) {
		return
	}
	d.mu.Lock()
	d.blocks = append(d.blocks, wideBlock{block, *inside})
	d.mu.Unlock()
}

// finish numbers the wide blocks, packs their offsets and completes the head.
func (d *planarDirectory) finish() {
	slices.SortFunc(d.blocks, func(a, b wideBlock) int { return cmp.Compare(a.block, b.block) })
	widest := uint64(0)
	for i := range d.blocks {
		b := &d.blocks[i]
		d.groups[lineWords*b.block] = uint64(i)
		widest = max(widest, b.starts[groupsPerBlock-1]-b.starts[0])
	}
	d.head.wideBlocks = uint64(len(d.blocks))
	d.head.wideBits = uint(succinct.WidthFor(widest))
	d.wide = succinct.NewPacked(d.head.wideBlocks*groupsPerBlock, int(d.head.wideBits))
	for i := range d.blocks {
		for j, start := range d.blocks[i].starts {
			d.wide.Set(uint64(i)*groupsPerBlock+uint64(j), start-d.blocks[i].starts[0])
		}
	}
	d.groups[len(d.groups)-1] = d.head.keys << 8 // the base behind the last block
}

// directoryOf makes the directory of keys. It panics when they do not ascend.
func directoryOf(h *planarHead, keys []uint64) *planarDirectory {
	d := newPlanarDirectory(h)
	shift := 64 - h.groupBits
	rank := uint64(0)
	var starts [groupsPerBlock + 1]uint64
	for block := range h.blocks() {
		for j := range groupsPerBlock {
			starts[j] = rank
			for group := block*groupsPerBlock + uint64(j); rank < h.keys && keys[rank]>>shift == group; rank++ {
				if rank > 0 && keys[rank] <= keys[rank-1] {
					d.panic(keys, rank)
				}
			}
		}
		starts[groupsPerBlock] = rank
		d.set(block, &starts)
	}
	if rank != h.keys {
		d.panic(keys, rank)
	}
	d.finish()
	return d
}

func (d *planarDirectory) panic(keys []uint64, rank uint64) {
	panic(fmt.Sprintf("table: key %d does not ascend: %#016x after %#016x", rank, keys[rank], keys[rank-1]))
}

// A zeroCursor finds the zeros of unary words, one after the other: zero number n, from 1, ends
// bucket n-1.
type zeroCursor struct {
	words  []uint64
	word   int    // where the search goes on
	before uint64 // zeros in the words before that
}

// start is the rank of the first key that lies behind n zeros. n must not be less than
// before.
func (c *zeroCursor) start(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	for {
		inverse := ^c.words[c.word]
		here := uint64(bits.OnesCount64(inverse))
		if n <= c.before+here {
			at := 64*uint64(c.word) + uint64(succinct.SelectWord(inverse, int(n-c.before-1)))
			return at + 1 - n // its place, less the zeros before it
		}
		c.before += here
		c.word++
	}
}
