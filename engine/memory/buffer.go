package memory

import (
	"fmt"
	"math"
	"unsafe"
)

// Plain is a type without pointers that a buffer may hold.
type Plain interface {
	uint8 | uint16 | uint32 | ~uint64 | [1]uint64 | ~[2]uint64
}

// A Buffer is an array outside the Go heap. Data is zeroed at first and has no
// spare capacity; it is gone after [Buffer.Free].
type Buffer[T Plain] struct {
	Data []T
	raw  []byte // the whole mapping
}

// heapBytes is the size up to which a buffer lies in the Go heap: so little does not matter to the
// collector, and a mapping takes longer.
const heapBytes = 64 << 10

// mapBytes is the same for a buffer in a file.
const mapBytes = 4 << 10

// sizeMax is the size of an address space.
const sizeMax = min(1<<46, math.MaxInt-2*hugeBytes)

// hugeBytes is the size of a huge page.
const hugeBytes = 2 << 20

// As returns the memory of a list as elements of another size, as many as fit. Neither type may have pointers.
func As[To, From any](list []From) []To {
	n := uintptr(len(list)) * unsafe.Sizeof(*new(From)) / unsafe.Sizeof(*new(To))
	return unsafe.Slice((*To)(unsafe.Pointer(unsafe.SliceData(list))), n)
}

// Make returns a buffer of n elements. The error says how much was
// asked for. It panics for a negative n.
func Make[T Plain](n int) (*Buffer[T], error) { return makeBy[T](n, heapBytes, allocate) }

func makeBy[T Plain](n int, least uint64, allocate func(bytes uint64) ([]byte, error)) (*Buffer[T], error) {
	var t T
	size := uint64(n) * uint64(unsafe.Sizeof(t))
	switch {
	case n < 0:
		panic(fmt.Sprintf("memory: a buffer of %d elements", n))
	case n == 0:
		return &Buffer[T]{}, nil
	case size/uint64(unsafe.Sizeof(t)) != uint64(n) || size > sizeMax:
		return nil, fmt.Errorf("%d elements of %d bytes are more than memory can have", n, unsafe.Sizeof(t))
	}
	if size <= least {
		return &Buffer[T]{Data: make([]T, n)}, nil
	}
	raw, err := allocate(size)
	if err != nil {
		return nil, fmt.Errorf("%d bytes of memory: %w", size, err)
	}
	return &Buffer[T]{unsafe.Slice((*T)(unsafe.Pointer(&raw[0])), n), raw}, nil
}

// Free gives the memory back. Nothing may use Data any more. It may be called
// again, and on nil.
func (b *Buffer[T]) Free() {
	if b == nil {
		return
	}
	raw := b.raw
	b.Data, b.raw = nil, nil
	if raw != nil {
		release(raw)
	}
}

// Trim keeps the first n elements and gives the memory of the others back,
// where it is whole pages.
func (b *Buffer[T]) Trim(n int) {
	if b.raw != nil && n < len(b.Data) {
		drop(b.raw[uintptr(n)*unsafe.Sizeof(*new(T)):])
	}
	b.Data = b.Data[:n:n]
}

// An Arena owns buffers that are freed together, such as those of one search. Its zero value is
// empty.
type Arena struct {
	// Map, if not nil, returns zeroed memory for buffers that are not small, by [MapFile].
	Map func(bytes uint64) ([]byte, error)

	buffers []interface{ Free() }
}

// In returns the data of a buffer of n elements that is freed with the arena. If that fails, or has
// failed before, it returns nil and *err is the first error.
func In[T Plain](a *Arena, n int, err *error) []T { return BufferIn[T](a, n, err).Data }

// BufferIn is [In] for a buffer that is trimmed, or freed before. That of an error is empty.
func BufferIn[T Plain](a *Arena, n int, err *error) *Buffer[T] {
	if *err != nil {
		return &Buffer[T]{}
	}
	from, least := allocate, uint64(heapBytes)
	if a.Map != nil {
		from, least = a.Map, mapBytes
	}
	b, failed := makeBy[T](n, least, from)
	if failed != nil {
		*err = failed
		return &Buffer[T]{}
	}
	a.buffers = append(a.buffers, b)
	return b
}

// Free frees all buffers.
func (a *Arena) Free() {
	for _, b := range a.buffers {
		b.Free()
	}
	a.buffers = nil
}
