package scan

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"ndd/engine/memory"
	"ndd/engine/storage/store"
)

const (
	chunkPrints = 8 << 20 // fingerprints of a chunk: the paper's 64 MiB
	chunkMin    = 8 << 10 // where memory is little and F is streamed
)

// A Chunk is a part of F, the unit that is mapped.
type Chunk struct {
	Fingerprints []uint64
	First        uint64 // row of the first
	done         func() // gives the memory back; may be nil
}

// Release says that the chunk's fingerprints are not used any more: their memory may be that of
// another chunk from now on. Who calls a [Source] itself should call it, once for each chunk.
func (c Chunk) Release() {
	if c.done != nil {
		c.done()
	}
}

// A Source calls yield with all of F from its beginning, chunk after chunk, until that returns false,
// and returns what kept it from reading F.
type Source func(yield func(Chunk) bool) error

// Slice returns the source of fingerprints in memory, or mapped, the first of which is row
// first of F.
func Slice(f []uint64, first uint64) Source {
	return func(yield func(Chunk) bool) error {
		for at := 0; at < len(f); at += chunkPrints {
			part := f[at:min(at+chunkPrints, len(f))]
			if !yield(Chunk{Fingerprints: part, First: first + uint64(at)}) {
				return nil
			}
		}
		return nil
	}
}

// Reader returns the source of little-endian fingerprints in a stream, such as a pipe, in chunks of
// the size of a [Plan]. A stream that ends within a fingerprint is an error that wraps
// [store.ErrCorrupt]. The source can be used once.
func Reader(r io.Reader, chunk int) Source {
	return func(yield func(Chunk) bool) error {
		free := newBuffers(chunk)
		for first := uint64(0); ; {
			buffer := free.take()
			data := memory.As[byte](buffer)
			n, err := io.ReadFull(r, data)
			switch {
			case n%8 != 0 && (err == nil || errors.Is(err, io.ErrUnexpectedEOF)):
				return fmt.Errorf("%w: the stream ends after %d bytes, within a fingerprint", store.ErrCorrupt, first*8+uint64(n))
			case n == 0 && errors.Is(err, io.EOF):
				return nil
			case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
				return err
			}
			copy(buffer, store.Uint64s(data[:n])) // the same memory, and nothing to do, on most machines
			if !yield(free.chunk(buffer, n/8, first)) {
				return nil
			}
			first += uint64(n / 8)
		}
	}
}

// Walk returns the source of fingerprints that are handed out some at a time, such as those of an
// index, whose tables are decoded block by block, in chunks of the size of a [Plan]. Their
// rows are their numbers in the walk.
func Walk(walk func(yield func([]uint64) bool) error, chunk int) Source {
	return func(yield func(Chunk) bool) error {
		free := newBuffers(chunk)
		buffer, n, first := free.take(), 0, uint64(0)
		going := true
		err := walk(func(prints []uint64) bool {
			for len(prints) > 0 {
				c := copy(buffer[n:], prints)
				prints = prints[c:]
				if n += c; n < len(buffer) {
					continue
				}
				if going = yield(free.chunk(buffer, n, first)); !going {
					return false
				}
				first += uint64(n)
				buffer, n = free.take(), 0
			}
			return true
		})
		if err == nil && going && n > 0 {
			yield(free.chunk(buffer, n, first))
		}
		return err
	}
}

// buffers are arrays of chunks that were mapped, to be filled again.
type buffers struct{ sync.Pool }

// newBuffers returns buffers of size fingerprints.
func newBuffers(size int) *buffers {
	return &buffers{sync.Pool{New: func() any {
		buffer := make([]uint64, size)
		return &buffer
	}}}
}

// take returns an array that is free, or a new one.
func (b *buffers) take() []uint64 { return *b.Get().(*[]uint64) }

// chunk returns the first n fingerprints of an array as a chunk, which gives it back.
func (b *buffers) chunk(buffer []uint64, n int, first uint64) Chunk {
	return Chunk{buffer[:n], first, func() { b.Put(&buffer) }}
}
