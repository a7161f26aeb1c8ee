package radix

import (
	"context"
	"slices"
	"sync"
	"unsafe"
)

// A Bucket is a range of consecutive sorted keys.
type Bucket struct {
	// Keys ascend and are distinct. They are valid only during the call.
	Keys []uint64
	// Rank is the number of distinct keys below the first one.
	Rank int
	// Memory is the part of the memory for sorting that contained the bucket, at least as long as Keys. Offset is its
	// offset. It now belongs to the caller: its content is not read again. The memory of all buckets has no gaps.
	Memory []uint64
	Offset int
}

// Distinct sorts the fingerprints of input within memory, which must have the same length. It calls f with each bucket
// as soon as it is sorted, on all threads concurrently and in no order. A bucket normally fits in a cache. Distinct
// returns the number of distinct fingerprints.
//
//	memory |  bucket 0  |  bucket 1  |  bucket 2  | ...       by leading digit, o.Threads at a time:
//	             |
//	             +--leaves, sorted, distinct--> Keys --f--> Memory of the bucket
//
// So sorted keys can be encoded while they are in the cache. If the code is not larger, it can be written to the
// bucket's memory. An error of f or ctx ends the call.
func Distinct(ctx context.Context, memory []uint64, input Input, o Options, f func(Bucket) error) (int, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := newSorter[uint32](input, o)
	s.order = &order{f: f, memory: memory}
	s.order.turn.L = &s.order.mu
	defer context.AfterFunc(ctx, func() { s.order.fail(ctx.Err()) })()
	err := s.sortInto(ctx, memory, nil)
	if err == nil {
		err = ctx.Err()
	}
	return s.order.rank, err
}

// An order assigns ranks to the buckets that several threads have sorted. Each bucket waits until all earlier ones
// are counted. Threads take buckets in order, so a thread only waits for threads that began earlier.
type order struct {
	f      func(Bucket) error
	memory []uint64

	mu     sync.Mutex
	turn   sync.Cond
	offset int // offset in memory of the next bucket to count
	rank   int // rank of its first key
	err    error
}

// fail ends all waiting threads.
func (o *order) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = err
	}
	o.turn.Broadcast()
}

// take passes on the distinct keys of spare, which contained them with repetitions.
func (o *order) take(spare, keys []uint64) error {
	offset := int(uintptr(unsafe.Pointer(unsafe.SliceData(spare)))-uintptr(unsafe.Pointer(unsafe.SliceData(o.memory)))) / 8
	o.mu.Lock()
	for o.offset != offset && o.err == nil {
		o.turn.Wait()
	}
	err, rank := o.err, o.rank
	o.offset += len(spare)
	o.rank += len(keys)
	o.turn.Broadcast()
	o.mu.Unlock()
	if err != nil {
		return err
	}
	return o.f(Bucket{Keys: keys, Rank: rank, Memory: spare, Offset: offset})
}

// distinct sorts a bucket by the bits below low, and passes on its distinct keys.
func (o *order) distinct(w *worker, bucket []uint64, low int) error {
	n := len(bucket)
	if n == 0 {
		return nil
	}
	if err := w.resize(2 * n); err != nil {
		return err
	}
	keys := w.tmp.Data[n : 2*n]
	w.sortTo(keys, bucket, w.tmp.Data[:n], low, 0)
	return o.take(bucket, slices.Compact(keys))
}
