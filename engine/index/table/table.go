package table

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"runtime"

	"ndd/asm"
	"ndd/engine/storage/store"
	"ndd/permute"
)

// A Layout names how keys are packed.
type Layout string

// The layouts.
const (
	LayoutHuffman Layout = "huffman"
	LayoutPlanar  Layout = "planar"
)

// A Table is one permuted table.
type Table interface {

	// Len is the number of keys.
	Len() uint64

	// Probing returns how the table is best probed within radius flips of p leading bits and distance
	// k: how many of them a probe should fix, since every pattern of flips costs a probe, and what that
	// costs a query. It takes a millisecond at most, and reads at most 2,048 words of the table.
	Probing(p, radius, k int) Probing

	// WalkPart calls yield with the keys of the part of the table from from/of to to/of, in ascending order, some
	// hundreds or thousands at a time, and the rank of the first, until it returns false. The slice is valid during
	// the call. Parts that end where others begin have all keys between them, and none twice.
	WalkPart(from, to, of uint64, yield func(rank uint64, keys []uint64) bool) error

	// PartWith returns the part, as WalkPart takes it, that has all keys from low to high, and few others.
	PartWith(low, high uint64) (from, to, of uint64)

	// Parts accounts for the bytes.
	Parts() []Part

	// sortedRanks is [Ranks] of ranksAtOnce keys at most.
	sortedRanks(ranks, keys []uint64, scratch *Scratch) error
}

// A Search is a batch of queries against one table.
type Search struct {
	Queries []uint64        // under the table's permutation
	Leading int             // bits that a probe fixes, 0..64
	Flips   permute.FlipSet // patterns to XOR into the leading bits
	K       int             // largest Hamming distance, over all 64 bits

	// Earlier says which differences other tables report. A match that one of
	// them is sure to find may be left out; the caller checks the others.
	Earlier []Finder

	prepared    []asm.PlanarProbe // see Prepare
	preparedFor permute.FlipSet   // the Flips that they are made of
	starts      []uint32          // of Leading bits
}

// A Finder is a table that finds every key whose difference from a query has at
// most Radius bits of Mask, both under the permutation of the table that is
// searched.
type Finder struct {
	Mask   uint64
	Radius int
}

// A Match is a key within distance K of a query.
type Match struct {
	Table int // of [SearchAll]; 0 in a search of one table
	Query int // position in Search.Queries
	Key   uint64
}

// SearchAll makes search i in table i, for all tables, and appends to dst every key that a probe finds,
// once for each query and table, in no order. It costs less than one search after the other where all tables have
// one layout: their misses overlap. There may be at most 65,536 tables.
func SearchAll(dst []Match, tables []Table, searches []Search, c *Scratch) ([]Match, error) {
	planar, huffman := c.tables[:0], c.huffman[:0]
	for _, t := range tables {
		switch t := t.(type) {
		case *planarTable:
			planar = append(planar, t)
		case *huffmanTable:
			huffman = append(huffman, t)
		}
	}
	c.tables, c.huffman = planar, huffman
	switch len(tables) {
	case len(planar):
		return searchPlanar(dst, planar, searches, c)
	case len(huffman):
		return searchHuffman(dst, huffman, searches, c)
	}
	for i, t := range tables {
		from := len(dst)
		var err error
		if dst, err = SearchAll(dst, []Table{t}, searches[i:i+1], c); err != nil {
			return dst, fmt.Errorf("table %d: %w", i, err)
		}
		for j := range dst[from:] {
			dst[from+j].Table = i
		}
	}
	return dst, nil
}

// NoRank stands for the rank of a key that a table does not have.
const NoRank = ^uint64(0)

// Ranks sets ranks to the positions of keys, which must be ascending and as many, or to [NoRank]. What
// neighbours share is read once: of a huffman table half a block, of a planar one the lines that
// are on their way together, some hundred at a time.
func Ranks(ranks []uint64, t Table, keys []uint64, c *Scratch) error {
	for len(keys) > 0 {
		n := min(len(keys), ranksAtOnce)
		if err := t.sortedRanks(ranks[:n], keys[:n], c); err != nil {
			return err
		}
		ranks, keys = ranks[n:], keys[n:]
	}
	return nil
}

