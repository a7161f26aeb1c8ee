package scan

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/store"
)

const (
	chunkPrints = 8 << 20 // fingerprints of a chunk: the paper's 64 MiB
	chunkMin    = 8 << 10 // fingerprints of the smallest chunk, if F is streamed with little memory
)

// A Chunk is a part of F that is mapped at once.
type Chunk struct {
	Fingerprints []uint64
	First        uint64 // row in F of the first fingerprint
	done         func() // returns the memory for reuse; may be nil
}

// Release lets the source use the memory of the chunk again. A caller of a [Source] calls it once for
// each chunk, and does not use the fingerprints afterwards.
func (c Chunk) Release() {
	if c.done != nil {
		c.done()
	}
}

// A Source calls yield with the chunks of F in order, until yield returns false. It returns the error
// that prevented it from reading all of F.
type Source func(yield func(Chunk) bool) error

// Slice returns a source of fingerprints in memory or in a mapped file. The first of them is row first
// of F.
func Slice(f []uint64, first uint64) Source {
	return func(yield func(Chunk) bool) error {
		for start := 0; start < len(f); start += chunkPrints {
			part := f[start:min(start+chunkPrints, len(f))]
			if !yield(Chunk{Fingerprints: part, First: first + uint64(start)}) {
				return nil
			}
		}
		return nil
	}
}

// Reader returns a source of the little-endian fingerprints of a stream such as a pipe. chunk is the
// number of fingerprints of a chunk, from [Plan].Chunk. If the stream ends within a fingerprint, the
// error wraps [store.ErrCorrupt]. The source can be used once.
func Reader(r io.Reader, chunk int) Source {
	return func(yield func(Chunk) bool) error {
		free := newBuffers(chunk)
		for first := uint64(0); ; {
			buffer := free.take()
			data := memory.Cast[byte](buffer)
			n, err := io.ReadFull(r, data)
			switch {
			case n%8 != 0 && (err == nil || errors.Is(err, io.ErrUnexpectedEOF)):
				return fmt.Errorf("%w: the stream ends after %d bytes, within a fingerprint", store.ErrCorrupt, first*8+uint64(n))
			case n == 0 && errors.Is(err, io.EOF):
				return nil
			case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
				return err
			}
			copy(buffer, store.Uint64s(data[:n])) // no copy on little-endian machines, where both are the same memory
			if !yield(free.chunk(buffer, n/8, first)) {
				return nil
			}
			first += uint64(n / 8)
		}
	}
}

// buffers is a pool of arrays for chunks.
type buffers struct{ sync.Pool }

// newBuffers returns a pool of arrays for size fingerprints each.
func newBuffers(size int) *buffers {
	return &buffers{sync.Pool{New: func() any {
		buffer := make([]uint64, size)
		return &buffer
	}}}
}

// take returns an array of the pool, or a new one.
func (b *buffers) take() []uint64 { return *b.Get().(*[]uint64) }

// chunk returns the first n fingerprints of an array as a chunk. Its release returns the array to the pool.
func (b *buffers) chunk(buffer []uint64, n int, first uint64) Chunk {
	return Chunk{buffer[:n], first, func() { b.Put(&buffer) }}
}
