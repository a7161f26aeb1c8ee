package scan

import (
	"cmp"
	"context"
	"iter"
	"runtime"
	"sync/atomic"

	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/parallel"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/store"
)

// Options configures a scan. The zero value means all processors and no memory limit.
type Options struct {
	Threads      int            // goroutines that map; 0 or less: one for each processor
	Budget       *memory.Budget // memory is reserved from it; nil: no limit
	Temp         string         // folder for hits that do not fit in memory; "": the system's folder for temporary files
	Disk         *disk.Disk     // disk of Temp; nil: the system's
	First        uint64         // row of the first query
	Fingerprints uint64         // number of fingerprints of F; 0: unknown
	Once         bool           // all queries are answered at a time, because F is read only once

	// Progress is called with the number of fingerprints done, unless it is nil. Several goroutines call it,
	// and not always in order.
	Progress func(done uint64)

	hitBytes uint64 // bytes of memory for hits, before they are written to files; 0: 1 GiB
}

func (o *Options) setDefaults() {
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	o.hitBytes = cmp.Or(o.hitBytes, hitBytesMax)
}

// scan maps all of F and returns the hits, which the caller closes. They do not depend on the number of goroutines.
func (t *tables) scan(ctx context.Context, f Chunk, o Options) (*hits, error) {
	o.setDefaults()
	hits := newHits(o.Disk, o.Temp, o.hitBytes, o.Threads)
	var done atomic.Uint64
	// One goroutine reads F, and the others map chunks.
	err := parallel.Each(ctx, parallel.Options{Workers: o.Threads, Window: o.Threads},
		func(_ context.Context, yield func(Chunk) bool) (err error) {
			defer store.EndFaults(store.BeginFaults(), &err) // F may be mapped
			f.split(yield)
			return nil
		}, func(ctx context.Context, chunks iter.Seq[Chunk]) (err error) {
			defer store.EndFaults(store.BeginFaults(), &err)
			// Each mapping goroutine has an expander and a mapper.
			to := &expander{t, o.First, hits.Writer()}
			defer to.to.Close()
			m, err := t.newMapper(func(matches []match) error { return to.take(ctx, matches) })
			if err != nil {
				return err
			}
			defer m.Close()
			for c := range chunks {
				err := m.Map(ctx, c, func(n int) {
					if total := done.Add(uint64(n)); o.Progress != nil {
						o.Progress(total)
					}
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	if err != nil {
		hits.Close()
		return nil, err
	}
	return hits, nil
}
