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

	"ndd/asm"
	"ndd/engine/index/distribution"
	"ndd/engine/index/plan"
	"ndd/engine/index/radix"
	"ndd/engine/index/table"
	"ndd/engine/memory"
	"ndd/engine/storage/store"
	"ndd/permute"
)

// size builds and searches two planar tables of 1e6, 1e7, ... up to b.n fingerprints, and holds
// bytes and time against the model of `ndd design`.
//
// Fingerprint i is mix(i): there are no files and no array of them. A table is made range by range
// of its leading bits: all fingerprints are made again for each range, those of it are kept,
// sorted and packed. Napkin, for n = 8e9 on 16 processors: 64 ranges x 8e9 x 1.5 ns / 16 = 48 s a
// table, and as much for sorting at 100 M/s a processor; memory 4.4 bytes a fingerprint for the
// packed pieces and as much again while they are written out, beside the tables that are there.
func size(ctx context.Context, b *bench, r *Result) error {
	design, err := permute.Named("halves", distance, 1)
	if err != nil {
		return err
	}
	r.Columns = []string{"B/fingerprint", "of the bound", "build s", "build M/s", "ns, one by one", "batch ns",
		"of the model", "batch in misses", "hits"}
	for n := min(1_000_000, b.n); ; n = min(n*10, b.n) {
		b.say("%s fingerprints", humanize.Comma(int64(n)))
		if err := b.sizeOf(ctx, uint64(n), design, r); err != nil {
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

func (b *bench) sizeOf(ctx context.Context, n uint64, design permute.Design, r *Result) error {
	count := b.queries
	if n < manyFingerprints {
		count = min(count, 200_000)
	}
	queries, near := generatedQueries(n, count)
	began := time.Now()
	set := &tableSet{design: design}
	var held []*store.File
	defer func() {
		for _, f := range held {
			f.Close()
		}
	}()
	for _, t := range design.Tables {
		f, err := b.generateTable(ctx, n, t.Mask)
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
		times[i], err = rounds(b.rounds, func() error {
			_, err := set.count(ctx, queries, 0, batch)
			return err
		})
		if err != nil {
			return err
		}
		times[i] = times[i].scale(1e9 / float64(len(queries)))
	}
	p, err := plan.New(ctx, plan.Request{Fingerprints: n, K: distance, Layout: table.LayoutPlanar,
		Designs: []permute.Design{design}})
	if err != nil {
		return err
	}
	ns := times[1]
	bound := distribution.Bound(n) / 8 * float64(len(design.Tables))
	r.row(humanize.Comma(int64(n)), number(bytes), number(bytes/bound), number(build), number(float64(n)/build/1e6),
		times[0], ns,
		number(ns.Value/p.Choice.BatchNS),
		number(ns.Value/machineMemory().IndependentNs), number(float64(hits)))
	return nil
}

// generated returns fingerprint i: all are distinct, and look random.
func generated(i uint64) uint64 { return mix(i + 0x9e3779b97f4a7c15) }

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
func (b *bench) generateTable(ctx context.Context, n, mask uint64) (*store.File, error) {
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
	rank := uint64(0)
	for part := range parts(n) {
		keys, err := generateRange(ctx, n, mask, part, parts(n))
		if err != nil {
			return nil, err
		}
		packed, err := packPieces(builder, rank, keys.Data, n)
		rank += uint64(len(keys.Data))
		keys.Free()
		if err != nil {
			return nil, err
		}
		rooms = append(rooms, packed)
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

// parts returns into how many ranges of leading bits n fingerprints are cut: 64 to 128 million a
// range, which take two gigabytes while they are sorted.
func parts(n uint64) uint64 { return uint64(1) << bits.Len64(n>>27) }

// generateRange returns the permuted fingerprints of a range, sorted.
func generateRange(ctx context.Context, n, mask, part, parts uint64) (*memory.Buffer[uint64], error) {
	const chunk = 4096
	room := n/parts + n/parts/64 // of one range all, of several a hundred sigma above what is expected
	found, err := memory.Make[uint64](int(room))
	if err != nil {
		return nil, err
	}
	defer found.Free()
	shift := 64 - bits.Len64(parts-1)
	var at atomic.Uint64
	group, ctx := errgroup.WithContext(ctx)
	threads := uint64(runtime.GOMAXPROCS(0))
	for t := range threads {
		group.Go(func() error {
			var prints, keys, kept [chunk]uint64
			for from := n * t / threads; from < n*(t+1)/threads; from += chunk {
				count := min(chunk, n*(t+1)/threads-from)
				for i := range count {
					prints[i] = generated(from + i)
				}
				asm.Permute(keys[:count], prints[:count], mask)
				k := 0
				for i, key := range keys[:count] {
					kept[k] = prints[i]
					if key>>shift == part { // a conditional move: one in many is kept
						k++
					}
				}
				end := at.Add(uint64(k))
				if end > room {
					return fmt.Errorf("more than %d fingerprints in a range", room)
				}
				copy(found.Data[end-uint64(k):end], kept[:k])
				if from/chunk%1024 == 0 && ctx.Err() != nil {
					return ctx.Err()
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	keys, err := memory.Make[uint64](int(at.Load()))
	if err != nil {
		return nil, err
	}
	radix.Keys(keys.Data, found.Data[:at.Load()], mask, runtime.GOMAXPROCS(0))
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
	if want := compareGenerated(n, queries[:comparedQueries]); first != want {
		return 0, fmt.Errorf("the first queries found %v, comparing with all finds %v", first, want)
	}
	return hits, nil
}

// compareGenerated compares queries with all n fingerprints.
func compareGenerated(n uint64, queries []uint64) (all answer) {
	var mu sync.Mutex
	var wait sync.WaitGroup
	threads := uint64(runtime.GOMAXPROCS(0))
	for t := range threads {
		wait.Go(func() {
			var own answer
			for i := n * t / threads; i < n*(t+1)/threads; i++ {
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
