package main

import (
	"context"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/errgroup"

	"ndd/engine/index/distribution"
	"ndd/engine/index/plan"
	"ndd/engine/index/radix"
	"ndd/engine/index/table"
	"ndd/engine/memory"
	"ndd/engine/storage/store"
	"ndd/permute"
)

// size builds and searches two planar tables of 1e6, 1e7, ... up to b.n fingerprints, or of b.n alone
// where they are more than 1e9, and holds bytes and time against the model of `ndd design`.
//
// Fingerprints are made from their numbers: there are no files and no array of them. A table is made
// range by range of its leading bits: those of a range are made, sorted and packed. Napkin, for
// n = 8e9 on 16 processors: 2 s a table to make them at 4 ns, 5 s to sort them at 100 M/s a
// processor; memory 4.4 bytes a fingerprint for the packed pieces and as much again while they are
// written out, beside the tables that are there.
func size(ctx context.Context, b *bench, r *Result) error {
	r.Columns = []string{"B/fingerprint", "of the bound", "build s", "build M/s", "ns, one by one", "batch ns",
		"of the model", "batch in misses", "hits"}
	first := 1_000_000
	if b.n > manyFingerprints {
		first = b.n // each size less takes minutes, too
	}
	for n := min(first, b.n); ; n = min(n*10, b.n) {
		b.say("%s fingerprints", humanize.Comma(int64(n)))
		if err := b.sizeOf(ctx, uint64(n), r); err != nil {
			return fmt.Errorf("%d fingerprints: %w", n, err)
		}
		if n == b.n {
			break
		}
	}
	r.note("two planar tables (halves) without documents' numbers; fingerprints are made in place; one by one and in "+
		"batches of 256, on one thread; k = %d", distance)
	r.note("verified: each query that was made within %d bits of a fingerprint finds it, and the first %d find what "+
		"comparing with all finds", distance, comparedQueries)
	r.note("of the model: time divided by what ndd design says for a query of a batch")
	return nil
}

const (
	comparedQueries  = 8
	manyFingerprints = 1e9 // from so many on, all queries are asked, and else at most 200,000
)

func (b *bench) sizeOf(ctx context.Context, n uint64, r *Result) error {
	count := b.queries
	if n < manyFingerprints {
		count = min(count, 200_000)
	}
	queries, near := generatedQueries(n, count)
	began := time.Now()
	set := &tableSet{design: generatedDesign}
	var held []*store.File
	defer func() {
		for _, f := range held {
			f.Close()
		}
	}()
	for i := range generatedDesign.Tables {
		f, err := b.generateTable(ctx, n, i)
		if err != nil {
			return err
		}
		held = append(held, f)
		tab, err := table.Open(f, "", table.LayoutPlanar)
		if err != nil {
			return err
		}
		set.add(tab)
	}
	build := time.Since(began).Seconds()
	bytes := 0.0
	for _, t := range set.tables {
		bytes += float64(table.Bytes(t)) / float64(n)
	}
	hits, err := verifyGenerated(ctx, set, n, queries, near)
	if err != nil {
		return err
	}
	var times [2]Cell
	for i, batch := range []int{1, 256} {
		times[i], err = b.repeat(func() error {
			_, err := set.count(ctx, queries, 0, batch)
			return err
		})
		if err != nil {
			return err
		}
		times[i] = times[i].scale(1e9 / float64(len(queries)))
	}
	p, err := plan.New(ctx, plan.Request{Fingerprints: n, K: distance, Layout: table.LayoutPlanar,
		Designs: []permute.Design{generatedDesign}})
	if err != nil {
		return err
	}
	ns := times[1]
	bound := distribution.Bound(n) / 8 * float64(len(generatedDesign.Tables))
	r.row(humanize.Comma(int64(n)), number(bytes), number(bytes/bound), number(build), number(float64(n)/build/1e6),
		times[0], ns,
		number(ns.Value/p.Choice.BatchNS),
		number(ns.Value/machineMemory().IndependentNs), number(float64(hits)))
	return nil
}

// generatedDesign is the tables of generated fingerprints: halves, each with its own bits leading.
var generatedDesign = permute.Design{Name: "halves", K: distance, Tables: []permute.Table{
	{Mask: 0xffffffff << 32, Radius: 1}, {Mask: 0xffffffff, Radius: 1}}}

