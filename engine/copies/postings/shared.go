package postings

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"ndd/engine/index/radix"
	"ndd/engine/storage/spill"
	"ndd/engine/storage/store"
)

// shared is the signatures that several documents have, as the ranks of these.
type shared struct {
	ranks spill.Column[uint32]
	runs  []run // the signatures of the most documents first
}

// A run is signatures of the same number of documents, whose ranks follow each other in
// shared.ranks.
type run struct {
	documents uint32
	from, to  uint64
}

// shared finds the signatures that several of the documents have, by a sort of all signatures.
func (b *Builder) shared(ctx context.Context, docs []uint32, o *Options) (*shared, error) {
	s := &shared{ranks: columnIn[uint32](b.scratch(o.share(resultShare)))}
	room := uint64(sortedSize)
	if o.MemoryBytes > 0 {
		room = min(room, o.share(sortShare)/SortedBytes)
	}
	chunks, rows := b.chunks(docs), b.rows(docs)
	var signature uint64
	var open []uint64 // rows of the last signature, which may go on
	g := groups{to: s, rows: rows}
	err := radix.WalkRows(ctx, chunks, radix.Options{Mask: leadingMask, Threads: o.Threads, Room: int(max(room, 1))},
		func(keys, rows []uint64) error {
			for len(keys) > 0 {
				n := 1
				for n < len(keys) && keys[n] == keys[0] {
					n++
				}
				if len(open) > 0 && signature != keys[0] {
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

// groups arranges the documents of some signatures by how many a signature has.
type groups struct {
	to     *shared
	rows   *rowMap
	counts []uint32 // of each signature
	ranks  []uint32 // of the documents of all, one signature after the other
	ends   []uint32 // by count; all 0 between calls
	sorted []uint32
}

// add adds a signature, of which it takes the rows, if several documents have it.
func (g *groups) add(rows []uint64) {
	if len(rows) < 2 {
		return
	}
	g.counts = append(g.counts, uint32(len(rows)))
	for _, row := range rows {
		g.ranks = append(g.ranks, g.rows.document(row))
	}
}

// end appends the signatures so far to the shared ones, those of the same number of documents as one
// run.
func (g *groups) end() {
	most := uint32(0)
	for _, n := range g.counts {
		most = max(most, n)
	}
	g.ends = append(g.ends, make([]uint32, max(int(most)+1-len(g.ends), 0))...)
	for _, n := range g.counts {
		g.ends[n] += n
	}
	at, end := uint64(g.to.ranks.Len()), uint32(0)
	for n := range most + 1 {
		if length := g.ends[n]; length > 0 {
			g.to.runs = append(g.to.runs, run{n, at + uint64(end), at + uint64(end+length)})
			g.ends[n] = end // where the next signature goes
			end += length
		}
	}
	g.sorted = slices.Grow(g.sorted[:0], len(g.ranks))[:len(g.ranks)]
	rest := g.ranks
	for _, n := range g.counts {
		copy(g.sorted[g.ends[n]:], rest[:n])
		g.ends[n], rest = g.ends[n]+n, rest[n:]
	}
	g.to.ranks.AppendAll(g.sorted)
	clear(g.ends)
	g.counts, g.ranks = g.counts[:0], g.ranks[:0]
}

// each calls f with the ranks of each signature of some runs, the most frequent first.
func (s *shared) each(ctx context.Context, runs []run, f func(ranks []uint32)) error {
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

// scratch returns a Room with a limit of bytes, 0 for none, in the place of the sets' Room.
func (b *Builder) scratch(bytes uint64) Room {
	r := b.room
	r.Bytes = bytes
	return r
}

const (
	// sortedSize is how many signatures are sorted at a time where the memory has room for them: to
	// use more costs more than to read the sets again.
	sortedSize = 24 << 20
	// SortedBytes is the memory of a signature while it is sorted with its row.
	SortedBytes = 24
)

// fork calls f with 0 to threads - 1 in goroutines, and returns the first error, including faults
// of mapped files.
func fork(threads int, f func(thread int) error) error {
	var group errgroup.Group
	for thread := range threads {
		group.Go(func() (err error) {
			defer store.CatchFault(&err)()
			return f(thread)
		})
	}
	return group.Wait()
}
