package scan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"ndd/engine/store"
)

// chunkPrints is how many fingerprints a chunk has: the paper's 64 MiB.
const chunkPrints = 8 << 20

// A Source yields F, some fingerprints at a time, which stay unchanged until
// its end. It ends with an error, or io.EOF.
type Source func() ([]uint64, error)

// Slice is the source of fingerprints in memory.
func Slice(f []uint64) Source {
	return func() ([]uint64, error) {
		if len(f) == 0 {
			return nil, io.EOF
		}
		n := min(len(f), chunkPrints)
		chunk := f[:n]
		f = f[n:]
		return chunk, nil
	}
}

// Reader is the source of little-endian fingerprints in a stream, such as a
// pipe. A stream that ends within a fingerprint is an error.
func Reader(r io.Reader) Source {
	at := int64(0)
	return func() ([]uint64, error) {
		buf := make([]byte, 8*chunkPrints)
		n, err := io.ReadFull(r, buf)
		at += int64(n)
		switch {
		case n%8 != 0 && (err == nil || errors.Is(err, io.ErrUnexpectedEOF)):
			return nil, fmt.Errorf("%w: the stream ends after %d bytes, within a fingerprint", store.ErrCorrupt, at)
		case n == 0 || err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
			return nil, err
		}
		return store.Uint64s(buf[:n]), nil
	}
}

// Run maps all of F with threads goroutines and reduces. progress, unless nil,
// is called with the number of fingerprints done. The result does not depend
// on threads.
func (t *Tables) Run(ctx context.Context, f Source, threads int, progress func(done uint64)) ([]Hit, error) {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	type chunk struct {
		prints []uint64
		first  uint64
	}
	var mu sync.Mutex
	var all []Match
	done := uint64(0)
	group, ctx := errgroup.WithContext(ctx)
	chunks := make(chan chunk)
	group.Go(func() error {
		defer close(chunks)
		for first := uint64(0); ; {
			prints, err := f()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			select {
			case chunks <- chunk{prints, first}:
			case <-ctx.Done():
				return ctx.Err()
			}
			first += uint64(len(prints))
		}
	})
	for range threads {
		group.Go(func() error {
			c := new(Scratch)
			var matches []Match
			for ch := range chunks {
				// In parts, so that an interrupt is heard within milliseconds.
				for at := 0; at < len(ch.prints) && ctx.Err() == nil; at += mapPart {
					matches = t.Map(matches, ch.prints[at:min(at+mapPart, len(ch.prints))], ch.first+uint64(at), c)
				}
				mu.Lock()
				done += uint64(len(ch.prints))
				if progress != nil {
					progress(done)
				}
				mu.Unlock()
			}
			mu.Lock()
			all = append(all, matches...)
			mu.Unlock()
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return t.Reduce(all), nil
}
