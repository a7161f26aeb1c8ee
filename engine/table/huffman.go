package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"ndd/asm"
	"ndd/engine/store"
	"ndd/huffman"
)

// huffmanTable is the paper's table (section 3.2): blocks of a fixed size, and
// for each block its last key.
//
//	last    | 0x03.. | 0x07.. | 0x0c.. | ...          8 bytes a block, searched by interpolation
//	blocks  | block 0| block 1| block 2| ...          package huffman, 1 KiB each
//	ranks   | 0               | ...                   keys before every 16th block
//	head    number of keys, bytes of a block, code lengths
//
// A probe's range [low, high] begins in the first block whose last key is at
// least low. Cost: interpolation, 4-5 overlapping misses shared by the probes
// of a batch; a block, of whose 16 lines 10 on average are asked for ahead; decoding
// of the keys up to high, some 130 of 220, which is the largest part; the scan of
// those. With 2^20 blocks the last keys are 8 MiB and stay in cache.
type huffmanTable struct {
	keys       uint64
	blockBytes int
	code       *huffman.Code
	blocks     store.Section
	last       []uint64
	ranks      []uint64
}

const (
	blocksPerRank = 16 // 8 bytes each: 0.02 bits a key at 1 KiB
	probesAtOnce  = 64 // what asm.Interpolate advances together
	headBytes     = 16 + 64
)

func writeHuffman(sink store.Sink, prefix string, keys []uint64, blockBytes int) error {
	if blockBytes == 0 {
		blockBytes = huffman.BlockBytesDefault
	}
	if blockBytes < huffman.BlockBytesMin || blockBytes > huffman.BlockBytesMax {
		return fmt.Errorf("blocks of %d bytes: %d to %d are possible", blockBytes, huffman.BlockBytesMin, huffman.BlockBytesMax)
	}
	var counts [64]uint64
	huffman.Count(&counts, keys)
	code := huffman.NewCode(&counts)
	head := binary.LittleEndian.AppendUint64(nil, uint64(len(keys)))
	head = binary.LittleEndian.AppendUint64(head, uint64(blockBytes))
	lengths := code.Lengths()
	sink.Section(prefix + "head")
	sink.Write(append(head, lengths[:]...))

	var last, ranks []uint64
	var block []byte
	sink.Section(prefix + "blocks")
	for rank, rest := uint64(0), keys; len(rest) > 0; {
		if len(last)%blocksPerRank == 0 {
			ranks = append(ranks, rank)
		}
		var n int
		block, n = huffman.AppendBlock(block[:0], code, rest, blockBytes)
		if _, err := sink.Write(block); err != nil {
			return err
		}
		last = append(last, rest[n-1])
		rank += uint64(n)
		rest = rest[n:]
	}
	sink.Section(prefix + "last")
	sink.Write(store.Bytes64(last))
	sink.Section(prefix + "ranks")
	_, err := sink.Write(store.Bytes64(ranks))
	return err
}

func openHuffman(source store.Source, prefix string) (Table, error) {
	var head, last, ranks store.Section
	t := &huffmanTable{}
	for _, part := range []struct {
		name    string
		section *store.Section
	}{{"head", &head}, {"blocks", &t.blocks}, {"last", &last}, {"ranks", &ranks}} {
		var err error
		if *part.section, err = source.Section(prefix + part.name); err != nil {
			return nil, err
		}
	}
	if len(head.Data) != headBytes {
		return nil, head.Corrupt(0, "%d bytes where %d are due", len(head.Data), headBytes)
	}
	t.keys = binary.LittleEndian.Uint64(head.Data)
	blockBytes := binary.LittleEndian.Uint64(head.Data[8:])
	if blockBytes < huffman.BlockBytesMin || blockBytes > huffman.BlockBytesMax {
		return nil, head.Corrupt(8, "blocks of %d bytes", blockBytes)
	}
	t.blockBytes = int(blockBytes)
	code, err := huffman.NewCodeFromLengths((*[64]uint8)(head.Data[16:]))
	if err != nil {
		return nil, head.Corrupt(16, "%v", err)
	}
	t.code = code
	t.last, t.ranks = store.Uint64s(last.Data), store.Uint64s(ranks.Data)
	n := len(t.last)
	switch {
	case len(last.Data) != 8*n || len(t.blocks.Data) != n*t.blockBytes:
		return nil, t.blocks.Corrupt(0, "%d bytes of blocks for %d bytes of last keys", len(t.blocks.Data), len(last.Data))
	case len(ranks.Data) != 8*((n+blocksPerRank-1)/blocksPerRank):
		return nil, ranks.Corrupt(0, "%d bytes of ranks for %d blocks", len(ranks.Data), n)
	case t.keys > uint64(n)*uint64(huffman.MaxKeys(t.blockBytes)) || t.keys < uint64(n):
		return nil, head.Corrupt(0, "%d keys in %d blocks", t.keys, n)
	}
	return t, nil
}

