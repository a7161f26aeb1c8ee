package scan

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"ndd/engine/memory"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/store"
)

// Options say how to run.
type Options struct {
	Threads      int               // default: as many as there are processors
	Budget       *memory.Budget    // of which the memory is taken; nil: no limit
	Temp         string            // folder for those; default: that of the system
	Disk         *disk.Disk        // that it is on; default: the system's
	First        uint64            // row of the first query
	Fingerprints uint64            // of F, 0 where it is not known
	Once         bool              // F can be read once only, such as a pipe
	Counted      bool              // hits are counted, not kept: see Count
	Progress     func(done uint64) // unless nil, called with the number of fingerprints done

	hitBytes uint64 // of memory for hits, beyond which they go to files; default: 1 GiB
}

func (o *Options) setDefaults() {
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.hitBytes == 0 {
		o.hitBytes = hitsMost
	}
}

// Run maps all of F, in parallel, and reduces. The result does not depend on the
// number of threads.
func (t *tables) Run(ctx context.Context, f Source, o Options) (*hits, error) {
	o.setDefaults()
	hits := newHits(o.Temp, o.hitBytes, o.Threads)
	hits.disk = o.Disk
	if err := t.run(ctx, f, o, func() sink { return &expander{t, o.First, hits.Writer()} }); err != nil {
		hits.Close()
		return nil, err
	}
	return hits, nil
}

// A sink takes the matches of one goroutine. A match is of all rows that ask the same, which may
// be most of Q: so take heeds ctx where there are rowsMany or more.
type sink interface {
	take(context.Context, []match) error
	close()
}

const rowsMany = 256

// run maps all of F into sinks, one for each goroutine.
func (t *tables) run(parent context.Context, f Source, o Options, newSink func() sink) error {
	var done atomic.Uint64
	group, ctx := errgroup.WithContext(parent)
	chunks := make(chan Chunk)
	group.Go(func() (err error) {
		defer close(chunks)
		defer store.CatchFault(&err)()
		return f(func(c Chunk) bool {
			select {
			case chunks <- c:
				return true
			case <-ctx.Done():
				return false
			}
		})
	})
	for range o.Threads {
		group.Go(func() (err error) {
			defer store.CatchFault(&err)() // F may be mapped
			to := newSink()
			defer to.close()
			m, err := t.newMapper(func(matches []match) error {
				if err := to.take(ctx, matches); err != nil {
					return err
				}
				return ctx.Err()
			})
			if err != nil {
				return err
			}
			defer m.Close()
			for c := range chunks {
				// In parts, so that an interrupt is heard within milliseconds.
				for at := 0; at < len(c.Fingerprints); at += t.plan.part {
					prints := c.Fingerprints[at:min(at+t.plan.part, len(c.Fingerprints))]
					if err := m.Map(prints, c.First+uint64(at)); err != nil {
						return err
					}
					if err := ctx.Err(); err != nil {
						return err
					}
					n := done.Add(uint64(len(prints)))
					if o.Progress != nil {
						o.Progress(n)
					}
				}
				if c.done != nil {
					c.done()
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return parent.Err()
}
