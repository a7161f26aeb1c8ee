package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"example.org/ndd/engine"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live"
)

// large runs an index of b.n fingerprints as a user of a large host does: it builds two tables, loads them, and asks
// single queries and batches by 1 to 16 threads. Fingerprints are generated during the build. Half of the queries are
// near a fingerprint, which they must find.
func large(ctx context.Context, b *bench, r *Result) error {
	r.Columns = []string{"seconds", "processor seconds", "us per query", "GiB in use"}
	n, dir := uint64(b.n), filepath.Join(b.dir, "index")
	batch := newGeneratedBatch(n, b.queries)
	var x *engine.Index
	// step measures a step of this process, with that many queries.
	step := func(name string, queries int, run func() error) error {
		b.say("%s", name)
		began, used := time.Now(), processorTime()
		if err := run(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		took := time.Since(began).Seconds()
		cells := []any{took, (processorTime() - used).Seconds(), "-", memoryOf(os.Getpid())}
		if queries > 0 {
			cells[2] = took / float64(queries) * 1e6
		}
		r.row(name, cells...)
		return nil
	}
	// Build and load the index.
	err := errors.Join(step("building two tables", 0, func() error {
		return live.Build(ctx, dir, nil, live.BuildOptions{Options: b.generatedOptions(), Stream: generatedInput(n)})
	}), step("loading them", 0, func() (err error) {
		x, err = engine.Open(ctx, dir, engine.OpenOptions{Load: true})
		return err
	}))
	if err != nil {
		return err
	}
	defer x.Close()
	bytes := float64(x.Stats().TableBytes)
	// Ask single queries, and all as a batch by more and more threads.
	single := min(b.queries, 100*onlineQueries)
	err = step("single queries", single, func() error {
		for i, q := range batch.queries[:single] {
			hits, err := x.Query(ctx, simhash.Fingerprint(q), engine.QueryOptions{K: distance})
			if err != nil {
				return err
			}
			for _, h := range hits {
				batch.add(i, uint64(h.Fingerprint))
			}
		}
		return batch.verifyNear(single)
	})
	for threads := 1; err == nil && threads <= max(16, runtime.GOMAXPROCS(0)); threads *= 2 {
		batch.forget()
		err = step(fmt.Sprintf("a batch, %d threads", threads), b.queries, func() error {
			return x.Batch(ctx, simhash.Fingerprints(batch.queries), engine.BatchOptions{K: distance, Threads: threads},
				func(query int, hits []engine.Hit) error {
					for _, h := range hits {
						batch.add(query, uint64(h.Fingerprint))
					}
					return nil
				})
		})
		if err == nil {
			err = batch.verify(ctx, n, r)
		}
	}
	if err := errors.Join(err, x.Close()); err != nil {
		return err
	}
	r.note("%s fingerprints, k = %d, %s in two tables, %s bytes each; %d hits", humanize.Comma(int64(n)), distance,
		humanize.IBytes(uint64(bytes)), short(bytes/float64(n)), batch.hits)
	return nil
}

// memoryOf returns the GiB that a process has in memory, mapped files included; or 0 if the system has no /proc.
func memoryOf(pid int) (gib float64) {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, after, _ := strings.Cut(string(data), "VmRSS:")
	fmt.Sscan(after, &gib)
	return gib / (1 << 20)
}
