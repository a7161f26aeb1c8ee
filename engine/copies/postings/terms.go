package postings

import (
	"context"
	"iter"
	"slices"

	"ndd/engine/index/radix"
	"ndd/engine/storage/spill"
)

// splitTerms makes of the documents of each signature the partial overlaps of its pairs, which are
// sorted, spilled where they need more memory, and counted pair by pair.
func (b *Builder) splitTerms(ctx context.Context, rs *ranking, s *shared, o *Options, r *Report) (pairs []Pair,
	err error) {
	room := 1 << 20
	if o.MemoryBytes > 0 {
		room = max(int(o.MemoryBytes/partialBytes/2), 1024)
	}
	overlaps := radix.NewRecords(spill.NewRuns[[2]uint64](b.room.Disk, b.room.Dir, "partial-overlaps",
		1<<20), room, o.Threads)
	defer overlaps.Close()
	t := &terms{docs: rs.docs, sizes: b.sizes(rs.docs), o: o, report: r, frequent: make([][]uint32, len(rs.docs)),
		overlaps: overlaps.Writer()}
	r.Slices = max(o.Slices, 1)
	var frequent frequentOnes
	err = s.each(ctx, func(ranks []uint32) error {
		if len(ranks) <= o.MaxDocuments {
			return t.list(ctx, ranks)
		}
		for _, rank := range ranks {
			t.frequent[rank] = append(t.frequent[rank], uint32(frequent.signatures))
		}
		frequent.add(ranks, len(t.docs))
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.overlaps.Close()
	r.Common, r.Frequent = frequent.signatures, frequent.documents(t.sizes, o)
	return t.sum(overlaps.All())
}

// partialBytes is the memory of a partial overlap while it is sorted.
const partialBytes = 2*16 + 8 + 2*16

// terms is a term-split under way.
type terms struct {
	docs     []uint32   // by rank
	sizes    []uint32   // of these
	frequent [][]uint32 // by rank: numbers of its signatures that find no candidates, ascending
	o        *Options
	report   *Report
	ranks    []uint32                       // of a signature
	overlaps *radix.RecordWriter[[2]uint64] // a pair of ranks, the lower one in the upper half, and a signature's number
	lists    uint64                         // signatures so far
}

// list adds the pairs of the documents of one signature.
func (t *terms) list(ctx context.Context, ranks []uint32) error {
	t.ranks = append(t.ranks[:0], ranks...)
	slices.Sort(t.ranks)
	for i, a := range t.ranks {
		largest := t.o.largest(int(t.sizes[a]))
		for _, b := range t.ranks[i+1:] {
			if int(t.sizes[b]) > largest {
				break
			}
			if err := t.overlaps.Add([2]uint64{uint64(a)<<32 | uint64(b), t.lists}); err != nil {
				return err
			}
		}
	}
	t.lists++
	return ctx.Err()
}

// sum adds the partial overlaps of each pair up, and what it shares of signatures that find no
// candidates.
func (t *terms) sum(overlaps iter.Seq2[[2]uint64, error]) (pairs []Pair, err error) {
	at, shared := uint64(0), 0 // a pair of ranks, and how many signatures it shares
	flush := func() {
		if shared == 0 {
			return
		}
		t.report.Candidates++
		x, y := uint32(at>>32), uint32(at)
		total := shared + sharedAtLeast(t.frequent[x], t.frequent[y], 0)
		if p := (Pair{t.docs[x], t.docs[y], int(t.sizes[x]), int(t.sizes[y]), total}); t.o.Similar(p.SizeA, p.SizeB,
			p.Shared) {
			pairs = append(pairs, p.ordered())
		}
	}
	for r, err := range overlaps {
		if err != nil {
			return nil, err
		}
		if r[0] != at {
			flush()
			at, shared = r[0], 0
		}
		shared++
	}
	flush()
	return pairs, nil
}
