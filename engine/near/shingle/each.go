package shingle

import (
	"context"
	"iter"

	"example.org/ndd/engine/parallel"
)

// Buffers are a goroutine's buffers for the two sets that it compares.
type Buffers [2][]uint64

// Each calls do for the numbers below n, from the given number of goroutines. Each goroutine has its own buffers.
func Each(ctx context.Context, threads, n int, do func(i int, bufs *Buffers) error) error {
	const together = 64 // calls that a goroutine makes in a row, because most take a microsecond
	return parallel.Each(ctx, parallel.Options{Workers: threads}, func(_ context.Context, yield func(int) bool) error {
		for first := 0; first < n && yield(first); first += together {
		}
		return nil
	}, func(_ context.Context, parts iter.Seq[int]) error {
		var bufs Buffers
		for first := range parts {
			for i := first; i < min(first+together, n); i++ {
				if err := do(i, &bufs); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