// Fingerprints are numbered so that a range of either table can be made without the others:
//
//	i       row            a        b
//	bits    52             6        6        a and b are the cell
//	print   a | 26 of mix(row, cell) | b | 26 of mix(row, cell)
//	        leads table 0              leads table 1
const (
	cellBits = 6 // that lead a table
	cells    = 1 << (2 * cellBits)
	halfMix  = 32 - cellBits // bits
)

// generated returns fingerprint i: all are distinct, and look random.
func generated(i uint64) uint64 {
	const mask = 1<<(2*halfMix) - 1
	row, cell := i/cells, i%cells
	x := (row + cell*0x9e3779b97f4a7) & mask // a bijection of rows, as are the steps of mix
	x ^= x >> 26
	x = x * 0xbf58476d1ce4e5b9 & mask
	x ^= x >> 23
	x = x * 0x94d049bb133111eb & mask
	x ^= x >> 27
	return cell>>cellBits<<(64-cellBits) | x>>halfMix<<32 | cell%(1<<cellBits)<<halfMix | x&(1<<halfMix-1)
}

// generatedQueries returns queries, of which each second is within the distance of a fingerprint,
// and those fingerprints; 0 where there is none.
func generatedQueries(n uint64, count int) (queries, near []uint64) {
	queries, near = make([]uint64, count), make([]uint64, count)
	for i := range queries {
		random := mix(^uint64(i))
		if i%2 == 1 {
			queries[i] = random
			continue
		}
		near[i] = generated(random % n)
		queries[i] = near[i]
		for range i / 2 % (distance + 1) {
			random = mix(random)
			queries[i] ^= 1 << (random & 63)
		}
	}
	return queries, near
}

