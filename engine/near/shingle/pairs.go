package shingle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"ndd/engine/corpus/format"
	"ndd/engine/corpus/ingest"
	"ndd/engine/memory"
	"ndd/engine/parallel"
	"ndd/engine/storage/disk"
)

// ErrNoText is wrapped where an ID is that of no document of the inputs.
var ErrNoText = errors.New("no document with its text")

// PairOptions configures [Pairs.Compare].
type PairOptions struct {
	Inputs [2][]string   // of the documents A and of the documents B: files, folders, globs
	Read   ingest.Config // how they are read, and by how many threads, which compare them, too
	Memory int64         // bytes of sets; more go to a temporary file
	Disk   *disk.Disk    // of that file; default the system's
}

// Pairs are pairs of documents, A and B, by their IDs. The zero value has none. A pair takes 16
// bytes, and an ID once its bytes and some 80 more.
type Pairs struct {
	ids  [2]map[string]uint32 // numbers of the documents A, and of the documents B
	list [][2]uint32
}

// Add adds a pair.
func (p *Pairs) Add(a, b string) {
	pair := [2]uint32{}
	for side, id := range []string{a, b} {
		if p.ids[side] == nil {
			p.ids[side] = map[string]uint32{}
		}
		n, ok := p.ids[side][id]
		if !ok {
			n = uint32(len(p.ids[side]))
			p.ids[side][id] = n
		}
		pair[side] = n
	}
	p.list = append(p.list, pair)
}

// Len returns how many pairs there are.
func (p *Pairs) Len() int { return len(p.list) }

// Compare reads the inputs once each and returns the Jaccard similarity of each pair, in the order
// in which they were added. If several documents have an ID, the most similar ones count. The error
// wraps [ErrNoText] if no document has one.
func (p *Pairs) Compare(ctx context.Context, o PairOptions) (shares []float64, err error) {
	if len(p.list) == 0 {
		return nil, nil
	}
	var sets [2]*Sets
	var of [2][][]int
	for side := range sets {
		if sets[side], err = NewSets(new(memory.Arena), 0, o.Memory/2, "", o.Disk); err != nil {
			return nil, err
		}
		defer func() { err = cmp.Or(err, sets[side].Close()) }()
		if of[side], err = sets[side].ReadByID(ctx, o.Inputs[side], p.ids[side], o.Read); err != nil {
			return nil, err
		}
	}
	shares = make([]float64, len(p.list))
	return shares, Each(ctx, o.Read.Threads, len(shares), func(i int, bufs *Buffers) error {
		for _, a := range of[0][p.list[i][0]] {
			for _, b := range of[1][p.list[i][1]] {
				shares[i] = max(shares[i], Jaccard(sets[0].Get(a, &bufs[0]), sets[1].Get(b, &bufs[1])))
			}
		}
		return nil
	})
}

// Buffers are those of a goroutine for the two sets that it compares.
type Buffers [2][]uint64

// Each calls do for the numbers below n, from as many goroutines as threads, each with buffers of
// its own.
func Each(ctx context.Context, threads, n int, do func(i int, bufs *Buffers) error) error {
	const together = 64 // most take a microsecond
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

// ReadByID stores the sets of those documents of the inputs that have one of the IDs, and ends them. It returns
// the numbers of the sets by the number of the ID. The error wraps [ErrNoText] if no document has one.
func (s *Sets) ReadByID(ctx context.Context, inputs []string, ids map[string]uint32, cfg ingest.Config) ([][]int,
	error) {
	of := make([][]int, len(ids))
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
				of[n] = append(of[n], i)
				return none, err
			}, nil
		},
	})
	if err != nil {
		return nil, err
	}
	missing := slices.DeleteFunc(slices.Sorted(maps.Keys(ids)), func(id string) bool { return len(of[ids[id]]) > 0 })
	if len(missing) > 0 {
		return nil, fmt.Errorf("%w: %d of %d, such as %s: give all inputs of these documents, under the names that they had",
			ErrNoText, len(missing), len(of), missing[0])
	}
	return of, s.End()
}
