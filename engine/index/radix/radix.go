package radix

import (
	"context"
	"fmt"
)

// A row is the number of the document that has a fingerprint.
type row interface{ uint32 | uint64 }

// An Input is fingerprints that are read in order of their rows, several times, a part by each thread.
type Input interface {
	// Len returns the number of fingerprints.
	Len() int

	// Read calls f with the fingerprints of one of parts parts of about the same length, which
	// together are the input in order; with any number at a time, and the row of the first. Their memory may be
	// used again after the call. An error of f ends it, and is returned.
	Read(part, parts int, f func(prints []uint64, row int) error) error
}

// A ranged input may be read in part where one thread sorts it: ReadWithin calls f, as Read with
// all of it, with those fingerprints at least whose keys under a mask are from low to high.
type ranged interface {
	ReadWithin(mask, low, high uint64, f func(prints []uint64, row int) error) error
}

// Chunks are fingerprints in order of their rows, in one piece or several.
type Chunks [][]uint64

// Len returns the number of fingerprints.
func (c Chunks) Len() (n int) {
	for _, p := range c {
		n += len(p)
	}
	return n
}

// Read implements [Input].
func (c Chunks) Read(part, parts int, f func(prints []uint64, row int) error) error {
	n := c.Len()
	begin := func(part int) int { return int(uint64(n) * uint64(part) / uint64(parts)) }
	from, to := begin(part), begin(part+1)
	row := 0 // of the piece
	for _, piece := range c {
		a, b := max(from, row)-row, min(to, row+len(piece))-row
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
	Room    int    // elements in memory at a time, for WalkKeys and WalkRows; default: all
}

// Keys sets dst to the sorted fingerprints of src under the permutation that
// moves mask to the front. dst must have the length of src and not overlap it.
func Keys(dst, src []uint64, mask uint64, threads int) {
	panicIf(SortKeys(context.Background(), dst, Chunks{src}, Options{Mask: mask, Threads: threads}))
}

// Rows is [Keys] with rows: it sets rows to the place in src of each of keys, places of one
// fingerprint ascending.
func Rows[R row](keys []uint64, rows []R, src []uint64, mask uint64, threads int) {
	panicIf(SortRows(context.Background(), keys, rows, Chunks{src}, Options{Mask: mask, Threads: threads}))
}

// panicIf panics for an error, of what fails only when there is no memory for the buckets.
func panicIf(err error) {
	if err != nil {
		panic(err)
	}
}

// SortKeys is [Keys] for an input in pieces. It returns the error of ctx, or one for want
// of memory for the buckets.
func SortKeys(ctx context.Context, dst []uint64, in Input, o Options) error {
	return newSorter[uint32](in, o).into(ctx, dst, nil)
}

// SortRows is [Rows] for an input in pieces. keys and rows must have the length of in, which must not
// be beyond what a row holds. The error is as that of [SortKeys].
func SortRows[R row](ctx context.Context, keys []uint64, rows []R, in Input, o Options) error {
	if len(rows) != len(keys) || uint64(len(keys)) > uint64(^R(0)) {
		panic(fmt.Sprintf("radix: %d rows of %d keys", len(rows), len(keys)))
	}
	s := newSorter[R](in, o)
	s.rows = true
	return s.into(ctx, keys, rows)
}

// WalkKeys calls yield with all permuted fingerprints, ascending, at most
// o.Room at a time, whose memory it uses again after the call. An error of
// yield or of ctx ends it.
func WalkKeys(ctx context.Context, in Input, o Options, yield func(keys []uint64) error) error {
	return newSorter[uint32](in, o).walk(ctx, o.Room, func(keys []uint64, _ []uint32) error { return yield(keys) })
}

// WalkRows is [WalkKeys] with the rows of the keys, as [SortRows] orders them.
func WalkRows(ctx context.Context, in Input, o Options, yield func(keys, rows []uint64) error) error {
	s := newSorter[uint64](in, o)
	s.rows = true
	return s.walk(ctx, o.Room, yield)
}
