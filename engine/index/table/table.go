package table

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"runtime"

	"example.org/ndd/asm"
	"example.org/ndd/engine/storage/store"
	"example.org/ndd/permute"
)

// A Layout is the name of a way to pack keys.
type Layout string

// The layouts.
const (
	LayoutHuffman Layout = "huffman"
	LayoutPlanar  Layout = "planar"
)

// A Table is one permuted table.
type Table interface {

	// Len returns the number of keys.
	Len() uint64

	// PlanProbes returns the best way to probe the table within radius flips of p leading bits, for distance k. Each
	// pattern of flips costs a probe, so it chooses how many of these bits a probe fixes, and estimates the cost of a
	// query. It takes at most a millisecond, and reads at most 4,096 words of the table.
	PlanProbes(p, radius, k int) ProbePlan

	// WalkPart calls yield with the keys of the part from start/parts to end/parts, until yield returns false. Keys
	// come in ascending order, some hundreds or thousands at a time, with the rank of the first. The slice is valid
	// only during the call. Adjacent parts have no common keys and no gap.
	WalkPart(start, end, parts uint64, yield func(rank uint64, keys []uint64) bool) error

	// PartWith returns a part, in the form of WalkPart, that contains all keys from low to high and few others.
	PartWith(low, high uint64) (start, end, parts uint64)

	// Parts returns the sizes of the arrays.
	Parts() []Part

	// sortedRanks is [Ranks] for at most ranksAtOnce keys.
	sortedRanks(ranks, keys []uint64, scratch *Scratch) error
}

// A Search is a batch of queries against one table.
type Search struct {
	Queries []uint64        // permuted like the keys of the table
	Leading int             // number of bits that a probe fixes, 0..64
	Flips   permute.FlipSet // patterns to XOR into the leading bits
	K       int             // maximum Hamming distance, over all 64 bits

	prepared    []asm.PlanarProbe // see Prepare
	preparedFor permute.FlipSet   // the Flips of prepared
	starts      []uint32          // list of starts for Leading bits
}

// A Match is a key within distance K of a query.
type Match struct {
	Table int // index in [SearchAll]; 0 in a search of one table
	Query int // index in Search.Queries
	Key   uint64
}

// SearchAll runs search i in table i, for all tables. It appends every key that a probe finds to dst, once for each
// query and table, in no particular order. If all tables have one layout, their misses overlap, which is faster than
// separate searches. There may be at most 65,536 tables.
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
		first := len(dst)
		var err error
		if dst, err = SearchAll(dst, []Table{t}, searches[i:i+1], c); err != nil {
			return dst, fmt.Errorf("table %d: %w", i, err)
		}
		for j := range dst[first:] {
			dst[first+j].Table = i
		}
	}
	return dst, nil
}

// NoRank is the rank of a key that the table does not have.
const NoRank = ^uint64(0)

// Ranks sets ranks to the ranks of keys, or to [NoRank]. Keys must ascend, and ranks must have the same length. Data
// for neighbouring keys is read once: half a block of a huffman table, or the lines of some hundred keys of a planar
// table.
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

// ranksAtOnce is the number of keys that are searched together. They read 60 KB.
const ranksAtOnce = 128

// A Part is one of the arrays of a table.
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

// Options selects a layout and its parameters.
type Options struct {
	Layout     Layout // default huffman
	BlockBytes int    // block size of the huffman layout, default 1024
	Threads    int    // number of packing threads, default GOMAXPROCS
}

// Write packs keys, which must be ascending and distinct. It writes them as sections of sink whose names begin with
// prefix. [Open] reads them.
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

// Open opens the table that [Write] wrote with that prefix.
func Open(source store.Source, prefix string, layout Layout) (Table, error) {
	switch layout {
	case LayoutHuffman:
		return openHuffman(source, prefix)
	case LayoutPlanar:
		return openPlanar(source, prefix)
	}
	return nil, fmt.Errorf("%w: unknown layout %q", store.ErrCorrupt, layout)
}

// Scratch is the memory of searches. It is used by one goroutine. The zero value is ready.
type Scratch struct {
	keys       []uint64       // keys of a huffman block
	halves     [2]huffmanHalf // decoded halves of huffman blocks, by side
	found      [256]uint32    // positions that a scan reports
	rounds     huffmanRounds
	huffman    []*huffmanTable
	planar     *planarScratch
	tables     []*planarTable
	flips      flipList
	ctx        context.Context
	matchesMax int // maximum number of matches; 0: no limit
}

// ErrTooMany is the error of a search that finds more matches than [Scratch.LimitMatches] allows.
var ErrTooMany = errors.New("too many matches to hold")

// LimitMatches sets the maximum number of matches in dst for later searches with this scratch. Beyond it they end with
// [ErrTooMany]. They check the limit from time to time. 0 means no limit.
func (c *Scratch) LimitMatches(matches int) { c.matchesMax = matches }

// SetContext sets the context of later searches with this scratch. They end with its error within some ten thousand
// comparisons after it has ended. nil means no context.
func (c *Scratch) SetContext(ctx context.Context) { c.ctx = ctx }

// stopped returns the error of the context, or [ErrTooMany] if there are too many matches.
func (c *Scratch) stopped(matches int) error {
	if c.matchesMax > 0 && matches > c.matchesMax {
		return ErrTooMany
	}
	if c.ctx == nil {
		return nil
	}
	return c.ctx.Err()
}

// leadingMask returns the mask of the n highest bits.
func leadingMask(n int) uint64 {
	if n <= 0 {
		return 0
	}
	return ^uint64(0) << (64 - n)
}

// share returns the index at which the part from i/parts of n items begins.
func share(n, i, parts uint64) uint64 {
	hi, lo := bits.Mul64(n, i)
	q, _ := bits.Div64(hi, lo, parts)
	return q
}

// bitsFor returns the number of leading bits that distinguish n equal parts, rounded up.
func bitsFor(n int) int { return bits.Len(uint(max(n, 1) - 1)) }
