package postings

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"example.org/ndd/engine/index/radix"
	"example.org/ndd/engine/storage/spill"
)

// sharedSignatures are the signatures of several documents. Each is the list of the ranks of its documents.
type sharedSignatures struct {
	ranks spill.Column[uint32]
	runs  []run // most frequent signatures first
}

// A run has signatures of the same number of documents. Their lists are consecutive in
// sharedSignatures.ranks.
type run struct {
	documents uint32
	from, to  uint64
}

// shared sorts all signatures of the documents, and returns the signatures that several documents have.
func (b *Builder) shared(ctx context.Context, docs []uint32, o *Options) (*sharedSignatures, error) {
	s := &sharedSignatures{ranks: columnIn[uint32](b.room, o.share(resultShare))}
	// Sort the signatures, as many at a time as the memory allows.
	room := uint64(sortedMax)
	if o.MemoryBytes > 0 {
		room = min(room, o.share(sortShare)/sortedBytes)
	}
	chunks, rows := b.chunks(docs), b.rows(docs)
	var signature uint64
	var open []uint64 // rows of the last signature; more may follow
	g := groups{to: s, rows: rows}
	err := radix.WalkRows(ctx, chunks, radix.Options{Mask: leadingMask, Threads: o.Threads, Limit: int(max(room, 1))},
		func(keys, rows []uint64) error {
			// Take the rows of each signature. The last one may continue in the next part.
			for len(keys) > 0 {
				n := 1
				for n < len(keys) && keys[n] == keys[0] {
					n++
				}
				if len(open) > 0 && signature != keys[0] {
					// Order the lists by their lengths, the longest first.
					g.add(open)
					open = open[:0]
				}
				if len(open) > 0 || n == len(keys) {
					signature, open = keys[0], append(open, rows[:n]...)
				} else {
					g.add(rows[:n])
				}
				keys, rows = keys[n:], rows[n:]
			}
			g.end()
			return ctx.Err()
		})
	g.add(open)
	g.end()
	if err = cmp.Or(err, s.ranks.End()); err != nil {
		return nil, errors.Join(err, s.ranks.Close())
	}
	slices.SortStableFunc(s.runs, func(x, y run) int { return cmp.Compare(y.documents, x.documents) })
	return s, nil
}

// groups sorts the lists of some signatures by their lengths.
type groups struct {
	to     *sharedSignatures
	rows   *rowMap
	counts []uint32 // length of each list
	ranks  []uint32 // all lists
	ends   []uint32 // end of the lists of each length; all 0 between calls
	sorted []uint32
}

// add adds the signature of some rows if several documents have it.
func (g *groups) add(rows []uint64) {
	if len(rows) < 2 {
		return
	}
	g.counts = append(g.counts, uint32(len(rows)))
	for _, row := range rows {
		g.ranks = append(g.ranks, g.rows.document(row))
	}
}

// end appends the lists so far to the shared signatures, one run for each length.
func (g *groups) end() {
	limit := uint32(0)
	for _, n := range g.counts {
		limit = max(limit, n)
	}
	g.ends = append(g.ends, make([]uint32, max(int(limit)+1-len(g.ends), 0))...)
	for _, n := range g.counts {
		g.ends[n] += n
	}
	start, end := uint64(g.to.ranks.Len()), uint32(0)
	for n := range limit + 1 {
		if length := g.ends[n]; length > 0 {
			g.to.runs = append(g.to.runs, run{n, start + uint64(end), start + uint64(end+length)})
			g.ends[n] = end // offset of the next list of this length
			end += length
		}
	}
	g.sorted = slices.Grow(g.sorted[:0], len(g.ranks))[:len(g.ranks)]
	ranks := g.ranks
	for _, n := range g.counts {
		copy(g.sorted[g.ends[n]:], ranks[:n])
		g.ends[n], ranks = g.ends[n]+n, ranks[n:]
	}
	g.to.ranks.AppendAll(g.sorted)
	clear(g.ends)
	g.counts, g.ranks = g.counts[:0], g.ranks[:0]
}

// each calls f with the list of each signature of some runs.
func (s *sharedSignatures) each(ctx context.Context, runs []run, f func(ranks []uint32)) error {
	for _, run := range runs {
		list := s.ranks.All[run.from:run.to]
		for n := int(run.documents); len(list) > 0; list = list[n:] {
			f(list[:n])
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

const (
	// sortedMax is the maximum number of signatures that are sorted at a time. Sorting more takes longer than reading
	// the sets again.
	sortedMax = 24 << 20
	// sortedBytes is the memory of a signature and its row during the sort.
	sortedBytes = 24
)
