package postings

import (
	"context"
	"math/bits"
	"sync/atomic"

	"ndd/engine/memory"
)

// blockSize is about how many postings a block of documents has: those of one block fit a cache.
const blockSize = 1 << 16

// A transposition makes the numbers of each document's signatures of the documents of each signature. It scatters the postings by blocks of
// ranks, in order of the numbers, each thread those of a range of numbers, and then puts those of each block in order of the
// ranks, in the cache. It does so in rounds, of as many blocks as there is room for.
type transposition struct {
	index  *Index
	shift  int        // of a rank, to its block
	ranges []span     // of numbers, by thread
	counts [][]uint64 // by thread and block: postings
	ends   []uint64   // of the blocks

	postings []uint64 // of a round, by block: ranks, and numbers in the lower half
}

// sets makes the sets of the index of its lists.
func (w *build) sets(ctx context.Context) (err error) {
	x := w.index
	x.sets = csr{make([]uint32, len(x.docs)), make([]uint32, len(x.lists.values))}
	if len(x.lists.values) == 0 {
		return nil
	}
	t := w.transposition()
	if err := fork(w.threads, func(thread int) error { t.count(thread); return ctx.Err() }); err != nil {
		return err
	}
	most := t.sum()
	room := w.scatter.hashes // which is free again
	if most > uint64(len(room.Data)) {
		if room, err = memory.Make[uint64](int(most)); err != nil {
			return err
		}
		defer room.Free()
	}
	t.postings = room.Data
	for from := 0; from < len(t.ends); {
		to := from + 1
		for to < len(t.ends) && t.ends[to]-t.begin(from) <= uint64(len(t.postings)) {
			to++
		}
		if err := t.round(ctx, span{from, to}); err != nil {
			return err
		}
		from = to
	}
	return nil
}

func (w *build) transposition() *transposition {
	x := w.index
	blocks := len(x.lists.values)/blockSize + 1
	t := &transposition{index: x, shift: bits.Len(uint(len(x.docs) / blocks)), counts: make([][]uint64, w.threads)}
	t.ends = make([]uint64, (len(x.docs)-1)>>t.shift+1)
	t.ranges = spans(len(x.lists.ends), w.threads, uint64(len(x.lists.values)), func(i int) uint64 { return uint64(len(x.lists.at(i))) })
	return t
}

// round makes the sets of the documents of some blocks.
func (t *transposition) round(ctx context.Context, blocks span) error {
	threads := len(t.ranges)
	if err := fork(threads, func(thread int) error { t.scatter(thread, blocks); return ctx.Err() }); err != nil {
		return err
	}
	var next atomic.Int64
	return fork(threads, func(int) error {
		for i := int(next.Add(1)) - 1; i < blocks.to-blocks.from && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
			t.block(blocks.from+i, t.begin(blocks.from))
		}
		return ctx.Err()
	})
}

// postingsOf returns the documents of a thread's numbers, one number behind the other.
func (t *transposition) postingsOf(thread int) []uint32 {
	r, lists := t.ranges[thread], &t.index.lists
	if r.from == r.to {
		return nil
	}
	return lists.values[lists.begin(r.from):lists.ends[r.to-1]]
}

// count counts a thread's postings of each block.
func (t *transposition) count(thread int) {
	counts := make([]uint64, len(t.ends))
	for _, rank := range t.postingsOf(thread) {
		counts[rank>>t.shift]++
	}
	t.counts[thread] = counts
}

// sum adds the counts up, and returns the largest one of a block.
func (t *transposition) sum() (most uint64) {
	sum := uint64(0)
	for block := range t.ends {
		for _, counts := range t.counts {
			sum += counts[block]
		}
		t.ends[block] = sum
		most = max(most, sum-t.begin(block))
	}
	return most
}

// begin returns where a block begins.
func (t *transposition) begin(block int) uint64 {
	if block == 0 {
		return 0
	}
	return t.ends[block-1]
}

// scatter puts a thread's postings into some blocks, behind those of the threads before it, whose numbers are lower.
func (t *transposition) scatter(thread int, blocks span) {
	places := make([]uint64, blocks.to-blocks.from) // of the next posting of each
	for i := range places {
		places[i] = t.begin(blocks.from+i) - t.begin(blocks.from)
		for _, counts := range t.counts[:thread] {
			places[i] += counts[blocks.from+i]
		}
	}
	lists := &t.index.lists
	for number := t.ranges[thread].from; number < t.ranges[thread].to; number++ {
		for _, rank := range lists.at(number) {
			block := int(rank>>t.shift) - blocks.from
			if uint(block) < uint(len(places)) {
				t.postings[places[block]] = uint64(rank)<<32 | uint64(number)
				places[block]++
			}
		}
	}
}

// block makes the sets of a block's documents, of postings of a round that begins somewhere.
func (t *transposition) block(block int, round uint64) {
	at := t.begin(block)
	postings := t.postings[at-round : t.ends[block]-round]
	first := block << t.shift
	ends := t.index.sets.ends[first:min(first+1<<t.shift, len(t.index.docs))]
	for _, p := range postings {
		ends[int(p>>32)-first]++
	}
	for i, n := range ends {
		ends[i] = uint32(at) // where the set begins, for now
		at += uint64(n)
	}
	for _, p := range postings {
		end := &ends[int(p>>32)-first]
		t.index.sets.values[*end] = uint32(p)
		*end++
	}
}
