package cluster

import (
	"context"
	"iter"
	"slices"

	"ndd/engine/index/radix"
)

// A Pair is two distinct fingerprints within K of each other, A < B.
type Pair struct{ A, B uint64 }

// pairBatch is how many pairs pass from the join to the consumer at a time: a
// hand-over between goroutines costs about as much as finding 100 pairs.
const pairBatch = 1024

// Pairs returns every pair of distinct fingerprints within o.K of each other,
// each once and in no order, as they are found: nothing is kept of them. After an
// error, which may be that of ctx, nothing follows. Memory: 16 bytes a fingerprint.
func Pairs(ctx context.Context, fingerprints []uint64, o Options) iter.Seq2[Pair, error] {
	o = o.withDefaults()
	return func(yield func(Pair, error) bool) {
		distinct := make([]uint64, len(fingerprints))
		radix.Keys(distinct, fingerprints, ^uint64(0), o.Threads)
		distinct = slices.Compact(distinct)
		if len(distinct) < 2 {
			return
		}
		inner, cancel := context.WithCancel(ctx)
		defer cancel()
		batches := make(chan []Pair)
		var err error
		go func() {
			defer close(batches)
			batch := make([]Pair, 0, pairBatch)
			send := func() {
				select {
				case batches <- batch:
					batch = make([]Pair, 0, pairBatch)
				case <-inner.Done():
					batch = batch[:0]
				}
			}
			err = Join(inner, distinct, Choose(len(distinct), o.K), o.Threads, func(a, b uint64) {
				if batch = append(batch, Pair{a, b}); len(batch) == pairBatch {
					send()
				}
			})
			send()
		}()
		stopped := false
		for batch := range batches { // to the end, so that the goroutine has ended
			for i := 0; i < len(batch) && !stopped; i++ {
				if stopped = !yield(batch[i], nil); stopped {
					cancel()
				}
			}
		}
		if !stopped && err != nil {
			yield(Pair{}, err)
		}
	}
}
