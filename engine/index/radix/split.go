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
	// smallBits is log2 of the size up to which it is not worth while to split a bucket:
	// comparing eight keys with each other takes one step each.
	smallBits = 3
	// largeKeys is the size beyond which a bucket is split by itself while there are leading
	// bits left.
	largeKeys = 256
)

// Buckets brings the fingerprints of in together that share o.Mask's leading bits, leading of
// them, and calls f with some buckets at a time, permuted: bucket d is keys[ends[d-1]:ends[d]]. Keys that
// share the leading bits are in one bucket; a small bucket may have others too, and within a bucket
// there is no order. f is called on all threads at the same time; what it is given is its own
// during the call. Repetitions stay. memory is overwritten; where it is shorter than in, in is read
// again for each part of the keys that it holds.
//
// It is a sort that stops early: one pass over memory, and one in the cache for the bits
// that are left. An error of f or of ctx ends it.
//
// A bucket that memory does not hold is filled, passed to f, freed of repetitions and filled up, so
// that any two of its different keys are together in one call, and a repeated one with its like. The
// error of one with more different keys is [ErrRoom].
func Buckets(ctx context.Context, memory []uint64, in Input, o Options, leading int,
	f func(keys []uint64, ends []uint32) error) error {
	if leading < 1 || leading > 64 {
		panic(fmt.Sprintf("radix: buckets of %d leading bits", leading))
	}
	s := newSorter[uint32](in, o)
	s.floor = 64 - leading
	s.emit = f
	s.room, s.heavy = len(memory), min(s.heavy, len(memory))
	s.place = func(n int) ([]uint64, []uint32) { return memory[:n], nil }
	if err := s.run(ctx); err != nil {
		return err
	}
	return ctx.Err()
}

// ErrRoom is the error of [Buckets] for a bucket of more different keys than the memory holds.
var ErrRoom = errors.New("fingerprints that share their leading bits are too many for the memory")

// fill passes on a bucket of more keys than there is room for.
func (s *sorter[R]) fill(ctx context.Context, iv interval) error {
	one, at, failed := *s, 0, error(nil)
	one.threads = 1
	keys, _ := s.place(s.room)
	err := one.keys(ctx, 0, iv, func(some []uint64, _ int) {
		for _, k := range some {
			if k < iv.low || k > iv.high || failed != nil {
				continue
			}
			if at == len(keys) {
				failed = s.emit(keys, []uint32{uint32(at)})
				slices.Sort(keys)
				if at = len(slices.Compact(keys)); failed == nil && at > len(keys)/2 {
					failed = ErrRoom
				}
			}
			if at < len(keys) {
				keys[at] = k
				at++
			}
		}
	})
	if err = cmp.Or(failed, err); err != nil {
		return err
	}
	return s.emit(keys[:at], []uint32{uint32(at)})
}

// split splits a bucket by the bits from floor to low, and hands on the buckets that it comes to.
func (s *sorter[R]) split(w *worker, keys []uint64, low int) error {
	if low <= s.floor || len(keys) <= 1<<smallBits {
		w.ends = append(w.ends[:0], uint32(len(keys)))
		return s.emit(keys, w.ends)
	}
	if err := w.room(len(keys)); err != nil {
		return err
	}
	tmp := w.tmp.Data[:len(keys)]
	w.ends = w.ends[:0]
	w.part(tmp, keys, 0, low, s.floor, 0)
	return s.emit(tmp, w.ends)
}

// part moves src to dst by bits from floor to low, as many as are worth while, and appends
// to w.ends where its buckets end if dst begins at base.
func (w *worker) part(dst, src []uint64, base uint32, low, floor, depth int) {
	digit := min(max(bits.Len(uint(len(src)))-smallBits, 1), leafDigit, low-floor)
	shift := low - digit
	ends := w.counters(depth, digit)
	partition(dst, src, ends, uint(shift))
	from := uint32(0)
	for _, to := range ends {
		if to-from > largeKeys && shift > floor {
			w.part(src[from:to], dst[from:to], base+from, shift, floor, depth+1)
			copy(dst[from:to], src[from:to])
		} else if to > from {
			w.ends = append(w.ends, base+to)
		}
		from = to
	}
}
