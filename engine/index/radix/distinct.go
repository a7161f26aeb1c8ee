package radix

import (
	"context"
	"slices"
	"sync"
	"unsafe"
)

// A Bucket is some of the sorted keys of a whole, which follow each other.
type Bucket struct {
	// Keys ascend and are distinct. They are valid during the call.
	Keys []uint64
	// Rank is how many distinct keys are less.
	Rank int
	// Room is the part of the memory that was given for sorting where the bucket was, at
	// least as long as Keys, and At where it begins. It is the caller's from now on:
	// nobody reads what it holds. The rooms of all buckets tile the memory.
	Room []uint64
	At   int
}

// Distinct sorts the fingerprints of in within memory, which must be as long, and calls f with
// them bucket by bucket as they come, on all threads at the same time and in no order; each
// fits a cache unless the keys are few. It returns how many distinct ones there are.
//
//	memory |  bucket 0  |  bucket 1  |  bucket 2  | ...       by leading digit, o.Threads at a time:
//	             |
//	             +--leaves, sorted, distinct--> Keys --f--> Room, where the bucket was
//
// So sorted keys can be encoded while they are in the cache and, where the code is no
// larger, written to where they lay. An error of f or ctx ends it.
func Distinct(ctx context.Context, memory []uint64, in Input, o Options, f func(Bucket) error) (int, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := newSorter[uint32](in, o)
	s.order = &order{f: f, memory: memory}
	s.order.turn.L = &s.order.mu
	defer context.AfterFunc(ctx, func() { s.order.fail(ctx.Err()) })()
	err := s.into(ctx, memory, nil)
	if err == nil {
		err = ctx.Err()
	}
	return s.order.rank, err
}

// An order gives buckets, which several threads have sorted, their ranks: each waits until those
// before it are counted. They are taken up in order, so a bucket's thread waits
// for threads that began before it.
type order struct {
	f      func(Bucket) error
	memory []uint64

	mu     sync.Mutex
	turn   sync.Cond
	at     int // of memory: where the bucket whose turn it is begins
	rank   int // of its first key
	failed error
}

// fail ends all threads that wait.
func (o *order) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed == nil {
		o.failed = err
	}
	o.turn.Broadcast()
}

// take passes on distinct keys which lay in room, with their repetitions.
func (o *order) take(room, keys []uint64) error {
	at := int(uintptr(unsafe.Pointer(unsafe.SliceData(room)))-uintptr(unsafe.Pointer(unsafe.SliceData(o.memory)))) / 8
	o.mu.Lock()
	for o.at != at && o.failed == nil {
		o.turn.Wait()
	}
	err, rank := o.failed, o.rank
	o.at += len(room)
	o.rank += len(keys)
	o.turn.Broadcast()
	o.mu.Unlock()
	if err != nil {
		return err
	}
	return o.f(Bucket{Keys: keys, Rank: rank, Room: room, At: at})
}

// distinct sorts a bucket by the bits below low, and passes on its distinct keys.
func (o *order) distinct(w *worker, bucket []uint64, low int) error {
	n := len(bucket)
	if n == 0 {
		return nil
	}
	if err := w.room(2 * n); err != nil {
		return err
	}
	keys := w.tmp.Data[n : 2*n]
	w.sortTo(keys, bucket, w.tmp.Data[:n], low, 0)
	return o.take(bucket, slices.Compact(keys))
}
