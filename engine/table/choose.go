package table

import (
	"fmt"
	"time"

	"ndd/asm"
	"ndd/engine/store"
	"ndd/engine/succinct"
	"ndd/huffman"
)

// A Choice is the layout that suits a set of keys, and why.
type Choice struct {
	Layout Layout
	Reason string
	Costs  []Cost
}

// A Cost is what a layout would take for a set of keys.
type Cost struct {
	Layout  Layout
	Bytes   uint64  // of the table, predicted from all keys
	ProbeNs float64 // of one probe in cache, measured on a sample
}

const (
	sampleKeys    = 1 << 16
	sampleQueries = 256
	sampleTime    = 2 * time.Millisecond // of measuring, each layout
	// worthSaving is the part of the faster layout's memory that a slower one must
	// save to be chosen: memory is what limits an index, but a probe of the huffman
	// layout takes 10 to 50 times as long.
	worthSaving = 0.2
)

// Choose predicts the bytes that each layout would take for ascending, distinct
// keys, measures its probes on every so many of them, and chooses the faster layout
// unless the other saves a fifth of the memory. It takes some nanoseconds a key and a few
// milliseconds. The bytes depend on the keys alone, the times on the machine.
func Choose(keys []uint64, o Options) (Choice, error) {
	if o.BlockBytes == 0 {
		o.BlockBytes = huffman.BlockBytesDefault
	}
	costs := []Cost{
		{Layout: LayoutPlanar, Bytes: planarBytes(keys)},
		{Layout: LayoutHuffman, Bytes: huffmanBytes(keys, o.BlockBytes)},
	}
	sample := thin(keys, sampleKeys)
	for i := range costs {
		o.Layout = costs[i].Layout
		var err error
		if costs[i].ProbeNs, err = measure(sample, o); err != nil {
			return Choice{}, err
		}
	}
	return choose(costs, uint64(len(keys))), nil
}

// choose decides by the costs alone. The first stays unless the second is better.
func choose(costs []Cost, keys uint64) Choice {
	fast, other := costs[0], costs[1]
	if other.ProbeNs < fast.ProbeNs {
		fast, other = other, fast
	}
	c := Choice{Layout: fast.Layout, Costs: costs}
	saved := 0.0
	if fast.Bytes > 0 {
		saved = 1 - float64(other.Bytes)/float64(fast.Bytes)
	}
	why := fmt.Sprintf("the fastest, and %s saves less than %.0f %% of its memory", other.Layout, 100*worthSaving)
	if saved >= worthSaving {
		c.Layout = other.Layout
		why = fmt.Sprintf("it saves %.0f %% of the memory of %s", 100*saved, fast.Layout)
	}
	c.Reason = fmt.Sprintf("%s: %s (%s; %s)", c.Layout, why, costs[0].describe(keys), costs[1].describe(keys))
	return c
}

func (c Cost) describe(keys uint64) string {
	return fmt.Sprintf("%s: %.2f bytes a key, %.0f ns a probe in cache", c.Layout, float64(c.Bytes)/float64(max(keys, 1)), c.ProbeNs)
}

// thin is every so many of keys, at most n: the same skew, less dense.
func thin(keys []uint64, n int) []uint64 {
	step := max(1, (len(keys)+n-1)/n)
	var out []uint64
	for i := 0; i < len(keys); i += step {
		out = append(out, keys[i])
	}
	return out
}

// planarBytes is what writePlanar writes.
func planarBytes(keys []uint64) uint64 {
	h := planarHead{keys: uint64(len(keys))}
	h.groupBits, h.bucketBits = planarWidths(h.keys)
	directoryOf(&h, keys)
	return planarHeadBytes + 2*(h.keys+asm.PlanarPad) + 8*(succinct.WordsFor(h.keys, int(h.restBits()))+
		h.unaryWords()+h.groupsWords()+succinct.WordsFor(h.wideBlocks*groupsPerBlock, int(h.wideBits))+h.fences())
}

// huffmanBytes is about what writeHuffman writes: blocks that are full but for
// half a key.
func huffmanBytes(keys []uint64, blockBytes int) uint64 {
	var counts [64]uint64
	huffman.Count(&counts, keys)
	lengths := huffman.NewCode(&counts).Lengths()
	bits, codes := uint64(0), uint64(0)
	for h, n := range counts {
		bits += n * (uint64(lengths[h]) + uint64(h))
		codes += n
	}
	// A block's first key is in its head; 10 bytes with its count.
	perKey := float64(bits) / float64(max(codes, 1))
	perBlock := (8*float64(blockBytes-10)-perKey/2)/max(perKey, 1) + 1
	blocks := uint64(float64(len(keys))/perBlock + 0.999)
	return headBytes + blocks*uint64(blockBytes+8) + 8*((blocks+blocksPerRank-1)/blocksPerRank)
}

// measure is the time of one of many probes at once.
func measure(sample []uint64, o Options) (probeNs float64, err error) {
	var m store.Memory
	if err := Write(&m, "", sample, o); err != nil {
		return 0, err
	}
	t, err := Open(m.Source(), "", o.Layout)
	if err != nil {
		return 0, err
	}
	leading := t.Leading(64)
	s := &Search{Queries: thin(sample, sampleQueries), Leading: leading, Flips: []uint64{0, 1 << 63}, K: 3}
	var c Scratch
	var matches []Match
	best, began := time.Duration(1<<62), time.Now()
	for time.Since(began) < sampleTime {
		at := time.Now()
		if matches, err = t.Search(matches[:0], s, &c); err != nil {
			return 0, err
		}
		best = min(best, time.Since(at))
	}
	return float64(best.Nanoseconds()) / float64(max(1, len(s.Queries)*len(s.Flips))), nil
}