// ranksAtOnce keys are looked for together: what they read is 60 KB.
const ranksAtOnce = 128

// A Part is one of the arrays that a table is made of.
type Part struct {
	Name  string
	Bytes uint64
}

// Bytes returns the sum of a table's parts.
func Bytes(t Table) uint64 { return Sum(t.Parts()) }

// Sum returns the bytes of all parts.
func Sum(parts []Part) (bytes uint64) {
	for _, p := range parts {
		bytes += p.Bytes
	}
	return bytes
}

// Options choose a layout and its parameters.
type Options struct {
	Layout     Layout // default huffman
	BlockBytes int    // of the huffman layout, default 1024
	Threads    int    // that pack, default GOMAXPROCS
}

// Write packs keys, which must be ascending and distinct, and writes them as
// sections of sink whose names begin with prefix. [Open] reads them.
func Write(sink store.Sink, prefix string, keys []uint64, o Options) error {
	o.Threads = cmp.Or(max(o.Threads, 0), runtime.GOMAXPROCS(0))
	switch o.Layout {
	case "", LayoutHuffman:
		return writeHuffman(sink, prefix, keys, o)
	case LayoutPlanar:
		return writePlanar(sink, prefix, keys, o.Threads)
	}
	return fmt.Errorf("unknown layout %q: there are %q and %q", o.Layout, LayoutHuffman, LayoutPlanar)
}

// Open opens the table that [Write] wrote under prefix.
func Open(source store.Source, prefix string, layout Layout) (Table, error) {
	switch layout {
	case LayoutHuffman:
		return openHuffman(source, prefix)
	case LayoutPlanar:
		return openPlanar(source, prefix)
	}
	return nil, fmt.Errorf("%w: unknown layout %q", store.ErrCorrupt, layout)
}

// Scratch is what a search needs to remember. It belongs to one goroutine; its
// zero value is ready.
type Scratch struct {
	keys    []uint64       // of a huffman block,
	halves  [2]huffmanHalf // or of the halves of some, by side
	found   [256]uint32    // positions that a scan reports
	rounds  huffmanRounds
	huffman []*huffmanTable
	planar  *planarScratch
	tables  []*planarTable
	flips   flipList
	ctx     context.Context
	most    int // matches; 0: any number
}

// ErrTooMany is what a search returns that finds more matches than [Scratch.AtMost] allows.
var ErrTooMany = errors.New("too many matches to hold")

// AtMost lets searches with this scratch, from now on, end with [ErrTooMany] once dst has more than
// matches matches: soon after, as they look at it from time to time. 0 lets none end.
func (c *Scratch) AtMost(matches int) { c.most = matches }

// Until lets searches with this scratch, from now on, end with the error of ctx once that is done:
// within some ten thousand comparisons. nil lets none end.
func (c *Scratch) Until(ctx context.Context) { c.ctx = ctx }

// stopped returns the error of a context that is done, or [ErrTooMany] if more matches were found
// than are allowed.
func (c *Scratch) stopped(found int) error {
	if c.most > 0 && found > c.most {
		return ErrTooMany
	}
	if c.ctx == nil {
		return nil
	}
	return c.ctx.Err()
}

// leadingMask returns the mask of the first n bits.
func leadingMask(n int) uint64 {
	if n <= 0 {
		return 0
	}
	return ^uint64(0) << (64 - n)
}

// share returns where the part from i/of on of n things begins.
func share(n, i, of uint64) uint64 {
	hi, lo := bits.Mul64(n, i)
	q, _ := bits.Div64(hi, lo, of)
	return q
}

// bitsFor returns how many leading bits tell n equal parts apart, rounded up.
func bitsFor(n int) int { return bits.Len(uint(max(n, 1) - 1)) }