func (t *huffmanTable) Layout() Layout { return LayoutHuffman }
func (t *huffmanTable) Len() uint64    { return t.keys }

// Leading fixes as many bits as tell the blocks apart: flipping further ones
// would mostly decode the same blocks again.
func (t *huffmanTable) Leading(p int) int { return min(p, bitsFor(len(t.last))) }

// Search looks the blocks of 64 probes up at once, asks for each block a few
// probes ahead, for as much of it as its range needs, and unpacks that much.
func (t *huffmanTable) Search(dst []Match, s *Search, c *Scratch) ([]Match, error) {
	mask := leadingMask(s.Leading)
	perQuery := len(s.Flips)
	probes := len(s.Queries) * perQuery
	if len(t.last) == 0 {
		return dst, nil
	}
	c.block, c.keys = -1, c.keys[:0]
	query, flip := 0, 0
	for first := 0; first < probes; first += probesAtOnce {
		n := min(probesAtOnce, probes-first)
		c.low = slices.Grow(c.low[:0], n)[:n]
		c.blocks = slices.Grow(c.blocks[:0], n)[:n]
		c.shares = slices.Grow(c.shares[:0], n)[:n]
		c.asking = slices.Grow(c.asking[:0], n)[:n]
		for i := range n {
			c.low[i], c.asking[i] = (s.Queries[query]^s.Flips[flip])&mask, query
			if flip++; flip == perQuery {
				query, flip = query+1, 0
			}
		}
		asm.Interpolate(c.blocks, t.last, c.low)
		t.heads(c)
		for i, b := range c.blocks {
			c.shares[i] = t.share(b, c.low[i]|^mask)
		}
		for i := range min(n, blocksAhead) {
			t.prefetch(c.blocks[i], c.shares[i], c)
		}
		for i, b := range c.blocks {
			if ahead := i + blocksAhead; ahead < n {
				t.prefetch(c.blocks[ahead], c.shares[ahead], c)
			}
			low, high, share := c.low[i], c.low[i]|^mask, c.shares[i]
			for ; b < len(t.last); b++ {
				if err := t.decodeUpTo(b, high, share, c); err != nil {
					return dst, err
				}
				dst = scan(dst, c.keys, low, high, s, c.asking[i], c)
				if t.last[b] >= high {
					break
				}
				share = t.share(b+1, high)
			}
		}
	}
	return dst, nil
}

const (
	blocksAhead = 3  // probes for whose blocks memory is asked before they are unpacked
	headLines   = 2  // the head of a block and its codes
	spareKeys   = 10 // with the rounding, two deviations of a uniform key's place among 200
)

// share is how much of block b lies before high, by the block's ends: 1 of what is
// behind the last.
func (t *huffmanTable) share(b int, high uint64) float32 {
	if b >= len(t.last) || high >= t.last[b] {
		return 1
	}
	last := t.last[b]
	before := uint64(0)
	if b > 0 {
		before = t.last[b-1]
	}
	if high <= before {
		return 0
	}
	return float32(int64((high-before)>>1)) / float32(int64((last-before)>>1)|1)
}

// heads asks for the first line of each of the blocks, one right after the other. A
// prefetch whose page is not at hand keeps the processor from what follows it, and these
// look their pages up together; those of the other lines find them.
func (t *huffmanTable) heads(c *Scratch) {
	var heads [probesAtOnce]uint64
	for i, b := range c.blocks {
		heads[i] = uint64(b) * uint64(t.blockBytes)
	}
	asm.PrefetchAt(t.blocks.Data, heads[:len(c.blocks)])
}

// prefetch asks for the lines of block b that its keys up to high need: codes at
// its beginning, raw bits from its end down.
func (t *huffmanTable) prefetch(b int, share float32, c *Scratch) {
	if b >= len(t.last) {
		return
	}
	lines := &c.lines
	at, end := uint64(b*t.blockBytes), uint64((b+1)*t.blockBytes)
	n := 0
	for ; n < headLines-1; n++ {
		lines[n] = at + uint64(64*(n+1))
	}
	raws := int(share*float32(t.blockBytes/64)) + 1
	for first := n; n < min(first+raws, len(lines)); n++ {
		lines[n] = end - uint64(64*(n-first)) - 1
	}
	asm.PrefetchAt(t.blocks.Data, lines[:n])
}

// prefix is how many keys of n hold a share, as a rule. Keys are unpacked eight at a time
// behind the first.
func prefix(share float32, n int) int {
	return (int(share*float32(n))+spareKeys+7)&^7 + 1
}

