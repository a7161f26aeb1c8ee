package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/errgroup"

	"ndd/engine"
	"ndd/engine/corpus/simhash"
	"ndd/engine/storage/wal"
)

// inserting is one way of checking and inserting.
type inserting struct {
	name    string
	cores   int // that the program may use
	callers int
	durable bool
	sync    wal.Sync
}

var insertings = []inserting{
	{name: "in memory, 1 core", cores: 1, callers: 1},
	{name: "in memory, 2 cores", cores: 2, callers: 2},
	{name: "durable, 64 callers, sync always", cores: 2, callers: 64, durable: true, sync: wal.Always},
	{name: "durable, 64 callers, sync every 100 ms", cores: 2, callers: 64, durable: true,
		sync: wal.Sync(100 * time.Millisecond)},
	{name: "durable, 64 callers, sync never", cores: 2, callers: 64, durable: true, sync: wal.Never},
}

// checkAndInsert adds documents to an index of b.n that are near none, a tenth as many, one by one.
// In the end all are there, each is found, and their near-duplicates are refused.
func checkAndInsert(ctx context.Context, b *bench, r *Result) error {
	_, index, err := b.index(ctx)
	if err != nil {
		return err
	}
	syncs, err := syncRate(b.dir)
	if err != nil {
		return err
	}
	r.Columns = []string{"k documents/s", "processor us each", "us waited each"}
	for _, how := range insertings {
		b.say("%s", how.name)
		cells, err := b.insert(ctx, index, how)
		if err != nil {
			return fmt.Errorf("%s: %w", how.name, err)
		}
		r.row(how.name, cells...)
	}
	r.note("%s check-and-inserts of one document each into an index of %s, k = %d, two planar tables",
		humanize.Comma(int64(b.inserts())), humanize.Comma(int64(b.n)), distance)
	r.note("processor time has that of background work: seals, merges, flushes")
	r.note("this disk syncs 4 KiB %s times a second for one caller", humanize.CommafWithDigits(syncs, 0))
	r.note("verified: all were admitted and are found, and near ones are not admitted")
	return nil
}

// inserts returns how many documents are inserted.
func (b *bench) inserts() int { return max(1000, b.n/10) }

// insert measures one way.
func (b *bench) insert(ctx context.Context, dir string, how inserting) ([]any, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(how.cores))
	o := engine.OpenOptions{Load: true, Verify: engine.VerifyFast}
	if how.durable {
		o = engine.OpenOptions{Write: true, Sync: how.sync, Verify: engine.VerifyFast}
	}
	x, err := engine.Open(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	before := x.Stats().Documents
	rng := rand.New(rand.NewPCG(uint64(before), uint64(how.sync)))
	docs := make([]engine.Doc, b.inserts())
	for i := range docs {
		docs[i].Fingerprint = simhash.Fingerprint(rng.Uint64())
	}
	processor, began := processorTime(), time.Now()
	if err := insertFrom(ctx, x, docs, how.callers); err != nil {
		return nil, err
	}
	took, spent := time.Since(began), processorTime()-processor
	if n := x.Stats().Documents - before; n != uint64(len(docs)) {
		return nil, fmt.Errorf("%d of %d documents are there", n, len(docs))
	}
	if err := verifyInserted(ctx, x, docs); err != nil {
		return nil, err
	}
	n := float64(len(docs))
	return []any{n / took.Seconds() / 1e3, spent.Seconds() / n * 1e6,
		took.Seconds() * float64(how.callers) / n * 1e6}, nil
}

// insertFrom checks and inserts documents from several goroutines.
func insertFrom(ctx context.Context, x *engine.Index, docs []engine.Doc, callers int) error {
	var next atomic.Int64
	var group errgroup.Group
	for range callers {
		group.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(docs) {
					return nil
				}
				out, err := x.CheckAndInsert(ctx, docs[i], distance, 1)
				if err == nil && !out.Inserted {
					err = fmt.Errorf("%016x was not admitted: %+v", docs[i].Fingerprint, out.Near)
				}
				if err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}

// verifyInserted demands that some of the documents are found, and keep others out.
func verifyInserted(ctx context.Context, x *engine.Index, docs []engine.Doc) error {
	for i := 0; i < len(docs); i += 1 + len(docs)/1000 {
		f := docs[i].Fingerprint
		near := engine.Doc{Fingerprint: f ^ simhash.Fingerprint(1<<(i%64))}
		out, err := x.CheckAndInsert(ctx, near, distance, 1)
		if err != nil {
			return err
		}
		if out.Inserted || out.Near[0].Fingerprint != f || out.Near[0].Distance != 1 {
			return fmt.Errorf("%016x was inserted, and %016x is told %+v", f, near.Fingerprint, out)
		}
	}
	return nil
}

// syncRate returns how often a second this disk syncs 4 KiB that are appended to a file.
func syncRate(dir string) (float64, error) {
	f, err := os.Create(filepath.Join(dir, "syncs"))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	page, n, began := make([]byte, 4096), 0, time.Now()
	for time.Since(began) < 300*time.Millisecond {
		if _, err := f.Write(page); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		n++
	}
	return float64(n) / time.Since(began).Seconds(), nil
}
