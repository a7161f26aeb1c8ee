// Package alike compares the texts of pairs of documents that are known by their IDs, such as what a query found in an index, which
// holds no texts.
//
//	pairs (A, B) ──► which documents ──► inputs of A's, of B's, read once each ──► shingle sets ──► Jaccard similarity of each pair
//
// Cost: reading the inputs, the sets of those documents that are in a pair (in memory as far as Options.Memory goes, then in a
// temporary file), and 1 to 2 ns a shingle of a pair. Pairs take 16 bytes each, and an ID once its bytes and some 80 more.
package alike

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"runtime"
	"slices"
	"sync"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/near/shingle"
	"ndd/engine/parallel"
	"ndd/engine/storage/disk"
)

// ErrNoText is wrapped where an ID is that of no document of the inputs.
var ErrNoText = errors.New("no document with its text")

// Options say where texts are and how they are compared.
type Options struct {
	Inputs   [2][]string   // of the documents A and of the documents B: files, folders, globs
	Read     ingest.Config // how they are read
	Shingles shingle.Options
	Threads  int        // default: as many as there are processors
	Memory   int64      // bytes of sets; more go to a temporary file
	TempDir  string     // of that; default os.TempDir()
	Disk     *disk.Disk // that it is on; default the system's
}

// Pairs are pairs of documents, A and B, by their IDs. Its zero value has none.
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

// Compare returns the Jaccard similarity of each pair, in the order in which they were added. Where several documents of the inputs
// have an ID, the most alike count. The error wraps [ErrNoText] where no document has one.
func (p *Pairs) Compare(ctx context.Context, o Options) (shares []float64, err error) {
	if len(p.list) == 0 {
		return nil, nil
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	var sides [2]*texts
	for side := range sides {
		sides[side] = &texts{wanted: p.ids[side]}
		defer func() { err = cmp.Or(err, sides[side].close()) }()
		if err := sides[side].read(ctx, o.Inputs[side], &o); err != nil {
			return nil, err
		}
	}
	shares = make([]float64, len(p.list))
	const together = 256
	return shares, parallel.Each(ctx, parallel.Options{Workers: o.Threads}, func(_ context.Context, yield func(int) bool) error {
		for first := 0; first < len(shares) && yield(first); first += together {
		}
		return nil
	}, func(_ context.Context, parts iter.Seq[int]) error {
		var bufs [2][]uint64
		for first := range parts {
			for i := first; i < min(first+together, len(shares)); i++ {
				share, err := most(&sides, p.list[i], &bufs)
				if err != nil {
					return err
				}
				shares[i] = share
			}
		}
		return nil
	})
}

// most returns the similarity of the most alike documents of a pair's IDs.
func most(sides *[2]*texts, pair [2]uint32, bufs *[2][]uint64) (share float64, err error) {
	for _, i := range sides[0].of[pair[0]] {
		var a []uint64
		if a, bufs[0], err = sides[0].sets.Get(i, bufs[0]); err != nil {
			return 0, err
		}
		for _, j := range sides[1].of[pair[1]] {
			var b []uint64
			if b, bufs[1], err = sides[1].sets.Get(j, bufs[1]); err != nil {
				return 0, err
			}
			share = max(share, shingle.Jaccard(a, b))
		}
	}
	return share, nil
}

// texts are the sets of the documents of one side.
type texts struct {
	wanted map[string]uint32
	mu     sync.Mutex
	of     [][]int // sets of each of the wanted
	sets   *shingle.Sets
}

// read makes the sets of those documents of the inputs that are wanted.
func (t *texts) read(ctx context.Context, inputs []string, o *Options) error {
	t.of = make([][]int, len(t.wanted))
	t.sets = shingle.NewSets(0, o.Memory/2, o.TempDir, o.Disk)
	cfg := o.Read
	cfg.Threads = o.Threads
	_, err := ingest.Extract(ctx, inputs, cfg, ingest.Steps[struct{}]{
		Worker: func() (func(int, *document.Document) (struct{}, error), error) {
			shingler, err := shingle.New(o.Shingles)
			var set []uint64
			return func(_ int, doc *document.Document) (none struct{}, err error) {
				n, ok := t.wanted[doc.ID]
				if !ok {
					return none, nil
				}
				set = shingler.Append(set[:0], doc.Text)
				i, err := t.sets.Add(set)
				t.mu.Lock()
				defer t.mu.Unlock()
				t.of[n] = append(t.of[n], i)
				return none, err
			}, err
		},
	})
	if err != nil {
		return err
	}
	return t.missing()
}

// missing returns an error where a document was not among the inputs.
func (t *texts) missing() error {
	n := 0
	for _, sets := range t.of {
		if len(sets) == 0 {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	ids := slices.DeleteFunc(slices.Sorted(maps.Keys(t.wanted)), func(id string) bool { return len(t.of[t.wanted[id]]) > 0 })
	return fmt.Errorf("%w: %d of %d, such as %s: give all inputs of these documents, under the names that they had", ErrNoText, n, len(t.of), ids[0])
}

func (t *texts) close() error {
	if t.sets == nil {
		return nil
	}
	return t.sets.Close()
}
