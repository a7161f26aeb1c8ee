package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/errgroup"

	"ndd/engine/index/radix"
	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/memory"
	"ndd/engine/storage/store"
	"ndd/permute"
)

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

// A generatedBatch is queries, of which each second is within the distance of a fingerprint, and
// what is found for them.
type generatedBatch struct {
	queries []uint64
	near    []uint64 // by query: the fingerprint that it was made near; 0 for none
	times   []uint8  // by query: how often that was found
	first   answer   // to the first queries
	hits    int
}

// comparedQueries are compared with all fingerprints.
const comparedQueries = 8

func newGeneratedBatch(n uint64, count int) *generatedBatch {
	b := &generatedBatch{queries: make([]uint64, count), near: make([]uint64, count), times: make([]uint8, count)}
	for i := range b.queries {
		random := mix(^uint64(i))
		if i%2 == 1 {
			b.queries[i] = random
			continue
		}
		b.near[i] = generated(random % n)
		b.queries[i] = b.near[i]
		for range i / 2 % (distance + 1) {
			random = mix(random)
			b.queries[i] ^= 1 << (random & 63)
		}
	}
	return b
}

// add adds a hit.
func (b *generatedBatch) add(query int, fingerprint uint64) {
	b.hits++
	if fingerprint == b.near[query] {
		b.times[query]++
	}
	if query < comparedQueries {
		b.first.add(query, fingerprint)
	}
}

// verify demands what queries were made near, and of the first ones what comparing with each of n
// fingerprints finds.
func (b *generatedBatch) verify(ctx context.Context, n uint64, r *Result) error {
	for i, f := range b.near {
		if f != 0 && b.times[i] != 1 {
			return fmt.Errorf("query %d, %016x: the fingerprint that it was made near, %016x, was found %d times", i,
				b.queries[i], f, b.times[i])
		}
	}
	first := b.queries[:min(comparedQueries, len(b.queries))]
	if want := compareGenerated(ctx, n, first); ctx.Err() == nil && b.first != want {
		return fmt.Errorf("the first queries found %v, comparing with all finds %v", b.first, want)
	}
	const verified = "verified: each query that was made within %d bits of a fingerprint finds it, and the first %d find " +
		"what comparing with all finds"
	r.Notes = append(slices.DeleteFunc(r.Notes, func(s string) bool { return strings.HasPrefix(s, "verified") }),
		fmt.Sprintf(verified, distance, len(first)))
	return ctx.Err()
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

// buildGenerated makes a segment of tables of n fingerprints, without documents, and opens it: of each
// table the low bits in one file, and all else in another. Where load is set they are read into
// memory, and removed.
//
// Keys are made, sorted and packed a range at a time, and written before the next range.
// In memory are a range, and the unary bits of a table while it is built.
func (b *bench) buildGenerated(ctx context.Context, files *sources, n, parts uint64, load bool) error {
	for i := range generatedDesign.Tables {
		b.say("table %d: %s fingerprints in %d ranges", i+1, humanize.Comma(int64(n)), parts)
		prefix := segment.TablePrefix(i)
		low, err := store.Create(filepath.Join(b.dir, prefix+"low"), store.KindSegment, 1)
		if err != nil {
			return err
		}
		defer low.Abort()
		rest, err := store.Create(filepath.Join(b.dir, prefix+"rest"), store.KindSegment, 1)
		if err != nil {
			return err
		}
		defer rest.Abort()
		if i == 0 {
			head, err := json.Marshal(map[string]any{"design": generatedDesign, "layout": table.LayoutPlanar, "fingerprints": n,
				"documents": n, "noDocuments": true})
			if err != nil {
				return err
			}
			rest.Section("segment")
			if _, err := rest.Write(head); err != nil {
				return err
			}
		}
		low.Section(prefix + "low")
		rest.Section(prefix + "rest")
		builder, err := table.NewPlanarBuilder(n)
		if err != nil {
			return err
		}
		defer builder.Free()
		err = packGenerated(ctx, builder, n, i, parts, func(room *memory.Buffer[uint64]) error {
			defer room.Free()
			return builder.Flush(low, rest)
		})
		if err == nil {
			err = builder.Write(rest, prefix, runtime.GOMAXPROCS(0))
		}
		if err != nil {
			return err
		}
		builder.Free()
		for _, w := range []*store.Writer{low, rest} {
			if err := w.Commit(); err != nil {
				return err
			}
		}
		for _, name := range []string{"low", "rest"} {
			if err := files.open(ctx, filepath.Join(b.dir, prefix+name), load); err != nil {
				return err
			}
		}
	}
	return nil
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

// sources are the files of one segment.
type sources []*store.File

// open opens a file for reads anywhere in it, or reads it into memory of huge pages and removes it.
func (s *sources) open(ctx context.Context, path string, load bool) (err error) {
	var f *store.File
	if load {
		defer os.Remove(path)
		f, err = store.Load(ctx, nil, path, store.KindSegment, runtime.GOMAXPROCS(0))
	} else if f, err = store.Open(path, store.KindSegment); err == nil {
		f.Scattered()
	}
	if err == nil {
		*s = append(*s, f)
	}
	return err
}

func (s *sources) close() {
	for _, f := range *s {
		f.Close()
	}
}

// Section returns the section of the file that has it.
func (s sources) Section(name string) (section store.Section, err error) {
	for _, f := range s {
		if section, err = f.Section(name); err == nil {
			break
		}
	}
	return section, err
}

// ReadAhead is [store.File.ReadAhead] of all files.
func (s sources) ReadAhead() (end func()) {
	var ends []func()
	for _, f := range s {
		ends = append(ends, f.ReadAhead())
	}
	return func() {
		for _, end := range ends {
			end()
		}
	}
}
