package memory

import (
	"fmt"
	"math"
	"unsafe"
)

// Plain is the set of element types of a buffer. They have no pointers.
type Plain interface {
	uint8 | uint16 | uint32 | ~uint64 | [1]uint64 | ~[2]uint64
}

// A Buffer is an array outside the Go heap. Data is initially zero and has no spare capacity. It is invalid after
// [Buffer.Free].
type Buffer[T Plain] struct {
	Data        []T
	mapping     []byte       // the whole mapping
	reservation *Reservation // part of the budget of an arena, or nil
}

// heapBytes is the size up to which a buffer is in the Go heap. There it hardly affects the garbage collector, and a
// mapping would be slower.
const heapBytes = 64 << 10

// mapBytes is the size up to which a buffer of an arena with Map is in the Go heap.
const mapBytes = 4 << 10

// sizeMax is the maximum size of a buffer: about the size of an address space.
const sizeMax = min(1<<46, math.MaxInt-2*hugeBytes)

// hugeBytes is the size of a huge page.
const hugeBytes = 2 << 20

// Cast reinterprets a slice as elements of another size, and drops an incomplete last element. Neither type may have
// pointers.
func Cast[To, From any](list []From) []To {
	n := uintptr(len(list)) * unsafe.Sizeof(*new(From)) / unsafe.Sizeof(*new(To))
	return unsafe.Slice((*To)(unsafe.Pointer(unsafe.SliceData(list))), n)
}

// Make returns a buffer of n elements. An error contains the requested size. Make panics if n is negative.
func Make[T Plain](n int) (*Buffer[T], error) { return makeWith[T](n, heapBytes, allocate) }

func makeWith[T Plain](n int, heapMax uint64, allocate func(bytes uint64) ([]byte, error)) (*Buffer[T], error) {
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
	if size <= heapMax {
		return &Buffer[T]{Data: make([]T, n)}, nil
	}
	mapping, err := allocate(size)
	if err != nil {
		return nil, fmt.Errorf("%d bytes of memory: %w", size, err)
	}
	return &Buffer[T]{Data: unsafe.Slice((*T)(unsafe.Pointer(&mapping[0])), n), mapping: mapping}, nil
}

// Free frees the memory. Data must not be used afterwards. Free may be called again, and on nil.
func (b *Buffer[T]) Free() {
	if b == nil {
		return
	}
	mapping := b.mapping
	b.Data, b.mapping = nil, nil
	if mapping != nil {
		release(mapping)
	}
	b.reservation.Release()
}

// Trim keeps the first n elements and frees the whole pages after them.
func (b *Buffer[T]) Trim(n int) {
	if b.mapping != nil && n < len(b.Data) {
		bytes := uintptr(n) * unsafe.Sizeof(*new(T))
		drop(b.mapping[bytes:])
		if b.reservation != nil {
			_ = b.reservation.Resize("", uint64(bytes)) // less always fits
		}
	}
	b.Data = b.Data[:n:n]
}

// An Arena owns buffers that are freed together, for example after a search. The zero value is empty.
type Arena struct {
	// Budget, if not nil, reserves the memory of each large buffer until it is freed. A buffer that does not fit is
	// allocated by Map.
	Budget *Budget

	// Map, if not nil, returns zeroed memory for large buffers, for example by [MapFile]. If there is a budget, it is
	// called only for buffers that do not fit.
	Map func(bytes uint64) ([]byte, error)

	// Task describes the use of the memory in the [TooLargeError] of a buffer that does not fit.
	Task string

	buffers []interface{ Free() }
}

// Empty returns an empty arena with the budget, Map and task of a.
func (a *Arena) Empty() Arena { return Arena{Budget: a.Budget, Map: a.Map, Task: a.Task} }

// Alloc returns the data of a new buffer of n elements. [Arena.Free] frees it. If *err is not nil, or the allocation
// fails, In returns nil and *err has the first error.
func Alloc[T Plain](a *Arena, n int, err *error) []T { return AllocBuffer[T](a, n, err).Data }

// AllocBuffer is like [Alloc] for a buffer that is trimmed, or freed early. After an error it returns an empty buffer.
func AllocBuffer[T Plain](a *Arena, n int, err *error) *Buffer[T] {
	if *err != nil {
		return &Buffer[T]{}
	}
	heapMax := uint64(heapBytes)
	if a.Map != nil {
		heapMax = mapBytes
	}
	var reservation *Reservation
	b, errMake := makeWith[T](n, heapMax, func(bytes uint64) (mapping []byte, err error) {
		mapping, reservation, err = a.allocate(bytes)
		return mapping, err
	})
	if errMake != nil {
		*err = errMake
		return &Buffer[T]{}
	}
	b.reservation = reservation
	a.buffers = append(a.buffers, b)
	return b
}

// allocate returns zeroed memory within the budget, or otherwise memory of Map.
func (a *Arena) allocate(bytes uint64) ([]byte, *Reservation, error) {
	if a.Map == nil || a.Budget != nil {
		reservation, err := a.Budget.Reserve(a.Task, bytes)
		if err == nil {
			mapping, err := allocate(bytes)
			if err != nil {
				reservation.Release()
			}
			return mapping, reservation, err
		}
		if a.Map == nil {
			return nil, nil, err
		}
	}
	mapping, err := a.Map(bytes)
	return mapping, nil, err
}

// Free frees all buffers.
func (a *Arena) Free() {
	for _, b := range a.buffers {
		b.Free()
	}
	a.buffers = nil
}
