package shingle

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/parallel"
)

// ErrNoText is wrapped in an error about an ID that no document of the inputs has.
var ErrNoText = errors.New("no document with its text")

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

// ReadByID stores the sets of all documents of the inputs that have one of the IDs, and calls End. It returns the
// numbers of the sets by the number of the ID. The error wraps [ErrNoText] if no document has one of the IDs.
func (s *Sets) ReadByID(ctx context.Context, inputs []string, ids map[string]uint32, cfg ingest.Config) ([][]int,
	error) {
	indexes := make([][]int, len(ids))
	var mu sync.Mutex
	_, err := ingest.Extract(ctx, inputs, cfg, ingest.Steps[struct{}]{
		Worker: func(ctx context.Context) (func(int, *format.Document) (struct{}, error), error) {
			shingler := New(ctx)
			var set []uint64
			return func(_ int, doc *format.Document) (none struct{}, err error) {
				n, ok := ids[doc.ID]
				if !ok {
					return none, nil
				}
				set = shingler.Append(set[:0], doc.Text)
				i, err := s.Add(set)
				mu.Lock()
				defer mu.Unlock()
				indexes[n] = append(indexes[n], i)
				return none, err
			}, nil
		},
	})
	if err != nil {
		return nil, err
	}
	missing := slices.DeleteFunc(slices.Sorted(maps.Keys(ids)), func(id string) bool { return len(indexes[ids[id]]) > 0 })
	if len(missing) > 0 {
		return nil, fmt.Errorf("%w: %d of %d, such as %s: give all inputs of these documents, under the names that they had",
			ErrNoText, len(missing), len(indexes), missing[0])
	}
	return indexes, s.End()
}
