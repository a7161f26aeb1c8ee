package postings

import (
	"context"
	"math/bits"
	"slices"

	"ndd/engine/storage/spill"
)

// A Posting is a document that has a signature, with the number of all its signatures.
type Posting struct {
	Doc  uint32
	Size uint32
}

// splitTerms makes lists of the documents of each signature, slice by slice of the signatures, and of each list the partial
// overlaps of its pairs; these are sorted, spilled and summed pair by pair.
func (b *Builder) splitTerms(ctx context.Context, rs *ranking, o *Options, r *Report) (pairs []Pair, err error) {
	docs := rs.docs
	frequent, err := b.frequent(ctx, docs, o, r)
	if err != nil {
		return nil, err
	}
	t := &terms{sets: b, o: o, report: r, frequent: frequent}
	t.runs = spill.NewRuns[[3]uint64](b.room.Disk, b.room.Dir, "partial-overlaps", 1<<20)
	defer t.runs.Close()
	t.most = 1 << 20
	if o.MemoryBytes > 0 {
		t.most = max(int(o.MemoryBytes/partialBytes/2), 1024)
	}
	r.Slices = t.slices(docs)
	progress := &progress{tell: o.Progress, total: uint64(r.Slices)}
	for slice := range r.Slices {
		if err := t.slice(ctx, docs, slice); err != nil {
			return nil, err
		}
		progress.add(1)
	}
	if err := t.spill(); err != nil {
		return nil, err
	}
	return t.sum()
}

// partialBytes is the memory of a partial overlap that waits to be spilled, and of the record that it becomes.
const partialBytes = 32

// terms is a term-split under way.
type terms struct {
	sets     *Builder
	o        *Options
	report   *Report
	frequent []uint64
	waiting  []uint64 // pairs, A in the upper half
	most     int      // that wait
	runs     *spill.Runs[[3]uint64]
	spilled  uint64
}

// slices returns how many slices there are: as many as were asked for, or as memory needs for the postings of one.
func (t *terms) slices(docs []uint32) int {
	if t.o.Slices > 0 {
		return t.o.Slices
	}
	n := uint64(0)
	for _, d := range docs {
		n += uint64(t.sets.size(d))
	}
	if t.o.MemoryBytes == 0 {
		return 1
	}
	return int(1 + n*2*postingBytes/t.o.MemoryBytes)
}

// sliceOf returns the slice of a term-split, of so many, that a signature belongs to.
func sliceOf(hash uint64, slices int) int {
	high, _ := bits.Mul64(hash, uint64(slices))
	return int(high)
}

// slice takes the signatures of one slice.
func (t *terms) slice(ctx context.Context, docs []uint32, slice int) error {
	type posting struct {
		hash uint64
		doc  uint32
	}
	var postings []posting
	for _, doc := range docs {
		for _, hash := range t.sets.set(doc) {
			if sliceOf(hash, t.report.Slices) == slice {
				postings = append(postings, posting{hash, doc})
			}
		}
	}
	slices.SortStableFunc(postings, func(a, b posting) int {
		switch {
		case a.hash < b.hash:
			return -1
		case a.hash > b.hash:
			return 1
		}
		return 0
	})
	t.report.Traffic.Sent += uint64(len(postings))
	t.report.Traffic.SentBytes += postingBytes * uint64(len(postings))
	var list []Posting
	for i := 0; i < len(postings); {
		list = list[:0]
		hash := postings[i].hash
		for ; i < len(postings) && postings[i].hash == hash; i++ {
			list = append(list, Posting{postings[i].doc, uint32(t.sets.size(postings[i].doc))})
		}
		if _, common := slices.BinarySearch(t.frequent, hash); common || len(list) == 1 {
			continue
		}
		if err := t.list(ctx, list); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// list takes the documents of one signature, which are in order of size.
func (t *terms) list(ctx context.Context, list []Posting) error {
	for i, a := range list {
		largest := t.o.largest(int(a.Size))
		for _, b := range list[i+1:] {
			if int(b.Size) > largest {
				break
			}
			t.report.Traffic.Partial++
			t.waiting = append(t.waiting, uint64(min(a.Doc, b.Doc))<<32|uint64(max(a.Doc, b.Doc)))
		}
		if len(t.waiting) >= t.most {
			if err := t.spill(); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// spill writes what waits as a sorted run of pairs, each with the number of the run and how often it came.
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

// sum adds the partial overlaps of each pair up, and what it shares of signatures that find no candidates.
func (t *terms) sum() (pairs []Pair, err error) {
	t.report.Traffic.PartialBytes = pairBytes * t.report.Traffic.Partial
	at, shared := uint64(0), 0
	flush := func() {
		if shared == 0 {
			return
		}
		t.report.Candidates++
		p := Pair{A: uint32(at >> 32), B: uint32(at), Shared: shared}
		p.SizeA, p.SizeB = t.sets.size(p.A), t.sets.size(p.B)
		if len(t.frequent) > 0 {
			a, b := appendCommon(nil, t.sets.set(p.A), t.frequent), appendCommon(nil, t.sets.set(p.B), t.frequent)
			p.Shared += sharedAtLeast(a, b, 0)
		}
		if t.o.Similar(p.SizeA, p.SizeB, p.Shared) {
			pairs = append(pairs, p)
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