// decodeUpTo unpacks the keys of block b up to high, and some more, into c.keys.
func (t *huffmanTable) decodeUpTo(b int, high uint64, share float32, c *Scratch) error {
	if b == c.block && len(c.keys) > 0 && (c.keys[len(c.keys)-1] >= high || c.whole) {
		return nil
	}
	at := b * t.blockBytes
	block := t.blocks.Data[at : at+t.blockBytes]
	n := huffman.Keys(block)
	want := prefix(share, n)
	if c.block = b; want < n {
		c.room(t.blockBytes)
		if want > len(c.keys) {
			return t.corrupt(b, fmt.Errorf("%d keys", n), c)
		}
		c.keys, c.whole = c.keys[:want], false
		if err := t.code.DecodePrefix(c.keys, block); err != nil {
			return t.corrupt(b, err, c)
		}
		if c.keys[want-1] >= high {
			return nil
		}
	}
	c.whole = true
	return t.decode(b, c)
}

// decode unpacks block b into c.keys.
func (t *huffmanTable) decode(b int, c *Scratch) error {
	c.room(t.blockBytes)
	at := b * t.blockBytes
	n, err := t.code.DecodeBlock(c.keys, t.blocks.Data[at:at+t.blockBytes])
	if err == nil && c.keys[n-1] != t.last[b] {
		err = errors.New("its last key is not the one in the index of last keys")
	}
	if err != nil {
		return t.corrupt(b, err, c)
	}
	c.keys = c.keys[:n]
	return nil
}

func (t *huffmanTable) corrupt(b int, err error, c *Scratch) error {
	c.keys = c.keys[:0]
	return t.blocks.Corrupt(uint64(b*t.blockBytes), "table block %d: %v", b, err)
}

// room makes c.keys as long as a block may have keys.
func (c *Scratch) room(blockBytes int) {
	if c.keys = c.keys[:cap(c.keys)]; len(c.keys) < huffman.MaxKeys(blockBytes) {
		c.keys = make([]uint64, huffman.MaxKeys(blockBytes))
	}
}

func (t *huffmanTable) Rank(key uint64, c *Scratch) (uint64, bool, error) {
	var at [1]int
	asm.Interpolate(at[:], t.last, []uint64{key})
	b := at[0]
	if b == len(t.last) {
		return 0, false, nil
	}
	if err := t.decode(b, c); err != nil {
		return 0, false, err
	}
	i, ok := slices.BinarySearch(c.keys, key)
	if !ok {
		return 0, false, nil
	}
	rank := t.ranks[b/blocksPerRank]
	for before := b / blocksPerRank * blocksPerRank; before < b; before++ {
		rank += uint64(huffman.Keys(t.blocks.Data[before*t.blockBytes:]))
	}
	if rank += uint64(i); rank >= t.keys {
		return 0, false, t.blocks.Corrupt(uint64(b*t.blockBytes), "table block %d: rank %d of %d keys", b, rank, t.keys)
	}
	return rank, true, nil
}

// Key finds the block of rank by bisection of ranks and by the counts of at most
// 15 blocks before it, and decodes it.
func (t *huffmanTable) Key(rank uint64, c *Scratch) (uint64, error) {
	if err := checkRank(rank, t.keys); err != nil {
		return 0, err
	}
	past, found := slices.BinarySearch(t.ranks, rank)
	if found {
		past++
	}
	if past == 0 {
		return 0, t.blocks.Corrupt(0, "no block begins at rank %d or before", rank)
	}
	left := rank - t.ranks[past-1]
	for b := (past - 1) * blocksPerRank; b < min(past*blocksPerRank, len(t.last)); b++ {
		n := uint64(huffman.Keys(t.blocks.Data[b*t.blockBytes:]))
		if left >= n {
			left -= n
			continue
		}
		if err := t.decode(b, c); err != nil {
			return 0, err
		}
		return c.keys[left], nil
	}
	return 0, t.blocks.Corrupt(0, "rank %d is not in the blocks before rank %d", rank, past*blocksPerRank)
}

func (t *huffmanTable) Walk(yield func([]uint64) bool) error {
	var c Scratch
	seen, before := uint64(0), uint64(0)
	for b := range t.last {
		if err := t.decode(b, &c); err != nil {
			return err
		}
		if b > 0 && c.keys[0] <= before {
			return t.blocks.Corrupt(uint64(b*t.blockBytes), "table block %d does not continue the one before", b)
		}
		before = c.keys[len(c.keys)-1]
		if seen += uint64(len(c.keys)); !yield(c.keys) {
			return nil
		}
	}
	if seen != t.keys {
		return t.blocks.Corrupt(0, "%d keys in the blocks, %d by the head", seen, t.keys)
	}
	return nil
}

func (t *huffmanTable) Parts() []Part {
	return []Part{
		{"blocks", uint64(len(t.blocks.Data))},
		{"last keys", 8 * uint64(len(t.last))},
		{"ranks", 8 * uint64(len(t.ranks))},
		{"head", headBytes},
	}
}