// generateTable makes a table of n fingerprints in a file, and reads that into memory.
func (b *bench) generateTable(ctx context.Context, n uint64, number int) (*store.File, error) {
	builder, err := table.NewPlanarBuilder(n)
	if err != nil {
		return nil, err
	}
	defer builder.Free()
	var rooms []*memory.Buffer[uint64]
	defer func() {
		for _, room := range rooms {
			room.Free()
		}
	}()
	err = packGenerated(ctx, builder, n, number, parts(n, 1<<30), func(room *memory.Buffer[uint64]) error {
		rooms = append(rooms, room)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return loadTable(ctx, filepath.Join(b.dir, "table"), func(w *store.Writer) error {
		if err := builder.Write(w, "", runtime.GOMAXPROCS(0)); err != nil {
			return err
		}
		for _, room := range rooms { // before the file is read
			room.Free()
		}
		return nil
	})
}

// loadTable reads the file that write writes into memory of huge pages, and removes it.
func loadTable(ctx context.Context, path string, write func(w *store.Writer) error) (*store.File, error) {
	w, err := store.Create(path, store.KindSegment, 1)
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	if err := write(w); err != nil {
		return nil, err
	}
	if err := w.Commit(); err != nil {
		return nil, err
	}
	defer os.Remove(path)
	return store.Load(ctx, nil, path, store.KindSegment, runtime.GOMAXPROCS(0))
}

// packGenerated packs a table of n fingerprints, made and sorted range by range of their leading bits, and
// hands over the memory of each range's planes.
func packGenerated(ctx context.Context, builder *table.PlanarBuilder, n uint64, number int, parts uint64,
	packed func(room *memory.Buffer[uint64]) error) error {
	length := int((n + cells - 1) / cells * (cells / parts))
	made, err := memory.Make[uint64](length) // one for all ranges: the system clears what is new
	if err != nil {
		return err
	}
	defer made.Free()
	sorted, err := memory.Make[uint64](length)
	if err != nil {
		return err
	}
	defer sorted.Free()
	rank := uint64(0)
	for part := range parts {
		keys, err := generateRange(ctx, sorted.Data, made.Data, n, number, part, parts)
		if err != nil {
			return err
		}
		room, err := packPieces(builder, rank, keys, n)
		rank += uint64(len(keys))
		if err == nil {
			err = packed(room)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// parts returns into how many ranges of leading bits n fingerprints are cut, so that sorting one takes at
// most that memory, in bytes, or somewhat more; but not into more than can be made by themselves.
func parts(n, bytes uint64) uint64 { return uint64(1) << min(cellBits, bits.Len64(16*n/(bytes+1))) }

// generateRange returns the permuted fingerprints of a range of a table, sorted, in dst. It overwrites made.
func generateRange(ctx context.Context, dst, made []uint64, n uint64, number int, part, parts uint64) ([]uint64, error) {
	rows, own := (n+cells-1)/cells, cells/parts // and how many cells are of this range
	var at atomic.Uint64
	group, ctx := errgroup.WithContext(ctx)
	threads := uint64(runtime.GOMAXPROCS(0))
	for t := range threads {
		group.Go(func() error {
			var some [cells]uint64
			for row := rows * t / threads; row < rows*(t+1)/threads; row++ {
				if row%1024 == 0 && ctx.Err() != nil {
					return ctx.Err()
				}
				count := uint64(0)
				for cell := part * own; cell < (part+1)*own; cell++ {
					i := row*cells + cell
					if number > 0 { // its bits lead in the lower half of the cell
						i = row*cells + cell>>cellBits + cell%(1<<cellBits)<<cellBits
					}
					if i < n {
						some[count] = generated(i)
						count++
					}
				}
				copy(made[at.Add(count)-count:], some[:count])
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	keys := dst[:at.Load()]
	radix.Keys(keys, made[:at.Load()], generatedDesign.Tables[number].Mask, runtime.GOMAXPROCS(0))
	return keys, nil
}

// packPieces packs sorted keys, of which the first has a rank, a million to a piece, and returns
// the memory where they are. The room of a piece begins in the part of the one before that stays
// empty.
func packPieces(builder *table.PlanarBuilder, rank uint64, keys []uint64, n uint64) (*memory.Buffer[uint64], error) {
	const piece = 1 << 20
	bucketBits, _ := table.PlanarWidths(n)
	packed := int(piece/64*(64-uint64(bucketBits))) + 8 // words of both planes
	pieces := (len(keys) + piece - 1) / piece
	room, err := memory.Make[uint64](pieces*packed + piece)
	if err != nil {
		return nil, err
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range pieces {
		group.Go(func() error {
			part := keys[i*piece : min((i+1)*piece, len(keys))]
			builder.Pack(rank+uint64(i*piece), part, room.Data[i*packed:][:len(part)])
			return nil
		})
	}
	return room, group.Wait()
}

// verifyGenerated demands what queries were made near, and of the first ones what comparing with
// every fingerprint finds. It returns the number of hits.
func verifyGenerated(ctx context.Context, set *tableSet, n uint64, queries, near []uint64) (hits int, err error) {
	var first answer
	times := make([]int, len(near))
	err = set.each(ctx, queries, 256, func(query int, diff uint64) {
		hits++
		if diff == queries[query]^near[query] {
			times[query]++
		}
		if query < comparedQueries {
			first.add(query, queries[query]^diff)
		}
	})
	if err != nil {
		return 0, err
	}
	for i, f := range near {
		if f != 0 && times[i] != 1 {
			return 0, fmt.Errorf("query %d, %016x: the fingerprint that it was made near, %016x, was found %d times", i,
				queries[i], f, times[i])
		}
	}
	if want := compareGenerated(ctx, n, queries[:comparedQueries]); ctx.Err() == nil && first != want {
		return 0, fmt.Errorf("the first queries found %v, comparing with all finds %v", first, want)
	}
	return hits, ctx.Err()
}

// compareGenerated compares queries with all n fingerprints, or with fewer once ctx is done.
func compareGenerated(ctx context.Context, n uint64, queries []uint64) (all answer) {
	var mu sync.Mutex
	var wait sync.WaitGroup
	threads := uint64(runtime.GOMAXPROCS(0))
	for t := range threads {
		wait.Go(func() {
			var own answer
			for i := n * t / threads; i < n*(t+1)/threads; i++ {
				if i%(1<<20) == 0 && ctx.Err() != nil {
					return
				}
				f := generated(i)
				for j, q := range queries {
					if bits.OnesCount64(f^q) <= distance {
						own.add(j, f)
					}
				}
			}
			mu.Lock()
			defer mu.Unlock()
			all.plus(own)
		})
	}
	wait.Wait()
	return all
}
