package segment

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"example.org/ndd/asm"
	"example.org/ndd/engine/index/radix"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/spill"
)

// A builder is the state of [Write]: the input, and one table's sorted keys in
// memory or in a temporary file.
type builder struct {
	Options
	sink  *guardedSink
	rows  radix.Input   // fingerprints of all documents, by row, or by position if sources are merged
	input radix.Input   // the same, in any order and maybe with fewer repetitions
	merge *mergeSources // nil without sources

	docs, distinct int
	capacity       int // keys that are sorted at a time
	pairs          int // pairs of key and row that are sorted at a time
	reserved       *memory.Reservation
	memory         *memory.Buffer[uint64] // docs keys; nil when they are in spilled
	spilled        *spill.Run[uint64]
}

// open takes the input.
func (b *builder) open(in *Input) (err error) {
	fingerprints := in.fingerprints()
	b.rows, b.input = fingerprints, fingerprints
	if len(in.Sources) == 0 {
		return nil
	}
	if fingerprints.Len() > 0 {
		return errors.New("an input has fingerprints or segments, not both")
	}
	if b.merge, err = newMergeSources(in.Sources); err != nil {
		return err
	}
	b.rows, b.input = mergedDocs{b.merge}, mergedKeys{b.merge}
	return nil
}

// plan reserves and allocates the memory of [NewPlan].
func (b *builder) plan() (err error) {
	p, err := NewPlan(uint64(b.docs), b.Options)
	if err != nil {
		return err
	}
	if b.reserved, err = b.Budget.Reserve(task(uint64(b.docs)), p.Bytes); err != nil {
		return err
	}
	if b.Planned != nil {
		b.Planned(p)
	}
	b.pairs, b.capacity = p.pairs, p.keys
	if p.External {
		b.spilled, err = spill.Create[uint64](b.Disk, b.TempDir, "keys", spillBytes)
	} else {
		b.memory, err = memory.Make[uint64](b.docs)
	}
	return err
}

// radixOptions returns how the keys of table i are sorted.
func (b *builder) radixOptions(i int) radix.Options {
	return radix.Options{Mask: b.Design.Tables[i].Mask, Threads: b.Threads, Limit: b.capacity}
}

// close releases the memory, and the temporary file.
func (b *builder) close() error {
	b.memory.Free()
	b.reserved.Release()
	return b.spilled.Close()
}

// documents sorts the fingerprints with their rows in the order of table 0. It writes the documents of each fingerprint
// and keeps the distinct keys.
func (b *builder) documents(ctx context.Context) error {
	w, err := newDocWriter(b.sink, b.docs)
	if err != nil {
		return err
	}
	defer w.close()
	sort := b.documentsInRanges
	if b.memory != nil && b.pairs >= b.docs/rangesBest && b.rows.Len() == b.docs && uint64(b.docs) <= math.MaxUint32 {
		sort = b.documentsAtOnce
	}
	if err := sort(ctx, w); err != nil {
		return err
	}
	if w.docs < b.docs {
		return b.merge.sources[0].docs.corrupt(0, "of this segment, and those that it is merged with, %d documents are missing",
			b.docs-w.docs)
	}
	return w.finish(b.distinct)
}

// documentsAtOnce sorts all documents at once, in the memory of the keys and of a quarter of the pairs.
func (b *builder) documentsAtOnce(ctx context.Context, w *docWriter) error {
	rows, err := memory.Make[uint32](b.docs)
	if err != nil {
		return err
	}
	defer rows.Free()
	keys := b.memory.Data
	if err := radix.SortRows(ctx, keys, rows.Data, b.rows, b.radixOptions(0)); err != nil {
		return err
	}
	if b.merge == nil {
		b.distinct, err = appendDocs(w, keys, rows.Data)
		return err
	}
	var numbers [docPiece]uint64
	for start := 0; start < b.docs; start += docPiece {
		part := rows.Data[start:min(start+docPiece, b.docs)]
		for i, row := range part {
			numbers[i] = uint64(row)
		}
		if err := b.takeRows(w, keys[start:start+len(part)], numbers[:len(part)]); err != nil {
			return err
		}
	}
	return nil
}

// documentsInRanges sorts as many documents at a time as fit in memory.
func (b *builder) documentsInRanges(ctx context.Context, w *docWriter) error {
	o := b.radixOptions(0)
	o.Limit = max(b.pairs, roomMin) // the input may have more documents than the segment
	return radix.WalkRows(ctx, b.rows, o, func(keys, rows []uint64) error { return b.takeRows(w, keys, rows) })
}

