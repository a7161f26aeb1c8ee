package radix

import (
	"context"
	"fmt"
)

// A row is the number of a document.
type row interface{ uint32 | uint64 }

// An Input is a list of fingerprints in order of their rows. Each thread reads a part of it, several times.
type Input interface {
	// Len returns the number of fingerprints.
	Len() int

	// Read calls f with the fingerprints of one part. All parts have about the same length, and together they are the
	// input in order. f gets any number of fingerprints at a time, with the row of the first. Their memory may be
	// reused after the call. Read returns an error of f at once.
	Read(part, parts int, f func(fingerprints []uint64, row int) error) error
}

// A rangeInput can be read in part if one thread sorts it. ReadWithin is like Read of the whole input, but may omit
// fingerprints whose keys under mask are not from low to high.
type rangeInput interface {
	ReadWithin(mask, low, high uint64, f func(fingerprints []uint64, row int) error) error
}

// Chunks is a list of slices of fingerprints, in order of their rows.
type Chunks [][]uint64

// Len returns the number of fingerprints.
func (c Chunks) Len() (n int) {
	for _, p := range c {
		n += len(p)
	}
	return n
}

// Read implements [Input].
func (c Chunks) Read(part, parts int, f func(fingerprints []uint64, row int) error) error {
	n := c.Len()
	begin := func(part int) int { return int(uint64(n) * uint64(part) / uint64(parts)) }
	start, end := begin(part), begin(part+1)
	row := 0 // row of the first fingerprint of piece
	for _, piece := range c {
		a, b := max(start, row)-row, min(end, row+len(piece))-row
		if a < b {
			if err := f(piece[a:b], row+a); err != nil {
				return err
			}
		}
		row += len(piece)
	}
	return nil
}

// Options configures a sort.
type Options struct {
	Mask    uint64 // the permutation moves these bits to the front
	Threads int    // default 1
	Limit   int    // maximum number of elements in memory, for WalkKeys and WalkRows; default: all
}

// Keys sets dst to the sorted fingerprints of src, permuted so that the bits of mask lead. dst must have the length
// of src and must not overlap it.
func Keys(dst, src []uint64, mask uint64, threads int) {
	panicIf(SortKeys(context.Background(), dst, Chunks{src}, Options{Mask: mask, Threads: threads}))
}

// Rows is like [Keys], and also sets rows to the index in src of each key. The indexes of equal keys ascend.
func Rows[R row](keys []uint64, rows []R, src []uint64, mask uint64, threads int) {
	panicIf(SortRows(context.Background(), keys, rows, Chunks{src}, Options{Mask: mask, Threads: threads}))
}

// panicIf panics if err is not nil, which only happens without memory for the buckets.
func panicIf(err error) {
	if err != nil {
		panic(err)
	}
}

// SortKeys is like [Keys] for an input in pieces. It fails if ctx ends or there is no memory for the buckets.
func SortKeys(ctx context.Context, dst []uint64, input Input, o Options) error {
	return newSorter[uint32](input, o).sortInto(ctx, dst, nil)
}

// SortRows is like [Rows] for an input in pieces. keys and rows must have the length of input. R must be large enough
// for every row number. It returns the errors of [SortKeys].
func SortRows[R row](ctx context.Context, keys []uint64, rows []R, input Input, o Options) error {
	if len(rows) != len(keys) || uint64(len(keys)) > uint64(^R(0)) {
		panic(fmt.Sprintf("radix: %d rows of %d keys", len(rows), len(keys)))
	}
	s := newSorter[R](input, o)
	s.rows = true
	return s.sortInto(ctx, keys, rows)
}

// WalkKeys calls yield with all permuted fingerprints, ascending, at most o.Limit at a time. It reuses their memory
// after the call. An error of yield or ctx ends it.
func WalkKeys(ctx context.Context, input Input, o Options, yield func(keys []uint64) error) error {
	return newSorter[uint32](input, o).walk(ctx, o.Limit, func(keys []uint64, _ []uint32) error { return yield(keys) })
}

// WalkRows is like [WalkKeys], with the rows of the keys in the order of [SortRows].
func WalkRows(ctx context.Context, input Input, o Options, yield func(keys, rows []uint64) error) error {
	s := newSorter[uint64](input, o)
	s.rows = true
	return s.walk(ctx, o.Limit, yield)
}
