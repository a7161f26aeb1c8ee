package postings

import (
	"context"
	"slices"

	"ndd/engine/storage/spill"
)

// splitTerms makes of the documents of each signature the partial overlaps of its pairs, which are
// sorted, spilled and summed pair by pair.
func (b *Builder) splitTerms(ctx context.Context, rs *ranking, s *shared, o *Options, r *Report) (pairs []Pair,
	err error) {
	t := &terms{docs: rs.docs, sizes: b.sizes(rs.docs), o: o, report: r, frequent: make([][]uint32, len(rs.docs)),
		most: 1 << 20}
	t.runs = spill.NewRuns[[3]uint64](b.hashes.room.Disk, b.hashes.room.Dir, "partial-overlaps", 1<<20)
	defer t.runs.Close()
	if o.MemoryBytes > 0 {
		t.most = max(int(o.MemoryBytes/partialBytes/2), 1024)
	}
	r.Slices = max(o.Slices, 1)
	for _, size := range t.sizes {
		r.Traffic.Sent += uint64(size)
	}
	r.Traffic.SentBytes = postingBytes * r.Traffic.Sent
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
	if err == nil {
		err = t.spill()
	}
	if err != nil {
		return nil, err
	}
	r.Common, r.Frequent = frequent.signatures, frequent.documents(t.sizes, o)
	return t.sum()
}

// partialBytes is the memory of a partial overlap that waits to be spilled, and of the record that
// it becomes.
const partialBytes = 32

// terms is a term-split under way.
type terms struct {
	docs     []uint32   // by rank
	sizes    []uint32   // of these
	frequent [][]uint32 // by rank: numbers of its signatures that find no candidates, ascending
	o        *Options
	report   *Report
	ranks    []uint32 // of a signature
	waiting  []uint64 // pairs of ranks, the lower one in the upper half
	most     int      // that wait
	runs     *spill.Runs[[3]uint64]
	spilled  uint64
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
			t.report.Traffic.Partial++
			t.waiting = append(t.waiting, uint64(a)<<32|uint64(b))
		}
		if len(t.waiting) >= t.most {
			if err := t.spill(); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// spill writes what waits as a sorted run of pairs, each with the number of the run and how often
// it came.
func (t *terms) spill() error {
	slices.Sort(t.waiting)
	var run [][3]uint64
	for i := 0; i < len(t.waiting); {
		j := i + 1
		for j < len(t.waiting) && t.waiting[j] == t.waiting[i] {
			j++
		}
		run = append(run, [3]uint64{t.waiting[i], t.spilled, uint64(j - i)})
		i = j
	}
	t.waiting = t.waiting[:0]
	t.spilled++
	return t.runs.Spill(run)
}

// sum adds the partial overlaps of each pair up, and what it shares of signatures that find no
// candidates.
func (t *terms) sum() (pairs []Pair, err error) {
	t.report.Traffic.PartialBytes = pairBytes * t.report.Traffic.Partial
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
	for r, err := range t.runs.Merge(nil) {
		if err != nil {
			return nil, err
		}
		if r[0] != at {
			flush()
			at, shared = r[0], 0
		}
		shared += int(r[2])
	}
	flush()
	return pairs, nil
}