// takeRows writes documents, by ascending keys, and keeps the keys that are new. It overwrites both.
func (b *builder) takeRows(w *docWriter, keys, rows []uint64) (err error) {
	if b.merge != nil {
		n, err := b.merge.toRows(keys, rows, b.docs-w.docs)
		if err != nil {
			return err
		}
		keys, rows = keys[:n], rows[:n]
	}
	n, err := appendDocs(w, keys, rows)
	if err != nil {
		return err
	}
	if b.spilled != nil {
		err = b.spilled.Append(keys[:n])
	} else {
		copy(b.memory.Data[b.distinct:], keys[:n])
	}
	b.distinct += n
	return err
}

// keepFewer makes the distinct fingerprints the input of the other tables, if they and the keys of a table fit in
// memory. It stores them at the end of the memory.
func (b *builder) keepFewer() {
	if b.memory != nil && 2*b.distinct <= b.docs {
		tail := b.memory.Data[b.docs-b.distinct:]
		asm.Unpermute(tail, b.memory.Data[:b.distinct], b.Design.Tables[0].Mask)
		b.input = radix.Chunks{tail}
	}
}

// fingerprints keeps the distinct keys of table 0 as [builder.documents] does, and no documents.
func (b *builder) fingerprints(ctx context.Context) error {
	keys, err := b.sortTable(ctx, 0)
	if err != nil {
		return err
	}
	b.distinct = len(keys)
	return nil
}

// table writes table i.
func (b *builder) table(ctx context.Context, i int) error {
	if b.memory != nil && b.Table.Layout == table.LayoutPlanar {
		return b.planar(ctx, i)
	}
	keys, err := b.keys(ctx, i)
	if err != nil {
		return err
	}
	o := b.Table
	o.Threads = b.Threads
	return table.Write(b.sink, TablePrefix(i), keys, o)
}

// planar writes table i in the planar layout. It packs each bucket as soon as the bucket is sorted, into the memory of
// the bucket.
func (b *builder) planar(ctx context.Context, i int) error {
	p, err := table.NewPlanarBuilder(uint64(b.distinct))
	if err != nil {
		return err
	}
	defer p.Free()
	if i == 0 {
		err = b.packSorted(ctx, p)
	} else {
		_, err = radix.Distinct(ctx, b.memory.Data[:b.input.Len()], b.input, b.radixOptions(i), func(k radix.Bucket) error {
			p.Pack(uint64(k.Rank), k.Keys, k.Memory)
			return nil
		})
	}
	if err != nil {
		return err
	}
	return p.Write(b.sink, TablePrefix(i), b.Threads)
}

// packSorted packs the keys of table 0, which [builder.documents] has left sorted.
func (b *builder) packSorted(ctx context.Context, p *table.PlanarBuilder) error {
	const pieceKeys = 1 << 13 // 64 KiB and as much for a copy
	keys := b.memory.Data[:b.distinct]
	var next atomic.Int64
	var group errgroup.Group
	for range b.Threads {
		group.Go(func() error {
			piece := make([]uint64, pieceKeys)
			for {
				start := int(next.Add(pieceKeys)) - pieceKeys
				if start >= len(keys) || ctx.Err() != nil {
					return ctx.Err()
				}
				part := keys[start:min(start+pieceKeys, len(keys))]
				p.Pack(uint64(start), piece[:copy(piece, part)], part)
			}
		})
	}
	return group.Wait()
}

// keys returns the sorted distinct keys of table i. [builder.documents] has sorted the keys of table 0.
func (b *builder) keys(ctx context.Context, i int) ([]uint64, error) {
	switch {
	case i > 0:
		return b.sortTable(ctx, i)
	case b.spilled != nil:
		return b.spilled.Map()
	}
	return b.memory.Data[:b.distinct], nil
}

// sortTable sorts the distinct keys of table i.
func (b *builder) sortTable(ctx context.Context, i int) ([]uint64, error) {
	o := b.radixOptions(i)
	if b.spilled != nil {
		if err := b.spilled.Rewind(); err != nil {
			return nil, err
		}
		if err := radix.WalkKeys(ctx, b.input, o, b.spilled.AppendDistinct); err != nil {
			return nil, err
		}
		return b.spilled.Map()
	}
	keys := b.memory.Data[:b.input.Len()]
	if err := radix.SortKeys(ctx, keys, b.input, o); err != nil || b.distinct == len(keys) {
		return keys, err
	}
	return slices.Compact(keys), nil
}
