package server

import (
	"context"
	"errors"
	"time"

	"ndd/engine"
	"ndd/engine/storage/store"
)

// scrub checks all blocks of the index's files again and again, each time in so long: damage that comes while they are
// served is found before long, and not only when a query meets it. It ends with ctx, or with the first damage, which takes
// the server out of service.
func (s *service) scrub(ctx context.Context, x *engine.Index, every time.Duration) {
	for ctx.Err() == nil {
		began := time.Now()
		err := x.Live().Scrub(ctx, func(bytes, of uint64) error {
			s.metrics.scrubbed.Add(float64(bytes))
			return sleep(ctx, time.Duration(float64(every)*float64(bytes)/float64(max(of, bytes))))
		})
		switch {
		case errors.Is(err, store.ErrCorrupt):
			s.noticeDamage(err)
			return
		case err != nil && ctx.Err() == nil && !errors.Is(err, engine.ErrClosed):
			s.log.Warn("the index could not be scrubbed", "error", err)
		case err == nil:
			s.metrics.scrubs.Inc()
		}
		if sleep(ctx, every-time.Since(began)) != nil {
			return
		}
	}
}

// sleep waits, or returns the error of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
