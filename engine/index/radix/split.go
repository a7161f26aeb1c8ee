package radix

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

const (
	// smallBits is log2 of the maximum size of a bucket that is not split. Comparing up to eight keys takes one step
	// per key.
	smallBits = 3
	// largeKeys is the size above which a bucket is split recursively while it has leading bits left.
	largeKeys = 256
)

// Buckets groups the fingerprints of in by the first leading bits of o.Mask. It calls f with several buckets at a
// time, permuted: bucket d is keys[ends[d-1]:ends[d]]. Keys with equal leading bits are in one bucket. A small bucket
// may also have other keys, and buckets are not sorted. f is called on all threads concurrently, and owns its
// arguments during the call. Repetitions are kept. Buckets overwrites memory. If memory is shorter than in, it reads
// in again for each part of the keys that fits.
//
// It is a sort that stops early: one pass over memory, and one in the cache for the remaining bits. An error of f or
// ctx ends it.
//
// If a bucket does not fit in memory, Buckets fills memory, calls f, removes repetitions and continues. So any two
// different keys of the bucket are together in one call, and so are a repeated key and one of its copies. If the
// bucket has more different keys than memory, the error is [ErrRoom].
func Buckets(ctx context.Context, memory []uint64, input Input, o Options, leading int,
	f func(keys []uint64, ends []uint32) error) error {
	if leading < 1 || leading > 64 {
		panic(fmt.Sprintf("radix: buckets of %d leading bits", leading))
	}
	s := newSorter[uint32](input, o)
	s.floor = 64 - leading
	s.emit = f
	s.bufferLen, s.heavy = len(memory), min(s.heavy, len(memory))
	s.buffers = func(n int) ([]uint64, []uint32) { return memory[:n], nil }
	if err := s.run(ctx); err != nil {
		return err
	}
	return ctx.Err()
}

// ErrRoom is the error of [Buckets] for a bucket with more different keys than memory has space for.
var ErrRoom = errors.New("too many fingerprints share their leading bits to fit in memory")

// fill passes on a bucket that does not fit in memory.
func (s *sorter[R]) fill(ctx context.Context, iv interval) error {
	part, n, errEmit := *s, 0, error(nil)
	part.threads = 1
	keys, _ := s.buffers(s.bufferLen)
	err := part.keys(ctx, 0, iv, func(group []uint64, _ int) {
		for _, k := range group {
			if k < iv.low || k > iv.high || errEmit != nil {
				continue
			}
			if n == len(keys) {
				errEmit = s.emit(keys, []uint32{uint32(n)})
				slices.Sort(keys)
				if n = len(slices.Compact(keys)); errEmit == nil && n > len(keys)/2 {
					errEmit = ErrRoom
				}
			}
			if n < len(keys) {
				keys[n] = k
				n++
			}
		}
	})
	if err = cmp.Or(errEmit, err); err != nil {
		return err
	}
	return s.emit(keys[:n], []uint32{uint32(n)})
}

// split splits a bucket by the bits from floor to low, and passes on the new buckets.
func (s *sorter[R]) split(w *worker, keys []uint64, low int) error {
	if low <= s.floor || len(keys) <= 1<<smallBits {
		w.ends = append(w.ends[:0], uint32(len(keys)))
		return s.emit(keys, w.ends)
	}
	if err := w.resize(len(keys)); err != nil {
		return err
	}
	tmp := w.tmp.Data[:len(keys)]
	w.ends = w.ends[:0]
	w.part(tmp, keys, 0, low, s.floor, 0)
	return s.emit(tmp, w.ends)
}

// part moves src to dst by bits from floor to low, as many as are useful. It appends the ends of its buckets to
// w.ends, where dst begins at base.
func (w *worker) part(dst, src []uint64, base uint32, low, floor, depth int) {
	digit := min(max(bits.Len(uint(len(src)))-smallBits, 1), leafDigit, low-floor)
	shift := low - digit
	ends := w.counters(depth, digit)
	partition(dst, src, ends, uint(shift))
	start := uint32(0)
	for _, end := range ends {
		if end-start > largeKeys && shift > floor {
			w.part(src[start:end], dst[start:end], base+start, shift, floor, depth+1)
			copy(dst[start:end], src[start:end])
		} else if end > start {
			w.ends = append(w.ends, base+end)
		}
		start = end
	}
}
